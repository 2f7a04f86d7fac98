"""Names to positions: what every operator shares when a call is prepared.

All thinking is done here, once a call; the functions that come out permute, reshape and compute. Integers that meet
floating numbers take their dtype, a plain Python number takes that of the arrays.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, Mapping

from .record import Lowered, Order

Kernel = Callable[..., Any]


def is_numpy(xp: Any) -> bool:
    return xp.__name__ == "numpy"


def union(orders: tuple[Order | None, ...]) -> Order:
    """The axes of a broadcast result; the operand with most axes says the order."""
    longest = max((order for order in orders if order is not None), key=len, default=())
    found = dict.fromkeys(longest)
    for order in orders:
        if order is not None:
            found.update(dict.fromkeys(order))
    extra = [axis for axis in found if axis not in longest]
    return (*extra, *longest)


def fit(xp: Any, own: Order | None, order: Order) -> Kernel | None:
    """A function that lays an array with the axes `own` out to broadcast against `order`; None where it does already."""
    if own is None or not own or own == order[len(order) - len(own) :]:
        return None
    present = tuple(axis for axis in order if axis in own)
    moves = tuple(own.index(axis) for axis in present)
    at = tuple(slice(None) if axis in own else None for axis in order)
    while at and at[0] is None:
        at = at[1:]
    straight = moves == tuple(range(len(moves)))
    if None not in at:
        return None if straight else lambda array: xp.permute_dims(array, moves)
    if straight:
        return lambda array: array[at]
    return lambda array: xp.permute_dims(array, moves)[at]


def floating(xp: Any, array: Any) -> Any:
    """An array of floating numbers: integers and truth values become the namespace's default float."""
    if xp.isdtype(array.dtype, ("real floating", "complex floating")):
        return array
    return xp.astype(array, default_float(xp))


def default_float(xp: Any) -> Any:
    return xp.asarray(1.0).dtype


def common(xp: Any, values: tuple, like: Any = None) -> list:
    """Plain numbers as arrays, and all of one dtype: integers that meet floats take theirs."""
    arrays = [value for value in values if hasattr(value, "dtype")]
    floats = [array.dtype for array in arrays if xp.isdtype(array.dtype, "real floating")]
    numbers = [array.dtype for array in arrays if not xp.isdtype(array.dtype, "bool")]
    if floats:
        dtype = xp.result_type(*floats)
    elif any(isinstance(value, float) for value in values):
        dtype = default_float(xp)
    elif numbers:
        dtype = xp.result_type(*numbers)
    else:
        return [value if hasattr(value, "dtype") else xp.asarray(value) for value in values]
    device = arrays[0].device if arrays and not is_numpy(xp) and hasattr(arrays[0], "device") else None
    found = []
    for value in values:
        if not hasattr(value, "dtype"):
            value = xp.asarray(value, dtype=dtype, device=device) if device is not None else xp.asarray(value, dtype=dtype)
        elif value.dtype != dtype:
            value = xp.astype(value, dtype)
        found.append(value)
    return found


def settled(xp: Any, values: tuple) -> bool:
    """Whether NumPy's own rules already do what `common` does: one dtype, or a plain number beside an array of floats."""
    if not is_numpy(xp):
        return False
    kinds = {value.dtype.char for value in values if hasattr(value, "dtype")}
    return len(kinds) == 1


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in ("sizes", "base", "settled")}


def elementwise(make: Callable[[Any], Kernel], mixed: bool = True) -> Callable[..., Lowered]:
    """Lower an elementwise operator; `make` gives its kernel for a namespace; with `mixed`, dtypes are made common."""

    def lower(xp, orders, axes, options) -> Lowered:
        order = union(orders)
        fits = [fit(xp, own, order) for own in orders]
        kernel = make(xp)
        static = plain_options(options)
        if static:
            bare = kernel
            kernel = lambda *arrays: bare(*arrays, **static)  # noqa: E731
        if mixed and len(orders) > 1 and not options.get("settled"):
            kernel = _with_common(xp, kernel)
        return _fitted(kernel, fits), order

    return lower


def _with_common(xp: Any, kernel: Kernel) -> Kernel:
    def run(*values):
        if settled(xp, values):
            return kernel(*values)
        return kernel(*common(xp, values))

    return run


def _fitted(kernel: Kernel, fits: list[Kernel | None]) -> Kernel:
    if all(each is None for each in fits):
        return kernel
    if len(fits) == 2:
        left, right = fits
        if left is None and right is not None:
            return lambda a, b: kernel(a, right(b))
        if right is None and left is not None:
            return lambda a, b: kernel(left(a), b)
    return lambda *arrays: kernel(*(array if each is None else each(array) for each, array in zip(fits, arrays)))


def reduction(make: Callable[[Any], Kernel]) -> Callable[..., Lowered]:
    """Lower a function of axes to numbers: kernel(array, positions) without those axes."""

    def lower(xp, orders, axes, options) -> Lowered:
        (order,) = orders
        positions = tuple(order.index(axis) for axis in axes)
        kernel, static = make(xp), plain_options(options)
        rest = tuple(axis for axis in order if axis not in axes)
        return lambda array: kernel(array, positions, **static), rest

    return lower


def along(make: Callable[[Any], Kernel]) -> Callable[..., Lowered]:
    """Lower a function along axes: kernel(array, positions) of the same shape."""

    def lower(xp, orders, axes, options) -> Lowered:
        (order,) = orders
        positions = tuple(order.index(axis) for axis in axes)
        kernel, static = make(xp), plain_options(options)
        return lambda array: kernel(array, positions, **static), order

    return lower


@lru_cache(maxsize=None)
def permutation(order: Order, wanted: Order) -> tuple[int, ...] | None:
    """How to permute `order` to `wanted`; None where nothing moves."""
    moves = tuple(order.index(axis) for axis in wanted)
    return None if moves == tuple(range(len(moves))) else moves


def moved(xp: Any, order: Order, wanted: Order) -> Kernel:
    moves = permutation(order, wanted)
    if moves is None:
        return lambda array: array
    return lambda array: xp.permute_dims(array, moves)
