"""Find occurrences of a pattern in a product, up to the names of indices, and rewrite them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from .factors import SumParts, contract_identities, gather_powers, is_function, total_of
from .facts import FactRewrite
from .forms import ONE_, Factor, FormIndex, Product, number, opened, refresh_indices
from .work import count_rule, current

IndexNames = dict[FormIndex, FormIndex]


class PatternMatch(NamedTuple):
    """A match of a pattern: the product's remaining factors, and a map from pattern indices to product indices.

    `inside` contains the indices that match summed pattern indices.
    """

    rest: tuple[Factor, ...]
    names: dict[FormIndex, FormIndex]
    inside: set[FormIndex]


def occurrences(product: Product, pattern: Product) -> Iterator[PatternMatch]:
    """Yield the occurrences of a pattern in a product.

    The remaining factors must not contain the pattern's summed indices.
    """
    exponents = tuple(factor.exponent for factor in product.factors)
    for left, names in _matches(pattern.factors, exponents, product, pattern, {}):
        inside = {names[index] for index in pattern.summed}
        rest = tuple(factor._replace(exponent=power) for factor, power in zip(product.factors, left) if power)
        if inside & {index for factor in rest for index in factor.indices}:
            continue
        if not any(names[index] in inside for index in pattern.indices()):
            yield PatternMatch(rest, names, inside)


def _holds(exponent: Fraction, expected: Fraction) -> bool:
    """Return whether a power is divisible by another power of the same base, such as x³ by x² or x⁻³ by x⁻¹."""
    return exponent / expected >= 1 and (exponent - expected).denominator == 1


def _matches(
    factors: tuple[Factor, ...],
    exponents: tuple[Fraction, ...],
    product: Product,
    pattern: Product,
    names: IndexNames,
) -> Iterator[tuple[tuple[Fraction, ...], IndexNames]]:
    """Yield, for each match of all `factors`, the exponents that remain in the product and the index map."""
    if not factors:
        yield exponents, names
        return
    first, *rest = factors
    for position, (factor, exponent) in enumerate(zip(product.factors, exponents)):
        if factor.head is first.head and _holds(exponent, first.exponent):
            left = (*exponents[:position], exponent - first.exponent, *exponents[position + 1 :])
            for indices in align(first, factor, pattern, product, names):
                yield from _matches(tuple(rest), left, product, pattern, indices)


def align(mine: Factor, theirs: Factor, pattern: Product, product: Product, names: IndexNames) -> Iterator[IndexNames]:
    """Yield each index map that makes a factor of a pattern equal to a factor of a product.

    An index map sends distinct summed indices to distinct indices.
    """
    for order in mine.head.symmetries:
        indices = dict(names)
        for index, at in zip(mine.indices, order):
            other = theirs.indices[at]
            if indices.setdefault(index, other) is not other or (
                index in pattern.summed and other not in product.summed
            ):
                break
        else:
            bound = [indices[index] for index in pattern.summed if index in indices]
            if len(set(bound)) == len(bound):
                yield indices


def divide(product: Product, pattern: Product) -> Product | None:
    """Divide a product by the factors of a pattern. Return None if the product lacks a factor.

    The pattern's summed indices become outside indices.
    """
    product = refresh_indices(product, {index for factor in pattern.factors for index in factor.indices})
    exponents = tuple(factor.exponent for factor in product.factors)
    fixed = {index: index for index in pattern.indices()}
    for left, names in _matches(pattern.factors, exponents, product, pattern, fixed):
        back = {names[index]: index for index in pattern.summed}
        rest = tuple(factor.at(back)._replace(exponent=power) for factor, power in zip(product.factors, left) if power)
        return Product(product.coefficient, rest, product.summed.difference(back))
    return None


def replace_part(product: Product, rewrite: FactRewrite) -> Product | None:
    """Replace the first occurrence of a pattern in a product with the result. Return None if there is no occurrence."""
    occurrence = next(occurrences(product, rewrite.pattern), None)
    if occurrence is None:
        return None
    ((coefficient, factors, _),) = rewrite.result or (Product(Fraction(0)),)
    put = (factor.at(occurrence.names) for factor in factors)
    factors = (*occurrence.rest, *put)
    return Product(product.coefficient * coefficient, factors, product.summed - occurrence.inside)


def apply_totals(parts: SumParts) -> None:
    """Simplify a product by operators' totals, such as ∑_{ax} softmax_{ax} x = 1, and by rewrites from assumptions."""
    while parts.coefficient and (rewrites := [*current().facts.rewrites, *totals(parts.factors)]):
        product = Product(parts.coefficient, tuple(parts.factors), frozenset(parts.summed))
        ways = (product, *generalize_indices(product))
        shorter = next((one for way in ways for one in _apply_facts(way, product, rewrites)), None)
        if shorter is None:
            return
        parts.coefficient, parts.factors = shorter.coefficient, list(shorter.factors)
        parts.summed &= shorter.summed
        contract_identities(parts)
        gather_powers(parts)


def totals(factors: list[Factor]) -> Iterator[tuple[FactRewrite, str]]:
    """Yield rewrites for sums over an operator's result axes: 1 for softmax and onehot, and 0 for standardize."""
    for factor in factors:
        total = total_of(str(factor.head.label)) if factor.head.kind == "apply" and factor.exponent == 1 else None
        count = len(factor.indices) - len(factor.head.slots)
        if total is not None and not set(factor.indices[:count]) & set(factor.indices[count:]):
            pattern = Product(ONE_, (factor,), frozenset(factor.indices[:count]))
            yield FactRewrite(pattern, number(total)), f"sum of {factor.head.label}"


def generalize_indices(product: Product) -> Iterator[Product]:
    """Yield the product with a tensor T in place of its element T_{n(i)}.

    An assumption about T also applies to its elements.
    """
    for position, factor in enumerate(product.factors):
        if is_function(factor, "index") and factor.exponent == 1:
            whole = opened(factor)[0]
            if len(whole) == 1 and len(whole[0].factors) == 1 and whole[0].coefficient == 1:
                factors = (*product.factors[:position], whole[0].factors[0], *product.factors[position + 1 :])
                yield product._replace(factors=factors)


def _apply_facts(way: Product, product: Product, rewrites: Iterable[tuple[FactRewrite, str]]) -> Iterator[Product]:
    """Yield the result of each rewrite that applies to a product. Results with additional indices are left out."""
    for rewrite, fact in rewrites:
        shorter = replace_part(way, rewrite)
        if shorter is not None and (way is product or shorter.indices() <= product.indices()):
            count_rule(fact)
            current().spend()
            yield shorter
