"""What other notations write, and readings in doubt: each is asked about in words of the notation, with what to write."""

import numpy as np
import pytest

import namedtensor as nt

DRAWN = np.random.default_rng(3)
GIVEN = {
    "x": nt.tensor(DRAWN.normal(size=5), "seq"),
    "y": nt.tensor(DRAWN.normal(size=5), "seq"),
    "A": nt.tensor(DRAWN.normal(size=(4, 3)), "a b"),
    "Q": nt.tensor(DRAWN.normal(size=(2, 3)), "seq key"),
    "K": nt.tensor(DRAWN.normal(size=(2, 3)), "seq key"),
} | {"a": 2.0, "b": 3.0, "c": 4.0, "n": 3}
ASKED = {
    "2^3^2": (107, "2^3^2 is ambiguous", "add parentheses"),
    "a/2 b": (107, "a/2 b is ambiguous", "add parentheses"),
    "1/n ∑_{seq} x": (107, "is ambiguous", "add parentheses"),
    "a/bc": (201, "undefined name bc (read as one name)", "for a product write b ⊙ c, for a contraction b ⊙_{axis} c"),
    "QK": (201, "undefined name QK", "for a product write Q ⊙ K, for a contraction Q ⊙_{axis} K"),
    r"QK^\top": (201, "Q K^⊤ is a transpose", "in named axes: Q ⊙_{key} K_{seq→seq'}"),
    "A^T": (201, "undefined name T", "axes have names and no order"),
    "x_i": (201, "undefined name x_i", "an index names its axis: x_{seq(i)}"),
    "∑_i x_i y_i": (201, "undefined name x_i", "in named axes: x ⊙_{seq} y"),
    "A_{ij}": (201, "undefined name A_ij", "an index names its axis: A_{a(i), b(j)}"),
    "A_{i,j}": (201, "undefined name A_{i,j}", "an index names its axis: A_{a(i), b(j)}"),
    "A_i": (201, "undefined name A_i", "an index names its axis: A_{a(i)}"),
    "A_b": (201, "undefined name A_b", "an index names its axis: A_{b(i)}"),
    "A_{a,b}": (201, "undefined name A_{a,b}", "in named axes: A"),
    "A_{b,a}": (201, "undefined name A_{b,a}", "in named axes: A"),
    "x_{seq} y": (201, "undefined name x_seq", "in named axes: x"),
    "h_t = h_{t-1} + x_t for t = 1, …, 5\nh_0 = 0\nh_5": (201, "undefined name x_1", "an index names its axis: x_{seq(t)}"),
    "maxk_{seq}(x; 2)": (304, "maxk expects nothing after the semicolon", "maxk_{seq, k}, with |k| = 2"),
    "maxk_{seq} x": (316, "maxk expects 2 axes, got 1", "name them in the subscript, as in maxk_{seq, k}"),
    "∑_{i=1}^{∞} 1 / i^2": (309, "the sum needs a finite end", "write a number, such as 100"),
    "x[1]": (101, "an index needs an axis name", "in named axes: x_{seq(2)}"),
    "E[x]": (101, "an index needs an axis name", "an average over an axis is mean_{axis} X"),
    "𝔼[x]": (201, "nothing here depends on a random variable", "write 𝔼_{x ∼ N(0, 1)}[…], or x ∼ N(0, 1) in a separate line"),
    "𝔼_y[x]": (201, "the distribution of y is not specified", "write 𝔼_{y ∼ N(0, 1)}[…], or y ∼ N(0, 1) in a separate line"),
    "softmax x": (316, "softmax expects 1 axis, got 0", "softmax_{seq}"),
    "∑ x": (105, "∑ needs an axis", "write ∑_{axis} before its operand"),
    "|x + y": (101, "unexpected +", "an absolute value has a bar on each side, |x − y|"),
    "|x|a|y|": (107, "|x|a|y| is ambiguous", "write abs(…), or add parentheses"),
    "||x||": (101, "unexpected |", "a norm is written ‖x‖"),
    "<x, y>": (105, "an operand is missing before <", "an inner product is a contraction: x ⊙_{axis} y"),
    "⟨x, y⟩": (106, "unsupported character ⟨", "an inner product is a contraction"),
    "x × y": (101, "unexpected ×", "a product is written A ⊙ B, a contraction A ⊙_{axis} B"),
    "x @ y": (105, "@ needs an axis to contract", "in named axes: x ⊙_{seq} y"),
    "¬ x > 0": (105, "an operand is missing before ¬", "write a condition in 𝕀[…]"),
    "if x > 0": (105, "an operand is missing before if", "cases are written { a if i ≤ j; b otherwise }"),
    "x > 0 ? 1 : 0": (106, "unsupported character ?", "cases are written { a if x > 0; b otherwise }"),
    "x ∼ Poisson(2)": (201, "unknown distribution Poisson", "for probabilities p along an axis write i ∼ p"),
    "∫ x": (106, "unsupported character ∫", "a sum over an axis is ∑_{axis} X"),
    "x!!": (107, "x!! is ambiguous", "add parentheses"),
    "2^n!": (107, "2^n! is ambiguous", "add parentheses"),
    "x % 2": (106, "unsupported character %", "a remainder is mod(x, n)"),
    "tr(A)": (201, "undefined name tr", "a trace is trace_{rows,columns} X"),
    "∂x/∂y": (303, "the derivative would have axis seq twice", "write ∂(…)/∂y*"),
    "x_{seq(i)}": (201, "undefined name i", ""),
}  # fmt: skip


@pytest.mark.parametrize("text", ASKED)
def test_it_is_asked_about(text):
    number, message, hint = ASKED[text]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, GIVEN)
    problem = caught.value
    assert problem.code == number and message in problem.message and hint in (problem.hint or "")


SETTLED = {  # what language settles, as the reference page says
    "exp a x": "exp(a ⊙ x)",
    "sin x^2": "sin(x ⊙ x)",
    "sin^2 x": "(sin(x))^2",
    "−x^2": "0 − (x ⊙ x)",
    "∑_{seq} x + y": "(∑_{seq} x) + y",
    "∑_{seq} x y": "∑_{seq} (x ⊙ y)",
    "a / b · c": "(a / b) ⊙ c",
    "√x^2": "√(x ⊙ x)",
}


@pytest.mark.parametrize("text", SETTLED)
def test_what_is_settled_is_read_one_way(text):
    result, expected = (nt.evaluate(item, GIVEN).array for item in (text, SETTLED[text]))
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_a_circular_definition_shows_the_names_on_the_way():
    with pytest.raises(nt.NotationError, match="it depends on itself: a → b → c → a"):
        nt.evaluate("a = b + 1\nb = c\nc = 2 a\na")
    with pytest.raises(nt.NotationError, match="circular definition of y") as problem:
        nt.evaluate("f(x) = g(x)\ng(x) = y\ny = f(2)\ny")
    assert "depends on itself" not in str(problem.value)
