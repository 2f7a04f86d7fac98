"""Products of ATen, and layer norms."""

from __future__ import annotations

from .axes import axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import apply, broadcast, numeric
from .torch_tensors import TracedTensor
from .torch_trace import rule
from .values import call, matmul, number


def product(r: GraphReader, first: TracedTensor, second: TracedTensor) -> TracedTensor:
    """Return the product of `@`."""
    first, second = numeric(first), numeric(second)
    rows = -2 if len(second.dims) > 1 else -1
    if first.shape[-1] != 1:
        first, second = r.with_axis(first, -1), r.with_axis(second, rows)
    first, second = r.views.fitted(first, -1, second, rows)
    for back in range(3, min(len(first.dims), len(second.dims)) + 1):
        first, second = r.views.fitted(first, -back, second, -back)
    value = matmul(r.axes, first, second)
    over = r.axes.expanded(first.dims[-1])
    r.axes.apart(value.axes, over)
    batch = broadcast([first.shape[:-2], second.shape[:-2]])
    shape = (*batch, *first.shape[-2:-1], *(second.shape[-1:] if len(second.shape) > 1 else ()))
    return TracedTensor(value.node, value.dims, shape=shape, over=over)


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


@rule("native_layer_norm")
def layer_norm(r: GraphReader, a: OperationArguments) -> tuple[TracedTensor | None, ...]:
    x, eps, rank = a.tensor("input"), a["eps"], len(a["normalized_shape"])
    for dim in range(-rank, 0):
        x = r.with_axis(x, dim) if x.shape[dim] != 1 else x
    over = r.axes.expanded(axes_of(x.dims[-rank:]))
    x = x.with_node(call("standardize", (x.node,), over, [] if eps == 1e-5 else [number(eps)]))
    for operator, name in (("⊙", "weight"), ("+", "bias")):
        if (tensor := a.optional(name)) is not None:
            x = apply(r, operator, x, tensor)
    return x, None, None
