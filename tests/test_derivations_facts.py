"""Facts in closed forms: the literature's forms, checked at points that satisfy the facts; how each fact is stated and proved."""

import tracemalloc

import numpy as np
import pytest
from derivatives_with_facts import LIST
from program_lengths import program_length

import namedtensor as nt
from grammar.parser import parse
from grammar.printer import to_text
from namedtensor.cli import main
from namedtensor.derivations.differences import differences, distance
from namedtensor.derivations.program_facts import facts_of
from namedtensor.derivations.reading import reading_checker
from namedtensor.symbolic.forms import ZERO
from namedtensor.symbolic.from_terms import Forms
from namedtensor.symbolic.work import working

SIZES = {"i": 3, "j": 3, "a": 3, "b": 3, "c": 3, "m": 2, "d": 2, "f": 2, "n": 4, "u": 3, "t": 2}
GROUPS = 8


def size_of(axis: str) -> int:
    return SIZES.get(axis, 2 + ord(axis) % 2)


def positive(normal):
    return np.abs(normal) + 0.2


def symmetric(normal):
    return normal + normal.T


def positive_definite(normal):
    return normal @ normal.T + np.eye(len(normal))


def orthogonal(normal):
    return np.linalg.qr(normal)[0]


def projection(normal):
    columns = np.linalg.qr(normal)[0][:, :-1]
    return columns @ columns.T


def simplex(normal):
    return np.exp(normal) / np.exp(normal).sum(-1, keepdims=True)


def one_hot(normal):
    return np.eye(normal.shape[-1])[normal.argmax(-1)]


def unit(normal):
    return normal / np.linalg.norm(normal)


def centered(normal):
    eighths = np.round(8 * normal) / 8
    return np.concatenate([eighths[1:], -eighths[1:].sum(0, keepdims=True)])  # whose sum is 0 and not 1e-16


def white(normal):
    return np.linalg.qr(normal)[0] * np.sqrt(len(normal))


KINDS = {
    "": lambda normal: normal, "+": positive, "sym": symmetric, "spd": positive_definite, "orth": orthogonal, "proj": projection,
    "simplex": simplex, "hot": one_hot, "unit": unit, "centered": centered, "white": white,
    "bits": lambda normal: (normal > 0).astype(float),
}  # fmt: skip


def drawn(inputs: str, seed: int):
    """Shapes and values of inputs: values of each kind satisfy its fact."""
    generator, shapes, values = np.random.default_rng(seed), {}, {}
    for part in inputs.split("; "):
        (name, *axes), kind = part.partition(":")[0].split(), part.partition(":")[2].strip()
        shapes[name] = f"ℝ^{{{' × '.join(axes)}}}" if axes else "ℝ"
        normal = generator.normal(size=[size_of(axis) for axis in axes])
        if kind.startswith("["):
            values[name] = 1
            continue
        numbers = KINDS[kind](normal)
        values[name] = nt.tensor(numbers, " ".join(axes)) if axes else float(numbers)
    return shapes, values


def same(one, other) -> bool:
    return set(one.axes) == set(other.axes) and np.allclose(
        one.to_numpy(other.axes), other.to_numpy(other.axes), rtol=1e-6, atol=1e-8
    )


def derivative_of(text: str, by: str):
    return nt.derivative(text, by) if by else nt.formula(text)


def lines(text: str) -> list[str]:
    return text.split(" ‖ ") if text else []


def test_the_list_names_its_sources():
    assert len(LIST) >= 50
    assert all(source for source, *_ in LIST)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("group", range(GROUPS))
def test_facts_give_the_forms_of_the_literature(group):
    for at, (_, facts, program, by, inputs, hand) in list(enumerate(LIST))[group::GROUPS]:
        shapes, values = drawn(inputs, at)
        body, stated = lines(program), lines(facts)
        derivative = derivative_of("\n".join([*stated, *body]), by)
        closed = derivative.closed_form(**shapes)
        without = derivative_of("\n".join(body), by)  # the value of the derivative needs no fact
        expected = without(values=values)
        value = closed(values=values)
        assert same(value, expected), (program, str(closed))
        if by:
            slopes = differences(without, values)
            assert (
                distance(value, nt.tensor(slopes.to_numpy(value.axes), " ".join(value.axes)) if value.axes else slopes)
                < 1e-6
            )
        for spelled in (closed.to_text(ascii=True), closed.to_latex(), closed.to_latex(macros=True)):
            assert parse(spelled) == closed.expression.tree, spelled
        closed.check(values)
        by_hand = "\n".join(
            [*(line for line in body if "=" in line and "∂" not in line), *lines(hand)[:-1], f"D = {lines(hand)[-1]}"]
        )
        assert same(nt.evaluate(by_hand, values), expected), (program, hand)
        stepped = [step.rule for step in closed.steps if step.since is not None]
        assert stepped or not stated, (program, closed.rules)
        expected_length = program_length(parse("\n".join([*lines(hand)[:-1], f"D = {lines(hand)[-1]}"])))
        assert closed.length <= 1.1 * expected_length, (program, str(closed), closed.length, expected_length)


W, X = "ℝ^{u × h}", "ℝ^{h}"
CROSS_ENTROPY = "z = W ⊙_{h} x\np = softmax_{u} z\nL = −∑_{u} T ⊙ log p\n{fact}\nL"


def test_a_step_names_the_fact():
    closed = nt.derivative(CROSS_ENTROPY.replace("{fact}", "∑_{u} T = 1"), "x").closed_form(T="ℝ^{u}", W=W, x=X)
    assert closed.to_text() == "z = W ⊙_{h} x\np = softmax_u(z)\n∑_{u} T = 1\nD = (W ⊙_{u} (p - T))^*"
    assert [(step.rule, step.equation) for step in closed.steps][-2:] == [
        ("identification", "D = (W ⊙_{u} ((∑_{u} T) ⊙ p - T))^* = ∂L/∂x*"),
        ("since ∑_{u} T = 1", "D = (W ⊙_{u} (p - T))^*"),
    ]
    assert closed.rules["∑_{u} T = 1"] >= 1
    assert r"\overset{\text{since }\sum\limits_{\mathsf{u}} T = 1}{=}" in closed.to_latex(steps=True)


def test_a_fact_is_checked_on_values():
    closed = nt.derivative(CROSS_ENTROPY.replace("{fact}", "∑_{u} T = 1"), "x").closed_form(T="ℝ^{u}", W=W, x=X)
    values = {"W": nt.tensor([[1.0, 2], [0, 1]], "u h"), "x": nt.tensor([0.5, 1], "h")}
    closed.check({**values, "T": nt.tensor([0.25, 0.75], "u")})
    for run in (closed, closed.check):
        with pytest.raises(nt.NotationError, match="assertion failed.*left-hand side 1.75, right-hand side 1"):
            run(**values, T=nt.tensor([1, 0.75], "u"))


@pytest.mark.parametrize("fact", [
    "1 = ∑_{u} T", "2 ∑_{u} T = 2", "mean_{u} T = 1 / |u|", "T ⊙_{u} ones_{u} = 1", "∑_{u} T = |h| / |h|",
])  # fmt: skip
def test_a_fact_has_many_spellings(fact):
    closed = nt.derivative(CROSS_ENTROPY.replace("{fact}", fact), "x").closed_form(T="ℝ^{u}", W=W, x=X)
    assert closed.to_text().endswith("\nD = (W ⊙_{u} (p - T))^*")


@pytest.mark.parametrize("fact", [
    "", "∑_{u} T > 0", "∑_{h} x = 1", "∑_{u} T^2 = 1", "∑_{u} T = 1 for t = 1, 2", "∑_{u} T ≤ 1", "max_{u} T = 1",
    "∑_{u} M = 1",
])  # fmt: skip
def test_another_fact_changes_nothing(fact):
    """And is not stated by the closed form."""
    closed = nt.derivative(CROSS_ENTROPY.replace("{fact}", fact), "x").closed_form(T="ℝ^{u}", W=W, x=X)
    assert closed.to_text() == "z = W ⊙_{h} x\np = softmax_u(z)\nD = (W ⊙_{u} ((∑_{u} T) ⊙ p - T))^*"
    assert all(step.since is None for step in closed.steps)


# What is proved from a definition: the program, what it is taken by, the shapes, the fact that a step names.
PROVED = (
    ("p = softmax_{a} y\n∑_{a} p ⊙ z", "z", {"y": "a"}, None),
    ("p = softmax_{a} y\n∑_{a} p ⊙ (z + b)", "b", {"y": "a", "z": "a"}, "∑_{a} p = 1"),
    ("p = (softmax_{a} y + softmax_{a} z) / 2\n∑_{a} p ⊙ (z + b)", "b", {"y": "a", "z": "a"}, "∑_{a} p = 1"),
    ("c = y − mean_{a} y\n∑_{a} c ⊙ (z + b)", "b", {"y": "a", "z": "a", "b": ""}, "∑_{a} c = 0"),
    ("T = onehot_{a} i\n∑_{a} (T ⊙ z − T)^2", "z", {"z": "a", "i": ""}, "T^2 = T"),
    ("G = X ⊙_{b} X_{a→c}\nz ⊙_{a} G ⊙_{c} z_{a→c}", "z", {"X": "a b", "z": "a"}, "G = G_{a→c, c→a}"),
    (
        "V = inv_{a,c} S\nz ⊙_{a} S ⊙_{c} V_{a→c, c→d} ⊙_{d} y",
        "z",
        {"S": "a c", "z": "a", "y": "d"},
        "S_{c→c'} ⊙_{c'} V_{a→c'} = I_{a, c}",
    ),
    ("Q = eigh_{a,c} S\n∑_{a} (Q ⊙_{c} z)^2", "z", {"S": "a c", "z": "c"}, "Q ⊙_{a} Q_{c→c'} = I_{c, c'}"),
    ("p = exp y\n∑_{a} abs(p ⊙ z)", "z", {"y": "a", "z": "a"}, None),
    ("p = exp y\n∑_{a} abs(p) ⊙ z", "z", {"y": "a", "z": "a"}, "p > 0"),
)


@pytest.mark.parametrize(("program", "by", "shapes", "fact"), PROVED, ids=[row[0] for row in PROVED])
def test_definitions_prove_facts(program, by, shapes, fact):
    texts = {name: f"ℝ^{{{' × '.join(of.split())}}}" if of else "ℝ" for name, of in shapes.items()}
    if by not in shapes:
        texts |= {by: "ℝ" if by == "b" else "ℝ^{a}"}
    derivative = nt.derivative(program, by)
    closed = derivative.closed_form(**texts)
    rules = [step.rule for step in closed.steps if step.since is not None]
    assert rules == ([f"since {fact}"] if fact else []), (closed, closed.rules)
    generator = np.random.default_rng(3)
    values = {
        name: generator.normal(size=[3] * text.count("×") + [3] if "^" in text else []) for name, text in texts.items()
    }
    values = {
        name: nt.tensor(of, " ".join(shapes.get(name, "a").split())) if of.ndim else float(of)
        for name, of in values.items()
    }
    values |= {"i": 2} if "i" in shapes else {}
    if "mean" in program:
        values["y"] = nt.tensor([3.0, -6.0, 12.0], "a")  # whose differences from their mean sum to 0, and not to 1e-16
    if "eigh" in program:
        values["S"] = nt.tensor(symmetric(values["S"].to_numpy(("a", "c"))), "a c")
    assert same(closed(values=values), derivative(values=values)), closed
    closed.check(values)


def test_a_fact_about_the_variable_holds_at_a_point_alone():
    """Its derivative is that of the formula, and not of what the fact makes of it."""
    closed = nt.derivative("norm_{a} w = 1\nL = norm_{a}(w)^2\nL", "w").closed_form(w="ℝ^{a}")
    w = nt.tensor([0.6, 0.8], "a")
    assert closed(w=w).tolist() == [1.2, 1.6]
    text = "w ⊙_{a} w = 1\nL = (w ⊙_{a} w)^2 / 4\n∂(∂L/∂w*)/∂w†"
    second = nt.formula(text).closed_form(w="ℝ^{a}")
    assert np.allclose(
        second(w=w).to_numpy(("a*", "a†")), nt.evaluate(text.partition("\n")[2], w=w).to_numpy(("a*", "a†"))
    )


def test_facts_that_the_program_declares_by_sets_and_comparisons():
    for fact, expected in (
        ("x ∈ ℝ_{>0}^{a}", "1"), ("0 < x", "1"), ("x ≥ 1", "1"), ("x ∈ ℝ_{≥0}^{a}", "sign"), ("x ≥ 0", "sign"), ("x > −1", "sign"),
    ):  # fmt: skip
        closed = nt.derivative(f"{fact}\n∑_{{a}} abs x", "x").closed_form(x="ℝ^{a}")
        assert ("sign" in closed.to_text()) == (expected == "sign"), (fact, closed)


def test_facts_in_another_order_give_the_same_form():
    facts = ["∑_{u} T = 1", "S = S_{u→v, v→u}", "q > 0"]
    body = "p = softmax_{u} z\nL = z ⊙_{u} S ⊙_{v} z_{u→v} − ∑_{u} T ⊙ log p + ∑_{u} abs(q) ⊙ z\nL"
    shapes = {"T": "ℝ^{u}", "S": "ℝ^{u × v}", "q": "ℝ^{u}", "z": "ℝ^{u}"}
    forms = {str(nt.derivative("\n".join([*order, body]), "z").closed_form(**shapes)).splitlines()[-1]
             for order in (facts, facts[::-1], facts[1:] + facts[:1])}  # fmt: skip
    assert forms == {"D = 2 S_{v→u*} ⊙_{u} z + p^* + q^* - T^*"}


VALUES = {  # of X, and of what else a law speaks of
    "symmetry": symmetric, "total": lambda normal: simplex(normal.T).T, "zero or one": lambda normal: (normal > 0).astype(float),
    "orthogonality": orthogonal, "inverse": positive_definite, "idempotence": projection,
    "unit length": lambda normal: normal / np.linalg.norm(normal, axis=0), "sign": positive,
}  # fmt: skip


FACT_KINDS = {
    "symmetry": "X = X_{a→b, b→a}", "total": "∑_{a} X = 1", "zero or one": "X ⊙ X = X",
    "orthogonality": "X ⊙_{a} X_{b→c} = I_{b,c}", "inverse": "X ⊙_{b} Y_{a→c} = I_{a,c}",
    "idempotence": "X ⊙_{b} X_{a→b, b→c} = X_{b→c}", "unit length": "norm_{a} X = 1", "sign": "X > 0",
}  # fmt: skip


@pytest.mark.parametrize(("kind", "equation"), FACT_KINDS.items())
def test_each_law_is_one_form_by_its_fact(kind, equation):
    """And holds of values for which it is stated; without it the forms differ."""
    X = VALUES[kind](np.random.default_rng(5).normal(size=(3, 3)))
    values = {"X": nt.tensor(X, "a b")} | ({"Y": nt.tensor(np.linalg.inv(X), "a b")} if "Y" in equation else {})
    left, right = equation.split(" = ") if " = " in equation else ("abs X", "X")
    nt.evaluate(f"{equation}\n{left} = {right}\n0", values)
    text = f"{equation}\nZ ⊙ ({left}) − Z ⊙ ({right})"
    shapes = {name: dict.fromkeys("ab", 3) for name in values} | {"Z": {}}
    with working() as work:
        checker = reading_checker(text, parse(text), shapes, {})
        term = checker.whole()
        assert Forms({}).of(term) != ZERO
        facts = facts_of(checker, {}, ())
        assert [fact.name for fact in facts.all] == [to_text(parse(equation))]
        work.facts = facts
        assert Forms({}).of(term) == ZERO
        assert facts.all[0].name in work.rules


GROUPED = "α = softmax_{s}(Q ⊙_{k} K / √|k|)\nA = α ⊙_{s} V\nL = ∑_{t,v} (A − T)^2 / 2\nL"


@pytest.mark.parametrize("by", ["Q", "K", "V"])
def test_the_closed_form_of_attention_runs(by):
    """Its products are in an order that takes no more memory than twice that of ∂, at 512 × 512 × 64."""
    axes = {"Q": "t k", "K": "s k", "V": "s v", "T": "t v"}
    generator = np.random.default_rng(2)
    values = {
        name: nt.tensor(generator.normal(size=[64 if axis in "kv" else 512 for axis in of.split()]), of)
        for name, of in axes.items()
    }
    derivative = nt.derivative(GROUPED, by)
    closed = derivative.closed_form(**{name: f"ℝ^{{{' × '.join(of.split())}}}" for name, of in axes.items()})
    assert closed.to_text().splitlines()[-1] == {
        "Q": "D = ((A - T) ⊙_{v} (V - A) ⊙ α ⊙_{s} K / √|k|)^*", "K": "D = ((A - T) ⊙_{v} (V - A) ⊙ α ⊙_{t} Q / √|k|)^*",
        "V": "D = ((A - T) ⊙_{t} α)^*",
    }[by]  # fmt: skip
    results, peaks = [], []
    for run in (derivative, closed):
        run(values=values)
        tracemalloc.start()
        results.append(run(values=values))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert same(*results)
    assert peaks[1] <= 2 * peaks[0]


def test_a_declared_tensor_may_be_symmetric(tmp_path, capsys):
    path = tmp_path / "form.nt"
    path.write_text("S ∈ ℝ^{a × b}\nS = S_{a→b, b→a}\nx ∈ ℝ^{a}\nL = x ⊙_{a} S ⊙_{b} x_{a→b}\n", encoding="utf-8")
    assert main(["derive", str(path), "--wrt", "x"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "D = 2 S_{b→a*} ⊙_{a} x"
    values = ["x=[1,2]:a", "S=[[2,0.5],[0.5,1]]:a,b"]
    for by in ("x", "S"):  # differences by S leave what it satisfies
        assert main(["derive", str(path), "--wrt", by, "--check", *values]) == 0
        assert "steps hold" in capsys.readouterr().out
    assert main(["derive", str(path), "--wrt", "x", "--check", values[0], "S=[[2,0.5],[0.4,1]]:a,b"]) != 0
    assert "assertion failed" in capsys.readouterr().err


CLAIMS = (  # an equation after the facts that it assumes, the shapes, what is known of it; without the facts none is proved
    ("∑_{c} t = 1\n∑_{c} (t ⊙ y) = y", {"t": "ℝ^{c}", "y": "ℝ"}, "proved"),
    ("∑_{c} t = 1\n∑_{c} (t ⊙ y) = 2 y", {"t": "ℝ^{c}", "y": "ℝ"}, "disproved"),
    ("S = S_{a→b, b→a}\n∂(x ⊙_{a} S ⊙_{b} x_{a→b})/∂x* = 2 x ⊙_{a} S_{b→a*}", {"S": "ℝ^{a × b}", "x": "ℝ^{a}"}, "proved"),
    ("S = S_{a→b, b→a}\n∂(x ⊙_{a} S ⊙_{b} x_{a→b}) = 2 (S ⊙_{b} x_{a→b}) ⊙_{a} ∂x", {"S": "ℝ^{a × b}", "x": "ℝ^{a}"}, "proved"),
    ("P ⊙_{b} P_{a→b, b→c} = P_{b→c}\nP ⊙_{b} P_{a→b, b→c} ⊙_{c} P_{a→c, b→d} = P_{b→d}", {"P": "ℝ^{a × b}"}, "proved"),
    ("p = softmax_{c} z\n∑_{c} T = 1\n∂(−∑_{c} T ⊙ log p)/∂z* = (p − T)^*", {"z": "ℝ^{c}", "T": "ℝ^{c}"}, "proved"),
    ("x > 0\nabs x = x", {"x": "ℝ^{a}"}, "proved"),
    ("x > 0\nabs x = −x", {"x": "ℝ^{a}"}, "disproved"),
)  # fmt: skip


@pytest.mark.parametrize(("claim", "shapes", "status"), CLAIMS, ids=[claim for claim, _, _ in CLAIMS])
def test_a_proof_may_use_facts(claim, shapes, status):
    verdict = nt.prove(claim, **shapes)
    assert verdict.status == status
    *before, last = claim.split("\n")
    assert nt.prove("\n".join([*before[:-1], last]), **shapes).status == "disproved"
    if verdict.counterexample:
        nt.evaluate("\n".join([*before, "0"]), dict(verdict.counterexample))  # it satisfies them


RECURRENT = """TARGETS
h^t = tanh(U ⊙_{h} h^{t-1} + x_{n(t)})_{h'→h} for t = 1, …, N
N = |n|
U ∈ ℝ^{h × h'}
x ∈ ℝ^{n × h'}
h^0 ∈ ℝ^{h}
W ∈ ℝ^{v × h}
L = -∑_{t=1}^{N} ∑_{v} TARGET ⊙ log softmax_{v}(W ⊙_{h} h^t)"""
TARGETS = {  # of each step: what is declared, how it is written, and the term of the sum; with a fact it has no ∑_{v} T
    "in a tensor": ("∑_{v} T = 1\nT ∈ ℝ^{n × v}", "T_{n(t)}", True),
    "for all steps": ("∑_{v} T = 1\nT ∈ ℝ^{v}", "T", True),
    "in a family": ("∑_{v} T^t = 1 for t = 1, …, N\nT^t ∈ ℝ^{v} for t = 1, …, N", "T^t", True),
    "but the first": ("∑_{v} T^t = 1 for t = 2, …, N\nT^t ∈ ℝ^{v} for t = 1, …, N", "T^t", False),
    "without a fact": ("T ∈ ℝ^{n × v}", "T_{n(t)}", False),
}


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", TARGETS)
@pytest.mark.parametrize("by", ["W", "U"])
def test_facts_in_recurrences(case, by):
    declared, target, is_used = TARGETS[case]
    text = RECURRENT.replace("TARGETS", declared).replace("TARGET", target)
    closed = nt.derivative(text, by).closed_form()
    lines = str(closed).splitlines()
    assert closed.note == ""  # it was compared with the derivative, where the facts hold
    fact = declared.splitlines()[0] if declared.startswith("∑") else ""
    assert (fact in lines) == is_used
    assert is_used <= (not any("∑_{v} T" in line for line in lines if line != fact))
    assert (str(closed.steps[0]) == f"{fact}    (given)") == is_used
    tensors = {name: np.random.default_rng(1).standard_normal(shape) for name, shape in {
        "U": (3, 3), "x": (4, 3), "h^0": (3,), "W": (2, 3)}.items()}  # fmt: skip
    values = {name: nt.tensor(of, axes) for (name, of), axes in zip(tensors.items(), ["h h'", "n h'", "h", "v h"])}
    random = simplex(np.random.default_rng(2).standard_normal((4, 2)))
    values |= {f"T^{t}": nt.tensor(random[t - 1], "v") for t in range(1, 5)} if "^" in target else {}
    values |= {"T": nt.tensor(random, "n v")} if "_" in target else {}
    values |= {"T": nt.tensor(random[0], "v")} if target == "T" else {}
    assert distance(closed(values=values), nt.derivative(text, by)(values=values)) < 1e-9
    closed.check(values)


def test_a_fact_of_a_tensor_holds_at_an_index():
    text = "∑_{v} T = 1\nT ∈ ℝ^{n × v}\nz ∈ ℝ^{v}\nL = -∑_{v} T_{n(i)} ⊙ log softmax_{v} z"
    assert str(nt.derivative(text, "z").closed_form(i="ℝ")).splitlines()[-1] == "D = (softmax_v(z) - T_{n(i)})^*"
    assert str(nt.derivative(text.replace("T_{n(i)}", "(T_{n(i)})^2"), "z").closed_form(i="ℝ")).count("∑_{v} T") == 1


def test_a_recurrence_states_no_fact_that_it_does_not_need():
    text = """W ⊙_{h'} W_{h→k} = I_{h,k}
W ∈ ℝ^{h × h'}
h^t = tanh([W ⊙_{h} h^{t-1}]_{h'→h}) for t = 1, …, 3
h^0 ∈ ℝ^{h}
L = ∑_{h} (h^3)^2"""
    assert "I_{" not in str(nt.derivative(text, "h^0").closed_form())
