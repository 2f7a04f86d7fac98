"""Second and third derivatives of every operator, by both ways, against differences of the derivative before; and names.

The marks of their axes may be any number of stars and daggers.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_calculus import ASIDE, MATRIX, ONE, POSITIVE, SIZES, SQUARE, TWO, by_differences, drawn
from ways import WAYS, going

import namedtensor as nt
from grammar.parser import parse
from grammar.printer import to_latex, to_text
from namedtensor.operators import REGISTRY

MORE = [
    "norm_{b}(X; 4)",
    "norm_{b}(X; 1.5)",
    "norm_{a,b}(X; ∞)",
    "standardize_{b}(unroll_{b,k} X)",
    "silu(∑_{a} X) ⊙ X",
]
OF_A_MATRIX = [
    "det_{a,b} X",
    "cofactors_{a,b} X",
    "inv_{a,b} X",
    "trace_{a,b} (X ⊙ X)",
    "logdet_{a,b} X",
    "∑_{a} arcsin(X / 9)",
    "∑_{b} arccos(X / 9)",
    "solve_{a,b}(X, ∑_{b} X)",
    "inv_{a,b} X ⊙_{b} Y",
    "cholesky_{a,b}(X + 9 I_{a,b})",
    "eigvalsh_{a,b} X",
    "eigh_{a,b} X",
    "expm_{a,b} X",
    "expm_{a,b}(X, X, [X]_{a→b, b→a})",
    "expm_{a,b}(X, Y ⊙ I_{a,b}) ⊙_{b} Y",
]


@pytest.fixture(params=WAYS[:2])
def way(request):
    with going(request.param):
        yield


def check(once: str, given: dict, sizes, mark: str, close: float) -> None:
    """The derivative of a formula, against differences of it."""
    value = nt.evaluate(once, given, sizes=sizes)
    result = nt.evaluate(f"∂({once})/∂X{mark}", given, sizes=sizes)
    axes = (*sorted(value.axes), *(f"{axis}{mark}" for axis in given["X"].axes))
    right = by_differences(once, given, "X", sizes)
    np.testing.assert_allclose(result.to_array(axes), right, rtol=close, atol=close * max(1, np.abs(right).max()))


def given_for(text: str) -> tuple[dict, dict]:
    """Tensors for a formula, and the sizes that it needs."""
    tensors = {
        "X": drawn(
            SQUARE if text in OF_A_MATRIX else MATRIX, 2 if text in OF_A_MATRIX else 1, text in POSITIVE or text in TWO
        )
    }
    others = {**ASIDE, "Y": drawn("b[3]", 2, True), "Z": drawn(MATRIX, 3)}
    tensors |= {name: tensor for name, tensor in others.items() if name in text}
    return tensors, {name: size for name, size in SIZES.items() if re.search(rf"[_,{{]{name}\b", text)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", [*ONE, *TWO, *MORE, *OF_A_MATRIX])
def test_second_derivatives_of_every_operator(text, way):
    inputs, sizes = given_for(text)
    check(f"∂({text})/∂X*", inputs, sizes, "†", 1e-5)


THRICE = [
    "∑_{a,b} (exp X)^2", "∑_{a,b} (gelu X)^2", "∑_{a,b} X^3", "∑_{a,b} 1 / X", "∏_{b} X", "norm_{b} X", "std_{b} X",
    "∑_{a,b} (softmax_{b} X)^2", "∑_{a,b} (standardize_{b} X)^3", "logsumexp_{b} X", "∑_{a,b} { X^4 if X > 0; sin X otherwise }",
    "∑_{b,k} (unroll_{b,k} X)^3", "∑_{b} (cumprod_{b} X)^2", "var_{b} X^2", "∑_{c} X_{b(I)}^3", "∑_{b} (X ⊕_{b} X^3)^2",
    "∑_{k} (maxk_{b,k} X)^3", "det_{a,b} X", "inv_{a,b} X",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", THRICE)
def test_third_derivatives(text, way):
    inputs, sizes = given_for(text)
    check(f"∂(∂({text})/∂X*)/∂X†", inputs, sizes, "**", 1e-4)


def test_every_operator_is_among_them():
    texts = " ".join((*ONE, *TWO, *MORE, *OF_A_MATRIX))
    conditions = {"=", "≠", "<", "≤", ">", "≥", "∧", "∨", "¬", "odd", "even", "any", "all"}
    written = {
        "-": "−",
        "negative": "−X",
        "juxtaposed": "2 X X",
        "sqrt": "√X",
        "iota": "X",
        "uniform": "X",
        "ones": "X",
        "I": "X",
        "onehot": "X",
        "argmin": "argmax",
        "factorial": "Γ",
    }
    missing = [
        record.name
        for record in REGISTRY.values()
        if record.name not in conditions
        and not any(name in texts for name in (written.get(record.name, record.name), *record.aliases))
    ]
    assert not missing


def test_through_windows():
    """As found: L = ∑ (unroll x)^2 has the second derivative 2 for each window that an element lies in."""
    text = "L = ∑_{a,k} (unroll_{a,k} x)^2\ns = ∂L/∂x*\n∂s/∂x†"
    value = nt.evaluate(text, x=nt.tensor([1.0, 2.0, 3.0], "a"), sizes={"k": 2})
    assert value.to_array("a* a†").tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 2]]


# ------------------------------------------------------------------------------------------------------------- marks
def test_a_formula_derived_again_and_again():
    x, text = nt.tensor([1.0, 2.0], "a"), "∑_{a} x^6"
    slopes = [6, 30, 120, 360, 720, 720, 0]
    marks = ["*", "†", "**", "††", "***", "†††", "****"]
    for times, (slope, mark) in enumerate(zip(slopes, marks), 1):
        formula = nt.derivative(text, "x")
        text = formula.to_text()
        assert text.endswith(f"/∂x{mark}")
        assert nt.formula(formula.to_latex()) == formula == nt.formula(formula.to_text(ascii=True))
        value = formula(x=x)
        assert set(value.axes) == {f"a{name}" for name in marks[:times]}
        diagonal = [value.to_array(value.axes)[(index,) * times] for index in range(2)]
        np.testing.assert_allclose(diagonal, [slope * item ** (6 - times) for item in (1, 2)])


def test_a_function_derived_again_and_again():
    text = "f : ℝ^{a} → ℝ\nf(X) = ∑_{a} X^4"
    for _ in range(4):
        text = nt.derivative(text, "X").to_text()
    value = nt.formula(text)(nt.tensor([[1.0], [2.0]], "batch a"))
    assert value.sizes == {"batch": 2, "a*": 1, "a†": 1, "a**": 1, "a††": 1} and set(value.array.ravel()) == {24}


NUMBERS = np.array([[1.0, -2.0], [0.5, 3.0]])
TIMES_STARS = "X ⊙ ∑_{b*} X_{a→a*, b→b*}"  # whose own axes have stars


def own_times_stars(X):
    """Return the same in positional code: axes a, b, a*."""
    return np.einsum("ab,cd->abc", X, X)


def own_hessian(X):
    """Return its second derivative, axes a, b, a*, then two pairs (a, b), by hand."""
    one = np.eye(2)
    first = np.einsum("ai,bj,ck,l->abcijkl", one, one, one, np.ones(2))
    return first + np.einsum("ak,bl,ci,j->abcijkl", one, one, one, np.ones(2))


@pytest.fixture(params=["numpy", "torch", "jax"])
def tensor(request):
    """Return the function that makes a tensor of a library."""
    library = pytest.importorskip(request.param)
    if request.param == "jax":
        library.config.update("jax_enable_x64", True)
        return lambda array, names: nt.tensor(library.numpy.asarray(array), names)
    make = library.asarray
    return lambda array, names: nt.tensor(make(np.array(array)), names)


def test_a_formula_with_stars_gets_the_next_free_ones(tensor):
    X = tensor(NUMBERS, "a b")
    first = nt.derivative(TIMES_STARS, "X")
    second = nt.derivative(first, "X")
    third = nt.derivative(second, "X")
    axes = "a b a* a† b† a** b**"
    result = second(X=X)
    assert set(result.axes) == set(axes.split()) and set(result.sizes.values()) == {2}
    np.testing.assert_allclose(np.asarray(result.to_array(axes)), own_hessian(NUMBERS))
    assert not np.asarray(third(X=X).array).any() and set(third(X=X).axes) == {*axes.split(), "a††", "b††"}
    steps = 1e-6 * np.eye(4).reshape(4, 2, 2)
    slopes = [(own_times_stars(NUMBERS + step) - own_times_stars(NUMBERS - step)) / 2e-6 for step in steps]
    by_hand = np.stack(slopes, axis=-1).reshape(2, 2, 2, 2, 2)
    np.testing.assert_allclose(np.asarray(first(X=X).to_array("a b a* a† b†")), by_hand, atol=1e-8)


STARRED = [
    "x^* x", "x_{n→n*} x", "∑_{n†} x^† x", "Y ∈ ℝ^{n*[2]}\nx ⊙_{n} x + Y", "D = 3 (x^*)^2\nD", "|n*| x ⊙_{n} x + 0 ⊙ x^†",
    "∂(∑_{n} x^3)/∂x", "∂(∑_{n} x^3)/∂x*", "D = ∂(∑_{n} x^3)/∂x\nD", "∂²(∑_{n} x^3)/∂x²", "f(u) = u^* u\nf(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", STARRED)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_no_axis_occurs_twice_in_a_repeated_derivative(text, times):
    others = {"Y": nt.tensor([1.0, 1.0], "n*")} if "Y" in text else {}
    formulas = [nt.formula(text)]
    for _ in range(times):
        formulas.append(nt.derivative(formulas[-1], "x"))

    def evaluate_at(formula, number):
        return formula(x=nt.tensor([2.0, number], "n"), **others)

    value, before = evaluate_at(formulas[-1], 5.0), evaluate_at(formulas[-2], 5.0)
    assert len(value.axes) == len(before.axes) + 1 and set(value.sizes.values()) == {2}
    (new,) = set(value.axes) - set(before.axes)
    slope = (evaluate_at(formulas[-2], 5.0 + 1e-5) - evaluate_at(formulas[-2], 5.0 - 1e-5)) / 2e-5
    np.testing.assert_allclose(value[{new: 1}].to_array(before.axes), slope.to_array(before.axes), rtol=1e-6, atol=1e-6)


SAME_VARIABLE = [
    "∂²(∑_{n} x^4)/∂x²", "∂(∂(∑_{n} x^4)/∂x)/∂x", "∂²/∂x² (∑_{n} x^4)", "(∂/∂x)^2 ∑_{n} x^4", "∂²(∑_{n} x^4)/∂x∂x",
    r"\frac{\partial^2 (\nsum{\n} x^4)}{\partial x^2}", r"\frac{\partial^2}{\partial x^2} \nsum{\n} x^4",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME_VARIABLE)
def test_a_second_derivative_by_one_variable_has_a_free_star(text, tensor):
    x = tensor([1.0, 2.0], "n")
    np.testing.assert_allclose(np.asarray(nt.evaluate(text, x=x).to_array("n n*")), [[12, 0], [0, 48]])
    tree = parse(text)
    assert parse(to_text(tree)) == tree == parse(to_latex(tree), "latex")


def test_a_third_derivative_by_one_variable_has_two_free_stars(tensor):
    x = tensor([1.0, 2.0], "n")
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0], expected[1, 1, 1] = 24, 48
    for text, axes in (("∂³(∑_{n} x^4)/∂x³", "n n* n†"), ("∂³(∑_{n} x^4)/∂x*∂x*∂x*", "n* n† n**")):
        np.testing.assert_allclose(np.asarray(nt.evaluate(text, x=x).to_array(axes)), expected)
    np.testing.assert_allclose(
        np.asarray(nt.evaluate("∂³(∑_{n} x^4)/∂x³ ⊙ |n†|", x=x).to_array("n n* n†")), 2 * expected
    )


def test_a_closed_form_has_the_free_stars():
    x = nt.tensor([1.0, 2.0], "n")
    closed = nt.formula("∂²(∑_{n} x^4)/∂x²").closed_form(x="ℝ^{n}")
    np.testing.assert_allclose(closed(x=x, sizes={"n": 2, "n*": 2}).to_array("n n*"), [[12, 0], [0, 48]])


def test_a_single_derivative_still_names_the_axis_that_occurs_twice():
    with pytest.raises(nt.NotationError, match=r"axis n twice") as caught:
        nt.evaluate("∂(x^3)/∂x", x=nt.tensor([1.0, 2.0], "n"))
    assert "∂(…)/∂x*" in caught.value.hint
    with pytest.raises(nt.NotationError, match=r"axis n\* twice") as caught:
        nt.evaluate("∂(x^* x^†)/∂x*", x=nt.tensor([1.0, 2.0], "n"))
    assert "∂(…)/∂x**" in caught.value.hint


MARKED = [
    "∂L/∂x**", "∂L/∂x††", "∂L/∂x*†", "∂L/∂W^1***", "∂L/∂W^{1,Q}††", "∂L/∂b_1**", "x^{**}", "(x + y)^{†*}", "x_{a***→b}",
    "x_{a_1^{**}→b}", "x ⊙_{a††} y", "|a***|", "2 ∂L/∂x** + 1", "∂(∂L/∂x*)/∂x***",
]  # fmt: skip


@pytest.mark.parametrize("text", MARKED)
def test_any_number_of_marks_is_read_and_printed(text):
    tree = parse(text)
    for spelling in (to_text(tree), to_text(tree, ascii=True), to_latex(tree)):
        assert parse(spelling) == tree


SPELLINGS = [
    (r"\frac{\partial L}{\partial x^{**}}", "∂L/∂x**"), (r"\frac{\partial L}{\partial {x^*}^*}", "∂L/∂x**"),
    (r"\frac{\partial L}{\partial x^{\dagger\dagger}}", "∂L/∂x††"), (r"\frac{\partial L}{\partial x^{*\dagger}}", "∂L/∂x*†"),
    ("∂L/∂x^{**}", "∂L/∂x**"), ("∂L/∂x^*^*", "∂L/∂x**"), (r"\partial L/\partial x\dagger\dagger", "∂L/∂x††"),
    (r"X_{\mathsf{a}^{**} \rightarrow \mathsf{b}}", "X_{a**→b}"), (r"X^{\ast\ast\ast}", "X^{***}"),
]  # fmt: skip


@pytest.mark.parametrize("spelling, text", SPELLINGS)
def test_other_spellings_of_marks(spelling, text):
    assert parse(spelling) == parse(text)


@pytest.mark.parametrize("text", ["2 ** x", "x ** 2", "x**2"])
def test_stars_are_still_no_power(text):
    with pytest.raises(nt.NotationError, match="a power is written x"):
        nt.evaluate(text, x=2.0)
