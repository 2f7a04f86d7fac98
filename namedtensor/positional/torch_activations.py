"""Activations of ATen as nodes of the notation, in terms of the elementwise operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .torch_operations import apply, chosen, clipped, compared
from .torch_rules import rule
from .torch_tensors import TracedTensor, plain
from .values import number

if TYPE_CHECKING:
    from .torch_graph import GraphReader, OperationArguments


@rule("hardsigmoid")
def hardsigmoid(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return clipped(r, apply(r, "+", apply(r, "/", a.tensor("self"), plain(number(6))), plain(number(0.5))), 0, 1)


@rule("hardswish")
def hardswish(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    gate = clipped(r, apply(r, "+", again, plain(number(3))), 0, 6)
    return apply(r, "/", apply(r, "⊙", first, gate), plain(number(6)))


@rule("gelu")
def gelu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, "gelu_tanh" if a["approximate"] == "tanh" else "gelu", a.tensor("self"))


@rule("leaky_relu")
def leaky_relu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    slope = a["negative_slope"]
    if slope == 0.01:
        return apply(r, "leaky_relu", a.tensor("self"))
    first, again = a.shared("self")
    below = apply(r, "⊙", r.scalar(slope), apply(r, "min", again, plain(number(0))))
    return apply(r, "+", apply(r, "max", first, plain(number(0))), below)


@rule("rrelu_with_noise")
def rrelu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """In evaluation a leaky relu, whose factor for negative elements is between the bounds."""
    a.skip("noise", "training")
    first, again = a.shared("self")
    factor = (a["lower"] + a["upper"]) / 2
    below = apply(r, "⊙", r.scalar(factor), apply(r, "min", again, plain(number(0))))
    return apply(r, "+", apply(r, "max", first, plain(number(0))), below)


@rule("elu")
def elu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """scale · (x above 0, alpha (exp(x · input_scale) − 1) below)"""
    alpha, scale, inner = a["alpha"], a["scale"], a["input_scale"]
    first, again = a.shared("self")
    if (alpha, scale, inner) == (1, 1, 1):
        return apply(r, "elu", first)
    above = apply(r, "max", first, plain(number(0)))
    if inner != 1:
        again = apply(r, "⊙", r.scalar(inner), again)
    below = apply(r, "expm1", apply(r, "min", again, plain(number(0))))
    both = apply(r, "+", above, below if alpha == 1 else apply(r, "⊙", r.scalar(alpha), below))
    return both if scale == 1 else apply(r, "⊙", r.scalar(scale), both)


@rule("celu")
def celu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    alpha = a["alpha"]
    inner = apply(r, "min", again, plain(number(0)))
    if alpha != 1:
        inner = apply(r, "/", inner, r.scalar(alpha))
    below = apply(r, "expm1", inner)
    return apply(
        r, "+", apply(r, "max", first, plain(number(0))), below if alpha == 1 else apply(r, "⊙", r.scalar(alpha), below)
    )


@rule("xlogy")
def xlogy(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    product = apply(r, "⊙", first, apply(r, "log", a.operand("other")))
    return chosen(r, compared(r, "=", again, plain(number(0))), plain(number(0)), product)


@rule("softplus")
def softplus(r: GraphReader, a: OperationArguments) -> TracedTensor:
    beta = a["beta"]
    a.skip("threshold")  # where PyTorch switches to x, which is the same in float32
    if beta == 1:
        return apply(r, "softplus", a.tensor("self"))
    inner = apply(r, "⊙", r.scalar(beta), a.tensor("self"))
    return apply(r, "/", apply(r, "softplus", inner), r.scalar(beta))


@rule("mish")
def mish(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    return apply(r, "⊙", first, apply(r, "tanh", apply(r, "softplus", again)))


@rule("hardshrink", "softshrink")
def shrink(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    bound = r.scalar(a["lambd"])
    if a.operator == "hardshrink":
        return chosen(r, compared(r, ">", apply(r, "abs", again), bound), first, plain(number(0)))
    least = apply(r, "max", apply(r, "-", apply(r, "abs", again), bound), plain(number(0)))
    return apply(r, "⊙", apply(r, "sign", first), least)


@rule("threshold")
def threshold(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    return chosen(r, compared(r, ">", again, r.scalar(a["threshold"])), first, r.scalar(a["value"]))


@rule("prelu", "_prelu_kernel")
def prelu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    slope = a.tensor("weight")
    if len(slope.shape) == 1 and slope.dims[0] and len(first.shape) > 1:  # one for each of the second dimension
        rank = len(first.shape)
        shape = (1, slope.shape[0], *(1,) * (rank - 2))
        slope = slope.moved([(), slope.dims[0], *[()] * (rank - 2)], shape)
    elif not any(slope.dims):
        slope = slope.moved([], [])
    above = apply(r, "max", first, plain(number(0)))
    return apply(r, "+", above, apply(r, "⊙", slope, apply(r, "min", again, plain(number(0)))))


@rule("glu")
def glu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, again = a.shared("self")
    dim = a["dim"] % len(first.shape)
    half = first.shape[dim] // 2
    left = r.cut(first, dim, 0, half)
    right = r.cut(again, dim, half, half)
    return apply(r, "⊙", left, apply(r, "σ", right))
