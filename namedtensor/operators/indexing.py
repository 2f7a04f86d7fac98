"""Indexing (paper §3.7): index_{ax} : ℝ^{ax[n]} × [n] → ℝ, lifted; and what picks or marks elements.

In formulas indices count from 1, as in the paper; the option `base` is 0 for the Python methods.
"""

from __future__ import annotations

from typing import Any

from .lowering import common, default_float, fit, is_numpy
from .record import IndexProblem, Operator, Order, register

SECTION = "§3.7 Indexing"


def positions(xp: Any, index: Any, size: int, base: int) -> Any:
    """An index, checked, as positions from 0. Raises IndexProblem where it is out of range or not whole."""
    if not hasattr(index, "dtype"):
        index = xp.asarray(index)
    if xp.isdtype(index.dtype, "real floating"):
        whole = xp.floor(index)
        _check(xp, index != whole, index, None)
        index = xp.astype(index, xp.int64)
    _check(xp, (index < base) | (index >= size + base), index, size)
    return index - base


def _check(xp: Any, wrong: Any, index: Any, size: int | None) -> None:
    try:
        found = bool(xp.any(wrong))
    except Exception:  # while a backend traces, an index has no value to check
        return
    if found:
        flat, bad = xp.reshape(index, (-1,)), xp.reshape(wrong, (-1,))
        first = int(xp.argmax(xp.astype(bad, xp.int64)))
        value = flat[first]
        raise IndexProblem(float(value) if size is None else int(value), size)


def lower_index(xp, orders, axes, options):
    tensor, index = orders
    (axis,) = axes
    base = options.get("base", 1)
    rest = tuple(name for name in tensor if name != axis)
    shared = tuple(name for name in (index or ()) if name in rest)
    if not shared:
        return _take(xp, tensor, index or (), axis, base)
    return _gather(xp, tensor, index, axis, base)


def _take(xp, tensor: Order, index: Order, axis: str, base: int):
    """No axis aligns: the axes of the index take the place of the indexed one."""
    at = tensor.index(axis)

    def run(array, wanted):
        where = positions(xp, wanted, array.shape[at], base)
        flat = xp.take(array, xp.reshape(where, (-1,)), axis=at)
        return xp.reshape(flat, (*array.shape[:at], *where.shape, *array.shape[at + 1 :]))

    return run, (*tensor[:at], *index, *tensor[at + 1 :])


def _gather(xp, tensor: Order, index: Order, axis: str, base: int):
    """Axes that both have align: element by element along them."""
    shared = tuple(name for name in tensor if name in index and name != axis)
    further = tuple(name for name in index if name not in shared)
    free = tuple(name for name in tensor if name not in index and name != axis)
    order = (*shared, *further, *free)
    moves_tensor = tuple(tensor.index(name) for name in (*shared, axis, *free))
    moves_index = tuple(index.index(name) for name in (*shared, *further))
    count = len(shared)

    def run(array, wanted):
        where = positions(xp, wanted, array.shape[tensor.index(axis)], base)
        array, where = xp.permute_dims(array, moves_tensor), xp.permute_dims(where, moves_index)
        outer, size, inner = array.shape[:count], array.shape[count], array.shape[count + 1 :]
        rows = 1
        for extent in outer:
            rows *= extent
        flat = xp.reshape(array, (rows * size, *inner))
        steps = xp.reshape(xp.arange(rows, dtype=where.dtype) * size, (*outer, *(1,) * len(further)))
        taken = xp.take(flat, xp.reshape(where + steps, (-1,)), axis=0)
        return xp.reshape(taken, (*where.shape, *inner))

    return run, order


def _ranked(xp, x, at: int, count: int):
    """The positions of the `count` largest elements along an axis, the first index first where they tie."""
    order = xp.argsort(x, axis=at, descending=True, stable=True) if not is_numpy(xp) else _descending(xp, x, at)
    index = (slice(None),) * at + (slice(0, count), ...)
    return order[index]


def _descending(xp, x, at):
    if x.dtype.kind == "u" or x.dtype.kind == "b":
        x = x.astype("int64")
    return xp.argsort(-x, axis=at, kind="stable")


def _lower_maxk(xp, orders, axes, options):
    (order,) = orders
    axis, rank = axes
    at, count = order.index(axis), options["sizes"][rank]

    def run(x):
        return xp.take_along_axis(x, _ranked(xp, x, at, count), axis=at)

    return run, tuple(rank if name == axis else name for name in order)


def _lower_argmaxk(xp, orders, axes, options):
    (order,) = orders
    axis, rank = axes
    at, count = order.index(axis), options["sizes"][rank]

    def run(x):
        ranks = xp.expand_dims(_ranked(xp, x, at, count), axis=at)
        size = x.shape[at]
        each = xp.reshape(xp.arange(size), tuple(size if n == at else 1 for n in range(ranks.ndim)))
        dtype = x.dtype if xp.isdtype(x.dtype, "real floating") else default_float(xp)
        return xp.astype(ranks == each, dtype)

    return run, (*order[: at + 1], rank, *order[at + 1 :])


def _given_rank(shapes, axes, sizes):
    from ..axes import AxisProblem

    axis, rank = axes
    size, count = shapes[0].get(axis), sizes[rank]
    if isinstance(size, int) and isinstance(count, int) and count > size:
        raise AxisProblem("other", rank, 0, f"{axis} has {size} elements, fewer than {rank}, which is {count}")
    return {rank: count}


def _lower_onehot(xp, orders, axes, options):
    (order,) = orders
    (axis,) = axes
    size, base = options["sizes"][axis], options.get("base", 1)

    def run(index):
        where = xp.expand_dims(positions(xp, index, size, base), axis=-1)
        return xp.astype(where == xp.arange(size), default_float(xp))

    return run, (*(order or ()), axis)


def _given_size(shapes, axes, sizes):
    return {axes[0]: sizes[axes[0]]}


def _lower_identity(xp, orders, axes, options):
    size = options["sizes"][axes[0]]
    return lambda: xp.eye(size), axes


def _lower_iota(xp, orders, axes, options):
    size = options["sizes"][axes[0]]
    return lambda: xp.arange(1, size + 1), axes


def _record(name, kind, signature, lower, meaning, numpy, arity=(1, 1), given=None):
    register(Operator(name, kind, signature, lower, meaning, numpy, SECTION, arity=arity, given=given))


_record("index", "index", "ax, ->", lower_index, "the element at an index, or at each of a tensor of indices; from 1",
        "np.take(X, I - 1, axis)", (2, 2))  # fmt: skip
_record("maxk", "index", "ax -> k", _lower_maxk, "the k largest elements, in descending order", "np.sort(X, axis)[::-1][:k]",
        given=_given_rank)  # fmt: skip
_record("argmaxk", "index", "ax -> ax k", _lower_argmaxk, "for each of the k largest, one at its place",
        "np.eye(n)[np.argsort(-X)[:k]]", given=_given_rank)  # fmt: skip
_record("onehot", "creation", "-> ax", _lower_onehot, "one at the index, zero elsewhere", "np.eye(n)[I - 1]",
        given=_given_size)  # fmt: skip
_record("I", "creation", "-> ax ax'", _lower_identity, "the identity: one where the indices are equal", "np.eye(n)", (0, 0))
_record("iota", "creation", "-> ax", _lower_iota, "the tensor 1, 2, …, |ax|", "np.arange(1, n + 1)", (0, 0))

__all__ = ["common", "fit", "lower_index", "positions"]
