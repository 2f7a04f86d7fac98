"""Convolutions, pools and interpolation."""

from __future__ import annotations

import math
from typing import Any

from grammar import nodes

from .axes import AxisVariable, axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import apply, numeric
from .torch_records import varies
from .torch_rules import rule
from .torch_tensors import TracedTensor, plain
from .torch_trace import UnreadableModule
from .torch_windows import padded, windows
from .values import AxisValue, aligned, call, iota, number, plus, times


def for_each(value: Any, rank: int) -> list[int]:
    value = [value] if isinstance(value, int) else list(value)
    return value * rank if len(value) == 1 else value


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


@rule("max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool2d", "avg_pool3d")
def pool(r: GraphReader, a: OperationArguments) -> Any:
    rank = int(a.operator.removesuffix("_with_indices")[-2])
    x = a.tensor("self")
    kernel = for_each(a["kernel_size"], rank)
    stride = for_each(a["stride"] or kernel, rank)
    padding = for_each(a["padding"], rank)
    dilation = for_each(a.get("dilation") or 1, rank)
    outside, most = a.result_shape(), a.operator.startswith("max")
    beyond = [0] * rank
    if a["ceil_mode"]:
        if not most:
            raise UnreadableModule(f"aten.{a.operator} with ceil_mode has no form in the notation yet", final=True)
        for at, length in enumerate(x.shape[-rank:]):
            last = (outside[len(x.shape) - rank + at] - 1) * stride[at] + dilation[at] * (kernel[at] - 1) + 1
            beyond[at] = max(last - length - 2 * padding[at], 0)
    whole = most or not any(padding) or a["count_include_pad"]  # whether all windows have as many elements
    if not most:
        a.skip("count_include_pad")
        if a.get("divisor_override") is not None:
            raise UnreadableModule(
                f"aten.{a.operator} with divisor_override has no form in the notation yet", final=True
            )
    ones_like = plain(number(1)).moved([()] * len(x.shape), x.shape)
    over, counts = list[AxisVariable](), list[TracedTensor]()
    for at in range(rank):
        dim = len(x.shape) - rank + at
        if not whole and padding[at]:
            counts.append(counted(r, ones_like, dim, kernel[at], stride[at], padding[at], outside[dim]))
        elif not whole and kernel[at] > 1:
            counts.append(plain(number(kernel[at])))
        x = padded(r, x, dim, padding[at], padding[at] + beyond[at], -math.inf if most else 0)
        x, inside = windows(r, x, dim, kernel[at], stride[at], dilation[at], outside[dim])
        over += r.axes.expanded(inside)
    node = call("max" if most else "mean" if whole else "∑", (x.node,), over) if over else x.node
    result = x.with_node(node)
    for count in counts:
        result = apply(r, "/", result, count)
    return (result, None) if a.several else result


def counted(
    r: GraphReader, ones: TracedTensor, dim: int, kernel: int, stride: int, padding: int, length: int
) -> TracedTensor:
    """How many elements of the tensor are in each window along a dimension."""
    ones = padded(r, r.with_axis(ones, dim), dim, padding, padding, 0)
    ones, inside = windows(r, ones, dim, kernel, stride, 1, length)
    ones = ones.moved(ones.dims, [size if at == dim else 1 for at, size in enumerate(ones.shape)])
    return ones.with_node(call("∑", (ones.node,), r.axes.expanded(inside))) if inside else ones


@rule("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_pool(r: GraphReader, a: OperationArguments) -> Any:
    a.skip("output_size")
    x, outside = a.tensor("self"), a.result_shape()
    most = "max" in a.operator
    over = []
    rank = int(a.operator[-2])
    for dim in range(len(x.shape) - rank, len(x.shape)):
        if x.shape[dim] == outside[dim]:
            continue
        if x.shape[dim] % outside[dim] or (varies(x.shape[dim]) and outside[dim] != 1):
            raise UnreadableModule(
                f"aten.{a.operator} from {x.shape[dim]} to {outside[dim]}, in windows of several sizes"
            )
        if outside[dim] == 1:
            x = r.with_axis(x, dim)
            over += r.axes.expanded(x.dims[dim])
            x = x.with_dim(dim, (), 1)
        else:
            length = x.shape[dim] // outside[dim]
            x, inside = windows(r, x, dim, length, length, 1, outside[dim])
            over += r.axes.expanded(inside)
    result = x.with_node(call("max" if most else "mean", (x.node,), over) if over else x.node)
    return (result, None) if a.several else result


@rule("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact2d")
def upsample(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """Each element several times: an axis within, of ones."""
    a.skip("output_size", "scales", "scales_h", "scales_w", "scales_d")
    x, outside = numeric(a.tensor("self")), a.result_shape()
    for dim in range(2, len(x.shape)):
        if outside[dim] % x.shape[dim]:
            raise UnreadableModule(f"aten.{a.operator} by a factor that is not whole")
        if outside[dim] > x.shape[dim]:
            x, copy = r.views.repeated(x, outside[dim] // x.shape[dim])
            x = x.with_dim(dim, (*x.dims[dim], copy), outside[dim])
    return x
