"""The largest elements along a dimension, and their numbers."""

from __future__ import annotations

from grammar import nodes

from .axes import axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import apply, numeric
from .torch_rules import rule
from .torch_tensors import TracedTensor
from .values import call, iota, number, plus


@rule("topk")
def topk(r: GraphReader, a: OperationArguments) -> tuple[TracedTensor, TracedTensor]:
    a.skip("sorted")  # in the notation the largest is the first
    x = a.tensor("self")
    return extremes(r, x, a["dim"] % len(x.shape), a["k"], bool(a["largest"]))


def extremes(r: GraphReader, x: TracedTensor, dim: int, count: int, largest: bool) -> tuple[TracedTensor, TracedTensor]:
    """The largest or smallest elements along a dimension, in order, and their numbers from 0."""
    x = numeric(x) if largest else apply(r, "negative", numeric(x))
    x = r.shared(r.with_axis(x, dim))
    values = selected(r, x.used(r.axes), dim, "maxk", count)
    if not largest:
        values = apply(r, "negative", values)
    return values, selected(r, x.used(r.axes), dim, "argmaxk", count)


def selected(r: GraphReader, x: TracedTensor, dim: int, operator: str, count: int) -> TracedTensor:
    x, axis = r.views.joined(x, dim)
    rank = r.axes.new(size=count, hint="rank")
    r.axes.apart([*axes_of(x.dims), rank])
    node = call(operator, (x.node,), (axis, rank))
    if operator == "argmaxk":
        node = call("⊙", (node, plus(iota(axis), -1)), (axis,))
    if count == 1:
        node = nodes.Index(node, ((nodes.Axis(rank.key), number(1)),))
    return x.with_dim(dim, (rank,) if count > 1 else (), count).with_node(node)
