"""Where the factors of one product occur in another, under names for its indices; and facts, which are applied there."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from .factors import SumParts, contracted, gathered, is_function
from .forms import Factor, FormIndex, Product, opened
from .work import current, used


class PatternMatch(NamedTuple):
    """What is left of a product without a pattern, what the pattern's indices are in it, and those that it sums."""

    rest: tuple[Factor, ...]
    names: dict[FormIndex, FormIndex]
    inside: set[FormIndex]


def occurrences(product: Product, pattern: Product) -> Iterator[PatternMatch]:
    """The ways in which a product has all factors of a pattern, and nothing else has the indices that the pattern sums."""
    exponents = tuple(factor.exponent for factor in product.factors)
    for left, names in _matches(pattern.factors, exponents, product, pattern, {}):
        inside = {names[index] for index in pattern.summed}
        rest = tuple(factor._replace(exponent=power) for factor, power in zip(product.factors, left) if power)
        if inside & {index for factor in rest for index in factor.indices}:
            continue
        if not any(names[index] in inside for index in pattern.indices()):
            yield PatternMatch(rest, names, inside)


def _holds(exponent: Fraction, expected: Fraction) -> bool:
    """Whether a power has another as a factor: x³ has x², x⁻³ has x⁻¹."""
    return exponent / expected >= 1 and (exponent - expected).denominator == 1


def _matches(
    factors: tuple[Factor, ...],
    exponents: tuple[Fraction, ...],
    product: Product,
    pattern: Product,
    names: dict[FormIndex, FormIndex],
) -> Iterator[tuple[tuple[Fraction, ...], dict[FormIndex, FormIndex]]]:
    """The exponents that are left of a product's factors, and the names of indices."""
    if not factors:
        yield exponents, names
        return
    first, *rest = factors
    for position, (factor, exponent) in enumerate(zip(product.factors, exponents)):
        if factor.head is not first.head or not _holds(exponent, first.exponent):
            continue
        left = (*exponents[:position], exponent - first.exponent, *exponents[position + 1 :])
        for order in first.head.symmetries:
            indices = dict(names)
            for mine, at in zip(first.indices, order):
                theirs = factor.indices[at]
                if indices.setdefault(mine, theirs) is not theirs or (
                    mine in pattern.summed and theirs not in product.summed
                ):
                    break
            else:
                bound = [indices[index] for index in pattern.summed if index in indices]
                if len(set(bound)) == len(bound):
                    yield from _matches(tuple(rest), left, product, pattern, indices)


def stated(parts: SumParts) -> None:
    """The factors that a fact has something shorter for: of ∑_{c} t = 1, ∑_{c} t ⊙ x = x and ∑_{c} t_{n(i)} = 1."""
    while parts.coefficient:
        product = Product(parts.coefficient, tuple(parts.factors), frozenset(parts.summed))
        changed = next((of for way in (product, *at_all_indices(product)) for of in _by_facts(way, product)), None)
        if changed is None:
            return
        parts.coefficient, parts.factors = changed.coefficient, list(changed.factors)
        parts.summed &= changed.summed
        contracted(parts)
        gathered(parts)


def at_all_indices(product: Product) -> Iterator[Product]:
    """The product with T in the place of T_{n(i)}: what holds of T at all indices holds at one."""
    for position, factor in enumerate(product.factors):
        if is_function(factor, "index") and factor.exponent == 1:
            whole = opened(factor)[0]
            if len(whole) == 1 and len(whole[0].factors) == 1 and whole[0].coefficient == 1:
                factors = (*product.factors[:position], whole[0].factors[0], *product.factors[position + 1 :])
                yield product._replace(factors=factors)


def _by_facts(way: Product, product: Product) -> Iterator[Product]:
    """A product by the facts that shorten it, none of whose indices is of a T that stands for T_{n(i)}."""
    for (pattern, result), fact in current().facts.rewrites:
        occurrence = next(occurrences(way, pattern), None)
        if occurrence is None:
            continue
        coefficient = way.coefficient * result[0].coefficient if result else Fraction(0)
        stated = (factor.at(occurrence.names) for product_of_fact in result for factor in product_of_fact.factors)
        changed = Product(coefficient, (*occurrence.rest, *stated), way.summed - occurrence.inside)
        if way is product or changed.indices() <= product.indices():
            used(fact)
            current().spend()
            yield changed
