"""The plan builder, which lowers operations on values with named axes to primitive steps on positions.

With this interface, an operator is defined once for all libraries, as in `b.exp(b.subtract(x, m))`. The builder aligns
axes by name and shares equal steps. An operation that the target supports natively becomes one step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.axes import Order, union
from . import dtypes, sums_as_products, whole_numbers
from .plan import Argument, PlanValue
from .step_builder import ENDS, StepBuilder


class PlanBuilder(StepBuilder):
    """The builder of one plan for one target; `real` is the dtype of constants that are floats."""

    # -------------------------------------------------------------------------------------------------- elementwise
    def elementwise(self, primitive: str, *arguments: Argument) -> PlanValue:
        """Return the result of an elementwise primitive for arrays and numbers, over the union of the arrays' axes."""
        values = [argument for argument in arguments if isinstance(argument, PlanValue)]
        if len(values) < len(arguments):
            if not values or primitive not in self.target.numbers or not self.target.is_native(values[-1].dtype):
                arguments = dtypes.with_arrays(self, arguments)
            elif "typed-constants" in self.optimized:
                arguments = dtypes.with_constants(self, primitive, arguments)
        if primitive in whole_numbers.ARITHMETIC and self.are_whole(arguments):
            primitive, safe = whole_numbers.safe(self, primitive, arguments)
            arguments = tuple(safe)
        if len(arguments) == 1:
            (x,) = arguments
            return self.step(primitive, arguments, x.order, x.shape)
        order = union([value.order for value in values])
        shape = self.shape_over(order, values)
        laid = [self.align(argument, order) if isinstance(argument, PlanValue) else argument for argument in arguments]
        return self.step(primitive, laid, order, shape)

    def shape_over(self, order: Order, values: Sequence[PlanValue]) -> tuple[int, ...]:
        fromkeys = dict.fromkeys(order, 1)
        for value in values:
            for axis, size in zip(value.order, value.shape):
                if size != 1:
                    fromkeys[axis] = size
        return tuple(fromkeys.values())

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the method that adds this elementwise primitive to the plan, as in b.exp(x) or b.add(x, y)."""

    # -------------------------------------------------------------------------------------------------- reductions
    def reduce(self, kind: str, x: PlanValue, axes: Order, keep: bool = False) -> PlanValue:
        """Return an array reduced over some of its axes. If `keep` is true, these axes remain with size 1."""
        if self.sums_in_single(kind, x):
            return self.cast(self.reduce(kind, self.cast(x, "float32"), axes, keep), x.dtype)
        places = tuple(sorted(x.order.index(axis) for axis in axes))
        at = places[0] if len(places) == 1 else None if len(places) == len(x.order) else places
        if kind in ("sum", "prod") and self.are_whole((x,)):
            kind, x = whole_numbers.reducible(self, kind, x, math.prod(self.extents(x, axes)))
        if kind == "sum" and places == (len(x.order) - 1,):
            sum_last = sums_as_products.sum_last(self, x, keep)
            if sum_last is not None:
                return sum_last
        if kind == "sum" and not keep and places == tuple(range(len(places))):
            sum_last = sums_as_products.sum_first(self, x, len(places))
            if sum_last is not None:
                return sum_last
        if keep:
            shape = tuple(1 if axis in axes else size for axis, size in zip(x.order, x.shape))
            return self.step(kind, (x,), x.order, shape, at=at, keep=True)
        rest = tuple(axis for axis in x.order if axis not in axes)
        return self.step(kind, (x,), rest, self.extents(x, rest), at=at, keep=False)

    def exponentials(self, x: PlanValue, axes: Order, keep: bool) -> tuple[PlanValue, PlanValue]:
        """Return exp(x − m), with m the maximum of x along the axes, and the sums that normalize these exponentials.

        On the fast path, m is 0 in each row in which the sum of exp x is at least 1 and not very large. No exponential
        in such a row is smaller than its share of the sum, so an exponential with a representable share does not
        underflow. The step `shifted` recomputes the other rows with the maximum.
        """
        if not self.has_fast_path(x) or x in self.donated:  # its memory becomes the result's
            powers = self.exp(self.subtract(x, self.reduce("max", x, axes, True)))
            return powers, self.reduce("sum", powers, axes, keep)
        along = tuple(sorted(x.order.index(axis) for axis in axes))
        powers = self.step("exp", (x,), x.order, x.shape, x.dtype, along=along)  # shared with no other exp x
        total = self.reduce("sum", powers, axes, keep)
        return powers, self.step("shifted", (total, powers, x), total.order, total.shape, x.dtype, along=along)

    def has_fast_path(self, x: PlanValue) -> bool:
        """Return whether the exponentials of this value may be computed without subtracting the maximum."""
        return "unshifted-softmax" in self.optimized and x.dtype in ENDS and not x.fixed and not x.dynamic

    def divide_by_root_mean_square(self, x: PlanValue, axes: Order, eps: float) -> PlanValue:
        """Return x / √(mean square + eps) in one step, which scales x first if a square overflows."""
        along = tuple(sorted(x.order.index(axis) for axis in axes))
        arguments: Sequence[Argument] = (x, math.prod(self.extents(x, axes)), eps)
        if "typed-constants" in self.optimized:
            arguments = dtypes.with_constants(self, "standardize", arguments)
        return self.step("standardize", arguments, x.order, x.shape, x.dtype, along=along)

    def sums_in_single(self, kind: str, x: PlanValue) -> bool:
        """Return whether a reduction such as a sum or a product must be computed in single precision.

        For dtypes of `ml_dtypes`, NumPy would round each partial result.
        """
        sums = kind in ("sum", "prod", "mean", "cumsum", "cumprod")
        return sums and self.kind(x) == "f" and not self.target.is_native(x.dtype)

    def along(self, primitive: str, x: PlanValue, axis: str) -> PlanValue:
        """Return the result of a primitive that acts along one axis of an array, such as the cumulative sum."""
        if self.sums_in_single(primitive, x):
            return self.cast(self.along(primitive, self.cast(x, "float32"), axis), x.dtype)
        if primitive in ("cumsum", "cumprod") and self.are_whole((x,)):
            primitive, x = whole_numbers.reducible(self, primitive, x, x.size(axis))
        return self.step(primitive, (x,), x.order, x.shape, at=x.order.index(axis))

    # ------------------------------------------------------------------------------------------------------- layout
    def extents(self, x: PlanValue, order: Order) -> tuple[int, ...]:
        if order == x.order:
            return x.shape
        return tuple([x.shape[x.order.index(axis)] for axis in order])

    def reorder(self, x: PlanValue, order: Order) -> PlanValue:
        """Return the same array with its axes in another order."""
        if order == x.order:
            return x
        moves = tuple(x.order.index(axis) for axis in order)
        step = self._written.get(self.unnamed(x))
        if step is not None and step.primitive == "transpose":  # Replace two transpositions by one.
            moves = tuple(step.options["moves"][move] for move in moves)
            x = step.arguments[0]
        else:
            x = self.unnamed(x)
        if moves == tuple(range(len(moves))):
            return self.renamed(x, order)
        return self.step("transpose", (x,), order, tuple(x.shape[move] for move in moves), x.dtype, moves=moves)

    def align(self, x: PlanValue, order: Order) -> PlanValue:
        """Transpose and expand an array so that it broadcasts against an array whose axes are `order`."""
        names = x.order
        if not names or names == order[len(order) - len(names) :]:
            return x
        present = tuple(axis for axis in order if axis in names)
        first = min(order.index(axis) for axis in present)
        x = self.reorder(x, present)
        spread = tuple(axis in names for axis in order[first:])
        if all(spread):
            return x
        sizes = dict(zip(x.order, x.shape))
        shape = tuple(sizes.get(axis, 1) for axis in order[first:])
        return self.step("expand", (x,), order[first:], shape, x.dtype, kept=spread)

    def broadcast(self, x: Argument, order: Order, shape: Sequence[int]) -> PlanValue:
        """Return an array with all axes in `order`, expanded to the sizes in `shape`."""
        x = self.align(self.array(x), order)
        shape = tuple(shape)
        if x.shape == shape and x.order == order:
            return x
        return self.step("broadcast", (x,), order, shape, x.dtype, sizes=shape)

    def merge(self, x: PlanValue, sources: Order, target: str) -> PlanValue:
        """Return X_{(a,b)→c}, merged in row-major order of the axes as written, whatever their storage order."""
        first = x.order.index(sources[0])
        rest = tuple(axis for axis in x.order if axis not in sources)
        together = x.order[first : first + len(sources)] == sources
        before = x.order[:first] if together else rest
        after = x.order[first + len(sources) :] if together else ()
        turned = self.reorder(x, (*before, *sources, *after))
        merged = math.prod(self.extents(x, sources))
        shape = (*self.extents(x, before), merged, *self.extents(x, after))
        return self.reshape(turned, (*before, target, *after), shape)

    def split(self, x: PlanValue, source: str, parts: Sequence[tuple[str, int]]) -> PlanValue:
        """Return X_{c→(a,b)}, given the names and sizes of the parts. This is the inverse of `merge`."""
        index = x.order.index(source)
        order = (*x.order[:index], *[axis for axis, _ in parts], *x.order[index + 1 :])
        return self.reshape(x, order, (*x.shape[:index], *[size for _, size in parts], *x.shape[index + 1 :]))

    # ------------------------------------------------------------------------------------------------- parts, joins
    def pick(self, x: PlanValue, at: dict[str, int]) -> PlanValue:
        """Return the elements at one position along each of these axes, with positions counted from 0."""
        rest = tuple(axis for axis in x.order if axis not in at)
        places = tuple(at.get(axis) for axis in x.order)
        return self.step("pick", (x,), rest, self.extents(x, rest), x.dtype, places=places)

    def head(self, x: PlanValue, size: int) -> PlanValue:
        """Return the first `size` elements along the last axis."""
        return self.step("head", (x,), x.order, (*x.shape[:-1], size), x.dtype, size=size)

    def part(self, x: PlanValue, start: int, size: int) -> PlanValue:
        """Return the `size` elements of the last axis that begin at `start`."""
        return self.step("part", (x,), x.order, (*x.shape[:-1], size), x.dtype, start=start, stop=start + size)

    def concat(self, values: Sequence[PlanValue], axis: str) -> PlanValue:
        """Return the concatenation, along one axis, of arrays whose axes are in the same order."""
        first = values[0]
        at = first.order.index(axis)
        total = sum(value.shape[at] for value in values)
        shape = (*first.shape[:at], total, *first.shape[at + 1 :])
        return self.step("concat", values, first.order, shape, first.dtype, at=at)

    def stack(self, values: Sequence[PlanValue], axis: str) -> PlanValue:
        """Return several arrays of the same shape, stacked along a new first axis."""
        first = values[0]
        return self.step("stack", values, (axis, *first.order), (len(values), *first.shape), first.dtype)

    def take(self, x: PlanValue, places: PlanValue, axis: str) -> PlanValue:
        """Return the elements at given positions along an axis. The axes of `places` replace this axis."""
        at = x.order.index(axis)
        order = (*x.order[:at], *places.order, *x.order[at + 1 :])
        shape = (*x.shape[:at], *places.shape, *x.shape[at + 1 :])
        return self.step("take", (x, places), order, shape, x.dtype, at=at, sizes=shape, rank=len(places.order))


ELEMENTWISE = frozenset(
    "exp log log1p expm1 sqrt sin cos tan arctan arcsin arccos tanh sinh cosh abs sign floor ceil negative logical_not isfinite erf add subtract "
    "multiply divide power maximum minimum equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or remainder logaddexp where".split()
)


def _elementwise(name: str) -> Callable[..., PlanValue]:
    return lambda self, *arguments: self.elementwise(name, *arguments)


for _name in ELEMENTWISE:
    setattr(PlanBuilder, _name, _elementwise(_name))
