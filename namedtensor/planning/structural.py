"""The lowering rules for structural terms, one rule per kind of term."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..core.sizes import resolve
from ..operators.along_axes import NAN_FIRST, place_of_largest
from ..operators.indexing import MERGED, merge_positions, positions
from ..terms.environment import source_name
from ..terms.terms import Term
from . import loop_steps, slice_update
from .lowering import Lowering, Rule
from .plan import Argument, PlanValue


# ------------------------------------------------------------------------------------------------- given and written
def _input(lowering: Lowering, term: Term) -> Argument:
    name = term.options[0]
    value = loop_steps.member(lowering, name) if name in lowering.members else lowering.inputs[name]
    if name in lowering.members:
        value = lowering.place_input(term, value)
    if term.shape.keys() == {*value.order}:
        return value
    lifted = {source_name(axis): axis for axis in term.shape}
    return lowering.builder.renamed(value, tuple(axis if axis in term.shape else lifted[axis] for axis in value.order))


def _constant(lowering: Lowering, term: Term) -> Argument:
    axes, extent, numbers = term.options
    whole = all(isinstance(number, int) for number in numbers)
    ends = (min(numbers), max(numbers)) if whole and numbers else ()
    dtype = lowering.builder.whole_dtype(*ends) if whole else lowering.builder.real
    return lowering.builder.numbers(numbers, axes, extent, dtype)


def _literal(lowering: Lowering, term: Term) -> Argument:
    """Stack the entries along one new axis, then split that axis into the axes of the literal."""
    b = lowering.builder
    axes, extent = term.options
    rest = tuple(axis for axis in term.shape if axis not in axes)
    inner = lowering.extents(term, rest)
    cells = [lowering.array(argument) for argument in term.arguments]
    dtype = b.common_dtype(cells)
    cells = [b.broadcast(b.cast(cell, dtype), rest, inner) for cell in cells]
    return b.reshape(b.stack(cells, "(entries)"), (*axes, *rest), (*extent, *inner))


def _iota(lowering: Lowering, term: Term) -> Argument:
    first, size = term.options
    return lowering.builder.arange(first, first + resolve(size), term.axes[0])


def _identity(lowering: Lowering, term: Term) -> Argument:
    return lowering.builder.identity(resolve(term.options[0]), term.axes)


# ------------------------------------------------------------------------------------------------ axes and positions
def _rename(lowering: Lowering, term: Term) -> Argument:
    names = dict(term.options)
    value = lowering.value(term.arguments[0])
    if not isinstance(value, PlanValue):
        return value
    return lowering.builder.renamed(value, tuple(names.get(axis, axis) for axis in value.order))


def _merge(lowering: Lowering, term: Term) -> Argument:
    sources, target = term.options
    return lowering.builder.merge(lowering.array(term.arguments[0]), tuple(sources), target)


def _split(lowering: Lowering, term: Term) -> Argument:
    source, parts = term.options
    sizes = [(name, resolve(term.shape[name])) for name, _ in parts]
    return lowering.builder.split(lowering.array(term.arguments[0]), source, sizes)


def _spread(lowering: Lowering, term: Term) -> Argument:
    value = lowering.array(term.arguments[0])
    order = (*[axis for axis, _ in term.options], *value.order)
    return lowering.builder.broadcast(value, order, lowering.extents(term, order))


def _pick(lowering: Lowering, term: Term) -> Argument:
    (x,), (axis, position) = term.arguments, term.options
    if x.operator == "argsort" and x.axes == (axis,) and position == 0:
        return _place_of_least(lowering, x.arguments[0], axis, x.options == NAN_FIRST)
    return lowering.builder.pick(lowering.array(x), {axis: position})


def _place_of_least(lowering: Lowering, term: Term, axis: str, nan_first: bool) -> Argument:
    """Return the index, from 1, of the least element along an axis, without sorting the other elements.

    This is the index that comes first if the indices are sorted by their elements in ascending order.
    """
    b = lowering.builder
    if term.operator == "negative":
        return place_of_largest(b, (lowering.array(term.arguments[0]),), axis, nan_first)
    return place_of_largest(b, (b.negative(lowering.array(term)),), axis, nan_first)


def _scatter(lowering: Lowering, term: Term) -> Argument:
    """Add the elements of X to the elements of a zero array at the given indices along an axis.

    Sums are separate for each position along index axes that are not summed over. These axes and the indexed axis are
    therefore merged, and one step adds along the merged axis.
    """
    b, (axis,) = lowering.builder, term.axes
    x, (size, over) = lowering.array(term.arguments[0]), term.options
    places = b.array(positions(b, lowering.value(term.arguments[1]), size, 1))
    stay = tuple(name for name in places.order if name not in over)
    sizes = b.extents(places, stay)
    at: Any = None
    for name, index in zip(stay, sizes):
        here = b.arange(0, index, name)
        at = here if at is None else merge_positions(b, at, index, here)
    at = places if at is None else b.array(merge_positions(b, at, size, places))
    first = next((index for index, name in enumerate(x.order) if name in at.order), 0)
    rest = tuple(name for name in x.order if name not in at.order)
    (laid,) = b.summable((b.reorder(x, (*rest[:first], *at.order, *rest[first:])),), "sum", at.count)
    shape = (*b.extents(laid, rest[:first]), math.prod(sizes) * size, *b.extents(laid, rest[first:]))
    options: dict[str, Any] = {"at": first, "sizes": shape, "rank": len(at.order)}
    order = (*rest[:first], MERGED, *rest[first:])
    step = b.step("scatter_add", (laid, at), order, shape, laid.dtype, **options)
    return b.split(step, MERGED, [*zip(stay, sizes), (axis, size)])


def _fill(lowering: Lowering, term: Term) -> Argument:
    """Join parts of a value along an axis, then move each element to its position."""
    b = lowering.builder
    axis, positions = term.options
    rest = tuple(name for name in term.shape if name != axis)
    order, inner = (*rest, axis), lowering.extents(term, rest)
    parts = [
        b.broadcast(lowering.array(argument), order, (*inner, *lowering.extents(argument, (axis,))))
        for argument in term.arguments
    ]
    joined = b.concat(b.common(parts), axis) if len(parts) > 1 else parts[0]
    inverse = sorted(range(len(positions)), key=positions.__getitem__)
    if inverse == list(range(len(inverse))):
        return joined
    return b.take(joined, b.numbers(inverse, (axis,), (len(inverse),), "int64"), axis)


# --------------------------------------------------------------------------------------------------------- conditions
def _indicator(lowering: Lowering, term: Term) -> Argument:
    (argument,) = term.arguments
    if argument.number is not None:
        return int(argument.number)
    return lowering.builder.cast(lowering.array(argument), lowering.builder.real)


def _cases(lowering: Lowering, term: Term) -> Argument:
    b = lowering.builder
    entries = [lowering.array(argument) for argument in term.arguments]
    pairs = list(zip(entries[0::2], entries[1::2]))
    if len(entries) % 2:
        result = entries[-1]
    else:
        result = pairs[-1][0]
        covered = pairs[0][1]
        for _, condition in pairs[1:]:
            covered = b.logical_or(covered, condition)
        if not (covered.fixed and all(term.number is True for term in term.arguments[1::2])):
            b.step("covered", (covered,), (), (), "bool")
    for value, condition in reversed(pairs):
        value, result = (value, result) if value.dtype == result.dtype else b.common((value, result))
        result = slice_update.put(b, condition, value, result) or b.where(condition, value, result)
    order = tuple(term.shape)
    return b.broadcast(result, order, lowering.extents(term, order))


# ----------------------------------------------------------------------------------------------------- user functions
def _python(lowering: Lowering, term: Term) -> Argument:
    (registered,) = term.options
    arguments = [lowering.value(argument) for argument in term.arguments]
    orders = [argument.order if isinstance(argument, PlanValue) else () for argument in arguments]
    order = tuple(term.shape)
    lowering.user_functions.append(registered.call(orders, order, lowering.source, term.node, lowering.target))
    shape, number = lowering.extents(term, order), len(lowering.user_functions)
    return lowering.builder.step("python", arguments, order, shape, lowering.builder.real, number=number)


RULES: Mapping[str, Rule] = {
    "input": _input,
    "number": Lowering.number,
    "constant": _constant,
    "literal": _literal,
    "iota": _iota,
    "identity": _identity,
    "rename": _rename,
    "merge": _merge,
    "split": _split,
    "spread": _spread,
    "pick": _pick,
    "fill": _fill,
    "scatter": _scatter,
    "indicator": _indicator,
    "cases": _cases,
    "python": _python,
    "loop": loop_steps.loop,
    "after": loop_steps.lower_state_after,
    "through": loop_steps.lower_states,
}
