"""ATen operations that change, pad, create or index dimensions, and that select the largest elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from .axes import axes_of
from .torch_graph import GraphReader
from .torch_operations import apply, from_table, numeric, to_tensor
from .torch_records import varies
from .torch_replacements import mask_name
from .torch_tensors import TracedTensor
from .torch_trace import UnreadableModuleError, rule
from .values import align_values, call, iota, number, plus, times


@rule("view", "_unsafe_view", "_reshape_alias", "squeeze", skip="size stride dim", moves=True)
def view(r: GraphReader, self: TracedTensor) -> TracedTensor:
    return r.views.regroup_dimensions(self, r.shapes_now[0])


@rule("expand", skip="size implicit", moves=True)
def expand(r: GraphReader, self: TracedTensor) -> TracedTensor:
    return self.repeat_dimensions(r.shapes_now[0])


@rule("select")
def select(r: GraphReader, self: TracedTensor, dim: int, index: int) -> TracedTensor:
    return r.views.picked(self, dim % len(self.shape), index)


@rule("slice", skip="end", moves=True)
def slice_(r: GraphReader, self: TracedTensor, dim: int, start: int | None, step: int) -> TracedTensor:
    x, start = self, start or 0
    dim %= len(x.shape)
    length = r.shapes_now[0][dim]
    if length == x.shape[dim]:
        return x
    if step > 1 and length * step == x.shape[dim] and start < step and not varies(length) and is_divisible(r, x, dim):
        split = r.views.regroup_dimensions(x, [*x.shape[:dim], length, step, *x.shape[dim + 1 :]])
        return r.views.picked(split.used(r.axes), dim + 1, start)
    return r.views.slice_dimension(x.used(r.axes), dim, start + x.shape[dim] if start < 0 else start, length, step)


def is_divisible(r: GraphReader, x: TracedTensor, dim: int) -> bool:
    """Return whether the axis along a dimension can be split because it has no name or is already split."""
    inside = r.axes.expand_axes(x.dims[dim])
    return len(inside) != 1 or r.views.is_divisible(inside[0])


@rule("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", skip="split_size split_sizes", moves=True)
def split(r: GraphReader, self: TracedTensor, dim: int) -> tuple[TracedTensor | None, ...]:
    """Split a dimension into parts.

    If the parts are equal and the axis has no name, the axis is split into a `part` axis and an axis within each part.
    Each result is then indexed along `part`.
    """
    x, dim = self, dim % len(self.shape)
    lengths = [shape[dim] for shape in r.shapes_now]
    count, length = len(lengths), lengths[0]
    whole = r.axes.expand_axes(x.dims[dim])
    is_free = len(whole) == 1 and r.views.is_divisible(whole[0]) and count > 1 and not varies(length)
    if len(set(lengths)) == 1 and (is_free or len(whole) > 1 and r.views.size(whole[0]) == count):
        if is_free:
            r.views.cut(x, whole[0], (count, length), ("part", r.views.base(whole[0])))
        x = r.shared(r.views.regroup_dimensions(x, [*x.shape[:dim], count, length, *x.shape[dim + 1 :]]))
        return tuple(r.views.picked(x.used(r.axes), dim, part) for part in range(count))
    x = r.shared(x)
    starts = [sum(lengths[:part]) for part in range(count)]
    return tuple(r.views.slice_dimension(x.used(r.axes), dim, start, length) for start, length in zip(starts, lengths))


@rule("cat")
def cat(r: GraphReader, tensors: Sequence[TracedTensor], dim: int) -> TracedTensor:
    first, dim = tensors[0].shape, dim % len(tensors[0].shape)
    parts = [r.with_one_axis(numeric(tensor), dim) for tensor in tensors]
    total = sum(tensor.shape[dim] for tensor in tensors)
    hint = next((r.views.base(part.dims[dim][0]) for part in parts if part.dims[dim]), "ax")
    return from_table(r, "concatenate", hint, (*first[:dim], total, *first[dim + 1 :]), parts, dim)


@rule("stack")
def stack(r: GraphReader, tensors: Sequence[TracedTensor], dim: int) -> TracedTensor:
    first, dim = tensors[0].shape, dim % (len(tensors[0].shape) + 1)
    alike = len({tuple(map(bool, tensor.dims)) for tensor in tensors}) == 1
    parts = tensors if alike else [*map(r.with_axes, tensors)]
    return from_table(r, "stack", "item", (*first[:dim], len(tensors), *first[dim:]), parts, dim)


@rule("repeat")
def repeat(r: GraphReader, self: TracedTensor, repeats: Sequence[int]) -> TracedTensor:
    """Translate Tensor.repeat. A repeated dimension gets a new axis before its own axis, unless its size is 1."""
    x = r.with_axes(self.repeat_dimensions([*[1] * (len(repeats) - len(self.shape)), *self.shape]))
    counts = tuple(count if dim else 1 for count, dim in zip(repeats, x.dims))
    return from_table(r, "repeat", "copy", r.shapes_now[0], x, counts)


@rule("slice_scatter", skip="end")
def slice_scatter(
    r: GraphReader, self: TracedTensor, src: TracedTensor, dim: int, step: int, start: int | None = None
) -> TracedTensor:
    x, source, dim, start = numeric(self), numeric(src), dim % len(self.shape), start or 0
    length = source.shape[dim]
    if length == x.shape[dim]:
        return source
    if source.dims[dim]:
        raise UnreadableModuleError("an assignment of several elements to a slice")
    if step != 1:
        raise UnreadableModuleError("an assignment to a slice with steps")
    if varies(start) or start < 0:
        raise UnreadableModuleError("an assignment to elements counted from the end of a free axis")
    x, axis = r.views.joined(r.with_axis(x, dim), dim)
    bounds = [call("≥", (iota(axis), number(start + 1)))] if start else []
    if start + length < x.shape[dim]:
        bounds.append(call("≤", (iota(axis), number(start + length))))
    if length == 1:
        bounds = [call("=", (iota(axis), number(start + 1)))]
    truth = bounds[0] if len(bounds) == 1 else call("∧", bounds)
    source = source.with_dim(dim, ())
    dims = align_values(r.axes, x, source)
    return x.with_node(nodes.Cases(((source.node, truth), (x.node, None))), dims)


# ------------------------------------------------------------------------------------------------------ windows and padding
@rule("constant_pad_nd")
def pad_constant(r: GraphReader, self: TracedTensor, pad: Sequence[int], value: float = 0) -> TracedTensor:
    """Translate a constant padding. A negative width crops the tensor."""
    x = numeric(self)
    for back, (before, after) in enumerate(zip(pad[::2], pad[1::2]), 1):
        dim = len(x.shape) - back
        if before < 0 or after < 0:
            x = r.views.slice_dimension(x, dim, max(-before, 0), x.shape[dim] + min(before, 0) + min(after, 0))
        x = r.with_one_axis(x, dim) if before > 0 or after > 0 else x
    return from_table(r, "pad", "edge", r.shapes_now[0], x, tuple(max(width, 0) for width in pad), "constant", value)


@rule("unfold")
def unfold(r: GraphReader, self: TracedTensor, dimension: int, size: int, step: int) -> TracedTensor:
    """Translate `unfold`, which returns the windows along a dimension. The last dimension contains their elements."""
    dim = dimension % len(self.shape)
    if size == 1 < step:
        cut = r.views.slice_dimension(self, dim, 0, r.shapes_now[0][dim], step)
        return cut.moved((*cut.dims, ()))
    x = r.with_one_axis(self, dim)
    base = r.views.base(x.dims[dim][0]) if x.dims[dim] else ""
    return from_table(r, "unfold", f"k{base if base.isalpha() else ''}", r.shapes_now[0], x, dim, size, step)


# --------------------------------------------------------------------------------------------------------- numbers only
@rule("arange", skip="end")
def arange(r: GraphReader, start: float = 0, step: float = 1) -> TracedTensor:
    (length,) = r.shapes_now[0]
    axis = r.axes.new(size=length, hint="position")
    return TracedTensor(plus(times(step, iota(axis)), start - step), ((axis,),))


@rule("copy", "full", "scalar_tensor", skip="self size")
def full(r: GraphReader, fill_value: Any) -> TracedTensor:
    return to_tensor(fill_value).repeat_dimensions(r.shapes_now[0])


@rule("mask", skip="like p")
def mask(r: GraphReader, number: int) -> TracedTensor:
    """Translate a dropout mask as an input."""
    return r.leaf("mask", mask_name(number), r.runs.tensors[r.step_now.results[0].index])


@rule("empty", "empty_like", "new_empty", skip="self size")
def empty(r: GraphReader) -> tuple[TracedTensor | None, ...]:
    """Return None for an uninitialized tensor, which a later operation fills."""
    return (None,)


def count_from_one(node: Node, length: int = 0) -> Node:
    """Return an index counted from 1, given an index counted from 0 or, if negative, from the end."""
    if isinstance(node, nodes.Call) and node.operator == "negative" and isinstance(node.arguments[0], nodes.Number):
        return number(length - node.arguments[0].value + 1)
    return plus(node, 1)


@rule("embedding", skip="padding_idx scale_grad_by_freq sparse")  # they affect only the gradient
def embedding(r: GraphReader, weight: TracedTensor, indices: TracedTensor) -> TracedTensor:
    return look_up(r, weight, 0, [indices])


def look_up(r: GraphReader, x: TracedTensor, first: int, indices: Sequence[TracedTensor]) -> TracedTensor:
    """Index adjacent dimensions of x, beginning with `first`, with one index tensor for each dimension.

    The index tensors are broadcast, and their dimensions replace the indexed dimensions.
    """
    end = first + len(indices)
    aligned = align_values(r.axes, *indices)
    used = {axis.root for index, axes in zip(indices, x.dims[first:end]) if axes for axis in index.axes}
    dims = [dim if {axis.root for axis in dim} <= used else () for dim in aligned]
    items: list[tuple[nodes.Axis, Node]] = []
    for dim, index in enumerate(indices, first):
        if x.dims[dim]:
            r.bounded(index.node, x.shape[dim])
            x, axis = r.views.joined(x, dim)
            items.append((nodes.Axis(axis.key), count_from_one(index.node, x.shape[dim])))
    rest, indexed = axes_of([*x.dims[:first], *x.dims[end:]]), axes_of(x.dims[first:end])
    r.axes.apart([*rest, *indexed], [*rest, *axes_of(dims)])
    node = nodes.Index(x.node, tuple(items)) if items else x.node
    return x.with_node(node, [*x.dims[:first], *dims, *x.dims[end:]])


@rule("diagonal")
def diagonal(r: GraphReader, self: TracedTensor, offset: int, dim1: int, dim2: int) -> TracedTensor:
    x, rank = self, len(self.shape)
    one, two = dim1 % rank, dim2 % rank
    if offset != 0 or x.shape[one] != x.shape[two] or not (x.dims[one] and x.dims[two]):
        raise UnreadableModuleError("aten.diagonal beside the diagonal, or of a tensor that is not square")
    x, row = r.views.joined(x, one)
    x, column = r.views.joined(x, two)
    rest = [dim for dim in range(rank) if dim not in (one, two)]
    node = nodes.Index(x.node, ((nodes.Axis(column.key), iota(row)),))
    return x.with_node(node, [*(x.dims[dim] for dim in rest), (row,)])


@rule("index", "_unsafe_index")
def elements(r: GraphReader, self: TracedTensor, indices: Sequence[Any]) -> TracedTensor:
    indexed = [dim for dim, index in enumerate(indices) if index is not None]
    if any(index is not None and index.truth for index in indices):
        raise UnreadableModuleError(
            "the shape of a tensor indexed by a condition depends on values of tensors", hint="use where"
        )
    if indexed != list(range(indexed[0], indexed[-1] + 1)):
        raise UnreadableModuleError("aten.index at dimensions that are not side by side")
    return look_up(r, self, indexed[0], [indices[dim] for dim in indexed])


@rule("gather", skip="sparse_grad")
def gather(r: GraphReader, self: TracedTensor, dim: int, index: TracedTensor) -> TracedTensor:
    x, chosen = self, index
    dim %= len(x.shape)
    if any(one != two for at, (one, two) in enumerate(zip(x.shape, chosen.shape)) if at != dim):
        raise UnreadableModuleError("aten.gather with an index that is shorter than the tensor")
    others = [tensor.with_dim(dim, ()) for tensor in (x, chosen)]
    dims = list(align_values(r.axes, *others))
    dims[dim] = chosen.dims[dim]
    if not x.dims[dim]:  # a repeated dimension, or one with a single element
        return x.with_node(x.node, [*dims[:dim], (), *dims[dim + 1 :]])
    x, axis = r.views.joined(x, dim)
    node = nodes.Index(x.node, ((nodes.Axis(axis.key), count_from_one(chosen.node)),))
    r.axes.apart([*axes_of(dims), axis])
    return x.with_node(node, dims)


# ----------------------------------------------------------------------------------------------------- largest elements
@rule("topk", skip="sorted")  # the notation always sorts the largest first
def topk(r: GraphReader, self: TracedTensor, k: int, dim: int, largest: bool) -> tuple[TracedTensor, TracedTensor]:
    """Return the k largest elements in descending order, or the k smallest elements in ascending order.

    The second result contains their positions, counted from 0.
    """
    dim %= len(self.shape)
    x = numeric(self) if largest else apply(r, "negative", numeric(self))
    x = r.shared(r.with_axis(x, dim))
    values = select_extremes(r, x.used(r.axes), dim, "maxk", k)
    if not largest:
        values = apply(r, "negative", values)
    return values, select_extremes(r, x.used(r.axes), dim, "argmaxk", k)


def select_extremes(r: GraphReader, x: TracedTensor, dim: int, operator: str, count: int) -> TracedTensor:
    x, axis = r.views.joined(x, dim)
    rank = r.axes.new(size=count, hint="rank")
    r.axes.apart([*axes_of(x.dims), rank])
    node = call(operator, (x.node,), (axis, rank))
    if operator == "argmaxk":
        node = call("⊙", (node, plus(iota(axis), -1)), (axis,))
    if count == 1:
        node = nodes.Index(node, ((nodes.Axis(rank.key), number(1)),))
    return x.with_dim(dim, (rank,) if count > 1 else ()).with_node(node)
