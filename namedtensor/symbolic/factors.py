"""Apply rules for the factors of a product, such as identities with a summed index, signs, and known totals.

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


def function_of(operator: str, *parts: Form) -> Factor:
    """Apply an elementwise function to forms, and return the result as a single opaque factor."""
    return opaque("apply", operator, parts, ((), ((), ())))


def opaque(
    kind: str,
    label: Any,
    parts: tuple[Form, ...],
    options: tuple[Any, ...] = (),
    bound: tuple[FormIndex, ...] = (),
    given: tuple[FormIndex, ...] = (),
    sizes: tuple[str, ...] = (),
    symmetric: bool = False,
) -> Factor:
    """Return a factor that contains forms over bound indices. Its indices are `given` and the forms' outside indices.

    The first two indices of a `symmetric` factor may be exchanged if the exchange of `bound` does not change the forms.
    """
    outside = set().union(*map(indices_of, parts)) - set(bound)
    key, order, orders = canonical.make_closed_key(parts, bound, outside)
    axes = tuple(index.name for index in (*given, *order))
    first = tuple(range(len(given)))
    symmetries = tuple((*first, *(at + len(given) for at in indices)) for indices in orders)
    if symmetric and canonical.is_symmetric(parts, bound, order, key):
        count_rule("symmetric")
        symmetries += tuple((1, 0, *entry[2:]) for entry in symmetries)
    within = {"key": (key, len(axes), *sizes), "parts": parts, "bound": bound, "slots": tuple(order)}
    return Factor(head(kind, label, axes, options, **within, symmetries=symmetries), (*given, *order), ONE_)


def enclose(form: Form, exponent: Fraction = ONE_) -> Factor:
    """Convert a sum to a single factor."""
    return opaque("bracket", None, (form,))._replace(exponent=exponent)


def is_function(factor: Factor, operator: str) -> bool:
    """Return whether a factor is this operator applied to forms."""
    return (factor.head.kind, factor.head.label) == ("apply", operator)


def denominators(product: Product) -> Iterator[tuple[Factor, Form]]:
    """Yield each sum that divides a product, as a factor of the product and as a form."""
    for factor in product.factors:
        if factor.head.kind == "bracket" and factor.exponent <= -1 and factor.exponent.denominator == 1:
            yield factor, opened(factor)[0]


def to_form(factor: Factor, exponent: Fraction | None = None) -> Form:
    """Convert a factor to a form. If `exponent` is given, it replaces the factor's exponent."""
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
    """Return the sum of an operator's result along its axes, such as 1 for softmax, or None if the sum varies."""
    return REGISTRY[operator].total if operator in REGISTRY else None


def touches(factors: Iterable[Factor], index: FormIndex) -> bool:
    return any(index in factor.indices for factor in factors)


def components(factors: Iterable[Factor], within: AbstractSet[FormIndex]) -> list[list[Factor]]:
    """Group factors so that factors in different groups share no index in `within`."""
    groups: list[list[Factor]] = []
    for factor in factors:
        shared = [group for group in groups if any(touches(group, index) for index in within & set(factor.indices))]
        groups = [group for group in groups if group not in shared]
        groups.append([factor, *(other for group in shared for other in group)])
    return groups


@dataclass(slots=True)
class SumParts:
    """A product that rules modify. If the product is 0, a rule sets the coefficient to 0."""

    coefficient: Fraction
    factors: list[Factor]
    summed: set[FormIndex]


def contract_identities(parts: SumParts) -> None:
    """Remove identity matrices on summed indices, by A ⊙_{ax} I_{ax,ax*} = A_{ax→ax*} and I_{ax,ax} = 1."""
    while (names := _find_contraction(parts)) is not None:
        position, index = names
        rest = parts.factors[:position] + parts.factors[position + 1 :]
        parts.summed -= index.keys()
        parts.factors = [part.at(index) for part in rest] if index else rest


def _find_contraction(parts: SumParts) -> tuple[int, dict[FormIndex, FormIndex]] | None:
    """Find an identity matrix that can be removed. Return its position and the replacement of an index, or None."""
    for position, factor in enumerate(parts.factors):
        if factor.head is DELTA:
            row, column = factor.indices
            if row is column:
                count_rule("trace of an identity")
                return position, {}
            old, new = (row, column) if row in parts.summed else (column, row)
            if old in parts.summed:
                count_rule("identity")
                return position, {old: new}
    return None


def sum_constants(parts: SumParts) -> None:
    """Simplify sums over an axis that their terms lack, by ∑_{ax} x = |ax| x."""
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
        exponents = numbers.setdefault((factor.head, order_indices(factor)), [])
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
    """Return the indices of a factor.

    For a symmetric tensor or an identity matrix, return the first equivalent order.
    """
    if factor.head.kind not in ("tensor", "delta") or len(factor.head.symmetries) == 1:
        return factor.indices
    orders = [tuple(factor.indices[at] for at in order) for order in factor.head.symmetries]
    return min(orders, key=lambda order: [index.number for index in order])
