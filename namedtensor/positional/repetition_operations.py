"""Operations of array code that repeat or pad: tile, repeat, broadcast_to, pad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import values
from .axes import Axes, axes_of
from .creation_operations import constant, make_filled, new_axis
from .operations import MisuseError, SizeArgument, operation, to_value
from .product_operations import concatenate
from .values import AxisValue, call


def repeat_elements(axes: Axes, x: AxisValue, counts: Sequence[Any], inner: bool = False) -> AxisValue:
    """Repeat each dimension by its count, as a whole or, if `inner` is true, element by element."""
    node, dims = x.node, list(x.dims)
    for position, count in enumerate(counts):
        if type(count) is not int or count < 1:
            raise MisuseError("the number of repetitions is a number above 0")
        if count > 1:
            new = new_axis(axes, count)
            node = call("⊙", (node, values.ones(new)))
            dims[position] = (*dims[position], new) if inner else (new, *dims[position])
    axes.apart(axes_of(dims))
    return AxisValue(node, tuple(dims))


def tile(axes: Axes, x: Any, counts: Any) -> AxisValue:
    """Repeat a whole array along each dimension.

    The counts are aligned with the last dimensions. If there are more counts than dimensions, dimensions of size 1 are
    added on the left.
    """
    value = to_value(x)
    listed = counts if isinstance(counts, tuple) else (counts,)
    rank = max(len(value.dims), len(listed))
    whole = value.moved((*[()] * (rank - len(value.dims)), *value.dims))
    return repeat_elements(axes, whole, (*[1] * (rank - len(listed)), *listed))


def tile_torch(axes: Axes, x: Any, counts: Any) -> AxisValue:
    if len(counts) < len(to_value(x).dims):
        raise MisuseError("repeat needs a number for each dimension")
    return tile(axes, x, counts)


def repeat(axes: Axes, x: Any, count: Any, axis: Any) -> AxisValue:
    """Repeat each element along one dimension."""
    value = to_value(x)
    rank = len(value.dims)
    if axis is None and rank != 1:
        raise MisuseError("repeat without an axis flattens its operand")
    if axis is not None and (type(axis) is not int or not -rank <= axis < rank):
        raise MisuseError(f"axis {axis} is out of range for {rank} axes")
    return repeat_elements(
        axes, value, [count if slot == (axis or 0) % rank else 1 for slot in range(rank)], inner=True
    )


def broadcast_to(axes: Axes, x: Any, shape: Any) -> AxisValue:
    """Broadcast a tensor to a shape. A dimension keeps its length if the length in the shape is -1."""
    value = to_value(x)
    listed = shape if isinstance(shape, tuple) else (shape,)
    missing = len(listed) - len(value.dims)
    if missing < 0:
        raise MisuseError("a shape of fewer dimensions than the tensor")
    present = (*[-1] * missing, *(SizeArgument(dim) if dim else 1 for dim in value.dims))
    lengths = [size if length == -1 else length for length, size in zip(listed, present, strict=True)]
    return values.elementwise(axes, "⊙", value, make_filled(axes, tuple(lengths), 1))


def pad(axes: Axes, x: Any, widths: Sequence[tuple[int, int]], fill: Any) -> AxisValue:
    value = to_value(x)
    if len(widths) != len(value.dims):
        raise MisuseError("a padding is a pair for each dimension")
    for position, pair in enumerate(widths):
        if any(type(width) is not int or width < 0 for width in pair):
            raise MisuseError("a padding that is not a number, or is negative")
        pieces = [value]
        for width, slot in zip(pair, (0, len(pieces) + 1)):
            if width:
                edge = new_axis(axes, width)
                axes.apart((*value.axes, edge))
                dims = [(edge,) if at == position else () for at in range(len(value.dims))]
                pieces.insert(slot, constant(dims, to_value(fill).node))
        value = concatenate(axes, tuple(pieces), position) if len(pieces) > 1 else value
    return value


def pad_numpy(axes: Axes, x: Any, width: Any, mode: Any, fill: Any) -> AxisValue:
    if mode != "constant":
        raise MisuseError(f"mode={mode!r} of pad is not supported")
    rank = len(to_value(x).dims)
    if not isinstance(width, tuple):
        widths = ((width, width),) * rank
    elif not any(isinstance(part, tuple) for part in width):
        widths = (width if len(width) == 2 else (*width, *width),) * rank
    else:
        widths = width * rank if len(width) == 1 else width
    return pad(axes, x, widths, fill)


def pad_torch(axes: Axes, x: Any, width: Any, mode: Any, fill: Any) -> AxisValue:
    """Translate F.pad, whose widths are pairs for each dimension, beginning with the last dimension."""
    if mode != "constant" or not isinstance(width, tuple) or len(width) % 2:
        raise MisuseError("a padding is a pair for each dimension from the last, and constant")
    pairs = [*zip(width[::2], width[1::2])]
    rank = len(to_value(x).dims)
    return pad(axes, x, [(0, 0)] * (rank - len(pairs)) + pairs[::-1], 0 if fill is None else fill)


operation("tile", "x, reps", tile, "numpy")
operation("tile", "x, dims...", tile, "torch")
operation("repeat", "x, repeats, axis=None", repeat, "numpy")
operation("repeat", "x, repeats...", tile_torch, "torch")
operation("repeat_interleave", "x, repeats, dim=None", repeat)
operation("broadcast_to", "x, shape|size", broadcast_to)
operation("expand", "x, size...", broadcast_to, "torch")
operation("pad", "x, pad_width, mode='constant', constant_values=0", pad_numpy, "numpy")
operation("pad", "x, pad, mode='constant', value=None", pad_torch, "torch")
