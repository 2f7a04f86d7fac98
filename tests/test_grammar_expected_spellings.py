"""What readers of a formula expect to be read: in text, ASCII and LaTeX one tree, one value, one derivative, and printed
in a way that is read back.

Each row has its spellings, and what its value is in NumPy; `by` is the input that derivatives are taken by.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import namedtensor as nt
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from namedtensor import reference

DRAWN = np.random.default_rng(24)
ARRAYS: dict[str, Any] = {
    "x": DRAWN.uniform(0.5, 2, 4),
    "y": DRAWN.uniform(-1, 1, 4),
    "A": DRAWN.uniform(-1, 1, (4, 4)),
    "n": 4,
}
AXES = {"x": "a", "y": "a", "A": "r c"}


class Row(NamedTuple):
    text: str
    ascii: str
    latex: str
    given: str  # the inputs
    value: Any
    by: str = ""  # the input that derivatives are taken by


x, y, A, n = (ARRAYS[name] for name in ("x", "y", "A", "n"))
FACTORS = [
    Row("1/2 ∑_{a} x^2", "1/2 sum_{a} x^2", r"\frac12 \sum_{\name{a}} x^2", "x", (x**2).sum() / 2, "x"),
    Row("1 / |a| ∑_{a} x^2", "1/|a| sum_{a} x^2", r"1 / |\name{a}| \sum_{\name{a}} x^2", "x", (x**2).mean(), "x"),
    Row("y − 1/2 ∑_{a} x^2", "y - 1/2 sum_{a} x^2", r"y - 1/2 \sum_{\name{a}} x^2", "x y", y - (x**2).sum() / 2, "x"),
    Row("−3/4 ∏_{a} x", "-3/4 prod_{a} x", r"-3/4 \prod_{\name{a}} x", "x", -0.75 * x.prod(), "x"),
]
BARS = [
    Row("|x − y|", "|x - y|", r"|x - y|", "x y", abs(x - y), "x"),
    Row("∑_{a} |x − y|^2", "sum_{a} |x - y|^2", r"\sum_{\name{a}} |x - y|^2", "x y", (abs(x - y) ** 2).sum(), "x"),
    Row("|x − |y|| |y|", "|x - |y|| |y|", r"\left|x - |y|\right| \lvert y\rvert", "x y", abs(x - abs(y)) * abs(y), "x"),
    Row("|2 y| / |a|", "|2 y| / |a|", r"\frac{|2 y|}{|\name{a}|}", "y", abs(2 * y) / 4, "y"),
    Row("|y_{a(1)} − 3|", "|y_{a(1)} - 3|", r"|y_{\name{a}(1)} - 3|", "y", abs(y[0] - 3), "y"),
]
CELLS = r"A_{\name{r}(i), \name{c}(j)}"
I, J = np.indices((4, 4))
INDICES = [
    Row("∑_{i,j} A_{r(i), c(j)}", "sum_{i,j} A_{r(i), c(j)}", rf"\sum_{{i,j}} {CELLS}", "A", A.sum(), "A"),
    Row("∑_{i<j} A_{r(i), c(j)}", "sum_{i<j} A_{r(i), c(j)}", rf"\sum_{{i<j}} {CELLS}", "A", A[I < J].sum(), "A"),
    Row("∑_{i≠j} A_{r(i), c(j)}^2", "sum_{i!=j} A_{r(i), c(j)}^2", rf"\sum_{{i \neq j}} {CELLS}^2", "A", (A**2)[I != J].sum(), "A"),
    Row("∑_{1≤i<j≤n} A_{r(i), c(j)}", "sum_{1<=i<j<=n} A_{r(i), c(j)}", rf"\sum_{{1 \leq i < j \leq n}} {CELLS}", "A n", A[I < J].sum(), "A"),
    Row("∑_{n≥i>j≥1} A_{r(i), c(j)}", "sum_{n>=i>j>=1} A_{r(i), c(j)}", rf"\sum_{{n \geq i > j \geq 1}} {CELLS}", "A n", A[I > J].sum(), "A"),
    Row("∑_{i≤j<|r|} A_{r(i), c(j)}", "sum_{i<=j<|r|} A_{r(i), c(j)}", rf"\sum_{{i \leq j < |\name{{r}}|}} {CELLS}", "A", A[(I <= J) & (J < 3)].sum(), "A"),
    Row("∑_{1≤i<j≤n} i j", "sum_{1<=i<j<=n} i j", r"\sum_{1 \leq i < j \leq n} i j", "n", 35),
    Row("∑_{1≤i,j≤n} A_{r(i), c(j)}", "sum_{1<=i,j<=n} A_{r(i), c(j)}", rf"\sum_{{1 \leq i, j \leq n}} {CELLS}", "A n", A.sum(), "A"),
    Row("∑_{1≤i,j≤n} i", "sum_{1<=i,j<=n} i", r"\sum_{1 \leq i, j \leq n} i", "n", 40),
    Row("max_{0<i,j,k<n} 2", "max_{0<i,j,k<n} 2", r"\max_{0 < i, j, k < n} 2", "n", 2),
    Row("∑_{i,j=1}^{n} A_{r(i), c(j)}", "sum_{i,j=1}^{n} A_{r(i), c(j)}", rf"\sum_{{i,j=1}}^{{n}} {CELLS}", "A n", A.sum(), "A"),
    Row("∑_{i,j ∈ [n], i ≠ j} A_{r(i), c(j)}", "sum_{i, j in [n], i != j} A_{r(i), c(j)}", rf"\sum_{{\substack{{i,j \in [n] \\ i \neq j}}}} {CELLS}", "A n", A[I != J].sum(), "A"),
    Row("∑_i ∑_{j≠i} A_{r(i), c(j)} x_{a(j)}", "sum_i sum_{j!=i} A_{r(i), c(j)} x_{a(j)}", rf"\sum_i \sum_{{j \neq i}} {CELLS} x_{{\name{{a}}(j)}}", "A x", (A * x)[I != J].sum(), "A"),
    Row("∏_{i<j} (x_{a(i)} − x_{a(j)})", "prod_{i<j} (x_{a(i)} - x_{a(j)})", r"\prod_{i<j} (x_{\name{a}(i)} - x_{\name{a}(j)})", "x", np.prod([x[i] - x[j] for i in range(4) for j in range(i + 1, 4)]), "x"),
    Row("max_{i<j} (A_{r(i), c(j)})", "max_{i<j} (A_{r(i), c(j)})", rf"\max_{{i<j}} ({CELLS})", "A", A[I < J].max(), "A"),
    Row("min_{1≤i≤j≤n} (A_{r(i), c(j)})", "min_{1<=i<=j<=n} (A_{r(i), c(j)})", rf"\min_{{1 \leq i \leq j \leq n}} ({CELLS})", "A n", A[I <= J].min(), "A"),
    Row("max_{i,j} (A_{r(i), c(j)})", "max_{i,j} (A_{r(i), c(j)})", rf"\max_{{i,j}} ({CELLS})", "A", A.max(), "A"),
    Row("mean_{i,j} (A_{r(i), c(j)})", "mean_{i,j} (A_{r(i), c(j)})", rf"\operatorname{{mean}}_{{i,j}} ({CELLS})", "A", A.mean(), "A"),
    Row("Y_{a(i)} = ∑_{j≠i} x_{a(j)}", "Y_{a(i)} = sum_{j!=i} x_{a(j)}", r"Y_{\name{a}(i)} = \sum_{j \neq i} x_{\name{a}(j)}", "x", x.sum() - x),
    Row("Y_{a(i)} = ∑_{i<j} x_{a(j)}", "Y_{a(i)} = sum_{i<j} x_{a(j)}", r"Y_{\name{a}(i)} = \sum_{i < j} x_{\name{a}(j)}", "x", x.sum() - np.cumsum(x)),
]  # fmt: skip
DEFINITIONS = [
    Row("2 k + x where k = 3", "2 k + x, where k = 3", r"2 k + x, \quad k = 3", "x", 6 + x),
    Row("2 k + x where k = 3", "2 k + x\nwhere k = 3", r"2 k + x, \text{ where } k = 3", "x", 6 + x),
    Row("(x − m) / s where m = mean_{a} x, s = k / 2 and k = 4", "(x - m) / s where m = mean_{a} x, s = k / 2, and k = 4",
        r"\frac{x - m}{s} \quad \text{where } m = \nfun{\name{a}}{mean} x,\; s = \frac{k}{2} \text{ and } k = 4", "x", (x - x.mean()) / 2),
    Row("f(x) where f(t) = t^2", "f(x) where f(t) = t^2", r"f(x), \quad \text{where } f(t) = t^2", "x", x**2),
    Row("where(x > 1, x, 0)", "where(x > 1, x, 0)", r"\text{where}(x > 1, x, 0)", "x", np.where(x > 1, x, 0)),
]  # fmt: skip
gamma, factorial = np.vectorize(math.gamma), np.vectorize(lambda t: math.gamma(t + 1))
FACTORIALS = [
    Row("Γ(x)", "Gamma(x)", r"\Gamma(x)", "x", gamma(x), "x"),
    Row("x! + 3!", "factorial(x) + 3!", r"x! + 3!", "x", factorial(x) + 6, "x"),
    Row("n! / (2! (n − 2)!)", "n! / (2! (n - 2)!)", r"\frac{n!}{2!(n-2)!}", "n", 6),
    Row("∑_{k=0}^{9} x^k / k!", "sum_{k=0}^{9} x^k / k!", r"\sum_{k=0}^{9} \frac{x^k}{k!}", "x", sum(x**k / math.factorial(k) for k in range(10)), "x"),
    Row("binom(n, 2) x", "binom(n, 2) x", r"\binom{n}{2} x", "n x", 6 * x, "x"),
    Row("binom(n + 1, x)", "binom(n + 1, x)", r"\dbinom{n+1}{x}", "n x", 120 / (factorial(x) * factorial(5 - x)), "x"),
    Row("∑_{k=0}^{4} binom(4, k) x^k", "sum_{k=0}^{4} binom(4, k) x^k", r"\sum_{k=0}^4 \tbinom4k x^k", "x", (1 + x) ** 4, "x"),
    Row("(x!)!^2", "(x!)!^2", r"\left(x!\right)!^2", "x", factorial(factorial(x)) ** 2, "x"),
    Row("𝕀[n!=6]", "I[n != 6]", r"\mathbb{I}[n \neq 6]", "n", 1),
    Row("mod(x, 0.3)", "mod(x, 0.3)", r"x \bmod 0.3", "x", x % 0.3, "x"),
]  # fmt: skip
LISTED = "s^0 = 0\ns^t = s^{t-1} / 2 + x_{a(t)} for t = 1, 2, 3\ns^3"
LISTED_LATEX = r"\begin{align} s^0 &= 0 \\ s^t &= s^{t-1} / 2 + x_{\name{a}(t)} & t &= 1, 2, 3 \\ &s^3 \end{align}"
BEFORE = "s_{-1} = 1\ns_t = s_{t-1} / 2 + x_{a(t+1)} for t = 0, …, 2\ns_2"
BEFORE_LATEX = (
    r"\begin{align} s_{-1} &= 1 \\ s_t &= s_{t-1} / 2 + x_{\name{a}(t+1)} & t &= 0, \ldots, 2 \\ &s_2 \end{align}"
)
NAMES = [
    Row(LISTED, LISTED, LISTED_LATEX, "x", x[0] / 4 + x[1] / 2 + x[2]),
    Row(BEFORE, BEFORE.replace("…", "..."), BEFORE_LATEX, "x", 1 / 8 + x[0] / 4 + x[1] / 2 + x[2]),
    Row("x^+ = max(x, 1)\nu^- = min(x, 1)\nx^+ + u^-", "x^+ = max(x, 1)\nu^{-} = min(x, 1)\nx^+ + u^-", r"\begin{align} x^+ &= \max(x, 1) \\ u^- &= \min(x, 1) \\ &x^{+} + u^- \end{align}", "x", x + 1),
    Row("sum = ∑_{a} x\nmax = max_{a} x\nx / sum + max", "sum = sum_{a} x\nmax = max_{a} x\nx / sum + max",
        r"\begin{align} \text{sum} &= \sum_{\name{a}} x \\ \max &= \nfun{\name{a}}{max} x \\ &x / \text{sum} + \max \end{align}", "x", x / x.sum() + x.max()),
]  # fmt: skip
CLAIMS = [
    Row(
        "Z ≜ x + x\nZ = 2 x",
        "Z := x + x\nZ = 2 x",
        r"\begin{align} Z &\triangleq x + x \\ Z &= 2 x \end{align}",
        "x",
        2 * x,
    ),
    Row(
        "Z = 2 x\nZ ≔ x + x",
        "Z = 2 x\nZ := x + x",
        r"\begin{align} Z &= 2 x \\ Z &\coloneqq x + x \end{align}",
        "x",
        2 * x,
    ),
]
TURNED = "S^0 = 0\nS^t = A ⊙_{c} S^{t-1}_{r→c} + x_{a→r} for t = 1, …, 3\nx_{a→r} ⊙_{r} S^3"
TURNED_LATEX = r"""\begin{align} S^0 &= 0 \\ S^t &= A \ndot{\name{c}} S^{t-1}_{\name{r} \rightarrow \name{c}} + x_{\name{a} \rightarrow \name{r}} & t &= 1, \ldots, 3 \\
&x_{\name{a} \rightarrow \name{r}} \ndot{\name{r}} S^3 \end{align}"""
ZEROS = [
    Row(
        TURNED,
        TURNED.replace("→", "->").replace("…", "...").replace("⊙", "@"),
        TURNED_LATEX,
        "A x",
        x @ (A @ (A @ x + x) + x),
        "x",
    ),
]
ROWS = [*FACTORS, *BARS, *INDICES, *DEFINITIONS, *FACTORIALS, *NAMES, *CLAIMS, *ZEROS]
DIFFERENTIABLE = [row for row in ROWS if row.by]


def named(**arrays: Any) -> dict[str, Any]:
    return {name: nt.tensor(array, AXES[name]) if name in AXES else array for name, array in arrays.items()}


def inputs(row: Row) -> dict[str, Any]:
    return {name: ARRAYS[name] for name in row.given.split()}


def close(actual: Any, expected: Any, axes: str, relative: float = 1e-9) -> bool:
    array = actual.to_numpy(axes) if axes else np.asarray(float(actual))
    return np.allclose(np.asarray(array, dtype=float), expected, rtol=relative, atol=relative)


def axes_of(value: Any) -> str:
    return {0: "", 1: "a", 2: "r c"}[np.ndim(value)]


@pytest.mark.parametrize("row", ROWS, ids=[row.text for row in ROWS])
def test_the_three_spellings_are_one_tree(row):
    tree = parse(row.text)
    assert parse(row.ascii) == tree
    assert parse(row.latex) == tree


@pytest.mark.parametrize("row", ROWS, ids=[row.text for row in ROWS])
def test_it_is_printed_and_read_back(row):
    tree = parse(row.text)
    for printed in (to_text(tree), to_text(tree, ascii=True), to_latex(tree), to_latex(tree, macros=True)):
        assert parse(printed) == tree, printed


@pytest.mark.parametrize("row", ROWS, ids=[row.text for row in ROWS])
def test_it_has_its_value(row):
    result = nt.evaluate(row.text, named(**inputs(row)))
    assert close(result, row.value, axes_of(row.value))


@pytest.mark.parametrize("row", ROWS, ids=[row.text for row in ROWS])
def test_every_spelling_is_checked(row):
    for text in (row.text, row.ascii, row.latex):
        assert nt.formula(text).check(**named(**inputs(row))).ok


@pytest.mark.parametrize("row", ROWS, ids=[row.text for row in ROWS])
def test_the_reference_evaluator_agrees(row):
    values = {
        name: reference.tensor(array.tolist(), AXES[name]) if name in AXES else array
        for name, array in inputs(row).items()
    }
    axes = tuple(axes_of(row.value).split())
    result = reference.evaluate(row.text, values)
    assert sorted(result.shape) == sorted(axes)
    assert np.allclose(result.to_list(axes), row.value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("row", ROWS, ids=[row.text for row in ROWS])
def test_other_libraries_agree(row, library):
    if library == "torch":
        make = pytest.importorskip("torch").tensor
    else:
        make = pytest.importorskip("jax.numpy").asarray
    arrays = {name: make(value) if name in AXES else value for name, value in inputs(row).items()}
    result = nt.evaluate(row.text, named(**arrays))
    array = np.asarray(result.to_numpy(axes_of(row.value)) if np.ndim(row.value) else float(result), dtype=float)
    assert np.allclose(array, row.value, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=[row.text for row in DIFFERENTIABLE])
def test_its_derivative_is_that_of_differences(row):
    """Forwards and backwards, and as a closed form."""
    arrays = inputs(row)
    axes, by = axes_of(row.value), row.by
    program, step = nt.formula(row.text), 1e-6
    point = np.asarray(arrays[by], dtype=float)
    differences = np.zeros((*np.shape(row.value), *point.shape))
    for index in np.ndindex(*point.shape):
        ends = []
        for sign in (1, -1):
            moved = point.copy()
            moved[index] += sign * step
            result = program(**named(**{**arrays, by: moved}))
            ends.append(result.to_numpy(axes) if axes else float(result))
        differences[(..., *index)] = (ends[0] - ends[1]) / (2 * step)
    new = " ".join(f"{axis}*" for axis in AXES[by].split()) if by in AXES else ""
    values, derivative = named(**arrays), program.derivative(by)
    assert close(derivative(**values), differences, f"{axes} {new}".strip(), 1e-5)
    sizes = {name: value for name, value in arrays.items() if isinstance(value, int)}
    shapes = {name: shape(arrays[name]) for name in arrays if name not in sizes}
    closed = derivative.closed_form(sizes=sizes, **shapes)
    assert close(nt.evaluate(closed.to_text(), values), differences, f"{axes} {new}".strip(), 1e-5), closed


def shape(array: Any) -> str:
    return f"ℝ^{{{' × '.join(f'{axis}[4]' for axis in axes_of(array).split())}}}" if np.ndim(array) else "ℝ"


@pytest.mark.parametrize("text", ["|x| y |x|", "|x − y| 2 |x|", r"|x - y| 2 |x|", "∑_{a} |x y|x|y|"])
def test_bars_that_can_be_paired_in_two_ways_are_asked_about(text):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, named(x=x, y=y))
    assert caught.value.code == 107
    assert len([note for note in caught.value.notes if "abs(" in note]) == 2


def test_the_sides_that_latex_gives_bars_pair_them():
    result = nt.evaluate(r"\left|x - y\right| 2 \left|x\right|", named(x=x, y=y))
    assert close(result, abs(x - y) * 2 * abs(x), "a")


KNOWN = [
    ("∑_{i<j} A_{r(i), c(j)}", {"A": A, "j": 3}, A[:2, 2].sum()),
    ("j = 3\n∑_{i<j} A_{r(i), c(j)}", {"A": A}, A[:2, 2].sum()),
    ("f(j) = ∑_{i<j} A_{r(i), c(j)}\nf(3)", {"A": A}, A[:2, 2].sum()),
    ("∑_{j=1}^{4} ∑_{i<j} A_{r(i), c(j)}", {"A": A}, A[I < J].sum()),
    ("∑_j ∑_{i<j} A_{r(i), c(j)}", {"A": A}, A[I < J].sum()),
    ("s^j = ∑_{i<j} A_{r(i), c(j)} for j = 1, …, 4\ns^3", {"A": A}, A[:2, 2].sum()),
    ("∑_{1≤i<j≤n} A_{r(i), c(j)}", {"A": A, "n": 2}, A[0, 1]),
    ("∑_{1≤i<j≤n} A_{r(i), c(j)}", {"A": A, "n": 1}, 0),
    ("∑_{1≤i,j≤n} A_{r(i), c(j)}", {"A": A, "n": 2}, A[:2, :2].sum()),
    ("∑_{1≤i,j≤n} 5", {"n": 3}, 45),
    ("∑_{i,c} A_{r(i)}", {"A": A}, A.sum()),
    ("W^1 = 2\nW^2 = 3\nW^3 = 5\n∑_{1≤i<j≤3} W^i W^j", {}, 31),
]


@pytest.mark.parametrize("text, arrays, value", KNOWN, ids=[row[0] for row in KNOWN])
def test_a_condition_binds_no_name_that_is_known(text, arrays, value):
    assert close(nt.evaluate(text, named(**arrays)), value, "")
    values = {name: reference.tensor(X.tolist(), AXES[name]) if name in AXES else X for name, X in arrays.items()}
    assert reference.evaluate(text, values).to_list(()) == pytest.approx(value)


REFUSED = [
    ("∑_{1≤i<j≤5} A_{r(i), c(j)}", 401, "index 5 is out of range"),
    ("∑_{i<j} i j", 309, "the range of i is unknown"),
    ("∑_{1≤i≠j≤n} A_{r(i), c(j)}", 107, "does not order or separate all of its indices"),
    ("var_{i,j} A_{r(i), c(j)}", 301, "one index at a time"),
    ("argmax_{i,j} A_{r(i), c(j)}", 301, "one index at a time"),
    ("argmax_{i, j ∈ [n]} A_{r(i), c(j)}", 101, "several numbers"),
    ("mean_{i<j} A_{r(i), c(j)}", 301, "elements that a condition excludes"),
    ("∑_{1<2} A", 101, "must be about an index"),
]


@pytest.mark.parametrize("text, number, words", REFUSED, ids=[row[0] for row in REFUSED])
def test_what_several_indices_cannot_mean_is_refused(text, number, words):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, {**named(A=A), "n": 4})
    assert caught.value.code == number and words in caught.value.message


@pytest.mark.parametrize("text", [r"x\,x", r"\|x\|", r"x\;x", r"2\!x"])
def test_a_macro_of_one_sign_says_that_a_text_is_latex(text):
    assert parse(text) == parse(text, "latex")


SAME_SIGNS = [
    ("x^-1", 101),
    ("x^-y", 101),
    ("x^+1", 101),
    ("s^t = 1 for t = 1, 3, 5", 114),
    ("s^t = 1 for t = 1, 2, 1", 114),
    ("s^t = 1 for t = 1, …, 3, 4", 114),
]


@pytest.mark.parametrize("text, number", SAME_SIGNS)
def test_what_stays_an_error_of_syntax(text, number):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, named(x=x, y=y))
    assert caught.value.code == number


HALVED = "s^t = s^{t-1} / 2 for t = 1, …, L\ns^0 = 8\ny = s^L"


@pytest.mark.parametrize("value", [3, 3.0, np.float64(3), np.float32(3), np.int8(3)])
def test_the_end_of_a_range_may_be_a_whole_floating_number(value):
    assert float(nt.evaluate(HALVED, L=value)) == 1
    assert float(nt.evaluate("∑_{i=1}^{L} i", L=value)) == 6
    assert float(nt.formula(HALVED)(L=value)) == 1


@pytest.mark.parametrize("text", ["L = 3.0\n" + HALVED, "L = 6 / 2\n" + HALVED])
def test_so_it_may_in_the_text(text):
    assert float(nt.evaluate(text)) == 1 and reference.evaluate(text).to_list(()) == 1


BEYOND = [
    (HALVED, {"L": 2.5}, 402, "L is the end of a range, so it must be an integer, got 2.5"),
    ("L = 2.5\n" + HALVED, {}, 201, "L is 2.5, and the members of s have integer indices"),
    ("h^0 = 1\nh^t = h^{t-1} / 2 for t = 1, …, 3\nh^5", {}, 201, "h is defined for t = 1, …, 3"),
    ("h_0 = 1\nh_t = h_{t-1} / 2 for t = 1, …, 3\nn = 7\nh_n", {}, 201, "h is defined for t = 1, …, 3, and n is 7"),
    ("h^t = h^{t-1} / 2 for t = 1, …, 3\nh^3", {}, 201, "h is defined for t = 1, …, 3"),
]


@pytest.mark.parametrize("text, values, number, words", BEYOND)
def test_a_member_beyond_its_family_is_told_of_with_the_range(text, values, number, words):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, values)
    assert caught.value.code == number and words in caught.value.message


@pytest.mark.parametrize("sign", ["≜", ":="])
def test_beside_a_definition_by_its_sign_an_equation_is_a_claim(sign):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(f"Z {sign} x + x\nZ = 3 x", named(x=x))
    assert caught.value.code == 403
    for twice in (f"Z {sign} x\nZ {sign} x", "Z = x\nZ = x"):
        with pytest.raises(nt.NotationError) as caught:
            nt.evaluate(twice, named(x=x))
        assert caught.value.code == 202


SLIPS = [
    (lambda: nt.evaluate("max_{a}(x, 0)", named(x=x)), 304, "for two tensors write max(X, Y)"),
    (lambda: nt.evaluate("x + … + x", named(x=x)), 101, "replace the dots"),
    (lambda: nt.evaluate("x % 2", named(x=x)), 106, "a remainder is mod(x, n)"),
    (lambda: nt.evaluate("2 x", values=named(x=x)), 317, "the second argument"),
    (lambda: nt.formula("2 W + m\nm = 3")(1.0), 304, "formula(W=W)"),
    (lambda: nt.formula("2 W + V_1")(1.0, 2.0), 304, "formula(V_1=V_1, W=W)"),
]


@pytest.mark.parametrize("slip, number, hint", SLIPS, ids=[row[2] for row in SLIPS])
def test_a_slip_is_told_of_with_its_repair(slip, number, hint):
    with pytest.raises(nt.NotationError) as caught:
        slip()
    assert caught.value.code == number and hint in caught.value.hint


def test_a_cell_defines_a_function_with_an_upright_name():
    assert parse(r"\begin{align} Y &= x && \text{total}(x) = 3 \end{align}") == parse("Y = x\ntotal(x) = 3")


MEMORY = """S_0 = 0
S_t = S_{t-1} + K_{seq(t)} ⊙ V_{seq(t)} for t = 1, …, |seq|
O_{seq(t)} = Q_{seq(t)} ⊙_{key} S_t"""


@pytest.mark.parametrize("length", [3, 80])
def test_a_start_of_0_whose_axis_is_asked_for_is_zeros(length):
    K, V, Q = DRAWN.normal(size=(length, 2)), DRAWN.normal(size=(length, 3)), DRAWN.normal(size=(length, 2))
    states = np.cumsum(K[:, :, None] * V[:, None, :], axis=0)
    tensors = {"K": nt.tensor(K, "seq key"), "V": nt.tensor(V, "seq val"), "Q": nt.tensor(Q, "seq key")}
    result = nt.evaluate(MEMORY, tensors)
    assert np.allclose(result.to_numpy("seq val"), np.einsum("sk,skv->sv", Q, states))
    first = nt.evaluate(MEMORY.rpartition("\n")[0] + "\nQ_{seq(1)} ⊙_{key} S_0", tensors)
    assert first.axes == ("val",) and not first.to_numpy("val").any()


def test_zeros_are_zeros_whatever_is_added_to_them():
    result = {**named(A=A), "b": nt.tensor([np.inf, np.nan, 1, 2], "r")}
    tensor = nt.evaluate("S^0 = 0\nS^t = A ⊙_{c} S^{t-1}_{r→c} + b for t = 1, …, 3\nS^0_{r→q}", result)
    assert tensor.to_numpy("q").tolist() == [0, 0, 0, 0]


def test_a_start_of_0_that_nobody_asks_for_axes_stays_a_number():
    assert nt.program("h^0 = 0\nh^t = h^{t-1} / 2 + x for t = 1, …, 3")["h^0"](**named(x=x)) == 0
