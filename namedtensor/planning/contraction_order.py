"""The cheapest contraction order of a chain such as A ⊙_{i} B ⊙_{j} C, found by dynamic programming.

Factors are contracted two at a time, over the axes that no remaining factor needs. The cost of a product of two factors
is estimated from the multiply-adds, the elements of the result and the library calls. Axes that both operands and the
result share form a stack of products, and each product in the stack has an additional fixed cost.

Another order may make values that the written order lacks, such as B ⊙_{j} C. They may overflow or underflow although
no value of the written order does, so they are examined when the plan runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.arrays import HALF
from ..core.extents import typical
from ..operators import REGISTRY
from ..terms.terms import Term, number_of_elements
from .builder import PlanBuilder
from .lowering import CHAINED, MAX_AXES, Lowering
from .plan import Argument, PlanValue

MAX_FACTORS = 8  # a chain with more factors is computed in the order in which it is written
CALL_MULTIPLY_ADDS = 500.0  # the cost of a call of the library, in multiply-adds
MATRIX_MULTIPLY_ADDS = 100.0  # the cost of each matrix of a stack
EXAMINATION_MULTIPLY_ADDS = {"numpy": 50_000.0, "torch": 150_000.0}  # the cost of examining the range of a value
OTHER_EXAMINATION_MULTIPLY_ADDS = 500_000.0  # the same for other libraries, whose calls take longer


class FactorChain(NamedTuple):
    """The factors of a product that is summed over `axes`."""

    factors: tuple[Term, ...]
    axes: frozenset[str]


Parts = tuple[list[Term], list[str]]  # the factors of a product, at most MAX_FACTORS + 1, and the axes summed over


def chain_of(term: Term, alone: Callable[[Term], bool], known: dict[int, Parts]) -> FactorChain | None:
    """Return the chain of factors that ends with a term, or None if the chain cannot be reordered.

    The factors are collected from nested products if each axis has one meaning in these products. A chain has at least
    three factors, or two if the term is a sum, and at most MAX_FACTORS. `alone` returns whether a nested term may be
    replaced by its factors.
    """
    if not any(argument.operator in CHAINED for argument in term.arguments):
        return None
    factors, axes = _collect_factors(term, alone, known, True)
    fewest = 2 if term.operator == "∑" else 3
    if not fewest <= len(factors) <= MAX_FACTORS or not axes or len(axes) != len(set(axes)):
        return None
    return FactorChain(tuple(factors), frozenset(axes))


def _collect_factors(term: Term, alone: Callable[[Term], bool], known: dict[int, Parts], first: bool = False) -> Parts:
    """Return the factors and the summed axes of a term. A term that is not a product is its only factor."""
    parts = None if first else known.get(id(term))
    if parts is None:
        parts = _parts(term, alone, known, first)
        if not first:
            known[id(term)] = parts
    return parts


def _parts(term: Term, alone: Callable[[Term], bool], known: dict[int, Parts], first: bool) -> Parts:
    product = term.operator == "⊙" and len(term.arguments) == 2
    total = term.operator == "∑" and len(term.arguments) == 1
    if not (product or total) or not (first or alone(term)) or term.options:
        return [term], []
    parts = [_collect_factors(argument, alone, known) for argument in term.arguments]
    for index, (_, summed) in enumerate(parts):
        if not summed:
            continue
        others = [argument for at, argument in enumerate(term.arguments) if at != index]
        if any(set(summed) & set(other.shape) for other in others):  # The axis has two meanings.
            return [term], []
    if total and len(parts[0][0]) == 1:
        return [term], []
    factors = [factor for more, _ in parts for factor in more]
    return factors[: MAX_FACTORS + 1], [*term.axes, *(axis for _, summed in parts for axis in summed)]


Tree = Any  # the index of a factor, or a pair of trees


def best(shapes: Sequence[frozenset[str]], axes: frozenset[str], sizes: dict[str, int]) -> tuple[float, Tree]:
    """Return the cost of the cheapest order of multiplication, together with this order as nested pairs.

    >>> abc = [frozenset("ab"), frozenset("bc"), frozenset("c")]
    >>> best(abc, frozenset("bc"), {"a": 9, "b": 9, "c": 9})[1]
    (0, (1, 2))
    """
    places = range(len(shapes))
    result: dict[frozenset[int], tuple[float, Tree, frozenset[str]]] = {
        frozenset([position]): (0.0, position, shapes[position]) for position in places
    }
    for size in range(2, len(shapes) + 1):
        for group in map(frozenset, itertools.combinations(places, size)):
            outside = frozenset().union(*(shapes[position] for position in places if position not in group))
            least: tuple[float, Tree, frozenset[str]] | None = None
            first = min(group)
            for count in range(1, size):
                for part in itertools.combinations(sorted(group), count):
                    if first not in part:
                        continue
                    left, right = result[frozenset(part)], result[group - frozenset(part)]
                    cost = left[0] + right[0] + price(left[2], right[2], axes, outside, sizes)
                    if least is None or cost < least[0]:
                        union = left[2] | right[2]
                        least = (cost, (left[1], right[1]), union - (axes - outside))
            assert least is not None
            result[group] = least
    cost, tree, _ = result[frozenset(places)]
    return cost, tree


def price(left: frozenset[str], right: frozenset[str], axes, outside, sizes: dict[str, int]) -> float:
    """Return an estimated cost of one product, based on its multiply-adds, its result's elements, and library calls.

    The product sums over the members of `axes` that no factor `outside` has.
    """
    summed = (left | right) & (axes - outside)
    remaining = (left | right) - summed
    stack = (left & right) - summed
    apart = bool(left - right - summed) and bool(right - left - summed)
    work = math.prod(sizes[axis] for axis in left | right)
    contracted = bool(left & right & summed)  # a product of matrices keeps the processor busiest
    weight = (1.0 if apart else 2.0) if contracted else 8.0
    written = 2.0 * math.prod(sizes[axis] for axis in remaining)
    return (
        weight * work
        + written
        + CALL_MULTIPLY_ADDS
        + (MATRIX_MULTIPLY_ADDS * math.prod(sizes[axis] for axis in stack) if stack else 0.0)
    )


def reorder(lowering: Lowering, term: Term) -> Argument | None:
    """Return the value of a chain of contractions, computed in the cheapest order.

    If this order makes values that the written order lacks, the step `keep_in_range` examines them. It computes the
    chain as written if one of them leaves the range of its dtype.

    If this step costs more than the cheapest order saves, the factors are multiplied in the written order, and the
    sums are part of the products. The result is None, so that the chain is computed exactly as written, if this makes
    such values too, or unless all factors have the same float dtype. Half precision is excluded, because its range is
    narrow.
    """
    b, chain = lowering.builder, chain_of(term, lowering.is_separable, lowering.chains)
    if chain is None:
        return None
    values = [lowering.known(factor) for factor in chain.factors]
    dtype = getattr(values[0], "dtype", "")
    if dtype in HALF or any(
        not isinstance(value, PlanValue) or value.dtype != dtype or b.kind(value) != "f" for value in values
    ):
        return None
    sizes = {axis: size for value in values for axis, size in zip(value.order, value.shape)}  # type: ignore[union-attr]
    sizes = {axis: typical(size) for axis, size in sizes.items()}
    cost, tree = best([frozenset(value.order) for value in values], chain.axes, sizes)  # type: ignore[union-attr]

    order = _Order(lowering, term, chain, values)  # type: ignore[arg-type]
    result = order.multiply(tree)
    if order.made and order.may_be_as_written:
        gain = _price_as_written(term, {id(factor) for factor in chain.factors}, sizes) - cost
        if b.target.name != "javascript" and gain > order.price_of_examination(result):
            result = order.keep_in_range(result)
        else:
            order.made.clear()
            result = order.multiply(_find_written_tree(term, lowering, itertools.count()))
            if order.made:
                return None
    lowering.reordered.update(id(part) for _, part in order.written if id(part) not in lowering.late)
    return result


class _Order:
    """A chain whose factors are multiplied in another order. `made` contains the values that the written order lacks."""

    def __init__(self, lowering: Lowering, term: Term, chain: FactorChain, values: Sequence[PlanValue]):
        self.lowering, self.term, self.chain, self.values = lowering, term, chain, values
        self.made: list[PlanValue] = []
        self.written = list(_find_written_products(term, lowering, 0))
        self.late = {group: lowering.known(part) for group, part in self.written if id(part) in lowering.late}
        self.known = {(group, frozenset(part.shape)) for group, part in self.written}
        most = lowering.limits.max_result_bytes // lowering.itemsize
        self.may_be_as_written = all(
            typical(number_of_elements(part)) <= most and len(part.shape) <= MAX_AXES for _, part in self.written
        )

    def multiply(self, tree: Tree) -> PlanValue:
        """Return the product of the factors in a tree, summed over the axes that no other factor has."""
        if isinstance(tree, int):
            return self.values[tree]
        b, mine = self.lowering.builder, frozenset(_members(tree))
        others = {axis for index, value in enumerate(self.values) if index not in mine for axis in value.order}
        gone = self.chain.axes - others
        late = self.late.get(mine)
        if isinstance(late, PlanValue) and not gone & set(late.order):
            return late
        x, y = self.multiply(tree[0]), self.multiply(tree[1])
        both = tuple(axis for axis in x.order if axis in gone and axis in y.order)
        if not {*x.order} <= {*y.order} and not {*y.order} <= {*x.order}:
            sums = (_sum_over(b, operand, gone - set(other.order)) for operand, other in ((x, y), (y, x)))
            x, y = (total if total is operand else self.note(total) for total, operand in zip(sums, (x, y)))
        result = REGISTRY["⊙"].lower(b, (x, y), both, {})
        self.lowering.limit_result(self.term, math.prod(result.shape))
        # The sum of one factor may overflow although the sum of the products does not.
        result = _sum_over(b, result, gone)
        is_known = len(mine) == len(self.values) or (mine, frozenset(result.order)) in self.known
        return result if is_known else self.note(result)

    def note(self, value: PlanValue) -> PlanValue:
        """Note a value that the written order lacks, and return the value to continue with."""
        b = self.lowering.builder
        self.made.append(value)
        if b.target.name != "jax" or not self.may_be_as_written:
            return value
        # If JAX computes as written, it also differentiates this order, in which zero times infinity would be NaN.
        return b.where(b.isfinite(value), value, 0.0)

    def price_of_examination(self, result: PlanValue) -> float:
        """Return the estimated cost of examining the result and the values in `made`."""
        check = EXAMINATION_MULTIPLY_ADDS.get(self.lowering.builder.target.name, OTHER_EXAMINATION_MULTIPLY_ADDS)
        return sum(check + 8.0 * value.typical_count for value in (result, *self.made))

    def keep_in_range(self, result: PlanValue) -> PlanValue:
        """Return the result, or the value of the chain as written if the result or a value in `made` leaves its range."""
        lowering = self.lowering
        inner = lowering.lower_body().builder
        inner.origin = self.term
        inputs: dict[PlanValue, PlanValue] = {}
        factors = dict(zip(map(id, self.chain.factors), self.values))

        def make_input(value: PlanValue) -> PlanValue:
            if value not in inputs:
                inputs[value] = inner.input(f"x{len(inputs) + 1}", value.order, value.shape, value.dtype, value)
            return inputs[value]

        def write(term: Term) -> PlanValue:
            value = lowering.known(term) if id(term) in lowering.late else factors.get(id(term))
            if isinstance(value, PlanValue):
                return make_input(value)
            arguments = tuple(map(write, term.arguments))
            return REGISTRY[term.operator].lower(inner, arguments, term.axes, dict(term.options))

        for value in self.values:
            make_input(value)
        written = inner.reorder(write(self.term), result.order)
        lowering.chains_as_written += 1
        name = f"{lowering.prefix}written_{lowering.chains_as_written}"
        plan = inner.plan(lowering.source, (written,), f"{name}_")
        return lowering.builder.step(
            "keep_in_range", (result, *self.made, *inputs), result.order, result.shape, result.dtype,
            plan=plan, function=name, made=len(self.made),
        )  # fmt: skip


def _price_as_written(term: Term, factors: set[int], sizes: dict[str, int]) -> float:
    """Return an estimated cost of a chain in the written order."""
    if id(term) in factors:
        return 0.0
    inner = sum(_price_as_written(argument, factors, sizes) for argument in term.arguments)
    left, *right = (frozenset(argument.shape) for argument in term.arguments)
    if right:
        return inner + price(left, right[0], frozenset(term.axes), frozenset(), sizes)
    return inner + 2.0 * math.prod(sizes[axis] for axis in left) + CALL_MULTIPLY_ADDS


def _find_written_products(term: Term, lowering: Lowering, start: int) -> Iterator[tuple[frozenset[int], Term]]:
    """Yield each product that appears in the chain as written, with the positions of its factors in the chain."""
    for argument in term.arguments:
        count = len(_collect_factors(argument, lowering.is_separable, lowering.chains)[0])
        if count > 1:
            yield frozenset(range(start, start + count)), argument
            yield from _find_written_products(argument, lowering, start)
        start += count


def _find_written_tree(term: Term, lowering: Lowering, positions: Iterator[int]) -> Tree:
    """Return the order of multiplication of the chain as written."""
    left, *right = (
        _find_written_tree(argument, lowering, positions)
        if len(_collect_factors(argument, lowering.is_separable, lowering.chains)[0]) > 1
        else next(positions)
        for argument in term.arguments
    )
    return (left, *right) if right else left


def _members(tree: Tree) -> set[int]:
    return {tree} if isinstance(tree, int) else _members(tree[0]) | _members(tree[1])


def _sum_over(b: PlanBuilder, x: PlanValue, axes: frozenset[str]) -> PlanValue:
    over = tuple(axis for axis in x.order if axis in axes)
    return b.reduce("sum", x, over) if over else x
