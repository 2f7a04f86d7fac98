"""The parts that a product is written from: each factor as a node, or what has no spelling."""

from __future__ import annotations

from typing import NamedTuple

from grammar.nodes import Node

from .forms import DELTA, FormIndex, Product
from .work import current


class ProductPart(NamedTuple):
    """A factor written: its node, its indices, and whether it divides."""

    node: Node
    indices: frozenset[FormIndex]
    below: bool = False


class Unwritable(Exception):
    """A form that the notation has no spelling for."""


def off_diagonal(product: Product) -> Product:
    """X_{i,i} I_{i,j} as X_{i,j} I_{i,j}: an identity that stays makes a diagonal needless."""
    pairs = [factor.indices for factor in product.factors if factor.head is DELTA]
    if not pairs:
        return product
    found = []
    for factor in product.factors:
        for one, other in pairs:
            for old, new in ((one, other), (other, one)):
                if factor.head is not DELTA and factor.indices.count(old) == 2 and new not in factor.indices:
                    at = len(factor.indices) - 1 - factor.indices[::-1].index(old)
                    factor = factor._replace(indices=(*factor.indices[:at], new, *factor.indices[at + 1 :]))
        found.append(factor)
    return product._replace(factors=tuple(found))


def has_size(name: str, index: FormIndex, product: Product) -> bool:
    """Whether an axis of this name may have the size of an index: the k of ∑_{k=1}^{2} and of ∑_{k=1}^{3} are two axes."""
    if not str(index.size).isdigit():
        return name not in current().numbered
    if current().numbered.get(name, index.size) != index.size:
        return False
    tensors = (factor for factor in product.factors if factor.head.kind == "tensor")
    axes = (pair for factor in tensors for pair in zip(factor.indices, factor.head.axes))
    return all(axis != name or str(other.size) == str(index.size) for other, axis in axes)
