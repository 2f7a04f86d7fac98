"""Common subexpressions by name: a part of a product that equals a name's value becomes that name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from . import algebra
from .forms import Factor, Form, FormHead, FormIndex, Product
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
    pattern = name.product
    for taken, names in _matches(pattern.factors, product, pattern, {}, ()):
        inside = {names[index] for index in pattern.summed}
        rest = _left(product, pattern, taken)
        if inside & {index for factor in rest for index in factor.indices}:
            continue
        if any(names[index] in inside for index in name.indices):
            continue
        used("name")
        put = Factor(name.head, tuple(names[index] for index in name.indices), algebra.ONE_)
        products = algebra.settled(
            product.coefficient / pattern.coefficient, (*rest, put), frozenset(product.summed - inside)
        )
        return _folded(products[0], name) if len(products) == 1 else product
    return product


def _holds(exponent: Fraction, expected: Fraction) -> bool:
    """Whether a power has another as a factor: x³ has x², x⁻³ has x⁻¹."""
    left = exponent / expected
    return left >= 1 and (exponent - expected).denominator == 1


def _left(product: Product, pattern: Product, taken: tuple[int, ...]) -> tuple[Factor, ...]:
    """What is left of a product's factors, those of the pattern being taken, in their order, at these places."""
    expected = dict(zip(taken, (factor.exponent for factor in pattern.factors)))
    factors: list[Factor] = []
    for index, factor in enumerate(product.factors):
        exponent = factor.exponent - expected.get(index, Fraction(0))
        if exponent:
            factors.append(factor._replace(exponent=exponent))
    return tuple(factors)


def _matches(
    left: tuple[Factor, ...],
    product: Product,
    pattern: Product,
    names: dict[FormIndex, FormIndex],
    taken: tuple[int, ...],
) -> Iterator[tuple[tuple[int, ...], dict[FormIndex, FormIndex]]]:
    if not left:
        yield taken, names
        return
    first, *rest = left
    for index, factor in enumerate(product.factors):
        if index in taken or factor.head is not first.head or not _holds(factor.exponent, first.exponent):
            continue
        for order in first.head.symmetries:
            indices = dict(names)
            for mine, at in zip(first.indices, order):
                theirs = factor.indices[at]
                if indices.setdefault(mine, theirs) is not theirs or (
                    mine in pattern.summed and theirs not in product.summed
                ):
                    break
            else:
                bound = [indices[index] for index in pattern.summed if index in indices]
                if len(set(bound)) == len(bound):
                    yield from _matches(tuple(rest), product, pattern, indices, (*taken, index))
