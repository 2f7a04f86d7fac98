"""Rules for the factors of a product, such as identities with a summed index, signs, and known totals.

Along their axes, the elements of softmax and onehot sum to 1, and the elements of standardize sum to 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..operators import REGISTRY
from . import canonical, signs
from .forms import DELTA, NUMBER, ONE_, Factor, Form, FormIndex, Product, head, indices_of, opened, size
from .work import count_rule, current


def contract_deltas(factors: list[Factor], summed: set[FormIndex]) -> list[Factor]:
    """Return factors without identities on summed indices: A ⊙_{ax} I_{ax,ax*} = A_{ax→ax*}, and I_{ax,ax} = 1."""
    while True:
        for index, factor in enumerate(factors):
            if factor.head is not DELTA:
                continue
            row, column = factor.indices
            if row is column:
                count_rule("trace of an identity")
                factors = factors[:index] + factors[index + 1 :]
                break
            old, new = (row, column) if row in summed else (column, row)
            if old in summed:
                count_rule("identity")
                summed.discard(old)
                factors = [part.at({old: new}) for part in factors[:index] + factors[index + 1 :]]
                break
        else:
            return factors


def function_of(operator: str, *parts: Form) -> Factor:
    """Return the application of an elementwise function to forms as a single opaque factor."""
    return opaque("apply", operator, parts, ((), ((), ())))


def opaque(
    kind: str, label: Any, parts: tuple[Form, ...], options: tuple[Any, ...] = (), exponent: Fraction = ONE_
) -> Factor:
    """Return a factor of this kind whose head contains forms. Its indices are the forms' outside indices."""
    outside = set().union(*map(indices_of, parts))
    key, order, symmetries = canonical.make_closed_key(parts, (), outside)
    axes = tuple(index.name for index in order)
    within = {"key": (key, len(axes)), "parts": parts, "slots": tuple(order), "symmetries": tuple(symmetries)}
    return Factor(head(kind, label, axes, options, **within), tuple(order), exponent)


def is_function(factor: Factor, operator: str) -> bool:
    """Return whether a factor is this operator applied to forms."""
    return (factor.head.kind, factor.head.label) == ("apply", operator)


def denominators(product: Product) -> Iterator[tuple[Factor, Form]]:
    """Yield each sum by which a product is divided, as a factor of the product and as a form."""
    for factor in product.factors:
        if factor.head.kind == "bracket" and factor.exponent <= -1 and factor.exponent.denominator == 1:
            yield factor, opened(factor)[0]


def to_form(factor: Factor, exponent: Fraction | None = None) -> Form:
    """Return a factor as a form. If `exponent` is given, it replaces the factor's exponent."""
    return (Product(ONE_, (factor if exponent is None else factor._replace(exponent=exponent),)),)


def to_factors(form: Form) -> tuple[Factor, ...] | None:
    """Return the factors of a form that is one product with coefficient 1 and no sums, or None for any other form."""
    if len(form) != 1 or form[0].coefficient != 1 or form[0].summed:
        return None
    return form[0].factors


def sole(form: Form) -> Factor | None:
    """Return the only factor of a form, or None if the form is not a single factor with exponent 1."""
    factors = to_factors(form) or ()
    return factors[0] if len(factors) == 1 and factors[0].exponent == 1 else None


def total_of(operator: str) -> int | None:
    """Return the total of an operator's result along its axes, such as 1 for softmax, or None if it is not constant."""
    return REGISTRY[operator].total if operator in REGISTRY else None


def touches(factors: Iterable[Factor], index: FormIndex) -> bool:
    return any(index in factor.indices for factor in factors)


def components(factors: Iterable[Factor], within: AbstractSet[FormIndex]) -> list[list[Factor]]:
    """Return the factors in groups, so that factors in different groups share none of the given indices."""
    groups: list[list[Factor]] = []
    for factor in factors:
        shared = [group for group in groups if any(touches(group, index) for index in within & set(factor.indices))]
        groups = [group for group in groups if group not in shared]
        groups.append([factor, *(other for group in shared for other in group)])
    return groups


@dataclass(slots=True)
class SumParts:
    """A product to which rules are applied in place. Its coefficient is set to 0 if the product is 0."""

    coefficient: Fraction
    factors: list[Factor]
    summed: set[FormIndex]


def contract_identities(parts: SumParts) -> None:
    """Simplify identities on summed indices, by A ⊙_{ax} I_{ax,ax*} = A_{ax→ax*} and I_{ax,ax} = 1."""
    parts.factors = contract_deltas(parts.factors, parts.summed)


def sum_constants(parts: SumParts) -> None:
    """Simplify sums of terms that lack the summed axis, by ∑_{ax} x = |ax| x."""
    missing = parts.summed - {index for factor in parts.factors for index in factor.indices}
    if not missing:
        return
    count_rule("no such axis")
    for index in sorted(missing, key=NUMBER):
        ((more, further, _),) = size(index.size) or ((Fraction(0), (), frozenset()),)
        parts.coefficient *= more
        parts.factors += further
    parts.summed -= missing
    gather_powers(parts)


def gather_powers(parts: SumParts) -> None:
    """Combine equal factors, as in x ⊙ x = x² and x ⊙ x⁻¹ = 1, and multiply the numbers."""
    proving, factors, coefficient = current().proving, parts.factors, parts.coefficient
    numbers: dict[tuple[Any, ...], list[Fraction]] = {}
    for factor in factors:
        if factor.head is DELTA:
            indices = tuple(sorted(factor.indices, key=NUMBER))
        else:
            indices = order_indices(factor) if len(factor.head.symmetries) > 1 else factor.indices
        exponents = numbers.setdefault((factor.head, indices), [])
        for index, before in enumerate(exponents):
            if signs.merges(factor.head, before, factor.exponent, proving):
                count_rule("equal factors")
                exponents[index] = before + factor.exponent
                break
        else:
            exponents.append(factor.exponent)
    standing = []
    for (of, indices), exponents in numbers.items():
        for exponent in exponents:
            if of is DELTA:
                exponent = ONE_
            if of.kind == "number":
                whole = exponent.numerator // exponent.denominator
                if not proving and exponent < 0:
                    whole = -((-exponent.numerator) // exponent.denominator)
                coefficient *= of.label**whole
                exponent -= whole
            if exponent:
                standing.append(Factor(of, indices, exponent))
    parts.factors, parts.coefficient = standing, coefficient


def order_indices(factor: Factor) -> tuple[FormIndex, ...]:
    """Return the indices of a factor. For a symmetric tensor, return the first of its equivalent orders."""
    if factor.head.kind != "tensor":
        return factor.indices
    orders = [tuple(factor.indices[at] for at in order) for order in factor.head.symmetries]
    return min(orders, key=lambda order: [index.number for index in order])
