"""Index normal form: exact keys, rules that hold and are applied, proofs that are never of unequal formulas."""

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false, reportArgumentType=false

import ast
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest

import namedtensor as nt
from grammar import nodes
from grammar.errors import NO_VALUE
from grammar.parser import parse
from namedtensor.derivations import equal_forms
from namedtensor.derivations.proofs import FALSE, HOLDS, PROVED, prove
from namedtensor.operators import REGISTRY
from namedtensor.programs.arguments import shape_of
from namedtensor.scope.binder import bind
from namedtensor.scope.names import key
from namedtensor.symbolic import algebra, applying, canonical, linearizing, work
from namedtensor.symbolic.definitions import definitions
from namedtensor.symbolic.factoring import clear_fractions, factor_form, multiply_out
from namedtensor.symbolic.forms import DELTA, ONE, FormIndex, single
from namedtensor.symbolic.from_terms import RULES as RULES_OF_TERMS
from namedtensor.symbolic.from_terms import Forms
from namedtensor.symbolic.known import recognize_functions, recognize_solve, simplify_update
from namedtensor.symbolic.linearizing import ReadingChecker
from namedtensor.symbolic.rewrite_rules import REWRITE_RULES
from namedtensor.symbolic.work import TooLongError, tensor, working
from namedtensor.terms.inference import InputType

ROOT = Path(__file__).parent.parent


def forms_of(claim: str, shapes):
    """The forms of both sides of a claim, as they are read."""
    with working():
        return sides_of(claim, shapes)


def sides_of(claim: str, shapes):
    """The same, its rules counted by whoever asks."""
    *before, last = parse(claim).statements
    tree = nodes.Program((*before, *(nodes.Value(side) for side in last.sides)))
    inputs = {key(name): InputType(shape_of(text, name)) for name, text in shapes.items()}
    checker = ReadingChecker(bind(claim, tree), inputs, {}, infer_parameters=True)
    forms = Forms({})
    products = [forms.of(checker.infer(side, checker.top)) for side in last.sides]
    return [recognize_functions(multiply_out(form)) for form in products]


def is_applied(claim: str, shapes) -> bool:
    with working():
        one, other = forms_of(claim, shapes)
        ways = (one, recognize_solve(one), simplify_update(one), clear_fractions(one))
        return any(not algebra.add(way, algebra.scale_form(other, -1)) for way in ways)


RULES = [rule for rule in REWRITE_RULES if rule.kind != "proof"]
LAWS = [rule for rule in REWRITE_RULES if rule.kind == "proof"]


def shapes_of(law):
    """The shapes of the tensors that are in an equation."""
    return {name: shape for name, shape in law.shapes.items() if re.search(rf"\b{name}\b", law.equation)}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_law_holds_at_points_and_its_function_proves_it(law, monkeypatch):
    used = set()
    test = equal_forms._equal

    def counted(*arguments):
        equal = test(*arguments)
        used.update(work.current().rules)
        return equal

    monkeypatch.setattr(equal_forms, "_equal", counted)
    assert prove(law.equation, **shapes_of(law)).status == PROVED
    assert law.name in used
    draw = np.random.default_rng(0)
    for sample in (draw.standard_normal, lambda shape: draw.uniform(0.2, 2, shape)):
        tensors = {}
        for name, shape in shapes_of(law).items():
            axes = tuple(shape_of(shape, name))
            tensors[name] = nt.tensor(sample((3,) * len(axes)), " ".join(axes))
        try:
            nt.evaluate(f"{law.equation}\n0", **tensors)
        except nt.NotationError as problem:
            assert problem.reason == NO_VALUE and sample == draw.standard_normal


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_law_with_a_sign_changed_is_not_proved(law):
    left, right = law.equation.split(" = ")
    assert prove(f"{left} = −({right})", **shapes_of(law)).status == FALSE


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_a_claim_that_holds_and_is_what_its_function_does(rule):
    assert prove(rule.equation, tries=6, **rule.shapes).status in (PROVED, HOLDS)
    assert is_applied(rule.equation, rule.shapes)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_counted_by_its_own_name_where_its_function_uses_it(rule):
    with working() as work:
        for form in sides_of(rule.equation, rule.shapes):
            factor_form(clear_fractions(recognize_solve(simplify_update(form))))
    with working(proving=True) as proof:
        sides_of(rule.equation, rule.shapes)
    if rule.name == "name":
        return  # names are put in where a closed form is read: `test_derivations`
    assert rule.name in {*work.rules, *proof.rules}


def test_the_rules_stand_in_the_order_in_which_they_are_tried():
    kinds = [rule.kind for rule in REWRITE_RULES]
    assert kinds == sorted(kinds, key=["product", "sum", "operator", "form", "proof"].index)
    of_products = [rule.function for rule in REWRITE_RULES if rule.kind == "product"]
    assert list(dict.fromkeys(of_products)) == list(algebra.PRODUCT_RULES)
    of_operators = {rule.function for rule in REWRITE_RULES if rule.kind == "operator"}
    assert of_operators >= {rule for name, rule in applying.OPERATOR_RULES.items() if name != "cases"}


def test_every_rule_that_is_counted_has_a_row():
    counted = set()
    for path in (ROOT / "namedtensor" / "symbolic").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("count_rule", "_put")
            ):
                counted |= {name.value for name in node.args if isinstance(name, ast.Constant)}
    totals = {f"sum of {record.name}" for record in REGISTRY.values() if record.total is not None}
    opened = {f"definition of {operator}" for operator in definitions() if operator not in RULES_OF_TERMS}
    assert counted | totals | opened == {rule.name for rule in REWRITE_RULES}


CHANGED = {  # each rule with one sign, axis or number changed
    "identity": ("X ⊙_{a} I_{a,c} = X_{b→c, a→b}", "X ⊙_{a} I_{a,c} = −X_{a→c}"),
    "trace of an identity": ("trace_{a,c} (I_{a,c} ⊙ X) = −∑_{a} X", "trace_{a,c} (I_{a,c} ⊙ X) = X_{a(1)}"),
    "no such axis": ("∑_{a} (x + 0 X) = |b| x + ∑_{a} 0 X", "∑_{a} (x + 0 X) = −|a| x + ∑_{a} 0 X"),
    "like terms": ("X ⊙_{a} y + 2 (y ⊙_{a} X) = 2 (X ⊙_{a} y)", "X ⊙_{a} y − 2 (y ⊙_{a} X) = 3 (X ⊙_{a} y)"),
    "equal factors": ("x ⊙ y ⊙ x / y = x", "x ⊙ y ⊙ x ⊙ y = x^2"),
    "distribute": ("(x + y) ⊙_{a} (X + I_{a,b}) = x ⊙_{a} X − y ⊙_{a} X + x_{a→b} + y_{a→b}",),
    "sign": ("sign(x) ⊙ abs x = −x",),
    "square of an absolute value": ("abs(x)^2 = −x^2", "abs(x)^3 = x^3"),
    "sign of a number": ("sign(x) ⊙ x = −abs x", "sign(x) ⊙ x = x"),
    "sign of an argument": ("tanh(−x) + cos(−x) = cos x + tanh x", "tanh(−x) + cos(−x) = −cos x − tanh x"),
    "exponent": ("exp(−x) ⊙ exp(3 x) = exp(x)^4", "exp(−x) ⊙ exp(3 x) = exp(−x)^2"),
    "logarithm": ("log(exp x ⊙ exp y) = x − y", "log(exp x ⊙ exp y) = x ⊙ y"),
    "comparison": ("𝕀[exp x < 0] ⊙ y = y", "𝕀[exp x > 0] ⊙ y = −y"),
    "sum of softmax": ("∑_{b} (softmax_{a} X ⊙ y) = y", "∑_{a} (softmax_{a} X ⊙ y) = −y"),
    "sum of standardize": ("∑_{b} (standardize_{a} X) = 0 ∑_{b} X", "∑_{a} (standardize_{a} X ⊙ y) = y"),
    "sum of argmax": ("∑_{b} (argmax_{a} X ⊙ y) = y", "∑_{a} (argmax_{a} X ⊙ y) = −y"),
    "sum of argmin": ("∑_{b} (argmin_{a} X ⊙ y) = y", "∑_{a} (argmin_{a} X ⊙ y) = −y"),
    "sum of onehot": ("∑_{a} (onehot_{a}(1) ⊙ y) + 0 ∑_{a} x = 2 y + 0 ∑_{a} x",),
    "factor": ("X ⊙_{a} y + X ⊙_{a} z = X ⊙_{a} (y − z)",),
    "softmax": ("exp x / ∑_{a} exp x = −softmax_{a} x", "exp x / ∑_{a} exp x = softmax_{a}(−x)"),
    "σ": ("exp(−x) / (1 + exp x) = σ(x)", "exp(x) / (1 + exp x) = σ(−x)"),
    "symmetric": (
        "inv_{a,c}(X ⊙_{b} X_{a→c}) = −[inv_{a,c}(X ⊙_{b} X_{a→c})]_{a→c, c→a}",
        "inv_{a,c}(X ⊙_{b} [exp X]_{a→c}) = [inv_{a,c}(X ⊙_{b} [exp X]_{a→c})]_{a→c, c→a}",
    ),
    "solve": (
        "[inv_{a,c} M]_{a→k, c→a} ⊙_{a} x = −[solve_{a,c}(M, x)]_{c→k}",
        "[inv_{a,c} M]_{c→k} ⊙_{a} x = [solve_{a,c}(M, x)]_{c→k}",
    ),
    "rank one": (
        "[inv_{a,c}(I_{a,c} + x ⊙ y_{a→c})]_{a→k} ⊙_{c} x_{a→c} = x_{a→k} / (1 − x ⊙_{a} y)",
        "[inv_{a,c}(I_{a,c} + x ⊙ y_{a→c})]_{c→k} ⊙_{a} x = x_{a→k} / (1 + x ⊙_{a} y)",
    ),
    "along": (
        "M ⊙_{a,c} expm_{a,c}(M, N) = −N ⊙_{a,c} [expm_{a,c}(M, M_{a→c, c→a})]_{a→c, c→a}",
        "M ⊙_{a,c} expm_{a,c}(M, N) = N ⊙_{a,c} expm_{a,c}(M, M_{a→c, c→a})",
    ),
    "fraction": ("x / (1 + y / z) = x ⊙ z / (z − y)", "x / (1 + y / z) = x ⊙ z / (y + 1)"),
    "name": ("A = X ⊙_{a} y\nX ⊙_{a} (y ⊙ 3) = −3 A", "A = X ⊙_{a} y\nX ⊙_{a} (y ⊙ 3) = 2 A"),
}
EQUATIONS = [(rule, changed) for rule in RULES for changed in CHANGED.get(rule.name, ())]


def test_every_rule_is_changed_in_some_way():
    assert set(CHANGED) == {rule.name for rule in RULES}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("rule", "changed"), EQUATIONS, ids=[f"{rule.name}: {changed}" for rule, changed in EQUATIONS])
def test_a_rule_with_a_sign_or_an_axis_changed_is_false(rule, changed):
    try:
        status = prove(changed, **rule.shapes).status
    except nt.NotationError as problem:
        assert problem.code == 302  # exchanged axes have other sizes
    else:
        assert status == FALSE
    try:
        assert not is_applied(changed, rule.shapes)
    except nt.NotationError:
        pass


# Differentials as they are read: a formula of each, its operator, which of its operands, and by what.
AS_READ = (
    ("det_{a,b} X", "det", 0, "X"), ("std_{a} X", "std", 0, "X"), ("∏_{a} X", "∏", 0, "X"), ("cumprod_{a} X", "cumprod", 0, "X"),
    ("X^Y", "^", 0, "X"), ("X^Y", "^", 1, "Y"), ("max_{a} X", "max", 0, "X"), ("max(X, Y)", "max", 1, "X"), ("max(X, Y)", "max", 2, "Y"),
    ("min_{a} X", "min", 0, "X"), ("min(X, Y)", "min", 1, "X"), ("min(X, Y)", "min", 2, "Y"),
    ("norm_{a} X", "norm", 2, "X"), ("norm_{a}(X; 1)", "norm", 1, "X"), ("norm_{a}(X; ∞)", "norm", math.inf, "X"), ("norm_{a}(X; 3)", "norm", None, "X"),
)  # fmt: skip


def text_read(operator: str, position) -> str:
    if operator == "norm":
        return linearizing.NORM if position is None else linearizing.NORMS[position]
    return linearizing.READ[operator][1][position]


def read_otherwise(monkeypatch, operator: str, position, text: str) -> None:
    if operator == "norm" and position is None:
        monkeypatch.setattr(linearizing, "NORM", text)
    elif operator == "norm":
        monkeypatch.setitem(linearizing.NORMS, position, text)
    else:
        when, texts = linearizing.READ[operator]
        changed = tuple(text if at == position else name for at, name in enumerate(texts))
        monkeypatch.setitem(linearizing.READ, operator, (when, changed))


def is_right_as_read(text: str, by: str) -> bool:
    """Whether the closed form has the value of the derivative."""
    generator = np.random.default_rng(0)
    values = {name: nt.tensor(generator.uniform(0.5, 2, (3, 3)), "a b") for name in "XY" if name in text}
    derivative = nt.derivative(text, by)
    try:
        result = derivative.closed_form(**dict.fromkeys(values, "ℝ^{a × b}"))(**values)
    except nt.NotationError:
        return False
    expected = derivative(**values)
    return {*result.axes} == {*expected.axes} and nt.allclose(result, expected, rtol=1e-9, atol=1e-9)


def test_every_differential_that_is_read_has_a_formula():
    texts = {(name, index) for name, (_, texts) in linearizing.READ.items() for index in range(len(texts))}
    assert {(name, position) for _, name, position, _ in AS_READ} == texts | {
        ("norm", p) for p in (*linearizing.NORMS, None)
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "operator", "position", "by"), AS_READ)
def test_a_differential_as_it_is_read_is_right_and_wrong_with_a_sign_or_an_axis_changed(
    text, operator, position, by, monkeypatch
):
    assert is_right_as_read(text, by)
    read = text_read(operator, position)
    changed = [f"−({read})", *(read[: at.start()] + "⊙" + read[at.end() :] for at in re.finditer(r"⊙_\{[^}]*\}", read))]
    for other in changed:
        read_otherwise(monkeypatch, operator, position, other)
        assert not is_right_as_read(text, by), other


def test_keys_tell_apart_what_refinement_does_not():
    """(tr A)² and tr(A²): every index has the same neighbours."""
    i, j = FormIndex("a", "|a|"), FormIndex("a", "|a|")
    with working():
        square = algebra.sum_over(
            algebra.multiply(tensor("A", ("a", "b"), (i, i)), tensor("A", ("a", "b"), (j, j))), [i, j]
        )
        other = algebra.sum_over(
            algebra.multiply(tensor("A", ("a", "b"), (i, j)), tensor("A", ("a", "b"), (j, i))), [i, j]
        )
        assert canonical.key(square) != canonical.key(other)
        turned = algebra.sum_over(
            algebra.multiply(tensor("A", ("a", "b"), (j, i)), tensor("A", ("a", "b"), (i, j))), [j, i]
        )
        assert canonical.key(other) == canonical.key(turned)


def test_keys_of_cycles():
    """Two cycles of three, and one of six, look alike from each index."""

    def cycle(*groups):
        form = ONE
        indices = []
        for size in groups:
            local = [FormIndex("a", "|a|") for _ in range(size)]
            indices += local
            for at in range(size):
                form = algebra.multiply(form, tensor("A", ("a", "b"), (local[at], local[(at + 1) % size])))
        return algebra.sum_over(form, indices)

    with working():
        cycles = [cycle(*groups) for groups in ((3, 3), (6,), (6,), (2, 4), (4, 2))]
        threes, six, six_again, one, other = map(canonical.key, cycles)
        assert threes != six and six == six_again and one == other


def test_an_identity_is_symmetric():
    i, j = FormIndex("a", "|a|"), FormIndex("b", "|a|")
    with working():
        assert not algebra.add(single(DELTA, i, j), algebra.scale_form(single(DELTA, j, i), -1))


def test_factoring_keeps_summed_indices_apart():
    """An index that one product sums and another has outside is not one index."""
    i = FormIndex("a", "|a|")
    with working():
        x, y = (tensor(name, ("a",), (i,)) for name in "xy")
        summed = algebra.sum_over(algebra.multiply(x, y), [i])
        products = factor_form(algebra.add(summed, algebra.multiply(x, y)))
        assert {index for product in products for index in product.indices()} == {i}
        assert not algebra.add(
            multiply_out(products), algebra.scale_form(algebra.add(summed, algebra.multiply(x, y)), -1)
        )


def test_a_limit_ends_it():
    with pytest.raises(TooLongError), working(limit=50):
        i = FormIndex("a", "|a|")
        form = algebra.add(*(tensor(name, ("a",), (i,)) for name in "xyzuvw"))
        for _ in range(4):
            form = algebra.multiply(form, form, (True, True))


# ---------------------------------------------------------------------------------------------------------- proofs
SHAPES = {"x": "ℝ^{a}", "y": "ℝ^{a}", "X": "ℝ^{a × b}", "Y": "ℝ^{a × b}", "s": "ℝ", "M": "ℝ^{a × d}"}
SIZES = {"x": (3,), "y": (3,), "X": (3, 2), "Y": (3, 2), "s": (), "M": (3, 3)}


OF_MATRICES = [
    "(inv_{a,d}(9 I_{a,d} + M) ⊙_{d} M)", "(inv_{a,d}(9 I_{a,d} + M) ⊙_{d} ones_{d})", "(inv_{a,d}(9 I_{a,d} + x ⊙ x_{a→d}) ⊙_{d} x_{a→d})",
    "(inv_{a,d}(9 I_{a,d} + y ⊙ y_{a→d}) ⊙_{d} x_{a→d})", "solve_{a,d}(9 I_{a,d} + M, x)_{d→a}", "[inv_{a,d}(9 I_{a,d} + M)]_{a→d, d→a} ⊙_{d} x_{a→d}",
    "logdet_{a,d}(9 I_{a,d} + M)", "logdet_{a,d}(9 I_{a,d} + M_{a→d, d→a})", "eigvalsh_{a,d} M", "(eigvalsh_{a,d} M_{a→d, d→a})",
    "(expm_{a,d}(M / 9) ⊙_{d} ones_{d})", "(expm_{a,d}(M / 9, M) ⊙_{d} ones_{d})", "(M ⊙_{a,d} expm_{a,d}(M / 9, x ⊙ ones_{d}))",
    "(cholesky_{a,d}(9 I_{a,d} + M) ⊙_{d} ones_{d})", "trace_{a,d}(expm_{a,d}(M / 9, M))", "(M ⊙_{a,d} (expm_{a,d} M))", "(ones_{a} ⊙ x)",
]  # fmt: skip


def drawn(draw: random.Random, depth: int) -> str:
    """An expression with the axis a, maybe b, as text."""
    if depth == 0:
        return draw.choice(["x", "y", "X", "Y", "s", "2", "|a|", "x", "X"])
    one = lambda: drawn(draw, depth - 1)
    return draw.choice([
        lambda: f"({one()} + {one()})", lambda: f"({one()} − {one()})", lambda: f"({one()} ⊙ {one()})",
        lambda: f"({one()} / (3 + {one()}^2))", lambda: f"exp({one()} / 9)", lambda: f"tanh({one()})",
        lambda: f"({one()} + X) ⊙_{{a}} ({one()} + x)", lambda: f"(∑_{{a}} (x + {one()}))",
        lambda: f"softmax_{{a}}(x + {one()})", lambda: f"(mean_{{a}} (X + {one()}))", lambda: f"({one()})^2",
        lambda: f"√(9 + ({one()})^2)", lambda: f"abs({one()})", lambda: f"relu({one()})",
        lambda: f"var_{{a}}(X + {one()})", lambda: f"max({one()}, {one()})", lambda: f"(X + {one()})_{{b→c}}",
        lambda: f"(sign({one()}) ⊙ {one()})", lambda: f"lgamma(2 + ({one()})^2)", lambda: draw.choice(OF_MATRICES), lambda: draw.choice(OF_MATRICES),
    ])()  # fmt: skip


def changed(draw: random.Random, text: str) -> str:
    """The same with a sign, a name or an axis changed, or an equal one."""
    swaps = [(" + ", " − "), ("x", "y"), ("X", "Y"), ("2", "3"), ("⊙", "/"), ("tanh", "sin"), ("exp", "cosh"), ("relu", "abs"),
             ("_{a}", "_{b}"), (" − ", " + "), ("|a|", "|b|"), ("∑", "∏"), ("max", "min")]  # fmt: skip
    old, new = draw.choice(swaps)
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    if not places:
        return text
    at = draw.choice(places)
    return text[:at] + new + text[at + len(old) :]


def pairs(seed: int, count: int):
    draw = random.Random(seed)
    for _ in range(count):
        one = drawn(draw, draw.randint(1, 3))
        yield one, changed(draw, one) if draw.random() < 0.8 else drawn(draw, 2)


def values_of(seed: int):
    generator = np.random.default_rng(seed)
    return {
        name: nt.tensor(generator.normal(size=size), " ".join(("ad" if name == "M" else "ab")[: len(size)]))
        if size
        else float(generator.normal())
        for name, size in SIZES.items()
    }


def unsound(seed: int, count: int) -> tuple[int, int, list[tuple[str, str]]]:
    """How many of the pairs were read, how many proved, and which of these are not equal."""
    read, proved, wrong = 0, 0, []
    for at, (one, other) in enumerate(pairs(seed, count)):
        claim = f"{one} = {other}"
        try:
            verdict = prove(claim, tries=0, **SHAPES)
        except nt.NotationError:
            continue
        read += 1
        if verdict.status != PROVED:
            continue
        proved += 1
        left, right = (nt.evaluate(side, values_of(at)) for side in (one, other))
        if not nt.allclose(left + 0 * right, right + 0 * left, rtol=1e-6, atol=1e-8):  # an assertion broadcasts
            wrong.append((one, other))
    return read, proved, wrong


@pytest.mark.sampled(12)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 13))
def test_no_unequal_pair_is_proved(seed):
    read, proved, wrong = unsound(seed=seed, count=100)
    assert not wrong and read > 80 and proved > 40


PROVABLE = (
    ("softmax_{a} (x + s) = softmax_{a} (x + s)", PROVED),
    ("(x + y)^3 = x^3 + 3 x^2 ⊙ y + 3 x ⊙ y^2 + y^3", PROVED),
    ("var_{a} x = mean_{a} x^2 − (mean_{a} x)^2", PROVED),
    ("∂(softmax_{a} x)/∂x* = softmax_{a} x ⊙ (I_{a,a*} − (softmax_{a} x)^*)", PROVED),
    ("D = ∂(x ⊙_{a} X)/∂x* = X^*_{b*→b}", PROVED),
    ("∂(∂(logsumexp_{a} x)/∂x*)/∂x† = ∂(∂(log(∑_{a} exp x))/∂x*)/∂x†", HOLDS),
    ("√(x^2) = x", FALSE),
    ("√(x^2) = abs x", HOLDS),
    ("x ⊙_{a} y = y ⊙_{a} x", PROVED),
)


@pytest.mark.parametrize(("claim", "status"), PROVABLE)
def test_what_is_said_of_claims(claim, status):
    assert prove(claim, **{name: SHAPES[name] for name in SHAPES}).status in {
        status,
        PROVED if status == HOLDS else status,
    }


def test_a_counterexample_shows_it():
    verdict = prove("x^2 = x", x="ℝ^{a}")
    assert verdict.status == FALSE and set(verdict.counterexample) == {"x"}
    one, other = verdict.sides
    assert not nt.allclose(one, other)


def test_what_is_no_equation_cannot_be_proved():
    with pytest.raises(nt.NotationError, match="needs an equation"):
        prove("x + x", x="ℝ^{a}")
