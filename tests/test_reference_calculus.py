"""Derivatives of every operator, however the formula names things, computed by definitions: against difference quotients.

It is what derivatives by arrays are compared with; so it is compared with plain quotients of differences of values here,
and never with zeros alone.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from test_calculus import MATRIX, SQUARE, by_differences
from test_calculus_higher import MORE, OF_A_MATRIX, ONE, TWO, given_for

from grammar.errors import NotationError
from namedtensor import reference

WITHOUT_SLOPE = {
    "sign X",
    "round X",
    "argsort_{b} X",
    "floor X",
    "ceil X",
    "X^0",
    "𝕀[isnan(X)] ⊙ X",
    "argmax_{b} X",
    "argmaxk_{b,k} X",
}


def named(text: str, name: str) -> str:
    """The formula of another name."""
    return re.sub(r"(?<![A-Za-z])X(?![A-Za-z])", name, text.replace("|X|", "abs(X)"))


FORMS = {
    "written out": lambda text: f"∂({text})/∂X*",
    "of a defined name": lambda text: f"out = {text}\n∂out/∂X*",
    "in an equation": lambda text: f"out = {text}\nslope = ∂out/∂X*",
    "in an equation that is used": lambda text: f"out = {text}\nslope = ∂out/∂X*\nagain = slope + 0\nagain",
    "of a name between": lambda text: f"M = X + 0\nout = {named(text, 'M')}\nslope = ∂out/∂X*",
    "by a defined name": lambda text: f"M = X + 0\nout = {named(text, 'M')}\nother = out\nslope = [∂other/∂M*]",
    "in a function": lambda text: f"f(N) = ∂({named(text, 'N')})/∂N*\nf(X)",
    "of what belongs to a function": lambda text: f"f(N) = ∂out/∂N*\nout = {named(text, 'N')}\nslope = f(X)",
    "by a parameter": lambda text: f"f(t; N) = t ∂out/∂N*\nout = {named(text, 'N')}\nslope = f(1; X)",
    "of a function's value": lambda text: f"f(N) = {named(text, 'N')}\nslope = ∂f(X)/∂X*",
    "by a member of a family": lambda text: f"N^0 = X\nN^i = 2 N^{{i-1}} / 2 for i = 1, …, 3\nout = {named(text, '{N^3}')}\n∂out/∂N^1*",
    "of a member of a family": lambda text: f"N^i = i ({text}) for i = 1, …, 2\nslope = ∂N^2/∂X* / 2",
}  # fmt: skip


@cache
def differences(text: str) -> np.ndarray:
    """What every form of a formula's derivative is compared with."""
    inputs, sizes = given_for(text)
    return by_differences(text, inputs, "X", sizes)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [*ONE, *TWO, *MORE, *OF_A_MATRIX])
def test_of_every_operator(text, form):
    inputs, sizes = given_for(text)
    assert inputs["X"].sizes in ({"a": 2, "b": 3}, {"a": 3, "b": 3}) and MATRIX != SQUARE
    plain = {name: reference.tensor(input_.array.tolist(), input_.axes) for name, input_ in inputs.items()}
    result = reference.evaluate(FORMS[form](text), plain, sizes=sizes)
    right = differences(text)
    axes = (*sorted(set(result.shape) - {"a*", "b*"}), "a*", "b*")
    np.testing.assert_allclose(np.array(result.to_list(axes)), right, rtol=1e-6, atol=1e-6)
    assert right.any() or text in WITHOUT_SLOPE


def test_by_what_is_no_tensor():
    with pytest.raises(NotationError):
        reference.evaluate("∂(X ⊙ |a|)/∂q", {"X": reference.tensor([1.0, 2.0], "a")})


def test_sizes_stay_those_of_the_call():
    """What the program says of sizes is about the call that asks, also while its argument is another."""
    text = "f(X) = ∂out/∂X*\nout = ∑_{a} X^2 ⊙ w\nw = |a| / 2\nf(T)"
    result = reference.evaluate(text, {"T": reference.tensor([1.0, 2.0, 3.0], "a")})
    np.testing.assert_allclose(result.to_list(("a*",)), [3, 6, 9], rtol=1e-8)
