"""Tensors that are created from numbers alone."""

from __future__ import annotations

from .torch_composites import mask_name
from .torch_graph import GraphReader, OperationArguments
from .torch_rules import rule
from .torch_tensors import TracedTensor, plain
from .values import iota, number, plus, times


@rule("arange")
def arange(r: GraphReader, a: OperationArguments) -> TracedTensor:
    a.skip("end")
    (length,) = a.result_shape()
    start, step = a.get("start") or 0, a.get("step") or 1
    axis = r.axes.new(size=length, hint="position")
    return TracedTensor(plus(times(step, iota(axis)), start - step), ((axis,),), shape=(length,))


@rule("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones")
def zeros_or_ones(r: GraphReader, a: OperationArguments) -> TracedTensor:
    a.skip("self", "size")
    return plain(number(1 if "ones" in a.operator else 0)).led(a.result_shape())


@rule("full", "full_like", "new_full", "fill", "scalar_tensor")
def full(r: GraphReader, a: OperationArguments) -> TracedTensor:
    a.skip("self", "size")
    value = next(name for name in ("fill_value", "value", "s") if a.has(name))
    return a.operand(value).led(a.result_shape())


@rule("mask")
def mask(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """The mask of a dropout: an input, along the axes of what it multiplies."""
    a.skip("like", "p")
    return r.leaf("mask", mask_name(a["number"]), r.runs.tensors[a.step.results[0].index])


@rule("empty", "empty_like", "new_empty")
def empty(r: GraphReader, a: OperationArguments) -> tuple[TracedTensor | None, ...]:
    """Nothing that could be read; what fills it does not ask for it."""
    a.skip(*a.step.arguments)
    return (None,)
