"""Translation of ATen's products and layer norms."""

from __future__ import annotations

from collections.abc import Sequence

from .axes import axes_of
from .torch_graph import GraphReader
from .torch_operations import apply, broadcast, numeric
from .torch_tensors import TracedTensor
from .torch_trace import rule
from .values import call, matmul, number


@rule("mm", "bmm", "mv", "dot")
def product(r: GraphReader, self: TracedTensor, other: TracedTensor) -> TracedTensor:
    """Return the matrix product of two tensors, as computed by `@`."""
    first, second = numeric(self), numeric(other)
    rows = -2 if len(second.dims) > 1 else -1
    if first.shape[-1] != 1:
        first, second = r.with_axis(first, -1), r.with_axis(second, rows)
    first, second = r.views.fit_dimensions(first, -1, second, rows)
    for back in range(3, min(len(first.dims), len(second.dims)) + 1):
        first, second = r.views.fit_dimensions(first, -back, second, -back)
    value = matmul(r.axes, first, second)
    over = r.axes.expand_axes(first.dims[-1])
    r.axes.apart(value.axes, over)
    batch = broadcast([first.shape[:-2], second.shape[:-2]])
    shape = (*batch, *first.shape[-2:-1], *(second.shape[-1:] if len(second.shape) > 1 else ()))
    return TracedTensor(value.node, value.dims, shape=shape, over=over)


def transpose_last(x: TracedTensor) -> TracedTensor:
    """Return a tensor with its last two dimensions exchanged. A vector is returned unchanged."""
    return x if len(x.shape) < 2 else x.permute_dimensions([*range(len(x.shape) - 2), -1, -2])


@rule("addmm", "baddbmm", "addmv")
def add_product(r: GraphReader, self: TracedTensor, first: TracedTensor, other: TracedTensor) -> TracedTensor:
    return apply(r, "+", product(r, first, other), self)


@rule("native_layer_norm")
def layer_norm(
    r: GraphReader,
    input: TracedTensor,
    normalized_shape: Sequence[int],
    eps: float,
    weight: TracedTensor | None = None,
    bias: TracedTensor | None = None,
) -> tuple[TracedTensor | None, ...]:
    x, rank = input, len(normalized_shape)
    for dim in range(-rank, 0):
        x = r.with_axis(x, dim) if x.shape[dim] != 1 else x
    over = r.axes.expand_axes(axes_of(x.dims[-rank:]))
    x = x.with_node(call("standardize", (x.node,), over, [] if eps == 1e-5 else [number(eps)]))
    x = x if weight is None else apply(r, "⊙", x, weight)
    return x if bias is None else apply(r, "+", x, bias), None, None
