"""Where a closed form is the derivative: at special points both have one value, or a condition that is printed excludes the point."""

import pickle
import re

import numpy as np
import pytest
from test_calculus import ASIDE, ONE, SIZES, TWO, drawn

import namedtensor as nt
from namedtensor.cli import main

ZERO, ONES = np.zeros((2, 3)), np.ones((2, 3))
POINTS = [  # zeros, ties, negative and whole numbers
    ZERO, ONES, np.array([[0.0, 1, 2], [3, 0, 5]]), np.array([[1.0, 1, 2], [1, 1, 2]]), np.array([[0.0, 0, 3], [2, 2, 0]]),
    np.array([[-1.0, -2, 0.5], [3, -1, -0.5]]), np.array([[0.0, -1, -1], [0, 0, 2]]), np.array([[1.0, 0, 1], [-1, 0.25, 1]]),
]  # fmt: skip
SQUARES = [
    np.zeros((3, 3)), np.eye(3), np.ones((3, 3)), np.array([[1.0, 2, 3], [2, 4, 6], [0, 1, 0]]), np.diag([1.0, -1, 2]),
    np.diag([2.0, 0, 3]), np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]]),
]  # fmt: skip
OF_A_MATRIX = [
    "det_{a,b} X", "inv_{a,b} X", "logdet_{a,b} X", "∑_{a,b} inv_{a,b} X", "solve_{a,b}(X, ∑_{b} X)", "log(det_{a,b} X)",
    "det_{a,b}(X + I_{a,b})", "trace_{a,b} (X ⊙ X)", "cofactors_{a,b} X",
]  # fmt: skip
MORE = [
    "∏_{a} (X + 1)", "∏_{b} X^2", "∏_{a} abs X", "(∏_{a,b} X)^2", "∑_{a} ∏_{b} X", "∏_{b} ∑_{a} X", "(∏_{b} X) / X", "cumprod_{a} X^2",
    "X^X", "X^{1/3}", "X^Y", "Y^X", "abs(X)^3", "abs(X)^{3/2}", "√(X^2)", "√(∑_{b} X^2)", "√X √X", "X √X", "X log X", "X log(X^2)",
    "exp(log X)", "exp(∑_{b} log X)", "log(abs X)", "log1p X", "expm1(X) / X", "sin(X) / X", "X / X", "X^2 / X", "X / norm_{b} X",
    "X / √(∑_{b} X^2)", "X / (1 + abs X)", "X^2 / Y", "norm_{b}(X; ∞)", "norm_{b}(X; 1.5)", "arcsin X", "arccos X", "X!", "ln X",
    "−∑_{b} softmax_{b} X ⊙ log(softmax_{b} X)", "X ⊙_{b} X / ∑_{b} X", "max(X, Y)", "min(2 X, X^2)", "tanh X / X", "1 / (1 + exp X)",
]  # fmt: skip


def differentiate_closed(text, given):
    """Return the derivative with respect to X with its closed form, or None if it has none."""
    shapes = {name: f"ℝ^{{{' × '.join(of.axes)}}}" for name, of in given.items()}
    derivative = nt.derivative(text, "X")
    try:
        return derivative, derivative.closed_form(X="ℝ^{a × b}", **shapes)
    except nt.NotationError as problem:
        assert problem.code == 405
        return None


def value_of_form(closed, inputs, sizes):
    """Return the value of a closed form, which may need sizes that the derivative has from its inputs; None if it has none."""
    for known in (None, sizes):
        try:
            return closed(values=inputs, sizes=known)
        except nt.NotationError as problem:
            last = problem
    assert last.kind == "value"
    return None


def is_excluded(condition, inputs):
    """Return whether a condition is false somewhere."""
    return not np.all(nt.evaluate(f"𝕀[{condition}]", inputs).array)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "text", [text for text in (*ONE, *TWO, *MORE, *OF_A_MATRIX) if text != "|X|" and re.search("X", text)]
)
@pytest.mark.filterwarnings("ignore")
def test_a_form_is_the_derivative_or_a_condition_excludes_the_point(text):
    others = {**ASIDE, "Y": nt.tensor([2.0, 0.0, -1.0], "b"), "Z": drawn("a[2] b[3]", 3)}
    given = {name: other for name, other in others.items() if re.search(rf"\b{name}\b", text.replace("_", " "))}
    sizes = {name: size for name, size in SIZES.items() if re.search(rf"[_,{{]{name}\b|\b{name}\b", text)}
    both = differentiate_closed(text, given)
    if both is None:
        return
    derivative, closed = both
    for numbers in SQUARES if text in OF_A_MATRIX else POINTS:
        inputs = {"X": nt.tensor(numbers, "a b"), **given}
        try:
            right = derivative(values=inputs, sizes=sizes or None)
        except nt.NotationError:  # inv of a singular matrix has none
            continue
        extents = dict(zip("ab", numbers.shape))
        extents = {**right.sizes, **sizes, **extents, **{f"{axis}*": size for axis, size in extents.items()}}
        form = value_of_form(closed, inputs, extents)
        if form is not None:
            axes = [axis for axis in right.axes if axis in form.axes]
            shape = [right.sizes[axis] if axis in axes else 1 for axis in right.axes]
            array = np.broadcast_to(np.asarray(form.to_array(axes)).reshape(shape), np.shape(right.array))
        if form is None or not np.allclose(right.to_array(right.axes), array, equal_nan=True, rtol=1e-6, atol=1e-8):
            assert any(is_excluded(condition, inputs) for condition in closed.conditions), (str(closed), numbers)


CONDITIONS = {
    "∏_{a} x": ["x ≠ 0"], "cumprod_{a} x": ["x ≠ 0"], "√x": ["x > 0"], "x^x": ["x > 0"], "1 / x": ["x ≠ 0"], "x^{−2}": ["x ≠ 0"],
    "norm_{a} x": ["norm_a(x) ≠ 0"], "std_{a} x": ["std_a(x) ≠ 0"], "x^{1/3}": ["x > 0"], "log x": ["x > 0"], "max(x, y)": ["x ≠ y"],
    "x / (y ⊙ (x − 1)^2)": ["y ≠ 0", "x - 1 ≠ 0"], "∏_{a} (x + 1)": ["x^* + 1 ≠ 0", "x + 1 ≠ 0"], "det_{a,b} X": ["det_{a, b}(X) ≠ 0"],
    "√(x^3)": ["x > 0"], "log(x^2)": ["x ≠ 0"], "abs(x)^{1/2}": ["x ≠ 0"], "log1p x": ["1 + x > 0"], "x^{5/2}": ["x ≥ 0"],
    "x^y": ["x > 0"], "y ∈ ℤ\nx^y": ["x ≠ 0"], "n ∈ ℤ\nx^{2 n}": ["x ≠ 0"], "n ∈ ℤ\nx^{n / 2}": ["x > 0"],
    "y ∈ {0.5, 1}\nx^y": ["x > 0"], "x^{floor y}": ["x ≠ 0"], "n ∈ ℕ\n1 / x^n": ["x ≠ 0"],
    "W^Q x / W^K": ["W^K ≠ 0"], "W^Q ∈ ℝ\nx / W^Q": ["W^Q ≠ 0"],
}  # fmt: skip
WITHOUT = [
    "∑_{a} x^3", "x^2", "exp x", "softmax_{a} x", "logsoftmax_{a} x", "∑_{a} y ⊙ log(softmax_{a} x)", "logsumexp_{a} x", "log(exp x)",
    "standardize_{a} x", "1 / (1 + exp x)", "√(1 + x^2)", "x / √|a|", "x / (1 + abs x)", "tanh x", "gelu x", "sort_{a} x", "max_{a} x",
    "abs x", "relu x", "median_{a} x", "z = softmax_{a} x\nlog z", "x ∈ ℝ_{>0}^{a}\n√x + log x", "x > 0\n1 / x", "2^x", "|a|^x", "x^{|a|}",
    "n ∈ [5]\nx^n", "n ∈ ℕ\nx^{n + 1}", "y ∈ {1, 2}\nx^{y + 1}", "x^{1 + abs(sign y)}",
    "∑_{i=1}^{3} x^i / i", "∑_{i} x_{a(i)}^2 / i", "{ log x if x > 0; 0 otherwise }", "arctan x", "W^Q x + (W^K)^2", "x / e", "x / π",
]  # fmt: skip
SHAPES = {"x": "ℝ^{a}", "y": "ℝ^{a}", "X": "ℝ^{a × b}", "W^Q": "ℝ", "W^K": "ℝ"}


def form_of(text, by=None):
    """Return the closed form of a derivative."""
    by = by or ("X" if "X" in text else "x")
    shapes = {name: shape for name, shape in SHAPES.items() if name in text and f"{name} ∈" not in text}
    return nt.derivative(text, by).closed_form(**shapes)


@pytest.mark.parametrize("text", CONDITIONS)
def test_the_conditions_are_printed_with_the_form(text):
    closed = form_of(text)
    assert set(closed.conditions) <= set(CONDITIONS[text]) and closed.conditions
    assert str(closed) == repr(closed) == f"{closed.to_text()}  # if {', '.join(closed.conditions)}"
    assert nt.formula(str(closed)) == closed.expression  # the conditions are a comment
    assert all(nt.formula(condition) for condition in closed.conditions)
    assert " if $" in closed._repr_latex_()
    assert pickle.loads(pickle.dumps(closed)).conditions == closed.conditions


@pytest.mark.parametrize("text", WITHOUT)
def test_a_form_that_is_right_everywhere_has_no_condition(text):
    closed = form_of(text)
    assert closed.conditions == () and str(closed) == closed.to_text()


def test_a_derivative_prints_its_conditions():
    assert str(nt.derivative("∏_{n} x", "x")) == "D = (∏_{n} x) / x^*  # if x ≠ 0"
    twice = nt.derivative(nt.derivative("f(x) = √x", "x"), "x")
    assert str(twice).endswith("  # if x > 0")


def test_the_command_notes_the_conditions(capsys):
    assert main(["derive", "∏_{n} x", "--wrt", "x", "x=ℝ^{n}"]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == "D = (∏_{n} x) / x^*" and "if x ≠ 0" in printed.err


def test_a_function_of_the_program_is_no_builtin():
    closed = nt.derivative("softplus(u) = u − 1\nlog(softplus(x))", "x").closed_form(x="ℝ")
    assert "x - 1 ≠ 0" in closed.conditions and "softplus(x) > 0" in closed.conditions


def test_conditions_of_a_recurrence():
    closed = nt.derivative("s^0 = 1\ns^t = s^{t-1} / x for t = 1, …, n\ns^n", "x").closed_form(x="ℝ")
    assert closed.conditions == ("x ≠ 0",)
