"""Customary forms that the grammar has in one form only: x^(1/2), 1_{x > 1}, ∀ t ∈ [n], max{x, y} and x_{2 t}."""

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_latex, to_text

NUMBERS = np.array([4.0, 9.0, 16.0])
OTHERS = np.array([5.0, 2.0, 16.0])
X, Y = nt.tensor(NUMBERS, "n"), nt.tensor(OTHERS, "n")
GIVEN = {"x": X, "y": Y, "α": X, "W^1": 3.0, "u^+": 2.0}


def value(text):
    """Return the value of a formula of the numbers above."""
    return nt.evaluate(text, GIVEN).to_array()


def assert_same_in_every_spelling(text):
    """Assert that printing and parsing give the same tree."""
    tree = parse(text)
    for printed in (to_text(tree), to_text(tree, ascii=True)):
        assert parse(printed, "text") == tree
    assert parse(to_latex(tree), "latex") == tree


# ------------------------------------------------------------------------------------------------------- superscripts
# (text, with braces, value)
POWERS = [
    ("10^(-6)", "10^{-6}", 1e-6),
    ("x^(1/2)", "x^{1/2}", [2, 3, 4]),
    ("x ^ ( 1 / 2 )", "x^{1/2}", [2, 3, 4]),
    ("(x + 1)^(−1)", "(x + 1)^{-1}", 1 / (NUMBERS + 1)),
    ("2 x^(y − 2)", "2 x^{y - 2}", 2 * NUMBERS ** (OTHERS - 2)),
    ("2^(1/2 + 1/2) x", "2^{1/2 + 1/2} x", 2 * NUMBERS),
    ("e^(−(x − 4))", "e^{−(x − 4)}", np.exp(4 - NUMBERS)),
    ("√x^(2)", "√x^2", NUMBERS),
    ("x^(1)", "x^1", NUMBERS),
    ("x^((2))", "x^2", NUMBERS**2),
    ("W^(1) x", "W^1 x", 3 * NUMBERS),
    ("W^{(1)} x", "W^1 x", 3 * NUMBERS),
    ("W⁽¹⁾ x", "W^1 x", 3 * NUMBERS),
    ("u^(+) + u^+", "u^{+} + u^{+}", 4),
    ("x^(\n1/2)", "x^{1/2}", [2, 3, 4]),
    ("f^(2)(u) = 3 u\nf^2(x)", "f^2(u) = 3 u\nf^2(x)", 3 * NUMBERS),
    ("f^2(u) = 3 u\nf^{(2)}(x)", "f^2(u) = 3 u\nf^2(x)", 3 * NUMBERS),
    ("h^(0) = x\nh^(t) = h^(t-1) + x for t = 1, …, 3\nh^(3)", "h^0 = x\nh^t = h^{t-1} + x for t = 1, …, 3\nh^3", 4 * NUMBERS),
    ("V^(l,Q) = l x for l = 1, …, 2\nV^{(2,Q)}", "V^{l,Q} = l x for l = 1, …, 2\nV^{2,Q}", 2 * NUMBERS),
    ("V ∈ ℝ^(n)\nV = 2 x", "V ∈ ℝ^{n}\nV = 2 x", 2 * NUMBERS),
]  # fmt: skip


@pytest.mark.parametrize("text, braced, expected", POWERS)
def test_parentheses_around_a_superscript_are_braces(text, braced, expected):
    assert parse(text) == parse(braced)
    np.testing.assert_allclose(value(text), expected, rtol=1e-12)
    assert_same_in_every_spelling(text)


def test_parentheses_are_braces_around_the_shape_of_a_set():
    assert parse("B ∈ ℝ^(a × b[2])") == parse("B ∈ ℝ^{a × b[2]}")
    assert parse("B ∈ {0, 1}^(a, b)") == parse("B ∈ {0, 1}^{a, b}")


@pytest.mark.parametrize("text", ["sin^(2)(x)", r"\sin^{(2)}(x)", "sin^{(2)} x", "tanh⁽²⁾(x)", "exp^(k)(x)"])
def test_an_order_or_a_power_of_a_builtin_is_ambiguous(text):
    with pytest.raises(NotationError, match="power or a derivative") as caught:
        parse(text)
    assert caught.value.code == 107
    np.testing.assert_allclose(value("(sin(x))^2"), np.sin(NUMBERS) ** 2)
    assert float(nt.evaluate("∂^2 sin(r)/∂r^2", r=2.0)) == pytest.approx(-np.sin(2.0))


@pytest.mark.parametrize("text", ["sin^2(x)", "sin^{2}(x)", "sin^(1/2)(α)", "sin(x)^(2)", "sin^(2)(u) = 3 u"])
def test_other_powers_of_a_builtin_are_read(text):
    parse(text)


# (text, code, the text above the caret, a part of the message or hint)
REFUSED = [
    ("x^()", 105, ")", "operand is missing"),
    ("x^(1", 102, "(", "not closed"),
    ("x^(1}", 104, "}", "does not match"),
    ("x^(2)^(3)", 107, "x^(2)^(3)", "(x^{2})^{3}"),
    ("mean_{n} (x)^(2)", 107, "mean_{n} (x)^(2)", "mean_{n}((x)^(2))"),
    ("sin^(-1)(x)", 107, "sin^(-1)(x)", "arcsin(x)"),
    (r"\alpha_{n} + x^(1/2) \frac{1}{2}", 101, "(", "x^{1/2}"),
    ("f(x) = x + 1 ∀ x ∈ ℝ", 101, "ℝ", "leave out the range"),
    ("y_{n(t)} = 2 t ∀ t", 101, "t", "for t ∈ [n]"),
    ("y_{n(t)} = 2 t for t = 1, 3, 5", 114, "3", "2k-1 for k = 1, …, 3"),
    (r"y_{\name{n}(t)} = 2 t \quad \forall t \in \{2, 4\}", 114, "4", "2k for k = 1, …, 2"),
    ("y_{n(t)} = 2 t for t = 1, 2, 4", 114, "2", "an equation for each number: t = 1, then t = 2"),
    ("y_{n(t)} = 2 t for t ∈ {Q, K}", 114, "K", "an equation for each name: t = Q, then t = K"),
    ("∀ t ∈ [3]: z_{k(t)} = 2 t", 101, "∀", "the range after its equation"),
    (r"\forall t \in [3]: z_{\name{k}(t)} = 2 t", 101, r"\forall", "the range after its equation"),
    ("c = 2\n∀ t ∈ [3]: z_{k(t)} = c t", 101, ":", "the range after its equation"),
    ("z_{k(i), l(j)} = 2 for 1 ≤ i < j ≤ 3", 101, "≤", "for i = 1, …, m for j = 1, …, n"),
    ("1_{x ∈ [0, 1]}", 112, "_{x ∈ [0, 1]}", "𝕀[x > 1], also with 0 ≤ x ≤ 1"),
    ("w_{x > 1}", 112, "_{x > 1}", "𝕀[x > 1]"),
    ("max{x, y", 102, "{", "not closed"),
]  # fmt: skip


@pytest.mark.parametrize("text, code, marked, hint", REFUSED)
def test_a_wrong_customary_form_is_refused_with_a_repair(text, code, marked, hint):
    with pytest.raises(NotationError) as caught:
        nt.evaluate(text, GIVEN)
    problem = caught.value
    assert problem.code == code
    assert text[slice(*problem.span)] == marked
    assert hint in str(problem)


def test_the_repair_of_a_bracket_raised_in_latex_is_the_power():
    with pytest.raises(NotationError) as caught:
        parse(r"x^(1/2) + \frac12")
    (((start, end), edit),) = caught.value.edits
    assert parse(r"x^(1/2) + \frac12"[:start] + edit + r"x^(1/2) + \frac12"[end:]) == parse(r"x^{1/2} + \frac12")


# --------------------------------------------------------------------------------------------------------- indicators
INDICATORS = [
    ("1_{x > 5}", NUMBERS > 5),
    ("I_{x>5}", NUMBERS > 5),
    ("𝕀_{x > 5}", NUMBERS > 5),
    ("𝟙_{x > 5}", NUMBERS > 5),
    ("𝟏[x > 5]", NUMBERS > 5),
    ("1_{x = 9}", NUMBERS == 9),
    ("1_{max(x, y) > 5 and y > 3} x", np.where((np.maximum(NUMBERS, OTHERS) > 5) & (OTHERS > 3), NUMBERS, 0)),
    ("1_{alpha ≥ x^{2}/9}", NUMBERS >= NUMBERS**2 / 9),
    ("2·1_{5 ≤ x ≤ 10}", 2 * ((NUMBERS >= 5) & (NUMBERS <= 10))),
    ("∑_{n} 1_{x > y}", np.sum(NUMBERS > OTHERS)),
    (r"\mathbf{1}_{x>5}", NUMBERS > 5),
    (r"\mathbf 1_{x \neq y}", NUMBERS != OTHERS),
    (r"\mathbb{1}_{\{x>5\}}", NUMBERS > 5),
    (r"\mathbb{1}_{\left\{x > 5 \lor y = 5\right\}}", (NUMBERS > 5) | (OTHERS == 5)),
    (r"\mathds{1}_{|x - y| > 2}", np.abs(NUMBERS - OTHERS) > 2),
    (r"\mathbb{I}_{\max(x, y) = y}", OTHERS >= NUMBERS),
]  # fmt: skip


@pytest.mark.parametrize("text, expected", INDICATORS)
def test_a_condition_below_an_indicator_is_its_argument(text, expected):
    np.testing.assert_array_equal(value(text), expected)
    assert_same_in_every_spelling(text)


def test_subscripts_that_are_no_conditions_stay():
    assert parse("I_{a->b}") == parse("I_{a→b}")
    np.testing.assert_array_equal(nt.evaluate("I_{n, m} ⊙_{n} x", x=X, sizes={"m": 3}).to_array(), NUMBERS)
    assert float(nt.evaluate("∑_{i=1}^{3} ∑_{1 ≤ j < i} 1")) == 3
    np.testing.assert_array_equal(nt.evaluate(r"\mathbf{1}_{n} \odot x", x=X).to_array(), NUMBERS)


# ------------------------------------------------------------------------------------------------------ max{x, y}, ∀
CALLS = [
    ("max{x, y}", np.maximum(NUMBERS, OTHERS)),
    (r"\max\{x, y\}", np.maximum(NUMBERS, OTHERS)),
    (r"\min\left\{x, y, 5\right\}", np.minimum(np.minimum(NUMBERS, OTHERS), 5)),
    ("2 max{0, x − 5} − 1", 2 * np.maximum(0, NUMBERS - 5) - 1),
    ("f(u, v) = u − v\nf{x, y}", NUMBERS - OTHERS),
    ("max{ {x if x > 5; 0 otherwise}, y}", np.maximum(np.where(NUMBERS > 5, NUMBERS, 0), OTHERS)),
    (r"\max_{\name{n}} x + \max \{x_{\name{n}(i)} \mid i \in [2]\}", 16 + 9),
]  # fmt: skip


@pytest.mark.parametrize("text, expected", CALLS)
def test_the_arguments_of_a_function_may_be_in_braces(text, expected):
    np.testing.assert_array_equal(value(text), expected)
    assert_same_in_every_spelling(text)


RANGES = [
    "z_{k(t)} = 2 t ∀ t ∈ [3]",
    "z_{k(t)} = 2 t, ∀ t ∈ {1, …, 3}",
    "z_{k(t)} = 2 t for all t ∈ [3]",
    "z_{k(t)} = 2 t, for each t = 1, …, 3",
    "z_{k(t)} = 2 t, for 1 ≤ t ≤ 3",
    "z_{k(t)} = 2 t ∀ t = 1, 2, 3",
    r"z_{\name{k}(t)} = 2 t \quad \forall t \in \{1,\ldots,3\}",
    r"z_{\name{k}(t)} = 2 t, \forall t \in [3]",
    r"z_{\name{k}(t)} &= 2 t, & \forall t &\in [3]",
    r"z_{\name{k}(t)} = 2 t \text{ for all } t = 1, \ldots, 3",
]


@pytest.mark.parametrize("text", RANGES)
def test_a_range_may_be_for_all(text):
    np.testing.assert_array_equal(nt.evaluate(text).to_array(), [2, 4, 6])
    assert_same_in_every_spelling(text)


# -------------------------------------------------------------------------------------------------- members and names
MEMBERS = [
    ("y = ∑_{k=1}^{2} h_{2 k}\nh_t = 3 t for t = 1, …, 4\ny", 6 + 12),
    ("y = ∑_{k=1}^{2} h_{2k−1}\nh_t = 3 t for t = 1, …, 4\ny", 3 + 9),
    ("y_k = h_{1 + 2k} for k = 1, …, 2\nh_t = 3 t for t = 1, …, 5\ny_2", 15),
    ("f(k) = h_{2k}\nh_t = 3 t for t = 1, …, 4\nf(2)", 12),
    ("y = h_{4/2} + h_{n/2}\nn = 2\nh_t = 3 t for t = 1, …, 4\ny", 6 + 3),
    ("y_k = h_{m k} − h_{k m/2} for k = 1, …, 2\nm = 2\nh_t = 3 t for t = 1, …, 4\ny_2", 12 - 6),
    ("y_k = h_{2 · k − 1} + h_{k · m + 1} for k = 1, …, 2\nm = 2\nh_t = 3 t for t = 1, …, 5\ny_2", 9 + 15),
    (r"y_k = h_{2k+1} \quad k = 1, \ldots, 2\\ h_t = 3 t \quad t = 1, \ldots, 5 \\ y_2", 15),
]  # fmt: skip


@pytest.mark.parametrize("text, expected", MEMBERS)
def test_a_multiple_of_an_index_names_a_member(text, expected):
    assert float(nt.evaluate(text)) == expected
    assert_same_in_every_spelling(text)
    as_superscripts = text.replace("h_{", "h^{").replace("h_t", "h^t")
    assert float(nt.evaluate(as_superscripts)) == expected


COMPUTED_LABELS = [
    "h_{m t}", "h_{2 t m}", "h_{t/2}", "h_{2 · t}", "h_{m · (t-1)}", "h_{2 (t-1)+1}", "h_{(t+1)/2}", "h_{(t-1) m}",
    "h_{(t/2) m}", "h_{t/2 · m}", "h_{t/(2 m)}", "h_{-t/2}", "h_{1+(-t)}", "h_{a-(b-c)}", "h_{a/b/c}", "h_{a/(b/c)}",
    "h_{a · (b · c)}", "h_{|k|/2}", "h_{t^l/2}", "h_{2 t, m/2}",
]  # fmt: skip


@pytest.mark.parametrize("text", COMPUTED_LABELS)
def test_a_computed_label_is_printed_with_its_brackets(text):
    assert to_text(parse(text)) == text
    assert_same_in_every_spelling(text)
    assert float(nt.evaluate(text, {text: 3.0})) == 3


@pytest.mark.parametrize(
    "text, same",
    [
        ("h_{2*t}", "h_{2 · t}"),
        ("h_{2 * t}", "h_{2 · t}"),
        ("h_{(2 t)}", "h_{2 t}"),
        ("h_{2(t − 1)}", "h_{2 (t-1)}"),
        (r"h_{\frac{t}{2}} + \alpha \cdot 1", "h_{t/2} + α · 1"),
        ("x_{seq*→seq}", "[x]_{seq*→seq}"),
    ],
)
def test_spellings_of_computed_labels(text, same):
    assert parse(text) == parse(same)


@pytest.mark.parametrize("given", ["s_{2 t}", "s_{2t}", "s_{2·t}", "s_{2 · t}", "s_{2*t}"])
@pytest.mark.parametrize("written", ["s_{2 t}", "s_{2 · t}", "s_{2*t}"])
def test_a_product_in_a_label_is_one_name_in_every_spelling(written, given):
    assert float(nt.evaluate(written, {given: 3.0})) == 3


@pytest.mark.parametrize("head", ["softmax", "∑", "mean"])
def test_axes_without_a_comma_are_refused_with_a_comma(head):
    text = f"{head}_{{n m}} A"
    with pytest.raises(NotationError) as caught:
        nt.evaluate(text, A=nt.tensor(np.eye(3), "n m"))
    assert text[slice(*caught.value.span)] == "n m"
    assert f"separate axes by commas: {head}_{{n, m}}" in str(caught.value)
    (((start, end), edit),) = caught.value.edits
    nt.evaluate(text[:start] + edit + text[end:], A=nt.tensor(np.eye(3), "n m"))


@pytest.mark.parametrize(
    "text", ["softmax_{2 n} x", "∑_{2 n} x", "x ⊙_{2 n} x", "[1, 2]_{2 n}", "x_{2 n→m}", "x_{2 n(1)}"]
)
def test_a_multiple_is_no_axis(text):
    with pytest.raises(NotationError):
        nt.evaluate(text, x=X)


FORMS = ["w^1", "w^{1}", "w^(1)", "w^{(1)}", "w^{ ( 1 ) }", "w¹", "w⁽¹⁾"]


@pytest.mark.parametrize("written", FORMS)
@pytest.mark.parametrize("given", FORMS)
def test_every_spelling_of_a_label_is_one_name(written, given):
    formula = f"2 {written}"
    np.testing.assert_array_equal(nt.evaluate(formula, {given: X}).to_array(), 2 * NUMBERS)
    np.testing.assert_array_equal(nt.formula(formula)(**{given: X}).to_array(), 2 * NUMBERS)
    np.testing.assert_array_equal(nt.compile(formula)(**{given: X}).to_array(), 2 * NUMBERS)
    np.testing.assert_array_equal(nt.program(f"{written} = 2 y\nz = 3 y")[given](y=X).to_array(), 2 * NUMBERS)
    np.testing.assert_array_equal(nt.program(f"f{written[1:]}(u) = 2 u")[f"f{given[1:]}"](X).to_array(), 2 * NUMBERS)
    assert float(nt.derivative(f"{written} ⊙ {written}", given)(**{given: 3.0})) == 6
    counted = f"s^0 = 0\ns^t = s^{{t-1}} + 2 for t = 1, …, {written}\ns^3"
    assert float(nt.evaluate(counted, sizes={given: 3})) == 6


def test_blanks_in_a_label_are_of_no_matter():
    assert float(nt.evaluate("W^(l, Q) + s_{2t − 1}", {"W^{l,Q}": 1.0, "s_{2 t-1}": 2.0})) == 3
    assert float(nt.evaluate("W^{l,Q} + s_{2 t - 1}", {"W^(l, Q)": 1.0, "s_{2t - 1}": 2.0})) == 3


def test_two_spellings_of_one_label_are_refused():
    with pytest.raises(NotationError, match="the same name"):
        nt.evaluate("w^1", {"w^1": X, "w^(1)": X})
