"""Track a simplification: the number of times each rewrite rule was applied, and the remaining budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .facts import NO_FACTS, KnownFacts
from .forms import Form, FormHead, FormIndex, head, intern_heads, single

MAX_WORK_OPERATIONS = 200_000  # An operation is a rewrite or a step of a search.


class TooLongError(Exception):
    """Raised if a simplification needs more operations than its limit."""


class Budget:
    """The number of operations that remain for one request, which may involve several simplifications."""

    def __init__(self, limit: int):
        self.limit, self.spent = limit, 0
        self.cut = False  # Whether work was left out.

    def spend(self, amount: int) -> None:
        self.spent += amount
        if self.spent > self.limit:
            raise TooLongError(f"this takes more than {self.limit} rewrites")

    @contextmanager
    def part(self) -> Iterator[None]:
        """Allow optional work inside the block.

        The block may use half of the remaining budget. If it uses this half up, it ends without an exception.
        """
        limit = self.limit
        self.limit = half = self.spent + max(0, limit - self.spent) // 2
        try:
            yield
        except TooLongError:
            self.spent, self.cut = min(self.spent, half), True
        finally:
            self.limit = limit


class Work:
    """The state of a simplification: its budget, its assumptions, and the number of applications of each rule.

    If `proving` is true, every applied rule is valid whenever both sides have a value. Definitions then replace
    operators, and every bracket is multiplied out. `positive` contains the heads that must be nonnegative for both
    sides to have a value.
    """

    def __init__(self, proving: bool = False, limit: int = MAX_WORK_OPERATIONS, budget: Budget | None = None):
        self.proving, self.budget = proving, budget or Budget(limit)
        self.positive: frozenset[FormHead] = frozenset()
        self.rules: Counter[str] = Counter()
        self.made: dict[str, Any] = {}  # The sizes of result axes, by name.
        self.numbered: dict[str, Any] = {}  # Numeric sizes of summed axes, by name.
        self.facts: KnownFacts = NO_FACTS

    def spend(self, amount: int = 1) -> None:
        self.budget.spend(amount)


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)
_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


def current() -> Work:
    return _WORK.get() or Work()


def count_rule(rule: str) -> None:
    """Count one application of a rewrite rule."""
    work = _WORK.get()
    if work is not None:
        work.rules[rule] += 1


def tensor(name: str, axes: tuple[str, ...], indices: tuple[FormIndex, ...]) -> Form:
    """Return a tensor as a form, given its name, axes and indices.

    The form has the symmetries that assumptions state.
    """
    symmetries, fact = current().facts.symmetries.get((name, axes), ((), ""))
    if not symmetries:
        return single(head("tensor", name, axes), *indices)
    count_rule(fact)
    return single(head("tensor", name, axes, key=(axes, symmetries), symmetries=symmetries), *indices)


@contextmanager
def open_budget(limit: int = MAX_WORK_OPERATIONS) -> Iterator[None]:
    """Limit all simplifications inside the block to one budget. If a budget is already open, use it."""
    if _BUDGET.get() is not None:
        yield
        return
    token = _BUDGET.set(Budget(limit))
    try:
        with intern_heads():
            yield
    finally:
        _BUDGET.reset(token)


@contextmanager
def working(proving: bool = False, limit: int = MAX_WORK_OPERATIONS) -> Iterator[Work]:
    """Apply the rules for closed forms inside the block or, if `proving` is true, the rules for proofs."""
    work = Work(proving, limit, _BUDGET.get())
    token = _WORK.set(work)
    try:
        with intern_heads():
            yield work
    finally:
        _WORK.reset(token)
