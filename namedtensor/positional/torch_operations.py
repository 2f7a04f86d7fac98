"""Translation rules for ATen operations that also occur in array code, and for products and layer norms.

`TABLE` maps each ATen operation to an operation of array code. The operands are tensors that broadcast, one tensor
reduced or transformed along some dimensions, or one tensor whose dimensions are only moved. An argument that a rule
does not translate must have its default value, because a formula that ignores the argument would be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from . import code  # noqa: F401 — it registers the operations
from .axes import axes_of
from .operations import Operation, Pair, find_operation, numeric
from .torch_graph import GraphReader
from .torch_records import varies
from .torch_tensors import TracedTensor, fill_lengths, plain
from .torch_trace import RULES, Rule, UnreadableModuleError, rule
from .values import AxisValue, align_values, call, matmul, number

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

OPERANDS = ("self", "other", "exponent", "values")  # arguments that are known by their position
DIMENSIONS = ("dim", "dims")
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
    """Apply an operator of the notation elementwise. Dimensions are aligned from the last."""
    if (short := simplify_zero(operator, tensors)) is not None:
        return short
    tensors = fit_dimensions(r, *tensors)
    dims = fill_lengths(align_values(r.axes, *tensors), broadcast([tensor.shape for tensor in tensors]))
    return TracedTensor(call(operator, [tensor.node for tensor in tensors]), dims)


def simplify_zero(operator: str, tensors: Sequence[TracedTensor]) -> TracedTensor | None:
    """Simplify 0 + x to x and 0 x to 0. Return None in all other cases."""
    if operator not in ("+", "⊙") or len(tensors) != 2:
        return None
    shape = broadcast([tensor.shape for tensor in tensors])
    for zero, other in (tensors, (tensors[1], tensors[0])):
        if zero.node == number(0):
            return (zero if operator == "⊙" else other).repeat_dimensions(shape)
    return None


def fit_dimensions(r: GraphReader, *tensors: TracedTensor) -> tuple[TracedTensor, ...]:
    """Return the tensors with axes split or merged so that aligned dimensions have equal numbers of axes.

    The dimensions are aligned from the last.
    """
    result = list(tensors)
    for one in range(len(result)):
        for two in range(one + 1, len(result)):
            for back in range(1, min(len(result[one].dims), len(result[two].dims)) + 1):
                result[one], result[two] = r.views.fit_dimensions(result[one], -back, result[two], -back)
    return tuple(result)


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded))


def to_tensor(operand: Any) -> TracedTensor:
    """Convert a tensor, condition or number to a tensor with numeric elements."""
    return numeric(operand) if isinstance(operand, TracedTensor) else plain(number(operand))


def condition(tensor: TracedTensor) -> TracedTensor:
    """Convert a tensor to a condition that is true for elements other than 0."""
    if tensor.truth:
        return tensor
    return replace(tensor, node=call("≠", [tensor.node, number(0)]), truth=True)


# -------------------------------------------------------------------------------------------------- the table of array code
def read_by_table(r: GraphReader, name: str, record: Operation, **arguments: Any) -> Any:
    """Translate the current step by the table operation with this name."""
    slots = [parameter.default for parameter in record.parameters]
    places = places_of(record)
    for at, word in enumerate(r.step_now.arguments):
        slot = at if word in OPERANDS else places.get(word)
        if slot is not None and word in arguments and arguments[word] not in (None, [], ()):
            slots[slot] = operand(r, name, word, arguments[word])
    operator = r.step_now.operator
    if operator in BROADCAST:
        slots = broadcasting(r, operator, slots)
    elif operator not in MOVED:
        slots = selecting(r, name, slots, [arguments[word] for word in DIMENSIONS if word in arguments])
    taken = [value for value, parameter in zip(slots, record.parameters) if not parameter.fixed]
    over = slots[0].axes if name == "sum" else ()
    value = single(r, name, slots, arguments.get("dim", -1)) or record.rule(r.axes, *taken)
    result = make_traced_tensor(r, value.values if isinstance(value, Pair) else value, r.shapes_now[0])
    if over:
        roots = {axis.root for axis in result.axes}
        result = replace(result, over=r.axes.expand_axes(axis for axis in over if axis.root not in roots))
    return result


def places_of(record: Operation) -> dict[str, int]:
    """Return a map from each name of a parameter to the parameter's position in the operation."""
    listed = [(at, parameter.names) for at, parameter in enumerate(record.parameters) if not parameter.fixed]
    return {word: at for at, names in listed for word in names}


def operand(r: GraphReader, name: str, word: str, value: Any) -> Any:
    """Convert an argument to the form that the table of operations accepts."""
    if isinstance(value, TracedTensor) and r.step_now.operator not in MOVED:
        return condition(value) if name in ARE_TRUE or word in CONDITIONS.get(name, ()) else numeric(value)
    return tuple(value) if isinstance(value, list) else value


def broadcasting(r: GraphReader, operator: str, slots: list[Any]) -> list[Any]:
    """Return the arguments of a broadcasting operation. Aligned dimensions get equal numbers of axes."""
    if operator.startswith("bitwise") and "bool" not in str(r.dtype_of("self")):
        raise UnreadableModuleError(f"aten.{operator} of integers works on bits")
    places = [at for at, value in enumerate(slots) if isinstance(value, TracedTensor)]
    tensors = fit_dimensions(r, *(slots[at] for at in places))
    result = [*slots]
    for at, tensor in zip(places, tensors):
        result[at] = tensor
    return result


def selecting(r: GraphReader, name: str, slots: list[Any], chosen: list[Any]) -> list[Any]:
    """Return the arguments of a call, after giving the first tensor an axis along each selected dimension.

    Except for reductions and softmax, the tensor has exactly one axis along each of these dimensions.
    """
    x, operator = slots[0], r.step_now.operator
    dims = next(iter(chosen), None)
    if dims is None and name in ("argmax", "argmin"):
        if any(varies(length) for length in x.shape):
            raise UnreadableModuleError(f"aten.{operator} over all elements, where sizes are free")
        x = r.views.regroup_dimensions(x, (math.prod(x.shape),))
    listed = (-2, -1) if name in ("tril", "triu") else range(len(x.shape)) if dims in (None, []) else dims
    listed = [listed] if isinstance(listed, int) else listed
    for dim in listed:
        if x.shape and x.shape[dim] != 1:
            x = r.with_axis(x, dim) if operator in REDUCED or name in SEVERAL else r.with_one_axis(x, dim)
    slots[0] = x
    if name == "flip":
        slots[1] = tuple(dim for dim in listed if x.dims[dim])
    return slots


def single(r: GraphReader, name: str, slots: list[Any], dim: int | None) -> AxisValue | None:
    """Return the value of an operation along a size-1 dimension, which has no axis. Return None in all other cases."""
    x = slots[0]
    if r.step_now.operator not in ALONG or name in ("tril", "triu", "roll"):
        return None
    if x.dims and (dim is None or x.dims[dim]) and (name != "flip" or slots[1]):
        return None
    return AxisValue(number(OF_ONE[name]), ((),) * len(r.shapes_now[0])) if name in OF_ONE else x


def from_table(r: GraphReader, name: str, hint: str, shape: Sequence[int], *arguments: Any) -> TracedTensor:
    """Apply a table operation, and return its value with this shape. `hint` suggests names for the axes it creates."""
    record, known = find_operation(name, "torch"), len(r.axes.all)
    assert record is not None
    value = record.rule(r.axes, *arguments)
    for axis in [*r.axes.all.values()][known:]:
        axis.kind.hint = axis.kind.hint or hint
    return make_traced_tensor(r, value, shape)


def make_traced_tensor(r: GraphReader, value: Any, shape: Sequence[int]) -> TracedTensor:
    """Return a value from the table as a traced tensor. Its `shape` determines the sizes of new axes."""
    for axis, size in [*r.axes.facts.stated, *r.axes.facts.pinned]:
        axis.kind.size = axis.kind.size or size
    for at, (dim, length) in enumerate(zip(value.dims, shape)):
        if len(dim) == 1 and dim[0].kind.size is None:
            dim[0].kind.size = length
        if dim and length == 1:
            dims = (*value.dims[:at], (), *value.dims[at + 1 :])
            value = replace(value, node=nodes.Index(value.node, ((nodes.Axis(dim[0].key), number(1)),)), dims=dims)
    if isinstance(value, TracedTensor):
        return value.moved(fill_lengths(value.dims, shape))
    return TracedTensor(value.node, fill_lengths(value.dims, shape), truth=value.truth)


for aten, name in {**BROADCAST, **REDUCED, **ALONG, **MOVED}.items():
    record = find_operation(name, "torch")
    assert record is not None
    taken = frozenset((*OPERANDS, *places_of(record)))
    RULES[aten] = Rule(partial(read_by_table, name=name, record=record), taken, SKIPPED, aten in MOVED)


# ----------------------------------------------------------------------------------------------------------- arithmetic
OPERATORS = {"add": "+", "sub": "-", "mul": "⊙", "div": "/"}


@rule(*OPERATORS)
def arithmetic(
    r: GraphReader, self: Any, other: Any, alpha: float = 1, rounding_mode: str | None = None
) -> TracedTensor:
    """Translate +, −, × or /. A number factor that equals the square root of a size is written as this root."""
    first, second, operator = to_tensor(self), to_tensor(other), OPERATORS[r.step_now.operator]
    if isinstance(other, (int, float)) and alpha == 1:
        if other == (0 if operator in "+-" else 1):
            return first
        if operator in "⊙/" and (scaled := r.scaled(first, other, r.step_now.operator)) is not None:
            return scaled
    if alpha != 1:
        second = apply(r, "⊙", plain(number(alpha)), second)
    if operator == "+" and (sign := get_operand_of_minus(second.node)) is not None:  # x + (−3)
        operator, second = "-", second.with_node(sign)
    if operator == "⊙" and not second.dims and not isinstance(second.node, nodes.Size) and first.dims:
        first, second = second, first  # a number before a tensor
    result = apply(r, operator, first, second)
    if rounding_mode == "trunc":
        raise UnreadableModuleError("div rounds toward zero")
    return result if rounding_mode is None else apply(r, "floor", result)


def get_operand_of_minus(node: Node) -> Node | None:
    if isinstance(node, nodes.Call) and node.operator == "negative" and isinstance(node.arguments[0], nodes.Number):
        return node.arguments[0]
    return None


# ---------------------------------------------------------------------------------------------------------------- types
@rule("alias", "clone", "detach", "lift_fresh", "lift", moves=True)
def same(r: GraphReader, self: TracedTensor) -> TracedTensor:
    return self


@rule("_to_copy", moves=True)
def cast(r: GraphReader, self: TracedTensor) -> TracedTensor:
    before, after = r.dtype_of("self"), r.runs.tensors[r.step_now.results[0].index].first.dtype
    if "bool" in str(after):
        return self if self.truth else condition(self.used(r.axes))
    if after.is_complex:
        raise UnreadableModuleError("complex numbers have no form in the notation", final=True)
    if before.is_floating_point and not after.is_floating_point:
        raise UnreadableModuleError(f"a cast to {after} cuts fractions off", hint="write floor")
    return self if self.named else numeric(self)


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
    return TracedTensor(value.node, value.dims, over=over)


@rule("addmm", "baddbmm", "addmv")
def add_product(r: GraphReader, self: TracedTensor, first: TracedTensor, other: TracedTensor) -> TracedTensor:
    return apply(r, "+", product(r, first, other), self)


def transpose_last(x: TracedTensor) -> TracedTensor:
    """Return a tensor with its last two dimensions exchanged. A vector is returned unchanged."""
    return x if len(x.shape) < 2 else x.permute_dimensions([*range(len(x.shape) - 2), -1, -2])


@rule("native_layer_norm")
def layer_norm(
    r: GraphReader,
    input: TracedTensor,
    normalized_shape: Sequence[int],
    eps: float,
    weight: TracedTensor | None = None,
    bias: TracedTensor | None = None,
) -> TracedTensor:
    x, rank = input, len(normalized_shape)
    for dim in range(-rank, 0):
        x = r.with_axis(x, dim) if x.shape[dim] != 1 else x
    over = r.axes.expand_axes(axes_of(x.dims[-rank:]))
    x = x.with_node(call("standardize", (x.node,), over, [] if eps == 1e-5 else [number(eps)]))
    x = x if weight is None else apply(r, "⊙", x, weight)
    return x if bias is None else apply(r, "+", x, bias)
