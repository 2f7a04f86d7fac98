"""Windows along a dimension, and what pads it."""

from __future__ import annotations

from grammar import nodes

from .axes import Dim, axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import numeric
from .torch_rules import rule
from .torch_shapes import joined, without
from .torch_tensors import TracedTensor
from .torch_trace import UnreadableModule
from .values import call, iota, number, ones, plus, renamed, size, times


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


@rule(*(f"{kind}_pad{rank}d" for kind in ("reflection", "replication") for rank in (1, 2, 3)))
def edge_pad(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """Elements of the tensor beyond its edges: mirrored, or those at the edge again."""
    x, widths, shape = numeric(a.tensor("self")), a["padding"], a.result_shape()
    for count in range(len(widths) // 2):
        dim = len(x.shape) - 1 - count
        before, after = widths[2 * count], widths[2 * count + 1]
        if before < 0 or after < 0:
            raise UnreadableModule(f"aten.{a.operator} with a negative width")
        if before or after:
            x = beyond(r, x, dim, before, shape[dim], a.operator.startswith("reflection"))
    return x


def beyond(r: GraphReader, x: TracedTensor, dim: int, before: int, length: int, mirrored: bool) -> TracedTensor:
    x, axis = r.views.joined(r.with_axis(x, dim), dim)
    new = r.axes.new(size=length, hint=r.views.base(axis))
    r.axes.apart([axis, new])
    last = size(axis)
    if mirrored:  # n − |n − 1 − |i − 1 − b||
        inside = call("abs", (plus(iota(new), -before - 1),))
        index = call("-", (last, call("abs", (call("-", (plus(last, -1), inside)),))))
    else:
        index = call("min", (call("max", (plus(iota(new), -before), number(1))), last))
    return r.views.indexed(x, dim, index, [(new,)], [length])


@rule("im2col")
def im2col(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """Windows of an image as columns."""
    x, sizes = a.tensor("self"), a["kernel_size"]
    stride, padding, dilation = a["stride"], a["padding"], a["dilation"]
    batch, chans = x.shape[:2]
    kernels: list[Dim] = []
    for at, length in enumerate(sizes):
        dim = at + 2
        x = padded(r, x, dim, padding[at], padding[at], 0)
        count = (x.shape[dim] - dilation[at] * (length - 1) - 1) // stride[at] + 1
        x, kernel = windows(r, x, dim, length, stride[at], dilation[at], count)
        kernels.append(kernel)
    height, width = x.shape[2:]
    x = x.moved([*x.dims[:2], *kernels, *x.dims[2:]], [batch, chans, *sizes, height, width])
    return r.views.regrouped(x, [batch, chans * sizes[0] * sizes[1], height * width])


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
