"""Softmax of what a condition on indices masks is finite where some index is left, and then no slope is chosen between cases."""

import math

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.calculus.finiteness import Finite
from namedtensor.scope.names import key
from namedtensor.terms.inference import InputType

RANDOM = np.random.default_rng(2)
X = nt.tensor(RANDOM.normal(size=(4, 4)), "i j")
MASK = "M_{{i(k), j(l)}} = {{ {} }}\nsoftmax_{{{}}}(X + M)"
LEFT = [  # some index along the axis is left, whatever the other is
    ("0 if k ≤ l; -∞ otherwise", "i"), ("0 if k ≥ l; -∞ otherwise", "i"), ("0 if l ≥ k; -∞ otherwise", "i"),
    ("-∞ if k > l; 0 otherwise", "i"), ("0 if k = l; -∞ otherwise", "i"), ("0 if k = l; -∞ otherwise", "j"),
    ("0 if k < l + 1; -∞ otherwise", "i"), ("0 if k ≤ 2; -∞ otherwise", "i"), ("0 if k ≤ l ∨ k = 1; -∞ otherwise", "j"),
    ("0 if ¬(k > l); -∞ otherwise", "i"), ("-∞ if k > l ∧ k > 1; 0 otherwise", "i"), ("2 if k + 1 ≤ l + 1; -∞ otherwise", "i"),
    ("0 if k − 1 < l; -∞ otherwise", "i"), ("0 if l + 1 > k; -∞ otherwise", "i"), ("0 if l − 1 < k; -∞ otherwise", "i"),
]  # fmt: skip
NOT_LEFT = [  # for some index of the other axis none is, or nothing can tell
    ("0 if k < l; -∞ otherwise", "i"), ("0 if k + 1 ≤ l; -∞ otherwise", "i"), ("0 if k > l; -∞ otherwise", "i"),
    ("0 if k ≤ l ∧ k ≠ 1; -∞ otherwise", "i"), ("0 if k = l + 1; -∞ otherwise", "i"), ("0 if l ≤ 2; -∞ otherwise", "i"),
    ("0 if k > 4; -∞ otherwise", "i"), ("∞ if k ≤ l; -∞ otherwise", "i"), ("0 if k ≤ l; ∞ otherwise", "i"),
    ("0 if k l > 0; -∞ otherwise", "i"), ("0 if k ≤ l − k; -∞ otherwise", "i"),
]  # fmt: skip


def softmax_of(mask, axis):
    return term_of(MASK.format(mask, axis))


def term_of(text):
    """The term of a formula, as calculus sees it."""
    program = nt.program(text)._goal.program
    return program.checker({key("X"): InputType(dict(X.sizes))}, {}).whole()


@pytest.mark.parametrize("mask, axis", LEFT)
def test_it_is_seen_that_an_index_is_left(mask, axis):
    assert Finite()(softmax_of(mask, axis))
    assert np.isfinite(nt.evaluate(MASK.format(mask, axis), X=X).array).all()


@pytest.mark.parametrize("mask, axis", NOT_LEFT)
def test_it_is_not_said_where_it_is_not_so(mask, axis):
    assert not Finite()(softmax_of(mask, axis))


WITH_INDICES = [  # that are written in other ways
    "K_{i(k), j(l)} = k\nsoftmax_{i}(X + { 0 if K ≤ 2; -∞ otherwise })",
    "K_{i(k), j(l)} = k\nL_{i(k), j(l)} = l\nsoftmax_{i}(X + { 0 if K ≤ L; -∞ otherwise })",
    "softmax_{j}({ X if iota_{i} ≤ iota_{j}; -∞ otherwise } − X)",
]


@pytest.mark.parametrize("text", WITH_INDICES)
def test_it_is_seen_however_the_index_is_written(text):
    assert Finite()(term_of(text))
    assert np.isfinite(nt.evaluate(text, X=X).array).all()


@pytest.mark.parametrize("text", ["softmax_{j}(1 / X − X)", "softmax_{j}({ X if iota_{j} ≤ 2; -∞ otherwise } − 1 / X)"])
def test_a_difference_is_masked_only_where_what_is_subtracted_from_is_and_the_rest_is_finite(text):
    assert not Finite()(term_of(text))


@pytest.mark.parametrize("mask, axis", LEFT)
def test_the_slope_is_that_of_differences(mask, axis):
    text = MASK.format(mask, axis) + " ⊙ W"
    W = nt.tensor(RANDOM.normal(size=(4, 4)), "i j")
    total = lambda at: float(nt.evaluate(f"∑_{{i,j}} Y\nY = {text.splitlines()[1]}\n{text.splitlines()[0]}", X=at, W=W))
    head, body = text.splitlines()
    slope = nt.evaluate(f"{head}\nL = ∑_{{i,j}} ({body})\n∂L/∂X", X=X, W=W)
    expected = np.zeros((4, 4))
    for index in np.ndindex(4, 4):
        step = np.zeros((4, 4))
        step[index] = 1e-6
        expected[index] = (total(nt.tensor(X.array + step, "i j")) - total(nt.tensor(X.array - step, "i j"))) / 2e-6
    np.testing.assert_allclose(slope.to_array("i j"), expected, atol=1e-7)


def test_rows_of_which_nothing_is_left_are_chosen_between():
    """softmax gives no number there; a case that does not take it has no slope by it."""
    text = "M_{i(k), j(l)} = { 0 if k < l; -∞ otherwise }\nY_{i(k), j(l)} = { A_{i(k), j(l)} if l > 1; 0 otherwise }\n"
    slope = nt.evaluate(text + "A = softmax_{i}(X + M)\n∂(∑_{i,j} Y^2)/∂X", X=X)
    assert np.isfinite(slope.array).all() and not slope.to_array("j i")[0].any() and slope.array.any()
    assert math.isnan(float(nt.evaluate(text + "A = softmax_{i}(X + M)\nA_{i(1), j(1)}", X=X)))


# ------------------------------------------------------------------------------------------- signs and spreads of slopes
A, B = (nt.tensor(RANDOM.normal(size=(2, 3)), "a b") for _ in range(2))
SIGNED = [
    "∑_{a,b} (A − B)^2", "∑_{a,b} (−A) ⊙ (−B)", "∑_{a} (mean_{b} A − mean_{b} B)^3", "−∑_{b} (−∑_{a} (−A) / B)^2",
    "∑_{a,b} (B − (−A)) ⊙ (−A − B)", "∑_{a,b} (mean_{a} A − mean_{a} A ⊙ B)", "∑_{a} (−[A]_{b(1)} − [−A]_{b(2)})^2",
    "∑_{a,b} (∑_{a} A − ∑_{b} A)^2 / (1 + B^2)", "∑_{a} (mean_{b} A + mean_{b} A ⊙ mean_{b} A)",
]  # fmt: skip


@pytest.mark.parametrize("text", SIGNED)
def test_signs_and_spreads_are_kept(text):
    values = lambda at: {"A": at, "B": B}  # in a mapping there may be more than the formula has
    slope = nt.evaluate(f"∂({text})/∂A", values(A))
    expected = np.zeros((2, 3))
    for index in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[index] = 1e-6
        up, down = (float(nt.evaluate(text, values(nt.tensor(A.array + way * step, "a b")))) for way in (1, -1))
        expected[index] = (up - down) / 2e-6
    np.testing.assert_allclose(slope.to_array("a b"), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "moved", ["Y = (√X)_{(a,b)→c}", "Y = √(X_{(a,b)→c})", "Y = √(X_{a→(c,d)})", "Y = (√X)_{a→(c,d)}"]
)
def test_a_mask_goes_with_the_axes_that_it_is_split_or_merged_with(moved):
    """Where √ has no slope, nothing is chosen."""
    numbers = np.array([[4.0, -1.0, 0.0], [9.0, 1.0, -2.0]])
    over, sizes = ("c", {}) if "→c}" in moved else ("b, c, d", {"c": 2})
    text = f"{moved}\n∂(∑_{{{over}}} where(Y > 0, Y, 0))/∂X"
    result = nt.evaluate(text, X=nt.tensor(numbers, "a b"), sizes=sizes)
    expected = [[0.5 / np.sqrt(number) if number > 0 else 0 for number in row] for row in numbers]
    np.testing.assert_allclose(result.to_array("a b"), expected, rtol=1e-12)
