"""Operations of array code that select elements, such as gathering, sorting and argmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import values
from .axes import Axes, axes_of
from .axis_operations import make_axis_operation
from .code_indices import CodeIndices, only
from .operations import MisuseError, Pair, operation, operations, positions, to_value, truth
from .values import AxisValue, call, index_node, iota, number, plus


def take(axes: Axes, x: Any, index: Any, axis: Any) -> AxisValue:
    """Select elements along one axis by an index or a tensor of indices, whose dimensions replace the axis."""
    value = to_value(x)
    if axis is None and len(value.dims) > 1:
        raise MisuseError("take without an axis flattens its operand")
    where = positions(value, 0 if axis is None else axis)
    return CodeIndices(axes).along(value, where, index if isinstance(index, int) else to_value(index))


def gather(broadcasts: bool) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, index: Any, axis: Any) -> AxisValue:
        """Select elements by an index of the same rank, along one axis: out[i, k] = x[i, index[i, k]]."""
        value, places = to_value(x), to_value(index)
        (where,) = positions(value, axis)
        if len(value.dims) != len(places.dims):
            raise MisuseError("the index has another number of axes than the tensor")
        picked = only(value.dims[where])
        rest = [dim for position, dim in enumerate(value.dims) if position != where]
        others = [dim for position, dim in enumerate(places.dims) if position != where]
        if not broadcasts and any(bool(one) != bool(two) for one, two in zip(rest, others)):
            raise MisuseError("the index has size 1 along an axis, and the tensor has another size")
        dims = list(
            values.align_values(axes, AxisValue(value.node, tuple(rest)), AxisValue(places.node, tuple(others)))
        )
        node, _ = CodeIndices(axes).tensor_index(picked, places)
        axes.apart(value.axes, places.axes)
        dims.insert(where, places.dims[where])
        axes.apart(axes_of(dims))
        return AxisValue(index_node(value.node, picked, node), tuple(dims))

    return rule


operation("take", "x, indices, axis=None", take)
operation("take_along_axis", "x, indices, axis", gather(True))
operation(
    "gather",
    "x, dim, index",
    lambda axes, x, dim, index: gather(False)(axes, x, index, dim),
    "torch",
)


# -------------------------------------------------------------------------------------------------------------- order
def sort_pair(axes: Axes, x: Any, axis: Any, descending: Any) -> Any:
    result = make_axis_operation("sort")(axes, x, axis)
    return Pair(flip(axes, result, axis) if descending is True else result)


def argsort(axes: Axes, x: Any, axis: Any) -> AxisValue:
    result = make_axis_operation("argsort")(axes, x, axis)
    axes.facts.assumed.append("argsort keeps the order of equal elements")
    return AxisValue(call("-", (result.node, number(1))), result.dims)


def largest(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, axis: Any, keep: Any) -> AxisValue:
        """Return the index, counted from 0, of the largest or smallest element.

        In a tie, the first element is chosen.
        """
        value = to_value(x)
        if axis is None and len(value.dims) != 1:
            raise MisuseError(f"{operator} over several axes")
        (where,) = positions(value, 0 if axis is None else axis)
        over = only(value.dims[where])
        one = axes.new()
        axes.facts.stated.append((one, 1))
        operand = value.node if operator == "argmax" else call("negative", (value.node,))
        chosen = index_node(call("argmaxk", (operand,), (over, one)), one, number(1))
        index = call("⊙", (chosen, values.iota(over)), (over,))
        retained = ((),) if truth(keep) else ()
        dims = (*value.dims[:where], *retained, *value.dims[where + 1 :])
        axes.apart((*value.axes, one))
        return AxisValue(call("-", (index, number(1))), dims)

    return rule


operation("sort", "x, axis=-1", make_axis_operation("sort"), "numpy")
operation(
    "sort",
    "x, dim=-1, descending=False",
    sort_pair,
    "torch",
)
operation("argsort", "x, axis|dim=-1", argsort)
for name in ("argmax", "argmin"):
    operations(
        name, "x, axis=None, -out=None, keepdims=False", "x, dim|axis=None, keepdim|keepdims=False", largest(name)
    )


def flip(axes: Axes, x: Any, axis: Any) -> AxisValue:
    value = to_value(x)
    return CodeIndices(axes).along(value, positions(value, axis), slice(None, None, -1))


operation("flip", "x, axis|dims|dim=None", flip)
operation("flipud", "x", lambda axes, x: flip(axes, x, 0))
operation("fliplr", "x", lambda axes, x: flip(axes, x, 1))


# --------------------------------------------------------------------------------------------------------- differences
def diff(axes: Axes, x: Any, times: Any, axis: Any) -> AxisValue:
    """Compute the differences x[1:] − x[:-1] of adjacent elements `times` times, each time from the last result."""
    if type(times) is not int or not 0 < times < 5:
        raise MisuseError(f"n={times} differences are not supported")
    value = to_value(x)
    for _ in range(times):
        after, before = (
            CodeIndices(axes).along(value, positions(value, axis), slice(*ends)) for ends in ((1, None), (None, -1))
        )
        value = values.elementwise(axes, "-", after, before)
    return value


operation("diff", "x, n=1, axis|dim=-1", diff)


# --------------------------------------------------------------------------------------------------------------- rolls
def roll(axes: Axes, x: Any, shift: Any, axis: Any) -> AxisValue:
    """Shift the elements along axes. Elements that are shifted beyond the end reappear at the beginning."""
    value = to_value(x)
    if axis is None and len(value.dims) != 1:
        raise MisuseError("roll of all axes as one")
    where = positions(value, 0 if axis is None else axis)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(where)
    if len(shifts) != len(where) or not all(type(by) is int for by in shifts):
        raise MisuseError("the shifts of roll are a number for each axis")
    for position, by in zip(where, shifts):
        old = only(value.dims[position])
        new = axes.twin(old)
        axes.facts.same.append((new, old))
        axes.apart((*value.axes, new))
        index = plus(call("mod", (plus(iota(new), -1 - by), values.size(old))), 1)
        dims = (*value.dims[:position], (new,), *value.dims[position + 1 :])
        value = AxisValue(index_node(value.node, old, index), dims)
    return value


operation("roll", "x, shift|shifts, axis|dims=None", roll)
