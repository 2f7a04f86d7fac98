"""Forms that formulas seldom have: how they are read and printed, and the errors of those that are not read."""

import pytest

import namedtensor as nt
from grammar.parser import parse
from grammar.printer import to_text

MATRIX = r"\nmatrix{}{\name{w}}{3 & 1 \\ 1 & 5}"
READ = {  # a formula in LaTeX, and the same as text
    r"\frac{\partial^2 f}{\partial r_i^2}": "∂(∂f/∂r_i)/∂r_i",
    r"\frac{\partial^3 f}{\partial r_i^2 \partial s}": "∂(∂(∂f/∂s)/∂r_i)/∂r_i",
    r"Y = X^t + 2, \quad t = 1, 2, 3": "Y = X^t + 2 for t = 1, …, 3",
    r"f(p \| q \| r)": "f (p ‖q‖ r)",  # between two bars: a norm
    r"\begin{align} 2 n, \quad n &= 3\end{align}": "2 n\nn = 3",
}
PRINTED = {  # a formula as text, and the same as LaTeX
    "factorial^2(x)": r"\text{factorial}^2(x)",
    "binom^2(n, k)": r"\text{binom}^2(n, k)",
    "sqrt(x; 2)": r"\text{sqrt}(x; 2)",
}
ERRORS = {  # a formula, its syntax, and the code, the message, the text and the hint of its error
    "a norm that is never closed": (r"\mathrm{KL}(p \| q", "latex", 102, r"\| is not closed", r"\|", r"close it with \|"),
    "a distance that is never closed": ("KL(p ‖ q", "text", 102, "‖ is not closed", "‖", "close it with ‖"),
    "rows without an axis": (
        MATRIX, "latex", 113, "2 rows need two axes, got one", MATRIX, "name the axes of the rows and the columns: _{rows, w}",
    ),
    "a second derivative by nothing": (
        "(∂^2 f)", "text", 101, "a second derivative names both variables", "∂", "write ∂²f/∂x*∂y*, or ∂³f/∂r³",
    ),
    "elements of a call": (
        "f(v)_{seq(i)} = v_{seq(i)}^2 + i\nf(x)", "check", 101, "elements of a call cannot define a function", "f(v)_{seq(i)}",
        "define a tensor by its elements, Y_{seq(i)} = …, and the function as f(v) = Y",
    ),
    "numbers of an index that the statement lacks": (
        r"X^t = 2 \\ Y = 3, \quad t = 1, 2, 3", "latex", 114, "1 name, and 3 values", "t = 1, 2, 3",
        "write A, B = X, Y; a function with two results is f(x) = X, Y, and its second one f_2(x)",
    ),
    "names before an equation": (
        r"\begin{align} a, W_1, \quad b &= 3\end{align}", "latex", 114, "3 names, and 1 value", r"a, W_1, \quad b &= 3",
        "write A, B = X, Y; a function with two results is f(x) = X, Y, and its second one f_2(x)",
    ),
    "a variance of statistics": (
        "Var[X]", "text", 101, "an index needs an axis name, in a subscript", "[X]",
        "a variance over an axis is var_{axis} X; of a random variable it is 𝔼[(x − 𝔼[x])^2]",
    ),
    "a range of many numbers": (
        "X^t = 2 for t = " + ", ".join(map(str, range(1, 2000))), "text", 404, "a list of 1999 numbers is too long for a range", None,
        "write t = 1, …, n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("latex", READ)
def test_the_same_formula_in_latex_and_as_text(latex):
    assert to_text(parse(latex, "latex")) == READ[latex]


@pytest.mark.parametrize("text", PRINTED)
def test_a_function_that_is_raised_to_a_power_is_printed_by_its_name(text):
    assert (nt.to_latex(text), to_text(parse(text, "text"))) == (PRINTED[text], text)


@pytest.mark.parametrize("name", ERRORS)
def test_the_error_of_a_formula_that_is_not_read(name):
    source, syntax, code, message, text, hint = ERRORS[name]
    with pytest.raises(nt.NotationError) as caught:
        nt.formula(source) if syntax == "check" else parse(source, syntax)
    error = caught.value
    assert (error.code, error.message, error.hint) == (code, message, hint)
    assert text is None or error.span_text == text


def test_a_power_of_a_literal_is_that_of_its_elements():
    assert to_text(parse("mean_{n} [1, 2]_{n}^2", "text")) == "mean_n([1, 2]_{n}^2)"
    assert nt.evaluate("mean_{n} [1, 3]_{n}^2") == 5  # not 4, the square of the mean


def test_an_error_without_a_source_is_at_the_first_character():
    assert nt.NotationError(101, "an error of no formula").position() == (1, 1)
