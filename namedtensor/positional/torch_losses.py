"""Losses of ATen, and what is left of the rarer layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .axes import axes_of
from .torch_graph import GraphReader, OperationArguments
from .torch_layers import looked_up
from .torch_operations import apply, chosen, compared, fitted, numeric, powered
from .torch_reductions import reduced
from .torch_rules import rule
from .torch_tensors import TracedTensor, plain, size_of
from .torch_trace import UnreadableModule
from .values import AxisValue, aligned, call, number

REDUCTIONS = {0: "", 1: "mean", 2: "∑"}


def over_all(r: GraphReader, a: OperationArguments, x: TracedTensor) -> TracedTensor:
    operator = REDUCTIONS[a["reduction"]]
    return reduced(r, operator, x, range(len(x.shape)), False) if operator else x


@rule("mse_loss")
def mse_loss(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return over_all(r, a, powered(r, apply(r, "-", a.tensor("self"), a.tensor("target")), plain(number(2))))


@rule("smooth_l1_loss", "huber_loss")
def huber_loss(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """d²/2 up to the bound β, β (d − β/2) beyond; `smooth_l1_loss` divides both by β."""
    smooth = a.operator == "smooth_l1_loss"
    bound = a["beta" if smooth else "delta"]
    distance = r.shared(apply(r, "abs", apply(r, "-", a.tensor("self"), a.tensor("target"))))
    one, two, three = (distance.used(r.axes) for _ in range(3))
    near = apply(r, "/", powered(r, one, plain(number(2))), plain(number(2 * (bound if smooth else 1))))
    far = apply(r, "-", two, plain(number(bound / 2)))
    if not smooth and bound != 1:
        far = apply(r, "⊙", plain(number(bound)), far)
    return over_all(r, a, chosen(r, compared(r, "<", three, plain(number(bound))), near, far))


@rule("binary_cross_entropy")
def binary_cross_entropy(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """−(y log x + (1 − y) log(1 − x)), each logarithm at least −100"""
    x, y = r.shared(a.raw("self")), r.shared(a.raw("target"))
    one = apply(r, "max", apply(r, "log", x.used(r.axes)), plain(number(-100)))
    two = apply(r, "max", apply(r, "log", apply(r, "-", plain(number(1)), x.used(r.axes))), plain(number(-100)))
    first = apply(r, "⊙", y.used(r.axes), one)
    second = apply(r, "⊙", apply(r, "-", plain(number(1)), y.used(r.axes)), two)
    result = apply(r, "negative", apply(r, "+", first, second))
    weight = a.optional("weight")
    return over_all(r, a, result if weight is None else apply(r, "⊙", weight, result))


@rule("nll_loss_forward", "nll_loss2d_forward", "nll_loss")
def nll_loss(r: GraphReader, a: OperationArguments) -> Any:
    x, target = a.tensor("self"), r.shared(a.raw("target"))
    weight, ignored = a.optional("weight"), a["ignore_index"]
    factors = [] if weight is None else [looked_up(r, weight, 0, target.used(r.axes))]
    if ignored != -100:
        factors.append(numeric(compared(r, "≠", target.used(r.axes), plain(number(ignored)))))
    target = target.used(r.axes)
    rank = len(x.shape)
    order = [*range(rank)] if rank == 1 else [0, *range(2, rank), 1]
    x = x.permuted(order)
    result = apply(r, "negative", picked_at(r, x, target))
    result = weighted(r, a, result, factors)
    return (result, None) if a.several else result


def weighted(r: GraphReader, a: OperationArguments, x: TracedTensor, factors: Sequence[TracedTensor]) -> TracedTensor:
    """A loss with the weight of each element, by whose sum the mean divides."""
    if not factors:
        return over_all(r, a, x)
    weight = r.shared(factors[0] if len(factors) == 1 else apply(r, "⊙", *factors))
    x = apply(r, "⊙", weight.used(r.axes), x)
    operator = REDUCTIONS[a["reduction"]]
    if operator != "mean":
        return over_all(r, a, x)
    total = reduced(r, "∑", weight.used(r.axes), range(len(weight.shape)), False)
    return apply(r, "/", reduced(r, "∑", x, range(len(x.shape)), False), total)


def picked_at(r: GraphReader, x: TracedTensor, index: TracedTensor) -> TracedTensor:
    """x at an index along its last dimension, where the other dimensions are those of the index."""
    dims = aligned(r.axes, AxisValue(x.node, x.dims[:-1]), index.value)
    result = looked_up(r, x.moved([x.dims[-1]], x.shape[-1:]), 0, index.moved([], []))
    r.axes.apart(axes_of(x.dims))
    return result.moved(dims, index.shape)


@rule("soft_margin_loss")
def soft_margin_loss(r: GraphReader, a: OperationArguments) -> TracedTensor:
    product = apply(r, "⊙", a.tensor("target"), a.tensor("self"))
    return over_all(r, a, apply(r, "softplus", apply(r, "negative", product)))


@rule("multi_margin_loss")
def multi_margin_loss(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """For each class but the right one max(0, m − x_y + x_i)^p; for the right one that would be m^p."""
    if a.get("weight") is not None:
        raise UnreadableModule(
            "aten.multi_margin_loss with weights of classes has no form in the notation yet", final=True
        )
    power, margin = a["p"], a["margin"]
    x = r.shared(a.raw("self"))
    if len(x.shape) != 2:
        raise UnreadableModule("aten.multi_margin_loss of a tensor without a batch")
    right = picked_at(r, x.used(r.axes), a.tensor("target"))
    right = right.moved([*right.dims, ()], [*right.shape, 1])
    beyond = apply(r, "-", apply(r, "+", x.used(r.axes), plain(number(margin))), right)
    beyond = apply(r, "max", beyond, plain(number(0)))
    if power == 2:
        beyond = powered(r, beyond, plain(number(2)))
    total = reduced(r, "mean", beyond, [1], False)
    of_right = apply(r, "/", plain(number(margin**power)), plain(size_of(r.axes.expanded(x.dims[1]))))
    return over_all(r, a, apply(r, "-", total, of_right))


@rule("_trilinear")
def trilinear(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """x ⊙ W ⊙ y, as `nn.Bilinear` calls it."""
    if [a["expand1"], a["expand2"], a["expand3"], a["sumdim"]] != [[1, 3], [0], [1, 2], [2, 3]]:
        raise UnreadableModule("aten._trilinear with other dimensions has no form in the notation yet", final=True)
    a.skip("unroll_dim")
    first, weight, second = a.tensor("i1"), a.tensor("i2"), a.tensor("i3")
    batch, out = first.shape[0], weight.shape[0]
    left = first.moved([first.dims[0], (), first.dims[1], ()], [batch, 1, first.shape[1], 1])
    middle = weight.moved([(), *weight.dims], [1, *weight.shape])
    right = second.moved([second.dims[0], (), (), second.dims[1]], [batch, 1, 1, second.shape[1]])
    left, middle, right = fitted(r, left, middle, right)
    dims = aligned(r.axes, left.value, middle.value, right.value)
    node = call("⊙", (left.node, middle.node), r.axes.expanded(dims[2]))
    node = call("⊙", (node, right.node), r.axes.expanded(dims[3]))
    return TracedTensor(AxisValue(node, dims[:2]), (batch, out))


@rule("_embedding_bag_forward_only", "_embedding_bag")
def embedding_bag(r: GraphReader, a: OperationArguments) -> Any:
    raise UnreadableModule(
        "aten.embedding_bag has no form in the notation: use nn.Embedding and a sum or mean", final=True
    )
