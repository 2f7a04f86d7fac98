"""Factoring: u ⊙ v + u ⊙ w = u ⊙ (v + w), the longest shared factors first.

Two products share factors under a matching of their summed indices: ∑_s z_s V_s K_s − A ∑_t z_t K_t is
∑_s z_s K_s (V_s − A).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

from . import algebra
from .forms import DELTA, ONE_, Factor, Form, FormIndex, Product, indices_of, opened, refreshed
from .work import current, used

MAX_PAIRED_TERMS = 40  # terms whose pairs are all looked at


def factored(form: Form) -> Form:
    """The form with what its products share taken out."""
    if len(form) < 2 or len(form) > MAX_PAIRED_TERMS:
        return form
    outside = indices_of(form)
    form = tuple(algebra.refreshed(product, outside) for product in form)
    best = _best(form)
    if best is None:
        return _with_number_out(form)
    first, shared = best
    group, rests, pattern = [first], [], None
    pattern, rest = _without(form[first], shared)
    rests.append(rest)
    for index, product in enumerate(form):
        if index == first:
            continue
        result = _match_all(pattern, product)
        if result is not None:
            group.append(index)
            rests.append(result)
    used("factor")
    inner = algebra.add(*((product,) for product in rests))
    taken = _joined(pattern, factored(inner))
    others = tuple(product for position, product in enumerate(form) if position not in group)
    return factored((*taken, *others)) if others else taken


def _with_number_out(form: Form) -> Form:
    """2 u + 2 v = 2 (u + v)."""
    shared, _ = algebra.content(form)
    if abs(shared) == 1 or shared.denominator > algebra.MAX_DENOMINATOR:
        return form
    used("factor")
    return algebra.power(form, ONE_, bracket=True)


def _best(form: Form) -> tuple[int, tuple[Factor, ...]] | None:
    best, weight = None, 0
    for one, other in combinations(range(len(form)), 2):
        current().spend()
        shared, _ = shared_factors(form[one], form[other])
        total = sum(map(weight_of, shared))
        if total > weight:
            best, weight = (one, shared), total
    return best


def weight_of(factor: Factor) -> int:
    if factor.head is DELTA:
        return 3
    return 1 + 2 * (factor.head.kind in ("apply", "bracket")) + (factor.exponent != 1) + len(factor.indices)


def shared_factors(one: Product, other: Product) -> tuple[tuple[Factor, ...], dict[FormIndex, FormIndex]]:
    """The factors of the first that the second has as well, some of its summed indices being those of the first."""
    heads = {factor.head for factor in one.factors}
    worth = {index: weight_of(factor) for index, factor in enumerate(other.factors) if factor.head in heads}
    order = sorted(
        worth, key=lambda position: (bool(other.summed & set(other.factors[position].indices)), -worth[position])
    )
    ahead = [sum(worth[position] for position in order[at:]) for at in range(len(order) + 1)]
    best: tuple[int, tuple[Factor, ...], dict[FormIndex, FormIndex]] = (0, (), {})
    budget = MAX_MATCHES

    def search(
        at: int, left: tuple[Factor, ...], taken: tuple[Factor, ...], names: dict[FormIndex, FormIndex], index: int
    ) -> None:
        nonlocal best, budget
        budget -= 1
        if index > best[0]:
            best = (index, taken, names)
        if at == len(order) or budget < 0 or index + ahead[at] <= best[0]:
            return
        factor = other.factors[order[at]]
        certain = not other.summed.intersection(factor.indices)
        for position, mine in enumerate(left):
            if mine.head is not factor.head:
                continue
            least = shared_power(mine.exponent, factor.exponent)
            if not least:
                continue
            for names_now in _matched(mine, factor, one, other, names):
                rest = left[:position] + left[position + 1 :]
                part = mine if mine.exponent == least else mine._replace(exponent=least)
                search(at + 1, rest, (*taken, part), names_now, index + worth[order[at]])
                if certain:
                    return
        search(at + 1, left, taken, names, index)

    search(0, one.factors, (), {}, 0)
    return best[1], best[2]


MAX_MATCHES = 200  # ways to match two products


def shared_power(one: Fraction, other: Fraction) -> Fraction:
    """The power that two powers of one base have in common: 0 where there is none."""
    if one == other:
        return one
    if (one > 0) != (other > 0) or (one - other).denominator > 1:
        return Fraction(0)
    return min(one, other, key=abs)


def _matched(mine: Factor, factor: Factor, one: Product, other: Product, names: dict[FormIndex, FormIndex]):
    for order in mine.head.symmetries:
        indices = dict(names)
        for left, at in zip(mine.indices, order):
            right = factor.indices[at]
            if right in other.summed:
                if left not in one.summed or indices.get(right, left) is not left:
                    break
                if right not in indices and left in indices.values():
                    break
                indices[right] = left
            elif left is not right:
                break
        else:
            yield indices


def _without(product: Product, shared: tuple[Factor, ...]) -> tuple[Product, Product]:
    """A product as what is shared and the rest, in which the summed indices of the first are free."""
    rest = dict(enumerate(product.factors))
    for part in shared:
        position = next(
            number for number, factor in rest.items()
            if factor.head is part.head and factor.indices == part.indices and (factor.exponent > 0) == (part.exponent > 0)
            and abs(factor.exponent) >= abs(part.exponent)
        )  # fmt: skip
        left = rest[position].exponent - part.exponent
        if left:
            rest[position] = rest[position]._replace(exponent=left)
        else:
            del rest[position]
    outer = product.summed & {index for part in shared for index in part.indices}
    return Product(ONE_, shared, outer), Product(product.coefficient, tuple(rest.values()), product.summed - outer)


def _match_all(pattern: Product, product: Product) -> Product | None:
    """What is left of a product without a pattern, in the pattern's summed indices; None where it has not all of it."""
    shared, names = shared_factors(pattern, product)
    if len(shared) < len(pattern.factors) or any(part not in pattern.factors for part in shared):
        return None  # as where a factor has a smaller power
    apart = algebra.refreshed(
        product, pattern.summed | {index for factor in pattern.factors for index in factor.indices}
    )
    if apart is not product:
        shared, names = shared_factors(pattern, apart)
    turned = Product(
        apart.coefficient, tuple(factor.at(names) for factor in apart.factors),
        frozenset(names.get(index, index) for index in apart.summed),
    )  # fmt: skip
    try:
        _, rest = _without(turned, tuple(_as_in(turned, part) for part in shared))
    except StopIteration:
        return None
    return rest._replace(summed=frozenset(index for index in turned.summed if index not in pattern.summed))


def _as_in(product: Product, part: Factor) -> Factor:
    """A shared factor with its indices in the order in which the product has them."""
    for factor in product.factors:
        if factor.head is part.head and abs(factor.exponent) >= abs(part.exponent):
            for order in part.head.symmetries:
                if tuple(part.indices[at] for at in order) == factor.indices:
                    return part._replace(indices=factor.indices)
    raise StopIteration


def _joined(pattern: Product, inner: Form) -> Form:
    """What was shared, times the rest: one product, whose summed indices are those of the first."""
    one = inner if len(inner) == 1 else algebra.power(inner, Fraction(1), bracket=True)
    if not one:
        return one
    (rest,) = one
    rest = algebra.refreshed(rest, {index for factor in pattern.factors for index in factor.indices})
    return (Product(rest.coefficient, (*pattern.factors, *rest.factors), pattern.summed | rest.summed),)


def cleared(form: Form) -> Form:
    """Fractions within fractions are one: a / (1 + b / c) = a c / (c + b), 1 − a / b = (b − a) / b."""
    products = algebra.add(*(_cleared(product) for product in form))
    denominator = next((factor for product in products for factor in product.factors if _divides(factor)), None)
    if len(products) < 2 or denominator is None or any(product.summed for product in products):
        return products
    times = (Product(ONE_, (denominator._replace(exponent=-denominator.exponent),)),)
    whole = multiplied_out(algebra.add(*(algebra.multiply((product,), times) for product in products)))
    if len(whole) >= len(products) + 1:
        return products
    used("fraction")
    return algebra.multiply(whole, (Product(ONE_, (denominator,)),))


def _divides(factor: Factor) -> bool:
    return factor.head.kind == "bracket" and factor.exponent == -1


def _cleared(product: Product) -> Form:
    """A product whose brackets have no fractions."""
    coefficient, factors, summed = product.coefficient, [], product.summed
    for factor in product.factors:
        if factor.head.kind != "bracket" or abs(factor.exponent) != 1:
            factors.append(factor)
            continue
        (inner,) = opened(factor)
        inner = cleared(inner)
        if factor.exponent < 0 and (below := _below(inner)) is not None:
            used("fraction")
            inner = algebra.add(*(algebra.multiply((addend,), below) for addend in inner))
            factors += below[0].factors
        if not inner:
            return (product,)
        (power,) = algebra.power(inner, factor.exponent, bracket=True)
        taken = summed | {index for part in (*product.factors, *factors) for index in part.indices}
        power = refreshed(power, taken)
        coefficient, summed = coefficient * power.coefficient, summed | power.summed
        factors += power.factors
    return algebra.settled(coefficient, tuple(factors), summed)


def _below(form: Form) -> Form | None:
    """What some term of a sum is divided by."""
    for product in form:
        for factor in product.factors:
            if factor.exponent == -1 and factor.head.kind == "tensor" and not product.summed and len(form) > 1:
                return (Product(ONE_, (factor._replace(exponent=ONE_),)),)
    return None


MAX_TERMS = 64  # of a form that is multiplied out


def multiplied_out(form: Form) -> Form:
    """The form without the brackets that appear in its products; powers of sums of many terms stay as they are."""
    while sum(map(_terms_multiplied_out, form)) <= MAX_TERMS:
        products = algebra.add(*(algebra.expanded(product) for product in form))
        if products == form:
            break
        form = products
    return form


def _terms_multiplied_out(product: Product) -> int:
    """How many terms a product has where its brackets are multiplied out, before any of them are added."""
    count = 1
    for factor in product.factors:
        if factor.head.kind == "bracket" and factor.exponent >= 1 and factor.exponent.denominator == 1:
            (inner,) = opened(factor)
            exponent = int(factor.exponent)
            count *= comb(len(inner) + exponent - 1, exponent) if exponent <= algebra.MAX_POWER else MAX_TERMS + 1
    return count
