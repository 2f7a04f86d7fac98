"""Collect conditions on symbolic sizes. A plan assumes these conditions, and its function checks them at run time.

During planning, `conditions` collects the assumptions. A plan for a call has example sizes. They determine whether it
assumes a condition or its negation. A check without a call has no example sizes, so it assumes the conditions that make
the formula valid.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from operator import eq, gt, le, ne
from typing import Any, NamedTuple

from .extents import (
    Extent,
    Quotient,
    Size,
    SizeSymbol,
    UndecidedSizeError,
    bounds,
    exact_quotient,
    extent,
    format_size,
    largest,
    normal,
    proves_at_most,
    symbols_of,
    terms_of,
    typical,
    upper_bound,
    value_at,
)  # fmt: skip


class SizeCondition(NamedTuple):
    """A condition that a plan assumes: a relation between the sizes `left` and `right`, such as equality."""

    left: Size
    relation: str  # A key of RELATIONS.
    right: Size

    def holds(self, sizes: Mapping[SizeSymbol, int]) -> bool:
        """Return whether the condition holds for the given axis sizes."""
        return RELATIONS[self.relation](value_at(self.left, sizes), value_at(self.right, sizes))

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    @property
    def shown(self) -> str:
        return f"{format_size(self.left)} {SIGNS[self.relation]} {format_size(self.right)}"


RELATIONS: dict[str, Callable[[int, int], bool]] = {"==": eq, "!=": ne, "<=": le, ">": gt}
NEGATED = {"==": "!=", "<=": ">"}
SIGNS = {"==": "=", "!=": "≠", "<=": "≤", ">": ">"}


class SizeConditions(NamedTuple):
    """The conditions of a plan under construction.

    If `by_example` is true, example sizes decide each condition. Otherwise, conditions are assumed to hold.
    """

    found: dict[SizeCondition, None]
    by_example: bool
    solved: dict[SizeSymbol, Size]  # Maps a symbol to its solution.
    parts: dict[SizeSymbol, Size]  # Maps a symbol for one of several equal parts of an axis to the quotient.
    counters: dict[SizeSymbol, tuple[Size, Size]]  # Maps a counter to its first and last values.

    @property
    def taken_to_hold(self) -> tuple[SizeCondition, ...]:
        """All assumptions in normal form. A symbol that an equation determines is replaced by its solution."""
        equal = [SizeCondition(extent(symbol), "==", size) for symbol, size in self.solved.items()]
        sides = (
            (substitute_sizes(condition.right - condition.left, self.solved), condition.relation)
            for condition in self.found
        )
        rest: list[SizeCondition] = []
        for difference, relation in sides:
            left, right = to_comparison(difference)
            if not (relation == "<=" and proves_at_most(left, right)):
                rest.append(SizeCondition(left, relation, right))
        return tuple(dict.fromkeys([*equal, *rest]))


_CONDITIONS: ContextVar[SizeConditions | None] = ContextVar("conditions of a symbolic plan", default=None)


@contextmanager
def conditions(by_example: bool = False) -> Generator[SizeConditions]:
    """Collect the assumptions about sizes inside a `with` block."""
    collected = SizeConditions({}, by_example, {}, {}, {})
    token = _CONDITIONS.set(collected)
    try:
        yield collected
    finally:
        _CONDITIONS.reset(token)


@contextmanager
def counting(counters: Mapping[SizeSymbol, tuple[Size, Size]]) -> Generator[None]:
    """Treat each symbol inside the block as a counter that takes every value in its range.

    Assumptions must hold for all of these values.
    """
    collected = _CONDITIONS.get()
    assert collected is not None
    before = dict(collected.counters)
    collected.counters.update(counters)
    try:
        yield
    finally:
        collected.counters.clear()
        collected.counters.update(before)


@contextmanager
def retract_after(failure: type[Exception]) -> Generator[None]:
    """Discard the assumptions of the block if it raises the given exception."""
    collected = _CONDITIONS.get()
    assert collected is not None
    tables = collected.found, collected.solved, collected.parts
    saved = [dict(table) for table in tables]
    try:
        yield
    except failure:
        for current, before in zip(tables, saved):
            current.clear()
            current.update(before)  # type: ignore[arg-type]
        raise


def is_assuming() -> bool:
    """Return whether conditions on sizes are assumed to hold because no example sizes decide them."""
    collected = _CONDITIONS.get()
    return collected is not None and not collected.by_example


def is_by_example() -> bool:
    """Return whether the plan may depend on a condition that affects only speed.

    A plan for example sizes may depend on the condition, because other sizes have separate plans.
    """
    collected = _CONDITIONS.get()
    return collected is None or collected.by_example


def assume(condition: SizeCondition) -> bool:
    """Assume a condition or its negation, add the assumption to the plan, and return whether the condition is assumed.

    Raise UndecidedSizeError outside a `conditions` block.
    """
    collected = _CONDITIONS.get()
    if collected is None:
        raise UndecidedSizeError(next(size for size in (condition.left, condition.right) if isinstance(size, Extent)))
    left, relation, right = condition
    is_assumed = not collected.by_example or RELATIONS[relation](typical(left), typical(right))
    is_solved = is_assumed and relation == "==" and solve(collected.solved, left - right)
    if collected.by_example or not is_solved:  # The function checks a solved symbol when it reads the sizes.
        collected.found[condition if is_assumed else SizeCondition(left, NEGATED[relation], right)] = None
    return is_assumed


def solve(solved: dict[SizeSymbol, Size], difference: Size) -> bool:
    """Solve `difference` = 0 for one symbol and record the solution. Return whether the equation can be solved."""
    for monomial, count in terms_of(difference).items():
        if len(monomial) == 1 and abs(count) == 1 and isinstance(symbol := monomial[0], SizeSymbol):
            rest = normal({other: -count * times for other, times in terms_of(difference).items() if other != monomial})
            if symbol not in symbols_of(rest):
                for other, size in solved.items():
                    solved[other] = substitute_sizes(size, {symbol: rest})
                solved[symbol] = rest
                return True
    return False


def substitute_sizes(size: Size, values: Mapping[SizeSymbol, Size]) -> Size:
    """Return a size with some symbols replaced by other sizes."""
    if type(size) is int or not values or values.keys().isdisjoint(symbols_of(size)):
        return size
    total: Any = 0
    for monomial, count in terms_of(size).items():
        product: Any = count
        for atom in monomial:
            if isinstance(atom, SizeSymbol):
                product = product * values.get(atom, extent(atom))
            else:
                left, right = substitute_sizes(atom.left, values), substitute_sizes(atom.right, values)
                product = product * (left // right if isinstance(atom, Quotient) else largest(left, right))
        total = total + product
    return total


def canonical(size: Extent) -> Size:
    """Replace the solved symbols of a size. Return the size unchanged if no plan is under construction."""
    collected = _CONDITIONS.get()
    return size if collected is None or not collected.solved else substitute_sizes(size, collected.solved)


def assume_equal(left: Size, right: Size) -> bool:
    """Return whether two sizes are equal.

    If the forms of the sizes do not decide this, make an assumption, which the plan's function checks at run time.
    """
    left, right = (canonical(size) if type(size) is Extent else size for size in (left, right))
    difference = left - right
    if type(difference) is int:
        return difference == 0
    low, high = bounds(difference)
    if (low is not None and low > 0) or (high is not None and high < 0) or counters_in(difference):
        return False
    return assume(SizeCondition(left, "==", right))


def assume_at_most(left: Size, right: Size) -> bool:
    """Return whether `left` is at most `right`.

    If the bounds of the sizes do not decide this, make an assumption, which the plan's function checks at run time.
    """
    if counters_in(right - left):
        left, right = to_comparison(least(right - left))
    low, high = bounds(right - left)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    return assume(SizeCondition(left, "<=", right))


def counters_in(size: Size) -> list[tuple[SizeSymbol, tuple[Size, Size]]]:
    """Return the counters in a size, with their ranges. A range depends only on earlier counters."""
    collected = _CONDITIONS.get()
    known = {} if collected is None else collected.counters
    return [(symbol, ends) for symbol, ends in known.items() if symbol in symbols_of(size)] if known else []


def least(size: Size) -> Size:
    """Return the smallest value of a size over the ranges of its counters.

    Raise UndecidedSizeError if the size is not linear in a counter.
    """
    while counted := counters_in(size):
        counter, ends = counted[-1]
        linear = terms_of(size).get((counter,), 0)
        rest = size - linear * extent(counter)
        if counter in symbols_of(rest):
            raise UndecidedSizeError(size)
        size = rest + linear * ends[0 if linear > 0 else 1]
    return size


def to_comparison(difference: Size) -> tuple[Size, Size]:
    """Split a difference into two sizes without negative terms. The second size minus the first is `difference`."""
    left = normal({monomial: -count for monomial, count in terms_of(difference).items() if count < 0})
    return left, difference + left


def counter_named(name: str) -> Size | None:
    """Return the counter with this name as a size, or None if there is no such counter."""
    collected = _CONDITIONS.get()
    known = () if collected is None else collected.counters
    return next((extent(symbol) for symbol in known if symbol.name == name), None)


def assume_divides(part: Size, whole: Size) -> bool:
    """Return whether `whole` is a multiple of `part`.

    If the forms of the sizes do not decide this, `whole` must be an axis size, and `part` must be a number. The result
    is then an assumption, which the plan's function checks. If the result is True, `part` times a new symbol replaces
    the axis size, so that merging the parts yields exactly the original size.
    """
    part, whole = (canonical(size) if type(size) is Extent else size for size in (part, whole))
    if type(whole) is int and type(part) is int:
        return part != 0 and whole % part == 0
    if part != 0 and exact_quotient(whole, part) is not None:
        return True
    collected, (symbol, *more) = _CONDITIONS.get(), (*symbols_of((whole, part)),)
    if collected is None or more or type(part) is not int or whole != extent(symbol):
        raise UndecidedSizeError(whole if isinstance(whole, Extent) else part)  # type: ignore[arg-type]
    divides = not collected.by_example or symbol.example % part == 0
    if collected.by_example:
        collected.found[SizeCondition(whole % part, "==" if divides else "!=", 0)] = None
    if divides:
        one = SizeSymbol(f"{symbol.name}_by_{part}", symbol.axis, max(1, symbol.example // part), symbol.part * part)
        collected.parts[one] = whole // part
        solve(collected.solved, extent(symbol) - part * extent(one))
    return divides


def limit_size(size: Size, limit: int) -> None:
    """Add the limit on a size to the plan's conditions.

    Do this only if the plan is made for example sizes and the size may exceed the limit.
    """
    collected = _CONDITIONS.get()
    if collected is not None and collected.by_example and upper_bound(size) > limit:
        collected.found[SizeCondition(size, "<=", limit)] = None
