"""Represent recurrences: the existing members of a family, and the states of a loop while its body is typed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import Any

from ..scope.names import Key, match_key
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .counting import UnrollableError


@dataclass(eq=False)
class RecurrenceState:
    """A family in an environment, with fixed values for its other indices.

    While a loop is being typed, `states[k]` is the term of the member k steps earlier, and `next` is the term of the
    new member.
    """

    family: Definition
    others: dict[str, Any]
    holder: Environment
    states: dict[int, Term] = field(default_factory=dict[int, Term])
    next: Term | None = None
    carried: bool = True  # Whether a step reads an earlier member.
    busy: bool = False

    @property
    def cache_key(self) -> tuple[Any, ...]:
        return id(self.family), id(self.holder), tuple(sorted(self.others.items()))

    @property
    def direction(self) -> int:
        """The direction of the recurrence: 1 for upward, -1 for downward."""
        return -1 if self.family.range.downward else 1  # type: ignore[union-attr]

    @property
    def variable(self) -> str:
        return self.family.range.variable.text  # type: ignore[union-attr]

    def key(self, step: int) -> Key:
        return self.family.name.key({**self.others, self.variable: step}.get)

    def range(self, checker: Inference) -> tuple[int, int]:
        over = self.family.range
        first, last = (checker.solver.number(part, self.holder) for part in (over.low, over.high))  # type: ignore[union-attr]
        if not isinstance(first, int) or not isinstance(last, int):
            raise UnrollableError
        return first, last

    @property
    def known(self) -> list[int]:
        """The steps with existing members, in ascending order."""
        return self.holder.steps.setdefault(self.cache_key, [])

    def note(self, step: int, term: Term) -> None:
        """Store the member at a step."""
        key = self.key(step)
        if key not in self.holder.memo:
            insort(self.known, step)
        self.holder.memo[key] = term

    def nearest(self, first: int, expected: int) -> int:
        """Return the last step up to `expected` that has a member, or `first` if there is none."""
        known, back = self.known, 1 if self.direction > 0 else 0
        position = bisect_right(known, expected) if back else bisect_left(known, expected)
        while 0 <= position - back < len(known) and self.key(known[position - back]) not in self.holder.memo:
            del known[position - back]  # A failed attempt recorded this step, and its member was discarded.
            position -= back
        return known[position - back] if 0 <= position - back < len(known) else first

    def at(self, checker: Inference, step: int) -> Term:
        """Return the member at a step. Raise UnrollableError if it is undefined."""
        index = checker.find(self.key(step), self.holder, self.family.head)
        if index is None:
            raise UnrollableError
        return index

    def is_given(self, checker: Inference, steps: range) -> bool:
        """Return whether one of these steps has a member that is an input or has a separate definition."""
        keys, base = (*self.holder.variables, *checker.definitions_of(self.holder)), self.family.name.base
        return any(self.step_of(key) in steps for key in keys if key.base == base)

    def step_of(self, key: Key) -> int | None:
        """Return the step of the member with this key, or None if the recurrence has no such member."""
        indices = match_key(self.family.name, key, {self.variable, *self.others}) or {}
        text = str(indices.get(self.variable))
        return int(text) if text.isdecimal() and self.key(int(text)) == key else None
