"""Operations of array code on axes: reductions, functions along axes, orders of dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from . import values
from .axes import Axes, axes_of
from .elementwise_operations import binary
from .operations import Masked, Misuse, Pair, SizeArgument, Truth, as_value, numeric, operation, positions, truth
from .optional_numpy import np
from .plain_functions import softmax
from .values import AxisValue, call, number

# --------------------------------------------------------------------------------------------------------- reductions
OF_ONE = {"∑", "∏", "mean", "max", "min", "logsumexp"}  # what leaves one element as it is


def reduced(
    axes: Axes, operator: str, x: AxisValue, axis: Any, keep: Any, parameters: Sequence[Node] = ()
) -> AxisValue:
    where = positions(x, axis)
    over = axes_of(x.dims[position] for position in where)
    keepdims = truth(keep)
    if not over and operator not in OF_ONE:
        raise Misuse(f"{operator} over an axis of size 1, or of a number")
    dims = tuple(
        () if position in where else dim for position, dim in enumerate(x.dims) if keepdims or position not in where
    )
    return values.reduced(axes, operator, x, over, dims, tuple(parameters))


def reduction(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> AxisValue:
        if isinstance(x, Masked):
            return of_masked(axes, operator, x, axis, keep)
        return reduced(axes, operator, numeric(x), axis, keep)

    return rule


NEUTRAL = {"∑": number(0), "∏": number(1), "max": number(-math.inf), "min": number(math.inf)}


def of_masked(axes: Axes, operator: str, x: Masked, axis: Any, keep: Any) -> AxisValue:
    """A reduction over the elements where a condition holds."""
    if axis is not None or truth(keep):
        raise Misuse("what a condition selects has one axis, which is reduced whole")
    if operator == "mean":
        total = of_masked(axes, "∑", x, axis, keep)
        count = reduced(axes, "∑", numeric(x.condition), None, False)
        return values.elementwise(axes, "/", total, count)
    if operator not in NEUTRAL:
        raise Misuse(f"{operator} of what a condition selects is not supported")
    cases = nodes.Cases(((x.value.node, x.condition.node), (NEUTRAL[operator], None)))
    return reduced(axes, operator, AxisValue(cases, x.value.dims), None, False)


def quantifier(operator: str) -> Callable[..., AxisValue]:
    """any, all: conditions."""

    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> AxisValue:
        if not isinstance(x, Truth):
            raise Misuse(f"{operator} of anything but a condition")
        result = reduced(axes, operator, x, axis, keep)
        return Truth(result.node, result.dims)

    return rule


def spread(operator: str) -> Callable[..., AxisValue]:
    """std and var, divided by n − `ddof`."""

    def rule(axes: Axes, x: Any, axis: Any, ddof: Any, keep: Any) -> AxisValue:
        value = as_value(x)
        plain = reduced(axes, operator, value, axis, keep)
        if not isinstance(ddof, (int, float)):
            raise Misuse(f"ddof={ddof} is not supported")
        if not ddof:
            return plain
        over = axes_of(value.dims[position] for position in positions(value, axis))
        count = as_value(SizeArgument(over)).node
        ratio = call("/", (count, call("-", (count, number(int(ddof))))))
        factor = call("sqrt", (ratio,)) if operator == "std" else ratio
        return AxisValue(call("⊙", (plain.node, factor)), plain.dims)

    return rule


def norm(axes: Axes, x: Any, order: Any, axis: Any, keep: Any) -> AxisValue:
    """The norm of a vector, of any order, or Frobenius's."""
    if order in (None, "fro"):
        return reduced(axes, "norm", as_value(x), axis, keep)
    if (count := len(positions(as_value(x), axis))) != 1:
        raise Misuse(f"the norm of order {order} over {count} axes is not supported")
    return vector_norm(axes, x, order, axis, keep)


def plain_norm(x: Any, order: Any, axis: Any, keep: Any) -> Any:
    if order in (None, "fro"):
        return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keep))
    return np.linalg.norm(x, order, axis=axis, keepdims=keep)


def vector_norm(axes: Axes, x: Any, order: Any, axis: Any, keep: Any) -> AxisValue:
    """The norm of all elements along the axes, of any order."""
    if not isinstance(order, (int, float)) or order <= 0:
        raise Misuse(f"the norm of order {order} is not supported")
    if order == math.inf:
        return reduced(axes, "max", AxisValue(call("abs", (as_value(x).node,)), as_value(x).dims), axis, keep)
    return reduced(axes, "norm", as_value(x), axis, keep, () if order == 2 else (number(order),))


def plain_vector_norm(x: Any, order: Any, axis: Any, keep: Any) -> Any:
    if order == math.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keep)
    return np.sum(np.abs(x) ** order, axis=axis, keepdims=keep) ** (1 / order)


def pair(operator: str) -> Callable[..., Any]:
    """torch.max(x, dim): the values, with the indices that no one asks for."""

    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> Any:
        if isinstance(axis, AxisValue):
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


def with_keepdims(function: Any) -> Callable[..., Any]:
    return lambda x, axis, keep: function(x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keep)


REDUCED = "x, axis|dim=None, *, keepdims|keepdim=False"
for names, operator, function in (
    ("sum", "∑", np.sum),
    ("mean", "mean", np.mean),
    ("prod", "∏", np.prod),
    ("amax", "max", np.max),
    ("amin", "min", np.min),
):
    operation(names, REDUCED, reduction(operator), with_keepdims(function))
operation("median", REDUCED, reduction("median"), with_keepdims(np.median), "numpy")
operation("any", REDUCED, quantifier("any"), with_keepdims(np.any))
operation("all", REDUCED, quantifier("all"), with_keepdims(np.all))
operation("max", REDUCED, reduction("max"), with_keepdims(np.max), "numpy")
operation("min", REDUCED, reduction("min"), with_keepdims(np.min), "numpy")
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
operation("vector_norm", "x, ord=2, axis|dim=None, keepdims|keepdim=False", vector_norm, plain_vector_norm)
operation("norm", "x, ord|p=None, axis|dim=None, keepdims|keepdim=False", norm, plain_norm)
operation("logsumexp", REDUCED, reduction("logsumexp"), lambda x, a, k: np.log(np.sum(np.exp(x), axis=a, keepdims=k)))


SEVERAL = {"softmax", "logsoftmax"}  # functions along several axes at once


def along(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, axis: Any) -> AxisValue:
        value = as_value(x)
        if not isinstance(axis, (int, tuple)) or isinstance(axis, bool):
            raise Misuse(f"{operator} needs its axis")
        over = axes_of(value.dims[position] for position in positions(value, axis))
        if not over:
            raise Misuse(f"{operator} over an axis of size 1")
        if len(over) > 1 and operator not in SEVERAL:
            raise Misuse(f"{operator} over a merged axis")
        return AxisValue(call(operator, (value.node,), over), value.dims)

    return rule


def accumulated(operator: str) -> Callable[..., AxisValue]:
    """cumsum, cumprod: of a vector without an axis, too."""

    def rule(axes: Axes, x: Any, axis: Any) -> AxisValue:
        return along(operator)(axes, x, 0 if axis is None and len(as_value(x).dims) == 1 else axis)

    return rule


operation("softmax", "x, axis|dim", along("softmax"), softmax)
operation("log_softmax", "x, axis|dim", along("logsoftmax"), lambda x, axis: np.log(softmax(x, axis)))
operation("cumsum", "x, axis|dim=None", accumulated("cumsum"), lambda x, axis: np.cumsum(x, axis=axis))
operation("cumprod", "x, axis|dim=None", accumulated("cumprod"), lambda x, axis: np.cumprod(x, axis=axis))


# -------------------------------------------------------------------------------------------------- orders of dimensions
def transposed(x: AxisValue) -> AxisValue:
    """The last two dimensions exchanged."""
    return x.moved((*x.dims[:-2], x.dims[-1], x.dims[-2]))


def permute(axes: Axes, x: Any, order: Any) -> AxisValue:
    value = as_value(x)
    listed = positions(value, order)
    if sorted(listed) != list(range(len(value.dims))):
        raise Misuse(f"{order} does not name every dimension once")
    return value.moved(value.dims[position] for position in listed)


def numpy_transpose(axes: Axes, x: Any, order: Any) -> AxisValue:
    return permute(axes, x, order if order else tuple(range(len(as_value(x).dims)))[::-1])


def swap(axes: Axes, x: Any, first: Any, second: Any) -> AxisValue:
    value = as_value(x)
    (one,), (two,) = positions(value, first), positions(value, second)
    dims = list(value.dims)
    dims[one], dims[two] = dims[two], dims[one]
    return value.moved(dims)


def unsqueeze(axes: Axes, x: Any, axis: Any) -> AxisValue:
    value = as_value(x)
    rank = len(value.dims) + 1
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise Misuse(f"axis {axis} is out of range for {rank} axes")
    dims = list(value.dims)
    dims.insert(axis % rank, ())
    return value.moved(dims)


def squeeze(axes: Axes, x: Any, axis: Any) -> AxisValue:
    value = as_value(x)
    where = [position for position, dim in enumerate(value.dims) if not dim] if axis is None else positions(value, axis)
    if any(value.dims[position] for position in where):
        raise Misuse("squeeze of an axis whose size is not 1")
    return value.moved(dim for position, dim in enumerate(value.dims) if position not in where)


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
operation("contiguous clone copy detach ascontiguousarray asarray", "x", lambda axes, x: as_value(x), lambda x: x)
