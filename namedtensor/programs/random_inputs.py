"""Random inputs for tests of equality, which are identical with and without NumPy.

Each batch contains one test per style. The styles are ordinary numbers and special numbers, such as zeros, ties, and
tiny and huge numbers.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from grammar.nodes import Call, Fact, Name, Number, Set

from .plain_values import records

Draw = Callable[["RandomNumbers"], float]


class RandomNumbers:
    """A stream of random numbers determined by a seed.

    >>> [round(RandomNumbers("0 normal").normal(), 4) for _ in range(2)] == [round(RandomNumbers("0 normal").normal(), 4)] * 2
    True
    """

    def __init__(self, seed: str):
        self.uniformly = random.Random(seed).random

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self.uniformly()

    def whole(self, low: int, high: int) -> int:
        """Return a random integer from low to high, inclusive."""
        return low + int((high - low + 1) * self.uniformly())

    def normal(self) -> float:
        """Return a random number from the normal distribution, using the Box–Muller method."""
        radius = math.sqrt(-2 * math.log(1 - self.uniformly()))
        return radius * math.cos(2 * math.pi * self.uniformly())

    def power(self, low: float, high: float) -> float:
        """Return a random number with a random sign. The logarithm of its absolute value is uniformly distributed."""
        return (1 if self.uniformly() < 0.5 else -1) * 10 ** self.uniform(low, high)


EQUAL = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)  # their sums and means are exact
STYLES: dict[str, Draw] = {
    "normal": RandomNumbers.normal,
    "whole": lambda numbers: float(numbers.whole(-4, 4)),
    "positive": lambda numbers: numbers.uniform(0.2, 3.0),
    "ties": lambda numbers: float(numbers.whole(-1, 1)),
    "equal": lambda numbers: EQUAL[numbers.whole(0, len(EQUAL) - 1)],  # one for all inputs
    "negative": lambda numbers: -numbers.uniform(0.2, 3.0),
    "tiny": lambda numbers: numbers.power(-12, -7),
    "huge": lambda numbers: numbers.power(1, 6),
}
FURTHER_STYLES: dict[str, Draw] = {  # Two are in files released before, and two suit functions of an interval.
    "large": lambda numbers: 6 * numbers.normal(),
    "small": lambda numbers: 0.01 * numbers.normal(),
    "fraction": lambda numbers: numbers.uniform(0.05, 0.95),
    "above one": lambda numbers: numbers.uniform(1.5, 4),
}
ORDINARY = ("normal", "positive", "negative")  # if only one side has a value, the sides differ
OVERFLOWING = ("large", "huge")  # terms may overflow
EXTREME = (*OVERFLOWING, "tiny")  # one of two equal values may be out of range
SPECIAL = ("ties", "equal", "tiny", "huge")


class NumberDomain(NamedTuple):
    """A set of numbers that contains an input's elements, with numeric bounds."""

    kind: str = "reals"
    bounds: tuple[float, ...] = ()

    def __contains__(self, number: Any) -> bool:
        if self.kind in ("integers", "naturals", "count") and number != int(number):
            return False
        match self.kind:
            case "naturals":
                return number >= 0
            case "above" | "from" | "below" | "to":
                return SIDES[self.kind](number, self.bounds[0])
            case "interval":
                return self.bounds[0] <= number <= self.bounds[1]
            case "count":
                return 1 <= number <= self.bounds[0]
            case "elements":
                return number in self.bounds
        return True


SIDES = {"above": operator.gt, "from": operator.ge, "below": operator.lt, "to": operator.le}
REALS = NumberDomain()
HALF_LINES = {"positive": NumberDomain("above", (0.0,)), "nonnegative": NumberDomain("from", (0.0,))}


def number_in(node: Any) -> float | None:
    """Return the bound of a set as a number, or None if the bound is not a literal number."""
    return float(node.value) if isinstance(node, Number) else None


def domain_of(of: Set | None, bound: Callable[[Any], float | None] = number_in, unknown: int = 3) -> NumberDomain:
    """Return the domain of a declared set. If its bounds are unknown, return [`unknown`] for a set [n], or else ℝ."""
    if of is None:
        return REALS
    if of.domain in HALF_LINES:
        return HALF_LINES[of.domain]
    bounds = [bound(element) for element in of.elements]
    known = tuple(float(number) for number in bounds if number is not None)
    if len(known) != len(bounds) or (of.domain in ("elements", "count", "interval") and not known):
        return NumberDomain("count", (float(unknown),)) if of.domain == "count" else REALS
    return NumberDomain(of.domain, known)


def find_stated_domains(statements: Iterable[Any]) -> dict[str, NumberDomain]:
    """Return the domain of each name that an assumption compares with a number, as x > 0 and 1 ≥ x do."""
    result: dict[str, NumberDomain] = {}
    for statement in statements:
        condition = statement.condition if isinstance(statement, Fact) else None
        if isinstance(condition, Call) and condition.operator in STATED:
            left, right = condition.arguments
            side, turned = STATED[condition.operator]
            if isinstance(left, Number):
                left, right, side = right, left, turned
            if isinstance(left, Name) and isinstance(right, Number):
                result[left.text] = NumberDomain(side, (float(right.value),))
    return result


STATED = {">": ("above", "below"), "≥": ("from", "to"), "<": ("below", "above"), "≤": ("to", "from")}


class RandomInputs:
    """The elements of the inputs of one random test, sampled one input at a time."""

    def __init__(self, seed: Any, style: str):
        self.style = style
        self.numbers = RandomNumbers(f"{seed} {style}")
        self.draw = STYLES[style] if style in STYLES else FURTHER_STYLES[style]
        if style == "equal":
            number = self.draw(self.numbers)
            self.draw = lambda numbers: number

    def elements(self, extent: Sequence[int], domain: NumberDomain = REALS) -> tuple[float, ...]:
        """Return the elements of one input, with the last axis varying fastest.

        >>> RandomInputs(0, "ties").elements((2, 2))[:3]
        (0.0, 0.0, 0.0)
        """
        number = SPECIAL_NUMBERS if self.style in SPECIAL else NUMBERS
        result = tuple(number[domain.kind](self, domain.bounds) for _ in records(extent))
        if self.style != "ties" or 0.0 not in domain:
            return result
        near_start = (sum(record) <= 1 for record in records(extent))  # a zero, and one beside it along each axis
        return tuple(0.0 if is_zero else number for number, is_zero in zip(result, near_start))

    def ordinary(self) -> float:
        return self.draw(self.numbers)


Numbers = Callable[[RandomInputs, Sequence[float]], float]
NUMBERS: dict[str, Numbers] = {
    "reals": lambda inputs, bounds: inputs.ordinary(),
    "field": lambda inputs, bounds: inputs.ordinary(),
    "integers": lambda inputs, bounds: float(inputs.numbers.whole(-4, 4)),
    "naturals": lambda inputs, bounds: float(inputs.numbers.whole(0, 8)),
    "above": lambda inputs, bounds: bounds[0] + abs(inputs.ordinary()) + 0.01,
    "from": lambda inputs, bounds: bounds[0] + abs(inputs.ordinary()),
    "below": lambda inputs, bounds: bounds[0] - abs(inputs.ordinary()) - 0.01,
    "to": lambda inputs, bounds: bounds[0] - abs(inputs.ordinary()),
    "interval": lambda inputs, bounds: inputs.numbers.uniform(bounds[0], bounds[1]),
    "count": lambda inputs, bounds: inputs.numbers.whole(1, max(1, int(bounds[0]))),
    "elements": lambda inputs, bounds: bounds[inputs.numbers.whole(0, len(bounds) - 1)],
}
SPECIAL_NUMBERS: dict[str, Numbers] = {
    **NUMBERS,
    "integers": lambda inputs, bounds: float(math.trunc(inputs.ordinary())),
    "naturals": lambda inputs, bounds: float(abs(math.trunc(inputs.ordinary()))),
    "above": lambda inputs, bounds: bounds[0] + (abs(inputs.ordinary()) or 1.0),
    "below": lambda inputs, bounds: bounds[0] - (abs(inputs.ordinary()) or 1.0),
    "interval": lambda inputs, bounds: min(max(inputs.ordinary(), bounds[0]), bounds[1]),
    "count": lambda inputs, bounds: 1 + math.trunc(abs(inputs.ordinary())) % max(1, int(bounds[0])),
    "elements": lambda inputs, bounds: bounds[math.trunc(abs(inputs.ordinary())) % len(bounds)],
}


def styles(count: int) -> list[str]:
    """Return the styles for `count` tests, in which all styles take turns."""
    return [*itertools.islice(itertools.cycle(STYLES), count)]
