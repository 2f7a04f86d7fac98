"""Comparison of two values by axes, sizes and elements.

The axes of the inputs are fixed. If an axis occurs in only one of the values and not in the inputs, it is matched with
an axis that occurs only in the other value. All matchings that the sizes allow are tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grammar.cache import cached_property

from ..programs.closeness import RELATIVE, UNIT, Closeness, ComparedElements, closeness, compare
from ..programs.plain_values import PlainTensor, records
from ..programs.random_inputs import ORDINARY

MOST_MATCHES = 720

Matching = Mapping[str, str]  # the other's new axes -> the expected ones


@dataclass(frozen=True)
class Difference:
    """The largest difference from an expected value. `record` is the index of the element, counted from 1."""

    record: Mapping[str, int]
    found: Any
    due: Any
    places: int
    of: int


def matchings(graded: PlainTensor, expected: PlainTensor, fixed: Iterable[str]) -> Iterator[Matching]:
    """Yield the ways to pair axes that only `graded` has with axes that only `expected` has.

    Axes with equal names always correspond.
    """
    names = [axis for axis in graded.axes if axis not in expected.axes]
    missing = [axis for axis in expected.axes if axis not in graded.axes]
    if len(names) != len(missing) or set(fixed) & {*names, *missing}:
        return
    for order in itertools.islice(itertools.permutations(missing), MOST_MATCHES):
        if all(graded.sizes[axis] == expected.sizes[other] for axis, other in zip(names, order)):
            yield dict(zip(names, order))


def laid_out(graded: PlainTensor, expected: PlainTensor, matching: Matching) -> tuple[PlainTensor, PlainTensor]:
    """Return both values, with the axes of `graded` in the order of the axes of `expected` that correspond to them."""
    back = {other: axis for axis, other in matching.items()}
    return graded.laid_out([back.get(axis, axis) for axis in expected.axes]), expected


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


class ComparedValue(NamedTuple):
    """A value on random inputs with its expected value. Functions return the magnitudes of both when needed."""

    drawn: SampledInputs
    graded: PlainTensor
    expected: PlainTensor
    of_graded: Callable[[], PlainTensor | None]
    of_expected: Callable[[], PlainTensor | None] = lambda: None
    precision: tuple[float, float] = (RELATIVE, UNIT)  # the relative tolerance, and the unit of rounding

    @property
    def has_value(self) -> bool:
        return has_value(self.expected) and has_value(self.graded)

    def elements(self, matching: Matching) -> ComparedElements:
        """Compare the values element by element, after aligning their axes by a matching. Their sizes must be equal."""
        graded, expected = laid_out(self.graded, self.expected, matching)
        return compare(graded.numbers, expected.numbers, lambda: self._magnitudes(matching), *self.precision)

    def _magnitudes(self, matching: Matching) -> Sequence[float]:
        """Return for each element the sum of the magnitudes of the numbers from which both values are computed."""
        total = [0.0] * len(self.expected.numbers)
        back = {other: axis for axis, other in matching.items()}
        for of, names in ((self.of_graded(), back), (self.of_expected(), dict[str, str]())):
            if of is not None:
                sizes = {names.get(axis, axis): size for axis, size in self.expected.sizes.items()}
                total = [sum(pair) for pair in zip(total, of.broadcast_to(sizes).numbers)]
        return [number if math.isfinite(number) else 0.0 for number in total]

    def select_different(self, elements: ComparedElements) -> list[int]:
        """Return the positions of the elements that differ.

        In an ordinary test, the result includes elements that only one side defines. In a special test, operators such
        as sort may move undefined elements. If such a test has elements that only one side defines, the result is
        empty.
        """
        if self.drawn.kind in ORDINARY:
            return sorted([*elements.wrong, *elements.one_sided])
        return [] if elements.one_sided else elements.wrong

    def difference(self, matching: Matching, elements: ComparedElements) -> Difference | None:
        """Return the largest difference between the values, or None if no element differs."""
        wrong = self.select_different(elements)
        if not wrong:
            return None
        left, right = laid_out(self.graded, self.expected, matching)
        pairs = list(zip(left.numbers, right.numbers))
        maximum = max(wrong, key=lambda at: distance(*pairs[at]))
        indices = next(itertools.islice(records(self.expected.extent), maximum, None))
        record = {axis: index + 1 for axis, index in zip(self.expected.axes, indices)}
        return Difference(record, *pairs[maximum], len(wrong), len(pairs))


def has_value(value: PlainTensor) -> bool:
    """Return whether a value is empty or has at least one finite element."""
    return not value.numbers or any(map(math.isfinite, value.numbers))


def are_close(actual: Iterable[Any], expected: Iterable[Any], scale: float) -> bool:
    """Return whether all numbers equal the expected numbers up to rounding errors of numbers of this scale."""
    return all(closeness(left, right, lambda: scale) is Closeness.EQUAL for left, right in zip(actual, expected))


def distance(actual: Any, expected: Any) -> float:
    apart = abs(float(actual) - float(expected))
    return math.inf if math.isnan(apart) else apart


def largest(values: Iterable[PlainTensor]) -> float:
    """Return the largest finite absolute value of all elements, or 1 if it is 0 or there is none."""
    numbers = (abs(float(number)) for value in values for number in value.numbers)
    return max(filter(math.isfinite, numbers), default=1.0) or 1.0
