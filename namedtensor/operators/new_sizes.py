"""Infer the sizes of axes that operators create.

Each function accepts the arguments' shapes, the axes in the call, and the known sizes. A size may be a `SizeVariable`
from `namedtensor.core.sizes`. Only known sizes are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.axes import Shape, ShapeMismatchError
from ..core.size_conditions import assume_at_most, assume_divides
from ..core.sizes import is_ground, resolve, unify

Shapes = tuple[Shape, ...]
Sizes = Mapping[str, Any]


def size_in(shapes: Shapes, axis: str, argument: int = 0) -> Any:
    """Return the size of an argument's axis. Raise ShapeMismatchError if the argument lacks the axis."""
    if axis not in shapes[argument]:
        raise ShapeMismatchError("missing", axis, argument)
    return resolve(shapes[argument][axis])


def window(shapes: Shapes, axes: tuple[str, ...], sizes: Sizes) -> dict[str, Any]:
    """Return, by axis, the number of overlapping windows, n − |kernel| + 1, and the kernel size.

    Raise ShapeMismatchError if the kernel is empty or larger than n.
    """
    seq, kernel = axes
    whole, part = size_in(shapes, seq), resolve(sizes[kernel])
    if is_ground(whole) and is_ground(part) and not (assume_at_most(1, part) and assume_at_most(part, whole)):
        raise ShapeMismatchError("whole", seq, detail=f"{seq} is {whole}, shorter than the window {kernel}, {part}")
    return {seq: whole - part + 1, kernel: part}


def pool(shapes: Shapes, axes: tuple[str, ...], sizes: Sizes) -> dict[str, Any]:
    """Return, by axis, the number of adjacent windows, n / |kernel|, and the kernel size.

    Raise ShapeMismatchError if n is not a multiple of |kernel|.
    """
    seq, kernel = axes
    whole, part = size_in(shapes, seq), resolve(sizes[kernel])
    if is_ground(whole) and is_ground(part) and not (assume_at_most(1, part) and assume_divides(part, whole)):
        raise ShapeMismatchError(
            "whole", seq, detail=f"axis {seq} has size {whole}, not a multiple of the window size {part}"
        )
    return {seq: resolve(whole) // resolve(part), kernel: part}


def ranks(shapes: Shapes, axes: tuple[str, ...], sizes: Sizes) -> dict[str, Any]:
    """Return the size n of an axis and the size k of the axis for its k largest elements.

    Raise ShapeMismatchError if k is larger than n.
    """
    axis, rank = axes
    whole, part = size_in(shapes, axis), resolve(sizes[rank])
    if is_ground(whole) and is_ground(part) and not (assume_at_most(0, part) and assume_at_most(part, whole)):
        raise ShapeMismatchError(
            "other", rank, detail=f"{axis} has {whole} elements, fewer than {rank}, which is {part}"
        )
    return {axis: whole, rank: part}


def read_stated_sizes(shapes: Shapes, axes: tuple[str, ...], sizes: Sizes) -> dict[str, Any]:
    """Return the sizes of the axes, which the user must specify."""
    return {axis: resolve(sizes[axis]) for axis in axes}


def concatenate_sizes(shapes: Shapes, axes: tuple[str, ...], sizes: Sizes) -> dict[str, Any]:
    """Return the size of a concatenation, which is the sum of the operands' sizes."""
    (axis,) = axes
    whole = size_in(shapes, axis)
    for index in range(1, len(shapes)):
        whole = whole + size_in(shapes, axis, index)
    return {axis: whole}


def count_arguments(shapes: Shapes, axes: tuple[str, ...], sizes: Sizes) -> dict[str, Any]:
    """Return the size of a new axis with one element per argument."""
    (axis,) = axes
    return {axis: len(shapes)}


def square(shapes: Shapes, axes: tuple[str, ...], sizes: Sizes) -> dict[str, Any]:
    """Return the size of a square matrix, for both axes. Raise ShapeMismatchError if the two sizes differ."""
    rows, columns = (size_in(shapes, axis) for axis in axes)
    if not unify(rows, columns):
        message = f"expected a square matrix, but {axes[0]} is {rows} where {axes[1]} is {columns}"
        raise ShapeMismatchError("other", axes[0], detail=message)
    return {axis: resolve(rows) for axis in axes}
