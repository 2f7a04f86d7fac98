"""Products with scaled 8-bit integers W = Q ⊙ s, computed from Q and s without creating W as an array.

If a scale lacks the summed axes, it can be moved out of a product. A single element of W is a product, too:

    X ⊙_{ax} (Q ⊙ s) = (X ⊙_{ax} Q) ⊙ s        where s lacks ax
    (Q ⊙ s)_{ax(i)} = Q_{ax(i)} ⊙ s_{ax(i)}

The step `multiply_transposed` multiplies by Q and then by s. If the library cannot multiply floats by integers, the
step converts a few rows of Q at a time. If a sum overflows before it is multiplied by s, the step multiplies Q by s
first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..core.arrays import HALF
from ..operators import REGISTRY
from ..operators.contraction import name_merged_axis
from ..terms.terms import Term
from .lowering import STORED, Lowering
from .plan import Argument, PlanValue


def parts(lowering: Lowering, term: Term) -> tuple[PlanValue, PlanValue] | None:
    """Return Q and s of a term Q ⊙ s, which may have renamed axes, or None unless Q contains 8-bit integers."""
    if term.operator == "rename":
        below, names = parts(lowering, term.arguments[0]), dict(term.options)
        return below and _rename_both(lowering, below, names)
    if term.operator != "⊙" or term.axes or len(term.arguments) != 2:
        return None
    for first, second in (term.arguments, term.arguments[::-1]):
        integers, scale = lowering.known(first), lowering.known(second)
        if isinstance(integers, PlanValue) and integers.dtype in STORED and not integers.fixed:
            if isinstance(scale, PlanValue) and lowering.builder.kind(scale) == "f":
                return integers, scale
            return None
    return None


def _rename_both(
    lowering: Lowering, values: tuple[PlanValue, PlanValue], names: Mapping[str, str]
) -> tuple[PlanValue, PlanValue]:
    first, second = (
        lowering.builder.renamed(value, tuple(names.get(axis, axis) for axis in value.order)) for value in values
    )
    return first, second


def is_product(lowering: Lowering, term: Term) -> bool:
    """Return whether a term is a contraction with a factor Q ⊙ s whose Q is an input of 8-bit integers."""
    return bool(term.axes) and any(map(partial(_is_scaled, lowering), term.arguments))


def _is_scaled(lowering: Lowering, term: Term) -> bool:
    if term.operator == "rename":
        return _is_scaled(lowering, term.arguments[0])
    product = term.operator == "⊙" and not term.axes
    return product and any(map(partial(_is_stored, lowering), term.arguments))


def _is_stored(lowering: Lowering, term: Term) -> bool:
    """Return whether a term is an input of 8-bit integers."""
    if term.operator != "input":
        return False
    name = term.options[0]
    value = lowering.inputs.get(name) or lowering.members.get(name, (None,))[0]
    return value is not None and value.dtype in STORED


def product(lowering: Lowering, term: Term) -> Argument | None:
    """Return X ⊙_{ax} (Q ⊙ s) computed from Q as stored, or None if the rewrite does not apply.

    It applies if X and s have the same dtype, Q has the axes ax and further axes that X lacks, and the axes of s are
    among these further axes.
    """
    for other, matrix in (term.arguments, term.arguments[::-1]):
        result, x = parts(lowering, matrix), lowering.known(other)
        if result is not None and isinstance(x, PlanValue) and x.dtype == result[1].dtype:
            return _product(lowering, x, *result, frozenset(term.axes))
    return None


def _product(
    lowering: Lowering, x: PlanValue, integers: PlanValue, scale: PlanValue, axes: frozenset[str]
) -> Argument | None:
    b = lowering.builder
    summed = tuple(axis for axis in integers.order if axis in axes)
    rows = tuple(axis for axis in x.order if axis not in axes)
    columns = tuple(axis for axis in integers.order if axis not in axes)
    if len(summed) != len(axes) or not axes <= {*x.order} or not {*scale.order} <= {*columns} or {*rows} & {*columns}:
        return None
    if not columns:
        return None
    if x.dtype in HALF:  # its range is too narrow for sums of integers that are not scaled yet
        single = _product(lowering, b.cast(x, "float32"), integers, b.cast(scale, "float32"), axes)
        return None if single is None else b.cast(b.array(single), x.dtype)
    count = math.prod(b.extents(integers, summed))
    sizes = b.extents(x, rows), b.extents(integers, columns)
    x = b.reorder(x, (*rows, *summed))
    x = b.reshape(
        x,
        (name_merged_axis(rows), name_merged_axis(summed)) if rows else (name_merged_axis(summed),),
        (*map(math.prod, sizes[: bool(rows)]), count),
    )
    integers = b.reorder(integers, (*columns, *summed))
    integers = b.reshape(integers, (name_merged_axis(columns), name_merged_axis(summed)), (math.prod(sizes[1]), count))
    scale = b.broadcast(scale, columns, sizes[1])
    scale = b.reshape(scale, (name_merged_axis(columns),), integers.shape[:1])
    result = b.step(
        "multiply_transposed",
        (x, integers, scale),
        (*x.order[:-1], name_merged_axis(columns)),
        (*x.shape[:-1], integers.shape[0]),
        x.dtype,
    )
    return b.reshape(result, (*rows, *columns), (*sizes[0], *sizes[1]))


def element(lowering: Lowering, term: Term) -> Argument | None:
    """Return an element of Q ⊙ s, computed from the stored Q, or None if the rewrite does not apply.

    It applies if Q has all indexed axes, and s has either all of them or none.
    """
    table, *_ = term.arguments
    result = parts(lowering, table)
    if result is None:
        return None
    b, (integers, scale) = lowering.builder, result
    inside = {*term.axes} & {*scale.order}
    if not {*term.axes} <= {*integers.order} or inside and inside != {*term.axes}:
        return None
    at: Any = [lowering.value(argument) for argument in term.arguments[1:]]
    index, options = REGISTRY[term.operator].lower, dict(term.options)
    values = b.cast(index(b, (integers, *at), term.axes, options), scale.dtype)
    return b.multiply(values, index(b, (scale, *at), term.axes, options) if inside else scale)
