"""Factor forms, as in u ⊙ v + u ⊙ w = u ⊙ (v + w). Take out the longest common factors first.

Two products may have common factors after their summed indices are matched. For example, ∑_s z_s V_s K_s − A ∑_t z_t
K_t is ∑_s z_s K_s (V_s − A).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

from . import algebra
from .forms import DELTA, ONE_, Factor, Form, Product, indices_of, opened, refresh_indices
from .matching import IndexNames, align, divide
from .work import count_rule, current

MAX_PAIRED_TERMS = 40  # The maximum number of terms that are compared in pairs.


def factor_form(form: Form) -> Form:
    """Take the common factors of several products out of a form."""
    if len(form) < 2 or len(form) > MAX_PAIRED_TERMS:
        return form
    outside = indices_of(form)
    form = tuple(refresh_indices(product, outside) for product in form)
    best = _best(form)
    if best is None:
        return _with_number_out(form)
    first, pattern = best
    rests, others = [divide(first, pattern)], []
    for product in form:
        if product is not first:
            rest = divide(product, pattern)
            (others if rest is None else rests).append(product if rest is None else rest)
    count_rule("factor")
    inner = algebra.add(tuple(rest for rest in rests if rest is not None))
    taken = _multiply_rest(pattern, factor_form(inner))
    return factor_form((*taken, *others)) if others else taken


def _with_number_out(form: Form) -> Form:
    """Take the common numeric factor out of a form, as in 2 u + 2 v = 2 (u + v)."""
    shared, _ = algebra.content(form)
    if abs(shared) == 1 or shared.denominator > algebra.MAX_DENOMINATOR:
        return form
    count_rule("factor")
    return algebra.power(form, ONE_, bracket=True)


def _best(form: Form) -> tuple[Product, Product] | None:
    """Find two products with the heaviest common factors. Return one of the products and these factors, or None."""
    best, weight = None, 0
    for one, other in combinations(form, 2):
        current().spend()
        shared = find_shared_factors(one, other)
        total = sum(map(weight_of, shared))
        if total > weight:
            outer = one.summed & {index for part in shared for index in part.indices}
            best, weight = (one, Product(ONE_, shared, outer)), total
    return best


def weight_of(factor: Factor) -> int:
    if factor.head is DELTA:
        return 3
    return 1 + 2 * (factor.head.kind in ("apply", "bracket")) + (factor.exponent != 1) + len(factor.indices)


def find_shared_factors(one: Product, other: Product) -> tuple[Factor, ...]:
    """Return the heaviest factors of a product that another product also has.

    The names of summed indices may differ.
    """
    heads = {factor.head for factor in one.factors}
    worth = {index: weight_of(factor) for index, factor in enumerate(other.factors) if factor.head in heads}
    order = sorted(
        worth, key=lambda position: (bool(other.summed & set(other.factors[position].indices)), -worth[position])
    )
    ahead = [sum(worth[position] for position in order[at:]) for at in range(len(order) + 1)]
    best: tuple[int, tuple[Factor, ...]] = (0, ())
    budget = MAX_MATCHES

    def search(at: int, left: tuple[Factor, ...], taken: tuple[Factor, ...], names: IndexNames, total: int) -> None:
        nonlocal best, budget
        budget -= 1
        if total > best[0]:
            best = (total, taken)
        if at == len(order) or budget < 0 or total + ahead[at] <= best[0]:
            return
        factor = other.factors[order[at]]
        certain = not other.summed.intersection(factor.indices)
        for position, mine in enumerate(left):
            least = find_shared_power(mine.exponent, factor.exponent) if mine.head is factor.head else 0
            for names_now in align(mine, factor, one, other, names) if least else ():
                rest = left[:position] + left[position + 1 :]
                part = mine._replace(exponent=least)
                search(at + 1, rest, (*taken, part), names_now, total + worth[order[at]])
                if certain:
                    return
        search(at + 1, left, taken, names, total)

    search(0, one.factors, (), {index: index for index in one.indices()}, 0)
    return best[1]


MAX_MATCHES = 200  # The maximum number of steps in the search for a match.


def find_shared_power(one: Fraction, other: Fraction) -> Fraction:
    """Return the exponent of the largest power that divides two powers with one base, or 0 if there is none."""
    if (one > 0) != (other > 0) or (one - other).denominator > 1:
        return Fraction(0)
    return min(one, other, key=abs)


def _multiply_rest(pattern: Product, inner: Form) -> Form:
    """Multiply the common factor by the remaining form, and sum over the common factor's summed indices."""
    one = inner if len(inner) == 1 else algebra.power(inner, Fraction(1), bracket=True)
    if not one:
        return one
    (rest,) = one
    rest = algebra.refresh_indices(rest, {index for factor in pattern.factors for index in factor.indices})
    return (Product(rest.coefficient, (*pattern.factors, *rest.factors), pattern.summed | rest.summed),)


def clear_fractions(form: Form) -> Form:
    """Remove nested fractions from a form.

    Examples are a / (1 + b / c) = a c / (c + b) and 1 − a / b = (b − a) / b.
    """
    products = algebra.add(*(_clear_product(product) for product in form))
    denominator = next((factor for product in products for factor in product.factors if _divides(factor)), None)
    if len(products) < 2 or denominator is None or any(product.summed for product in products):
        return products
    times = (Product(ONE_, (denominator._replace(exponent=-denominator.exponent),)),)
    whole = multiply_out(algebra.add(*(algebra.multiply((product,), times) for product in products)))
    if len(whole) >= len(products) + 1:
        return products
    count_rule("fraction")
    return algebra.multiply(whole, (Product(ONE_, (denominator,)),))


def _divides(factor: Factor) -> bool:
    return factor.head.kind == "bracket" and factor.exponent == -1


def _clear_product(product: Product) -> Form:
    """Rewrite a product so that no bracket contains a fraction."""
    coefficient, factors, summed = product.coefficient, [], product.summed
    for factor in product.factors:
        if factor.head.kind != "bracket" or abs(factor.exponent) != 1:
            factors.append(factor)
            continue
        (inner,) = opened(factor)
        inner = clear_fractions(inner)
        if factor.exponent < 0 and (below := _below(inner)) is not None:
            count_rule("fraction")
            inner = algebra.add(*(algebra.multiply((addend,), below) for addend in inner))
            factors += below[0].factors
        if not inner:
            return (product,)
        (power,) = algebra.power(inner, factor.exponent, bracket=True)
        taken = summed | {index for part in (*product.factors, *factors) for index in part.indices}
        power = refresh_indices(power, taken)
        coefficient, summed = coefficient * power.coefficient, summed | power.summed
        factors += power.factors
    return algebra.normalize_product(coefficient, tuple(factors), summed)


def _below(form: Form) -> Form | None:
    """Return the first tensor in a denominator of a sum, converted to a form, or None if there is none."""
    for product in form:
        for factor in product.factors:
            if factor.exponent == -1 and factor.head.kind == "tensor" and not product.summed and len(form) > 1:
                return (Product(ONE_, (factor._replace(exponent=ONE_),)),)
    return None


MAX_TERMS = 64  # The maximum number of terms after brackets are multiplied out.


def multiply_out(form: Form) -> Form:
    """Multiply out the brackets of a form, unless more than `MAX_TERMS` terms result."""
    while sum(map(_terms_multiplied_out, form)) <= MAX_TERMS:
        products = algebra.add(*(algebra.expand_brackets(product) for product in form))
        if products == form:
            break
        form = products
    return form


def _terms_multiplied_out(product: Product) -> int:
    """Return the number of terms in a product after its brackets are multiplied out. Equal terms count separately."""
    count = 1
    for factor in product.factors:
        if factor.head.kind == "bracket" and factor.exponent >= 1 and factor.exponent.denominator == 1:
            (inner,) = opened(factor)
            exponent = int(factor.exponent)
            count *= comb(len(inner) + exponent - 1, exponent) if exponent <= algebra.MAX_POWER else MAX_TERMS + 1
    return count


MAX_NUMERATOR_TERMS = 4000


def vanishes(form: Form) -> bool:
    """Return whether a form is 0 whenever it has a value. Multiply out its denominators to decide."""
    while form and (below := _denominator(form)) is not None:
        count_rule("common denominator")
        form = algebra.add(
            *(algebra.normalize_product(part.coefficient, (*part.factors, below), part.summed) for part in form)
        )
        if len(form) > MAX_NUMERATOR_TERMS:
            return False
    return not form


def _denominator(form: Form) -> Factor | None:
    """Return a factor that removes a denominator if all products are multiplied by it, or None if there is none.

    The denominator must not contain a summed index.
    """
    for product in form:
        for factor in product.factors:
            if factor.exponent < 0 and not product.summed.intersection(factor.indices):
                powers = [other for part in form for other in part.factors if other[:2] == factor[:2]]
                return factor._replace(exponent=-min(other.exponent for other in powers))
    return None
