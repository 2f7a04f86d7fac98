"""Common subexpressions by name: a part of a product that equals a name's value becomes that name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from . import algebra
from .forms import Factor, Form, FormHead, FormIndex, Product
from .known import rewritten
from .matching import occurrences
from .work import used


class NamedPart(NamedTuple):
    """A name's head, the indices outside of what it stands for, in the order of the head's axes, and that product."""

    head: FormHead
    indices: tuple[FormIndex, ...]
    product: Product


def folded(form: Form, names: Sequence[NamedPart]) -> Form:
    """The form with names put in, where a product has all the factors of what they stand for."""
    return rewritten(form, *(partial(_folded, name) for name in names))


def _folded(name: NamedPart, product: Product) -> Product | None:
    for rest, names, inside in occurrences(product, name.product):
        used("name")
        put = Factor(name.head, tuple(names[index] for index in name.indices), algebra.ONE_)
        products = algebra.settled(
            product.coefficient / name.product.coefficient, (*rest, put), frozenset(product.summed - inside)
        )
        return products[0] if len(products) == 1 else None
    return None
