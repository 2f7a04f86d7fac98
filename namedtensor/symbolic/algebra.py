"""Compute sums, products and powers of forms, and simplify the results.

In all results, products contain no deltas on summed indices, like terms are combined, and equal factors are multiplied.
`rewrite_rules` lists these rules in the notation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from math import isqrt
from typing import Any

from . import canonical, signs
from .canonical import content, scale_form
from .factors import (
    SumParts,
    components,
    contract_identities,
    enclose,
    function_of,
    gather_powers,
    is_function,
    sum_constants,
    to_factors,
    to_form,
    touches,
)
from .forms import (
    NUMBER,
    ONE,
    ONE_,
    ZERO,
    Factor,
    Form,
    FormIndex,
    Product,
    head,
    number,
    opened,
    refresh_indices,
    rename_indices,
    split_parts,
)
from .matching import apply_totals
from .product_rules import inverse_product, pythagorean, quotient_of_sums
from .work import count_rule, current


# ------------------------------------------------------------------------------------------------------------- sums
def add(*forms: Form) -> Form:
    """Add forms, and combine products that differ only in their coefficients."""
    products = [product for form in forms for product in form]
    if len(products) < 2:
        return tuple(products)
    current().spend(len(products))
    labels = canonical.outside_labels({index for addend in products for index in addend.indices()})
    result: dict[tuple[Any, ...], Product] = {}
    for product in products:
        key = canonical.product_key(product, labels)
        before = result.get(key)
        if before is None:
            result[key] = product
        else:
            count_rule("like terms")
            result[key] = before._replace(coefficient=before.coefficient + product.coefficient)
    return tuple(product for product in result.values() if product.coefficient)


def subtract(left: Form, right: Form) -> Form:
    return add(left, scale_form(right, -1))


# --------------------------------------------------------------------------------------------------------- products
def multiply(left: Form, right: Form, out: tuple[bool, bool] = (False, False)) -> Form:
    """Multiply two forms.

    A sum becomes a bracket, unless its entry in `out` is true. In proofs, all sums are multiplied out.
    """
    if not left or not right:
        return ZERO
    if left == ONE or right == ONE:
        return right if left == ONE else left
    if not current().proving:
        left, right = (products if open else bracket_form(products) for products, open in zip((left, right), out))
    if len(left) > 1 or len(right) > 1:
        count_rule("distribute")
    return add(*(times(one, other) for one in left for other in right))


def times(one: Product, other: Product) -> Form:
    """Multiply two products. Summed indices that occur in both are renamed first."""
    other = refresh_indices(other, {*one.summed, *(index for factor in one.factors for index in factor.indices)})
    one = refresh_indices(one, {index for factor in other.factors for index in factor.indices})
    return multiply_within(one, other)


def multiply_within(outer: Product, inner: Product) -> Form:
    """Multiply two products. The sums of the outer product also apply to the inner product."""
    inner = refresh_indices(inner, {*outer.summed, *(index for factor in outer.factors for index in factor.indices)})
    return normalize_product(
        outer.coefficient * inner.coefficient, (*outer.factors, *inner.factors), outer.summed | inner.summed
    )


def bracket_form(form: Form) -> Form:
    """Convert a form to a single product, with a bracket around a sum of several products."""
    return form if len(form) <= 1 else power(form, ONE_, bracket=True)


def sum_over(form: Form, indices: Iterable[FormIndex]) -> Form:
    """Sum a form over indices."""
    indices = frozenset(indices)
    if not indices:
        return form
    sums: list[Form] = []
    for position, product in enumerate(form):  # Each product gets separate indices for these.
        names = {index: index.fresh() if position else index for index in sorted(indices, key=NUMBER)}
        ((coefficient, factors, summed),) = rename_indices((refresh_indices(product, indices),), names)
        sums.append(normalize_product(coefficient, factors, summed.union(names.values())))
    return add(*sums)


def normalize_product(coefficient: Fraction, factors: tuple[Factor, ...], summed: frozenset[FormIndex]) -> Form:
    """Normalize a product by the rules in `PRODUCT_RULES`, in order."""
    current().spend()
    parts = SumParts(coefficient, list(factors), set(summed))
    for rule in PRODUCT_RULES:
        rule(parts)
        if not parts.coefficient:
            return ZERO
    product = Product(parts.coefficient, tuple(parts.factors), frozenset(parts.summed))
    for rule in PROOF_RULES if current().proving else ():
        changed = rule(product)
        if changed is not None:
            return add(*(normalize_product(*part) for part in changed))
    return expand_brackets(product) if current().proving else (product,)


def apply_sign_rules(parts: SumParts) -> None:
    """Apply sign(x) ⊙ |x| = x, |x|² = x², sign(x) ⊙ x = |x| and sign³ x = sign x.

    Merge equal factors after each rule.
    """
    while (without_sign := _apply_sign_rule(parts.factors)) is not None:
        parts.factors = without_sign
        gather_powers(parts)


def _apply_sign_rule(factors: list[Factor]) -> list[Factor] | None:
    """Apply one rule for signs to the factors. Return None if no rule applies."""
    for factor in factors:
        if is_function(factor, "sign") and factor.exponent >= 1 and factor.exponent.denominator == 1:
            left = [factor._replace(exponent=factor.exponent - 1)] if factor.exponent > 1 else []
            (inner,) = opened(factor)
            for other in factors:
                if (exponent := _left_of_base(other, inner)) is not None:
                    count_rule("sign of a number")
                    left += [other._replace(exponent=exponent)] if exponent else []
                    return _exchange_factors(factors, (factor, other), (*left, function_of("abs", inner)))
                if (
                    is_function(other, "abs")
                    and other.exponent % 2 == 1
                    and opened(other) == (inner,)
                    and len(inner) == 1
                ):
                    put = to_factors(power(inner, other.exponent))
                    if put is not None:
                        count_rule("sign")
                        return _exchange_factors(factors, (factor, other), (*left, *put))
            if factor.exponent > 2:
                count_rule("power of a sign")
                return _exchange_factors(factors, (factor,), (factor._replace(exponent=factor.exponent - 2),))
    for factor in factors:
        if is_function(factor, "abs") and factor.exponent % 2 == 0:
            (inner,) = opened(factor)
            put = to_factors(power(inner, factor.exponent)) if len(inner) == 1 else None
            if put is not None:
                count_rule("square of an absolute value")
                return _exchange_factors(factors, (factor,), put)
    return None


def _left_of_base(factor: Factor, x: Form) -> Fraction | None:
    """Divide a factor by x and return the remaining exponent, or None if x does not divide the factor."""
    alone = to_factors(x) or ()
    if len(alone) != 1 or alone[0][:2] != factor[:2] or alone[0].exponent < 0:
        return None
    left = factor.exponent - alone[0].exponent
    return left if left >= 0 and left.denominator == 1 else None


def _exchange_factors(factors: list[Factor], old: Iterable[Factor], new: Iterable[Factor]) -> list[Factor]:
    """Remove the `old` factors and add the `new` ones."""
    return [*(factor for factor in factors if factor not in old), *new]


# The order matters, because each rule receives the result of the previous rules.
PRODUCT_RULES: tuple[Callable[[SumParts], None], ...] = (
    contract_identities,
    gather_powers,
    apply_sign_rules,
    apply_totals,
    sum_constants,
)
PROOF_RULES: tuple[Callable[[Product], Form | None], ...] = (
    pythagorean,
    quotient_of_sums,
    inverse_product,
)


MAX_POWER = 8  # The largest power of a sum that is multiplied out.


def expand_brackets(product: Product) -> Form:
    """Multiply out the first bracket of a product. In proofs, multiply out the other brackets, too."""
    for index, factor in enumerate(product.factors):
        if factor.head.kind == "bracket" and factor.exponent >= 1 and factor.exponent.denominator == 1:
            rest = product.factors[:index] + product.factors[index + 1 :]
            if factor.exponent > 1:
                rest += (factor._replace(exponent=factor.exponent - 1),)
            (inner,) = opened(factor)
            left = Product(product.coefficient, rest, product.summed)
            return add(*(multiply_within(left, addend) for addend in inner))
    return (product,) if product.coefficient else ZERO


def monomial(form: Form, fractional: bool = False) -> tuple[Product, Form]:
    """Return the common factor of a form's products, and the form divided by this factor.

    If `fractional` is true, the common factor contains only nonnegative factors.
    """
    shared: dict[Any, Fraction] = {}
    for position, product in enumerate(form):
        exponents = {
            factor[:2]: factor.exponent
            for factor in product.factors
            if not product.summed.intersection(factor.indices)
            and (len(form) == 1 or signs.vanishes_rarely(factor.head))
            and (not fractional or signs.get_head_sign(factor.head))
        }
        if position:
            keys = dict.fromkeys((*shared, *exponents))
            exponents = {key: min(shared.get(key, Fraction(0)), exponents.get(key, Fraction(0))) for key in keys}
        shared = {key: exponent for key, exponent in exponents.items() if exponent}
    outer = tuple(Factor(of, indices, exponent) for (of, indices), exponent in shared.items())
    if len(form) == 1:
        rest = tuple(factor for factor in form[0].factors if factor not in outer)
        return Product(ONE_, outer), (form[0]._replace(factors=rest),)
    divided = tuple(factor._replace(exponent=-factor.exponent) for factor in outer)
    rests = [normalize_product(product.coefficient, (*product.factors, *divided), product.summed) for product in form]
    return Product(ONE_, outer), add(*rests) if outer else form


# ----------------------------------------------------------------------------------------------------------- powers
MAX_DENOMINATOR = 16  # The largest number that may be the denominator of a fraction.


def power(form: Form, exponent: Fraction, bracket: bool = False) -> Form:
    """Raise a form to a power. If valid, the power of a product becomes a product of powers."""
    if exponent == 0:
        return ONE
    if exponent == 1 and not bracket:
        return form
    if not form:
        if exponent > 0:
            return ZERO
        raise ZeroDivisionError
    if len(form) == 1:
        return _power_of_product(form[0], exponent)
    if current().proving and exponent.denominator == 1 and 1 <= exponent <= MAX_POWER:
        products = form
        for _ in range(int(exponent) - 1):
            products = multiply(products, form)
        return products
    if current().proving and not bracket:
        outer, rest = monomial(form, exponent.denominator > 1)
        if outer.factors:
            count_rule("common factor")
            return multiply(_power_of_product(outer, exponent), power(rest, exponent))
    shared, rest = content(form)
    if not current().proving and (exponent.denominator > 1 or shared.denominator > MAX_DENOMINATOR):
        shared = Fraction(-1 if shared < 0 and exponent.denominator == 1 else 1)
        rest = scale_form(form, shared)
    if shared < 0 and exponent.denominator > 1:
        shared, rest = -shared, scale_form(rest, -1)
    outside = _number_power(shared, exponent)
    return multiply(outside, (Product(ONE_, (enclose(rest, exponent),)),))


def _power_of_product(product: Product, exponent: Fraction) -> Form:
    whole = exponent.denominator == 1
    if product.summed and (exponent < 0 or not whole or not current().proving):
        return _power_of_sum(product, exponent)
    if product.summed:
        form: Form = (product,)
        for _ in range(int(exponent) - 1):
            form = multiply(form, (product,))
        return form
    apart, inside = [], []
    for factor in product.factors if whole else map(_absolute, product.factors):
        if whole or (signs.never_negative(factor) and _plain_power(factor)):
            apart.append(factor._replace(exponent=factor.exponent * exponent))
        else:
            inside.append(factor)
    coefficient = product.coefficient
    if len(inside) == 1 and coefficient > 0 and inside[0].exponent == 1:
        apart.append(inside.pop()._replace(exponent=exponent))
    if inside or (coefficient < 0 and not whole):
        sign = Fraction(-1 if coefficient < 0 else 1)
        unchanged = (Product(sign, tuple(inside)),)
        apart.append(enclose(unchanged, exponent))
        coefficient = abs(coefficient)
    ((more, further, _),) = _number_power(coefficient, exponent)
    return normalize_product(more, (*apart, *further), frozenset())


def _absolute(factor: Factor) -> Factor:
    """In proofs, rewrite an even power such as x² as |x|², so that its root is |x|. Return other factors unchanged."""
    if not current().proving or _plain_power(factor) or factor.exponent % 2:
        return factor
    count_rule("root of a square")
    return function_of("abs", to_form(factor, ONE_))._replace(exponent=factor.exponent)


def _plain_power(factor: Factor) -> bool:
    """Return whether (xᵃ)ᵇ = xᵃᵇ is true for this factor xᵃ and any b.

    The equation may be false if a is even, because x may be negative.
    """
    return signs.get_head_sign(factor.head) is not None or factor.exponent.denominator > 1


def _power_of_sum(product: Product, exponent: Fraction) -> Form:
    """Return (∑ …)ⁿ as a power of a bracket or, in proofs, as a product of such powers.

    If valid, factors without the summed indices are raised to the power outside the bracket.
    """
    if current().proving and len(groups := components(product.factors, product.summed)) > 1:
        parts = [
            (Product(ONE_, tuple(group), frozenset(index for index in product.summed if touches(group, index))),)
            for group in groups
        ]
        if exponent.denominator == 1 or (product.coefficient > 0 and all(map(signs.sign_of, parts))):
            count_rule("product of sums")
            return reduce(
                multiply, (power(part, exponent) for part in parts), _number_power(product.coefficient, exponent)
            )
    inner, outer = split_parts(product.factors, product.summed)
    outer = outer if exponent.denominator == 1 else list(map(_absolute, outer))
    counted = {index.size for index in product.summed}
    moved = [
        factor for factor in outer
        if (exponent.denominator == 1 or (signs.never_negative(factor) and _plain_power(factor)))
        and (current().proving or factor.head.kind != "size" or factor.head.label not in counted)
    ]  # fmt: skip
    inner += [factor for factor in outer if factor not in moved]
    coefficient = product.coefficient
    if coefficient < 0 and exponent.denominator > 1:
        inside, coefficient = Fraction(-1), -coefficient
    else:
        inside = ONE_
    summed = (Product(inside, tuple(inner), product.summed),)
    of = enclose(summed, exponent)
    ((more, further, _),) = _number_power(coefficient, exponent)
    powers = tuple(factor._replace(exponent=factor.exponent * exponent) for factor in moved)
    products = normalize_product(more, (*powers, *further), frozenset())
    return tuple(addend._replace(factors=(*addend.factors, of)) for addend in products) if exponent != 1 else (product,)


def _number_power(value: Fraction, exponent: Fraction) -> Form:
    if exponent.denominator == 1:
        return number(value**exponent.numerator)
    if value < 0:
        raise ArithmeticError
    products = ONE
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        if exponent.denominator == 2:
            root = isqrt(part)
            if root * root == part:
                products = multiply(products, number(Fraction(root) ** (sign * exponent.numerator)))
                continue
        if part != 1:
            of = Factor(head("number", Fraction(part)), (), sign * exponent)
            products = multiply(products, normalize_product(ONE_, (of,), frozenset()))
    return products
