"""Represent the two indices of a grid as tensors over all its cells, so that a body is typed once for all cells."""

from __future__ import annotations

from typing import Any

from ..scope.names import Key
from ..terms.builder import TermBuilder
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .counting import UnrollableError, ahead
from .recurrences import RecurrenceState
from .stacked_families import stack_members


class Coordinate:
    """A grid index, represented as a tensor over the grid's cells. `numbers` contains the values of the index."""

    def __init__(self, make: TermBuilder, axis: str, front: Any, index: Term, numbers: range):
        self.make, self.front, self.index, self.numbers = make, front, index, numbers
        self.mark = self.axis = axis

    def member(self, checker: Inference, recurrence: RecurrenceState, offset: int) -> Term:
        """Return the members of a one-index family, at the given offset from each value of this index."""
        if any("@" in str(item) for item in recurrence.others.values()):
            raise UnrollableError
        steps = range(self.numbers.start + offset, self.numbers.stop + offset)
        if self.index.operator == "iota":
            return stack_members(checker, recurrence, steps, self.axis)
        every = stack_members(checker, recurrence, steps, f"{self.axis}@all")
        return self.make.at(every, f"{self.axis}@all", self.ahead(1 - self.numbers.start))

    def value(self, text: str, node: Any) -> Term:
        """Return the value of an index expression such as k or k + 1, for a function such as f^k(x)."""
        return self.ahead(ahead(text, self.mark))

    def ahead(self, offset: int) -> Term:
        """Return the sum of the index and an offset."""
        make = self.make
        if offset and self.index.operator == "iota":
            return make.iota(self.axis, self.numbers.start + offset, len(self.numbers))
        return make.add(self.index, make.number(offset)) if offset else self.index

    def labeled(self, key: Key, env: Environment, node: Any) -> Term:
        raise UnrollableError
