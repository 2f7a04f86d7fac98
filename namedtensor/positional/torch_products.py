"""Products of ATen: sums over the last dimension of one operand and the last but one of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .axes import AxisVariable, axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import apply, broadcast, numeric
from .torch_rules import rule
from .torch_tensors import TracedTensor, plain
from .torch_trace import UnreadableModule
from .values import AxisValue, aligned, call, contracted, matmul, number


def product(r: GraphReader, first: TracedTensor, second: TracedTensor) -> TracedTensor:
    """The product of `@`."""
    first, second = numeric(first), numeric(second)
    if number(0) in (first.node, second.node):
        shape = (
            *broadcast([first.shape[:-2], second.shape[:-2]]),
            *first.shape[-2:-1],
            *second.shape[-1:] * (len(second.shape) > 1),
        )
        return plain(number(0)).moved([()] * len(shape), shape)
    rows = -2 if len(second.dims) > 1 else -1
    first, second = r.views.fitted(first, -1, second, rows)
    for back in range(3, min(len(first.dims), len(second.dims)) + 1):
        first, second = r.views.fitted(first, -back, second, -back)
    left = first if len(first.dims) > 1 else replace(first, dims=((), *first.dims))
    right = second if len(second.dims) > 1 else replace(second, dims=(*second.dims, ()))
    if bool(left.dims[-1]) != bool(right.dims[-2]):
        return repeated_product(r, left, right, first, second)
    if first.shape[-1] == 1 or not left.dims[-1]:
        if first.shape[-1] != 1:
            raise UnreadableModule("a product over a dimension that repeats in both operands")
        return outer(r, left, right, first, second)
    value = matmul(r.axes, left, right)
    over = r.axes.expanded(left.dims[-1])
    return finished(r, value, first, second, over)


def repeated_product(
    r: GraphReader, left: AxisValue, right: AxisValue, first: TracedTensor, second: TracedTensor
) -> TracedTensor:
    """A product in which one operand repeats along the dimension that is summed: the other is summed alone."""
    if left.dims[-1]:
        over = r.axes.expanded(left.dims[-1])
        left = AxisValue(call("∑", (left.node,), over), (*left.dims[:-1], ()))
    else:
        over = r.axes.expanded(right.dims[-2])
        right = AxisValue(call("∑", (right.node,), over), (*right.dims[:-2], (), right.dims[-1]))
    return replace(outer(r, left, right, first, second), over=over)


def outer(r: GraphReader, left: AxisValue, right: AxisValue, first: TracedTensor, second: TracedTensor) -> TracedTensor:
    batch = aligned(r.axes, replace(left, dims=left.dims[:-2]), replace(right, dims=right.dims[:-2]))
    value = contracted(r.axes, left, right, (), (*batch, left.dims[-2], right.dims[-1]))
    return finished(r, value, first, second, ())


def finished(
    r: GraphReader, value: AxisValue, first: TracedTensor, second: TracedTensor, over: Sequence[AxisVariable]
) -> TracedTensor:
    dims = list(value.dims)
    batch = broadcast([first.shape[:-2], second.shape[:-2]])
    shape = [*batch, *first.shape[-2:-1], *(second.shape[-1:] if len(second.shape) > 1 else ())]
    if len(first.shape) == 1 and len(dims) > len(shape):
        del dims[len(batch)]
    if len(dims) > len(shape):
        del dims[-1]
    r.axes.apart(axes_of(dims), over)
    return TracedTensor(value.node, tuple(dims), shape=tuple(shape), over=tuple(over))


@rule("mm", "bmm", "mv", "dot")
def products(r: GraphReader, a: OperationArguments) -> TracedTensor:
    other = next(name for name in ("mat2", "vec", "tensor") if a.has(name))
    return product(r, a.tensor("self"), a.tensor(other))


def transposed(x: TracedTensor) -> TracedTensor:
    """The last two dimensions exchanged."""
    return x if len(x.shape) < 2 else x.permuted([*range(len(x.shape) - 2), -1, -2])


@rule("addmm", "baddbmm", "addmv")
def add_product(r: GraphReader, a: OperationArguments) -> TracedTensor:
    names = {"addmm": ("mat1", "mat2"), "baddbmm": ("batch1", "batch2"), "addmv": ("mat", "vec")}[a.operator]
    result = product(r, *(a.tensor(name) for name in names))
    return apply(r, "+", result, a.tensor("self"))
