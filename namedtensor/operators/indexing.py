"""Define indexing (paper §3.7), indicators of elements, and tensors whose elements depend only on their indices.

In formulas, indices start at 1. In Python functions, they start at 0. The option `base` is the first index. An index
that is out of range or not an integer raises InvalidIndexError. Negative indices do not wrap around.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..core.axes import Order, union
from ..core.extents import proves_at_most
from . import definitions
from .builder import OperatorBuilder
from .new_sizes import ranks, read_stated_sizes, square
from .record import MOVES, A, Example, InvalidIndexError, Operator, countable, register

SECTION = "§3.7 Indexing"


# ------------------------------------------------------------------------------------------------- what is an index
def positions(b: OperatorBuilder, index: Any, size: int, base: int) -> Any:
    """Convert indices to positions that start at 0. A plain number stays a plain number.

    Check the range here for plain numbers and for indices with known bounds. For other indices, a step of the plan
    checks it.
    """
    if not hasattr(index, "order"):
        return _one_position(index, size, base)
    index = countable(b, index)
    if b.kind(index) in NO_INDEX:
        raise InvalidIndexError(NO_INDEX[b.kind(index)], None)
    if b.kind(index) not in "iu":
        index = b.step("whole_positions", (index,), index.order, index.shape, b.target.default_whole)
    least, most = index.interval or (-math.inf, math.inf)
    if base <= least and most != math.inf and proves_at_most(most, base + size - 1):
        return b.cast(b.subtract(index, base), b.target.default_whole) if base else index
    dtype = b.target.default_whole if base else index.dtype
    return b.step("positions", (index,), index.order, index.shape, dtype, size=size, base=base)


NO_INDEX = {"b": "a boolean", "c": "a complex number"}


def _one_position(index: Any, size: int, base: int) -> int:
    if isinstance(index, bool) or not math.isfinite(index) or index != int(index):
        raise InvalidIndexError(index, None)
    if not base <= index < base + size:
        raise InvalidIndexError(int(index), size)
    return int(index) - base


# --------------------------------------------------------------------------------------------------------- index
def _index(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    """Select X_{a(I), b(J)} in one step. If X and an index share an axis, the result has this axis once."""
    x, *indices = arguments
    base = options.get("base", 1)
    if not any(hasattr(index, "order") for index in indices):
        return b.pick(x, {axis: _one_position(index, x.size(axis), base) for axis, index in zip(axes, indices)})
    x = countable(b, x)
    places = {axis: positions(b, index, x.size(axis), base) for axis, index in zip(axes, indices)}
    chosen_axes = union([position.order for position in places.values() if hasattr(position, "order")])
    shared = tuple(axis for axis in x.order if axis in chosen_axes and axis not in axes)
    run: Order = tuple(axis for axis in x.order if axis in axes or axis in shared)
    first = x.order.index(run[0])
    together = x.order[first : first + len(run)] == run
    remaining = tuple(axis for axis in x.order if axis not in run)
    start = first if together else 0
    sizes = b.extents(x, run)
    x = b.reorder(x, (*remaining[:start], *run, *remaining[start:]))
    at: Any = None
    for axis, size in zip(run, sizes):
        here = places[axis] if axis in places else b.arange(0, size, axis)
        at = here if at is None else merge_positions(b, at, size, here)
    (axis,) = run if len(run) == 1 else (MERGED,)
    if axis == MERGED:
        x = b.merge(x, run, MERGED)
    return b.take(x, b.align(b.array(at), chosen_axes), axis)


MERGED = "(merged)"


def merge_positions(b: OperatorBuilder, at: Any, size: int, here: Any) -> Any:
    """Return positions along a merged axis, given positions along its two parts and the size of the second part."""
    if not hasattr(at, "order") and not hasattr(here, "order"):
        return at * size + here
    at = at * size if not hasattr(at, "order") else wide(b, b.multiply(wide(b, at), size))
    return wide(b, b.add(at, wide(b, here)))  # If sizes are symbols, a product beyond 64 bits is a float at this point.


def wide(b: OperatorBuilder, index: Any) -> Any:
    """Convert positions to a dtype that can hold the product of several sizes."""
    return b.cast(index, b.target.default_whole) if hasattr(index, "order") else index


register(
    Operator(
        "index", "index", "ax, ->", _index, "index_{ax}(X, I) is the element of X at the index I",
        "np.take(X, I - 1, axis)", SECTION, arity=(2, 2), complex=True, counts_from_zero=True,
        **MOVES,
    )
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ the largest few
def _places(b: OperatorBuilder, x: Any, axis: str, count: int) -> tuple[Any, Any]:
    """Return x with `axis` last, and the positions of the `count` largest elements along it.

    Equal elements keep their order.
    """
    x = b.reorder(countable(b, x), (*[name for name in x.order if name != axis], axis))
    dtype = b.target.default_whole
    if count == 1:
        first = b.step("argmax", (x,), x.order[:-1], x.shape[:-1], dtype)
        return x, b.reshape(first, x.order, (*first.shape, 1))
    return x, b.head(b.step("descending", (x,), x.order, x.shape, dtype), count)


def _maxk(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    (x,), (axis, rank) = arguments, axes
    x, places = _places(b, x, axis, options["sizes"][rank])
    return b.step("take_along", (x, places), (*x.order[:-1], rank), places.shape, x.dtype)


def _argmaxk(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    (x,), (axis, rank) = arguments, axes
    x, places = _places(b, x, axis, options["sizes"][rank])
    return _indicators(b, b.renamed(places, (*x.order[:-1], rank)), axis, x.size(axis), x.dtype)


def _indicators(b: OperatorBuilder, places: Any, axis: str, size: int, dtype: str) -> Any:
    """Return a tensor with `axis` added last, with 1 at each of the given positions and 0 elsewhere."""
    row = b.arange(0, size, axis, places.dtype)
    return b.cast(b.equal(b.align(places, (*places.order, axis)), row), dtype)


RANKS: dict[str, Any] = {"section": SECTION, "new_sizes": ranks}
register(
    Operator(
        "maxk", "index", "ax -> k", _maxk, "the k largest elements, in descending order",
        "np.sort(X, axis)[..., ::-1][..., :k]",
        differentials=("argmaxk_{ax,k} X ⊙_{ax} ∂X",), definition=definitions.maxk, **MOVES, **RANKS,
    )
)  # fmt: skip
register(
    Operator(
        "argmaxk", "index", "ax -> ax k", _argmaxk, "for each of the k largest elements, 1 at its position and 0 elsewhere",
        "np.argsort(-X, axis, 'stable')[..., :k, None] == np.arange(n)", differentials=("0",),
        definition=definitions.argmaxk, finite="of finite", sign="≥ 0", picks=True, **RANKS,
    )
)  # fmt: skip


# ---------------------------------------------------------------------------------------- tensors made of indices
def _onehot(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    (index,), (axis,) = arguments, axes
    size, base = options["sizes"][axis], options.get("base", 1)
    dtype = index.dtype if hasattr(index, "order") else b.target.default_whole
    places = positions(b, index, size, base)
    return _indicators(b, places if hasattr(places, "order") else b.constant(places), axis, size, dtype)


def _iota(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    return b.arange(1, options["sizes"][axes[0]] + 1, axes[0])


def _ones(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    return b.broadcast(1, axes, [options["sizes"][axis] for axis in axes])


def _identity(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    return b.identity(options["sizes"][axes[0]], axes)


def _equal(shapes: tuple[Any, ...], axes: Order, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return one size for both axes of an identity. At least one of the sizes must be known."""
    known = {axis: sizes[axis] for axis in axes if axis in sizes}
    one = next(iter(known.values()))
    return square(({axis: known.get(axis, one) for axis in axes},), axes, sizes)


register(
    Operator(
        "onehot",
        "index",
        "-> ax",
        _onehot,
        "1 at the index, 0 elsewhere",
        "np.eye(n)[I - 1]",
        SECTION,
        new_sizes=read_stated_sizes,
        counts_from_zero=True,
        definition=definitions.onehot,
        total=1,
        picks=True,
        differentials=("0",),
        finite="always",
        sign="≥ 0",
        example=Example('(A, axis="vocab", size=10)', (A,), ("vocab",), {"vocab": 10}),
    )
)
register(
    Operator(
        "iota",
        "creation",
        "-> ax",
        _iota,
        "1, 2, …, |ax|",
        "np.arange(1, n + 1)",
        SECTION,
        arity=(0, 0),
        new_sizes=read_stated_sizes,
        finite="always",
        sign="≥ 0",
        method=False,
    )
)
register(
    Operator(
        "ones", "creation", "-> ax", _ones, "1 along the axis", "np.ones(n)", SECTION, arity=(0, 0),
        latex=r"\mathbf{1}", new_sizes=read_stated_sizes, complex=True, finite="always", sign="≥ 0", method=False,
    )
)  # fmt: skip
register(
    Operator(
        "I", "creation", "-> ax ax'", _identity, "the identity matrix: 1 where the two indices are equal, 0 elsewhere", "np.eye(n)",
        SECTION, aliases=("identity",), arity=(0, 0), new_sizes=_equal, python="identity",
        finite="always", sign="≥ 0", method=False,
    )
)  # fmt: skip
