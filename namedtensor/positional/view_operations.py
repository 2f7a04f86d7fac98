"""Operations that regroup dimensions, such as reshape, view and flatten.

A merged dimension contains several axes. An axis that is split is replaced by new axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import values
from .axes import Axes, AxisVariable, Dim, axes_of
from .operations import MisuseError, PartArgument, SizeArgument, one_position, operation, positions, shape_of, to_value
from .values import AxisValue


class DimensionViews:
    """A translator of reshapes. It records in `axes` the sizes that reshapes state and the axes that they split."""

    def __init__(self, axes: Axes):
        self.axes = axes

    def reshape(self, x: AxisValue, shape: Sequence[Any]) -> AxisValue:
        """Return x in a new shape, which may contain lengths from x, quotients such as d // h, numbers, and one -1.

        Raise MisuseError if the shape does not determine the axes.
        """
        waiting = [*x.dims]
        result: list[Dim] = []
        items = [*shape]
        while items and not (isinstance(items[0], int) and items[0] != 1):
            item = items.pop(0)
            if item == 1 and not isinstance(item, SizeArgument):
                result.append(())
                waiting = waiting[1:] if waiting and not waiting[0] else waiting
            elif isinstance(item, SizeArgument) and waiting and have_one_length(item.dim, waiting[0]):
                result.append(waiting.pop(0))
            elif isinstance(item, SizeArgument) and (count := count_merged(item.dim, waiting)):
                result.append(tuple(axis for dim in waiting[:count] for axis in dim))
                del waiting[:count]
            else:
                items.insert(0, item)
                break
        tail: list[Dim] = []
        while items and isinstance(items[-1], SizeArgument) and waiting and have_one_length(items[-1].dim, waiting[-1]):
            items.pop()
            tail.insert(0, waiting.pop())
        if not items and not waiting:
            return x.moved((*result, *tail))
        if items == [-1]:
            return x.moved((*result, tuple(axis for dim in waiting for axis in dim), *tail))
        if len(waiting) == 1 and len(waiting[0]) == 1 and len(items) >= 2:
            return self.split(x, waiting[0][0], items, result, tail)
        lengths = self.find_lengths(waiting, items)
        if lengths:
            return self.split_by_sizes(x, waiting, lengths, (*result,), (*tail,))
        raise MisuseError(f"the shape ({', '.join(map(spell, shape))}) does not name the axes of the tensor")

    def find_lengths(self, waiting: Sequence[Dim], items: Sequence[Any]) -> list[int]:
        """Return the lengths in a shape of numbers, with -1 replaced by the missing length.

        Return an empty list if a size of the tensor is unknown, or if the shape does not fit the number of elements.
        """
        sizes = [axis.kind.size for dim in waiting for axis in dim]
        numbers = [item for item in items if type(item) is int]
        if None in sizes or len(numbers) < len(items) or numbers.count(-1) > 1:
            return []
        total = math.prod(size or 1 for size in sizes)
        rest = math.prod(number for number in numbers if number != -1)
        if rest < 1 or total % rest or (-1 not in numbers and total != rest):
            return []
        return [total // rest if number == -1 else number for number in numbers]

    def split_by_sizes(
        self, x: AxisValue, waiting: Sequence[Dim], lengths: Sequence[int], before: Sequence[Dim], after: Sequence[Dim]
    ) -> AxisValue:
        """Merge and split axes by their sizes, so that each length is one axis, several axes, or a part of one axis."""
        axes, targets = [axis for dim in waiting for axis in dim], [*lengths]
        node, dims = x.node, list[Dim](before)
        for axis in axes:
            self.axes.facts.pinned.append((axis, axis.kind.size or 1))
            if axis.kind.size in lengths:
                self.axes.facts.assumed.append(f"{axis.kind.size} is read as |{axis.key}|")
        while axes or targets:
            merged, parts = axes[:1], targets[:1]
            del axes[:1], targets[:1]
            while (size := math.prod(axis.kind.size or 1 for axis in merged)) != (length := math.prod(parts)):
                if size < length:
                    merged.append(axes.pop(0))
                else:
                    parts.append(targets.pop(0))
            if len(parts) <= 1:
                dims.extend([tuple(merged)] if parts else [])
            elif len(merged) == 1:
                whole = self.split(AxisValue(node, x.dims), merged[0], parts, [], [])
                node = whole.node
                dims.extend(whole.dims)
            else:
                node, joined = values.merge_into_one(self.axes, node, merged)
                self.axes.facts.pinned.append((joined, math.prod(parts)))
                whole = self.split(AxisValue(node, ((joined,),)), joined, parts, [], [])
                node = whole.node
                dims.extend(whole.dims)
        result = AxisValue(node, (*dims, *after))
        self.axes.apart(result.axes)
        return result

    def split(
        self, x: AxisValue, axis: AxisVariable, items: list[Any], before: list[Dim], after: list[Dim]
    ) -> AxisValue:
        """Split an axis into several axes, given their lengths. The length of one of them can be omitted."""
        parts: list[AxisVariable] = []
        open_ones = 0
        for item in items:
            part = self.axes.new()
            if isinstance(item, PartArgument):
                if not have_one_length(item.whole.dim, (axis,)) or item.divisor not in items:
                    raise MisuseError("this is not the length of a part")
                open_ones += 1
            elif isinstance(item, int) and item > 1:
                self.axes.facts.stated.append((part, item))
            elif item == -1:
                open_ones += 1
            else:
                raise MisuseError("this does not name the lengths of the parts")
            parts.append(part)
        if open_ones > 1:
            raise MisuseError("more than one length is left open")
        if not open_ones and axis.kind.size not in (None, math.prod(items)):
            raise MisuseError("the sizes of this shape do not fit the tensor")
        self.axes.facts.products.append((axis, tuple(parts)))
        node = values.merge_axes(x.node, [axis], parts)
        rest = [other for other in x.axes if other is not axis]
        self.axes.apart(rest, parts)
        return AxisValue(node, (*before, *((part,) for part in parts), *after))


def count_merged(dim: Dim, waiting: Sequence[Dim]) -> int:
    """Return the number of leading dimensions in `waiting` whose product is `dim`, or 0 if no product matches.

    For example, the number is 2 if `dim` is b * n.
    """
    axes: list[AxisVariable] = []
    for count, other in enumerate(waiting, 1):
        axes += other
        if have_one_length(tuple(axes), dim):
            return count
    return 0


def have_one_length(first: Dim, second: Dim) -> bool:
    """Return whether two dimensions are known to have equal lengths, because their axes have the same kinds."""
    return len(first) == len(second) and all(a.kind is b.kind for a, b in zip(first, second))


def spell(item: Any) -> str:
    return str(item) if isinstance(item, int) else "a length"


# ---------------------------------------------------------------------------------------------------------- operations
def reshape(axes: Axes, x: Any, shape: Any, order: Any = "C") -> AxisValue:
    """Return a tensor in another shape. If `order` is "F", the first index changes fastest."""
    value, listed = to_value(x), shape if isinstance(shape, tuple) else (shape,)
    if order not in ("C", "F"):
        raise MisuseError(f"the order {order} depends on the memory")
    if order == "C":
        return DimensionViews(axes).reshape(value, listed)
    turned = DimensionViews(axes).reshape(value.moved(value.dims[::-1]), listed[::-1])
    return turned.moved(turned.dims[::-1])


def flatten(axes: Axes, x: Any, first: Any, last: Any) -> AxisValue:
    """Merge all dimensions from `first` to `last` into one."""
    value = to_value(x)
    start, end = one_position(value, first), one_position(value, last)
    shape = shape_of(value)
    return reshape(axes, value, (*shape[:start], -1, *shape[end + 1 :]))


def count_elements(x: Any, axis: Any = None) -> Any:
    """Return the number of elements of a tensor or, given `axis`, the product of the lengths of these dimensions."""
    value = to_value(x)
    return SizeArgument(axes_of(value.dims[position] for position in positions(value, axis)))


def split_dimension(axes: Axes, x: Any, dim: Any, sizes: Any) -> AxisValue:
    """Split a dimension into dimensions of these sizes, as x.unflatten(2, (2, 3)) does."""
    value = to_value(x)
    where = one_position(value, dim)
    if not isinstance(sizes, tuple):
        raise MisuseError("unflatten expects an axis and the lengths of its parts")
    shape = shape_of(value)
    return reshape(axes, value, (*shape[:where], *sizes, *shape[where + 1 :]))


operation("reshape", "x, shape|newshape..., *, order='C'", reshape)
operation("view", "x, size...", reshape)
operation("flatten", "x, order='C'", lambda axes, x, order: reshape(axes, x, -1, order), "numpy")
operation("flatten", "x, start_dim=0, end_dim=-1", flatten, "torch")
operation("ravel", "x, order='C'", lambda axes, x, order: reshape(axes, x, -1, order))
operation("unflatten", "x, dim, sizes", split_dimension)
operation("size", "x, axis=None", lambda axes, x, axis: count_elements(x, axis), "numpy")
operation("size", "x, dim=None", lambda axes, x, dim: shape_of(x) if dim is None else shape_of(x)[dim], "torch")
operation("len", "x", lambda axes, x: shape_of(x)[0])
