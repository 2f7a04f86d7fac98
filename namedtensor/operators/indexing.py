"""Indexing (paper §3.7): elements by their indices, indicators by elements, and the tensors that only indices make.

In formulas indices count from 1; the option `base` says from which, and the Python functions count from 0. An index out of
range, or not whole, is an IndexProblem: nothing ever wraps around.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .dtypes import Kernel, is_numpy
from .lowering import fit, permuted, union
from .record import IndexProblem, Lowered, Operator, Order, register
from .sizes_given import chosen, ranks, square

SECTION = "§3.7 Indexing"


# ------------------------------------------------------------------------------------------------- what is an index
def positions(xp: Any, indices: Any, size: int, base: int) -> Any:
    """Indices as whole numbers from 0, each found to lie in range; a plain number stays one."""
    if isinstance(indices, (bool, int, float)):
        return _one_position(indices, size, base)
    if xp.isdtype(indices.dtype, "bool"):
        raise IndexProblem("a truth value", None)
    if not xp.isdtype(indices.dtype, "integral"):
        indices = _whole(xp, indices)
    return _in_range(xp, indices, size, base)


def _one_position(index: Any, size: int, base: int) -> int:
    if isinstance(index, bool) or not math.isfinite(index) or index != int(index):
        raise IndexProblem(index, None)
    if not base <= index < base + size:
        raise IndexProblem(int(index), size)
    return int(index) - base


def _whole(xp: Any, indices: Any) -> Any:
    fraction = indices != xp.floor(indices)
    wrong = xp.logical_or(fraction, xp.logical_not(xp.isfinite(indices)))
    found = _first_where(xp, wrong, indices)
    if found is not None:
        raise IndexProblem(found, None)
    return xp.astype(indices, xp.int64)


def _in_range(xp: Any, indices: Any, size: int, base: int) -> Any:
    wrong = (indices < base) | (indices >= base + size)
    found = _first_where(xp, wrong, indices)
    if found is not None:
        raise IndexProblem(int(found), size)
    if base:  # the narrow unsigned ones cannot be trusted with a difference
        indices = xp.astype(indices, xp.int64) - base
    return indices


def _first_where(xp: Any, wrong: Any, values: Any) -> float | None:
    """The first value that is wrong; None where there is none, or where there are no values yet to see."""
    try:
        if not bool(xp.any(wrong)):
            return None
    except Exception:  # an abstract array, while a backend traces: each library has its own error for it
        return None
    flat = xp.reshape(wrong, (-1,))
    place = int(xp.argmax(xp.astype(flat, xp.int8)))
    return float(xp.reshape(values, (-1,))[place])


# --------------------------------------------------------------------------------------------------------- index
def _index(xp, orders, axes, options) -> Lowered:
    """X_{a(I), b(J)}, all at once; an axis that X and the indices share is one axis."""
    order, *index_orders = orders
    base = options.get("base", 1)
    if all(own is None or own == () for own in index_orders):
        return _picked(xp, order, axes, base)
    chosen_axes = union(tuple(index_orders))
    shared = tuple(axis for axis in order if axis in chosen_axes and axis not in axes)
    run = tuple(axis for axis in order if axis in axes or axis in shared)
    place = order.index(run[0])
    together = order[place : place + len(run)] == run
    kept = tuple(axis for axis in order if axis not in run)
    start = place if together else 0
    turn = permuted(order, (*kept[:start], *run, *kept[start:]))
    locate = _locator(xp, run, axes, tuple(index_orders), chosen_axes, base)

    def index(array, *indices):
        array = turn(array)
        shape = tuple(array.shape)
        at = locate(shape[start : start + len(run)], indices)
        before, after = shape[:start], shape[start + len(run) :]
        merged = math.prod(shape[start : start + len(run)])
        flat = xp.reshape(array, (*before, merged, *after)) if len(run) > 1 else array
        if is_numpy(xp):
            return flat.take(at, start)
        return xp.reshape(xp.take(flat, xp.reshape(at, (-1,)), axis=start), (*before, *at.shape, *after))

    return index, (*kept[:start], *chosen_axes, *kept[start:])


def _picked(xp: Any, order: Order, axes: Order, base: int) -> Lowered:
    """One element of each axis: what is left is a part of the array."""
    places = [order.index(axis) for axis in axes]
    rest = tuple(axis for axis in order if axis not in axes)

    def pick(array, *indices):
        at: list[Any] = [slice(None)] * array.ndim
        for place, index in zip(places, indices):
            found = positions(xp, index, array.shape[place], base)
            at[place] = found if isinstance(found, int) else _as_int(xp, found)
        return array[tuple(at)]

    return pick, rest


def _as_int(xp: Any, index: Any) -> Any:
    """An index without axes as a Python number; as it is while a backend traces."""
    try:
        return int(index)
    except Exception:
        return index


def _locator(xp: Any, run: Order, axes: Order, orders: tuple, chosen_axes: Order, base: int) -> Kernel:
    """What gives, for each record of the indices, the position in the axes `run` merged."""
    fits = dict(zip(axes, ((number, fit(own, chosen_axes)) for number, own in enumerate(orders))))

    def locate(sizes: tuple[int, ...], indices: tuple) -> Any:
        at: Any = None
        for axis, size in zip(run, sizes):
            if axis in fits:
                number, lay = fits[axis]
                here = positions(xp, indices[number], size, base)
                here = lay(here) if lay else here
            else:
                here = _own_positions(xp, size, axis, chosen_axes, indices)
            at = here if at is None else at * size + here
        return at

    return locate


def _own_positions(xp: Any, size: int, axis: str, chosen_axes: Order, indices: tuple) -> Any:
    """The positions 0, 1, … along an axis that X and the indices share."""
    device = next((index.device for index in indices if hasattr(index, "device")), None)
    plain = is_numpy(xp) or device is None
    row = xp.arange(size, dtype=xp.int64) if plain else xp.arange(size, dtype=xp.int64, device=device)
    return xp.reshape(row, (size, *[1] * (len(chosen_axes) - 1 - chosen_axes.index(axis))))


register(
    Operator(
        "index", "index", "ax, ->", _index, "index_{ax}(X, I) is the element of X at the index I",
        "np.take(X, I - 1, axis)", SECTION, arity=(2, 2),
    )
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ the largest few
def _descending(xp: Any, array: Any, count: int) -> Any:
    """The positions of the `count` largest along the last axis; of equals the first comes first."""
    if not is_numpy(xp):
        return xp.argsort(array, axis=-1, descending=True, stable=True)[..., :count]
    size = array.shape[-1]
    ascending = array[..., ::-1].argsort(-1, "stable")
    return size - 1 - ascending[..., ::-1][..., :count]


def _maxk(xp, orders, axes, options) -> Lowered:
    (order,), (axis, rank) = orders, axes
    rest = tuple(name for name in order if name != axis)
    turn, count = permuted(order, (*rest, axis)), options["sizes"][rank]

    def maxk(array):
        array = turn(array)
        return xp.take_along_axis(array, _descending(xp, array, count), axis=-1)

    return maxk, (*rest, rank)


def _argmaxk(xp, orders, axes, options) -> Lowered:
    (order,), (axis, rank) = orders, axes
    rest = tuple(name for name in order if name != axis)
    turn, count = permuted(order, (*rest, axis)), options["sizes"][rank]

    def argmaxk(array):
        array = turn(array)
        return _indicators(xp, _descending(xp, array, count), array.shape[-1], array.dtype)

    return argmaxk, (*rest, rank, axis)


def _indicators(xp: Any, places: Any, size: int, dtype: Any) -> Any:
    """A further, last axis of `size`, with a one at each position."""
    device = None if is_numpy(xp) else getattr(places, "device", None)
    row = xp.arange(size, dtype=places.dtype) if device is None else xp.arange(size, dtype=places.dtype, device=device)
    return xp.astype(places[..., None] == row, dtype)


RANKS: dict[str, Any] = {"section": SECTION, "given": ranks}
register(
    Operator(
        "maxk", "index", "ax -> k", _maxk, "the k largest, the largest first",
        "np.sort(X, axis)[..., ::-1][..., :k]", **RANKS,
    )
)  # fmt: skip
register(
    Operator(
        "argmaxk", "index", "ax -> ax k", _argmaxk, "for each of the k largest, one where it stands",
        "np.argsort(-X, axis, 'stable')[..., :k, None] == np.arange(n)", **RANKS,
    )
)  # fmt: skip


# ---------------------------------------------------------------------------------------- tensors made of indices
def _onehot(xp, orders, axes, options) -> Lowered:
    (order,), (axis,) = orders, axes
    size, base = options["sizes"][axis], options.get("base", 1)

    def onehot(indices):
        if not hasattr(indices, "dtype"):
            indices = xp.asarray(indices)
        return _indicators(xp, xp.asarray(positions(xp, indices, size, base)), size, indices.dtype)

    return onehot, (*(order or ()), axis)


def _iota(xp, orders, axes, options) -> Lowered:
    size = options["sizes"][axes[0]]
    return lambda: xp.arange(1, size + 1, dtype=xp.int64), axes


def _identity(xp, orders, axes, options) -> Lowered:
    size = options["sizes"][axes[0]]
    return lambda: xp.eye(size), axes


def _equal(shapes: tuple, axes: Order, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Both axes of an identity have one size; either is enough to know it."""
    known = {axis: sizes[axis] for axis in axes if axis in sizes}
    one = next(iter(known.values()))
    return square(({axis: known.get(axis, one) for axis in axes},), axes, sizes)


register(
    Operator(
        "onehot",
        "index",
        "-> ax",
        _onehot,
        "one at the index, zero elsewhere",
        "np.eye(n)[I - 1]",
        SECTION,
        given=chosen,
    )
)
register(
    Operator(
        "iota", "creation", "-> ax", _iota, "1, 2, …, |ax|", "np.arange(1, n + 1)", SECTION, arity=(0, 0), given=chosen
    )
)
register(
    Operator(
        "I", "creation", "-> ax ax'", _identity, "one where the two indices are equal, zero elsewhere", "np.eye(n)",
        SECTION, aliases=("identity",), arity=(0, 0), given=_equal, python="identity",
    )
)  # fmt: skip
