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
