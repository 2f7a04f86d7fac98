"""The axis of a use may be called as the head of a function calls another of its axes, and is that of the use."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

V = np.array([1.0, 2.0, 4.0, 7.0, 11.0, 16.0])
BODIES = {  # what is made over the first axis, a, and the second, b, which the text gives a size of 2
    "unroll": ("unroll_{a,b} X", lambda: np.lib.stride_tricks.sliding_window_view(V, 2)),
    "pool": ("pool_{a,b} X", lambda: V.reshape(3, 2)),
    "split": ("X_{a→(z,b)}", lambda: V.reshape(3, 2)),
    "iota": ("X ⊙ iota_{b} + 0 |a|", lambda: V[:, None] * [1, 2]),
    "maxk": ("maxk_{a,b} X ⊙ [1]_{z}", lambda: np.array([[16.0, 11.0]])),
    "onehot": ("X ⊙ onehot_{b} 2 + 0 |a|", lambda: V[:, None] * [0, 1]),
    "identity": ("X ⊙ ∑_{w} I_{b,w} + 0 |a|", lambda: V[:, None] * [1, 1]),
    "a size": ("X ⊙ |b| ⊙ iota_{b} + 0 |a|", lambda: V[:, None] * [2, 4]),
    "elements": ("Y\nY_{a(i), b(j)} = X_{a(i)} + j", lambda: V[:, None] + [1, 2]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("first, second", [("b", "a"), ("c", "a"), ("b", "c"), ("a", "b"), ("z'", "b'")])
def test_a_function_over_two_axes(name, first, second):
    body, by_hand = BODIES[name]
    text = f"|{second}| = 2\ng_{{a,b}}(X) = {body}\ng_{{{first},{second}}}(V)"
    tensor = reference.tensor(V.tolist(), first)
    order = ["z" if name in ("maxk", "split") else first, second]
    for result in (nt.evaluate(text, V=nt.tensor(V, first)), nt.formula(text).compile()(V=nt.tensor(V, first))):
        np.testing.assert_array_equal(result.to_array(" ".join(order)), by_hand())
    slow = reference.evaluate(text, {"V": tensor})
    entries = {tuple(sorted(zip(slow.shape, key))): entry for key, entry in slow.entries.items()}
    for index, expected in np.ndenumerate(by_hand()):
        assert entries[tuple(sorted(zip(order, (item + 1 for item in index))))] == expected


@pytest.mark.parametrize(
    ("seq", "kernel"),
    [(seq, kernel) for seq in ("kernel", "seq", "b", "ax") for kernel in ("seq", "kernel", "ax", "k") if seq != kernel],
)
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("operator", ["unroll", "pool"])
def test_derivatives_of_windows(operator, size, seq, kernel):
    """Against windows of the identity, for they are linear; differentials are written with seq and kernel."""
    text = f"∂({operator}_{{{seq},{kernel}}} V)/∂V*\n|{kernel}| = {size}"
    array = nt.evaluate(text, V=nt.tensor(V, seq)).to_array(f"{seq}* {seq} {kernel}")
    eye = np.eye(6)
    windows = np.lib.stride_tricks.sliding_window_view(eye, size, axis=1)
    np.testing.assert_array_equal(array, windows if operator == "unroll" else eye.reshape(6, 6 // size, size))
