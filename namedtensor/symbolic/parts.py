"""The parts that a product is written from: each factor as a node, or what has no spelling."""

from __future__ import annotations

from typing import NamedTuple

from grammar.nodes import Node

from .forms import DELTA, Index, Product


class Part(NamedTuple):
    """A factor written: its node, its indices, and whether it divides."""

    node: Node
    indices: frozenset[Index]
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
