"""Determine the signs of factors."""

from __future__ import annotations

from fractions import Fraction

from ..operators import REGISTRY
from ..operators.record import NEVER_NEGATIVE, Operator
from .facts import Sign
from .forms import Factor, Form, FormHead
from .work import count_rule, current

NOTHING_KNOWN = Operator("", "elementwise", "", lambda *_: None, "", "", "")


def record_named(operator: str) -> Operator:
    return REGISTRY.get(operator, NOTHING_KNOWN)


def record_of(head: FormHead) -> Operator:
    """Return the record of the operator in a head."""
    return record_named(str(head.label))


def never_negative(factor: Factor) -> bool:
    """Return whether a factor is nonnegative whenever it has a value."""
    exponent = factor.exponent
    if exponent.denominator % 2 == 0 or (exponent.denominator == 1 and exponent % 2 == 0):
        return True
    return get_head_sign(factor.head) is not None


def get_known_sign(head: FormHead) -> Sign | None:
    """Return the sign that the assumptions imply for a head, or None if they imply no sign."""
    sign, fact = current().facts.signs.get(head, (None, ""))
    if sign is not None:
        count_rule(fact)
    return sign


def get_head_sign(head: FormHead) -> Sign | None:
    """Return the sign of a head, "positive" or "nonnegative", or None if its sign is unknown.

    The head has this sign whenever it has a value.
    """
    record = record_of(head)
    match head.kind:
        case "size" | "constant":
            return "positive"
        case "number" if head.label >= 0:
            return "positive" if head.label else "nonnegative"
        case "bracket":
            return sign_of(head.parts[0])
        case "apply" if record.sign in NEVER_NEGATIVE and record.analytic:
            return "positive"
        case "apply" if record.sign in NEVER_NEGATIVE or record.boolean[1] or head.label == "indicator":
            return get_known_sign(head) or "nonnegative"
    if head.kind == "delta" or head in current().positive:
        return "nonnegative"
    return get_known_sign(head)


def sign_of(form: Form) -> Sign | None:
    """Return the sign of a form, "positive" or "nonnegative", or None if its sign is unknown.

    The form has this sign whenever it has a value.
    """
    if not all(product.coefficient >= 0 and all(map(never_negative, product.factors)) for product in form):
        return None
    heads = [[factor.head for factor in product.factors] for product in form]
    positive = any(all(get_head_sign(head) == "positive" for head in of_product) for of_product in heads)
    return "positive" if positive else "nonnegative"


def vanishes_rarely(head: FormHead) -> bool:
    """Return whether a head is nonzero for almost all inputs, so that x / x = 1 is valid."""
    if head.kind in ("tensor", "size", "number", "constant"):
        return True
    if head.kind == "delta" or (head.kind == "apply" and head.label != "abs" and not record_of(head).analytic):
        return False
    return all(vanishes_rarely(factor.head) for part in head.parts for product in part for factor in product.factors)


def merges(head: FormHead, one: Fraction, other: Fraction, proving: bool) -> bool:
    """Return whether powers of this head with these exponents can be merged by xᵃ xᵇ = xᵃ⁺ᵇ."""
    if not proving:
        return True
    return (one > 0) == (other > 0) or vanishes_rarely(head)
