"""Renaming and reshaping (paper §3.6): joining along an axis, and what merges and splits axes.

A rename moves no numbers: only the axes' names change, so it is no operator here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .dtypes import Kernel, common
from .lowering import fit, permuted, union
from .record import MANY, Lowered, Operator, Order, register
from .sizes_given import counted, joined

SECTION = "§3.6 Renaming and reshaping"


# ------------------------------------------------------------------------------------------------ merging, splitting
def merge(xp: Any, order: Order, sizes: Mapping[str, int], sources: Order, target: str) -> Lowered:
    """X_{(a,b)→c}: row-major in the order written, whatever the order of storage."""
    first = order.index(sources[0])
    rest = tuple(axis for axis in order if axis not in sources)
    together = order[first : first + len(sources)] == sources
    before = order[:first] if together else rest
    after = order[first + len(sources) :] if together else ()
    turn = permuted(order, (*before, *sources, *after))
    shape = (*_extents(before, sizes), math.prod(_extents(sources, sizes)), *_extents(after, sizes))
    return lambda array: xp.reshape(turn(array), shape), (*before, target, *after)


def split(xp: Any, order: Order, sizes: Mapping[str, int], source: str, parts: Mapping[str, int]) -> Lowered:
    """X_{c→(a,b)}: what merging undoes."""
    place = order.index(source)
    before, after = order[:place], order[place + 1 :]
    shape = (*_extents(before, sizes), *parts.values(), *_extents(after, sizes))
    return lambda array: xp.reshape(array, shape), (*before, *parts, *after)


def _extents(order: Order, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sizes[axis] for axis in order)


# --------------------------------------------------------------------------------------------------------- joining
def spread(xp: Any, orders: tuple[Order, ...], order: Order) -> Kernel:
    """What gives several arrays all axes of `order`, each axis in one size: a list of arrays."""
    fits = [fit(own, order) for own in orders]

    def run(*arrays):
        laid = [array if lay is None else lay(array) for lay, array in zip(fits, arrays)]
        return xp.broadcast_arrays(*laid) if len({array.shape for array in laid}) > 1 else laid

    return run


def _concat(xp, orders, axes, options) -> Lowered:
    """The joined axis goes first while the others are made alike, for there sizes may differ."""
    (axis,) = axes
    own = next((order for order in orders if len(order) == len(union(orders))), None)
    if own is not None and all(set(order) == set(own) for order in orders):
        turns = [permuted(order, own) for order in orders]
        place = own.index(axis)
        return lambda *arrays: xp.concat(common(xp, [turn(x) for turn, x in zip(turns, arrays)]), axis=place), own
    rest = tuple(name for name in union(orders) if name != axis)
    turns = [_last(order, rest, axis) for order in orders]

    def run(*arrays):
        laid = [turn(array) for turn, array in zip(turns, arrays)]
        shape = _broadcast_shape([array.shape[:-1] for array in laid], len(rest))
        whole = [xp.broadcast_to(array, (*shape, array.shape[-1])) for array in laid]
        return xp.concat(common(xp, whole), axis=-1)

    return run, (*rest, axis)


def _last(order: Order, rest: Order, axis: str) -> Kernel:
    """What lays an array out against `rest`, with `axis` at the end."""
    lay = fit(order, (*rest, axis))
    return lay or (lambda array: array)


def _broadcast_shape(shapes: list[tuple[int, ...]], count: int) -> tuple[int, ...]:
    padded = [(1,) * (count - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded))


def _stack(xp, orders, axes, options) -> Lowered:
    order = union(orders)
    lay = spread(xp, tuple(own or () for own in orders), order)
    return lambda *arrays: xp.stack(lay(*common(xp, arrays)), axis=0), (*axes, *order)


register(
    Operator(
        "⊕", "structure", "ax, ax -> ax", _concat, "the elements of X along an axis, then those of Y",
        "np.concatenate([X, Y], axis)", SECTION, aliases=("concat",), ascii="concat", latex=r"\ncat", arity=(1, MANY),
        given=joined, python="concat",
    )
)  # fmt: skip
register(
    Operator(
        "stack", "structure", "-> ax", _stack, "X, Y, … side by side along a new axis", "np.stack([X, Y])", SECTION,
        arity=(1, MANY), given=counted,
    )
)  # fmt: skip
