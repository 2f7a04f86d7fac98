"""Reductions of ATen, and functions along a dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grammar.nodes import Node

from .axes import Dim, axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_operations import apply, condition, numeric
from .torch_rules import rule
from .torch_tensors import TracedTensor, plain
from .torch_trace import UnreadableModule
from .values import call, number, size_of

REDUCED = {
    "sum": "∑", "mean": "mean", "amax": "max", "amin": "min", "max": "max", "min": "min", "prod": "∏", "logsumexp": "logsumexp",
    "any": "any", "all": "all",
}  # fmt: skip


def dimensions(a: OperationArguments, rank: int) -> list[int]:
    dim = a.get("dim")
    listed = range(rank) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
    return sorted({dim % rank for dim in listed}) if rank else []


def reduced(
    r: GraphReader, operator: str, x: TracedTensor, over: Sequence[int], keep: bool, parameters: Sequence[Node] = ()
) -> TracedTensor:
    inside = r.axes.expanded(axes_of(x.dims[index] for index in over))
    repeats = math.prod(x.shape[index] for index in over if not x.dims[index])
    if repeats != 1 and operator not in ("mean", "max", "min"):
        raise UnreadableModule(f"{operator} over a dimension that repeats")
    dims: list[Dim] = [() if index in over else dim for index, dim in enumerate(x.dims) if keep or index not in over]
    shape = [1 if index in over else position for index, position in enumerate(x.shape) if keep or index not in over]
    node = call(operator, (x.node,), inside, parameters) if inside else x.node
    return replace(x.with_node(node, dims, shape), over=tuple(inside))


def over_dims(
    r: GraphReader, a: OperationArguments, operator: str, x: TracedTensor, parameters: Sequence[Node] = ()
) -> TracedTensor:
    """A reduction over the dimensions that a call lists."""
    return reduced(r, operator, x, dimensions(a, len(x.shape)), bool(a.get("keepdim")), parameters)


@rule(*REDUCED)
def reduction(r: GraphReader, a: OperationArguments) -> Any:
    x = (condition if a.operator in ("any", "all") else numeric)(a.tensor("self"))
    result = over_dims(r, a, REDUCED[a.operator], x)
    return (result, None) if a.several else result


@rule("var", "std", "var_mean", "std_mean")
def variance(r: GraphReader, a: OperationArguments) -> TracedTensor | tuple[TracedTensor | None, ...]:
    """PyTorch divides by n − 1 by default; `var` of the notation by n."""
    first, again = a.shared("self")
    over, keep = dimensions(a, len(first.shape)), bool(a.get("keepdim"))
    correction = a.get("correction", None)
    if correction is None:
        correction = 0 if a.get("unbiased") is False else 1
    result = reduced(r, "var", first, over, keep)
    if correction:
        n = size_of(result.over)
        factor = call("/", [n, call("-", [n, number(correction)])])
        result = apply(r, "⊙", plain(factor), result)
    if a.operator.startswith("std"):
        result = apply(r, "sqrt", result)
    return (result, reduced(r, "mean", again, over, keep)) if a.several else result


@rule("linalg_vector_norm", "norm")
def norm(r: GraphReader, a: OperationArguments) -> TracedTensor:
    x = a.tensor("self")
    order = a.get("ord", a.get("p"))
    order = 2 if order is None else order
    if order in (math.inf, -math.inf):
        return over_dims(r, a, "max" if order > 0 else "min", apply(r, "abs", x))
    return over_dims(r, a, "norm", x, [] if order == 2 else [number(order)])


@rule("sort")
def sort(r: GraphReader, a: OperationArguments) -> tuple[TracedTensor | None, ...]:
    a.skip("stable")
    x = numeric(a.tensor("self"))
    dim = a["dim"] % len(x.shape)
    if a["descending"] or len(r.axes.expanded(x.dims[dim])) != 1:
        raise UnreadableModule("aten.sort in descending order, or over a dimension of several axes")
    return along(r, "sort", x, dim), None


@rule("softmax", "_softmax", "_safe_softmax", "log_softmax", "_log_softmax", "cumsum", "cumprod")
def along_axis(r: GraphReader, a: OperationArguments) -> TracedTensor:
    a.skip("half_to_float")
    x = numeric(a.tensor("self"))
    dim = a["dim"] % len(x.shape)
    if not x.dims[dim] and x.shape[dim] != 1:
        raise UnreadableModule(f"aten.{a.operator} over a dimension that repeats")
    name = a.operator.removeprefix("_").removeprefix("safe_").replace("log_", "log")
    if name.startswith("cum") and len(r.axes.expanded(x.dims[dim])) > 1:
        raise UnreadableModule(f"aten.{a.operator} over a dimension of several axes")
    return along(r, name, x, dim)


def along(r: GraphReader, name: str, x: TracedTensor, dim: int) -> TracedTensor:
    inside = r.axes.expanded(x.dims[dim])
    if not inside:
        constant = {"softmax": number(1), "logsoftmax": number(0)}.get(name)
        return x if constant is None else plain(constant).moved([()] * len(x.shape), x.shape)
    return x.with_node(call(name, (x.node,), inside))
