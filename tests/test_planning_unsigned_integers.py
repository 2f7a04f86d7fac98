"""Unsigned whole numbers, which PyTorch has and can hardly compute with, are picked from and pick."""

from __future__ import annotations

import numpy as np
import pytest

import namedtensor as nt

PICKED = [
    "index_{a}(X, J)",
    "X_{a(J)}",
    "∑_i J_{seq(i)}",
    "E_{seq(i)} = J_{seq(|seq| − i + 1)}",
    "|a| = 3\nonehot_{a}(J)",
    "|k| = 2\nmaxk_{seq,k}(J)",
    "|k| = 2\nargmaxk_{seq,k}(J)",
    "index_{seq}(J, J)",
    "J_{seq(2)}",
    "sort_{seq}(J)",
    "{ J if J odd; 2 otherwise }",
]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("text", PICKED)
def test_what_is_picked_is_what_numpy_picks(text, dtype):
    torch = pytest.importorskip("torch")
    x, j = np.array([0.5, 1.0, 2.0]), np.array([1, 3, 2], dtype=dtype)
    expected = nt.evaluate(text, {"X": nt.tensor(x, ("a",)), "J": nt.tensor(j, ("seq",))})
    result = nt.evaluate(text, {"X": nt.tensor(torch.asarray(x), ("a",)), "J": nt.tensor(torch.asarray(j), ("seq",))})
    assert set(result.axes) == set(expected.axes)
    assert np.array_equal(np.asarray(result.to_array(expected.axes)), expected.array)
