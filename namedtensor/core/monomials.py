"""Compute with monomials of symbolic sizes, which are products of axis sizes, floor quotients and maxima.

Each factor is an atom with a `kind`. The functions prove that a sum of monomials is never negative, bound products and
quotients by intervals, and format polynomials. The module `extents` defines sizes as sums of monomials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, TypeAlias

Monomial: TypeAlias = tuple[Any, ...]  # Atoms, sorted by their texts.
Interval: TypeAlias = tuple[float, float]  # Two integers or infinities.


class UndecidedSizeError(Exception):
    """Raised if code needs the value of a size that is unknown until run time."""

    def __init__(self, size: Any):
        super().__init__(f"{size} is known only when the function runs")
        self.size: Any = size


class UnfitSizeError(UndecidedSizeError):
    """Raised if symbolic sizes do not fit even for their example values. The message can show these values."""


def quotient(terms: Mapping[Monomial, int], monomial: Monomial, count: int) -> dict[Monomial, int] | None:
    """Divide a polynomial by `count` times a monomial. Return None if a term is not divisible."""
    result: dict[Monomial, int] = {}
    for other, times in terms.items():
        rest = [*other]
        if times % count:
            return None
        for atom in monomial:
            if atom not in rest:
                return None
            rest.remove(atom)
        result[tuple(rest)] = times // count
    return result


def floor_quotient(part: float, divisor: float) -> float:
    """Return the floor of a quotient with a positive divisor. For infinite operands, return the limit."""
    if divisor == inf:
        return part if part == inf else -1 if part < 0 else 0
    return part if part in (inf, -inf) else part // divisor


def products(left: Interval, right: Interval) -> Interval:
    result = [a * b if a and b else 0 for a in left for b in right]
    return min(result), max(result)


def is_dominated(terms: Mapping[Monomial, int]) -> bool:
    """Return whether the positive monomials provably outweigh the negative ones.

    For example, a b − a ≥ 0, because b ≥ 1. Each negative monomial must divide a separate positive monomial.
    """
    negative = [(monomial, -count) for monomial, count in terms.items() if count < 0]
    positive = {monomial: count for monomial, count in terms.items() if count > 0}
    for monomial, count in sorted(negative, key=lambda term: -len(term[0])):
        for other, available in positive.items():
            if count and available and divides(monomial, other):
                used = min(count, available)
                positive[other], count = available - used, count - used
        if count:
            return False
    return all(atom.kind == "symbol" for other, available in positive.items() if available for atom in other)


def divides(monomial: Monomial, other: Monomial) -> bool:
    """Return whether `other` contains all factors of `monomial` and is a product of symbols.

    Symbols are at least 1, so `other` is then at least as large as `monomial`.
    """
    rest = [*other]
    for atom in monomial:
        if atom not in rest:
            return False
        rest.remove(atom)
    return all(atom.kind == "symbol" for atom in other)


SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_polynomial(
    terms: Mapping[Monomial, int], text: Callable[[Any], str], times: str, powers: bool = False
) -> str:
    """Format a polynomial with its monomials in order of decreasing degree.

    `text` formats an atom, and `times` separates factors. If `powers` is true, equal factors form a power, as in
    |seq|².
    """
    parts: list[str] = []
    for monomial, count in sorted(terms.items(), key=lambda term: (-len(term[0]), [str(atom) for atom in term[0]])):
        factors = [text(atom) for atom in monomial]
        if not powers:
            factors = [
                f"({factor})" if atom.kind == "quotient" and (count != 1 or len(monomial) > 1) else factor
                for factor, atom in zip(factors, monomial)
            ]
        if powers:
            number = {factor: factors.count(factor) for factor in factors}
            factors = [
                f"{factor}{str(degree).translate(SUPERSCRIPTS) if degree > 1 else ''}"
                for factor, degree in number.items()
            ]
        if abs(count) != 1 or not factors:
            factors.insert(0, str(abs(count)))
        parts += ["-" if count < 0 else "+", times.join(factors)]
    first = "-" if parts[0] == "-" else ""
    return first + " ".join(parts[1:])
