"""Operations of ATen as nodes of the notation: elementwise, reductions, products, comparisons. One rule for each.

A rule takes the reader and the arguments of a step, and gives a tensor, or several. An argument that it does not read must
have its default: a keyword that is ignored would be a wrong formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grammar import nodes
from grammar.nodes import Node

from .torch_graph import GraphReader, OperationArguments
from .torch_rules import RULES, rule
from .torch_tensors import TracedTensor, plain
from .torch_trace import UnreadableModule
from .values import aligned, call, iota, number, plus

# --------------------------------------------------------------------------------------------------------- elementwise
UNARY = {
    "relu": "relu", "tanh": "tanh", "sigmoid": "σ", "exp": "exp", "sqrt": "sqrt", "silu": "silu", "cos": "cos", "sin": "sin",
    "log": "log", "log1p": "log1p", "expm1": "expm1", "abs": "abs", "erf": "erf", "sign": "sign", "floor": "floor",
    "ceil": "ceil", "round": "round", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "atan": "arctan", "asin": "arcsin",
    "acos": "arccos", "neg": "negative", "lgamma": "lgamma", "elu": "elu", "leaky_relu": "leaky_relu", "softplus": "softplus",
}  # fmt: skip
SAME = ("alias", "clone", "detach", "lift_fresh", "lift")
BINARY = {"add": "+", "sub": "-", "mul": "⊙", "div": "/"}
PAIRED = {"maximum": "max", "minimum": "min", "remainder": "mod"}
COMPARED = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
LOGICAL = {"logical_and": "∧", "logical_or": "∨", "bitwise_and": "∧", "bitwise_or": "∨"}


def apply(r: GraphReader, operator: str, *tensors: TracedTensor, truth: bool = False) -> TracedTensor:
    """An operator, element by element, on tensors whose dimensions are aligned from the last."""
    if (short := without_zero(operator, tensors)) is not None:
        return short
    result = elementwise(r, lambda *operands: call(operator, operands), *tensors)
    return replace(result, truth=truth)


def elementwise(r: GraphReader, make: Callable[..., Node], *tensors: TracedTensor) -> TracedTensor:
    """A node of the nodes of tensors, whose dimensions are aligned from the last."""
    tensors = fitted(r, *tensors)
    dims = aligned(r.axes, *tensors)
    shape = broadcast([tensor.shape for tensor in tensors])
    return TracedTensor(make(*(tensor.node for tensor in tensors)), dims, shape=shape)


def without_zero(operator: str, tensors: Sequence[TracedTensor]) -> TracedTensor | None:
    """0 + x is x, and 0 x is 0."""
    if operator not in ("+", "⊙") or len(tensors) != 2:
        return None
    shape = broadcast([tensor.shape for tensor in tensors])
    for zero, other in (tensors, (tensors[1], tensors[0])):
        if zero.node == number(0):
            return (zero if operator == "⊙" else other).led(shape)
    return None


def fitted(r: GraphReader, *tensors: TracedTensor) -> tuple[TracedTensor, ...]:
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
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded))


def numeric(tensor: TracedTensor) -> TracedTensor:
    """A condition as 1 and 0."""
    if not tensor.truth:
        return tensor
    return replace(tensor, node=nodes.Indicator(tensor.node), truth=False)


def condition(tensor: TracedTensor) -> TracedTensor:
    """A number as a condition: not 0."""
    if tensor.truth:
        return tensor
    return replace(tensor, node=call("≠", [tensor.node, number(0)]), truth=True)


def unary(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, UNARY[a.operator], numeric(a.tensor("self")))


RULES.update(dict.fromkeys(UNARY, unary))
RULES["log_sigmoid_forward"] = lambda r, a: (apply(r, "logsigmoid", numeric(a.tensor("self"))), None)


@rule(*SAME)
def same(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return a.raw("self")


@rule("_to_copy")
def cast(r: GraphReader, a: OperationArguments) -> TracedTensor:
    before, after = a.dtype(), a.result_dtype()
    if before.is_floating_point and not after.is_floating_point:
        if str(after) == "torch.bool":
            return condition(a.tensor("self"))
        raise UnreadableModule(f"a cast to {after} cuts fractions off", hint="write floor")
    tensor = a.raw("self")
    if str(after) == "torch.bool":
        return condition(tensor) if tensor.truth else condition(a.tensor("self"))
    return tensor if tensor.named or not tensor.truth else numeric(tensor)


@rule(*BINARY)
def binary(r: GraphReader, a: OperationArguments) -> TracedTensor:
    if a.get("rounding_mode") is not None:
        if a["rounding_mode"] != "floor":
            raise UnreadableModule("div rounds toward zero")
        return floor_divide(r, a)
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


def neutral(operator: str, first: TracedTensor, second: float) -> TracedTensor | None:
    """x + 0, x · 1: nothing is left of it."""
    return first if second == (0 if operator in ("add", "sub") else 1) else None


def negated(node: Node) -> Node | None:
    if isinstance(node, nodes.Call) and node.operator == "negative" and isinstance(node.arguments[0], nodes.Number):
        return node.arguments[0]
    return None


@rule("floor_divide")
def floor_divide(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, "floor", apply(r, "/", numeric(a.operand("self")), numeric(a.operand("other"))))


@rule("rsub")
def reversed_difference(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, "-", numeric(a.operand("other")), numeric(a.tensor("self")))


@rule("reciprocal")
def reciprocal(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, "/", plain(number(1)), numeric(a.tensor("self")))


@rule("pow")
def power(r: GraphReader, a: OperationArguments) -> TracedTensor:
    base, exponent = numeric(a.operand("self")), a.operand("exponent")
    if not exponent.dims and exponent.node == number(0.5):
        return apply(r, "sqrt", base)
    return elementwise(r, lambda x, power: nodes.Superscript(x, (power,)), base, exponent)


@rule("gelu")
def gelu(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, "gelu_tanh" if a["approximate"] == "tanh" else "gelu", a.tensor("self"))


@rule(*PAIRED)
def paired(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, PAIRED[a.operator], numeric(a.operand("self")), numeric(a.operand("other")))


@rule("clamp", "clamp_min", "clamp_max", "hardtanh")
def clamp(r: GraphReader, a: OperationArguments) -> TracedTensor:
    low, high = (
        next((name for name in names if a.has(name)), "") for names in (("min", "min_val"), ("max", "max_val"))
    )
    x = numeric(a.tensor("self"))
    for operator, name in (("max", low), ("min", high)):
        if name and a[name] is not None:
            x = apply(r, operator, x, a.operand(name))
    return x


# --------------------------------------------------------------------------------------------- conditions and choices
def chosen(r: GraphReader, truth: TracedTensor, first: TracedTensor, second: TracedTensor) -> TracedTensor:
    """{ first if truth; second otherwise }"""
    return elementwise(
        r, lambda holds, one, other: nodes.Cases(((one, holds), (other, None))), truth, numeric(first), numeric(second)
    )


@rule(*COMPARED)
def comparison(r: GraphReader, a: OperationArguments) -> TracedTensor:
    first, second = numeric(a.operand("self")), numeric(a.operand("other"))
    return apply(r, COMPARED[a.operator], first, second, truth=True)


@rule(*LOGICAL)
def logical(r: GraphReader, a: OperationArguments) -> TracedTensor:
    if "bool" not in str(a.dtype()) and not a.operator.startswith("logical"):
        raise UnreadableModule(f"aten.{a.operator} of integers works on bits")
    first, second = condition(a.operand("self")), condition(a.operand("other"))
    return apply(r, LOGICAL[a.operator], first, second, truth=True)


@rule("logical_not", "bitwise_not")
def negation(r: GraphReader, a: OperationArguments) -> TracedTensor:
    if "bool" not in str(a.dtype()) and a.operator == "bitwise_not":
        raise UnreadableModule("aten.bitwise_not of integers works on bits")
    return apply(r, "¬", condition(a.tensor("self")), truth=True)


@rule("where")
def where(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return chosen(r, condition(a.tensor("condition")), a.operand("self"), a.operand("other"))


@rule("masked_fill")
def masked_fill(r: GraphReader, a: OperationArguments) -> TracedTensor:
    value = a.operand("value")
    return chosen(r, condition(a.tensor("mask")), value, a.tensor("self"))


@rule("tril", "triu")
def triangle(r: GraphReader, a: OperationArguments) -> TracedTensor:
    x, truth = triangular(r, numeric(a.tensor("self")), "≤" if a.operator == "tril" else "≥", a["diagonal"])
    return x.with_node(nodes.Cases(((x.node, truth), (number(0), None))))


def triangular(r: GraphReader, x: TracedTensor, relation: str, diagonal: int = 0) -> tuple[TracedTensor, Node]:
    """Where the number of the column is at most, or at least, that of the row plus `diagonal`."""
    if not x.dims[-1] or not x.dims[-2]:
        raise UnreadableModule(f"aten.{r.step_now.operator} of a tensor that repeats")
    x, row = r.views.joined(x, len(x.dims) - 2)
    x, column = r.views.joined(x, len(x.dims) - 1)
    return x, call(relation, (iota(column), plus(iota(row), diagonal)))
