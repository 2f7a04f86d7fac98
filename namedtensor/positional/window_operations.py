"""Window operations of array code: sliding windows, pieces and correlations."""

from __future__ import annotations

import itertools
from typing import Any

from . import values
from .axes import Axes, AxisVariable, axes_of
from .code_indices import CodeIndices, only
from .creation_operations import new_axis
from .operations import MisuseError, SizeArgument, operation, positions, to_value
from .values import AxisValue, call, index_node, number, plus, rename_axes


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
    (where,) = positions(value, 0 if axis is None else axis)
    return slide(axes, value, where, new_axis(axes, window_shape))


def unfold(axes: Axes, x: Any, dimension: Any, size: Any, step: Any) -> AxisValue:
    value = to_value(x)
    (where,) = positions(value, dimension)
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


operation(
    "sliding_window_view",
    "x, window_shape, axis=None",
    sliding_windows,
)
operation("unfold", "x, dimension, size, step", unfold, "torch")


# -------------------------------------------------------------------------------------------------------------- chunks
def chunks(axes: Axes, x: Any, count: Any, axis: Any) -> tuple[AxisValue, ...]:
    """Split a dimension into `count` equal pieces, and return them."""
    value = to_value(x)
    (where,) = positions(value, axis)
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
    """Cut a dimension before each listed position or, given a number, into as many equal pieces. Return the pieces."""
    if not isinstance(ends, tuple):
        return chunks(axes, x, ends, axis)
    if not all(type(end) is int and end > 0 for end in ends) or [*ends] != sorted({*ends}):
        raise MisuseError("the positions of split are numbers above 0, in order")
    value = to_value(x)
    bounds = [None, *ends, None]
    where = positions(value, axis)
    return tuple(CodeIndices(axes).along(value, where, slice(*pair)) for pair in zip(bounds, bounds[1:]))


def split_lengths(axes: Axes, x: Any, lengths: Any, axis: Any) -> tuple[AxisValue, ...]:
    """Split a dimension into pieces of the listed lengths, as PyTorch's `split` does, and return them."""
    if not isinstance(lengths, tuple) or not all(type(length) is int and length > 0 for length in lengths):
        raise MisuseError("PyTorch's split by one length has a number of pieces that depends on the size: use chunk")
    value = to_value(x)
    (where,) = positions(value, axis)
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
