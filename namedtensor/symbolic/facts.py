"""Represent the named assumptions that a proof or a simplification may use.

    ∑_{c} t = 1              a rewrite: t at c, summed over c, is 1
    S = S_{a→b, b→a}         equivalent orders of the indices of S
    x > 0                    the sign of a head

An assumption is declared in the program, or follows from the program's definitions. `fact_kinds` lists the kinds of
assumptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from .forms import Form, FormHead, Product

Statement = tuple[Form, str, Form]  # A left side, a relation such as "=", and a right side.
TensorName = tuple[str, tuple[str, ...]]  # A name, and the tensor's axes.
Orders = tuple[tuple[int, ...], ...]
Sign = Literal["positive", "nonnegative"]


class FactRewrite(NamedTuple):
    """A rewrite of the factors in `pattern` to `result`, which is a single product or 0."""

    pattern: Product
    result: Form


class KnownFact(NamedTuple):
    """A known relation between forms, with its consequences: rewrites, symmetries and signs.

    `node` is the relation in the notation, and `name` is its source text.
    """

    statement: Statement
    rewrites: tuple[FactRewrite, ...] = ()
    orders: Orders = ()
    sign: tuple[FormHead, Sign] | None = None
    name: str = ""
    node: Any = None
    declared: bool = False


class KnownFacts(NamedTuple):
    """All assumptions in use, with their consequences grouped by subject.

    Each consequence contains its assumption's name.
    """

    all: tuple[KnownFact, ...] = ()
    rewrites: tuple[tuple[FactRewrite, str], ...] = ()
    symmetries: Mapping[TensorName, tuple[Orders, str]] = MappingProxyType({})
    signs: Mapping[FormHead, tuple[Sign, str]] = MappingProxyType({})


NO_FACTS = KnownFacts()


def group_facts(facts: Iterable[KnownFact]) -> KnownFacts:
    """Group the consequences of assumptions by subject."""
    symmetries: dict[TensorName, tuple[Orders, str]] = {}
    signs: dict[FormHead, tuple[Sign, str]] = {}
    facts = tuple(facts)
    for fact in facts:
        if fact.orders:
            of = fact.statement[0][0].factors[0].head
            name = of.label, of.axes
            symmetries[name] = closure((*symmetries.get(name, ((), ""))[0], *fact.orders)), fact.name
        if fact.sign is not None and signs.get(fact.sign[0], ("",))[0] != "positive":
            signs[fact.sign[0]] = fact.sign[1], fact.name
    return KnownFacts(
        facts, tuple((rewrite, fact.name) for fact in facts for rewrite in fact.rewrites), symmetries, signs
    )


def closure(orders: Orders) -> Orders:
    """Return the permutation group that the given orders generate, starting with the identity."""
    result = [tuple(range(len(orders[0])))]
    for one in result:  # The loop also visits the orders that it appends.
        for order in orders:
            if (new := tuple(one[at] for at in order)) not in result:
                result.append(new)
    return tuple(result)
