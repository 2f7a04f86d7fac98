"""Softmax over a long axis, a slice of it at a time: what online softmax does, in the two forms of `extremes`.

exp X ⊙_{ax} V and ∑_{ax} exp X are sums over ax, so they are the sums of the same over slices of ax, and X never exists
whole. Where the largest m must be taken off, it is the largest of those of the slices, found first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..operators import REGISTRY
from ..terms.terms import Term
from . import regions as blocks
from .plan import Value

if TYPE_CHECKING:
    from .planner import _Planner

ADD, LARGER = "add", "maximum"


def share(planner: _Planner, term: Term) -> float:
    """What there is at once of the scores of softmax_{ax}(X) ⊙_{ax} V, which may be computed in slices along ax."""
    on = planner.writer.optimised
    if "sums by slices" not in on or "normalise late" not in on:
        return 1.0
    for soft in term.arguments:
        if soft.operator == "softmax" and soft.axes == term.axes and len(soft.axes) == 1:
            sizes = blocks.sizes_of(soft) or {}
            size = sizes.get(soft.axes[0], 0)
            if size >= 2 * blocks.TILE and blocks.tileable(soft.arguments[0], soft.axes[0]) is not None:
                return blocks.TILE / size
    return 1.0


def softmax_by_slices(planner: _Planner, term: Term, soft: Term, other: Term) -> Value:
    """softmax_{ax}(X) ⊙_{ax} V, where X is computed a slice of ax at a time."""
    w = planner.writer
    sums = _Sums(planner, term, soft, other)
    careful = w.divide(*sums.made(sums.largest()))
    if "no largest" not in w.optimised:
        return careful
    product, total = sums.made(None)
    w.moderate(total)
    w.finite(product)
    return w.either(w.divide(product, total), careful)


class _Sums:
    """The sums of softmax_{ax}(X) ⊙_{ax} V over slices of ax."""

    def __init__(self, planner: _Planner, term: Term, soft: Term, other: Term):
        self.planner, self.term, self.soft_first = planner, term, soft is term.arguments[0]
        (self.axis,) = soft.axes
        self.values = planner.array(other)
        region = blocks.tileable(soft.arguments[0], self.axis)
        assert region is not None
        self.region = region
        self.size = self.values.size(self.axis)

    def largest(self) -> Value:
        """The largest of X along ax, which stays with size 1."""
        (found,) = self.over_slices(LARGER, None, False)
        return found

    def made(self, largest: Value | None) -> tuple[Value, Value]:
        """exp(X − m) ⊙_{ax} V and ∑_{ax} exp(X − m)."""
        product, total = self.over_slices(ADD, largest, True)
        return product, total

    def over_slices(self, combine: str, largest: Value | None, sums: bool) -> tuple[Value, ...]:
        """What is found in the slices, and in what is left after the last whole one, combined."""
        w, whole = self.planner.writer, self.size - self.size % blocks.TILE
        found = self.step(combine, largest, sums, 0, whole, blocks.TILE)
        if whole < self.size:
            rest = self.step(combine, largest, sums, whole, self.size, self.size - whole)
            join = w.add if combine == ADD else w.maximum
            found = tuple(join(left, right) for left, right in zip(found, rest))
        return found

    def step(
        self, combine: str, largest: Value | None, sums: bool, start: int, stop: int, size: int
    ) -> tuple[Value, ...]:
        """One step, which goes over slices of one size, and what it gives."""
        planner, axis = self.planner, self.axis
        w, inner = planner.writer, planner.inside()
        root, parts = blocks.tile(self.region, blocks.Tiling((), axis, size))
        given: list[Value] = []
        cuts: list[int | None] = []

        def part(value: Value, along: str | None) -> Value:
            shape = tuple(size if name == along else extent for name, extent in zip(value.order, value.shape))
            given.append(value)
            cuts.append(value.order.index(along) if along is not None else None)
            return inner.writer.input(f"x{len(given)}", value.order, shape, value.dtype, value)

        for number, (term, own) in enumerate(parts, 1):
            inner.inputs[f"part_{number}"] = part(planner.array(term), own.get(axis))
        values = part(self.values, axis) if sums else None
        off = part(largest, None) if largest is not None else None
        results = self.of_slice(inner, root, values, off)
        planner.slices += 1
        name = f"{planner.prefix}slice_{planner.slices}"
        plan = inner.writer.plan(planner.source, results, f"{name}_")
        several = w.step(
            "slices", given, (), (), results[0].dtype, plan=plan, function=name, cuts=tuple(cuts), start=start, stop=stop,
            rows=size, combine=combine,
        )  # fmt: skip
        return tuple(
            w.step("item", (several,), each.order, each.shape, each.dtype, at=at) for at, each in enumerate(results)
        )

    def of_slice(self, inner: _Planner, root: Term, values: Value | None, off: Value | None) -> tuple[Value, ...]:
        w = inner.writer
        x = w.array(inner.value(*inner.all((root,))))
        if values is None:
            return (w.reduce("max", x, (self.axis,), True),)
        powers = w.exp(x if off is None else w.subtract(x, off))
        pair = (powers, values) if self.soft_first else (values, powers)
        return REGISTRY["⊙"].lower(w, pair, (self.axis,), {}), w.reduce("sum", powers, (self.axis,))
