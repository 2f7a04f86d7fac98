"""Hints are repairs: each one, followed as it is written, gives the value."""

import numpy as np
import pytest

import namedtensor as nt

X = nt.tensor([1.0, 2.0, 3.0], "n")


def find_error(text, **values):
    with pytest.raises(nt.NotationError) as raised:
        nt.evaluate(text, **values)
    return raised.value


@pytest.mark.parametrize(("text", "value"), [
    ("∂(∑_{n} x^2)/∂x_{n(1)}", 2), ("∂(∑_{n} x^3)/∂x_{n(3)}*", 27), ("L = x ⊙_{n} x\n∂L/∂x_{n(2)}", 4),
    ("∂(∑_{n} x^2)/∂x_{n(k)}", 4),
])  # fmt: skip
def test_a_derivative_with_respect_to_an_element_is_an_element_of_the_derivative(text, value):
    values = {"x": X} | ({"k": 2} if "k" in text else {})
    error = find_error(text, **values)
    repaired = error.hint.partition("then index: ")[2]
    definition = text.partition("\n")[0] + "\n" if "\n" in text else ""
    assert error.code == 112 and float(nt.evaluate(definition + repaired, **values)) == value


def test_a_bound_that_differs_between_positions_is_written_as_a_condition():
    values = {"X": nt.tensor(np.arange(12.0).reshape(3, 4), "g e"), "n": nt.tensor([2, 4, 1], "g")}
    text = "∑_{i=1}^{|g|} ∑_{j=1}^{n_{g(i)}} X_{g(i), e(j)}"
    error = find_error(text, **values)
    assert error.code == 309 and error.span_text == "n_{g(i)}" and "∑_{j ≤ n_{g(i)}}" in error.hint
    assert (
        float(nt.evaluate(text.replace("_{j=1}^{n_{g(i)}}", "_{j ≤ n_{g(i)}}"), **values)) == 0 + 1 + 4 + 5 + 6 + 7 + 8
    )


@pytest.mark.parametrize("text", ["rms_{n} x", "rms_n(x)", "1 + rms_{n} x", "Y = rms_{n} x", "rms x"])
def test_an_operator_that_was_made_and_not_given_is_named(text):
    rms = nt.operator("rms", "ax ->", definition="√(mean_{ax} X^2)")
    error = find_error(text, x=X)
    assert (error.code, error.span_text[:3]) == (201, "rms") and "operators=[rms]" in error.hint
    assert float(nt.formula("rms_{n} x", operators=[rms])(x=X)) == pytest.approx(np.sqrt(14 / 3))


@pytest.mark.parametrize("text", ["K.T", "2 K.T + 1", "Q ⊙_{n} K.mT", "K.transpose(0, 1)"])
def test_a_transpose_of_python_needs_no_transpose(text):
    error = find_error(text, K=X, Q=X)
    assert error.code == 106 and error.span_text == "." and "no transpose is needed" in error.hint


def test_a_transposed_name_is_no_other_name():
    assert "did you mean" not in find_error("K^T ⊙ t", K=X, t=2.0).hint


def test_a_pseudoinverse_is_written_with_inv():
    A = np.random.default_rng(0).normal(size=(4, 3))
    hint = find_error("pinv_{r, c} A", A=nt.tensor(A, "r c")).hint
    value = nt.evaluate(hint.partition("write ")[2], A=nt.tensor(A, "r c"))
    assert np.allclose(value.to_array(["c", "r"]), np.linalg.pinv(A))
