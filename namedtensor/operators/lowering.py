"""Names to positions: what the operators share when a call is prepared.

All thinking is done here, once a call; what comes out permutes, reshapes and computes. A *make* gives an operator's
kernel for a namespace: a function of positional arrays, for a reduction also of the positions of its axes.

Three options are the caller's, not the operator's: `sizes` of the axes that it gives, `base` from which its indices
count, and `dtypes` of the arguments (None for a plain number), which spare the looking at them in each call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .dtypes import Kernel, coerced, is_numpy
from .record import Lower, Lowered, Order

Make = Callable[[Any], Kernel]
CALLERS = ("sizes", "base", "dtypes", "settled")


def own_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in CALLERS}


def union(orders: tuple[Order | None, ...]) -> Order:
    """The axes of a broadcast result: in the order of the operand with most axes, further ones before."""
    longest = max((order for order in orders if order is not None), key=len, default=())
    further = dict.fromkeys(axis for order in orders if order is not None for axis in order if axis not in longest)
    return (*further, *longest)


def fit(own: Order | None, order: Order) -> Kernel | None:
    """What lays an array with the axes `own` out to broadcast against `order`; None where it does so already.

    >>> import numpy as np
    >>> fit(("height",), ("height", "width"))(np.zeros(3)).shape
    (3, 1)
    """
    if not own or own == order[len(order) - len(own) :]:
        return None
    present = tuple(axis for axis in order if axis in own)
    first = min(order.index(axis) for axis in present)
    spread = tuple(slice(None) if axis in own else None for axis in order[first:])
    turn = None if present == own else permuted(own, present)
    if None not in spread:
        return turn
    return (lambda array: array[spread]) if turn is None else (lambda array: turn(array)[spread])


def permuted(order: Order, wanted: Order) -> Kernel:
    """What brings an array with the axes `order` into the order `wanted`, as a view where the library has views."""
    moves = tuple(order.index(axis) for axis in wanted)
    if moves == tuple(range(len(order))):
        return lambda array: array
    if moves == (1, 0):
        return lambda array: array.T
    return lambda array: _turn(array, moves)


def _turn(array: Any, moves: tuple[int, ...]) -> Any:
    if hasattr(array, "permute"):  # PyTorch, whose transpose swaps two axes
        return array.permute(moves)
    if hasattr(array, "transpose"):
        return array.transpose(moves)
    return array.__array_namespace__().permute_dims(array, moves)


def extent(order: Order, array: Any) -> dict[str, int]:
    return dict(zip(order, array.shape))


Places = int | tuple[int, ...] | None


def positions(order: Order, axes: tuple[str, ...]) -> Places:
    """Where the axes stand in storage; one as a plain number, all of several as None, which libraries take faster."""
    places = tuple(order.index(axis) for axis in axes)
    if len(places) == 1:
        return places[0]
    return None if len(places) == len(order) else places


# ------------------------------------------------------------------------------------------------- three kinds of lower
def elementwise(make: Make, rule: str = "numbers") -> Lower:
    """Lower a function of numbers to one over the union of the axes (paper §3.2)."""

    def lower(xp, orders, axes, options) -> Lowered:
        order = union(orders)
        kernel = with_options(make(xp), own_options(options))
        plain = tuple(each is None for each in orders)
        return fitted(coerced(xp, kernel, rule, plain, options.get("dtypes")), orders, order), order

    return lower


def fitted(kernel: Kernel, orders: tuple[Order | None, ...], order: Order) -> Kernel:
    """`kernel` after each argument was laid out against `order`."""
    fits = [fit(own, order) for own in orders]
    if not any(fits):
        return kernel
    if len(fits) == 2:
        left, right = fits
        if left is None and right is not None:
            return lambda x, y: kernel(x, right(y))
        if right is None and left is not None:
            return lambda x, y: kernel(left(x), y)
    return lambda *arrays: kernel(*(array if lay is None else lay(array) for lay, array in zip(fits, arrays)))


def with_options(kernel: Kernel, static: Mapping[str, Any]) -> Kernel:
    return (lambda *arrays: kernel(*arrays, **static)) if static else kernel


def reduction(make: Make, rule: str = "numbers") -> Lower:
    """Lower a function of axes to numbers (paper §3.3): kernel(array, positions), whose result lacks those axes."""
    return _of_positions(make, rule, lambda order, axes: tuple(axis for axis in order if axis not in axes))


def along(make: Make, rule: str = "numbers") -> Lower:
    """Lower a function that keeps its axes (paper §3.3): kernel(array, positions), of the same shape."""
    return _of_positions(make, rule, lambda order, axes: order)


def _of_positions(make: Make, rule: str, left: Callable[[Order, tuple[str, ...]], Order]) -> Lower:
    def lower(xp, orders, axes, options) -> Lowered:
        (order,) = orders
        places, static, kernel = positions(order, axes), own_options(options), make(xp)
        run = (lambda array: kernel(array, places, **static)) if static else (lambda array: kernel(array, places))
        return coerced(xp, run, rule, (False,), options.get("dtypes")), left(order, axes)

    return lower


def chunked(xp: Any, kernel: Kernel, size: int = 2**15) -> Kernel:
    """An elementwise chain of one array in pieces that fit the cache; worth it for NumPy, which makes a pass a step."""
    if not is_numpy(xp):
        return kernel

    def run(array):
        if array.size <= 2 * size or not array.flags.c_contiguous:
            return kernel(array)
        flat, found = array.reshape(-1), xp.empty_like(array)
        out = found.reshape(-1)
        for start in range(0, flat.size, size):
            out[start : start + size] = kernel(flat[start : start + size])
        return found

    return run
