"""ATen operations read by array code's table of operations: elementwise, reductions, functions along a dimension, orders of dimensions.

`TABLE` names the operation of array code for each. The operands are tensors that broadcast, one tensor over some of its
dimensions, or a tensor whose dimensions alone change. An argument that a rule does not read must have its
default: a keyword that is ignored would be a wrong formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from . import code  # noqa: F401 — it registers the operations
from .operations import Pair, Truth, named_operation
from .torch_graph import GraphReader, OperationArguments
from .torch_records import varies
from .torch_tensors import TracedTensor, plain
from .torch_trace import RULES, UnreadableModule, rule
from .values import AxisValue, aligned, call, number

BROADCAST = {
    **{name: name for name in """relu tanh sigmoid exp sqrt silu cos sin log log2 log10 log1p expm1 exp2 abs erf lgamma sign floor ceil
        round trunc tan sinh cosh atan asin acos neg gelu elu leaky_relu softplus mish reciprocal rsqrt hypot copysign heaviside logaddexp floor_divide
        remainder fmod maximum minimum fmax fmin pow clamp hardtanh eq ne lt le gt ge logical_and logical_or logical_not where
        masked_fill""".split()},
    "clamp_min": "clamp", "clamp_max": "clamp", "log_sigmoid_forward": "logsigmoid", "bitwise_and": "logical_and",
    "bitwise_or": "logical_or", "bitwise_not": "logical_not",
}  # fmt: skip
REDUCED = {
    **{name: name for name in "sum mean amax amin max min prod logsumexp any all var std norm".split()},
    "linalg_vector_norm": "vector_norm",
}
ALONG = {
    **{name: name for name in "softmax log_softmax cumsum cumprod sort argmax argmin flip roll tril triu".split()},
    "_softmax": "softmax", "_safe_softmax": "softmax", "_log_softmax": "log_softmax",
}  # fmt: skip
MOVED = {name: name for name in "permute transpose t unsqueeze".split()}
TABLE = {**BROADCAST, **REDUCED, **ALONG, **MOVED}

OPERANDS = ("self", "other", "exponent", "values")  # arguments that are known by their position
SKIPPED = ("half_to_float", "stable", "threshold")
CONDITIONS = {"where": ("condition",), "masked_fill": ("mask",)}  # arguments that are true or false
ARE_TRUE = ("logical_and", "logical_or", "logical_not", "any", "all")
SEVERAL = ("softmax", "log_softmax")  # functions along all axes of a dimension at once
OF_ONE = {
    "softmax": 1,
    "log_softmax": 0,
    "argmax": 0,
    "argmin": 0,
}  # the value over a single element, if not the element


# --------------------------------------------------------------------------------------------------------------- values
def apply(r: GraphReader, operator: str, *tensors: TracedTensor) -> TracedTensor:
    """Return an operator of the notation, element by element, on tensors whose dimensions are aligned from the last."""
    if (short := without_zero(operator, tensors)) is not None:
        return short
    return elementwise(r, lambda *operands: call(operator, operands), *tensors)


def elementwise(r: GraphReader, make: Callable[..., Node], *tensors: TracedTensor) -> TracedTensor:
    """Return a node of the nodes of tensors, whose dimensions are aligned from the last."""
    tensors = fitted(r, *tensors)
    dims = aligned(r.axes, *tensors)
    shape = broadcast([tensor.shape for tensor in tensors])
    return TracedTensor(make(*(tensor.node for tensor in tensors)), dims, shape=shape)


def without_zero(operator: str, tensors: Sequence[TracedTensor]) -> TracedTensor | None:
    """Return x for 0 + x, and 0 for 0 x."""
    if operator not in ("+", "⊙") or len(tensors) != 2:
        return None
    shape = broadcast([tensor.shape for tensor in tensors])
    for zero, other in (tensors, (tensors[1], tensors[0])):
        if zero.node == number(0):
            return (zero if operator == "⊙" else other).led(shape)
    return None


def fitted(r: GraphReader, *tensors: TracedTensor) -> tuple[TracedTensor, ...]:
    """Return tensors whose dimensions, aligned from the last, have as many axes."""
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
    """Return a condition as 1 and 0."""
    if not tensor.truth:
        return tensor
    return replace(tensor, node=nodes.Indicator(tensor.node), truth=False)


def condition(tensor: TracedTensor) -> TracedTensor:
    """Return a number as a condition: not 0."""
    if tensor.truth:
        return tensor
    return replace(tensor, node=call("≠", [tensor.node, number(0)]), truth=True)


# ------------------------------------------------------------------------------------------------------- array code's table
def read_by_table(r: GraphReader, a: OperationArguments) -> Any:
    """Read a step by the operation of array code that its name has."""
    name = TABLE[a.operator]
    record = named_operation(name, "torch")
    assert record is not None
    slots = [parameter.default for parameter in record.parameters]
    places = {
        word: at for at, parameter in enumerate(record.parameters) if not parameter.fixed for word in parameter.names
    }
    for at, word in enumerate(a.step.arguments):
        slot = at if word in OPERANDS else places.get(word)
        if slot is not None:
            value = operand(r, a, name, word)
            slots[slot] = slots[slot] if value in (None, ()) else value
    a.skip(*SKIPPED)
    prepare = broadcasting if a.operator in BROADCAST else selecting if a.operator not in MOVED else None
    if prepare is not None:
        slots = prepare(r, a, name, slots)
    arguments = [value for value, parameter in zip(slots, record.parameters) if not parameter.fixed]
    over = slots[0].axes if name == "sum" else ()
    value = single(a, name, slots) or record.rule(r.axes, *arguments)
    result = traced_tensor(r, value.values if isinstance(value, Pair) else value, a.result_shape())
    if over:
        roots = {axis.root for axis in result.axes}
        result = replace(result, over=r.axes.expanded(axis for axis in over if axis.root not in roots))
    return (result, None) if a.several else result


def operand(r: GraphReader, a: OperationArguments, name: str, word: str) -> Any:
    """Return an argument as the table takes it: a separate use of a tensor, or a plain value."""
    value = a[word]
    if a.is_tensor(word):
        tensor = a.raw(word) if a.operator in MOVED else a.tensor(word)
        truth = name in ARE_TRUE or word in CONDITIONS.get(name, ())
        return tensor if a.operator in MOVED else condition(tensor) if truth else numeric(tensor)
    if isinstance(value, (list, tuple)):
        return tuple(value)
    return value


def broadcasting(r: GraphReader, a: OperationArguments, name: str, slots: list[Any]) -> list[Any]:
    """Return the arguments, in which dimensions that meet have as many axes."""
    if a.operator.startswith("bitwise") and "bool" not in str(a.dtype()):
        raise UnreadableModule(f"aten.{a.operator} of integers works on bits")
    places = [at for at, value in enumerate(slots) if isinstance(value, TracedTensor)]
    tensors = fitted(r, *(slots[at] for at in places))
    result = [*slots]
    for at, tensor in zip(places, tensors):
        result[at] = Truth(tensor.node, tensor.dims) if tensor.truth else tensor
    return result


def selecting(r: GraphReader, a: OperationArguments, name: str, slots: list[Any]) -> list[Any]:
    """Return the arguments with a tensor that has an axis along each of the dimensions that a call names."""
    x = slots[0]
    dims = next((a[word] for word in ("dim", "dims") if a.has(word)), None)
    if dims is None and name in ("argmax", "argmin"):
        if any(varies(length) for length in x.shape):
            raise UnreadableModule(f"aten.{a.operator} over all elements, where sizes are free")
        x = r.views.regrouped(x, (math.prod(x.shape),))
    listed = (-2, -1) if name in ("tril", "triu") else range(len(x.shape)) if dims in (None, []) else dims
    listed = [listed] if isinstance(listed, int) else listed
    for dim in listed:
        if x.shape and x.shape[dim] != 1:
            x = r.with_axis(x, dim)
            x = x if a.operator in REDUCED or name in SEVERAL else r.views.joined(x, dim)[0]
    slots[0] = Truth(x.node, x.dims) if x.truth else x
    if name == "flip":
        slots[1] = tuple(dim for dim in listed if x.dims[dim])
    return slots


def single(a: OperationArguments, name: str, slots: list[Any]) -> AxisValue | None:
    """Return the value of a function along a dimension of one element, which has no axis."""
    x = slots[0]
    if a.operator not in ALONG or name in ("tril", "triu", "roll"):
        return None
    dim = a["dim"] if a.has("dim") else -1
    if x.dims and (dim is None or x.dims[dim]) and (name != "flip" or slots[1]):
        return None
    return AxisValue(number(OF_ONE[name]), ((),) * len(a.result_shape())) if name in OF_ONE else x


def traced_tensor(r: GraphReader, value: Any, shape: Sequence[int]) -> TracedTensor:
    """Return a value of the table with the shape of the trace, which gives new axes their sizes."""
    for axis, size in [*r.axes.facts.stated, *r.axes.facts.pinned]:
        axis.kind.size = axis.kind.size or size
    for dim, length in zip(value.dims, shape):
        if len(dim) == 1 and dim[0].kind.size is None:
            dim[0].kind.size = length
    if isinstance(value, TracedTensor):
        return value.moved(value.dims, shape)
    return TracedTensor(value.node, value.dims, shape=tuple(shape), truth=isinstance(value, Truth))


RULES.update(dict.fromkeys(TABLE, read_by_table))


# ----------------------------------------------------------------------------------------------------------- arithmetic
OPERATORS = {"add": "+", "sub": "-", "mul": "⊙", "div": "/"}


@rule(*OPERATORS)
def arithmetic(r: GraphReader, a: OperationArguments) -> TracedTensor:
    """Read a sum, a product and their inverses; a factor that is the root of a size is written as that root."""
    first, second = numeric(a.operand("self")), a["other"]
    operator, alpha = OPERATORS[a.operator], a.get("alpha", 1)
    if isinstance(second, (int, float)) and alpha == 1:
        if second == (0 if operator in "+-" else 1):
            return first
        if operator in "⊙/" and (scaled := r.scaled(first, second, a.operator)) is not None:
            return scaled
    other = numeric(a.operand("other"))
    if alpha != 1:
        other = apply(r, "⊙", plain(number(alpha)), other)
    if operator == "+" and (sign := negated(other.node)) is not None:  # x + (−3)
        operator, other = "-", other.with_node(sign)
    if operator == "⊙" and not other.dims and not isinstance(other.node, nodes.Size) and first.dims:
        first, other = other, first  # a number before a tensor
    result = apply(r, operator, first, other)
    if (rounding := a.get("rounding_mode")) == "trunc":
        raise UnreadableModule("div rounds toward zero")
    return result if rounding is None else apply(r, "floor", result)


def negated(node: Node) -> Node | None:
    if isinstance(node, nodes.Call) and node.operator == "negative" and isinstance(node.arguments[0], nodes.Number):
        return node.arguments[0]
    return None


@rule("rsub")
def reversed_difference(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return apply(r, "-", numeric(a.operand("other")), numeric(a.tensor("self")))


# ---------------------------------------------------------------------------------------------------------------- types
@rule("alias", "clone", "detach", "lift_fresh", "lift")
def same(r: GraphReader, a: OperationArguments) -> TracedTensor:
    return a.raw("self")


@rule("_to_copy")
def cast(r: GraphReader, a: OperationArguments) -> TracedTensor:
    before, after = a.dtype(), a.result_dtype()
    if "bool" in str(after):
        return a.raw("self") if a.raw("self").truth else condition(a.tensor("self"))
    if after.is_complex:
        raise UnreadableModule("complex numbers have no form in the notation", final=True)
    if before.is_floating_point and not after.is_floating_point:
        raise UnreadableModule(f"a cast to {after} cuts fractions off", hint="write floor")
    tensor = a.raw("self")
    return tensor if tensor.named or not tensor.truth else numeric(tensor)
