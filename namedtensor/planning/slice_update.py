"""Slice updates: { x if iota_{ax} = p; X otherwise } becomes a copy of X with one slice overwritten.

The update replaces an elementwise choice. For example, a cache of keys and values is updated with the keys and values
of the next token.
"""

from __future__ import annotations

from typing import Any

from .builder import PlanBuilder
from .plan import Argument, PlanValue


def put(b: PlanBuilder, condition: PlanValue, x: PlanValue, rest: PlanValue) -> PlanValue | None:
    """Return the slice update for { x if condition; rest otherwise }, or None if the condition selects no single slice.

    The result is also None if x does not fit this slice, or if x and `rest` are not floats with the same dtype.
    """
    names = _one_place(b, condition) if "slice-update" in b.optimized else None
    if names is None or not isinstance(x, PlanValue) or not isinstance(rest, PlanValue):
        return None
    axis, first, size, start = names
    sizes = dict(zip(rest.order, rest.shape))
    whole = sizes.get(axis) == size and all(sizes.get(name) in (index, None) for name, index in zip(x.order, x.shape))
    if not whole or axis in x.order or set(x.order) - set(sizes) or b.kind(rest) != "f" or x.dtype != rest.dtype:
        return None
    if x.dynamic or rest.dynamic or rest.fixed:
        return None
    part = b.align(x, tuple(name for name in rest.order if name != axis))
    at = rest.order.index(axis)
    return b.step("put", (rest, part, start), rest.order, rest.shape, rest.dtype, at=at, first=first)


def _one_place(b: PlanBuilder, condition: PlanValue) -> tuple[str, int, int, Argument] | None:
    """Match a condition iota_{ax} = p. Return the axis, its first index, its size and p, or None if not matched."""
    step = b.written(b.unnamed(condition))
    if step is None or step.primitive != "equal":
        return None
    for one, other in (step.arguments, step.arguments[::-1]):
        written: Any = b.written(b.unnamed(one))
        while written is not None and written.primitive == "cast":
            written = b.written(b.unnamed(written.arguments[0]))
        if written is not None and written.primitive == "arange" and not getattr(other, "order", ()):
            return condition.order[0], written.options["start"], written.value.count, other
    return None
