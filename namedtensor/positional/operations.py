"""Operations of array code, one record each: its names, the parameters it knows, its rule on dimensions and axes, its value.

A call is bound to the parameters of its record, `axis|dim=None` by either name; a keyword that the record does not list is
refused, since a formula without it would be another. `rule` gives the value in named notation, `array` that of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grammar import nodes
from grammar.nodes import Node

from . import values
from .axes import Axes, Axis, Dim, axes_of
from .plain_functions import ELEMENTWISE, gelu, gelu_tanh, inverse, softmax, solution
from .values import Value, call, number

REQUIRED = object()


class Misuse(Exception):
    """A call that its record does not know, in words."""


@dataclass(frozen=True)
class Parameter:
    names: tuple[str, ...]
    default: Any = REQUIRED


@dataclass(frozen=True)
class Operation:
    """One operation. `library` is "numpy" or "torch" where its meaning is not that of both."""

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    rule: Callable[..., Any]
    array: Callable[..., Any]
    library: str = ""
    variadic: bool = False
    positional: int = 99  # how many NumPy takes by position

    def bound(self, arguments: Sequence[Any], keywords: dict[str, Any], library: str = "") -> list[Any]:
        """The arguments in the order of the parameters. Raises Misuse for one that is not known, or that is missing."""
        if library != "torch" and len(arguments) > self.positional:
            raise Misuse(f"{self.names[0]} takes {self.positional} arguments by position, got {len(arguments)}")
        if self.variadic:
            return [arguments[0], *self.rest(arguments[1:], keywords)]
        if len(arguments) > len(self.parameters):
            raise Misuse(f"{self.names[0]} takes {len(self.parameters)} arguments here, got {len(arguments)}")
        known = {name: position for position, parameter in enumerate(self.parameters) for name in parameter.names}
        result = [*arguments, *(parameter.default for parameter in self.parameters[len(arguments) :])]
        for name, value in keywords.items():
            if name not in known:
                raise Misuse(f"the keyword {name} of {self.names[0]} is not supported")
            result[known[name]] = value
        if any(value is REQUIRED for value in result):
            raise Misuse(f"{self.names[0]} is missing an argument")
        return result

    def rest(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> list[Any]:
        """The remaining arguments as one tuple: permute(0, 2, 1) and permute((0, 2, 1))."""
        name = self.parameters[1].names
        for keyword in keywords:
            if keyword not in name:
                raise Misuse(f"the keyword {keyword} of {self.names[0]} is not supported")
        listed = [*keywords.values()] or list(arguments)
        return [tuple(listed[0]) if len(listed) == 1 and isinstance(listed[0], (tuple, list)) else tuple(listed)]


OPERATIONS: dict[str, list[Operation]] = {}


def parameters_of(text: str) -> tuple[Parameter, ...]:
    """Parameters as they are written: x, axis|dim=None, keepdims|keepdim=False"""
    result = []
    for piece in text.split(","):
        names, equals, default = piece.strip().partition("=")
        result.append(Parameter(tuple(names.split("|")), DEFAULTS[default] if equals else REQUIRED))
    return tuple(result)


DEFAULTS: dict[str, Any] = {
    "None": None,
    "False": False,
    "True": True,
    "0": 0,
    "1": 1,
    "-1": -1,
    "0.5": 0.5,
    "1e-5": 1e-5,
    "'none'": "none",
    "0.0": 0.0,
}


def operation(names: str, parameters: str, rule: Any, array: Any, library: str = "", variadic: bool = False) -> None:
    before, star, after = parameters.partition(", *")
    listed = parameters_of(before + after)
    positional = len(parameters_of(before)) if star else 99
    record = Operation(tuple(names.split()), listed, rule, array, library, variadic, positional)
    for name in record.names:
        OPERATIONS.setdefault(name, []).append(record)


def found(name: str, library: str) -> Operation | None:
    """The record of a name in a library; where several have it, that library's."""
    records = OPERATIONS.get(name, [])
    return next((record for record in records if record.library in ("", library)), None)


# ------------------------------------------------------------------------------------------------------------- pieces
class Size:
    """The length of a dimension: x.shape[0]."""

    def __init__(self, dim: Dim):
        self.dim = dim


class Part:
    """A length divided, d // heads: what a split of that dimension leaves."""

    def __init__(self, whole: Size, divisor: int):
        self.whole, self.divisor = whole, divisor


def as_value(x: Any) -> Value:
    """A tensor, number or length as a value. Raises Misuse for anything else."""
    if isinstance(x, Value):
        return x
    if isinstance(x, bool) or x is None:
        raise Misuse(f"{x} is not a tensor or a number")
    if isinstance(x, (int, float)):
        return Value(number(x))
    if isinstance(x, Size):
        node: Node = number(1)
        for position, axis in enumerate(x.dim):
            node = values.size(axis) if position == 0 else call("⊙", (node, values.size(axis)))
        return Value(node)
    raise Misuse(f"{type(x).__name__} is not a tensor or a number")


def numeric(x: Any) -> Value:
    """A value whose elements are numbers: a condition counts 1 where it holds."""
    value = as_value(x)
    return Value(nodes.Indicator(value.node), value.dims) if isinstance(value, Truth) else value


def positions(x: Value, axis: Any) -> list[int]:
    """The dimensions that `axis=` means. Raises Misuse where there are none such."""
    rank = len(x.dims)
    if axis is None:
        return list(range(rank))
    listed = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(isinstance(each, int) and -rank <= each < rank for each in listed):
        raise Misuse(f"there is no axis {axis} of {rank}")
    return [each % rank for each in listed]


def truth(x: Any) -> bool:
    if not isinstance(x, bool):
        raise Misuse(f"expected True or False, got {x}")
    return x


# -------------------------------------------------------------------------------------------------------- elementwise
def unary(operator: str) -> Callable[..., Value]:
    def rule(axes: Axes, x: Any) -> Value:
        value = as_value(x)
        return Value(call(operator, (value.node,)), value.dims)

    return rule


def binary(operator: str) -> Callable[..., Value]:
    def rule(axes: Axes, x: Any, y: Any) -> Value:
        first, second = numeric(x), numeric(y)
        if operator == "⊙" and isinstance(first.node, nodes.Number) and not isinstance(second.node, nodes.Number):
            return Value(nodes.Call("juxtaposed", (), (), (first.node, second.node)), second.dims)
        return values.elementwise(axes, operator, first, second)

    return rule


def power(axes: Axes, x: Any, p: Any) -> Value:
    base = as_value(x)
    if isinstance(p, (int, float)) and not isinstance(p, bool):
        if p < 0:
            return values.elementwise(axes, "/", Value(number(1)), power(axes, x, -p))
        if p == 0.5:
            return Value(call("sqrt", (base.node,)), base.dims)
        if p == 1:
            return base
    exponent = as_value(p)
    dims = values.aligned(axes, base, exponent)
    return Value(nodes.Superscript(base.node, (exponent.node,)), dims)


def reciprocal(axes: Axes, x: Any) -> Value:
    return values.elementwise(axes, "/", Value(number(1)), as_value(x))


def rsqrt(axes: Axes, x: Any) -> Value:
    return reciprocal(axes, unary("sqrt")(axes, x))


def square(axes: Axes, x: Any) -> Value:
    return power(axes, x, 2)


def gelu_rule(axes: Axes, x: Any, approximate: Any) -> Value:
    if approximate not in ("none", "tanh"):
        raise Misuse(f"approximate={approximate!r} is not supported")
    return unary("gelu" if approximate == "none" else "gelu_tanh")(axes, x)


def where(axes: Axes, condition: Any, x: Any, y: Any) -> Value:
    parts = [as_value(each) for each in (condition, x, y)]
    dims = values.aligned(axes, *parts)
    if not isinstance(condition, Truth):
        raise Misuse("the condition is not a comparison")
    return Value(nodes.Cases(((parts[1].node, parts[0].node), (parts[2].node, None))), dims)


def masked_fill(axes: Axes, x: Any, mask: Any, value: Any) -> Value:
    return where(axes, mask, value, x)


def clip(axes: Axes, x: Any, low: Any, high: Any) -> Value:
    result = as_value(x)
    if low is not None:
        result = values.elementwise(axes, "max", result, as_value(low))
    return values.elementwise(axes, "min", result, as_value(high)) if high is not None else result


@dataclass(frozen=True)
class Truth(Value):
    """A value that is true or false element by element."""


for name in "exp log sin cos tan tanh sinh cosh sqrt abs sign erf silu softplus relu".split():
    operation(name, "x", unary(name), ELEMENTWISE[name])
operation("absolute fabs", "x", unary("abs"), np.abs)
operation("arctan atan", "x", unary("arctan"), np.arctan)
operation("sigmoid expit", "x", unary("σ"), ELEMENTWISE["σ"])
operation("log1p", "x", unary("log1p"), np.log1p)
operation("expm1", "x", unary("expm1"), np.expm1)
operation("negative neg", "x", unary("negative"), np.negative)
operation("gelu", "x, approximate='none'", gelu_rule, lambda x, kind: gelu(x) if kind == "none" else gelu_tanh(x))
operation("square", "x", square, np.square)
operation("reciprocal", "x", reciprocal, np.reciprocal)
operation("rsqrt", "x", rsqrt, lambda x: 1 / np.sqrt(x))
operation("add", "x, y", binary("+"), np.add)
operation("subtract sub", "x, y", binary("-"), np.subtract)
operation("multiply mul", "x, y", binary("⊙"), np.multiply)
operation("divide div true_divide", "x, y", binary("/"), np.divide)
operation("power pow", "x, y", power, np.power)
operation("maximum", "x, y", binary("max"), np.maximum)
operation("minimum", "x, y", binary("min"), np.minimum)
operation("where", "condition, x, y", where, np.where)
operation("masked_fill", "x, mask, value", masked_fill, lambda x, mask, value: np.where(mask, value, x))
operation("clip clamp", "x, min|a_min|low=None, max|a_max|high=None", clip, lambda x, low, high: np.clip(x, low, high))


# --------------------------------------------------------------------------------------------------------- reductions
OF_ONE = {"∑", "∏", "mean", "max", "min", "logsumexp"}  # what leaves one element as it is


def reduced(axes: Axes, operator: str, x: Value, axis: Any, keep: Any, parameters: Sequence[Node] = ()) -> Value:
    where = positions(x, axis)
    over = [each for position in where for each in x.dims[position]]
    kept = truth(keep)
    if not over and operator not in OF_ONE:
        raise Misuse(f"{operator} over an axis of size 1, or of a number")
    dims = tuple(
        () if position in where else dim for position, dim in enumerate(x.dims) if kept or position not in where
    )
    return values.reduced(axes, operator, x, over, dims, tuple(parameters))


def reduction(operator: str) -> Callable[..., Value]:
    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> Value:
        return reduced(axes, operator, numeric(x), axis, keep)

    return rule


def spread(operator: str) -> Callable[..., Value]:
    """std and var, divided by n − `ddof`."""

    def rule(axes: Axes, x: Any, axis: Any, ddof: Any, keep: Any) -> Value:
        value = as_value(x)
        plain = reduced(axes, operator, value, axis, keep)
        if not isinstance(ddof, (int, float)):
            raise Misuse(f"ddof={ddof} is not supported")
        if not ddof:
            return plain
        over = tuple(each for position in positions(value, axis) for each in value.dims[position])
        count = as_value(Size(over)).node
        ratio = call("/", (count, call("-", (count, number(int(ddof))))))
        factor = call("sqrt", (ratio,)) if operator == "std" else ratio
        return Value(call("⊙", (plain.node, factor)), plain.dims)

    return rule


def norm(axes: Axes, x: Any, order: Any, axis: Any, keep: Any) -> Value:
    value = as_value(x)
    where = positions(value, axis)
    if order in (None, 2, "fro") and (order != 2 or len(where) == 1):
        return reduced(axes, "norm", value, axis, keep)
    if order == 1 and len(where) == 1:
        return reduced(axes, "norm", value, axis, keep, (number(1),))
    raise Misuse(f"the norm of order {order} over {len(where)} axes is not supported")


def plain_norm(x: Any, order: Any, axis: Any, keep: Any) -> Any:
    if order in (None, "fro"):
        return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keep))
    return np.linalg.norm(x, order, axis=axis, keepdims=keep)


def pair(operator: str) -> Callable[..., Any]:
    """torch.max(x, dim): the values, with the indices that nobody asks for."""

    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> Any:
        if isinstance(axis, Value):
            return binary(operator)(axes, x, axis)
        value = reduced(axes, operator, as_value(x), axis, keep)
        return value if axis is None else Pair(value)

    return rule


def plain_pair(function: Any, both: Any) -> Callable[..., Any]:
    def array(x: Any, axis: Any, keep: Any) -> Any:
        if isinstance(axis, np.ndarray):
            return both(x, axis)
        value = function(x, axis=axis, keepdims=keep)
        return value if axis is None else Pair(value)

    return array


class Pair:
    """Values and indices."""

    def __init__(self, values: Any):
        self.values = values


def kept(function: Any) -> Callable[..., Any]:
    return lambda x, axis, keep: function(x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keep)


REDUCED = "x, axis|dim=None, *, keepdims|keepdim=False"
for names, operator, function in (
    ("sum", "∑", np.sum),
    ("mean", "mean", np.mean),
    ("prod", "∏", np.prod),
    ("amax", "max", np.max),
    ("amin", "min", np.min),
):
    operation(names, REDUCED, reduction(operator), kept(function))
operation("max", REDUCED, reduction("max"), kept(np.max), "numpy")
operation("min", REDUCED, reduction("min"), kept(np.min), "numpy")
operation("max", REDUCED, pair("max"), plain_pair(np.max, np.maximum), "torch")
operation("min", REDUCED, pair("min"), plain_pair(np.min, np.minimum), "torch")
for name, function in (("std", np.std), ("var", np.var)):
    operation(
        name,
        "x, axis=None, *, ddof=0, keepdims=False",
        spread(name),
        lambda x, a, d, k, f=function: f(x, axis=a, ddof=d, keepdims=k),
        "numpy",
    )
    operation(
        name,
        "x, dim|axis=None, correction|unbiased=1, keepdim|keepdims=False",
        spread(name),
        lambda x, a, d, k, f=function: f(x, axis=a, ddof=int(d), keepdims=k),
        "torch",
    )
operation("norm", "x, ord|p=None, axis|dim=None, keepdims|keepdim=False", norm, plain_norm)
operation("logsumexp", REDUCED, reduction("logsumexp"), lambda x, a, k: np.log(np.sum(np.exp(x), axis=a, keepdims=k)))


def along(operator: str) -> Callable[..., Value]:
    def rule(axes: Axes, x: Any, axis: Any) -> Value:
        value = as_value(x)
        if not isinstance(axis, (int, tuple)) or isinstance(axis, bool):
            raise Misuse(f"{operator} needs its axis")
        over = [each for position in positions(value, axis) for each in value.dims[position]]
        if not over:
            raise Misuse(f"{operator} over an axis of size 1")
        return Value(call(operator, (value.node,), over), value.dims)

    return rule


operation("softmax", "x, axis|dim", along("softmax"), softmax)
operation("log_softmax", "x, axis|dim", along("logsoftmax"), lambda x, axis: np.log(softmax(x, axis)))
operation("cumsum", "x, axis|dim", along("cumsum"), lambda x, axis: np.cumsum(x, axis=axis))


# ----------------------------------------------------------------------------------------------------------- products
def matmul(axes: Axes, x: Any, y: Any) -> Value:
    first, second = as_value(x), as_value(y)
    if not first.dims or not second.dims:
        raise Misuse("@ needs tensors, got a number")
    return values.matmul(axes, first, second)


def dot(axes: Axes, x: Any, y: Any) -> Value:
    first, second = as_value(x), as_value(y)
    if not first.dims or not second.dims:
        return values.elementwise(axes, "⊙", first, second)
    if len(second.dims) > 2:
        raise Misuse("dot of more than two axes")
    return values.matmul(axes, first, second)


def inner(axes: Axes, x: Any, y: Any) -> Value:
    second = as_value(y)
    if len(second.dims) > 2:
        raise Misuse("inner of more than two axes")
    return matmul(axes, x, second.moved(second.dims[::-1]))


def outer(axes: Axes, x: Any, y: Any) -> Value:
    first, second = as_value(x), as_value(y)
    if len(first.dims) != 1 or len(second.dims) != 1:
        raise Misuse("outer needs two vectors")
    return values.elementwise(axes, "⊙", first.moved((*first.dims, ())), second)


def linear(axes: Axes, x: Any, weight: Any, bias: Any) -> Value:
    matrix = as_value(weight)
    result = matmul(axes, x, matrix.moved(matrix.dims[::-1]))
    return result if bias is None else values.elementwise(axes, "+", result, as_value(bias))


def plain_linear(x: Any, weight: Any, bias: Any) -> Any:
    return x @ weight.T + (0 if bias is None else bias)


def attention(axes: Axes, query: Any, key: Any, value: Any, scale: Any) -> Value:
    matrix = as_value(key)
    scores = matmul(axes, query, transposed(matrix))
    below = power(axes, Size(matrix.dims[-1]), 0.5)
    scores = (
        values.elementwise(axes, "/", scores, below)
        if scale is None
        else values.elementwise(axes, "⊙", scores, as_value(scale))
    )
    return matmul(axes, along("softmax")(axes, scores, -1), value)


def plain_attention(query: Any, key: Any, value: Any, scale: Any) -> Any:
    factor = 1 / np.sqrt(key.shape[-1]) if scale is None else scale
    return softmax(query @ np.swapaxes(key, -1, -2) * factor, -1) @ value


operation("matmul mm bmm", "x, y", matmul, np.matmul)
operation("dot", "x, y", dot, np.dot)
operation("inner", "x, y", inner, np.inner)
operation("outer", "x, y", outer, np.outer)
operation("linear", "x, weight, bias=None", linear, plain_linear)
operation("scaled_dot_product_attention", "query, key, value, scale=None", attention, plain_attention)


# -------------------------------------------------------------------------------------------------- orders of dimensions
def transposed(x: Value) -> Value:
    """The last two dimensions exchanged."""
    return x.moved((*x.dims[:-2], x.dims[-1], x.dims[-2]))


def permute(axes: Axes, x: Any, order: Any) -> Value:
    value = as_value(x)
    listed = positions(value, order)
    if sorted(listed) != list(range(len(value.dims))):
        raise Misuse(f"{order} does not name every dimension once")
    return value.moved(value.dims[position] for position in listed)


def numpy_transpose(axes: Axes, x: Any, order: Any) -> Value:
    return permute(axes, x, order if order else tuple(range(len(as_value(x).dims)))[::-1])


def swap(axes: Axes, x: Any, first: Any, second: Any) -> Value:
    value = as_value(x)
    (one,), (two,) = positions(value, first), positions(value, second)
    dims = list(value.dims)
    dims[one], dims[two] = dims[two], dims[one]
    return value.moved(dims)


def unsqueeze(axes: Axes, x: Any, axis: Any) -> Value:
    value = as_value(x)
    rank = len(value.dims) + 1
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise Misuse(f"there is no axis {axis} of {rank}")
    dims = list(value.dims)
    dims.insert(axis % rank, ())
    return value.moved(dims)


def squeeze(axes: Axes, x: Any, axis: Any) -> Value:
    value = as_value(x)
    where = [position for position, dim in enumerate(value.dims) if not dim] if axis is None else positions(value, axis)
    if any(value.dims[position] for position in where):
        raise Misuse("squeeze of an axis whose size is not 1")
    return value.moved(dim for position, dim in enumerate(value.dims) if position not in where)


def same(axes: Axes, x: Any) -> Value:
    return as_value(x)


operation("permute", "x, dims", permute, np.transpose, variadic=True)
operation(
    "transpose",
    "x, axes=None",
    numpy_transpose,
    lambda x, order: np.transpose(x, order or None),
    "numpy",
    variadic=True,
)
operation("transpose", "x, dim0, dim1", swap, np.swapaxes, "torch")
operation("swapaxes swapdims", "x, axis0|axis1|dim0, axis2|dim1", swap, np.swapaxes)
operation("t", "x", lambda axes, x: numpy_transpose(axes, x, None), np.transpose)
operation("unsqueeze expand_dims", "x, axis|dim", unsqueeze, np.expand_dims)
operation("squeeze", "x, axis|dim=None", squeeze, lambda x, axis: np.squeeze(x, axis))
operation("contiguous clone copy detach ascontiguousarray asarray", "x", same, lambda x: x)


# ------------------------------------------------------------------------------------------------------- linear algebra
def square_axes(x: Value, what: str) -> tuple[Axis, Axis]:
    if (
        len(x.dims) < 2
        or len(x.dims[-1]) != 1
        or len(x.dims[-2]) != 1
        or not x.dims[-1][0].kind.fits(x.dims[-2][0].kind)
    ):
        raise Misuse(f"{what} needs a square matrix")
    x.dims[-1][0].kind.unify(x.dims[-2][0].kind)
    return x.dims[-2][0], x.dims[-1][0]


def of_matrix(operator: str, gives_matrix: bool) -> Callable[..., Value]:
    def rule(axes: Axes, x: Any) -> Value:
        value = as_value(x)
        over = square_axes(value, operator)
        return Value(call(operator, (value.node,), over), value.dims if gives_matrix else value.dims[:-2])

    return rule


def solve(axes: Axes, matrix: Any, right: Any) -> Value:
    first, second = as_value(matrix), as_value(right)
    row, column = square_axes(first, "solve")
    if len(first.dims) > 2 or len(second.dims) > 2 or not second.dims:
        raise Misuse("solve of more than two axes")
    axes.unify_dims((row,), second.dims[0])
    axes.apart(first.axes, second.axes)
    return Value(call("solve", (first.node, second.node), (row, column)), ((column,), *second.dims[1:]))


operation("inv", "x", of_matrix("inv", True), inverse)
operation("det", "x", of_matrix("det", False), np.linalg.det)
operation("trace", "x", of_matrix("trace", False), np.trace)
operation("solve", "a, b", solve, solution)


# ------------------------------------------------------------------------------------------------------------- layers
def layer_norm(axes: Axes, x: Any, shape: Any, weight: Any, bias: Any, eps: Any) -> Value:
    value = as_value(x)
    listed = shape if isinstance(shape, (tuple, list)) else (shape,)
    if len(listed) != 1 or not isinstance(eps, (int, float)):
        raise Misuse("layer_norm over more than one axis")
    over = value.dims[-1]
    result = Value(
        nodes.Call("standardize", (), tuple(values.name(axis) for axis in over), (value.node,), (number(eps),)),
        value.dims,
    )
    if weight is not None:
        result = values.elementwise(axes, "⊙", result, as_value(weight))
    return result if bias is None else values.elementwise(axes, "+", result, as_value(bias))


def plain_layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: Any) -> Any:
    z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return z * (1 if weight is None else weight) + (0 if bias is None else bias)


def mse(axes: Axes, x: Any, y: Any) -> Value:
    difference = values.elementwise(axes, "-", as_value(x), as_value(y))
    if len(as_value(x).dims) != len(as_value(y).dims):
        raise Misuse("mse_loss of tensors with different numbers of axes")
    return reduced(axes, "mean", square(axes, difference), None, False)


operation("layer_norm", "x, normalized_shape, weight=None, bias=None, eps=1e-5", layer_norm, plain_layer_norm)
operation("mse_loss", "x, y", mse, lambda x, y: np.mean((x - y) ** 2))


def concatenate(axes: Axes, tensors: Any, axis: Any) -> Value:
    """Tensors joined along one axis, which is a new one."""
    if not isinstance(tensors, (tuple, list)) or len(tensors) < 2 or not isinstance(axis, int):
        raise Misuse("concatenate needs a list of tensors and an axis")
    parts = [as_value(each) for each in tensors]
    (where,) = positions(parts[0], axis)
    if any(len(part.dims) != len(parts[0].dims) or len(part.dims[where]) != 1 for part in parts):
        raise Misuse("concatenate of tensors with different numbers of axes")
    joined = axes.new(hint=parts[0].dims[where][0].kind.hint)
    others = [part.moved((*part.dims[:where], (), *part.dims[where + 1 :])) for part in parts]
    dims = values.aligned(axes, *others)
    pieces = []
    for part in parts:
        pieces.append(nodes.Rename(part.node, (((nodes.Axis(part.dims[where][0].key),), (nodes.Axis(joined.key),)),)))
        axes.apart(part.axes, (joined,))
    node = pieces[0]
    for piece in pieces[1:]:
        node = call("⊕", (node, piece), (joined,))
    result = tuple((joined,) if position == where else dim for position, dim in enumerate(dims))
    axes.apart(axes_of(result))
    return Value(node, result)


operation(
    "concatenate cat concat", "tensors, axis|dim=0", concatenate, lambda tensors, axis: np.concatenate(tensors, axis)
)

REFUSED = {  # by name, the reason
    **dict.fromkeys("rand randn randint normal uniform rand_like randn_like bernoulli multinomial".split(), "random numbers have no formula"),
    **dict.fromkeys("fft rfft ifft fft2 irfft stft".split(), "Fourier transforms are not in the notation"),
    **dict.fromkeys("nonzero argwhere unique item tolist".split(), "its shape or value depends on data"),
    **dict.fromkeys("Linear Conv1d Conv2d LayerNorm Embedding LSTM GRU MultiheadAttention Sequential".split(), "this module has weights of its own: read it with nt.from_torch"),
}  # fmt: skip
