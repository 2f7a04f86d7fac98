"""`+` and `−` warn where an axis meets the same axis with a mark: a gradient that was not given its parameter's axes."""

import warnings

import numpy as np
import pytest

import namedtensor as nt

GIVEN = {
    "W": nt.tensor(np.arange(6.0).reshape(2, 3), "a b"), "G": nt.tensor(np.ones((2, 3)), "a* b*"),
    "H": nt.tensor(np.ones((2, 3)), "a* b"), "S": nt.tensor(np.ones((2, 2)), "a a*"), "D": nt.tensor(np.ones(2), "a†"),
    "P": nt.tensor(np.ones(2), "a'"), "x": nt.tensor(np.ones(2), "a"),
}  # fmt: skip
TOLD = {
    "W − 0.1 G": "− broadcasts ℝ^{a[2] × b[3]} against ℝ^{a*[2] × b*[3]}: a and a* are different axes: W − 0.1 G (∂L/∂W, without the mark, "
    "has the axes of W; of a gradient with marks, write G_{a*→a})",
    "G + W": "+ broadcasts ℝ^{a*[2] × b*[3]} against ℝ^{a[2] × b[3]}: a and a* are different axes",
    "W − H": "− broadcasts ℝ^{a[2] × b[3]} against ℝ^{a*[2] × b[3]}: a and a* are different axes",
    "x + D": "+ broadcasts ℝ^{a[2]} against ℝ^{a†[2]}: a and a† are different axes",
    "x − ∂(∑_{a} x^2)/∂x*": "− broadcasts ℝ^{a[2]} against ℝ^{a*[2]}: a and a* are different axes",
}
QUIET = [
    "W − 0.1 G_{a*→a, b*→b}", "W ⊙ G", "x ⊙ D", "S − x", "S + x_{a→a*}", "x + P", "x − ∂(∑_{a} x^2)/∂x", "W + 1", "W − ∑_{a*,b*} G",
    "∂(softmax_{a} x)/∂x*", "∂(x^2 + x)/∂x* + S", "∂(∂(logsumexp_{a} x)/∂x*)/∂x†",
]  # fmt: skip
INFIX = {"W − 0.1 G": lambda: GIVEN["W"] - 0.1 * GIVEN["G"], "G + W": lambda: GIVEN["G"] + GIVEN["W"],
         "W − H": lambda: GIVEN["W"] - GIVEN["H"], "x + D": lambda: GIVEN["x"] + GIVEN["D"]}  # fmt: skip
QUIET_INFIX = [
    lambda: GIVEN["W"] * GIVEN["G"], lambda: GIVEN["S"] - GIVEN["x"], lambda: GIVEN["x"] + GIVEN["P"],
    lambda: GIVEN["W"] - GIVEN["G"].rename({"a*": "a", "b*": "b"}), lambda: GIVEN["x"] - 1,
]  # fmt: skip


def used(text):
    return {name: tensor for name, tensor in GIVEN.items() if name in text}


@pytest.mark.parametrize("text", TOLD)
def test_a_formula_is_told_of(text):
    with pytest.warns(nt.NotationWarning) as caught:
        result = nt.evaluate(f"{text}  ", used(text))  # a text that was not evaluated before
    assert str(caught[0].message).startswith(TOLD[text]) and caught[0].filename == __file__ and result.axes
    (warned,) = nt.check(text, {name: str(tensor.shape) for name, tensor in used(text).items()}).warnings
    assert warned.code == 319
    with pytest.raises(nt.NotationError, match=r"shape error 319: .* are different axes") as refused:
        nt.evaluate(text, used(text), strict=True)
    assert refused.value.span_text == text


@pytest.mark.parametrize("text", INFIX)
def test_tensors_tell_each_time(text):
    for _ in range(2):
        with pytest.warns(nt.NotationWarning) as caught:
            result = INFIX[text]()
        assert str(caught[0].message).startswith(
            TOLD[text].partition(" are different axes")[0] + " are different axes ("
        )
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nt.NotationWarning)
        plain = nt.evaluate(text, used(text))
    assert nt.allclose(result, plain)


@pytest.mark.parametrize("text", QUIET)
def test_what_is_meant_is_not_told_of(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nt.evaluate(text, used(text))


@pytest.mark.parametrize("operation", QUIET_INFIX)
def test_what_tensors_mean_is_not_told_of(operation):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        operation()


def test_the_gradient_without_the_mark_has_the_axes_of_its_parameter():
    """For a number: of a tensor the derivative by one of its own axes would have that axis twice, which is told."""
    step = nt.evaluate("W − 0.1 (∂(∑_{a,b} W^2)/∂W)", W=GIVEN["W"])
    assert step.sizes == GIVEN["W"].sizes and nt.allclose(step, 0.8 * GIVEN["W"])
    with pytest.raises(nt.NotationError, match="the derivative would have axis a twice"):
        nt.evaluate("∂(W^2)/∂W", W=GIVEN["W"])
