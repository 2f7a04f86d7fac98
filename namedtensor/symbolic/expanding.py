"""Brackets multiplied out, where that leaves few terms."""

from __future__ import annotations

from math import comb

from . import algebra
from .forms import Form, Product, opened

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
