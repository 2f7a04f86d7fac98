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
    "W − 0.1 G": "− broadcasts ℝ^{a[2] × b[3]} against ℝ^{a*[2] × b*[3]}: a and a* are different axes: W − 0.1 G (∂L/∂W, without the star, "
    "has the axes of W; to remove the stars of a gradient, rename its axes: G_{a*→a})",
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


LIFTED = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])  # over the extra axis m* and the bound axis m
G = "G : ℝ^{m} → ℝ^{m}\n"
BOUND_BESIDE_EXTRA = {
    "a size": ("G(u) = |m*| + u\nG(Z)", LIFTED + 2),
    "a size in a function that it calls": ("G(u) = H(u)\nH : ℝ^{m} → ℝ^{m}\nH(v) = v + |m*|\nG(Z)", LIFTED + 2),
    "a sum": ("G(u) = u + ∑_{m*} u^*\nG(Z)", LIFTED + LIFTED.sum(1, keepdims=True)),
    "numbers": ("G(u) = u + ∑_{m*} iota_{m*}\nG(Z)", LIFTED + 3),
    "an identity": ("G(u) = I_{m,m*} ⊙_{m*} u^*\nG(Z)", LIFTED),
    "elements": ("G(u) = Y_{m*→m}\nY_{m*(i)} = 2 u_{m(i)}\nG(Z)", 2 * LIFTED),
    "a size without a signature": ("g(u) = |m*| + u\ng(Z) + 0 G(Z)\nG(u) = u", LIFTED + 3),
}


@pytest.mark.parametrize("case", BOUND_BESIDE_EXTRA)
def test_a_bound_axis_and_an_extra_axis_of_one_name_are_two_axes(case):
    text, expected = BOUND_BESIDE_EXTRA[case]
    np.testing.assert_array_equal(nt.evaluate(G + text, Z=nt.tensor(LIFTED, "m* m")).to_array("m* m"), expected)
    other = (G + text).replace("*", "†")
    np.testing.assert_array_equal(nt.evaluate(other, Z=nt.tensor(LIFTED, "m† m")).to_array("m† m"), expected)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_bound_axis_beside_an_extra_axis_in_another_library_and_in_a_derivative(library):
    pytest.importorskip(library)
    text = G + "G(u) = |m*| u^2\nG(Z)"
    Z = nt.tensor(LIFTED, "m* m").to(library)
    np.testing.assert_allclose(nt.evaluate(text, Z=Z).to_numpy("m* m"), 2 * LIFTED**2)
    slope = nt.derivative("∑_{m, m*} Y\nY = G(Z)\n" + text.removesuffix("\nG(Z)"), "Z")(Z=Z)
    np.testing.assert_allclose(slope.to_numpy("m*† m†"), 4 * LIFTED)
