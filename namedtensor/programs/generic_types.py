"""Size-generic types: the terms of several sizes as terms for the sizes between them, without a check of their own.

Terms for two sizes that are made of the same operators differ in numbers alone: sizes in shapes and options. Where each
number follows from the size by a law (`backends.resized`), terms for a size between are those of one with other numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from ..backends.resized import SAMPLES, Names
from ..core.sizes import resolve
from ..terms.loop_bodies import Loop
from ..terms.terms import Term, topological
from .executable import Typed

Number = int | float
KNOWN = 64  # sizes that are remembered
FAR = 64  # times as large or as small as a size is another whose types are checked with it
BYTES = 400  # of a term, and of what is noted of it
GROUPS = ("states", "slices", "members", "given", "results")  # of the terms of a loop


class Opaque(Exception):
    """Raised where a term has what is no number, text or tuple of these."""


class Flat(NamedTuple):
    """Terms taken apart: what they are made of, and the numbers in it."""

    between: tuple[Any, ...]
    numbers: tuple[Number, ...]


def flat(typed: Typed) -> Flat | None:
    """The parts of terms; None where something may follow from a size unseen."""
    parts = Parts()
    try:
        order = parts.terms(typed.roots)
        rest = [(claim._replace(right=None), parts.option(given)) for claim, given in stated(typed)]
    except Opaque:
        return None
    places = tuple(order[id(root)] for root in typed.roots)
    return Flat((*parts.between, places, len(typed.terms), typed.unused, *rest), tuple(parts.numbers))


def stated(typed: Typed) -> Iterator[tuple[Any, Any]]:
    """The claims, and what is said of sets in them."""
    for _, right, claim in typed.claims:
        yield claim, None if isinstance(right, Term) else right


class Parts:
    """Collects what terms are made of, in one order."""

    def __init__(self) -> None:
        self.between: list[Any] = []
        self.numbers: list[Number] = []
        self.shapes: dict[int, tuple[tuple[str, ...], tuple[int, ...]]] = {}  # which many terms share

    def terms(self, roots: Sequence[Term]) -> dict[int, int]:
        """Note all that the roots need; the place of each."""
        order, between, numbers, shapes = topological(*roots), self.between, self.numbers, self.shapes
        places = {id(term): place for place, term in enumerate(order)}
        for term in order:
            arguments, options = term.arguments, term.options
            if arguments:
                arguments = tuple([places[id(each)] for each in arguments])
            axes, sizes = shapes.get(id(term.shape)) or self.shape(term.shape)
            numbers += sizes
            if options and not is_name(options):
                options = self.option(options)
            between.append((term.operator, arguments, term.axes, term.boolean, axes, options))
        return places

    def shape(self, shape: dict[str, Any]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        sizes = tuple(map(resolve, shape.values()))
        if any(type(size) is not int for size in sizes):
            raise Opaque
        found = self.shapes[id(shape)] = (*shape,), sizes
        return found

    def option(self, value: Any) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int or kind is float:
            self.numbers.append(value)
            return kind
        if kind is tuple:
            return (*map(self.option, value),)
        if kind is not Loop:
            raise Opaque
        groups = [getattr(value, name) for name in GROUPS]
        places = self.terms([each for group in groups for each in group])
        self.numbers.append(value.steps)
        return (value.axis, *(tuple([places[id(each)] for each in group]) for group in groups))


class Rebuilt:
    """Terms with other numbers, in the order in which `Parts` collects them; those with the same stay as they are."""

    def __init__(self, numbers: list[Number]):
        self.numbers, self.place = numbers, 0

    def number(self) -> Number:
        self.place += 1
        return self.numbers[self.place - 1]

    def typed(self, like: Typed) -> Typed:
        found = self.terms(like.roots)
        terms, claims = tuple([found[id(each)] for each in like.terms]), []
        for left, right, claim in like.claims:
            right = found[id(right)] if isinstance(right, Term) else self.option(right)
            claims.append((found[id(left)], right, claim._replace(right=right)))
        return like._replace(terms=terms, claims=tuple(claims))

    def terms(self, roots: Sequence[Term]) -> dict[int, Term]:
        found: dict[int, Term] = {}
        for term in topological(*roots):
            shape, arguments, options, begin = term.shape, term.arguments, term.options, self.place
            self.place = end = begin + len(shape)
            sizes = self.numbers[begin:end]
            if options and not is_name(options):
                options = self.option(options)
            if arguments:
                arguments = tuple([found[id(each)] for each in arguments])
            if arguments == term.arguments and options is term.options and sizes == [*shape.values()]:
                found[id(term)] = term
            else:
                found[id(term)] = Term(
                    term.operator, arguments, term.axes, options, dict(zip(shape, sizes)), term.boolean, term.node, term.serial
                )  # fmt: skip
        return found

    def option(self, value: Any) -> Any:
        """The value with its numbers; the same object where they are the same."""
        kind = type(value)
        if kind is int or kind is float:
            number = self.number()
            return value if number == value else number
        if kind is tuple:
            found = (*map(self.option, value),)
            return value if all(map(is_same, found, value)) else found
        if kind is not Loop:
            return value
        groups = [getattr(value, name) for name in GROUPS]
        found = self.terms([each for group in groups for each in group])
        made = [tuple([found[id(each)] for each in group]) for group in groups]
        steps = self.number()
        return value if made == groups and steps == value.steps else Loop(*made, value.axis, steps)  # type: ignore[arg-type]


def is_name(options: tuple[Any, ...]) -> bool:
    """Whether these are one name alone, as those of most inputs are."""
    return len(options) == 1 and type(options[0]) is str


def is_same(one: Any, other: Any) -> bool:
    return one is other


class Generic:
    """Types parametrised by one size; `at` instantiates them between `low` and `high`."""

    def __init__(self, like: Typed, names: Names, numbers: list[Number | str], between: tuple[Any, ...]):
        self.like, self.names, self.numbers, self.between = like, names, numbers, between
        self.low, self.high = min(names.sizes), max(names.sizes)

    def numbers_at(self, size: int) -> list[Number] | None:
        found = self.names.at(size)
        return None if found is None else [found[each] if type(each) is str else each for each in self.numbers]  # type: ignore[misc]

    def at(self, size: int) -> Typed | None:
        numbers = self.numbers_at(size)
        return None if numbers is None else Rebuilt(numbers).typed(self.like)

    def gives(self, size: int, parts: Flat) -> bool:
        """Whether the instance for a size is what was found for it."""
        return parts.between == self.between and self.numbers_at(size) == [*parts.numbers]


def generic(like: Typed, samples: dict[int, Flat]) -> Generic | None:
    """The types of which these are instances, made of the same parts; None where a number follows no law."""
    names, numbers = Names([*samples]), []
    for each in zip(*(parts.numbers for parts in samples.values())):
        found = each[0] if each.count(each[0]) == len(each) else names.of(each)
        if found is None:
            return None
        numbers.append(found)
    return Generic(like, names, numbers, next(iter(samples.values())).between)


class KnownTypes:
    """The types of the sizes that were checked, and those of sizes between."""

    def __init__(self) -> None:
        self.waiting: dict[int, Flat] = {}
        self.known: dict[int, Generic | None] = {}  # the sizes that were checked, and what gives the same
        self.ranges: list[Generic] = []
        self.looks_further = True
        self.unread: list[tuple[int, Typed]] = []  # what was noted, until it is enough for a law

    def beyond(self, size: int) -> int | None:
        """A size far beyond, whose types tell those of this one; None where none would."""
        self.read()
        ends = [end for each in self.ranges for end in (each.low, each.high)]
        if not ends or not self.looks_further or min(ends) <= size <= max(ends) or size < 2:
            return None
        return size * FAR if size > max(ends) else max(2, size // FAR)

    @property
    def nbytes(self) -> int:
        return BYTES * sum(len(each.between) for each in [*self.waiting.values(), *self.ranges])

    def at(self, size: int) -> Typed | None:
        self.read()
        found = next((each for each in self.ranges if each.low <= size <= each.high), None)
        return None if found is None else found.at(size)

    def note(self, size: int, typed: Typed) -> None:
        """Learn of a size that was checked, before the next is asked for."""
        self.unread.append((size, typed._replace(checker=None)))

    def read(self) -> None:
        """Learn of the sizes that were noted, once they are as many as a law needs."""
        if len(self.known) + len(self.unread) >= SAMPLES:
            unread, self.unread = self.unread, []
            for each in unread:
                self.learn(*each)

    def learn(self, size: int, typed: Typed) -> None:
        parts = flat(typed) if len(self.known) < KNOWN else None
        if parts is None:
            return
        self.known[size] = None
        for each in self.ranges:
            low, high = min(each.low, size), max(each.high, size)
            if each.gives(size, parts) and self.is_whole(each, low, high, ()):
                each.low, each.high, self.known[size] = low, high, each
                return
        self.waiting[size] = parts
        alike = sorted(
            (n for n, each in self.waiting.items() if each.between == parts.between), key=lambda n: abs(n - size)
        )
        samples = {n: self.waiting[n] for n in alike[:SAMPLES]}
        found = generic(typed, samples) if len(samples) == SAMPLES else None
        if found is not None and self.is_whole(None, found.low, found.high, samples):
            self.ranges.append(found)
            self.known |= dict.fromkeys(samples, found)
            self.waiting = {n: each for n, each in self.waiting.items() if n not in samples}
        for n in alike[2 * SAMPLES :]:
            self.waiting.pop(n, None)

    def is_whole(self, found: Generic | None, low: int, high: int, samples: Collection[int]) -> bool:
        """Whether no size between was found to be otherwise."""
        return all(each is found and (each or n in samples) for n, each in self.known.items() if low < n < high)
