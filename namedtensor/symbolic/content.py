"""The content of a form: the number that all of its products share."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from . import canonical
from .forms import ONE_, ZERO, Form, Product, indices_of
from .work import current


def scaled(form: Form, by: Fraction | int) -> Form:
    by = Fraction(by)
    return tuple(each._replace(coefficient=each.coefficient * by) for each in form) if by else ZERO


def content(form: Form) -> tuple[Fraction, Form]:
    """The content and the primitive part of a form: the number that all products share, with the sign of most, and the
    rest.
    """
    if not form:
        return ONE_, form
    above = gcd(*(each.coefficient.numerator for each in form))
    below = 1
    for each in form:
        below = below * each.coefficient.denominator // gcd(below, each.coefficient.denominator)
    found = Fraction(above, below)
    negative = sum(each.coefficient < 0 for each in form)
    first = leading(form) if current().proving and 2 * negative == len(form) else form[0]
    if 2 * negative > len(form) or (2 * negative == len(form) and first.coefficient < 0):
        found = -found
    return found, scaled(form, 1 / found)


def leading(form: Form) -> Product:
    labels = canonical.outside_labels(indices_of(form))
    return min(form, key=lambda each: canonical.product_key(each, labels))
