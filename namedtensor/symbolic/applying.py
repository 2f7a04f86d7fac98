"""Apply operators to forms. A function without a rule in `OPERATOR_RULES` becomes a single opaque factor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from ..operators import REGISTRY
from ..terms.terms import Term
from . import signs
from .algebra import (
    MAX_POWER,
    add,
    content,
    monomial,
    multiply,
    normalize_product,
    power,
    scale_form,
    subtract,
    sum_over,
)
from .factors import function_of, is_function, opaque, sole, to_form
from .facts import Sign
from .forms import (
    DELTA,
    ONE,
    ONE_,
    ZERO,
    Factor,
    Form,
    FormIndex,
    Product,
    number,
    opened,
    rename_indices,
)
from .signs import get_head_sign, never_negative, sign_of
from .work import count_rule, current

Places = tuple[int, ...]
OF_SYMMETRIC = frozenset(("inv", "cofactors", "expm"))  # The result is symmetric if the matrix is.


def apply_operator(
    operator: str,
    parts: Sequence[Form],
    bound: Sequence[FormIndex] = (),
    given: Sequence[FormIndex] = (),
    options: tuple[Any, ...] = (),
    places: tuple[Places, Places] = ((), ()),
) -> Form:
    """Apply an operator to forms, over bound indices. `given` contains the indices of the result's new axes.

    `places` maps the bound and the given indices to axes of the operator. A result axis that is not bound, such as the
    axis of iota, is identified by its size.
    """
    parts = tuple(parts)
    if not bound and not given:
        products = _elementwise(operator, parts)
        if products is not None:
            return products
    indices = {index: index.fresh() for index in bound}
    parts = tuple(rename_indices(part, indices) for part in parts)
    sizes = tuple(str(index.size) for index, position in zip(given, places[1]) if position not in places[0])
    symmetric = operator in OF_SYMMETRIC and len(parts) == 1
    fresh = tuple(indices.values())
    return to_form(opaque("apply", operator, parts, (options, places), fresh, tuple(given), sizes, symmetric))


def _elementwise(operator: str, parts: tuple[Form, ...]) -> Form | None:
    """Simplify an elementwise function. Return None if no rule applies."""
    if current().proving and (products := expand_function(operator, parts)) is not None:
        return products
    if operator in OPERATOR_RULES:
        return OPERATOR_RULES[operator](*parts)
    if operator in OF_SIGN and (sign := signs.sign_of(parts[0])) is not None:
        products = OF_SIGN[operator](parts[0], sign)
        if products is not None:
            return products
    parity = REGISTRY[operator].parity if operator in REGISTRY else ""
    return apply_parity(operator, parity, parts[0]) if parity else None


def apply_parity(operator: str, parity: str, x: Form) -> Form | None:
    """Simplify f(−x) to f(x) if f is even, or to −f(x) if f is odd. Also move numbers outward, as in |2 x| = 2 |x|.

    Return None if neither rule applies.
    """
    shared, rest = content(x)
    if not x:
        return ZERO if parity == "odd" or operator == "abs" else None
    if shared < 0:
        count_rule("sign of an argument")
        products = apply_operator(operator, (scale_form(x, -1),))
        return scale_form(products, -1) if parity == "odd" else products
    if operator in ("abs", "sign") and shared != 1:
        return scale_form(apply_operator(operator, (rest,)), shared if operator == "abs" else 1)
    return None


def exponential(x: Form) -> Form:
    """Simplify exp x by exp(−x) = 1 / exp x and, in proofs, by rules such as exp(x + y) = exp x ⊙ exp y."""
    if not x:
        return ONE
    if current().proving and len(x) > 1:
        products = ONE
        for product in x:
            products = multiply(products, exponential((product,)))
        return products
    shared, rest = content(x)
    inner = scale_form(rest, Fraction(1, shared.denominator))
    proving = current().proving
    alone = sole(rest if proving else inner)
    if alone is not None and is_function(alone, "log"):
        count_rule("logarithm")
        return power(opened(alone)[0], shared if proving else Fraction(shared.numerator))
    if shared.numerator != 1:
        count_rule("exponent")
    return power(_opaque("exp", inner), Fraction(shared.numerator))


def _opaque(operator: str, *parts: Form) -> Form:
    """Apply an operator to forms, and return the result as a single opaque factor."""
    return to_form(function_of(operator, *parts))


def logarithm(x: Form) -> Form | None:
    """Simplify log x by log exp x = x and log 1 = 0. Return None if neither rule applies."""
    if len(x) != 1:
        return None
    (product,) = x
    if not product.factors:
        return ZERO if product.coefficient == 1 else None
    if product.coefficient == 1 and not product.summed and all(is_function(of, "exp") for of in product.factors):
        count_rule("logarithm")
        return add(*(scale_form(opened(factor)[0], factor.exponent) for factor in product.factors))
    return None


def cases(*parts: Form) -> Form | None:
    """Move a common factor out of cases, and rewrite { 1 if …; 0 otherwise } as 𝕀[…].

    Return None if neither applies.
    """
    if len(parts) < 3:
        return None
    values = parts[::2]
    if not any(values):
        return ZERO
    live = [value for value in values if value]
    if any(len(value) != 1 or value[0].summed for value in live):
        return None
    shared = [
        factor for factor in live[0][0].factors
        if all(factor in value[0].factors for value in live) and is_finite(factor)
    ]  # fmt: skip
    if not any(factor.head is DELTA for factor in shared) and not (len(values) == 2 and len(live) == 1):
        return None
    outer = normalize_product(ONE_, tuple(shared), frozenset())
    coefficient = live[0][0].coefficient if len(live) == 1 else ONE_

    def rest(value: Form) -> Form:
        if not value:
            return ZERO
        factors = list(value[0].factors)
        for factor in shared:
            factors.remove(factor)
        return normalize_product(value[0].coefficient / coefficient, tuple(factors), frozenset())

    inner = tuple(rest(part) if not index % 2 else part for index, part in enumerate(parts))
    if len(inner) == 3 and inner[0] == ONE and inner[2] == ZERO:
        chosen = apply_operator("indicator", (inner[1],))
    elif len(inner) == 3 and inner[0] == ZERO and inner[2] == ONE:
        chosen = apply_operator("indicator", (negate_condition(inner[1]),))
    else:
        chosen = _opaque("cases", *inner)
    return scale_form(multiply(outer, chosen), coefficient)


# Whether x > 0, … holds for an x that is above 0, or at least 0.
HOLDS: dict[tuple[str, Sign], bool] = {
    (">", "positive"): True, ("≥", "positive"): True, ("≠", "positive"): True, ("<", "positive"): False,
    ("≤", "positive"): False, ("=", "positive"): False, ("≥", "nonnegative"): True, ("<", "nonnegative"): False,
}  # fmt: skip
MIRRORED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "=": "=", "≠": "≠"}
HALF = Fraction(1, 2)
# 𝕀[x > y], … as a polynomial of s, the sign of x − y: the coefficients of 1, s and s².
TRUTHS = {
    ">": (0, HALF, HALF), "<": (0, -HALF, HALF), "≥": (1, HALF, -HALF), "≤": (1, -HALF, -HALF), "=": (1, 0, -1), "≠": (0, 0, 1),
}  # fmt: skip


def simplify_indicator(condition: Form) -> Form | None:
    """Simplify an indicator. Return None if no rule applies. In proofs, rewrite 𝕀[x > y] with the sign of x − y."""
    alone = sole(condition)
    if alone is None or alone.head.label not in MIRRORED:
        return None
    (left, right), label = opened(alone), alone.head.label
    difference = subtract(left, right)
    for x, relation in ((difference, label), (subtract(right, left), MIRRORED[label])):
        sign = signs.sign_of(x) if x else None
        if sign is not None and (holds := HOLDS.get((relation, sign))) is not None:
            count_rule("comparison")
            return ONE if holds else ZERO
    if not current().proving:
        return None
    count_rule("indicator")
    sign = apply_operator("sign", (difference,))
    return add(*(scale_form(power(sign, Fraction(n)), by) for n, by in enumerate(TRUTHS[label])))


# The value of an operator on a positive or nonnegative argument.
OF_SIGN: dict[str, Callable[[Form, Sign], Form | None]] = {
    "abs": lambda x, sign: x, "relu": lambda x, sign: x, "sign": lambda x, sign: ONE if sign == "positive" else None,
}  # fmt: skip
OPERATOR_RULES: dict[str, Callable[..., Form | None]] = {
    "exp": exponential, "log": logarithm, "cases": cases, "indicator": simplify_indicator,
}  # fmt: skip


def is_finite(factor: Factor) -> bool:
    """Return whether the outermost operator of a factor always has a finite result, so that 0 times the factor is 0."""
    is_number = factor.head.kind in ("size", "number", "constant")
    return is_number or (factor.exponent > 0 and not is_function(factor, "log"))


OPPOSITE = {"=": "≠", "≠": "=", "<": "≥", "≥": "<", "≤": ">", ">": "≤"}


def negate_condition(condition: Form) -> Form:
    """Return the opposite condition, such as x ≥ y for x < y."""
    alone = sole(condition)
    if alone is not None and alone.head.label in OPPOSITE:
        return _opaque(OPPOSITE[alone.head.label], *opened(alone))
    if alone is not None and alone.head.label == "¬":
        return opened(alone)[0]
    return _opaque("¬", condition)


def own_options(record: Any, term: Term) -> tuple[Any, ...]:
    """Return an operator's options in a term, including the defaults."""
    options = {name: value for name, value in term.options if isinstance(name, str)} if record.options else {}
    return tuple((name, options.get(name, value)) for name, value in record.options)


# ------------------------------------------------------------------------------------------ rules that proofs alone use
def expand_function(operator: str, parts: tuple[Form, ...]) -> Form | None:
    """Expand a function in a proof. Return None if it has no rule."""
    rule = EXPANSIONS.get(operator)
    return rule(*parts) if rule is not None and parts[0] else None


def apply_addition_theorem(operator: str, x: Form) -> Form | None:
    """Expand sin(x + y) or cos(x + y) by the addition theorem. Return None for any other argument."""
    shared, rest = content(x)
    if len(x) > 1:
        one, other = x[:1], x[1:]
    elif 1 < abs(shared.numerator) <= MAX_POWER:
        one = scale_form(rest, Fraction(1, shared.denominator))
        other = add(x, scale_form(one, -1 if shared > 0 else 1))
        one = one if shared > 0 else scale_form(one, -1)
    else:
        return None
    count_rule("sum of angles")
    (sin_one, cos_one), (sin_other, cos_other) = (
        [apply_operator(name, (part,)) for name in ("sin", "cos")] for part in (one, other)
    )
    if operator == "sin":
        return add(multiply(sin_one, cos_other), multiply(cos_one, sin_other))
    return add(multiply(cos_one, cos_other), scale_form(multiply(sin_one, sin_other), -1))


def apply_to_factors(operator: str, x: Form) -> Form | None:
    """Apply |x y| = |x| |y|, sign(x y) = sign x sign y, or |x| = x for a nonnegative x.

    Return None if no rule applies.
    """
    if operator == "abs" and sign_of(x):
        return x
    outer, rest = monomial(x)
    alone = rest == ONE and len(outer.factors) == 1 and outer.factors[0].exponent
    if not outer.factors or (alone and (alone == 1 or alone.denominator > 1)):
        return None
    count_rule("factors of an argument")
    products = ONE if rest == ONE else apply_operator(operator, (rest,))
    for factor in outer.factors:
        if operator == "abs" and never_negative(factor):
            products = multiply(products, to_form(factor))
        elif factor.exponent.denominator == 1:
            exponent = factor.exponent if operator == "abs" else abs(factor.exponent)
            products = multiply(products, power(apply_operator(operator, (to_form(factor, ONE_),)), exponent))
        else:
            products = multiply(products, apply_operator(operator, (to_form(factor),)))
    return products


def sum_of_logarithms(x: Form) -> Form | None:
    """Expand a logarithm by log(x y) = log x + log y, log x² = 2 log |x|, and log 6 = log 2 + log 3."""
    outer, rest = monomial(x)
    shared, rest = content(rest)
    parts, left = [_logarithm_of_number(abs(shared))], number(1 if shared > 0 else -1)
    if rest != ONE and sign_of(rest):
        parts.append(_opaque("log", rest))
        rest = ONE
    for factor in outer.factors:
        even = factor.exponent.denominator == 1 and factor.exponent % 2 == 0
        if get_head_sign(factor.head) or (not even and len(outer.factors) == 1 and (left, rest) == (ONE, ONE)):
            parts.append(scale_form(_logarithm_of_factor(factor), factor.exponent))
        elif even:
            parts.append(scale_form(_opaque("log", apply_operator("abs", (to_form(factor, ONE_),))), factor.exponent))
        else:
            left = multiply(left, to_form(factor))
    if left != ONE or rest != ONE:
        parts.append(_opaque("log", multiply(left, rest)))
    count_rule("logarithm of a product")
    return add(*parts)


def _logarithm_of_number(value: Fraction) -> Form:
    """Return the logarithm of a positive fraction as a sum of logarithms of prime numbers."""
    parts = []
    for number_left, sign in ((value.numerator, 1), (value.denominator, -1)):
        prime = 2
        while number_left > 1:
            if prime * prime > number_left or prime > MAX_PRIME:
                prime = number_left
            while number_left % prime == 0:
                number_left //= prime
                parts.append(scale_form(_opaque("log", number(prime)), sign))
            prime += 1
    return add(*parts)


def _logarithm_of_factor(factor: Factor) -> Form:
    """Return the logarithm of a factor without its exponent."""
    match factor.head.kind, factor.head.label:
        case "apply", "exp":
            return opened(factor)[0]
        case "number", value:
            return _logarithm_of_number(value)
        case "constant", "e":
            return ONE
        case "bracket", _:
            return _opaque("log", opened(factor)[0])
        case "apply", "∏":
            (inner,) = opened(factor)
            indices = {index: index.fresh() for index in factor.head.bound}
            if sign_of(inner):
                return sum_over(apply_operator("log", (rename_indices(inner, indices),)), indices.values())
    return _opaque("log", to_form(factor, ONE_))


def whole_power(base: Form, exponent: Form) -> Form | None:
    """Expand a power by xᵐ⁺ⁿ = xᵐ xⁿ and (x y)ⁿ = xⁿ yⁿ if its exponent consists of sizes. Return None otherwise."""
    if not base or not exponent or not all(_is_whole(product) for product in exponent):
        return None
    if len(exponent) > 1:
        count_rule("power of a size")
        return reduce(multiply, (apply_operator("^", (base, (product,))) for product in exponent))
    product = next(iter(exponent))  # The exponent has exactly one product here.
    if not product.factors:
        return power(base, product.coefficient)
    if product.coefficient != 1:
        return power(apply_operator("^", (base, (product._replace(coefficient=ONE_),))), product.coefficient)
    outer, rest = monomial(base)
    if base == ONE or not outer.factors or (rest == ONE and sole(base) is not None):
        return ONE if base == ONE else None
    count_rule("power of a size")
    parts = [power(apply_operator("^", (to_form(factor, ONE_), exponent)), factor.exponent) for factor in outer.factors]
    return reduce(multiply, parts, ONE if rest == ONE else apply_operator("^", (rest, exponent)))


def _is_whole(product: Product) -> bool:
    """Return whether a product of sizes is certainly an integer."""
    return product.coefficient.denominator == 1 and all(
        factor.head.kind == "size" and factor.exponent.denominator == 1 and factor.exponent > 0
        for factor in product.factors
    )


MAX_PRIME = 1000  # The largest divisor that is tried when a number is factored.
EXPANSIONS: dict[str, Callable[..., Form | None]] = {
    "sin": partial(apply_addition_theorem, "sin"),
    "cos": partial(apply_addition_theorem, "cos"),
    "abs": partial(apply_to_factors, "abs"),
    "sign": partial(apply_to_factors, "sign"),
    "log": sum_of_logarithms,
    "^": whole_power,
}
