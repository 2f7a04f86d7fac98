"""Windows along a dimension, and what pads it."""

from __future__ import annotations

from grammar import nodes

from .axes import Dim, axes_of
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


def windows(
    r: GraphReader, x: TracedTensor, dim: int, length: int, step: int, dilation: int, count: int
) -> tuple[TracedTensor, Dim]:
    """The windows along a dimension, of which there are `count`, and the axis within them."""
    if length == 1 and step == 1:
        return x, ()
    x = r.with_axis(x, dim)
    x, axis = r.views.joined(x, dim)
    base = r.views.base(axis)
    new, kernel = r.axes.new(size=count, hint=base), r.axes.new(size=length, hint=f"k{base}" if base.isalpha() else "k")
    whole = x.shape[dim]
    if step == dilation == 1:
        node = renamed(call("unroll", (x.node,), (axis, kernel)), [(axis, new)])
    elif step == length > 1 and dilation == 1 and whole == count * length:
        node = renamed(call("pool", (x.node,), (axis, kernel)), [(axis, new)])
    else:
        index, offset = times(step, iota(new)), 1 - step
        if length > 1:
            index, offset = call("+", (index, times(dilation, iota(kernel)))), offset - dilation
        node = nodes.Index(x.node, ((nodes.Axis(axis.key), plus(index, offset)),))
    rest = axes_of(without(x.dims, dim))
    r.axes.apart([*rest, axis], [*rest, new, kernel], [axis, kernel])
    if count == 1:
        node = nodes.Index(node, ((nodes.Axis(new.key), number(1)),))
    x = x.with_dim(dim, (new,) if count > 1 else (), count).with_node(node)
    return x, ((kernel,) if length > 1 else ())


@rule("unfold")
def unfold(r: GraphReader, a: OperationArguments) -> TracedTensor:
    x = a.tensor("self")
    dim, length, step = a["dimension"] % len(x.shape), a["size"], a["step"]
    count = a.result_shape()[dim]
    x, kernel = windows(r, x, dim, length, step, 1, count)
    return x.with_node(x.node, [*x.dims, kernel], a.result_shape())
