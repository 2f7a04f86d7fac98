"""Windows (paper §3.5 and §4): an axis cut into pieces, which overlap or stand side by side.

unroll_{seq,kernel} X    the pieces from each element on: seq[n - |kernel| + 1], kernel     (convolutions)
pool_{seq,kernel} X      the pieces one after the other: seq[n / |kernel|], kernel          (pooling)
"""

from __future__ import annotations

from typing import Any

from .dtypes import Kernel, is_numpy
from .record import Lowered, Operator, register
from .sizes_given import pool, window

SECTION = "§3.5 Vectors to vectors"


def _unroll(xp, orders, axes, options) -> Lowered:
    (order,), (seq, kernel) = orders, axes
    return _windows(xp, order.index(seq), options["sizes"][kernel]), (*order, kernel)


def _windows(xp: Any, place: int, size: int) -> Kernel:
    """Windows along the axis at `place`; the place within a window is a further, last axis."""
    if is_numpy(xp):
        return lambda array: _strided(array, place, size)
    if xp.__name__.endswith("torch"):
        return lambda array: array.unfold(place, size, 1)

    def unroll(array):
        count = array.shape[place] - size + 1
        starts = xp.reshape(xp.arange(count, dtype=xp.int64), (count, 1))
        at = xp.reshape(starts + xp.arange(size, dtype=xp.int64), (-1,))
        found = xp.reshape(
            xp.take(array, at, axis=place), (*array.shape[:place], count, size, *array.shape[place + 1 :])
        )
        return xp.moveaxis(found, place + 1, -1)

    return unroll


def _strided(array: Any, place: int, size: int) -> Any:
    """A view: windows share their elements, so it is not to be written to."""
    from numpy.lib.stride_tricks import as_strided

    count = array.shape[place] - size + 1
    shape = (*array.shape[:place], count, *array.shape[place + 1 :], size)
    return as_strided(array, shape, (*array.strides, array.strides[place]), writeable=False)


def _pool(xp, orders, axes, options) -> Lowered:
    (order,), (seq, kernel) = orders, axes
    place, size = order.index(seq), options["sizes"][kernel]

    def pool(array):
        shape = array.shape
        return xp.reshape(array, (*shape[:place], shape[place] // size, size, *shape[place + 1 :]))

    return pool, (*order[: place + 1], kernel, *order[place + 1 :])


SIGNATURE = "seq -> seq kernel"
register(
    Operator(
        "unroll", "window", SIGNATURE, _unroll, "the window that begins at each element",
        "np.lib.stride_tricks.sliding_window_view(X, k, axis)", SECTION, given=window,
    )
)  # fmt: skip
register(
    Operator(
        "pool", "window", SIGNATURE, _pool, "windows side by side", "X.reshape(n // k, k)", SECTION, given=pool,
    )
)  # fmt: skip
