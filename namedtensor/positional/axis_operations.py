"""Operations of array code along axes: reductions, functions along an axis, and reorderings of dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from . import values
from .axes import Axes, axes_of
from .elementwise_operations import binary, comparison, extreme, power, unary
from .operations import (
    Masked,
    MisuseError,
    Pair,
    SizeArgument,
    condition_of,
    is_condition,
    numeric,
    one_position,
    operation,
    operations,
    positions,
    to_value,
    truth,
)
from .values import AxisValue, call, number

# --------------------------------------------------------------------------------------------------------- reductions
OF_ONE = {"∑", "∏", "mean", "max", "min", "logsumexp"}  # operators that return a single element unchanged


def reduce_axes(
    axes: Axes, operator: str, x: AxisValue, axis: Any, keep: Any, parameters: Sequence[Node] = ()
) -> AxisValue:
    where = positions(x, axis)
    over = axes_of(x.dims[position] for position in where)
    keepdims = truth(keep)
    if not over and operator not in OF_ONE:
        raise MisuseError(f"{operator} over an axis of size 1, or of a number")
    if operator == "median" and len(over) > 1:
        node, new = values.merge_into_one(axes, x.node, over)
        x, over = AxisValue(node), (new,)
    dims = tuple(
        () if position in where else dim for position, dim in enumerate(x.dims) if keepdims or position not in where
    )
    return values.reduce_value(axes, operator, x, over, dims, tuple(parameters))


def reduction(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, axis: Any, keep: Any, initial: Any = None, where: Any = True) -> AxisValue:
        if isinstance(x, Masked) and (axis is not None or truth(keep)):
            raise MisuseError("a selection by a condition has one axis, and is reduced over all of it")
        result = reduce_masked(axes, operator, x if isinstance(x, Masked) else select(axes, x, where), axis, keep)
        if initial is None:
            return result
        if operator not in STARTED:
            raise MisuseError(f"initial={initial} is not supported")
        return STARTED[operator](axes, result, initial)

    return rule


def select(axes: Axes, x: Any, where: Any) -> Masked | AxisValue:
    """Return a value or, given a condition `where`, only the elements for which it is true."""
    value = numeric(x)
    if where is None or where is True:
        return value
    condition = condition_of(axes, where)
    dims = values.align_values(axes, value, condition)
    if len(dims) > len(value.dims) or any(bool(one) != bool(two) for one, two in zip(value.dims, dims)):
        raise MisuseError("the condition has another shape than the tensor")
    return Masked(value, condition)


NEUTRAL = {  # the elements that change no reduction
    "∑": number(0), "∏": number(1), "max": number(-math.inf), "min": number(math.inf), "logsumexp": number(-math.inf),
    **dict.fromkeys(("nansum", "nanmean", "nanmax", "nanmin"), number(math.nan)),
}  # fmt: skip
STARTED = {  # the operations that include `initial` in a reduction
    "∑": binary("+"), "nansum": binary("+"), "∏": binary("⊙"), "max": binary("max"), "min": binary("min"),
    "nanmax": extreme("max"), "nanmin": extreme("min"),
}  # fmt: skip


def reduce_masked(axes: Axes, operator: str, x: Masked | AxisValue, axis: Any, keep: Any) -> AxisValue:
    """Reduce the elements that satisfy a condition, as in x[x > 0].sum()."""
    if isinstance(x, AxisValue):
        return reduce_axes(axes, operator, x, axis, keep)
    if operator == "mean":
        total = reduce_masked(axes, "∑", x, axis, keep)
        node: Node = nodes.Indicator(x.condition.node)
        held = {other.root for other in x.condition.axes}
        if missing := tuple(values.name(other) for other in x.value.axes if other.root not in held):
            node = call("⊙", (node, nodes.Subscript(nodes.Name("ones"), missing)))
        ones = AxisValue(node, x.value.dims)
        return values.elementwise(axes, "/", total, reduce_axes(axes, "∑", ones, axis, keep))
    if operator not in NEUTRAL:
        raise MisuseError(f"{operator} of a selection by a condition is not supported")
    cases = nodes.Cases(((x.value.node, x.condition.node), (NEUTRAL[operator], None)))
    return reduce_axes(axes, operator, AxisValue(cases, x.value.dims), axis, keep)


def quantifier(operator: str) -> Callable[..., AxisValue]:
    """Return the translation rule of the reduction `any` or `all` for conditions."""

    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> AxisValue:
        if not is_condition(x):
            raise MisuseError(f"{operator} of anything but a condition")
        result = reduce_axes(axes, operator, to_value(x), axis, keep)
        return AxisValue(result.node, result.dims, truth=True)

    return rule


def spread(operator: str) -> Callable[..., AxisValue]:
    """Return the translation rule of the reduction `std` or `var`, which divides by n − `ddof`."""

    def rule(axes: Axes, x: Any, axis: Any, ddof: Any, keep: Any) -> AxisValue:
        value = to_value(x)
        if isinstance(axis, bool):  # torch.std(x, False)
            axis, ddof = None, axis
        plain = reduce_axes(axes, operator, value, axis, keep)
        if not isinstance(ddof, (int, float)):
            raise MisuseError(f"ddof={ddof} is not supported")
        if not ddof:
            return plain
        over = axes_of(value.dims[position] for position in positions(value, axis))
        count = to_value(SizeArgument(over)).node
        ratio = call("/", (count, call("-", (count, number(int(ddof))))))
        factor = call("sqrt", (ratio,)) if operator == "std" else ratio
        return AxisValue(call("⊙", (plain.node, factor)), plain.dims)

    return rule


def norm(axes: Axes, x: Any, order: Any, axis: Any, keep: Any) -> AxisValue:
    """Return the norm of a vector for any supported order, or a norm of matrices that needs no singular values."""
    if order in (None, "fro"):
        return reduce_axes(axes, "norm", to_value(x), axis, keep)
    where = positions(to_value(x), axis)
    if len(where) == 2 and order in (1, -1, math.inf, -math.inf):
        added, largest = where if abs(order) == 1 else where[::-1]
        sums = vector_norm(axes, x, 1, added, True)
        result = reduce_axes(axes, "max" if order > 0 else "min", sums, largest, True)
        return result if truth(keep) else result.moved(dim for at, dim in enumerate(result.dims) if at not in where)
    if len(where) != 1:
        raise MisuseError(f"the norm of order {order} over {len(where)} axes is not supported")
    return vector_norm(axes, x, order, axis, keep)


def vector_norm(axes: Axes, x: Any, order: Any, axis: Any, keep: Any) -> AxisValue:
    """Return the norm of any order along the axes, whose elements are treated as one vector."""
    value = to_value(x)
    if order in (math.inf, -math.inf):
        return reduce_axes(axes, "max" if order > 0 else "min", unary("abs")(axes, value), axis, keep)
    if order == 0:
        return reduce_axes(axes, "∑", numeric(comparison("≠")(axes, value, 0)), axis, keep)
    if not isinstance(order, (int, float)) or isinstance(order, bool):
        raise MisuseError(f"the norm of order {order} is not supported")
    if order < 0:
        total = reduce_axes(axes, "∑", power(axes, unary("abs")(axes, value), order), axis, keep)
        return power(axes, total, 1 / order)
    return reduce_axes(axes, "norm", to_value(x), axis, keep, () if order == 2 else (number(order),))


def pair(operator: str) -> Callable[..., Any]:
    """Return the translation rule of torch.max or torch.min, which returns a pair of values and indices along `dim`.

    The indices cannot be used. Without `dim`, the rule returns the maximum or minimum of all elements. For two
    tensors, it returns the elementwise maximum or minimum.
    """

    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> Any:
        if isinstance(axis, AxisValue):
            return binary(operator)(axes, x, axis)
        value = reduce_axes(axes, operator, to_value(x), axis, keep)
        return value if axis is None else Pair(value)

    return rule


def lower_median(axes: Axes, x: Any, axis: Any, keep: Any) -> Any:
    """Return the median along an axis as PyTorch computes it, which is the lower of two middle elements."""
    whole, (value, axis) = axis is None, values.flatten_axes(axes, to_value(x), axis)
    ordered = make_axis_operation("sort")(axes, value, axis)
    where = one_position(value, axis)
    (over,) = ordered.dims[where]
    middle = call("floor", (call("/", (call("+", (values.size(over), number(1))), number(2))),))
    rest = ((),) if truth(keep) else ()
    dims = (*value.dims[:where], *rest, *value.dims[where + 1 :])
    result = AxisValue(values.index_node(ordered.node, over, middle), dims)
    return result if whole else Pair(result)


PARTIAL = ", initial=None, where=True"
WITH_DTYPE = "x, axis=None, -dtype=None, -out=None, keepdims=False"
WITHOUT_DTYPE = "x, axis=None, -out=None, keepdims=False"
OF_TORCH = "x, dim|axis=None, keepdim|keepdims=False, *, -dtype=None"
for names, operator in (("sum", "∑"), ("prod", "∏"), ("nansum", "nansum")):
    operations(names, WITH_DTYPE + PARTIAL, OF_TORCH, reduction(operator))
for name in ("mean", "nanmean"):
    operations(name, f"{WITH_DTYPE}, *, initial=None, where=True", OF_TORCH, reduction(name))
operations("amax", WITHOUT_DTYPE + PARTIAL, OF_TORCH, reduction("max"))
operations("amin", WITHOUT_DTYPE + PARTIAL, OF_TORCH, reduction("min"))
for name in ("nanmax", "nanmin"):
    operation(name, WITHOUT_DTYPE + PARTIAL, reduction(name), "numpy")
operations("any", WITHOUT_DTYPE, OF_TORCH, quantifier("any"))
operations("all", WITHOUT_DTYPE, OF_TORCH, quantifier("all"))
operation("median", "x, axis=None, -out=None, -overwrite_input=False, keepdims=False", reduction("median"), "numpy")
operation("median", "x, dim=None, keepdim=False", lower_median, "torch")
for name in ("max", "min"):
    operation(name, WITHOUT_DTYPE + PARTIAL, reduction(name), "numpy")
    operation(name, "x, dim|axis|other=None, keepdim|keepdims=False", pair(name), "torch")
for name in ("std", "var"):
    operations(
        name,
        "x, axis=None, -dtype=None, -out=None, ddof|correction=0, keepdims=False, *, -where=True",
        "x, dim|axis=None, correction|unbiased=1, keepdim|keepdims=False",
        spread(name),
    )
operation("vector_norm", "x, ord=2, axis|dim=None, keepdims|keepdim=False", vector_norm)
operation("norm", "x, ord|p=None, axis|dim=None, keepdims|keepdim=False", norm)
OF_SCIPY = "x, axis=None, -b=None, keepdims=False, -return_sign=False, *, initial=None, where=True"
operations("logsumexp", OF_SCIPY, OF_TORCH, reduction("logsumexp"))


SEVERAL = {"softmax", "logsoftmax"}  # functions along several axes at once


def make_axis_operation(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, axis: Any) -> AxisValue:
        value = to_value(x)
        if not isinstance(axis, (int, tuple)) or isinstance(axis, bool):
            raise MisuseError(f"{operator} needs its axis")
        over = axes_of(value.dims[position] for position in positions(value, axis))
        if not over:
            raise MisuseError(f"{operator} over an axis of size 1")
        if len(over) > 1 and operator not in SEVERAL:
            raise MisuseError(f"{operator} over a merged axis")
        return AxisValue(call(operator, (value.node,), over), value.dims)

    return rule


def make_accumulation(operator: str) -> Callable[..., AxisValue]:
    """Return the translation rule of an operation such as cumsum. Without an axis, the operand is flattened."""

    def rule(axes: Axes, x: Any, axis: Any) -> AxisValue:
        return make_axis_operation(operator)(axes, *values.flatten_axes(axes, to_value(x), axis))

    return rule


operation("softmax", "x, axis|dim, -dtype=None", make_axis_operation("softmax"))
operation("log_softmax", "x, axis|dim, -dtype=None", make_axis_operation("logsoftmax"))
operation("nn.softmax", "x, axis=-1, -where=True", make_axis_operation("softmax"))  # with the default of JAX
operation("nn.log_softmax", "x, axis=-1, -where=True", make_axis_operation("logsoftmax"))
operation("cumsum", "x, axis|dim=None, -dtype=None, -out=None", make_accumulation("cumsum"))
operation("cumprod", "x, axis|dim=None, -dtype=None, -out=None", make_accumulation("cumprod"))


# -------------------------------------------------------------------------------------------------- orders of dimensions
def permute(axes: Axes, x: Any, order: Any) -> AxisValue:
    value = to_value(x)
    listed = positions(value, order)
    if sorted(listed) != list(range(len(value.dims))):
        raise MisuseError(f"{order} does not name every dimension once")
    return value.moved(value.dims[position] for position in listed)


def numpy_transpose(axes: Axes, x: Any, order: Any) -> AxisValue:
    return permute(axes, x, order if order and order != (None,) else tuple(range(len(to_value(x).dims)))[::-1])


def swap(axes: Axes, x: Any, first: Any, second: Any) -> AxisValue:
    value = to_value(x)
    one, two = one_position(value, first), one_position(value, second)
    dims = list(value.dims)
    dims[one], dims[two] = dims[two], dims[one]
    return value.moved(dims)


def unsqueeze(axes: Axes, x: Any, axis: Any) -> AxisValue:
    value = to_value(x)
    listed = axis if isinstance(axis, tuple) else (axis,)
    rank = len(value.dims) + len(listed)
    if not all(isinstance(position, int) and -rank <= position < rank for position in listed):
        raise MisuseError(f"axis {axis} is out of range for {rank} axes")
    dims = list(value.dims)
    for position in sorted(position % rank for position in listed):
        dims.insert(position, ())
    return value.moved(dims)


def move(axes: Axes, x: Any, source: Any, destination: Any) -> AxisValue:
    """Return a tensor with some dimensions moved to other positions. The other dimensions keep their order."""
    value = to_value(x)
    taken, places = positions(value, source), positions(value, destination)
    if len({*taken}) != len({*places}) or len(taken) != len(places):
        raise MisuseError("the positions of moveaxis differ in number")
    rest = [position for position in range(len(value.dims)) if position not in taken]
    for slot, position in sorted(zip(places, taken)):
        rest.insert(slot, position)
    return value.moved(value.dims[position] for position in rest)


def roll_axis(axes: Axes, x: Any, axis: Any, start: Any) -> AxisValue:
    value = to_value(x)
    position = one_position(value, axis)
    start = start + len(value.dims) if start < 0 else start
    return move(axes, x, position, start - 1 if position < start else start)


def squeeze(axes: Axes, x: Any, axis: Any) -> AxisValue:
    value = to_value(x)
    where = [position for position, dim in enumerate(value.dims) if not dim] if axis is None else positions(value, axis)
    if any(value.dims[position] for position in where):
        raise MisuseError("squeeze of an axis whose size is not 1")
    return value.moved(dim for position, dim in enumerate(value.dims) if position not in where)


operation("permute", "x, dims...", permute)
operation("transpose", "x, axes...=None", numpy_transpose, "numpy")
operation("transpose", "x, dim0, dim1", swap, "torch")
operation("swapaxes swapdims", "x, axis0|axis1|dim0, axis2|dim1", swap)
operation("t", "x", lambda axes, x: numpy_transpose(axes, x, None))
operation("moveaxis movedim", "x, source, destination", move)
operation("rollaxis", "x, axis, start=0", roll_axis)
operation("unsqueeze expand_dims", "x, axis|dim", unsqueeze)
operation("squeeze", "x, axis|dim=None", squeeze)
operation("contiguous clone copy detach ascontiguousarray asarray", "x", lambda axes, x: to_value(x))
