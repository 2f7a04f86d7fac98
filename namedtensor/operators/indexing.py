"""Indexing (paper §3.7): elements by their indices, indicators by elements, and the tensors that only indices make.

In formulas indices count from 1; the option `base` says from which, and the Python functions count from 0. An index out of
range, or not whole, is an IndexProblem: nothing ever wraps around.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..core.axes import Order, union
from .record import IndexProblem, Operator, register
from .sizes_given import ranks, square, stated_sizes

SECTION = "§3.7 Indexing"


# ------------------------------------------------------------------------------------------------- what is an index
def positions(w, index: Any, size: int, base: int) -> Any:
    """Indices as positions from 0, which the step finds to lie in range; a plain number stays one."""
    if not hasattr(index, "order"):
        return _one_position(index, size, base)
    index = countable(w, index)
    if w.kind(index) in NO_INDEX:
        raise IndexProblem(NO_INDEX[w.kind(index)], None)
    if w.kind(index) not in "iu":
        index = w.step("whole_positions", (index,), index.order, index.shape, w.target.default_whole)
    dtype = w.target.default_whole if base else index.dtype
    return w.step("positions", (index,), index.order, index.shape, dtype, size=size, base=base)


def countable(w, x: Any) -> Any:
    """Whole numbers of a dtype that the library has, and can neither compare nor pick from, in 64 bits."""
    return w.cast(x, w.target.default_whole) if x.dtype in w.target.stored else x


NO_INDEX = {"b": "a truth value", "c": "a complex number"}


def _one_position(index: Any, size: int, base: int) -> int:
    if isinstance(index, bool) or not math.isfinite(index) or index != int(index):
        raise IndexProblem(index, None)
    if not base <= index < base + size:
        raise IndexProblem(int(index), size)
    return int(index) - base


# --------------------------------------------------------------------------------------------------------- index
def _index(w, arguments, axes, options):
    """X_{a(I), b(J)}, all at once; an axis that X and the indices share is one axis."""
    x, *indices = arguments
    base = options.get("base", 1)
    if not any(hasattr(index, "order") for index in indices):
        return w.pick(x, {axis: _one_position(index, x.size(axis), base) for axis, index in zip(axes, indices)})
    x = countable(w, x)
    places = {axis: positions(w, index, x.size(axis), base) for axis, index in zip(axes, indices)}
    chosen_axes = union([place.order for place in places.values() if hasattr(place, "order")])
    shared = tuple(axis for axis in x.order if axis in chosen_axes and axis not in axes)
    run: Order = tuple(axis for axis in x.order if axis in axes or axis in shared)
    first = x.order.index(run[0])
    together = x.order[first : first + len(run)] == run
    kept = tuple(axis for axis in x.order if axis not in run)
    start = first if together else 0
    sizes = w.extents(x, run)
    x = w.reorder(x, (*kept[:start], *run, *kept[start:]))
    at: Any = None
    for axis, size in zip(run, sizes):
        here = places[axis] if axis in places else w.arange(0, size, axis)
        at = here if at is None else _further(w, at, size, here)
    (axis,) = run if len(run) == 1 else (MERGED,)
    if axis == MERGED:
        x = w.merge(x, run, MERGED)
    return w.take(x, w.lay(w.array(at), chosen_axes), axis)


MERGED = "(merged)"


def _further(w, at: Any, size: int, here: Any) -> Any:
    """Positions in two axes merged, of which the second has this size."""
    if not hasattr(at, "order") and not hasattr(here, "order"):
        return at * size + here
    at = at * size if not hasattr(at, "order") else w.multiply(wide(w, at), size)
    return w.add(at, wide(w, here))


def wide(w, place: Any) -> Any:
    """Positions whose dtype holds the product of several sizes."""
    return w.cast(place, w.target.default_whole) if hasattr(place, "order") else place


register(
    Operator(
        "index", "index", "ax, ->", _index, "index_{ax}(X, I) is the element of X at the index I",
        "np.take(X, I - 1, axis)", SECTION, arity=(2, 2), complex=True,
    )
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ the largest few
def _places(w, x, axis: str, count: int) -> tuple[Any, Any]:
    """The array with `axis` last, and the positions of its `count` largest; of equals the first comes first."""
    x = w.reorder(countable(w, x), (*[name for name in x.order if name != axis], axis))
    dtype = w.target.default_whole
    return x, w.head(w.step("descending", (x,), x.order, x.shape, dtype), count)


def _maxk(w, arguments, axes, options):
    (x,), (axis, rank) = arguments, axes
    x, places = _places(w, x, axis, options["sizes"][rank])
    return w.step("take_along", (x, places), (*x.order[:-1], rank), places.shape, x.dtype)


def _argmaxk(w, arguments, axes, options):
    (x,), (axis, rank) = arguments, axes
    x, places = _places(w, x, axis, options["sizes"][rank])
    return _indicators(w, w.renamed(places, (*x.order[:-1], rank)), axis, x.size(axis), x.dtype)


def _indicators(w, places: Any, axis: str, size: int, dtype: str) -> Any:
    """A further, last axis of `size`, with a one at each position."""
    row = w.arange(0, size, axis, places.dtype)
    return w.cast(w.equal(w.lay(places, (*places.order, axis)), row), dtype)


RANKS: dict[str, Any] = {"section": SECTION, "given": ranks}
register(
    Operator(
        "maxk", "index", "ax -> k", _maxk, "the k largest, the largest first",
        "np.sort(X, axis)[..., ::-1][..., :k]",
        differentials=("argmaxk_{ax,k} X ⊙_{ax} ∂X",), **RANKS,
    )
)  # fmt: skip
register(
    Operator(
        "argmaxk", "index", "ax -> ax k", _argmaxk, "for each of the k largest, one where it stands",
        "np.argsort(-X, axis, 'stable')[..., :k, None] == np.arange(n)", differentials=("0",), **RANKS,
    )
)  # fmt: skip


# ---------------------------------------------------------------------------------------- tensors made of indices
def _onehot(w, arguments, axes, options):
    (index,), (axis,) = arguments, axes
    size, base = options["sizes"][axis], options.get("base", 1)
    dtype = index.dtype if hasattr(index, "order") else w.target.default_whole
    places = positions(w, index, size, base)
    return _indicators(w, places if hasattr(places, "order") else w.constant(places), axis, size, dtype)


def _iota(w, arguments, axes, options):
    return w.arange(1, options["sizes"][axes[0]] + 1, axes[0])


def _identity(w, arguments, axes, options):
    return w.identity(options["sizes"][axes[0]], axes)


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
        given=stated_sizes,
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
        given=stated_sizes,
    )
)
register(
    Operator(
        "I", "creation", "-> ax ax'", _identity, "one where the two indices are equal, zero elsewhere", "np.eye(n)",
        SECTION, aliases=("identity",), arity=(0, 0), given=_equal, python="identity",
    )
)  # fmt: skip
