"""What stands several times in a sum counts as often, whatever else the sum is made into."""

from __future__ import annotations

import numpy as np
import pytest

import namedtensor as nt

RANDOM = np.random.default_rng(11)
ARRAYS = {
    "X": RANDOM.normal(size=(2, 3)),
    "W": RANDOM.normal(size=(3, 4)),
    "b": RANDOM.normal(size=4),
    "Y": RANDOM.normal(size=(2, 4)),
}
AXES = {"X": "n a", "W": "a h", "b": "h", "Y": "n h"}
ROWS = {
    "X ⊙_{a} W + b + b": lambda P, b, Y: P + 2 * b, "b + (b + X ⊙_{a} W)": lambda P, b, Y: P + 2 * b,
    "(b + b) + X ⊙_{a} W": lambda P, b, Y: P + 2 * b, "X ⊙_{a} W + b + b + b": lambda P, b, Y: P + 3 * b,
    "X ⊙_{a} W + b + Y + Y": lambda P, b, Y: P + b + 2 * Y, "X ⊙_{a} W + X ⊙_{a} W + b": lambda P, b, Y: 2 * P + b,
    "X ⊙_{a} W + b + X ⊙_{a} W + b": lambda P, b, Y: 2 * P + 2 * b, "c + X ⊙_{a} W + c\nc = 2 b": lambda P, b, Y: P + 4 * b,
    "X ⊙_{a} W + h^2\nh^0 = b\nh^t = h^{t-1} + b for t = 1, …, 2": lambda P, b, Y: P + 3 * b,
}  # fmt: skip


@pytest.mark.parametrize("text", ROWS)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_each_addend_counts(library, text):
    xp = pytest.importorskip(library)
    first, *rest = text.split("\n")
    values = {name: nt.tensor(xp.asarray(ARRAYS[name]), AXES[name]) for name in "XWbY" if name in text}
    array = nt.evaluate("\n".join([*rest, first]), values).to_array("n h")
    expected = ROWS[text](ARRAYS["X"] @ ARRAYS["W"], ARRAYS["b"], ARRAYS["Y"])
    np.testing.assert_allclose(np.asarray(array), expected, rtol=1e-5, atol=1e-5)
