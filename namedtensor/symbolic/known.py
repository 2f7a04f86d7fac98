"""Functions that a formula has written out are read by their names: exp u / ∑ exp u = softmax u, 1 / (1 + exp(−u)) = σ(u)."""

from __future__ import annotations

from fractions import Fraction

from . import algebra
from .applying import applied
from .forms import ONE, ONE_, Factor, Form, Product, opened
from .work import used


def recognized(form: Form) -> Form:
    """The form with the functions that it holds written by their names."""
    found = []
    for product in form:
        for law in (_softmax, _logistic):
            while (better := law(product)) is not None:
                product = better
        found.append(product)
    return algebra.add(*((each,) for each in found))


def is_exp(factor: Factor) -> bool:
    return (factor.head.kind, factor.head.label) == ("apply", "exp")


def _put(product: Product, without: dict[int, Fraction], found: Form) -> Product | None:
    """The product with less of some factors, times one factor more."""
    rest = []
    for place, factor in enumerate(product.factors):
        left = factor.exponent - without.get(place, Fraction(0))
        if left:
            rest.append(factor._replace(exponent=left))
    made = algebra.within(Product(product.coefficient, tuple(rest), product.summed), found[0])
    return made[0] if len(made) == 1 else None


def _softmax(product: Product) -> Product | None:
    """exp(u)_i / ∑_j exp(u)_j = softmax(u)_i"""
    for place, below in enumerate(product.factors):
        if below.head.kind != "bracket" or below.exponent > -1 or below.exponent.denominator > 1:
            continue
        (inner,) = opened(below)
        if len(inner) != 1 or len(inner[0].factors) != 1 or not inner[0].summed or inner[0].coefficient != 1:
            continue
        (power,) = inner[0].factors
        if not is_exp(power):
            continue
        for at, above in enumerate(product.factors):
            if above.head is not power.head or above.exponent < power.exponent:
                continue
            pairs = [(mine, theirs) for mine, theirs in zip(above.indices, power.indices) if theirs in inner[0].summed]
            same = all(
                mine is theirs for mine, theirs in zip(above.indices, power.indices) if theirs not in inner[0].summed
            )
            if not same or len(pairs) != len(inner[0].summed):
                continue
            u = algebra.scaled(opened(power)[0], power.exponent)
            bound, given = tuple(theirs for _, theirs in pairs), tuple(mine for mine, _ in pairs)
            order = tuple(range(len(pairs)))
            used("softmax")
            return _put(
                product, {place: -ONE_, at: power.exponent}, applied("softmax", (u,), bound, given, (), (order, order))
            )
    return None


def _logistic(product: Product) -> Product | None:
    """1 / (1 + exp(−u)) = exp u / (1 + exp u) = σ(u)"""
    for place, below in enumerate(product.factors):
        if below.head.kind != "bracket" or below.exponent > -1 or below.exponent.denominator > 1:
            continue
        (inner,) = opened(below)
        rest = [each for each in inner if each != ONE[0]]
        if len(inner) != 2 or len(rest) != 1 or rest[0].coefficient != 1 or rest[0].summed or len(rest[0].factors) != 1:
            continue
        (power,) = rest[0].factors
        if not is_exp(power):
            continue
        u = algebra.scaled(opened(power)[0], power.exponent)
        used("σ")
        for at, above in enumerate(product.factors):
            if above.head is power.head and above.indices == power.indices and above.exponent / power.exponent >= 1:
                return _put(product, {place: -ONE_, at: power.exponent}, applied("σ", (u,)))
        return _put(product, {place: -ONE_}, applied("σ", (algebra.scaled(u, -1),)))
    return None
