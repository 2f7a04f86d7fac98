"""Operations of array code that create, repeat or pad tensors, such as ranges, one-hot vectors, tile and pad.

Conversions to another dtype are defined here, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from . import values
from .axes import Axes, AxisVariable, Dim, axes_of
from .axis_operations import move, reduction
from .code_indices import CodeIndices, only, split_offset
from .operations import (
    DTYPES,
    Dtype,
    MisuseError,
    SizeArgument,
    is_condition,
    name_of_input,
    numeric,
    one_position,
    operation,
    to_value,
)
from .product_operations import concatenate, make_matrix_operation, square_axes
from .values import AxisValue, call, iota, number, plus


# --------------------------------------------------------------------------------------------------- sizes of new axes
def new_axis(axes: Axes, length: Any) -> AxisVariable:
    """Return a new axis. Its length is either a number, which the formula states, or the length of another axis."""
    if isinstance(length, SizeArgument) and len(length.dim) == 1:
        axis = axes.twin(length.dim[0])
        axes.facts.same.append((axis, length.dim[0]))
        return axis
    if not isinstance(length, int) or isinstance(length, bool) or length < 1:
        raise MisuseError("the length of a new axis is a number, or the length of one axis")
    axis = axes.new(size=length)
    axes.facts.stated.append((axis, length))
    return axis


def new_dims(axes: Axes, shape: Any) -> tuple[Dim, ...]:
    listed = shape if isinstance(shape, (tuple, list)) else (shape,)
    dims = tuple(() if type(length) is int and length == 1 else (new_axis(axes, length),) for length in listed)
    axes.apart(axes_of(dims))
    return dims


# ---------------------------------------------------------------------------------------------------------- constants
def make_filled(axes: Axes, shape: Any, value: Any) -> AxisValue:
    """Return a tensor along new axes, in which every element has the same value."""
    return constant(new_dims(axes, shape), to_value(value).node)


def constant(dims: Sequence[Dim], value: Node) -> AxisValue:
    over = axes_of(dims)
    if not over:
        return AxisValue(value, tuple(dims))
    node: Node = nodes.Subscript(nodes.Name("ones"), tuple(values.name(axis) for axis in over))
    return AxisValue(node if value == number(1) else call("⊙", (value, node)), tuple(dims))


def constant_of(x: AxisValue) -> Node | None:
    """Return the node for the common value of all elements, or None if the tensor is not filled with one value."""
    node, factor = x.node, number(1)
    if isinstance(node, nodes.Call) and node.operator == "⊙" and len(node.arguments) == 2 and not node.subscript:
        factor, node = node.arguments
    if isinstance(node, nodes.Subscript) and node.base == nodes.Name("ones"):
        return factor
    return None


def full_of(value: float) -> Callable[..., AxisValue]:
    def rule(axes: Axes, shape: Any, dtype: Any) -> AxisValue:
        whole = make_filled(axes, shape, value)
        return AxisValue(whole.node, whole.dims, truth=True) if dtype == Dtype("bool") and value else whole

    return rule


def like(axes: Axes, x: Any, value: Any, shape: Any) -> AxisValue:
    return constant(to_value(x).dims, to_value(value).node) if shape is None else make_filled(axes, shape, value)


operation("ones", "shape|size..., dtype=None", full_of(1))
operation("zeros", "shape|size..., dtype=None", full_of(0))
operation(
    "full", "shape|size, fill_value, dtype=None", lambda axes, shape, value, dtype: make_filled(axes, shape, value)
)
operation("ones_like", "x, dtype=None, *, shape=None", lambda axes, x, dtype, shape: like(axes, x, 1, shape))
operation("zeros_like", "x, dtype=None, *, shape=None", lambda axes, x, dtype, shape: like(axes, x, 0, shape))
operation(
    "full_like",
    "x, fill_value, dtype=None, *, shape=None",
    lambda axes, x, value, dtype, shape: like(axes, x, value, shape),
)


# ---------------------------------------------------------------------------------------------- ranges, identities
def length_of_range(start: Any, stop: Any, step: Any) -> int:
    if not all(type(end) in (int, float) for end in (start, stop, step)) or not step:
        raise MisuseError("a range between anything but numbers, or from 0 to a length")
    length = math.ceil((stop - start) / step)
    if length < 1:
        raise MisuseError("an empty range")
    return length


def arange(axes: Axes, start: Any, stop: Any, step: Any, dtype: Any) -> AxisValue:
    """Return start, start + step, … up to but not including stop. If `stop` is omitted, the range starts from 0."""
    start, stop = (0, start) if stop is None else (start, stop)
    if isinstance(stop, SizeArgument) and (start, step) == (0, 1):
        axis = new_axis(axes, stop)
    else:
        axis = new_axis(axes, length_of_range(start, stop, step))
    if step == 1:
        return AxisValue(plus(iota(axis), start - 1), ((axis,),))
    steps = call("⊙", (number(step), call("-", (iota(axis), number(1)))))
    return AxisValue(steps if not start else call("+", (number(start), steps)), ((axis,),))


def eye(axes: Axes, rows: Any, columns: Any, offset: Any = 0, dtype: Any = None) -> AxisValue:
    first = new_axis(axes, rows)
    second = new_axis(axes, rows if columns is None else columns)
    axes.apart((first, second))
    if dtype == Dtype("bool") or offset:
        holds = call("=", (iota(second), plus(iota(first), offset)))
        return AxisValue(holds if dtype == Dtype("bool") else nodes.Indicator(holds), ((first,), (second,)), truth=dtype == Dtype("bool"))  # fmt: skip
    return AxisValue(values.identity(first, second), ((first,), (second,)))


def diag(axes: Axes, x: Any, offset: Any) -> AxisValue:
    """Return a matrix with a vector as its diagonal or, given a matrix, return its diagonal."""
    return diag_embed(axes, x, offset) if len(to_value(x).dims) == 1 else diagonal(axes, x, offset, 0, 1)


def diag_embed(axes: Axes, x: Any, offset: Any) -> AxisValue:
    """Return matrices with the elements of a tensor's last dimension on the diagonal that `offset` selects."""
    value = to_value(x)
    axis = only(value.dims[-1])
    other = axes.twin(axis)
    axes.apart((*value.axes, other))
    matrix = AxisValue(call("diag", (value.node,), (axis, other)), (*value.dims, (other,)))
    widths = (max(-offset, 0), max(offset, 0)), (max(offset, 0), max(-offset, 0))
    return pad(axes, matrix, [(0, 0)] * (len(value.dims) - 1) + [*widths], 0) if offset else matrix


def cut_to_diagonal(axes: Axes, x: Any, offset: Any, first: Any, second: Any) -> AxisValue:
    """Cut two dimensions of a tensor so that the diagonal at `offset` becomes the main diagonal.

    The two dimensions become the last dimensions of the result, and have equal lengths.
    """
    value = move(axes, x, (first, second), (-2, -1))
    if type(offset) is not int:
        raise MisuseError("the offset of a diagonal is a number")
    sizes = [only(dim).kind.size for dim in value.dims[-2:]]
    starts, indices = (max(-offset, 0), max(offset, 0)), CodeIndices(axes)
    if None not in sizes and (offset or sizes[0] != sizes[1]):
        length = min((size or 0) - start for size, start in zip(sizes, starts))
        axes.facts.pinned += [(only(dim), size or 0) for dim, size in zip(value.dims[-2:], sizes)]
        cuts = [slice(start, start + length) for start in starts]
    else:
        cuts = [slice(start or None, -other or None) for start, other in zip(starts, starts[::-1])]
    return indices.index(value, [Ellipsis, *cuts])


def diagonal(axes: Axes, x: Any, offset: Any, axis1: Any, axis2: Any) -> AxisValue:
    value = cut_to_diagonal(axes, x, offset, axis1, axis2)
    first, second = square_axes(axes, value, "a diagonal")
    axes.apart(value.axes)
    return AxisValue(values.diagonal(value.node, first, second), (*value.dims[:-2], (first,)))


def trace(axes: Axes, x: Any, offset: Any, axis1: Any, axis2: Any, dtype: Any) -> AxisValue:
    return make_matrix_operation("trace", False)(axes, cut_to_diagonal(axes, x, offset, axis1, axis2))


operation("arange", "start, stop|end=None, step=1, dtype=None", arange)
operation("eye", "n|N, m|M=None, k=0, dtype=None", eye, "numpy")
operation("eye", "n, m=None, *, dtype=None", lambda axes, n, m, dtype: eye(axes, n, m, 0, dtype), "torch")
operation("identity", "n, dtype=None", lambda axes, n, dtype: eye(axes, n, None, 0, dtype))
operation("diag", "x, k|diagonal=0", diag)
operation("diag_embed", "x, offset=0, -dim1=-2, -dim2=-1", diag_embed)
operation("diagonal", "x, offset=0, axis1|dim1=0, axis2|dim2=1", diagonal)
operation("linalg.diagonal", "x, *, offset=0", lambda axes, x, offset: diagonal(axes, x, offset, -2, -1))
operation("trace", "x, offset=0, axis1=0, axis2=1, dtype=None, -out=None", trace)
operation(
    "linalg.trace", "x, *, offset=0, dtype=None", lambda axes, x, offset, dtype: trace(axes, x, offset, -2, -1, dtype)
)


def triangle(relation: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, offset: Any) -> AxisValue:
        """Keep the elements on and below (or above) a diagonal of the last two axes, and set all others to 0."""
        value = to_value(x)
        if len(value.dims) < 2 or any(len(dim) != 1 for dim in value.dims[-2:]) or not isinstance(offset, int):
            raise MisuseError("a triangle needs two axes, and a number for its diagonal")
        (row,), (column,) = value.dims[-2:]
        holds = call(relation, (iota(column), plus(iota(row), offset)))
        axes.apart(value.axes)
        known = constant_of(value)
        if is_condition(value):
            return AxisValue(holds if known == number(1) else call("∧", (holds, value.node)), value.dims, truth=True)
        if known == number(1):
            return AxisValue(nodes.Indicator(holds), value.dims)
        return AxisValue(nodes.Cases(((value.node if known is None else known, holds), (number(0), None))), value.dims)

    return rule


operation("tril", "x, k|diagonal=0", triangle("≤"))
operation("triu", "x, k|diagonal=0", triangle("≥"))


# ------------------------------------------------------------------------------------------------------------- one-hot
def one_hot(axes: Axes, x: Any, length: Any) -> AxisValue:
    index = to_value(x)
    axis = new_axis(axes, length)
    node, dims = CodeIndices(axes).tensor_index(axis, index)
    axes.apart((*index.axes, axis))
    return AxisValue(call("onehot", (node,), (axis,)), (*dims, (axis,)))


operation("one_hot", "x, num_classes", one_hot)


# ---------------------------------------------------------------------------------------------------------- conversions
def convert(axes: Axes, x: Any, dtype: Any) -> AxisValue:
    """Convert a value to a dtype, as x.astype(float) does.

    Raise MisuseError for the conversion of numbers to int or bool, except for indices, which are integers already.
    """
    if not isinstance(dtype, Dtype):
        raise MisuseError("only a type of numbers is supported here")
    if dtype.name == "float" or (is_condition(x) and dtype.name == "int"):
        return numeric(x)
    if is_condition(x):
        return x
    value = to_value(x)
    if dtype.name == "int" and name_of_input(axes, split_offset(value.node)[0]) in axes.facts.indices:
        return value
    raise MisuseError(f"a conversion to {dtype.name} rounds, and formulas are of real numbers")


operation("astype to type", "x, dtype", convert)
for name in ("float", "double", "half", "int", "long", "bool"):
    operation(name, "x", partial(convert, dtype=DTYPES[name]))


def repeat_elements(axes: Axes, x: AxisValue, counts: Sequence[Any], inner: bool = False) -> AxisValue:
    """Repeat each dimension as often as its count states. If `inner` is true, repeat element by element."""
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
    value, axis = values.flatten_axes(axes, to_value(x), axis)
    where = one_position(value, axis)
    counts = [count if slot == where else 1 for slot in range(len(value.dims))]
    return repeat_elements(axes, value, counts, inner=True)


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


def edge_of(axes: Axes, x: AxisValue, position: int, width: int, at_end: bool, mode: str) -> AxisValue:
    """Return the elements that a mode of np.pad adds at one end of a dimension.

    If the mode repeats a single element, return only this element.
    """

    def cut(start: Any, stop: Any) -> AxisValue:
        return CodeIndices(axes).along(x, [position], slice(start, stop))

    if mode in STATISTICS:
        return reduction(STATISTICS[mode])(axes, x, position, True)
    if mode == "edge":
        picked = CodeIndices(axes).along(x, [position], -1 if at_end else 0)
        return picked.moved((*x.dims[:position], (), *x.dims[position + 1 :]))
    if mode == "wrap":
        return cut(None, width) if at_end else cut(-width, None)
    if mode not in ("reflect", "symmetric"):
        raise MisuseError(f"mode={mode!r} of pad is not supported")
    skipped = int(mode == "reflect")
    near = cut(-width - skipped, -skipped or None) if at_end else cut(skipped, width + skipped)
    return CodeIndices(axes).along(near, [position], slice(None, None, -1))


STATISTICS = {"mean": "mean", "maximum": "max", "minimum": "min", "median": "median"}  # the modes that repeat one


def pad(axes: Axes, x: Any, widths: Sequence[tuple[int, int]], fill: Any, mode: str = "constant") -> AxisValue:
    value = to_value(x)
    if len(widths) != len(value.dims):
        raise MisuseError("a padding is a pair for each dimension")
    for position, pair in enumerate(widths):
        fills = fill if isinstance(fill, tuple) else (fill, fill)
        if any(type(width) is not int or width < 0 for width in pair):
            raise MisuseError("a padding that is not a number, or is negative")
        pieces = [value]
        for width, slot, filled in zip(pair, (0, len(pieces) + 1), fills):
            if width and mode != "constant":
                piece = edge_of(axes, value, position, width, slot > 0, mode)
                counts = [width if at == position and not piece.dims[at] else 1 for at in range(len(value.dims))]
                pieces.insert(slot, repeat_elements(axes, piece, counts))
            elif width:
                edge = new_axis(axes, width)
                axes.apart((*value.axes, edge))
                dims = [(edge,) if at == position else () for at in range(len(value.dims))]
                pieces.insert(slot, constant(dims, to_value(filled).node))
        value = concatenate(axes, tuple(pieces), position) if len(pieces) > 1 else value
    return value


def pad_numpy(axes: Axes, x: Any, width: Any, mode: Any, fill: Any) -> AxisValue:
    rank = len(to_value(x).dims)
    if isinstance(width, dict):
        pairs = {at % rank: pair if isinstance(pair, tuple) else (pair, pair) for at, pair in width.items()}
        width = tuple(pairs.get(at, (0, 0)) for at in range(rank))
    if not isinstance(width, tuple):
        widths = ((width, width),) * rank
    elif not any(isinstance(part, tuple) for part in width):
        widths = (width if len(width) == 2 else (*width, *width),) * rank
    else:
        widths = width * rank if len(width) == 1 else width
    return pad(axes, x, widths, fill, mode)


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
