"""Define the index normal form, a sum of products in which every axis is an index, so that renames disappear.

    ∑_{k} Q_k K_{s,k} / √|k|        Product(1, (Q at k, K at s k, size k to the −1/2), summed {k})

A `Form` is a tuple of products; the empty tuple is 0. A product consists of an exact coefficient, factors, and summed
indices. A factor is a head with indices, raised to an exponent. A `FormHead` is one of these:

    tensor      an input, or a name of the program, by its axes
    delta       1 if two indices are equal, 0 otherwise: I_{a,b}
    size        |ax|
    number      a number raised to a fractional power: √2
    constant    π, e, ∞
    bracket     a sum that is not multiplied out
    apply       an operator applied to forms over bound indices; the first indices of its factor are its result axes

Inside an `intern_heads` block, `head` interns heads, so that equal heads are one object. Separate blocks have separate
heads. The order of creation determines the order and the names in the output. This order must therefore depend only on
the question that the block answers. The forms inside a head refer to outside indices only through `slots`, so that an
outside index can be replaced without changing these forms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple

from grammar.plain_text import encodable

_NUMBERS = count()


class FormIndex:
    """An index, which is equal only to itself.

    `name` is its axis name. `size` is the axis size, as a number or as a symbolic size such as "|a|".
    """

    __slots__ = ("name", "number", "size")

    def __init__(self, name: str, size: Any):
        self.name: str = name
        self.size: Any = size
        self.number: int = next(_NUMBERS)

    def fresh(self) -> FormIndex:
        return FormIndex(self.name, self.size)

    @encodable
    def __repr__(self) -> str:
        return f"{self.name}#{self.number}"


class FormHead:
    """A factor without its indices (see the module docstring).

    `label` is the name, operator or number, and `options` contains further values that distinguish heads. `parts`
    contains the forms inside the head. `slots` contains their outside indices, and `bound` contains their bound
    indices. `axes` contains default names for a factor's indices. `symmetries` contains equivalent orders of the
    indices.
    """

    __slots__ = ("kind", "label", "options", "parts", "bound", "slots", "axes", "symmetries", "serial", "orbits",
                 "__weakref__")  # fmt: skip

    def __init__(self, kind, label, options, parts, bound, slots, axes, symmetries):
        self.kind: str = kind
        self.label: Any = label
        self.options: tuple[Any, ...] = options
        self.parts: tuple[Form, ...] = parts
        self.bound: tuple[FormIndex, ...] = bound
        self.slots: tuple[FormIndex, ...] = slots
        self.axes: tuple[str, ...] = axes
        self.symmetries: tuple[tuple[int, ...], ...] = symmetries
        self.serial: int = next(_NUMBERS)
        self.orbits: tuple[int, ...] = (
            tuple(min(order.index(index) for order in symmetries) for index in range(len(axes))) if axes else ()
        )

    @encodable
    def __repr__(self) -> str:
        return f"{self.label or self.kind}"


class Factor(NamedTuple):
    """A head with indices, raised to an exponent."""

    head: FormHead
    indices: tuple[FormIndex, ...]
    exponent: Fraction

    def at(self, names: dict[FormIndex, FormIndex]) -> Factor:
        return self._replace(indices=tuple(names.get(index, index) for index in self.indices))


class Product(NamedTuple):
    """A product: its coefficient, its factors, and its summed indices."""

    coefficient: Fraction
    factors: tuple[Factor, ...] = ()
    summed: frozenset[FormIndex] = frozenset()

    def indices(self) -> set[FormIndex]:
        """Return the outside indices, which are not summed."""
        return {index for factor in self.factors for index in factor.indices} - self.summed


Form = tuple[Product, ...]


class NamedValue(NamedTuple):
    """A name in the program, with its indices and its value."""

    factor: Factor
    value: Form


ONE_ = Fraction(1)
ZERO: Form = ()
ONE: Form = (Product(ONE_),)
_HEADS: ContextVar[dict[tuple[Any, ...], FormHead]] = ContextVar("heads of a question")


@contextmanager
def intern_heads() -> Iterator[None]:
    """Make equal heads the same object inside the block. A nested block shares the heads of the outer block."""
    if _HEADS.get(None) is not None:
        yield
        return
    token = _HEADS.set({})
    try:
        yield
    finally:
        _HEADS.reset(token)


def head(
    kind: str, label: Any = None, axes: tuple[str, ...] = (), options: tuple[Any, ...] = (), **within: Any
) -> FormHead:
    """Return the head with these properties. `within` contains the key, forms, indices and symmetries of the head."""
    key = (kind, label, options, within.get("key", axes), *map(type, options))

    heads = _HEADS.get()
    if key not in heads:
        symmetries = within.get("symmetries") or (tuple(range(len(axes))),)
        parts, bound, slots = (within.get(name, ()) for name in ("parts", "bound", "slots"))
        heads[key] = FormHead(kind, label, options, parts, bound, slots, axes, symmetries)
    return heads[key]


DELTA = FormHead("delta", None, (), (), (), (), ("row", "column"), ((0, 1), (1, 0)))


def number(value: Fraction | int) -> Form:
    return (Product(Fraction(value)),) if value else ZERO


def single(of: FormHead, *indices: FormIndex, exponent: Fraction = ONE_) -> Form:
    """Return a form with a single factor, which has this head and these indices."""
    return (Product(ONE_, (Factor(of, indices, exponent),)),)


def size(of: Any) -> Form:
    """Return an axis size as a form: a number if the size is known, or a symbol otherwise."""
    return number(of) if isinstance(of, int) else single(head("size", of))


NUMBER = attrgetter("number")  # Sorts indices in the order of their creation.


def indices_of(form: Form) -> set[FormIndex]:
    """Return the outside indices of a form."""
    return set().union(*(product.indices() for product in form)) if form else set()


def rename_indices(form: Form, names: dict[FormIndex, FormIndex]) -> Form:
    """Rename outside indices of a form. Replace a summed index that would clash with a new name."""
    if not names:
        return form
    result = []
    for product in form:
        indices = {old: new for old, new in names.items() if old not in product.summed}
        met = product.summed & set(indices.values())
        both = indices | {index: index.fresh() for index in sorted(met, key=NUMBER)}
        factors = tuple(factor.at(both) for factor in product.factors)
        result.append(
            Product(product.coefficient, factors, frozenset(both.get(index, index) for index in product.summed))
        )
    return tuple(result)


def refresh_indices(product: Product, taken: frozenset[FormIndex] | set[FormIndex]) -> Product:
    """Replace the summed indices in `taken` with new indices, and return the product."""
    met = product.summed & taken
    if not met:
        return product
    names = {index: index.fresh() for index in sorted(met, key=NUMBER)}
    summed = frozenset(names.get(index, index) for index in product.summed)
    return Product(product.coefficient, tuple(factor.at(names) for factor in product.factors), summed)


def opened(factor: Factor) -> tuple[Form, ...]:
    """Return the forms in a factor's head, with the factor's indices in place of the slots.

    The result indices of an operator do not occur in these forms.
    """
    position = len(factor.indices) - len(factor.head.slots)
    names = dict(zip(factor.head.slots, factor.indices[position:]))
    return tuple(rename_indices(part, names) for part in factor.head.parts)


def split_parts(parts: Iterable[Any], indices: Set[FormIndex]) -> tuple[list[Any], list[Any]]:
    """Split factors, or other objects with indices, by whether they have any of the given indices."""
    inside = [part for part in parts if not indices.isdisjoint(part.indices)]
    return inside, [part for part in parts if part not in inside]


@lru_cache(maxsize=256)
def square_of(value: float) -> tuple[Fraction, int] | None:
    """Return the fraction and the exponent if value² is a simple fraction times a power of π, or None otherwise."""
    if value == int(value) if abs(value) < 1e15 else True:
        return None
    for number_below in range(1, 13):
        for number_above in range(1, 13):
            for times in (1, -1, 0):
                square = number_above / number_below * math.pi**times
                if math.gcd(number_above, number_below) == 1 and abs(value * value - square) <= 4e-16 * square:
                    if not times and Fraction(repr(value)).denominator < 10**6:
                        return None
                    return Fraction(number_above, number_below), times
    return None
