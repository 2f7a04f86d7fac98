"""The cheapest contraction order of a chain such as A ⊙_{i} B ⊙_{j} C, found by dynamic programming.

Factors are contracted two at a time, over the axes that no remaining factor needs. The cost of a product of two factors
is estimated from the multiply-adds, the elements of the result and the library calls. Axes that both operands and the
result share form a stack of products, and each product in the stack has an additional fixed cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ..core.arrays import HALF
from ..core.extents import typical
from ..operators import REGISTRY
from ..terms.terms import Term
from .builder import PlanBuilder
from .lowering import CHAINED, Lowering
from .plan import Argument, PlanValue

MAX_FACTORS = 8  # a chain with more factors is computed in the order in which it is written
CALL_MULTIPLY_ADDS = 500.0  # the cost of a call of the library, in multiply-adds
MATRIX_MULTIPLY_ADDS = 100.0  # the cost of each matrix of a stack


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
        for group in map(frozenset, combinations(places, size)):
            outside = frozenset().union(*(shapes[position] for position in places if position not in group))
            least: tuple[float, Tree, frozenset[str]] | None = None
            first = min(group)
            for count in range(1, size):
                for part in combinations(sorted(group), count):
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

    The result is None, so that the chain is computed as written, unless all factors have the same float dtype. Half
    precision is excluded, because its range is narrow.
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
    _, tree = best([frozenset(value.order) for value in values], chain.axes, sizes)  # type: ignore[union-attr]

    written = list(_find_written_products(term, lowering, 0))
    late = {group: lowering.known(part) for group, part in written if id(part) in lowering.late}
    lowering.reordered.update(id(part) for _, part in written if id(part) not in lowering.late)

    def product(tree: Tree) -> Any:
        if isinstance(tree, int):
            return values[tree]
        mine = _members(tree)
        others = {axis for index, value in enumerate(values) if index not in mine for axis in value.order}  # type: ignore[union-attr]
        gone = chain.axes - others
        result = late.get(frozenset(mine))
        if isinstance(result, PlanValue) and not gone & set(result.order):
            return result
        x, y = product(tree[0]), product(tree[1])
        both = tuple(axis for axis in x.order if axis in gone and axis in y.order)
        if not {*x.order} <= {*y.order} and not {*y.order} <= {*x.order}:
            x, y = (_sum_over(b, operand, gone - set(other.order)) for operand, other in ((x, y), (y, x)))
        result = REGISTRY["⊙"].lower(b, (x, y), both, {})
        lowering.limit_result(term, math.prod(result.shape))
        # The sum of one factor may overflow although the sum of the products does not.
        return _sum_over(b, result, gone)

    return product(tree)


def _find_written_products(term: Term, lowering: Lowering, start: int) -> Iterator[tuple[frozenset[int], Term]]:
    """Yield each product that appears in the chain as written, with the positions of its factors in the chain."""
    for argument in term.arguments:
        count = len(_collect_factors(argument, lowering.is_separable, lowering.chains)[0])
        if count > 1:
            yield frozenset(range(start, start + count)), argument
            yield from _find_written_products(argument, lowering, start)
        start += count


def _members(tree: Tree) -> set[int]:
    return {tree} if isinstance(tree, int) else _members(tree[0]) | _members(tree[1])


def _sum_over(b: PlanBuilder, x: PlanValue, axes: frozenset[str]) -> PlanValue:
    over = tuple(axis for axis in x.order if axis in axes)
    return b.reduce("sum", x, over) if over else x
