"""Products with softmax: the division follows the product, and a long axis is summed over one slice at a time.

Both exp X ⊙_{ax} V and ∑_{ax} exp X are sums over ax, so they can be accumulated over slices of ax without
materializing X. The step that divides them checks their range. If an element is out of range, the step divides first.
"""

from __future__ import annotations

import string

from ..core.axes import Order
from ..core.extents import typical
from ..core.size_conditions import assume_at_most, assume_equal
from ..operators import REGISTRY
from ..terms.terms import Term, number_of_elements
from . import regions
from .builder import PlanBuilder
from .lowering import Lowering
from .plan import Argument, PlanValue
from .step_builder import ENDS

SLICED = {"online-softmax", "deferred-normalization", "unshifted-softmax"}  # optimizations that slices need


def share(lowering: Lowering, term: Term) -> float:
    """Return the fraction of the scores of softmax_{ax}(X) ⊙_{ax} V in memory at once, or 1 if ax is not sliced."""
    if not lowering.builder.optimized >= SLICED:
        return 1.0
    for soft in term.arguments:
        if soft.operator == "softmax" and soft.axes == term.axes and len(soft.axes) == 1:
            sizes = regions.sizes_of(soft) or {}
            size = sizes.get(soft.axes[0], 0)
            if size >= 2 * regions.TILE_ENTRIES and regions.tileable(soft.arguments[0], soft.axes[0]) is not None:
                return regions.TILE_ENTRIES / size
    return 1.0


def normalize_late(lowering: Lowering, term: Term) -> Argument | None:
    """Return softmax_{ax}(X) ⊙_{ax} V, dividing after the product, or None if the product is not smaller than X.

    The product of the exponentials with V may overflow although the final result is finite. In this case, the step
    `normalize` divides first. The result is also None if the softmax has a second use, or if X and V do not have the
    same dtype.
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
        is_first = soft is term.arguments[0]
        if b.in_block and share(lowering, term) < 1.0:
            return _SlicedProduct(lowering, soft, y, is_first).value()
        powers, total = b.exponentials(x, soft.axes, False)
        product = _multiply(b, powers, y, soft.axes, is_first)
        along = tuple(sorted(x.order.index(axis) for axis in soft.axes))
        arguments = (product, b.align(total, product.order), powers, y)
        subscripts = _write_subscripts(powers, y, product)
        return b.step("normalize", arguments, product.order, product.shape, along=along, subscripts=subscripts)
    return None


def _multiply(b: PlanBuilder, powers: PlanValue, y: PlanValue, axes: Order, is_first: bool) -> PlanValue:
    return REGISTRY["⊙"].lower(b, (powers, y) if is_first else (y, powers), axes, {})


def _write_subscripts(*values: PlanValue) -> str:
    """Return the subscripts of an einsum call for two operands and their product."""
    letters = dict(zip(dict.fromkeys(axis for value in values for axis in value.order), string.ascii_letters))
    x, y, product = ("".join(map(letters.__getitem__, value.order)) for value in values)
    return f"{x},{y}->{product}"


class _SlicedProduct:
    """The product softmax_{ax}(X) ⊙_{ax} V, in which X is computed one slice of ax at a time."""

    def __init__(self, lowering: Lowering, soft: Term, values: PlanValue, is_first: bool):
        self.lowering, self.values, self.is_first = lowering, values, is_first
        (self.axis,) = soft.axes
        region = regions.tileable(soft.arguments[0], self.axis)
        assert region is not None
        self.region = region

    def value(self) -> PlanValue:
        """Return the quotient of the sums over all slices. If one of them is out of range, X is computed as a whole."""
        lowering, b = self.lowering, self.lowering.builder
        product, total = self.sums()
        inner, x, inputs, _ = self.scores(self.values.size(self.axis))
        name = f"{lowering.prefix}scores_{lowering.slices}"
        plan = inner.builder.plan(lowering.source, (x,), f"{name}_")
        arguments = (product, b.align(total, product.order), self.values, *inputs)
        return b.step(
            "normalize_slices", arguments, product.order, product.shape, product.dtype, plan=plan, function=name,
            at=x.order.index(self.axis), subscripts=_write_subscripts(x, self.values, product),
        )  # fmt: skip

    def sums(self) -> tuple[PlanValue, PlanValue]:
        """Return exp X ⊙_{ax} V and ∑_{ax} exp X.

        A loop computes the full slices. Its results are added to the results of the shorter last slice, if any.
        """
        size = self.values.size(self.axis)
        over = size % regions.TILE_ENTRIES
        assume_at_most(regions.TILE_ENTRIES, size)
        product, total = self.sums_between(0, size - over, regions.TILE_ENTRIES)
        if not assume_equal(over, 0):
            b, (product_of_rest, total_of_rest) = self.lowering.builder, self.sums_between(size - over, size, over)
            product, total = b.add(product, product_of_rest), b.add(total, total_of_rest)
        return product, total

    def sums_between(self, start: int, stop: int, size: int) -> tuple[PlanValue, PlanValue]:
        """Return the sums over slices of equal size, from the position `start` to the position `stop`."""
        lowering, b = self.lowering, self.lowering.builder
        inner, x, inputs, cuts = self.scores(size)
        part = self.add_part(inner, self.values, self.axis, size, inputs, cuts)
        powers = inner.builder.exp(x)
        results = (
            _multiply(inner.builder, powers, part, (self.axis,), self.is_first),
            inner.builder.reduce("sum", powers, (self.axis,)),
        )
        lowering.slices += 1
        name = f"{lowering.prefix}slice_{lowering.slices}"
        plan = inner.builder.plan(lowering.source, results, f"{name}_")
        sums = b.step(
            "slices", inputs, (), (), results[0].dtype, plan=plan, function=name, cuts=tuple(cuts), start=start, stop=stop, rows=size,
        )  # fmt: skip
        product, total = (
            b.step("item", (sums,), value.order, value.shape, value.dtype, at=at) for at, value in enumerate(results)
        )
        return product, total

    def scores(self, size: int) -> tuple[Lowering, PlanValue, list[PlanValue], list[int | None]]:
        """Return the lowering of an inner function, X for a slice of this size, and the function's arguments.

        The last result contains the position of the sliced axis in each argument.
        """
        inner = self.lowering.inner()
        root, parts = regions.tile(self.region, regions.Tiling((), self.axis, size))
        inputs: list[PlanValue] = []
        cuts: list[int | None] = []
        for number, (term, axis_names) in enumerate(parts, 1):
            value, along = self.lowering.array(term), axis_names.get(self.axis)
            inner.inputs[f"part_{number}"] = self.add_part(inner, value, along, size, inputs, cuts)
        return inner, inner.builder.array(*inner.lower_all((root,))), inputs, cuts

    def add_part(
        self, inner: Lowering, value: PlanValue, along: str | None, size: int, inputs: list[PlanValue], cuts: list[int | None]
    ) -> PlanValue:  # fmt: skip
        """Add one slice of a value to the arguments of an inner function, and return the function's input for it."""
        shape = tuple(size if name == along else extent for name, extent in zip(value.order, value.shape))
        inputs.append(value)
        cuts.append(value.order.index(along) if along is not None else None)
        return inner.builder.input(f"x{len(inputs)}", value.order, shape, value.dtype, value)
