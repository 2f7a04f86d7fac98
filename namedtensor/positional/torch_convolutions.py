"""Convolutions, pools and interpolation."""

from __future__ import annotations

from grammar import nodes

from .axes import axes_of
from .torch_composites import for_each
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import apply
from .torch_rules import rule
from .torch_tensors import TracedTensor
from .torch_windows import padded, windows
from .values import AxisValue, aligned, call, iota, plus, times


@rule("convolution", "_convolution", "mkldnn_convolution")
def convolution(r: GraphReader, a: OperationArguments) -> TracedTensor:
    a.skip("output_padding", "benchmark", "deterministic", "cudnn_enabled", "allow_tf32")
    if a.get("transposed"):
        return transposed_convolution(r, a)
    x, weight = a.tensor("input"), a.tensor("weight")
    rank, groups = len(x.shape) - 2, a["groups"]
    stride, padding, dilation = (for_each(a[name], rank) for name in ("stride", "padding", "dilation"))
    outside = a.result_shape()
    kernels = []
    for at in range(rank):
        dim = at + 2
        x = padded(r, x, dim, padding[at], padding[at], 0)
        x, kernel = windows(r, x, dim, weight.shape[dim], stride[at], dilation[at], outside[dim])
        kernels.append(kernel)
    spatial = x.dims[2:]
    x = x.with_node(x.node, [*x.dims, *kernels], [*x.shape, *weight.shape[2:]])
    if groups > 1:
        x = r.views.regrouped(x, [x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]])
        weight = r.views.regrouped(weight, [groups, weight.shape[0] // groups, *weight.shape[1:]])
    else:
        x, weight = x.inserted(1), weight.inserted(0)
    batch, group, chans = x.dims[:3]
    left = [batch, group, (), *spatial, chans, *x.dims[3 + rank :]]
    right = [(), weight.dims[0], weight.dims[1], *[()] * rank, *weight.dims[2:]]
    both = aligned(r.axes, AxisValue(x.node, tuple(left)), AxisValue(weight.node, tuple(right)))
    over = r.axes.expanded(axes_of([weight.dims[2], *weight.dims[3:]]))
    node = call("⊙", (weight.node, x.node), over)
    dims = [both[0], both[1] + both[2], *both[3 : 3 + rank]]
    return biased(r, a, TracedTensor(node, tuple(dims), shape=tuple(outside)), rank)


def biased(r: GraphReader, a: OperationArguments, result: TracedTensor, rank: int) -> TracedTensor:
    bias = a.optional("bias")
    return result if bias is None else apply(r, "+", result, bias.column(rank))


def transposed_convolution(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """The sum over input and kernel of what falls on each element: 𝕀[out = s (in − 1) + d (k − 1) + 1 − p]."""
    x, weight = a.tensor("input"), a.tensor("weight")
    rank, groups, outside = len(x.shape) - 2, a["groups"], a.result_shape()
    stride, padding, dilation = (for_each(a[name], rank) for name in ("stride", "padding", "dilation"))
    for dim in range(2, rank + 2):
        x = r.views.joined(r.with_axis(x, dim), dim)[0]
        weight = r.views.joined(weight, dim)[0] if weight.dims[dim] else r.with_axis(weight, dim)
    rows, kernels = x.dims[2:], weight.dims[2:]
    x = r.views.regrouped(x, [x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]])
    weight = r.views.regrouped(weight, [groups, weight.shape[0] // groups, *weight.shape[1:]])
    left = [x.dims[0], x.dims[1], (), *rows, x.dims[2], *[()] * rank]
    right = [(), weight.dims[0], weight.dims[2], *[()] * rank, weight.dims[1], *kernels]
    both = aligned(r.axes, AxisValue(x.node, tuple(left)), AxisValue(weight.node, tuple(right)))
    node = call("⊙", (weight.node, x.node), r.axes.expanded(weight.dims[1]))
    columns = []
    rest = r.axes.expanded(axes_of(both))
    for at in range(rank):
        (row,), (kernel,) = rows[at], kernels[at]
        column = r.axes.new(size=outside[at + 2], hint=r.views.base(row))
        parts = call("+", (times(stride[at], iota(row)), times(dilation[at], iota(kernel))))
        falls = call("=", (iota(column), plus(parts, 1 - stride[at] - dilation[at] - padding[at])))
        node = call("⊙", (node, nodes.Indicator(falls)), (row, kernel))
        r.axes.apart([*rest, *axes_of(columns), column])
        columns.append((column,))
    dims = [both[0], both[1] + both[2], *(axes if size > 1 else () for axes, size in zip(columns, outside[2:]))]
    return biased(r, a, TracedTensor(node, tuple(dims), shape=tuple(outside)), rank)
