"""Comparison of two values by axes, sizes and elements.

The axes of the inputs are fixed. If an axis occurs in only one of the values and not in the inputs, it is matched with
an axis that occurs only in the other value. All matchings that the sizes allow are tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from grammar.cache import cached_property

from ..programs.closeness import RELATIVE, UNIT, Closeness, ComparedElements, closeness, compare
from ..programs.plain_values import PlainTensor, records
from ..programs.random_inputs import ORDINARY, OVERFLOWING

MOST_MATCHES = 720

Matching = Mapping[str, str]  # maps axes of the graded value to axes of the expected value


@dataclass(frozen=True)
class Difference:
    """The largest difference from an expected value. `record` is the index of the element, counted from 1.

    `places` is the number of elements that differ, and `of` is the number of all elements.
    """

    record: Mapping[str, int]
    found: Any
    due: Any
    places: int
    of: int


def matchings(graded: PlainTensor, expected: PlainTensor, fixed: Iterable[str]) -> Iterator[Matching]:
    """Yield the ways to pair axes that only `graded` has with axes that only `expected` has.

    Axes with equal names always correspond. Paired axes have equal sizes, and axes in `fixed` are never paired.
    """
    names = [axis for axis in graded.axes if axis not in expected.axes]
    missing = [axis for axis in expected.axes if axis not in graded.axes]
    if len(names) != len(missing) or set(fixed) & {*names, *missing}:
        return
    for order in itertools.islice(itertools.permutations(missing), MOST_MATCHES):
        if all(graded.sizes[axis] == expected.sizes[other] for axis, other in zip(names, order)):
            yield dict(zip(names, order))


def lay_out(graded: PlainTensor, expected: PlainTensor, matching: Matching) -> PlainTensor:
    """Return a value with its axes in the order of the expected value."""
    back = {other: axis for axis, other in matching.items()}
    return graded.laid_out([back.get(axis, axis) for axis in expected.axes])


def find_matching(graded: PlainTensor, expected: PlainTensor, fixed: Iterable[str]) -> Matching | None:
    """Return the first matching of the axes for which both values have the same sizes, or None if no matching fits."""
    ways = matchings(graded, expected, fixed)
    return next((way for way in ways if lay_out(graded, expected, way).extent == expected.extent), None)


@dataclass(frozen=True)
class SampledInputs:
    """Random input tensors by name, with their seed and style."""

    values: Mapping[str, PlainTensor]
    seed: int = 0
    style: str = "normal"

    @cached_property
    def kind(self) -> str:
        """Return the style of the inputs, or "zeros" if inputs of an ordinary style contain a zero."""
        has_zero = self.style in ORDINARY and any(0 in value.numbers for value in self.values.values())
        return "zeros" if has_zero else self.style

    @property
    def extent(self) -> dict[str, int]:
        """The sizes of all axes of the inputs."""
        return {axis: size for value in self.values.values() for axis, size in value.sizes.items()}


Magnitude = Callable[[], "PlainTensor | None"]  # the magnitudes of the numbers that a value is computed from


class RandomTest(NamedTuple):
    """Random inputs, with the expected value and its magnitudes."""

    drawn: SampledInputs
    expected: PlainTensor
    magnitude: Magnitude = lambda: None

    @property
    def scale(self) -> float:
        """The largest finite absolute value in the inputs and the expected value, or 1 if it is 0 or does not exist."""
        values = (*self.drawn.values.values(), self.expected)
        numbers = (abs(float(number)) for value in values for number in value.numbers)
        return max(filter(math.isfinite, numbers), default=1.0) or 1.0


class ComparedValue(NamedTuple):
    """The graded value in a random test. Its magnitudes and the expected magnitudes are computed on demand."""

    test: RandomTest
    graded: PlainTensor
    magnitude: Magnitude = lambda: None
    precision: tuple[float, float] = (RELATIVE, UNIT)  # the relative tolerance, and the unit of rounding

    def compare_with(self, expected: PlainTensor, magnitude: Magnitude = lambda: None) -> ComparedValue:
        """Return this value paired with another expected value."""
        return self._replace(test=RandomTest(self.test.drawn, expected, magnitude))

    @property
    def has_value(self) -> bool:
        return has_value(self.test.expected) and has_value(self.graded)

    def elements(self, matching: Matching) -> ComparedElements:
        """Compare the values element by element, after aligning their axes by a matching. Their sizes must be equal."""
        graded = lay_out(self.graded, self.test.expected, matching)
        overflows = self.test.drawn.style in OVERFLOWING
        magnitudes = partial(self._magnitudes, matching)
        return compare(graded.numbers, self.test.expected.numbers, magnitudes, *self.precision, overflows)

    def _magnitudes(self, matching: Matching) -> Sequence[float]:
        """Return the magnitudes of both values, added element by element."""
        total = [0.0] * len(self.test.expected.numbers)
        back = {other: axis for axis, other in matching.items()}
        for magnitude, names in ((self.magnitude(), back), (self.test.magnitude(), dict[str, str]())):
            if magnitude is not None:
                sizes = {names.get(axis, axis): size for axis, size in self.test.expected.sizes.items()}
                total = [sum(pair) for pair in zip(total, magnitude.broadcast_to(sizes).numbers)]
        return total

    def select_different(self, elements: ComparedElements) -> list[int]:
        """Return the positions of the elements that differ.

        In an ordinary test, the result includes elements that only one side defines. In a special test, the result is
        empty if only one side defines some element, because operators such as sort can move undefined elements.
        """
        if self.test.drawn.kind in ORDINARY:
            return sorted([*elements.wrong, *elements.one_sided])
        return [] if elements.one_sided else elements.wrong

    def difference(self, matching: Matching, elements: ComparedElements) -> Difference | None:
        """Return the largest difference between the values, or None if no element differs."""
        wrong = self.select_different(elements)
        if not wrong:
            return None
        pairs = list(zip(lay_out(self.graded, self.test.expected, matching).numbers, self.test.expected.numbers))
        maximum = max(wrong, key=lambda at: distance(*pairs[at]))
        indices = next(itertools.islice(records(self.test.expected.extent), maximum, None))
        record = {axis: index + 1 for axis, index in zip(self.test.expected.axes, indices)}
        return Difference(record, *pairs[maximum], len(wrong), len(pairs))


def has_value(value: PlainTensor) -> bool:
    """Return whether a value is empty or has at least one finite element."""
    return not value.numbers or any(map(math.isfinite, value.numbers))


def are_close(actual: Iterable[Any], expected: Iterable[Any], scale: float) -> bool:
    """Return whether all numbers equal the expected numbers up to rounding errors at this scale."""
    return all(closeness(left, right, lambda: scale) is Closeness.EQUAL for left, right in zip(actual, expected))


def distance(actual: Any, expected: Any) -> float:
    apart = abs(float(actual) - float(expected))
    return math.inf if math.isnan(apart) else apart
