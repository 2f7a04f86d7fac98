"""Type families with an unknown number of members, such as h^t for t = 1, …, n, by induction.

The first member is typed directly. In the induction step, the index is a counter that represents every later number,
and the members in the body are assumed to have the first member's type. If the new member also has this type, then all
members do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.nodes import Range

from ..core.extents import Extent, Size, SizeSymbol, extent, is_size, proves_at_most, terms_of
from ..core.size_conditions import assume_at_most, counting, is_assuming, least, retract_after, substitute_sizes
from ..core.sizes import resolve, unify
from ..scope.names import Key
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import AlreadyReportedError, Inference
from ..terms.terms import Term, resolve_shape
from . import stacked_families
from .counting import UnrollableError, find_bound
from .declarations import unknown_bound
from .open_labels import size_of_label, with_label

MAX_FIRST_MEMBERS = 3  # The maximum number of first members that are typed one by one until their types stay the same.
Numbers = tuple[Size, ...]


class MemberRange(NamedTuple):
    """The first and last index of the requested members, which lie along an axis."""

    first: Size
    last: Size
    axis: str


def open_indices(
    checker: Inference, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
) -> list[Size | MemberRange] | None:
    """Return the indices of a member if an index, or an end of the member's family, is an unknown size.

    Return None if all indices and ends are numbers, if an index has no value, or if the program is evaluated.
    """
    over = family.range
    if over is None or not (checker.infer_parameters and is_assuming()):
        return None
    asked: list[Size | MemberRange] = []
    for range_ in over.each:
        result = index_of(checker, indices.get(range_.variable.text), env)
        if result is None:
            return None
        asked.append(result)
    sizes = [
        size for requested in asked for size in (requested[:2] if isinstance(requested, MemberRange) else (requested,))
    ]
    numbers = tuple(requested.first if isinstance(requested, MemberRange) else requested for requested in asked)
    sizes += [end for at in range(len(numbers)) for end in ends(checker, over, at, numbers, holder)]
    return asked if any(type(size) is Extent for size in sizes) else None


def index_of(checker: Inference, text: Any, env: Environment) -> Size | MemberRange | None:
    binding, _, offset = find_bound(checker, text, env)
    if not isinstance(binding, stacked_families.StackedIndex):
        return size_of_label(checker, text, env)
    size, first = resolve(binding.size), binding.first + offset
    if not is_size(size):
        raise UnrollableError
    return MemberRange(first, first + size - 1, binding.axis)


def ends(checker: Inference, over: Range, at: int, numbers: Numbers, holder: Environment) -> tuple[Size, Size]:
    """Return the first and last number of the range at position `at`, given the numbers of the earlier ranges."""
    range_ = over.each[at]
    indices = {before.variable.text: number for before, number in zip(over.each[:at], numbers)}
    inner = Environment(parent=holder, sizes_parent=holder, indices=indices)
    low, high = (checker.solver.number(end, inner) for end in (range_.low, range_.high))
    if not is_size(low) or not is_size(high):
        raise unknown_bound(checker, range_, inner)
    return low, high


def open_member(
    checker: Inference,
    family: Definition,
    indices: dict[Any, Any],
    asked: list[Size | MemberRange],
    holder: Environment,
) -> Term | None:
    """Return a term with the type of a member of a family with an unknown end.

    If an index is a range, the term has the type of the members along axes. Return None if the family does not contain
    the member.
    """
    over = family.range
    assert over is not None
    others = {name: index for name, index in indices.items() if name not in over.variables}
    cache_key = id(family), id(holder), tuple(sorted(others.items()))
    induction = holder.inductions.setdefault(cache_key, Induction(checker, family, over, others, holder))
    at = next((at for at, requested in enumerate(asked) if isinstance(requested, MemberRange)), None)
    if at is not None:
        return induction.along(asked, at)
    numbers = tuple(asked)
    return induction.one(numbers) if all(induction.has(numbers, at) for at in range(len(numbers))) else None


class MissingStartError(Exception):
    """Raised for a member that cannot be the start of an induction.

    Either the member depends on itself or on too many other members, or later members have a different type.
    """


@dataclass(eq=False)
class Induction:
    """A proof by induction that all members of a family have one type, for fixed values of its other indices."""

    checker: Inference
    family: Definition
    over: Range
    others: dict[str, Any]
    holder: Environment
    type: Term | None = None  # The type of the member whose indices are the counters.
    assumed: Term | None = None  # The assumed member while that member is typed.
    is_read: bool = False  # Whether the body uses the assumed member.
    problem: Exception | None = None
    begun: dict[Numbers, Term | None] = field(default_factory=dict[Numbers, "Term | None"])  # Members typed one by one.

    @property
    def counters(self) -> list[SizeSymbol]:
        return [SizeSymbol(range_.variable.text, "") for range_ in self.over.each]

    def named(self, numbers: Numbers) -> dict[str, Any]:
        """Return a mapping from variables to indices, given the member's number in each range."""
        return {**self.others, **{range_.variable.text: number for range_, number in zip(self.over.each, numbers)}}

    def ends(self, at: int, numbers: Numbers) -> tuple[Size, Size]:
        return ends(self.checker, self.over, at, numbers, self.holder)

    # ------------------------------------------------------------------------------------------- which members there are
    def has(self, numbers: Numbers, at: int) -> bool:
        """Return whether the number at position `at` is in its range.

        A counter may exceed the range if other equations define the members outside the range.
        """
        number, (low, high) = numbers[at], self.ends(at, numbers)
        if proves_at_most(number + 1, low) or proves_at_most(high + 1, number):
            return False
        gaps = [low - back for back in beyond(number - low)] + [high + ahead for ahead in beyond(high - number)]
        if gaps:
            return all(self.given((*numbers[:at], gap, *numbers[at + 1 :])) is not None for gap in gaps)
        return assume_at_most(low, number) and assume_at_most(number, high)

    def given(self, numbers: Numbers) -> Term | None:
        """Return the member with these numbers, from any equation, or None if the member is undefined."""
        return self.checker.find(self.family.name.key(self.named(numbers).get), self.holder, self.family.head)

    # ------------------------------------------------------------------------------------------------------ their types
    def along(self, asked: list[Any], at: int) -> Term | None:
        """Return the members along an axis, or None if a member is undefined.

        Raise an error if the first and the last member have different types.
        """
        first, last, axis = asked[at]
        sides: list[Term] = []
        for number in (first, last):
            numbers = [*asked[:at], number, *asked[at + 1 :]]
            is_last = not any(isinstance(entry, MemberRange) for entry in numbers)
            side = self.given(tuple(numbers)) if is_last else self.along(numbers, at + 1)
            if side is None:
                return None
            sides.append(side)
        if not is_alike(*sides):
            raise unknown_bound(self.checker, self.over.each[at], self.holder)
        return self.checker.unknown_member(self.family, {**sides[1].shape, axis: last - first + 1}, sides[1].boolean)

    def one(self, numbers: Numbers) -> Term:
        """Return a term with the type of the member with these numbers."""
        if self.type is None and self.assumed is None and self.something_begins:
            try:
                with retract_after(MissingStartError):
                    return self.member(numbers)
            except MissingStartError:
                if self.is_beginning:
                    raise
        result, values = self.whole(), dict(zip(self.counters, numbers))
        shape = {axis: substitute_sizes(resolve(size), values) for axis, size in result.shape.items()}
        return self.checker.unknown_member(self.family, shape, result.boolean)

    @property
    def is_beginning(self) -> bool:
        """Whether the first members of the family are being typed one by one."""
        return self.assumed is None and None in self.begun.values()

    @property
    def something_begins(self) -> bool:
        return any(induction.is_beginning for induction in self.holder.inductions.values())

    def member(self, numbers: Numbers) -> Term:
        """Return the member with these numbers by typing its equation.

        Raise MissingStartError if it depends on itself or on too many other members.
        """
        result = self.begun.get(numbers)
        if result is not None:
            return result
        if numbers in self.begun or len(self.begun) > MAX_FIRST_MEMBERS ** len(self.counters):
            raise MissingStartError
        self.begun[numbers] = None
        try:
            result = self.begun[numbers] = self.infer(numbers)
            return result
        finally:
            if result is None:
                del self.begun[numbers]

    def infer(self, numbers: Numbers) -> Term:
        checker, holder = self.checker, self.holder
        checker.spend(self.over)
        inner = holder.within(definition=self.family, indices=self.named(numbers))
        return checker.infer_member(self.family, inner)

    def whole(self) -> Term:
        """Return a member with unknown indices. During the proof of its type, return the assumed member."""
        if self.type is None and self.assumed is not None:
            self.is_read = True
            return self.assumed
        if self.problem is not None:
            raise AlreadyReportedError if self.checker.recover else self.problem
        if self.type is None:
            try:
                self.type = self.typed()
            except (NotationError, AlreadyReportedError) as problem:
                self.problem = problem
                raise
            key = self.family.name.key(self.named(tuple(map(extent, self.counters))).get)
            self.checker.types.setdefault(str(key), resolve_shape(self.type.shape))
        return self.type

    def typed(self) -> Term:
        inductions = self.holder.inductions
        known = {name for name, induction in inductions.items() if induction.type is not None}
        for step, sides in product(range(MAX_FIRST_MEMBERS), product((False, True), repeat=len(self.counters))):
            try:
                with retract_after(MissingStartError):
                    return self.from_start(step, sides)
            except MissingStartError:
                for induction in (induction for name, induction in inductions.items() if name not in known):
                    induction.type = None  # Drop the type that followed from the assumption.
        if self.something_begins:
            raise MissingStartError
        raise unknown_bound(self.checker, self.over.each[-1], self.holder)

    def from_start(self, step: int, sides: tuple[bool, ...]) -> Term:
        """Prove that all members have the type of the first member, and return the member with unknown indices.

        Raise MissingStartError if the types differ. In each range, the first typed member is `step` members from
        one end. If the range's entry in `sides` is true, this is the end that comes last in the source.
        """
        no_counters, *places = product((True, False), repeat=len(sides))
        first = result = self.member(self.numbers(step, sides, no_counters)[0])
        self.assumed, self.is_read = first, False
        try:
            for is_fixed in places:
                numbers, ranges = self.numbers(step, sides, is_fixed)
                with counting(ranges):
                    result = self.infer(numbers)
                    if self.is_read and not is_alike(result, first):
                        raise MissingStartError
        finally:
            self.assumed = None
        return result

    def numbers(
        self, step: int, sides: tuple[bool, ...], is_fixed: tuple[bool, ...]
    ) -> tuple[Numbers, dict[SizeSymbol, tuple[Size, Size]]]:
        """Return one index per range and the limits of the counters.

        The index of a fixed range is the number of its first typed member. The index of any other range is a counter.
        """
        numbers: Numbers = ()
        ranges: dict[SizeSymbol, tuple[Size, Size]] = {}
        for at, (range_, counter) in enumerate(zip(self.over.each, self.counters)):
            low, high = self.ends(at, numbers)
            is_from_high = range_.downward != sides[at]
            if is_fixed[at]:
                ranges = not_empty(ranges, low, high - step)
                numbers += (high - step if is_from_high else low + step,)
                continue
            low, high = (low, high - step - 1) if is_from_high else (low + step + 1, high)
            if not proves_at_most(0, low):
                raise unknown_bound(self.checker, range_, self.holder)
            ranges = {**not_empty(ranges, low, high), counter: (low, high)}
            numbers += (extent(counter),)
        return numbers, ranges


def not_empty(
    ranges: dict[SizeSymbol, tuple[Size, Size]], low: Size, high: Size
) -> dict[SizeSymbol, tuple[Size, Size]]:
    """Restrict the counters so that the range from `low` to `high` is not empty, and return their limits.

    For j = i+1, …, n, the restriction is i ≤ n-1.
    """
    result = dict(ranges)
    for counter, (first, last) in ranges.items():
        linear, number = terms_of(high - low).get((counter,), 0), extent(counter)
        if linear == -1 and proves_at_most(end := high - low + number, last):
            result[counter] = first, end
        elif linear == 1 and proves_at_most(first, end := low - high + number):
            result[counter] = end, last
    return result


def find_labeled_member(checker: Inference, key: Key, node: Any) -> Term | None:
    """Return a member with an unknown label, such as W^{n} or W^{l-1}, if the values W^1, W^2, … have one type.

    Return None if their types differ, or if the name does not have exactly one unknown label.
    """
    if not (checker.infer_parameters and is_assuming()):
        return None
    labels = {text: size_of_label(checker, text) for text in (*key.superscript, *key.subscript)}
    sizes = [(text, size) for text, size in labels.items() if type(size) is Extent]
    if len(sizes) != 1:
        return None
    ((label, size),) = sizes
    terms: list[Term] = []
    while (
        member := with_label(key, label, str(len(terms) + 1))
    ) in checker.top.variables or member in checker.scope.definitions:
        term = checker.find(member, checker.top, node)
        if term is None or not all(is_alike(term, other) for other in terms[:1]):
            return None
        terms.append(term)
    if not terms or not assume_at_most(1, size) or not assume_at_most(size, len(terms)):
        return None
    return terms[0]


def beyond(slack: Size) -> range:
    """Return the possible distances of a number beyond the end of a range.

    `slack` is the symbolic distance from the number to the end. It is negative if the number is beyond the end.
    """
    result = least(slack)
    return range(1, 1 - result) if type(result) is int and -MAX_FIRST_MEMBERS <= result < 0 else range(0)


def is_alike(term: Term, other: Term) -> bool:
    """Return whether two terms have the same type, regardless of the values of unknown range ends."""
    pairs = [(resolve(size), resolve(other.shape.get(axis))) for axis, size in term.shape.items()]
    if term.shape.keys() != other.shape.keys():
        return False
    return all(one == two if is_size(one) and is_size(two) else unify(one, two) for one, two in pairs)
