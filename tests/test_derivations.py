"""Derivatives worked out: right values, formulas that are read back, short ones, and no more than a moment for each."""

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false, reportArgumentType=false, reportOptionalMemberAccess=false

import pickle
import re
import statistics

import numpy as np
import pytest
from derivatives_of_the_literature import LIST
from program_lengths import program_length
from timing import at_most

import namedtensor as nt
from grammar.parser import parse
from namedtensor.derivations.differences import differences, distance

SIZES = {"i": 3, "j": 3, "a": 3, "b": 4, "c": 4, "d": 3}
GROUPS = 12


def size_of(axis: str) -> int:
    name, _, number = axis.partition("[")
    return int(number[:-1]) if number else SIZES.get(name, 2 + sum(map(ord, name)) % 3)


def drawn(text: str, generator):
    """Shapes and values of the inputs that a row of the list speaks of."""
    shapes, values = {}, {}
    for part in filter(None, (word.strip() for word in text.split(";"))):
        name, *axes = part.split()
        kind = axes.pop(0) if axes and (axes[0] in ("+", "small") or axes[0].startswith("[")) else ""
        extent = [size_of(axis) for axis in axes]
        shapes[name] = f"ℝ^{{{' × '.join(axes)}}}" if axes else "ℝ"
        if kind == "+":
            numbers = generator.uniform(0.5, 2, extent) + (2 if name == "b" else 0)
        elif kind == "small":
            numbers = generator.uniform(-0.1, 0.1, extent)
        elif kind:
            numbers = generator.integers(1, size_of(kind[1:-1]) + 1, extent)
        else:
            numbers = generator.normal(size=extent)
        bare = " ".join(axis.partition("[")[0] for axis in axes)
        values[name] = nt.tensor(numbers, bare) if axes else float(numbers)
    return shapes, values


def same(one, other) -> bool:
    return set(one.axes) == set(other.axes) and np.allclose(
        one.to_numpy(other.axes), other.to_numpy(other.axes), rtol=1e-6, atol=1e-9
    )


def rows(of: int):
    return [(at, *row) for at, row in enumerate(LIST) if at % GROUPS == of]


def test_the_list_is_long_and_names_its_sources():
    assert len(LIST) >= 250
    assert all(source for source, *_ in LIST)


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_closed_forms_of_the_literature(group):
    ratios = []
    for at, _, formula, by, shapes, hand in rows(group):
        text = formula.replace(" ‖ ", "\n")
        shapes, values = drawn(shapes, np.random.default_rng(at))
        derivative = nt.derivative(text, by) if by else nt.formula(text)
        expected = derivative(**values)
        closed = derivative.closed_form(**shapes)
        assert same(nt.evaluate(closed.to_text(), values), expected), (formula, by, str(closed))
        for spelled in (closed.to_text(ascii=True), closed.to_latex(), closed.to_latex(macros=True)):
            assert parse(spelled) == closed.expression.tree, spelled
        assert closed.steps, formula
        closed.check(values)
        lines = hand.split(" ‖ ")
        words = [line for line in text.split("\n") if "=" in line and "∂" not in line]
        by_hand = nt.evaluate("\n".join([*words, *lines[:-1], f"D = {lines[-1]}"]), values)
        assert same(by_hand, expected), (formula, by, hand)
        ratios.append(closed.length / program_length(parse("\n".join([*lines[:-1], f"D = {lines[-1]}"]))))
    assert max(ratios) <= 2 and statistics.median(ratios) <= 1.1


def test_some_of_them_against_differences():
    for at in (12, 33, 52, 55, 70, 90, 110, 130):
        _, formula, by, shapes, _ = LIST[at]
        text = formula.replace(" ‖ ", "\n")
        shapes, values = drawn(shapes, np.random.default_rng(at))
        closed = nt.derivative(text, by).closed_form(**shapes)
        got = nt.evaluate(closed.to_text(), values)
        x = values[by]
        if not isinstance(x, nt.NamedTensor):
            continue
        change = nt.tensor(np.random.default_rng(1).normal(size=x.to_numpy().shape), " ".join(x.axes))
        ahead, behind = (
            nt.evaluate(text, {**values, by: x + sign * 1e-6 * change}) for sign in (1, -1)
        )  # fmt: skip
        slope = (ahead - behind) / 2e-6
        marked = change.rename({axis: f"{axis}*" for axis in change.axes})
        along = (got * marked).sum(list(marked.axes))
        assert nt.allclose(along, slope, rtol=1e-4, atol=1e-6), formula


def test_a_derivative_before_a_size_has_no_steps():
    derivative = nt.formula("∂([maxk_{a,j}(x ⊙ y)]_{j(1)})/∂x*\n|j| = 2")
    closed = derivative.closed_form(x="ℝ^{n}", y="ℝ^{a}")
    assert not closed.steps and "∂" not in str(closed)


def test_steps_name_their_rules():
    result = nt.derivative(ATTENTION, "K").closed_form(**SHAPES)
    assert [(step.rule, step.equation) for step in result.steps] == [
        ("ndot", "∂z = Q ⊙_{k} ∂K"),
        ("quotient", "∂u = ∂z / √|k|"),
        ("softmax", "∂α = α ⊙ (∂u - α ⊙_{s} ∂u)"),
        ("ndot", "∂A = ∂α ⊙_{s} V"),
        ("identification", "D = [α ⊙ Q^* ⊙ (V - A) / √|k|]_{s→s*} = ∂A/∂K*"),
    ]
    latex = result.to_latex(steps=True, macros=True)
    assert r"\partial A &\overset{\text{ndot}}{=} \partial \alpha \ndot{\name{s}} V" in latex
    assert result.rules["identity"] >= 1


OF_ORDERS = (
    ("∂(∂(logsumexp_{a} x)/∂x*)/∂x†", "x: a"),
    ("∂(∂(x ⊙_{a} B ⊙_{b} x_{a→b})/∂x*)/∂x†", "x: a; B: a b"),
    ("∂(∂(∂(∑_{a} x^4)/∂x*)/∂x†)/∂x**", "x: a"),
    ("∂(∂(norm_{a}(x ⊙ w))/∂x*)/∂w†", "x: a; w: a"),
    ("A = x ⊙_{a} w\nL = tanh(A)^2\n∂(∂L/∂x*)/∂w†", "x: a; w: a"),
)


@pytest.mark.parametrize(("text", "shapes"), OF_ORDERS, ids=[text for text, _ in OF_ORDERS])
def test_every_order_has_its_steps(text, shapes):
    axes = dict(word.split(": ") for word in shapes.split("; "))
    result = nt.formula(text).closed_form(**{name: f"ℝ^{{{' × '.join(of.split())}}}" for name, of in axes.items()})
    rules = [step.rule for step in result.steps]
    assert rules.count("identification") == text.count("/∂") and rules[-1] == "identification"
    generator = np.random.default_rng(0)
    result.check({name: nt.tensor(generator.normal(size=[3] * len(of.split())), of) for name, of in axes.items()})


def test_a_function_of_the_program_goes_by_the_chain_rule():
    text = "f : ℝ^{b} → ℝ^{b}\nf(u) = tanh(u) ⊙ u\ny = f(x ⊙_{a} W) ⊙ W"
    result = nt.derivative(text, "W").closed_form(x="ℝ^{a}", W="ℝ^{a × b}")
    chained = [step.equation for step in result.steps if step.rule == "chain"]
    assert chained == ["∂p = (∂p/∂v*) ⊙_{b*} (∂v)^*"]
    x, W = nt.tensor([0.4, -0.3], "a"), nt.tensor([[0.1, 0.2], [0.3, 0.4]], "a b")
    result.check(x=x, W=W)
    assert chained[0] in result.derivation.to_text()
    with pytest.raises(nt.NotationError, match="assertion failed"):
        nt.evaluate(result.derivation.to_text().replace(chained[0], chained[0].replace("(∂v)", "(2 ∂v)")), x=x, W=W)


def test_a_wrong_step_is_found():
    result = nt.derivative("tanh(x ⊙_{a} W)", "W").closed_form(x="ℝ^{a}", W="ℝ^{a × b}")
    text = result.derivation.to_text()
    values = {"x": nt.tensor([1.0, 2.0], "a"), "W": nt.tensor([[0.1, 0.2], [0.3, 0.4]], "a b")}
    nt.evaluate(text, values)
    with pytest.raises(nt.NotationError, match="assertion failed"):
        nt.evaluate(text.replace("∂z = x", "∂z = 2 x"), values)


ATTENTION = "α = softmax_{s}(Q ⊙_{k} K / √|k|)\nA = α ⊙_{s} V"
SHAPES = {"Q": "ℝ^{k}", "K": "ℝ^{s × k}", "V": "ℝ^{s × v}"}


def test_names_of_the_program_stay():
    result = nt.derivative(ATTENTION, "V").closed_form(**SHAPES)
    assert str(result).splitlines()[-1] == "D = α^* ⊙ I_{v, v*}"
    assert str(result).splitlines()[0] == "α = softmax_s(Q ⊙_{k} K / √|k|)"


def test_parts_that_repeat_are_named():
    result = nt.formula("∂(∂(logsumexp_{a} x)/∂x*)/∂x†").closed_form(x="ℝ^{a}")
    assert str(result) == "z = softmax_a(x)\nD = z^† ⊙ (I_{a*, a†} - z^*)"


PICKED = (
    # what makes an axis inside says its size; a closed form by hand beside it
    ("sort_{a} X", "[argmaxk_{a,rank}(−X)]_{a→a*, rank→a} ⊙ I_{b,b*}"),
    ("cummax_{a} X", None),
    ("cummin_{a} X", None),
    ("median_{a} X", None),
    ("quantile_{a}(X; 0.3)", None),
    ("∑_{a} (sort_{a} X ⊙ iota_{a})", "[argmaxk_{a,rank}(−X)]_{a→a*} ⊙_{rank} iota_{rank} ⊙ I_{b,b*}"),
)


SYMBOL_RULES = (
    # formulas whose parts a rewrite rule of the symbols changes, by x, s or u
    ("abs(x)^3 sign(x)", "x"), ("abs(x) sign(x) y", "x"), ("(0 x)^2 + s", "s"), ("√8 s", "s"), ("(2 s)^{1/3}", "s"),
    ("8^{1/3} s", "s"), ("exp(2 log s)", "s"), ("exp(−log x)", "x"), ("exp(log(x) / 2)", "x"), ("log 2 ⊙ s", "s"),
    ("{ 0 if s > 1; 0 otherwise } + s", "s"), ("{ s if s > 0 }", "s"), ("{ 1 if s > 0; 0 otherwise } s", "s"),
    ("{ 0 if s > 0; 1 otherwise } s", "s"), ("{ 0 if ¬ s > 1; s otherwise }", "s"), ("{ 0 if s = 0; s^2 otherwise }", "s"),
    ("{ 0 if s > 0 ∧ s < 0.5; s^2 otherwise }", "s"), ("s x^{2.5} + y x^{0.3}", "x"), ("1 / (1 + s / (x + s))", "s"),
    ("π s + e s", "s"), ("−π s", "s"), ("e^{x ⊙ s}", "x"), ("x^s", "s"), ("uniform(1, 2, 3) s", "s"), ("log 1 + s", "s"),
    ("exp x / (∑_{a} exp x)^2", "x"), ("exp(x ⊙ u) / ∑_{a} ∑_{b} exp(x ⊙ u)", "x"), ("exp(x) ⊙ exp(y) / ∑_{a} exp x", "x"),
    ("inv_{a,b}(I_{a,b} + x ⊙ u) ⊙_{a} y", "x"), ("norm_{a}(x; 3)", "x"), ("x / (x / (1 + x))", "x"), ("1/(s/(1 + s) + 1)", "s"),
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "by"), SYMBOL_RULES, ids=[case[0] for case in SYMBOL_RULES])
def test_the_laws_of_symbols_keep_the_value(text, by):
    numbers = {"x": [0.4, 1.3, 0.7], "y": [0.9, 0.5, 1.1], "u": [1.2, 0.3, 0.8]}
    values = {"s": 0.7, **{name: nt.tensor(number, "b" if name == "u" else "a") for name, number in numbers.items()}}
    values = {name: value for name, value in values.items() if re.search(rf"(?<![a-zA-Z]){name}(?![a-zA-Z])", text)}
    derivative = nt.derivative(text, by)
    closed = derivative.closed_form(**{name: getattr(value, "shape", "ℝ") for name, value in values.items()})
    assert distance(closed(values=values), differences(derivative, values)) < 1e-6


OF_SO_MANY = (
    # sums that go to a number, some of one name and two lengths, or of the name of an axis
    ("∑_{k=1}^{2} w^k", "|k| = 2\nD = iota_k ⊙_{k} w^{iota_k - 1}"),
    ("∑_{k=0}^{3} k w", "|k| = 4\nD = ∑_{k} iota_k - 4"),
    ("∑_{k=1}^{2} w^k + ∑_{k=1}^{3} k w^2", "|k| = 2\n|k'| = 3\nD = iota_k ⊙_{k} w^{iota_k - 1} + (2 ∑_{k'} iota_{k'}) ⊙ w"),
    ("(∑_{k=1}^{2} w^k) (∑_{k=1}^{3} k w^2)", "|k| = 3\n|k'| = 2\n"),
    ("∑_{k=1}^{2} exp(w k) + ∑_{k=1}^{3} exp(w k)", "|k| = 2\n|k'| = 3\n"),
    ("∑_{k=1}^{2} ∑_{j=1}^{3} w^{k j}", "|k| = 2\n|j| = 3\n"),
    ("max_{k ∈ [3]} k w", "|k| = 3\nD = argmax_k(iota_k ⊙ w) ⊙_{k} iota_k"),
    ("∑_{k=1}^{2} X_{k→a} w^k", "|k'| = 2\nD = X_{k→a} ⊙ iota_{k'} ⊙_{k'} w^{iota_{k'} - 1}"),
    ("(∑_{k} X^2) ∑_{k=1}^{2} w^k ∑_{k} X", "|k'| = 2\n"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "message"), OF_SO_MANY, ids=[case[0] for case in OF_SO_MANY])
def test_a_sum_to_a_number_has_its_length(text, message):
    values = {"w": 0.6, "X": nt.tensor([1.0, 2.0, 4.0], "k")}
    values = {name: value for name, value in values.items() if name in text}
    derivative = nt.derivative(text, "w")
    closed = derivative.closed_form(**{name: "ℝ^{k}" if name == "X" else "ℝ" for name in values})
    assert message in str(closed)
    assert distance(closed(values=values), differences(derivative, values)) < 1e-6
    closed.check(values)


@pytest.mark.parametrize(("text", "hand"), PICKED, ids=[text for text, _ in PICKED])
def test_axes_that_a_closed_form_makes_have_sizes(text, hand):
    X = nt.tensor([[2.0, 1.0, 4.0, 3.0], [1.0, 0.0, 5.0, 2.0]], "b a")
    derivative = nt.derivative(text, "X")
    closed = derivative.closed_form(X="ℝ^{b × a}")
    assert same(closed(X=X), derivative(X=X))
    closed.check(X=X)
    assert (
        hand is None
        or nt.prove(f"{hand} = {str(closed).splitlines()[-1].removeprefix('D = ')}", X="ℝ^{b × a}").status == "proved"
    )


@pytest.mark.parametrize(
    ("text", "by", "message"),
    [
        ("s / 0", "s", "no closed form is known for this: /"),
        ("𝔼_{z ∼ N(0, 1)}[z s]", "s", "no closed form is known for this: uniform"),
    ],
)
def test_what_is_undefined_or_drawn_has_no_closed_form(text, by, message):
    with pytest.raises(nt.NotationError, match=message) as caught:
        nt.derivative(text, by).closed_form(s="ℝ")
    assert caught.value.code == 405


@pytest.mark.parametrize(
    ("program", "by", "last"),
    [
        ("f : ℝ^{a} → ℝ\nf(x) = x ⊙_{a} W\nW ∈ ℝ^{a}", "W", "f' : ℝ^{a} → ℝ^{a*}\nf'(x) = ∂f(x)/∂W*"),
        (
            "f : ℝ^{a} → ℝ\nf(x; W, b) = x ⊙_{a} W + b\nW ∈ ℝ^{a}\nb ∈ ℝ",
            "b",
            "f' : ℝ^{a} → ℝ\nf'(x; W, b) = ∂f(x; W, b)/∂b*",
        ),
        ("f : ℝ^{a} → ℝ\nf(x; W) = x ⊙_{a} W", "W", "f(x; W) = x ⊙_{a} W\nf'(x; W) = ∂f(x; W)/∂W*"),
    ],
)
def test_a_derivative_by_a_parameter_has_its_axes_where_they_are_declared(program, by, last):
    assert nt.derivative(program, by).to_text().endswith(last)


def test_the_distance_is_scaled_by_the_larger_tensor():
    small, large = nt.tensor([1.0, 0.5], "a"), nt.tensor([4.0, 0.5], "a")
    assert distance(small, large) == distance(large, small) == 0.75
    assert distance(nt.tensor(0.25), nt.tensor(0.5)) == 0.25  # The scale is at least 1.


def test_differences_are_of_a_derivative_that_is_small():
    with pytest.raises(nt.NotationError, match="the value is not a derivative"):
        differences(nt.formula("x^2"), {"x": 2.0})
    with pytest.raises(nt.NotationError, match="X has 1000000 elements"):
        differences(nt.derivative("∑_{a} X", "X"), {"X": nt.tensor(np.zeros(10**6), "a")})
    A = nt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "a b")
    by_differences = differences(nt.derivative("∑_{a, b} A^2", "A"), {"A": A})
    assert nt.allclose(by_differences, nt.tensor([[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]], "a* b*"), atol=1e-6)


def test_a_derivative_is_taken_by_a_name():
    with pytest.raises(nt.NotationError, match="x\\) is not a name"):
        nt.derivative("x^2", "f(x)")


def test_what_is_joined_with_nothing_is_said():
    with pytest.raises(nt.NotationError, match="no closed form is known for this: a zero along an axis"):
        nt.derivative("concat_{a}(X, Y)", "X").closed_form(X="ℝ^{a}", Y="ℝ^{a}")
    assert str(nt.derivative("concat_{a} X^2", "X").closed_form(X="ℝ^{a}")) == "D = 2 X ⊙ I_{a, a*}"


def test_a_function_gives_a_function():
    result = nt.derivative("f : ℝ^{a} → ℝ\nf(x) = ∑_{a} x^3", "x").closed_form()
    assert str(result) == "f' : ℝ^{a} → ℝ^{a*}\nf'(x) = 3 (x^*)^2"
    x = nt.tensor([1.0, 2.0], "a")
    assert nt.allclose(result(x), nt.tensor([3.0, 12.0], "a*"))


def test_least_shapes():
    assert str(nt.derivative("softmax_{ax} X", "X").closed_form()).endswith("⊙ (I_{ax, ax*} - softmax_{ax}(X)^*)")


MIDST = "h^t = tanh(h^{t-1} ⊙ w) for t = 1, …, n\nh^0 = b\ny = h^1 ⊙ h^n"


def test_members_of_a_family_keep_their_names():
    """What no recurrence says, as a derivative by a member in the midst of it, speaks of the members one by one."""
    derivative, shapes = nt.derivative(MIDST, "h^2"), {"w": "ℝ^{a}", "b": "ℝ^{a}"}
    closed = derivative.closed_form(**shapes, sizes={"n": 3})
    assert str(closed).splitlines()[-1] == "D = h^1 ⊙ (1 - (h^3)^2) ⊙ w ⊙ I_{a, a*}"
    values = {"w": nt.tensor([0.5, 0.3], "a"), "b": nt.tensor([1.0, -1.0], "a")}
    expected = derivative(values=values, sizes={"n": 3})
    assert same(nt.evaluate(closed.to_text(), values, sizes={"n": 3}), expected)


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_what_has_no_closed_form_says_so():
    with pytest.raises(nt.NotationError) as caught:
        nt.derivative(MIDST, "h^2").closed_form(w="ℝ^{a}", b="ℝ^{a}", sizes={"n": 100_000})
    assert caught.value.code == 404
    with pytest.raises(nt.NotationError, match="n"):
        nt.derivative(MIDST, "h^2").closed_form(w="ℝ^{a}", b="ℝ^{a}")


BY_NAMES = (
    # by what the program defines: the steps speak of it by its name
    ("g = exp r\ny = g^2 ⊙ r + g", "g", "r: "),
    ("g = tanh(x ⊙_{a} W)\ny = ∑_{b} g^2 + ∑_{b} (g ⊙ u)", "g", "x: a; W: a b; u: b"),
    ("g_1 = exp r\ny = (g_1)^2 ⊙ r", "g_1", "r: "),
    ("u = exp r\ny = u", "r", "r: "),
)


@pytest.mark.parametrize(("text", "by", "shapes"), BY_NAMES, ids=[case[0] for case in BY_NAMES])
def test_steps_of_a_derivative_by_a_name_that_is_defined(text, by, shapes):
    axes = dict(word.split(": ") for word in shapes.split("; "))
    result = nt.derivative(text, by).closed_form(
        **{name: f"ℝ^{{{' × '.join(of.split())}}}" if of else "ℝ" for name, of in axes.items()}
    )
    generator = np.random.default_rng(0)
    result.check({name: nt.tensor(generator.normal(size=[3] * len(of.split())), of) for name, of in axes.items()})
    assert f"∂{by}" in str(result.steps) and result.steps[-1].rule == "identification"


def test_an_axis_within_may_be_called_as_a_mark():
    text, values = "A ⊙_{a*} (X ⊙_{a} B)_{b→a*}", {"A": "c a*", "X": "a d", "B": "a b"}
    drawn = {
        name: nt.tensor(np.random.default_rng(len(axes)).normal(size=(2, 2)), axes) for name, axes in values.items()
    }
    derivative = nt.derivative(text, "X")
    closed = derivative.closed_form(A="ℝ^{c × a*}", X="ℝ^{a × d}", B="ℝ^{a × b}")
    assert same(nt.evaluate(closed.to_text(), drawn), derivative(values=drawn))


BLOCK = """
Att(Q, K, V) = softmax_{s'}(Q ⊙_{k} K_{s→s'} / √|k|) ⊙_{s'} V_{s→s'}
N(X) = standardize_{c} X ⊙ γ + β
Z = X + Att(N(X) ⊙_{c} W^Q, N(X) ⊙_{c} W^K, N(X) ⊙_{c} W^V) ⊙_{v,h} W^O
Y = Z + relu(N(Z) ⊙_{c} U) ⊙_{f} W
"""
OF_BLOCK = {
    "X": "s c", "γ": "c", "β": "c", "W^Q": "c h k", "W^K": "c h k", "W^V": "c h v", "W^O": "h v c", "U": "c f", "W": "f c",
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("by", OF_BLOCK)
def test_an_attention_block(by):
    generator = np.random.default_rng(0)
    values = {
        name: nt.tensor(generator.normal(size=[{"c": 4}.get(axis, 2 + (axis in "skf")) for axis in axes.split()]), axes)
        for name, axes in OF_BLOCK.items()
    }
    derivative = nt.derivative(BLOCK, by)
    with at_most(20):  # a fraction of a second where it is found, minutes where forms are only tried
        closed = derivative.closed_form(
            **{name: f"ℝ^{{{' × '.join(axes.split())}}}" for name, axes in OF_BLOCK.items()}
        )
    assert same(nt.evaluate(closed.to_text(), values), derivative(values=values))


def test_it_ends():
    text = "\n".join(["X^0 = x", *(f"X^{n} = X^{n - 1} + tanh(X^{n - 1} ⊙_{{a}} W)_{{b→a}}" for n in range(1, 9))])
    with at_most(20):
        try:
            nt.derivative(text, "W").closed_form(x="ℝ^{a}", W="ℝ^{a × b}")
        except nt.NotationError as problem:
            assert problem.code in (308, 405)


def test_a_closed_form_is_explained():
    result = nt.derivative("softmax_{a} x", "x").closed_form(x="ℝ^{a}")
    x = nt.tensor([1.0, 2.0], "a")
    steps = result.explain(x=x)
    assert nt.allclose(steps[-1].value, nt.derivative("softmax_{a} x", "x")(x=x))
    assert "I_{a" in str(steps)


def test_steps_are_shown_beside_their_rules():
    steps = nt.derivative(ATTENTION, "K").closed_form(**SHAPES).steps
    lines = str(steps).splitlines()
    assert lines[:4] == ["z = Q ⊙_{k} K", "u = z / √|k|", "α = softmax_s(u)", "A = α ⊙_{s} V"] and repr(steps) == str(
        steps
    )
    assert [line.rsplit("   ", 1)[1] for line in lines[5:]] == [step.rule for step in steps]
    page = steps._repr_html_()
    assert page.count("<tr>") == 1 + 4 + 5 and "identification" in page and "⊙" in page


def test_explain_of_a_derivative_has_the_way_to_its_closed_form():
    x = nt.tensor([1.0, 2.0], "a")
    explanation = nt.explain("∂(softmax_{a} x)/∂x*", x=x)
    assert [step.rule for step in explanation.derivation.steps] == ["softmax", "identification"]
    parts = str(explanation).split("\nclosed form\n")
    assert len(parts) == 2 and parts[1].splitlines()[-1].endswith("identification")
    assert "identification" in explanation._repr_html_() and "closed form" not in str(nt.explain("2 x", x=x))
    assert str(pickle.loads(pickle.dumps(explanation))) == str(explanation)
    recurrence = nt.explain("h^t = w h^{t-1} for t = 1, …, n\nh^0 = w\ny = h^n\n∂y/∂w", w=0.5, sizes={"n": 3})
    assert "g^t = g^{t+1} ⊙ w = ∂y/∂h^t for t = n - 1, …, 0   chain" in str(recurrence)


def test_explain_of_what_has_no_closed_form_shows_its_steps_alone():
    explanation = nt.explain("∂(argsort_{a} x)/∂x*", x=nt.tensor([2.0, 1.0], "a"))
    assert explanation.derivation is None and "closed form" not in str(explanation)


NUMBERS = [
    ("0.8 ∑_{a} x²", "1.6 x^*"),
    ("0.1 ∑_{a} x^3", "0.3 (x^*)^2"),
    ("∑_{a} x² / 3", "2 x^* / 3"),
    ("∑_{a} x² / 8", "x^* / 4"),
    ("0.375 ∑_{a} x²", "3 x^* / 4"),
    ("∑_{a} x^{0.8}", "0.8 / (x^*)^{0.2}"),  # 0.8 - 1 is -0.19999999999999996
    ("∑_{a} x^{1.01}", "1.01 (x^*)^{0.01}"),
    ("3.141592653589790 ∑_{a} x", "3.14159265358979 ones_{a*}"),
    ("0.1234567890123456 ∑_{a} x", "0.1234567890123456 ones_{a*}"),
]


@pytest.mark.parametrize(("text", "form"), NUMBERS, ids=[text for text, _ in NUMBERS])
def test_coefficients_are_written_as_decimals_or_fractions(text, form):
    assert nt.derivative(text, "x").closed_form(x="ℝ^{a}").to_text() == f"D = {form}"
