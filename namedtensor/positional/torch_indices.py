"""Translation of indexing, and of operations that return the largest elements with their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from .axes import axes_of
from .torch_graph import GraphReader
from .torch_operations import apply, broadcast, numeric
from .torch_tensors import TracedTensor
from .torch_trace import UnreadableModuleError, rule
from .values import align_values, call, iota, number, plus


def count_from_one(node: Node, length: int = 0) -> Node:
    """Return an index counted from 1, given an index counted from 0 or, if negative, from the end."""
    if isinstance(node, nodes.Call) and node.operator == "negative" and isinstance(node.arguments[0], nodes.Number):
        return number(length - node.arguments[0].value + 1)
    return plus(node, 1)


@rule("embedding", skip="padding_idx scale_grad_by_freq sparse")  # they affect only the gradient
def embedding(r: GraphReader, weight: TracedTensor, indices: TracedTensor) -> TracedTensor:
    return look_up(r, weight, 0, indices)


def look_up(r: GraphReader, x: TracedTensor, dim: int, index: TracedTensor) -> TracedTensor:
    """Select elements of x along a dimension by a tensor of indices, whose dimensions replace this dimension."""
    if not x.dims[dim]:
        dims = [*x.dims[:dim], *[()] * len(index.shape), *x.dims[dim + 1 :]]
        return x.moved(dims, [*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]])
    r.bounded(index.node, x.shape[dim])
    x, _ = r.views.joined(x, dim)
    r.axes.apart(x.axes, index.axes)
    return r.views.indexed(x, dim, count_from_one(index.node, x.shape[dim]), index.dims, index.shape)


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
    dims = [*(x.dims[dim] for dim in rest), (row,)]
    return x.with_node(node, dims, [*(x.shape[dim] for dim in rest), x.shape[one]])


@rule("index_select")
def index_select(r: GraphReader, self: TracedTensor, dim: int, index: TracedTensor) -> TracedTensor:
    return look_up(r, self, dim % len(self.shape), index)


@rule("index", "_unsafe_index")
def elements(r: GraphReader, self: TracedTensor, indices: Sequence[Any]) -> TracedTensor:
    x = self
    indexed = [dim for dim, index in enumerate(indices) if index is not None]
    if any(index is not None and index.truth for index in indices):
        raise UnreadableModuleError(
            "the shape of a tensor indexed by a condition depends on values of tensors", hint="use where"
        )
    if len(indexed) == 1:
        return look_up(r, x, indexed[0], indices[indexed[0]])
    if indexed != list(range(indexed[0], indexed[-1] + 1)):
        raise UnreadableModuleError("aten.index at dimensions that are not side by side")
    chosen = [indices[dim] for dim in indexed]
    dims = align_values(r.axes, *chosen)
    items = []
    for dim, index in zip(indexed, chosen):
        if x.dims[dim]:
            x, axis = r.views.joined(x, dim)
            items.append((nodes.Axis(axis.key), count_from_one(index.node, x.shape[dim])))
    first, last = indexed[0], indexed[-1]
    result = [*x.dims[:first], *dims, *x.dims[last + 1 :]]
    shape = [*x.shape[:first], *broadcast([index.shape for index in chosen]), *x.shape[last + 1 :]]
    r.axes.apart([*axes_of(result), *axes_of(x.dims[dim] for dim in indexed)])
    return x.with_node(nodes.Index(x.node, tuple(items)), result, shape)


@rule("gather", skip="sparse_grad")
def gather(r: GraphReader, self: TracedTensor, dim: int, index: TracedTensor) -> TracedTensor:
    x, chosen = self, index
    dim %= len(x.shape)
    if any(one != two for at, (one, two) in enumerate(zip(x.shape, chosen.shape)) if at != dim):
        raise UnreadableModuleError("aten.gather with an index that is shorter than the tensor")
    others = [tensor.with_dim(dim, (), 1) for tensor in (x, chosen)]
    dims = list(align_values(r.axes, *others))
    dims[dim] = chosen.dims[dim]
    if not x.dims[dim]:  # it repeats, or has one element
        return x.with_node(x.node, [*dims[:dim], (), *dims[dim + 1 :]], chosen.shape)
    x, axis = r.views.joined(x, dim)
    node = nodes.Index(x.node, ((nodes.Axis(axis.key), count_from_one(chosen.node)),))
    r.axes.apart([*axes_of(dims), axis])
    return x.with_node(node, dims, chosen.shape)


# ---------------------------------------------------------------------------------------------------------- the largest
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
    return x.with_dim(dim, (rank,) if count > 1 else (), count).with_node(node)
