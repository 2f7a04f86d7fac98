"""The results of testing assertions on random tensors: proved, holds in N random tests, or false."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grammar.errors import NotationError, Span
from grammar.plain_text import encodable

PROVED, HOLDS, FALSE, CONDITION, UNTRIED = "proved", "not disproved", "disproved", "condition", "not tested"
UNSPECIFIED = "const"  # In A ⊙_{𝒮} ∂X + const, the name means any term that does not vary.


@dataclass(frozen=True)
class Draws:
    """The settings of random tests: the number of tests for each assertion, and the seed."""

    number: int = 8
    seed: int = 0


class Tried(NamedTuple):
    """The result for an assertion: its status, with a counterexample or the reason why it was not tested."""

    span: Span
    status: str
    draws: int = 0
    said: str = ""
    drawn: Mapping[str, Any] = {}
    supposed: Mapping[str, str] = {}  # assumed types of undeclared names
    problem: NotationError | None = None  # the type error of an assertion that is invalid for all values
    step: Span | None = None  # for a disproved derivation: the first side that differs from the sides before it

    def error(self, source: str) -> NotationError:
        """Return the error for a false assertion, which states the counterexample."""
        notes = [f"with {name} = {_format_value(value)}" for name, value in self.drawn.items()]
        return NotationError(
            403,
            self.said,
            source,
            self.step or self.span,
            notes,
            "state assumptions the equation relies on, such as T = onehot_{vocab} t",
        )

    @encodable
    def __str__(self) -> str:
        """Describe the verdict.

        >>> print(Tried((0, 1), HOLDS, 8))
        holds on 8 random tests
        """
        words = {
            PROVED: f"{PROVED} wherever both sides are defined: {self.said}" if self.said else PROVED,
            HOLDS: f"holds on {self.draws} random test{'s' * (self.draws != 1)}" if self.draws else "holds",
            FALSE: f"disproved: {self.said}",
            CONDITION: self.said or "taken as a condition on what is given",
            UNTRIED: f"not tested: {self.said}",
        }
        where = f", where {_list_meanings(self.supposed)}" if self.supposed else ""
        return words.get(self.status, self.status) + where


def _list_meanings(meanings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {'' if meaning[0] == '∈' else 'is '}{meaning}" for name, meaning in meanings.items())


def _format_value(value: Any) -> str:
    """Return a random tensor as text. For a large tensor, only the shape is given."""
    from ..core.tensor import NamedTensor

    if not isinstance(value, NamedTensor):
        return f"{value:.4g}"
    if math.prod(value.sizes.values()) > SAID:
        return f"a tensor of {value.shape}"
    return f"{value.tolist(value.axes)} over {', '.join(value.axes)}"


SAID = 24  # elements of a tensor that are printed


def doubt(failure: str, assumptions: Mapping[str, str], undeclared: Collection[str]) -> NotationError:
    """Return the warning that an assertion is false for the types that were assumed for undeclared names."""
    names = ", ".join(undeclared)
    hint = f"declare {names}, if the types differ" if undeclared else "state what they are, if they differ"
    return NotationError(403, f"{failure}, where {_list_meanings(assumptions)}", hint=hint)
