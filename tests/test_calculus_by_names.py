"""What a derivative is taken by: one name of one environment, and nothing that is spelled so or equals it elsewhere.

The reference evaluator takes the name's numbers larger and smaller, and all that is not named by it stays.
"""

from __future__ import annotations

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference
from namedtensor.calculus.derivative import DerivativeBuilder

V = "Y = [1.5, 2, −1]_{a}\n"
SPELLED_ALIKE = [  # two functions whose parameters are spelled alike and have one value
    "f(X) = ∂(X ⊙ g([1, 2]_{a}))/∂X*\ng(X) = ∑_{a} X^2\nf([1, 2]_{a})",
    "f(X) = ∂(X ⊙ g(Z))/∂X*\ng(X) = ∑_{a} X^2\nf(Z)\nZ = [1, 2]_{a}",
    "f(X) = ∂(X ⊙ g(Z))/∂X*\ng(X) = ∂(X^3 ⊙ Z)/∂X\nf(Z)\nZ = 3 + 0 · k\nk = 1",
    "X = [1, 2]_{a}\ng(X) = ∑_{a} X^2\n∂(X ⊙ g([1, 2]_{a}))/∂X*",
    "f(Y) = ∂(R ⊙ g([1, 2]_{a}))/∂R*\nR = 2 Y\ng(Y) = ∑_{a} R^2\nR = 2 Y\nf([1, 2]_{a})",
    "f(Y) = ∂(Y ⊙ h(1))/∂Y*\nh(A) = A Z\nf(Z)\nZ = [1, 2]_{a}",
]
NESTED = [  # a derivative around another holds fixed what it is taken by
    "f(X, Y) = ∂(∑_{a} ∂(R)/∂Y* ⊙_{a*} R_{a→a*})/∂R* ⊙_{a*} R_{a→a*}\nR = Y\nf([3, 3, 1]_{a}, [1.5, 2, −1]_{a})",
    "f(Y) = ∂(∑_{a} ∂(R)/∂Y* ⊙_{a*} R_{a→a*})/∂R*\nR = exp(Y)\nf([1.5, 2, −1]_{a})",
    "f(Y) = ∂(∑_{a} ∂(R)/∂Y* ⊙_{a*} R_{a→a*})/∂Y*\nR = exp(Y)\nf([1.5, 2, −1]_{a})",
    V + "R = Y\n∂(∑_{a} ∂(R)/∂Y*)/∂R†",
    V + "R = exp(Y)\n∂(∑_{a} ∂(R)/∂Y*)/∂R†",
    V + "R = 2 Y\n∂(∑_{a} ∂(R^2 + Y ⊙ R)/∂Y* ⊙ R)/∂R†",
    V + "R = 2 Y\nS = R^2\n∂(∑_{a} ∂(S ⊙ R^2 ⊙ Y)/∂Y* ⊙ R)/∂S†",
    V + "R = 2 Y\nS = R^2\nG = ∂(∑_{a} S ⊙ R^2 ⊙ Y)/∂Y*\n∂(∑_{a} G ⊙ R)/∂S† + ∂(∑_{a} G ⊙ R)/∂R† + ∂(∑_{a} G ⊙ R)/∂Y†",
    V + "R = 2 Y\nG = ∂(∑_{a} R^2 ⊙ Y)/∂Y*\n(∑_{a†} ∂(∑_{a*} G)/∂R†) ⊙ G",
    V + "R = Y^2\n∂(∑_{a} ∂(∑_{a*} ∂(∑_{a} R ⊙ R ⊙ Y)/∂Y*)/∂Y* ⊙ Y)/∂R†",
    V + "R = Y^2\nG(Z) = ∂(∑_{a} R ⊙ Z ⊙ Y ⊙ R)/∂Y*\n∂(∑_{a*} G(R))/∂R†",
]


@pytest.mark.parametrize("text", [*SPELLED_ALIKE, *NESTED])
def test_against_differences(text):
    result, expected = nt.evaluate(text), reference.evaluate(text)
    assert {*result.axes} == {*expected.shape}
    axes = tuple(sorted(expected.shape))
    np.testing.assert_allclose(
        result.tolist(" ".join(axes)) if axes else result.item(), expected.to_list(axes), rtol=1e-5, atol=1e-4
    )


def test_alone_it_goes_through_every_name():
    assert nt.evaluate(V + "R = Y^2\n∂(∑_{a} R)/∂Y*").tolist() == [3.0, 4.0, -2.0]


def test_parameters_spelled_like_those_of_a_function_are_derived_by_in_one_sweep(monkeypatch):
    """γ and β of a network, and of the function that standardizes and scales, as layers of a transformer have them."""
    text = """
    loss = ∑_{a} LayerNorm(LayerNorm(X; γ^1, β^1) ⊙ LayerNorm(X; γ, β^1); γ, β)^2
    LayerNorm(X; γ, β) = standardize_{a}(X) ⊙ γ + β
    """
    taken = []
    monkeypatch.setattr(DerivativeBuilder, "whole", lambda self, body, by: taken.append(by))
    names = ["γ", "β", "γ^1", "β^1", "X"]
    generator = np.random.default_rng(0)
    values = {name: nt.tensor(generator.normal(size=4), "a") for name in names}
    gradient = nt.gradient(text, "loss", names)(values=values)
    assert not taken
    for name in names:
        for index, step in enumerate(np.eye(4) * 1e-5):
            sides = [
                nt.evaluate(f"{text}loss", values | {name: values[name] + nt.tensor(way * step, "a")})
                for way in (1, -1)
            ]
            slope = (sides[0] - sides[1]).item() / 2e-5
            assert np.isclose(gradient[name].to_array("a")[index], slope, rtol=1e-4, atol=1e-5), (name, index)
