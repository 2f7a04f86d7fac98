"""Sign analysis of factors."""

from __future__ import annotations

from fractions import Fraction

from ..operators import REGISTRY
from ..operators.record import NEVER_NEGATIVE, Operator
from .forms import Factor, Form, FormHead

NOTHING_KNOWN = Operator("", "elementwise", "", lambda *_: None, "", "", "")


def record_of(head: FormHead) -> Operator:
    """The record of the operator that a head applies."""
    return REGISTRY.get(str(head.label), NOTHING_KNOWN)


def never_negative(factor: Factor) -> bool:
    """Whether a factor is at least 0 wherever it has a value."""
    exponent = factor.exponent
    if exponent.denominator % 2 == 0 or (exponent.denominator == 1 and exponent % 2 == 0):
        return True
    return of_head(factor.head)


def of_head(head: FormHead) -> bool:
    if head.kind in ("size", "constant", "delta"):
        return True
    if head.kind == "number":
        return head.label >= 0
    if head.kind == "bracket":
        return of_form(head.parts[0])
    record = record_of(head)
    return head.kind == "apply" and (record.sign in NEVER_NEGATIVE or record.boolean[1] or head.label == "indicator")


def of_form(form: Form) -> bool:
    return all(product.coefficient >= 0 and all(map(never_negative, product.factors)) for product in form)


def vanishes_rarely(head: FormHead) -> bool:
    """Whether a head is 0 for hardly any values of the inputs, so that x / x = 1."""
    if head.kind in ("tensor", "size", "number", "constant"):
        return True
    if head.kind == "delta" or (head.kind == "apply" and not record_of(head).analytic):
        return False
    return all(vanishes_rarely(factor.head) for part in head.parts for product in part for factor in product.factors)


def merges(head: FormHead, one: Fraction, other: Fraction, proving: bool) -> bool:
    """Whether xᵃ xᵇ = xᵃ⁺ᵇ for this head."""
    if not proving:
        return True
    if (one.denominator > 1 or other.denominator > 1) and not of_head(head):
        return False
    return (one > 0) == (other > 0) or vanishes_rarely(head)
