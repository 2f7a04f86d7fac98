"""Operations of ATen as nodes of the notation: elementwise, reductions, products, comparisons. One rule for each.

A rule takes the reader and the arguments of a step, and gives a tensor, or several. An argument that it does not read must
have its default: a keyword that is ignored would give a wrong formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.nodes import Node

from .axes import Axis, Dim, axes_of
from .torch_rules import RULES, rule
from .torch_tensors import Tensor, iota, plain
from .torch_trace import Unreadable
from .values import Value, aligned, call, contracted, matmul, number, size

if TYPE_CHECKING:
    from .torch_graph import Arguments, Reader


# --------------------------------------------------------------------------------------------------------- elementwise
UNARY = {
    "relu": "relu", "tanh": "tanh", "sigmoid": "σ", "exp": "exp", "sqrt": "sqrt", "silu": "silu", "cos": "cos", "sin": "sin",
    "log": "log", "log1p": "log1p", "expm1": "expm1", "abs": "abs", "erf": "erf", "sign": "sign", "floor": "floor",
    "ceil": "ceil", "round": "round", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "atan": "arctan", "asin": "arcsin",
    "acos": "arccos", "neg": "negative", "lgamma": "lgamma", "log_sigmoid": "logsigmoid",
}  # fmt: skip
SAME = ("alias", "clone", "detach", "contiguous", "lift_fresh", "lift", "positive", "view_as")
BINARY = {"add": "+", "sub": "-", "mul": "⊙", "div": "/"}
COMPARED = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
LOGICAL = {"logical_and": "∧", "logical_or": "∨", "bitwise_and": "∧", "bitwise_or": "∨", "__and__": "∧", "__or__": "∨"}


def apply(r: Reader, operator: str, *tensors: Tensor, parameters: Sequence[Node] = (), truth: bool = False) -> Tensor:
    """An operator, element by element, on tensors whose dimensions are aligned from the last."""
    tensors = fitted(r, *tensors)
    if (short := without_zero(operator, tensors)) is not None:
        return short
    values = [each.value for each in tensors]
    dims = aligned(r.axes, *values)
    node = call(operator, [each.node for each in values], (), parameters)
    return Tensor(Value(node, dims), broadcast([each.shape for each in tensors]), truth)


def without_zero(operator: str, tensors: Sequence[Tensor]) -> Tensor | None:
    """0 + x is x, and 0 x is 0."""
    if operator not in ("+", "⊙") or len(tensors) != 2:
        return None
    shape = broadcast([each.shape for each in tensors])
    for zero, other in (tensors, (tensors[1], tensors[0])):
        if zero.node == number(0):
            left = zero if operator == "⊙" else other
            return left.moved([*[()] * (len(shape) - len(left.dims)), *left.dims], shape)
    return None


def fitted(r: Reader, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors whose dimensions, aligned from the last, have as many axes."""
    result = list(tensors)
    for one in range(len(result)):
        for two in range(one + 1, len(result)):
            for back in range(1, min(len(result[one].dims), len(result[two].dims)) + 1):
                result[one], result[two] = r.views.fitted(result[one], -back, result[two], -back)
    return tuple(result)


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(next((each for each in sizes if each != 1), 1) for sizes in zip(*padded))


def numeric(tensor: Tensor) -> Tensor:
    """A condition as 1 and 0."""
    if not tensor.truth:
        return tensor
    return replace(tensor, value=replace(tensor.value, node=nodes.Indicator(tensor.node)), truth=False)


def condition(tensor: Tensor) -> Tensor:
    """A number as a condition: not 0."""
    if tensor.truth:
        return tensor
    return replace(tensor, value=replace(tensor.value, node=call("≠", [tensor.node, number(0)])), truth=True)


def unary(r: Reader, a: Arguments) -> Tensor:
    return apply(r, UNARY[a.operator], numeric(a.tensor("self")))


RULES.update(dict.fromkeys(UNARY, unary))
RULES["log_sigmoid_forward"] = lambda r, a: (apply(r, "logsigmoid", numeric(a.tensor("self"))), None)


@rule(*SAME)
def same(r: Reader, a: Arguments) -> Tensor:
    a.skip("memory_format")
    return a.raw("self")


@rule("_to_copy", "to", "type_as")
def cast(r: Reader, a: Arguments) -> Tensor:
    a.skip("dtype", "layout", "device", "pin_memory", "non_blocking", "memory_format")
    before, after = a.dtype("self"), a.result_dtype()
    if before.is_floating_point and not after.is_floating_point:
        if str(after) == "torch.bool":
            return condition(a.tensor("self"))
        raise Unreadable(f"a cast to {after} cuts fractions off", hint="write floor")
    tensor = a.raw("self")
    if str(after) == "torch.bool":
        return condition(tensor) if tensor.truth else condition(a.tensor("self"))
    return tensor if tensor.named or not tensor.truth else numeric(tensor)


@rule(*BINARY)
def binary(r: Reader, a: Arguments) -> Tensor:
    if a.get("rounding_mode") is not None:
        if a["rounding_mode"] != "floor":
            raise Unreadable("div rounds toward zero")
        return apply(r, "floor", apply(r, "/", numeric(a.operand("self")), numeric(a.operand("other"))))
    first, second = numeric(a.operand("self")), a["other"]
    alpha = a.get("alpha", 1)
    if isinstance(second, (int, float)) and alpha == 1 and (short := neutral(a.operator, first, second)) is not None:
        return short
    if isinstance(second, (int, float)) and a.operator in ("mul", "div"):
        if (scaled := r.scaled(first, second, a.operator)) is not None:
            return scaled
    other = numeric(a.operand("other"))
    if alpha != 1:
        other = apply(r, "⊙", r.scalar(alpha), other)
    operator = BINARY[a.operator]
    if operator == "+" and (sign := negated(other.node)) is not None:  # x + (−3)
        operator, other = "-", other.with_node(sign)
    if operator == "⊙" and not other.dims and not isinstance(other.node, nodes.Size) and first.dims:
        first, other = other, first  # a number before a tensor
    return apply(r, operator, first, other)


def neutral(operator: str, first: Tensor, second: float) -> Tensor | None:
    """x + 0, x · 1: nothing is left of it."""
    return first if second == (0 if operator in ("add", "sub") else 1) else None


def negated(node: Node) -> Node | None:
    if isinstance(node, nodes.Call) and node.operator == "negative" and isinstance(node.arguments[0], nodes.Number):
        return node.arguments[0]
    return None


@rule("rsub")
def reversed_difference(r: Reader, a: Arguments) -> Tensor:
    return apply(r, "-", numeric(a.operand("other")), numeric(a.tensor("self")))


@rule("floor_divide")
def floor_divide(r: Reader, a: Arguments) -> Tensor:
    return apply(r, "floor", apply(r, "/", numeric(a.operand("self")), numeric(a.operand("other"))))


@rule("remainder")
def remainder(r: Reader, a: Arguments) -> Tensor:
    return apply(r, "mod", numeric(a.operand("self")), numeric(a.operand("other")))


@rule("reciprocal")
def reciprocal(r: Reader, a: Arguments) -> Tensor:
    return apply(r, "/", plain(number(1)), numeric(a.tensor("self")))


@rule("rsqrt")
def rsqrt(r: Reader, a: Arguments) -> Tensor:
    return apply(r, "/", plain(number(1)), apply(r, "sqrt", a.tensor("self")))


@rule("pow")
def power(r: Reader, a: Arguments) -> Tensor:
    base, exponent = numeric(a.operand("self")), a.operand("exponent")
    if not exponent.dims and exponent.node == number(0.5):
        return apply(r, "sqrt", base)
    return powered(r, base, exponent)


def powered(r: Reader, base: Tensor, exponent: Tensor) -> Tensor:
    base, exponent = fitted(r, base, exponent)
    dims = aligned(r.axes, base.value, exponent.value)
    node = nodes.Superscript(base.node, (exponent.node,))
    return Tensor(Value(node, dims), broadcast([base.shape, exponent.shape]))


@rule("square")
def square(r: Reader, a: Arguments) -> Tensor:
    return powered(r, a.tensor("self"), plain(number(2)))


@rule("addcmul")
def addcmul(r: Reader, a: Arguments) -> Tensor:
    product = apply(r, "⊙", a.tensor("tensor1"), a.tensor("tensor2"))
    if a["value"] != 1:
        product = apply(r, "⊙", r.scalar(a["value"]), product)
    return apply(r, "+", a.tensor("self"), product)


@rule("addcdiv")
def addcdiv(r: Reader, a: Arguments) -> Tensor:
    quotient = apply(r, "/", a.tensor("tensor1"), a.tensor("tensor2"))
    if a["value"] != 1:
        quotient = apply(r, "⊙", r.scalar(a["value"]), quotient)
    return apply(r, "+", a.tensor("self"), quotient)


@rule("lerp")
def lerp(r: Reader, a: Arguments) -> Tensor:
    first, again = a.shared("self")
    step = apply(r, "⊙", a.operand("weight"), apply(r, "-", a.tensor("end"), again))
    return apply(r, "+", first, step)


@rule("maximum", "minimum")
def extreme_of_two(r: Reader, a: Arguments) -> Tensor:
    return apply(r, {"maximum": "max", "minimum": "min"}[a.operator], a.tensor("self"), a.tensor("other"))


@rule("clamp", "clamp_min", "clamp_max", "hardtanh")
def clamp(r: Reader, a: Arguments) -> Tensor:
    low, high = (
        next((name for name in names if a.has(name)), "") for names in (("min", "min_val"), ("max", "max_val"))
    )
    low, high = (a.operand(name) if name and a[name] is not None else None for name in (low, high))
    return clipped(r, numeric(a.tensor("self")), low, high)


def clipped(r: Reader, x: Tensor, low: Any, high: Any) -> Tensor:
    for operator, bound in (("max", low), ("min", high)):
        if bound is not None:
            x = apply(r, operator, x, bound if isinstance(bound, Tensor) else r.scalar(bound))
    return x


@rule("hardsigmoid")
def hardsigmoid(r: Reader, a: Arguments) -> Tensor:
    return clipped(r, apply(r, "+", apply(r, "/", a.tensor("self"), plain(number(6))), plain(number(0.5))), 0, 1)


@rule("hardswish")
def hardswish(r: Reader, a: Arguments) -> Tensor:
    first, again = a.shared("self")
    gate = clipped(r, apply(r, "+", again, plain(number(3))), 0, 6)
    return apply(r, "/", apply(r, "⊙", first, gate), plain(number(6)))


@rule("gelu")
def gelu(r: Reader, a: Arguments) -> Tensor:
    return apply(r, "gelu_tanh" if a["approximate"] == "tanh" else "gelu", a.tensor("self"))


@rule("leaky_relu")
def leaky_relu(r: Reader, a: Arguments) -> Tensor:
    slope = a["negative_slope"]
    if slope == 0.01:
        return apply(r, "leaky_relu", a.tensor("self"))
    first, again = a.shared("self")
    below = apply(r, "⊙", r.scalar(slope), apply(r, "min", again, plain(number(0))))
    return apply(r, "+", apply(r, "max", first, plain(number(0))), below)


@rule("elu")
def elu(r: Reader, a: Arguments) -> Tensor:
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
def celu(r: Reader, a: Arguments) -> Tensor:
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
def xlogy(r: Reader, a: Arguments) -> Tensor:
    first, again = a.shared("self")
    product = apply(r, "⊙", first, apply(r, "log", a.operand("other")))
    return chosen(r, compared(r, "=", again, plain(number(0))), plain(number(0)), product)


@rule("softplus")
def softplus(r: Reader, a: Arguments) -> Tensor:
    beta = a["beta"]
    a.skip("threshold")  # where PyTorch goes over to x, which is the same in float32
    if beta == 1:
        return apply(r, "softplus", a.tensor("self"))
    inner = apply(r, "⊙", r.scalar(beta), a.tensor("self"))
    return apply(r, "/", apply(r, "softplus", inner), r.scalar(beta))


@rule("mish")
def mish(r: Reader, a: Arguments) -> Tensor:
    first, again = a.shared("self")
    return apply(r, "⊙", first, apply(r, "tanh", apply(r, "softplus", again)))


@rule("hardshrink", "softshrink")
def shrink(r: Reader, a: Arguments) -> Tensor:
    first, again = a.shared("self")
    bound = r.scalar(a["lambd"])
    if a.operator == "hardshrink":
        return chosen(r, compared(r, ">", apply(r, "abs", again), bound), first, plain(number(0)))
    least = apply(r, "max", apply(r, "-", apply(r, "abs", again), bound), plain(number(0)))
    return apply(r, "⊙", apply(r, "sign", first), least)


@rule("threshold")
def threshold(r: Reader, a: Arguments) -> Tensor:
    first, again = a.shared("self")
    return chosen(r, compared(r, ">", again, r.scalar(a["threshold"])), first, r.scalar(a["value"]))


@rule("prelu", "_prelu_kernel")
def prelu(r: Reader, a: Arguments) -> Tensor:
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
def glu(r: Reader, a: Arguments) -> Tensor:
    first, again = a.shared("self")
    dim = a["dim"] % len(first.shape)
    half = first.shape[dim] // 2
    left = r.cut(first, dim, 0, half)
    right = r.cut(again, dim, half, half)
    return apply(r, "⊙", left, apply(r, "σ", right))


# --------------------------------------------------------------------------------------------- conditions and choices
def compared(r: Reader, operator: str, first: Tensor, second: Tensor) -> Tensor:
    return apply(r, operator, numeric(first), numeric(second), truth=True)


def chosen(r: Reader, truth: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """{ first if truth; second otherwise }"""
    tensors = fitted(r, truth, numeric(first), numeric(second))
    dims = aligned(r.axes, *(each.value for each in tensors))
    node = nodes.Cases(((tensors[1].node, truth.node), (tensors[2].node, None)))
    return Tensor(Value(node, dims), broadcast([each.shape for each in tensors]))


@rule(*COMPARED)
def comparison(r: Reader, a: Arguments) -> Tensor:
    return compared(r, COMPARED[a.operator], a.operand("self"), a.operand("other"))


@rule(*LOGICAL)
def logical(r: Reader, a: Arguments) -> Tensor:
    if "bool" not in str(a.dtype("self")) and not a.operator.startswith("logical"):
        raise Unreadable(f"aten.{a.operator} of integers works on bits")
    first, second = condition(a.operand("self")), condition(a.operand("other"))
    return apply(r, LOGICAL[a.operator], first, second, truth=True)


@rule("logical_not", "bitwise_not")
def negation(r: Reader, a: Arguments) -> Tensor:
    if "bool" not in str(a.dtype("self")) and a.operator == "bitwise_not":
        raise Unreadable("aten.bitwise_not of integers works on bits")
    return apply(r, "¬", condition(a.tensor("self")), truth=True)


@rule("where")
def where(r: Reader, a: Arguments) -> Tensor:
    return chosen(r, condition(a.tensor("condition")), a.operand("self"), a.operand("other"))


@rule("masked_fill")
def masked_fill(r: Reader, a: Arguments) -> Tensor:
    value = a.operand("value")
    return chosen(r, condition(a.tensor("mask")), value, a.tensor("self"))


@rule("tril", "triu")
def triangle(r: Reader, a: Arguments) -> Tensor:
    tensor = numeric(a.tensor("self"))
    if not tensor.dims[-1] or not tensor.dims[-2]:
        raise Unreadable(f"aten.{a.operator} of a tensor that repeats")
    tensor, row = r.views.joined(tensor, len(tensor.dims) - 2)
    tensor, column = r.views.joined(tensor, len(tensor.dims) - 1)
    bound = iota(row) if a["diagonal"] == 0 else call("+", [iota(row), number(a["diagonal"])])
    truth = call("≤" if a.operator == "tril" else "≥", [iota(column), bound])
    node = nodes.Cases(((tensor.node, truth), (number(0), None)))
    return tensor.with_node(node)


# ------------------------------------------------------------------------------------------------------------ reductions
REDUCED = {
    "sum": "∑", "mean": "mean", "amax": "max", "amin": "min", "max": "max", "min": "min", "prod": "∏", "logsumexp": "logsumexp",
    "any": "any", "all": "all",
}  # fmt: skip


def dimensions(a: Arguments, rank: int) -> list[int]:
    dim = a.get("dim")
    listed = range(rank) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
    return sorted({each % rank for each in listed}) if rank else []


def reduced(
    r: Reader, operator: str, x: Tensor, over: Sequence[int], keep: bool, parameters: Sequence[Node] = ()
) -> Tensor:
    inside = r.axes.expanded(axes_of(x.dims[each] for each in over))
    repeats = math.prod(x.shape[each] for each in over if not x.dims[each])
    if repeats != 1 and operator not in ("mean", "max", "min"):
        raise Unreadable(f"{operator} over a dimension that repeats")
    dims: list[Dim] = [() if place in over else dim for place, dim in enumerate(x.dims) if keep or place not in over]
    shape = [1 if place in over else each for place, each in enumerate(x.shape) if keep or place not in over]
    node = call(operator, (x.node,), inside, parameters) if inside else x.node
    return replace(x.with_node(node, dims, shape), over=tuple(inside))


@rule("sum", "mean", "amax", "amin", "prod", "logsumexp")
def reduction(r: Reader, a: Arguments) -> Tensor:
    a.skip("dtype")
    x = numeric(a.tensor("self"))
    return reduced(r, REDUCED[a.operator], x, dimensions(a, len(x.shape)), bool(a.get("keepdim")))


@rule("any", "all")
def quantified(r: Reader, a: Arguments) -> Tensor:
    x = condition(a.tensor("self"))
    return reduced(r, REDUCED[a.operator], x, dimensions(a, len(x.shape)), bool(a.get("keepdim")))


@rule("max", "min")
def extreme(r: Reader, a: Arguments) -> Tensor | tuple[Tensor | None, ...]:
    x = numeric(a.tensor("self"))
    if isinstance(a.get("other"), Tensor):
        return apply(r, a.operator, x, a.tensor("other"))
    found = reduced(r, a.operator, x, dimensions(a, len(x.shape)), bool(a.get("keepdim")))
    return (found, None) if a.several else found


@rule("var", "std", "var_mean", "std_mean")
def variance(r: Reader, a: Arguments) -> Tensor | tuple[Tensor | None, ...]:
    """PyTorch divides by n − 1 by default; `var` of the notation divides by n."""
    first, again = a.shared("self")
    over, keep = dimensions(a, len(first.shape)), bool(a.get("keepdim"))
    correction = a.get("correction", None)
    if correction is None:
        correction = 0 if a.get("unbiased") is False else 1
    found = reduced(r, "var", first, over, keep)
    if correction:
        n: Node = number(1)
        for axis in found.over:
            n = size(axis) if n == number(1) else call("⊙", [n, size(axis)])
        factor = call("/", [n, call("-", [n, number(correction)])])
        found = apply(r, "⊙", plain(factor), found)
    if a.operator.startswith("std"):
        found = apply(r, "sqrt", found)
    return (found, reduced(r, "mean", again, over, keep)) if a.several else found


@rule("linalg_vector_norm", "norm")
def norm(r: Reader, a: Arguments) -> Tensor:
    a.skip("dtype")
    x = a.tensor("self")
    order = a.get("ord", a.get("p"))
    order = 2 if order is None else order
    if order in (math.inf, -math.inf):
        return reduced(
            r, "max" if order > 0 else "min", apply(r, "abs", x), dimensions(a, len(x.shape)), bool(a.get("keepdim"))
        )
    parameters = [] if order == 2 else [number(order)]
    return reduced(r, "norm", x, dimensions(a, len(x.shape)), bool(a.get("keepdim")), parameters)


@rule("softmax", "_softmax", "_safe_softmax", "log_softmax", "_log_softmax", "cumsum", "cumprod")
def along_axis(r: Reader, a: Arguments) -> Tensor:
    a.skip("dtype", "half_to_float")
    x = numeric(a.tensor("self"))
    dim = a["dim"] % len(x.shape)
    if not x.dims[dim] and x.shape[dim] != 1:
        raise Unreadable(f"aten.{a.operator} over a dimension that repeats")
    name = a.operator.removeprefix("_").removeprefix("safe_").replace("log_", "log")
    if name.startswith("cum") and len(r.axes.expanded(x.dims[dim])) > 1:
        raise Unreadable(f"aten.{a.operator} over a dimension of several axes")
    return along(r, name, x, dim)


def along(r: Reader, name: str, x: Tensor, dim: int) -> Tensor:
    inside = r.axes.expanded(x.dims[dim])
    if not inside:
        return x.with_node({"softmax": number(1), "logsoftmax": number(0)}.get(name, x.node))
    return x.with_node(call(name, (x.node,), inside))


# -------------------------------------------------------------------------------------------------------------- products
def product(r: Reader, first: Tensor, second: Tensor) -> Tensor:
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
    left = first.value if len(first.dims) > 1 else replace(first.value, dims=((), *first.dims))
    right = second.value if len(second.dims) > 1 else replace(second.value, dims=(*second.dims, ()))
    inner = first.shape[-1]
    if bool(left.dims[-1]) != bool(right.dims[-2]):
        return repeated_product(r, left, right, first, second, inner)
    if inner == 1 or not left.dims[-1]:
        if inner != 1:
            raise Unreadable("a product over a dimension that repeats in both operands")
        return outer(r, left, right, first, second)
    value = matmul(r.axes, left, right)
    over = r.axes.expanded(left.dims[-1])
    return finished(r, value, first, second, over)


def repeated_product(r: Reader, left: Value, right: Value, first: Tensor, second: Tensor, inner: int) -> Tensor:
    """A product in which one operand repeats along the dimension that is summed: the other is summed alone."""
    if left.dims[-1]:
        over = r.axes.expanded(left.dims[-1])
        left = Value(call("∑", (left.node,), over), (*left.dims[:-1], ()))
    else:
        over = r.axes.expanded(right.dims[-2])
        right = Value(call("∑", (right.node,), over), (*right.dims[:-2], (), right.dims[-1]))
    return replace(outer(r, left, right, first, second), over=over)


def outer(r: Reader, left: Value, right: Value, first: Tensor, second: Tensor) -> Tensor:
    batch = aligned(r.axes, replace(left, dims=left.dims[:-2]), replace(right, dims=right.dims[:-2]))
    value = contracted(r.axes, left, right, (), (*batch, left.dims[-2], right.dims[-1]))
    return finished(r, value, first, second, ())


def finished(r: Reader, value: Value, first: Tensor, second: Tensor, over: Sequence[Axis]) -> Tensor:
    dims = list(value.dims)
    batch = broadcast([first.shape[:-2], second.shape[:-2]])
    shape = [*batch, *first.shape[-2:-1], *(second.shape[-1:] if len(second.shape) > 1 else ())]
    if len(first.shape) == 1 and len(dims) > len(shape):
        del dims[len(batch)]
    if len(dims) > len(shape):
        del dims[-1]
    r.axes.apart(axes_of(dims), over)
    return Tensor(Value(value.node, tuple(dims)), tuple(shape), over=tuple(over))


@rule("mm", "bmm", "matmul", "mv", "dot", "linear")
def products(r: Reader, a: Arguments) -> Tensor:
    if a.operator == "linear":
        found = product(r, a.tensor("input"), transposed(a.tensor("weight")))
        return found if a["bias"] is None else apply(r, "+", found, a.tensor("bias"))
    other = next(name for name in ("mat2", "other", "vec", "tensor") if a.has(name))
    return product(r, a.tensor("self"), a.tensor(other))


def transposed(x: Tensor) -> Tensor:
    if len(x.shape) < 2:
        return x
    return x.moved([*x.dims[:-2], x.dims[-1], x.dims[-2]], [*x.shape[:-2], x.shape[-1], x.shape[-2]])


@rule("addmm", "baddbmm", "addmv", "addbmm")
def add_product(r: Reader, a: Arguments) -> Tensor:
    if a.operator == "addbmm":
        raise Unreadable("aten.addbmm is not in the table")
    names = {"addmm": ("mat1", "mat2"), "baddbmm": ("batch1", "batch2"), "addmv": ("mat", "vec")}[a.operator]
    found = product(r, *(a.tensor(each) for each in names))
    if a["alpha"] != 1:
        found = r.scaled(found, a["alpha"], "mul") or apply(r, "⊙", r.scalar(a["alpha"]), found)
    if a["beta"] == 0:
        a.skip("self")
        return found
    bias = a.tensor("self")
    return apply(r, "+", found, bias if a["beta"] == 1 else apply(r, "⊙", r.scalar(a["beta"]), bias))


@rule("outer", "ger")
def outer_product(r: Reader, a: Arguments) -> Tensor:
    first, second = a.tensor("self"), a.tensor("vec2")
    return product(
        r, first.moved([*first.dims, ()], [*first.shape, 1]), second.moved([(), *second.dims], [1, *second.shape])
    )
