"""Implementations of the methods that rename, merge, split and index axes (paper §3.6 and §3.7).

In methods, positions count from 0. In formulas, positions count from 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError

from ..backends.lines import selecting
from ..core.arrays import MOST, Layout, has_dimensions, library, library_of_namespace, rename_layout, resize_layout
from ..core.axes import ShapeMismatchError, broadcast, check_axis, names_of, show
from ..core.kinds import to_count, to_integer
from ..core.labels import no_labels
from ..core.tensor import NamedTensor, wrap_array, wrap_layout
from ..operators import REGISTRY
from ..planning.failures import index_error, is_index_problem
from . import eager
from .diagnostics import nearest, shape_error


def need_axes(layout: Layout, axes: Iterable[str], what: str) -> None:
    """Raise NotationError if a tensor does not have one of these axes, or if an axis is given twice."""
    axes = tuple(axes)
    for axis in axes:
        if axis not in layout.axes:
            raise NotationError(
                301, f"{what} needs axis {axis}, missing from the tensor",
                notes=(f"the tensor has {show(layout.sizes)}",), hint=nearest(axis, layout.axes),
            )  # fmt: skip
        if axes.count(axis) > 1:
            raise NotationError(303, f"axis {axis} is named twice", hint="name each axis once")


def need_new(layout: Layout, axes: tuple[str, ...], new: Iterable[str], number: int, what: str) -> None:
    """Raise NotationError if a new axis would have the same name as another axis."""
    for name in new:
        if axes.count(name) > 1:
            raise NotationError(
                number, f"{what} {name}: another axis would have this name", notes=(f"the tensor has {show(layout.sizes)}",),
                hint=f"choose another name, or rename the other {name} at the same time",
            )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- renaming
_RENAMED: Cache[Any, Layout] = Cache("layouts under other names", MOST)


def rename(tensor: Any, names: Mapping[str, str]) -> Any:
    """Rename several axes of a tensor at once."""
    if tensor.layout.labels:
        return eager.labeled().rename_tensor(tensor, names)
    key = (tensor.layout, tuple(names.items()))
    try:
        layout = _RENAMED.get(key)
    except TypeError:  # an unhashable name, which `_rename` reports
        return wrap_layout(tensor._array, _rename(tensor.layout, names))
    if layout is None:
        layout = _RENAMED.get_or_build(key, lambda: _rename(tensor.layout, names))
    return wrap_layout(tensor._array, layout)


def _rename(layout: Layout, names: Mapping[str, str]) -> Layout:
    pairs = {check_axis(old): check_axis(new) for old, new in names.items()}
    need_axes(layout, pairs, "rename")
    axes = tuple(pairs.get(axis, axis) for axis in layout.axes)
    need_new(layout, axes, axes, 312, "no axis can be renamed to")
    return rename_layout(layout, axes)


# -------------------------------------------------------------------------------------------------- merging, splitting
def merge_axes(tensor: Any, groups: Mapping[str, str | Iterable[str]]) -> Any:
    """Merge each group of axes into one axis."""
    for new, old in groups.items():
        tensor = _merge_group(tensor, names_of(old), check_axis(new))
    return tensor


def _merge_group(tensor: Any, old: tuple[str, ...], new: str) -> Any:
    layout = tensor.layout
    need_axes(layout, old, "merge")
    if not old:
        raise NotationError(
            313, f"merging to {new} needs at least one axis", hint='name them: A.merge(layer=("height", "width"))'
        )
    rest = tuple(axis for axis in layout.axes if axis not in old)
    need_new(layout, (*rest, new), (new,), 313, "no axis can be merged into")
    return eager.run_specialized("merge", tensor, lambda w, given: w.merge(given[0], old, new), old, new)


def split_axes(tensor: Any, axes: Mapping[str, Mapping[str, int | None]]) -> Any:
    """Split each of these axes into several axes."""
    for old, new in axes.items():
        if not isinstance(new, Mapping):
            raise NotationError(
                313,
                f"splitting axis {old} needs the sizes of its parts",
                hint=f'write A.split({old}={{"outer": 3, "inner": None}})',
            )
        hint = f'write A.split({old}={{"outer": 3, "inner": None}})'
        sizes = {
            check_axis(axis): None if size is None else to_count(size, f"the size of {axis}", hint)
            for axis, size in new.items()
        }
        tensor = _split_axis(tensor, check_axis(old), sizes)
    return tensor


def _split_axis(tensor: Any, old: str, parts: Mapping[str, int | None]) -> Any:
    layout = tensor.layout
    need_axes(layout, (old,), "split")
    rest = tuple(axis for axis in layout.axes if axis != old)
    need_new(layout, (*rest, *parts), parts, 313, f"{old} cannot be split into")
    sizes = _solve_part_sizes(layout, old, parts)
    result = tuple(sizes.items())
    return eager.run_specialized("split", tensor, lambda w, given: w.split(given[0], old, result), old, result)


def _solve_part_sizes(layout: Layout, old: str, parts: Mapping[str, int | None]) -> dict[str, int]:
    """Return the size of each part of a split axis. One size can be None, in which case it follows from the others."""
    whole = layout.sizes[old]
    stated = math.prod(size for size in parts.values() if size is not None)
    unknown = [axis for axis, size in parts.items() if size is None]
    fits = parts and len(unknown) < 2 and stated > 0 and (whole % stated == 0 if unknown else whole == stated)
    if not fits and not (whole == stated == 0 and not unknown):
        text = " × ".join(axis if size is None else f"{axis}[{size}]" for axis, size in parts.items()) or "nothing"
        raise NotationError(
            313, f"cannot split axis {old} of size {whole} into {text}",
            hint="choose sizes whose product is the size of the axis; one may be None",
        )  # fmt: skip
    return {axis: whole // stated if size is None else size for axis, size in parts.items()}


# ---------------------------------------------------------------------------------------------------------- indexing
SELECTIONS: Cache[Layout, Cache[tuple[str, ...], Callable[[Any, Iterable[Any]], Any]]] = Cache("indexed layouts", 1024)
"""The functions that select elements by integers and slices, by layout and axis names. They return None for other indices."""


def _with_slices(before: tuple[slice, ...], dimensions: tuple[int, ...], tensor: Any, entries: Iterable[Any]) -> Any:
    """Return the elements that integers and slices select, or None if an entry has another type or is out of range."""
    layout, removed = tensor.layout, 0
    at: list[Any] = [*before]
    if len(dimensions) == 1:
        at.append(None)
    for dimension, entry in zip(dimensions, entries):
        if type(entry) is not slice:
            if type(entry) is not int or not -(size := layout.extent[dimension]) <= entry < size:
                return None
            removed += 1
        at[dimension] = entry
    elements = _slice_array(tensor._array, tuple(at))
    rest = layout.axes
    if removed:
        rest = tuple([axis for axis, entry in zip_longest(rest, at) if type(entry) is not int])
    return wrap_layout(elements, resize_layout(layout, rest, tuple(elements.shape)))


def index_elements(tensor: Any, index: Mapping[str, Any]) -> Any:
    """Select elements by axis name, using integers, slices, lists and index tensors."""
    layout = tensor.layout
    pairs = {check_axis(axis): expected for axis, expected in index.items()}
    need_axes(layout, pairs, "an index")
    if layout.labels:
        return eager.labeled().select_at_index(tensor, pairs)
    at: list[Any] = [slice(None)] * len(layout.axes)
    rest: list[str] = list(layout.axes)
    tensors = {}
    for axis, expected in pairs.items():
        if isinstance(expected, NamedTensor):
            if expected.layout.labels:
                return eager.labeled().select_at_index(tensor, pairs)
            tensors[axis] = expected
        elif isinstance(expected, slice):
            at[layout.axes.index(axis)] = expected
        elif type(expected) is not int and hasattr(expected, "__len__") and getattr(expected, "ndim", 1):
            tensors[axis] = _positions(tensor, axis, expected)
        else:
            at[layout.axes.index(axis)] = _position(axis, expected, layout.sizes[axis])
            rest.remove(axis)
    elements = _slice_array(tensor._array, tuple(at)) if at else tensor._array
    part = wrap_layout(elements, resize_layout(layout, tuple(rest), tuple(elements.shape)))
    if pairs and not tensors and not has_dimensions((layout,)):
        selections = SELECTIONS.get_or_build(layout, lambda: Cache("selections by index", 32))
        selections.get_or_build((*index,), lambda: _selection(layout, pairs))
    return _take_elements(part, tensors) if tensors else part


def _selection(layout: Layout, index: Iterable[str]) -> Callable[[Any, Iterable[Any]], Any]:
    dimensions = tuple(layout.axes.index(axis) for axis in index)
    rest = {axis: size for axis, size in layout.sizes.items() if axis not in index}
    before = (slice(None),) * (dimensions[0] if len(dimensions) == 1 else len(layout.axes))
    sizes = [layout.extent[dimension] for dimension in dimensions]
    others = partial(_with_slices, before, dimensions)
    return selecting(dimensions, checks_range=library_of_namespace(layout.xp.__name__) != "jax")(
        *sizes, resize_layout(layout, (*rest,), (*rest.values(),)), others, object.__new__, NamedTensor
    )


def _slice_array(array: Any, at: tuple[Any, ...]) -> Any:
    try:
        return array[at]
    except TypeError:
        raise NotationError(
            402, "the ends of a slice must be integers", hint='write A[{"seq": slice(0, 2)}], which leaves out its end'
        ) from None


def _positions(tensor: Any, axis: str, entries: Any) -> Any:
    """Convert a list index to an index tensor of positions along `axis`, in the library of `tensor`."""
    size = tensor.layout.sizes[axis]
    if isinstance(entries, str):
        raise no_labels(axis, entries)
    positions = [_position(axis, entry, size) % size for entry in list_entries(axis, size, entries)]
    return wrap_array(integers(positions, tensor), (axis,))


def list_entries(axis: str, size: int, index: Any) -> list[Any]:
    """Return the entries of a list index. For a list of booleans, return the positions of the true entries instead.

    Raise NotationError if the number of booleans is not the size of the axis.
    """
    entries = [*index]
    if entries and all(is_truth(entry) for entry in entries):
        if len(entries) != size:
            raise NotationError(
                302, f"axis {axis} has size {size}, but {len(entries)} conditions were given",
                hint="give one condition per element",
            )  # fmt: skip
        return [at for at, holds in enumerate(entries) if holds]
    return entries


def is_truth(entry: Any) -> bool:
    return isinstance(entry, bool) or str(getattr(entry, "dtype", "")).endswith("bool")


def integers(numbers: Any, like: Any) -> Any:
    """Return integers as an array in the library and on the device of the tensor `like`."""
    import numpy as np

    array, xp = np.asarray(numbers, dtype=np.int64), like.layout.xp
    return xp.asarray(array, device=like._array.device) if library(like._array) == "torch" else xp.asarray(array)


def _position(axis: str, expected: Any, size: int) -> int:
    if isinstance(expected, str):
        raise no_labels(axis, expected)
    position = to_integer(expected) if hasattr(expected, "__index__") else None
    if position is None:
        raise NotationError(
            402, f"axis {axis} is indexed by {expected!r}, which is not an integer",
            hint=f'pass an integer, a slice, a list, or a tensor of indices: A[{{"{axis}": nt.tensor([0, 2], "new")}}]',
        )  # fmt: skip
    if not -size <= position < size:
        raise NotationError(
            401, f"index {position} is out of range for axis {axis} (0 to {size - 1})",
            hint="in Python, indices start at 0",
        )  # fmt: skip
    return position


def _take_elements(tensor: Any, indices: Mapping[str, Any]) -> Any:
    """Select elements with index tensors. An axis that an index tensor shares with the tensor is aligned by name."""
    record, layout, axes = REGISTRY["index"], tensor.layout, tuple(indices)
    rest = {axis: size for axis, size in layout.sizes.items() if axis not in indices}
    shapes = (rest, *(index.layout.sizes for index in indices.values()))
    try:
        broadcast(shapes)
        return eager.run_specialized(
            "selections by tensors", tensor, lambda w, given: record.lower(w, given, axes, {"base": 0}), axes,
            others=indices.values(),
        )  # fmt: skip
    except ShapeMismatchError as problem:
        raise shape_error(problem, record, shapes, axes) from None
    except IndexError as problem:
        if not is_index_problem(problem):
            raise
        raise index_error(problem, axes[0] if axes else "index", 0) from None
