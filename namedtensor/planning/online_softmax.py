"""Online softmax: softmax over a long axis, computed one slice at a time, with the guard of the fast path.

Both exp X ⊙_{ax} V and ∑_{ax} exp X are sums over ax, so they can be accumulated over slices of ax without
materializing X. If the maximum m must be subtracted, a first pass over all slices computes m.
"""

from __future__ import annotations

from typing import NamedTuple

from ..core.extents import typical
from ..core.size_conditions import assume_at_most, assume_equal
from ..operators import REGISTRY
from ..terms.terms import Term, number_of_elements
from . import regions
from .builder import PlanBuilder
from .lowering import Lowering
from .plan import Argument, PlanValue
from .step_builder import ENDS

ADD, LARGER = "add", "maximum"
MIN_TOTAL = (
    0.5  # An exponential is at least half of its share of a larger sum, so it does not underflow if its share does not.
)


def share(lowering: Lowering, term: Term) -> float:
    """Return the fraction of the scores of softmax_{ax}(X) ⊙_{ax} V that exist at once, or 1 if ax is not sliced."""
    on = lowering.builder.optimized
    if "online-softmax" not in on or "deferred-normalization" not in on:
        return 1.0
    for soft in term.arguments:
        if soft.operator == "softmax" and soft.axes == term.axes and len(soft.axes) == 1:
            sizes = regions.sizes_of(soft) or {}
            size = sizes.get(soft.axes[0], 0)
            if size >= 2 * regions.TILE_ENTRIES and regions.tileable(soft.arguments[0], soft.axes[0]) is not None:
                return regions.TILE_ENTRIES / size
    return 1.0


def normalize_late(lowering: Lowering, term: Term) -> Argument | None:
    """Return softmax_{ax}(X) ⊙_{ax} V, dividing after the product, or None unless the product is smaller than X.

    The product of the exponentials with V may overflow although the final result is finite. In this case, the fallback
    divides first. The result is also None if the softmax has a second use, or if X and V do not have the same dtype.
    """
    b = lowering.builder
    for soft, other in (term.arguments, term.arguments[::-1]):
        if soft.operator != "softmax" or not lowering.has_one_use(soft) or set(soft.axes) != set(term.axes):
            continue  # With an extra summed axis, the divisor could vary within the sum.
        x, y = lowering.known(soft.arguments[0]), lowering.value(other)
        if not isinstance(x, PlanValue) or not isinstance(y, PlanValue) or x.dtype not in ENDS or y.dtype != x.dtype:
            continue
        if typical(number_of_elements(term)) >= typical(number_of_elements(soft)):
            continue
        lowering.late.add(id(term))
        if b.in_block and share(lowering, term) < 1.0:
            return softmax_by_slices(lowering, term, soft, other)
        powers, total = b.exponentials(x, soft.axes, False)
        first = soft is term.arguments[0]
        late, early = (
            REGISTRY["⊙"].lower(b, (weights, y) if first else (y, weights), term.axes, {})
            for weights in (powers, lowering.array(soft))
        )
        b.guard_finite(late)
        return b.select(b.divide(late, total), early)
    return None


def softmax_by_slices(lowering: Lowering, term: Term, soft: Term, other: Term) -> PlanValue:
    """Return softmax_{ax}(X) ⊙_{ax} V, computing X one slice of ax at a time."""
    b = lowering.builder
    sums = _Sums(lowering, term, soft, other)
    largest = sums.largest()
    fallback = sums.weigh(largest, sums.total(largest))
    if "unshifted-softmax" not in b.optimized or sums.values.dtype not in ENDS:
        return fallback
    product, total = sums.compute_unshifted()
    b.guard(total, MIN_TOTAL, 2.0 ** (ENDS[total.dtype] // 2))
    b.guard_finite(product)
    return b.select(b.divide(product, total), fallback)


class _Slice(NamedTuple):
    """The settings for the computation of one slice.

    `product` specifies whether the product with V is computed. The exponentials are shifted by `largest` and divided by
    `total` if these are given.
    """

    product: bool
    largest: PlanValue | None = None
    total: PlanValue | None = None


class _Sums:
    """The computation of softmax_{ax}(X) ⊙_{ax} V by sums over the slices along ax."""

    def __init__(self, lowering: Lowering, term: Term, soft: Term, other: Term):
        self.lowering, self.term, self.soft_first = lowering, term, soft is term.arguments[0]
        (self.axis,) = soft.axes
        self.values = lowering.array(other)
        region = regions.tileable(soft.arguments[0], self.axis)
        assert region is not None
        self.region = region
        self.size = self.values.size(self.axis)

    def largest(self) -> PlanValue:
        """Return the maximum of X along ax. The axis is kept with size 1."""
        (largest,) = self.over_slices(LARGER, _Slice(False))
        return largest

    def compute_unshifted(self) -> tuple[PlanValue, PlanValue]:
        """Return exp X ⊙_{ax} V and ∑_{ax} exp X."""
        product, total = self.over_slices(ADD, _Slice(True))
        return product, total

    def total(self, largest: PlanValue) -> PlanValue:
        """Return ∑_{ax} exp(X − m), where m is the maximum."""
        (total,) = self.over_slices(ADD, _Slice(False, largest))
        return total

    def weigh(self, largest: PlanValue, total: PlanValue) -> PlanValue:
        """Return (exp(X − m) / total) ⊙_{ax} V, where m is the maximum."""
        (product,) = self.over_slices(ADD, _Slice(True, largest, total))
        return product

    def over_slices(self, combine: str, target: _Slice) -> tuple[PlanValue, ...]:
        """Return the sums (or the maxima, if `combine` is LARGER) over all slices.

        A loop computes the full slices. Its results are combined with the results of the shorter last slice, if any.
        """
        b, over = self.lowering.builder, self.size % regions.TILE_ENTRIES
        whole = self.size - over
        assume_at_most(regions.TILE_ENTRIES, self.size)
        step = self.step(combine, target, 0, whole, regions.TILE_ENTRIES)
        if not assume_equal(over, 0):
            rest = self.step(combine, target, whole, self.size, over)
            join = b.add if combine == ADD else b.maximum
            step = tuple(join(left, right) for left, right in zip(step, rest))
        return step

    def step(self, combine: str, target: _Slice, start: int, stop: int, size: int) -> tuple[PlanValue, ...]:
        """Return the sums or maxima over slices of equal size, from the position `start` to the position `stop`."""
        lowering, axis = self.lowering, self.axis
        b, inner = lowering.builder, lowering.inner()
        root, parts = regions.tile(self.region, regions.Tiling((), axis, size))
        inputs: list[PlanValue] = []
        cuts: list[int | None] = []

        def part(value: PlanValue, along: str | None) -> PlanValue:
            shape = tuple(size if name == along else extent for name, extent in zip(value.order, value.shape))
            inputs.append(value)
            cuts.append(value.order.index(along) if along is not None else None)
            return inner.builder.input(f"x{len(inputs)}", value.order, shape, value.dtype, value)

        for number, (term, axis_names) in enumerate(parts, 1):
            inner.inputs[f"part_{number}"] = part(lowering.array(term), axis_names.get(axis))
        values = part(self.values, axis) if target.product else None
        largest, total = (value if value is None else part(value, None) for value in (target.largest, target.total))
        x = inner.builder.array(*inner.lower_all((root,)))
        results = self.compute_slice(inner.builder, x, values, largest, total)
        lowering.slices += 1
        name = f"{lowering.prefix}slice_{lowering.slices}"
        plan = inner.builder.plan(lowering.source, results, f"{name}_")
        several = b.step(
            "slices", inputs, (), (), results[0].dtype, plan=plan, function=name, cuts=tuple(cuts), start=start, stop=stop,
            rows=size, combine=combine,
        )  # fmt: skip
        return tuple(
            b.step("item", (several,), value.order, value.shape, value.dtype, at=at) for at, value in enumerate(results)
        )

    def compute_slice(
        self, b: PlanBuilder, x: PlanValue, values: PlanValue | None, largest: PlanValue | None, total: PlanValue | None
    ) -> tuple[PlanValue, ...]:
        """Return the contribution of one slice x of X to the maximum, the product, or the sums."""
        if values is None and largest is None:
            return (b.reduce("max", x, (self.axis,), True),)
        powers = b.exp(x if largest is None else b.subtract(x, largest))
        if values is None:
            return (b.reduce("sum", powers, (self.axis,)),)
        weights = powers if total is None else b.divide(powers, total)
        pair = (weights, values) if self.soft_first else (values, weights)
        product = REGISTRY["⊙"].lower(b, pair, (self.axis,), {})
        return (product,) if total is not None else (product, b.reduce("sum", powers, (self.axis,)))
