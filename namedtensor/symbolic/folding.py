"""Common subexpressions by name: a part of a product that equals a name's value becomes that name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import algebra
from .forms import Factor, Form, FormHead, FormIndex, Product
from .matching import occurrences
from .work import used


class NamedPart(NamedTuple):
    """A name's head, the indices outside of what it stands for, in the order of the head's axes, and that product."""

    head: FormHead
    indices: tuple[FormIndex, ...]
    product: Product


def folded(form: Form, names: Sequence[NamedPart]) -> Form:
    """The form with names put in, where a product has all the factors of what they stand for."""
    result = []
    for product in form:
        for name in names:
            product = _folded(product, name)
        result.append(product)
    return algebra.add(*((product,) for product in result))


def _folded(product: Product, name: NamedPart) -> Product:
    for rest, names, inside in occurrences(product, name.product):
        used("name")
        put = Factor(name.head, tuple(names[index] for index in name.indices), algebra.ONE_)
        products = algebra.settled(
            product.coefficient / name.product.coefficient, (*rest, put), frozenset(product.summed - inside)
        )
        return _folded(products[0], name) if len(products) == 1 else product
    return product
