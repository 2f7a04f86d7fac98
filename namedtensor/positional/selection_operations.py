"""Operations of array code that select or sort elements, form windows, or split dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from . import values
from .axes import Axes, AxisVariable, axes_of
from .axis_operations import make_accumulation, make_axis_operation
from .code_indices import CodeIndices, only
from .creation_operations import new_axis
from .operations import MisuseError, Pair, SizeArgument, one_position, operation, operations, positions, to_value, truth
from .values import AxisValue, call, index_node, iota, number, plus, rename_axes


def take(axes: Axes, x: Any, index: Any, axis: Any) -> AxisValue:
    """Select elements along one axis by an index or a tensor of indices, whose dimensions replace the axis."""
    value, axis = values.flatten_axes(axes, to_value(x), axis)
    where = positions(value, axis)
    return CodeIndices(axes).along(value, where, index if isinstance(index, int) else to_value(index))


def gather(broadcasts: bool) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, index: Any, axis: Any) -> AxisValue:
        """Select elements by an index of the same rank, along one axis: out[i, k] = x[i, index[i, k]]."""
        value, places = to_value(x), to_value(index)
        where = one_position(value, axis)
        if len(value.dims) != len(places.dims):
            raise MisuseError("the index has another number of axes than the tensor")
        picked = only(value.dims[where])
        rest = [dim for position, dim in enumerate(value.dims) if position != where]
        others = [dim for position, dim in enumerate(places.dims) if position != where]
        if not broadcasts and any(bool(one) != bool(two) for one, two in zip(rest, others)):
            raise MisuseError("the index has size 1 along an axis, and the tensor has another size")
        dims = list(
            values.align_values(axes, AxisValue(value.node, tuple(rest)), AxisValue(places.node, tuple(others)))
        )
        node, _ = CodeIndices(axes).tensor_index(picked, places)
        axes.apart(value.axes, places.axes)
        dims.insert(where, places.dims[where])
        axes.apart(axes_of(dims))
        return AxisValue(index_node(value.node, picked, node), tuple(dims))

    return rule


operation("take", "x, indices, axis=None", take)
operation("take_along_axis", "x, indices, axis=-1", gather(True))
operation("gather", "x, dim, index", lambda axes, x, dim, index: gather(False)(axes, x, index, dim), "torch")


# -------------------------------------------------------------------------------------------------------------- order
def sort_pair(axes: Axes, x: Any, axis: Any, descending: Any) -> Any:
    result = make_axis_operation("sort")(axes, x, axis)
    return Pair(flip(axes, result, axis) if descending is True else result)


def argsort(axes: Axes, x: Any, axis: Any) -> AxisValue:
    result = make_accumulation("argsort")(axes, x, axis)
    axes.facts.assumed.append("argsort keeps the order of equal elements")
    return AxisValue(call("-", (result.node, number(1))), result.dims)


def largest(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> AxisValue:
        """Return the index, counted from 0, of the largest or smallest element.

        In a tie, the first element is chosen.
        """
        rank = len(to_value(x).dims)
        value, axis = values.flatten_axes(axes, to_value(x), axis)
        where = one_position(value, axis)
        over = only(value.dims[where])
        one = axes.new()
        axes.facts.stated.append((one, 1))
        operand = value.node if operator == "argmax" else call("negative", (value.node,))
        chosen = index_node(call("argmaxk", (operand,), (over, one)), one, number(1))
        index = call("⊙", (chosen, values.iota(over)), (over,))
        retained = ((),) * (1 + rank - len(value.dims)) if truth(keep) else ()
        dims = (*value.dims[:where], *retained, *value.dims[where + 1 :])
        axes.apart((*value.axes, one))
        return AxisValue(call("-", (index, number(1))), dims)

    return rule


operation("sort", "x, axis=-1", make_accumulation("sort"), "numpy")
operation("sort", "x, dim=-1, descending=False", sort_pair, "torch")
operation("argsort", "x, axis|dim=-1", argsort)
for name in ("argmax", "argmin"):
    operations(
        name, "x, axis=None, -out=None, keepdims=False", "x, dim|axis=None, keepdim|keepdims=False", largest(name)
    )


def flip(axes: Axes, x: Any, axis: Any) -> AxisValue:
    value = to_value(x)
    return CodeIndices(axes).along(value, positions(value, axis), slice(None, None, -1))


operation("flip", "x, axis|dims|dim=None", flip)
operation("flipud", "x", lambda axes, x: flip(axes, x, 0))
operation("fliplr", "x", lambda axes, x: flip(axes, x, 1))


# --------------------------------------------------------------------------------------------------------- differences
def diff(axes: Axes, x: Any, times: Any, axis: Any) -> AxisValue:
    """Take the differences x[1:] − x[:-1] of adjacent elements, `times` times in a row."""
    if type(times) is not int or not 0 < times < 5:
        raise MisuseError(f"n={times} differences are not supported")
    value = to_value(x)
    for _ in range(times):
        after, before = (
            CodeIndices(axes).along(value, positions(value, axis), slice(*ends)) for ends in ((1, None), (None, -1))
        )
        value = values.elementwise(axes, "-", after, before)
    return value


operation("diff", "x, n=1, axis|dim=-1", diff)


# --------------------------------------------------------------------------------------------------------------- rolls
def roll(axes: Axes, x: Any, shift: Any, axis: Any) -> AxisValue:
    """Shift the elements along axes. Elements that are shifted beyond the end reappear at the beginning."""
    value = to_value(x)
    if axis is None and len(value.dims) > 1:
        flat, _ = values.flatten_axes(axes, value, None)
        rolled, parts = roll(axes, flat, shift, 0), [axes.twin(old) for old in value.axes]
        axes.facts.same += zip(parts, value.axes)
        axes.apart(parts)
        turned = iter(parts)
        dims = tuple(tuple(next(turned) for _ in dim) for dim in value.dims)
        return AxisValue(values.merge_axes(rolled.node, axes_of(rolled.dims), parts), dims)
    where = positions(value, 0 if axis is None else axis)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(where)
    if len(shifts) != len(where) or not all(type(by) is int for by in shifts):
        raise MisuseError("the shifts of roll are a number for each axis")
    for position, by in zip(where, shifts):
        old = only(value.dims[position])
        new = axes.twin(old)
        axes.facts.same.append((new, old))
        axes.apart((*value.axes, new))
        index = plus(call("mod", (plus(iota(new), -1 - by), values.size(old))), 1)
        dims = (*value.dims[:position], (new,), *value.dims[position + 1 :])
        value = AxisValue(index_node(value.node, old, index), dims)
    return value


operation("roll", "x, shift|shifts, axis|dims=None", roll)


def slide(axes: Axes, x: AxisValue, where: int, kernel: AxisVariable, step: int = 1) -> AxisValue:
    """Return the windows along a dimension. They begin `step` elements apart, and the axis within a window is last."""
    axis = only(x.dims[where])
    slid = axes.new(hint=axis.kind.hint)
    require_longer(axes, axis, kernel)
    axes.apart((*x.axes, kernel))
    dims = (*x.dims[:where], (slid,), *x.dims[where + 1 :], (kernel,))
    axes.apart((axis, slid, kernel))
    axes.apart(axes_of(dims))
    if step == 1:
        return AxisValue(rename_axes(call("unroll", (x.node,), (axis, kernel)), [(axis, slid)]), dims)
    axes.facts.steps.append((slid, axis, kernel, step))
    index = plus(call("+", (values.times(step, values.iota(slid)), values.iota(kernel))), -step)
    return AxisValue(index_node(x.node, axis, index), dims)


def require_longer(axes: Axes, axis: AxisVariable, kernel: AxisVariable) -> None:
    """Record that an axis, without its padding, is at least as long as a window."""
    parts = next((parts for whole, parts in axes.facts.totals if whole.root is axis.root), (axis,))
    stated = {part.root for part, _ in axes.facts.stated}
    axes.facts.longer += [(part, kernel) for part in parts if part.root not in stated]


def blocks(axes: Axes, x: AxisValue, where: int, length: Any) -> AxisValue:
    """Split a dimension into blocks of equal length. The axis within a block is last."""
    axis, kernel = only(x.dims[where]), new_axis(axes, length)
    outer = axes.new(hint=axis.kind.hint)
    axes.facts.products.append((axis, (outer, kernel)))
    rest = [other for other in x.axes if other is not axis]
    axes.apart(rest, (outer, kernel))
    dims = (*x.dims[:where], (outer,), *x.dims[where + 1 :], (kernel,))
    return AxisValue(values.merge_axes(x.node, [axis], [outer, kernel]), dims)


def whole(length: Any) -> bool:
    return isinstance(length, int) and not isinstance(length, bool) and length > 1


def sliding_windows(axes: Axes, x: Any, window_shape: Any, axis: Any) -> AxisValue:
    value = to_value(x)
    if axis is None and len(value.dims) != 1 or not whole(window_shape):
        raise MisuseError("windows over several axes, or of a length that is not a number above 1")
    where = one_position(value, 0 if axis is None else axis)
    return slide(axes, value, where, new_axis(axes, window_shape))


def unfold(axes: Axes, x: Any, dimension: Any, size: Any, step: Any) -> AxisValue:
    value = to_value(x)
    where = one_position(value, dimension)
    if not (whole(size) or isinstance(size, SizeArgument) or size == 1) or not isinstance(step, int) or step < 1:
        raise MisuseError("windows whose length or step is not a number above 0")
    if (size, step) == (1, 1):
        return value.moved((*value.dims, ()))
    if len(value.dims[where]) == 1 and only(value.dims[where]).kind.size == size:  # one window
        return value.moved((*value.dims[:where], (), *value.dims[where + 1 :], value.dims[where]))
    if step == size and is_divisible(axes, only(value.dims[where]), size):
        return blocks(axes, value, where, size)
    return slide(axes, value, where, new_axis(axes, size), step)


def is_divisible(axes: Axes, axis: AxisVariable, length: Any) -> bool:
    """Return whether an axis can be split into blocks of this length.

    If its size is unknown, the axis must not be a concatenation.
    """
    if axis.kind.size is not None:
        return axis.kind.size % length == 0
    return not any(axis.root is whole.root for whole, _ in axes.facts.totals)


operation("sliding_window_view", "x, window_shape, axis=None", sliding_windows)
operation("unfold", "x, dimension, size, step", unfold, "torch")


# -------------------------------------------------------------------------------------------------------------- chunks
def chunks(axes: Axes, x: Any, count: Any, axis: Any) -> tuple[AxisValue, ...]:
    """Split a tensor along a dimension into `count` equal parts, and return the parts."""
    value = to_value(x)
    where = one_position(value, axis)
    if not whole(count):
        raise MisuseError("the number of pieces is a number above 1")
    old, outer, inner = only(value.dims[where]), new_axis(axes, count), axes.new()
    axes.facts.products.append((old, (outer, inner)))
    axes.facts.assumed.append(f"|{old.key}| is a multiple of {count}")
    axes.apart([other for other in value.axes if other is not old], (outer, inner))
    split = values.merge_axes(value.node, [old], [outer, inner])
    dims = (*value.dims[:where], (inner,), *value.dims[where + 1 :])
    return tuple(AxisValue(index_node(split, outer, number(piece + 1)), dims) for piece in range(count))


def cut_at(axes: Axes, x: Any, ends: Any, axis: Any) -> tuple[AxisValue, ...]:
    """Split a tensor before each listed position, or into a given number of equal parts. Return the parts."""
    if not isinstance(ends, tuple):
        return chunks(axes, x, ends, axis)
    if not all(type(end) is int and end > 0 for end in ends) or [*ends] != sorted({*ends}):
        raise MisuseError("the positions of split are numbers above 0, in order")
    value = to_value(x)
    bounds = [None, *ends, None]
    where = positions(value, axis)
    return tuple(CodeIndices(axes).along(value, where, slice(*pair)) for pair in zip(bounds, bounds[1:]))


def split_lengths(axes: Axes, x: Any, lengths: Any, axis: Any) -> tuple[AxisValue, ...]:
    """Split a tensor into parts of the listed lengths, as PyTorch's `split` does, and return the parts."""
    if not isinstance(lengths, tuple) or not all(type(length) is int and length > 0 for length in lengths):
        raise MisuseError("PyTorch's split by one length has a number of pieces that depends on the size: use chunk")
    value = to_value(x)
    where = one_position(value, axis)
    axes.facts.pinned.append((only(value.dims[where]), sum(lengths)))
    axes.facts.assumed.append(f"|{only(value.dims[where]).key}| = {sum(lengths)}")
    return cut_at(axes, value, tuple(itertools.accumulate(lengths[:-1])), where)


operation("chunk", "x, chunks, dim=0", chunks, "torch")
operation("split", "x, indices_or_sections, axis=0", cut_at, "numpy")
operation("array_split", "x, indices_or_sections, axis=0", cut_at)
operation("tensor_split", "x, indices_or_sections, dim=0", cut_at)
operation("split", "x, split_size_or_sections|split_size, dim=0", split_lengths, "torch")


# ------------------------------------------------------------------------------------------------------- correlation
def correlate(axes: Axes, x: Any, weights: Any, mode: Any) -> AxisValue:
    """Translate np.correlate of two vectors with mode='valid'. The second vector must not be longer than the first."""
    signal, kernel = to_value(x), to_value(weights)
    if mode != "valid" or len(signal.dims) != 1 or len(kernel.dims) != 1:
        raise MisuseError("correlate of anything but two vectors, with mode='valid'")
    (over,) = axes_of(kernel.dims)
    slid = slide(axes, signal, 0, over)
    axes.apart(slid.axes, kernel.axes)
    return AxisValue(call("⊙", (kernel.node, slid.node), (over,)), slid.dims[:1])


operation("correlate", "a, v, mode='valid'", correlate)
