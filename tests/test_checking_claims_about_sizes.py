"""|c| = f(V) is a claim, which is checked as every other is."""

import numpy as np
import pytest

import namedtensor as nt
from grammar.errors import NotationError

V = {"V": nt.tensor(np.array([1.0, 2.0, 3.0]), "c")}
SIDES = {
    "f(V)": 3,
    "∑_{c} V": 6,
    "max_{c} V": 3,
    "f(V) + 1": 4,
    "max_{c} V − 1": 2,
    "2 f(V)": 6,
    "f(V) − f(V) + |c|": 3,
    "exp(0)": 1,
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("side", SIDES)
def test_a_size_is_what_is_computed(side, times, turned):
    size = "|c|" if times == 1 else "2 |c|"
    claim = f"{side} = {size}" if turned else f"{size} = {side}"
    text = f"f(X) = max_{{c}} X\n{claim}\n2 V"
    if SIDES[side] == 3 * times:
        np.testing.assert_array_equal(nt.evaluate(text, V).to_numpy(), [2, 4, 6])
        return
    with pytest.raises(NotationError) as caught:
        nt.evaluate(text, V)
    assert caught.value.kind == "value"
