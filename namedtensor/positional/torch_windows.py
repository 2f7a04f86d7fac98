"""Windows along a dimension, and what pads it."""

from __future__ import annotations

from grammar import nodes

from .axes import axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import numeric
from .torch_rules import rule
from .torch_shapes import joined, without
from .torch_tensors import TracedTensor
from .values import call, iota, number, ones, plus, renamed, times


@rule("constant_pad_nd")
def pad(r: GraphReader, a: OperationArguments) -> TracedTensor:
    x, widths, value = numeric(a.tensor("self")), a["pad"], a.get("value") or 0
    for count in range(len(widths) // 2):
        before, after = widths[2 * count], widths[2 * count + 1]
        x = padded(r, x, len(x.shape) - 1 - count, before, after, value)
    return x


def padded(r: GraphReader, x: TracedTensor, dim: int, before: int, after: int, value: float) -> TracedTensor:
    """`value` before and after along a dimension; negative widths cut."""
    if before < 0 or after < 0:
        x = r.cut(x, dim, max(-before, 0), x.shape[dim] + min(before, 0) + min(after, 0))
        before, after = max(before, 0), max(after, 0)
    pieces = [constant_like(r, x, dim, before, value), x, constant_like(r, x, dim, after, value)]
    pieces = [piece for piece in pieces if piece is not None]
    return joined(r, pieces, dim) if len(pieces) > 1 else x


def constant_like(r: GraphReader, x: TracedTensor, dim: int, length: int, value: float) -> TracedTensor | None:
    """A constant, of a length along `dim`."""
    if not length:
        return None
    new = r.axes.new(size=length, hint="edge")
    node = times(value, ones(new))
    r.axes.apart([*axes_of(x.dims), new])
    return TracedTensor(node, ((),) * len(x.dims), shape=x.shape).with_dim(dim, (new,), length)


@rule("unfold")
def unfold(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """Read the windows along a dimension; the last dimension is within them."""
    x, length, step = a.tensor("self"), a["size"], a["step"]
    dim, shape = a["dimension"] % len(x.shape), a.result_shape()
    count, rest = shape[dim], axes_of(without(x.dims, dim))
    if length == step == 1:
        return x.with_node(x.node, [*x.dims, ()], shape)
    x, axis = r.views.joined(r.with_axis(x, dim), dim)
    base = r.views.base(axis)
    new, kernel = r.axes.new(size=count, hint=base), r.axes.new(size=length, hint=f"k{base}" if base.isalpha() else "k")
    if step == 1:
        node = renamed(call("unroll", (x.node,), (axis, kernel)), [(axis, new)])
    elif step == length and x.shape[dim] == count * length:
        node = renamed(call("pool", (x.node,), (axis, kernel)), [(axis, new)])
    else:
        index, offset = times(step, iota(new)), 1 - step
        if length > 1:
            index, offset = call("+", (index, iota(kernel))), offset - 1
        node = nodes.Index(x.node, ((nodes.Axis(axis.key), plus(index, offset)),))
    r.axes.apart([*rest, axis], [*rest, new, kernel], [axis, kernel])
    if count == 1:
        node = nodes.Index(node, ((nodes.Axis(new.key), number(1)),))
    x = x.with_dim(dim, (new,) if count > 1 else (), count)
    return x.with_node(node, [*x.dims, (kernel,) if length > 1 else ()], shape)
