"""Analysis of the signs of factors."""

from __future__ import annotations

from fractions import Fraction

from ..operators import REGISTRY
from ..operators.record import NEVER_NEGATIVE, Operator
from .facts import Sign
from .forms import Factor, Form, FormHead, Product
from .work import count_rule, current

NOTHING_KNOWN = Operator("", "elementwise", "", lambda *_: None, "", "", "")


def record_named(operator: str) -> Operator:
    return REGISTRY.get(operator, NOTHING_KNOWN)


def record_of(head: FormHead) -> Operator:
    """Return the record of the operator that a head applies."""
    return record_named(str(head.label))


def never_negative(factor: Factor) -> bool:
    """Return whether a factor is nonnegative wherever it has a value."""
    exponent = factor.exponent
    if exponent.denominator % 2 == 0 or (exponent.denominator == 1 and exponent % 2 == 0):
        return True
    return get_head_sign(factor.head)


def get_known_sign(head: FormHead) -> Sign | None:
    """Return the sign that an assumption gives to a head, or None."""
    sign, fact = current().facts.signs.get(head, (None, ""))
    if sign is not None:
        count_rule(fact)
    return sign


def get_head_sign(head: FormHead) -> bool:
    if head.kind in ("size", "constant", "delta") or head in current().positive:
        return True
    if head.kind == "number":
        return head.label >= 0
    if head.kind == "bracket":
        return get_form_sign(head.parts[0])
    record = record_of(head)
    if head.kind == "apply" and (record.sign in NEVER_NEGATIVE or record.boolean[1] or head.label == "indicator"):
        return True
    return get_known_sign(head) is not None


def get_form_sign(form: Form) -> bool:
    return all(product.coefficient >= 0 and all(map(never_negative, product.factors)) for product in form)


def sign_of(form: Form) -> Sign | None:
    """Return "positive" or "nonnegative" if a form certainly has this sign where it has a value, or else None."""
    if not get_form_sign(form):
        return None
    return "positive" if any(map(_positive, form)) else "nonnegative"


def _positive(product: Product) -> bool:
    return all(map(positive_head, (factor.head for factor in product.factors)))


def positive_head(head: FormHead) -> bool:
    if head.kind == "number":
        return head.label > 0
    if head.kind == "bracket":
        return sign_of(head.parts[0]) == "positive"
    record = record_of(head)
    analytic = head.kind == "apply" and record.sign in NEVER_NEGATIVE and record.analytic
    return analytic or head.kind in ("size", "constant") or get_known_sign(head) == "positive"


def vanishes_rarely(head: FormHead) -> bool:
    """Return whether a head is nonzero for almost all inputs, so that x / x = 1 may be used."""
    if head.kind in ("tensor", "size", "number", "constant"):
        return True
    if head.kind == "delta" or (head.kind == "apply" and head.label != "abs" and not record_of(head).analytic):
        return False
    return all(vanishes_rarely(factor.head) for part in head.parts for product in part for factor in product.factors)


def merges(head: FormHead, one: Fraction, other: Fraction, proving: bool) -> bool:
    """Return whether powers of this head with these exponents may be merged, by xᵃ xᵇ = xᵃ⁺ᵇ."""
    if not proving:
        return True
    return (one > 0) == (other > 0) or vanishes_rarely(head)
