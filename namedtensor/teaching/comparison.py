"""Two values compared: their axes, their sizes, and their numbers record by record.

The axes of the inputs are fixed. A name that only one of the values has, and nothing that is given, is matched to one
that only the other has, in every way that the sizes allow.
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
    """The first difference between a value and the expected one; `record` counts from 1."""

    record: Mapping[str, int]
    found: Any
    due: Any
    places: int
    of: int


def matchings(graded: PlainTensor, expected: PlainTensor, fixed: Iterable[str]) -> Iterator[Matching]:
    """Yield the ways to identify the new axes of `found` with axes of `due`. The first way keeps all shared names."""
    names = [axis for axis in graded.axes if axis not in expected.axes]
    missing = [axis for axis in expected.axes if axis not in graded.axes]
    if len(names) != len(missing) or set(fixed) & {*names, *missing}:
        return
    for order in itertools.islice(itertools.permutations(missing), MOST_MATCHES):
        if all(graded.sizes[axis] == expected.sizes[other] for axis, other in zip(names, order)):
            yield dict(zip(names, order))


def laid_out(graded: PlainTensor, expected: PlainTensor, matching: Matching) -> tuple[PlainTensor, PlainTensor]:
    """Return both with their axes in one order, the order of `due`."""
    back = {other: axis for axis, other in matching.items()}
    return graded.laid_out([back.get(axis, axis) for axis in expected.axes]), expected


@dataclass(frozen=True)
class SampledInputs:
    """Tensors by name."""

    values: Mapping[str, PlainTensor]
    seed: int = 0
    style: str = "normal"

    @cached_property
    def kind(self) -> str:
        """Return the style, or "zeros" for ordinary inputs that contain a zero, such as integers."""
        has_zero = self.style in ORDINARY and any(0 in value.numbers for value in self.values.values())
        return "zeros" if has_zero else self.style

    @property
    def extent(self) -> dict[str, int]:
        """The size of each axis."""
        return {axis: size for value in self.values.values() for axis, size in value.sizes.items()}


class ComparedValue(NamedTuple):
    """A value on random inputs, beside the expected one; the magnitudes of both are computed when they are needed."""

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
        """Compare the values, which have the same sizes, element by element."""
        graded, expected = laid_out(self.graded, self.expected, matching)
        return compare(graded.numbers, expected.numbers, lambda: self._magnitudes(matching), *self.precision)

    def _magnitudes(self, matching: Matching) -> Sequence[float]:
        """Return the magnitudes from which the elements of both values are computed."""
        total = [0.0] * len(self.expected.numbers)
        back = {other: axis for axis, other in matching.items()}
        for of, names in ((self.of_graded(), back), (self.of_expected(), dict[str, str]())):
            if of is not None:
                sizes = {names.get(axis, axis): size for axis, size in self.expected.sizes.items()}
                total = [sum(pair) for pair in zip(total, of.broadcast_to(sizes).numbers)]
        return [number if math.isfinite(number) else 0.0 for number in total]

    def select_different(self, elements: ComparedElements) -> list[int]:
        """Return the positions of elements that differ.

        In ordinary tests these include the elements that only one side has. A special test with such elements shows no
        difference, because an operator such as sort moves undefined elements.
        """
        if self.drawn.kind in ORDINARY:
            return sorted([*elements.wrong, *elements.one_sided])
        return [] if elements.one_sided else elements.wrong

    def difference(self, matching: Matching, elements: ComparedElements) -> Difference | None:
        """Return the record where the values differ most, or None if they do not."""
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
    """Return whether any element is finite, or there are no elements."""
    return not value.numbers or any(map(math.isfinite, value.numbers))


def are_close(actual: Iterable[Any], expected: Iterable[Any], scale: float) -> bool:
    """Return whether numbers are equal up to rounding of numbers of this scale."""
    return all(closeness(left, right, lambda: scale) is Closeness.EQUAL for left, right in zip(actual, expected))


def distance(actual: Any, expected: Any) -> float:
    apart = abs(float(actual) - float(expected))
    return math.inf if math.isnan(apart) else apart


def largest(values: Iterable[PlainTensor]) -> float:
    """Return the largest finite number of some tensors, or 1 if there is none."""
    numbers = (abs(float(number)) for value in values for number in value.numbers)
    return max(filter(math.isfinite, numbers), default=1.0) or 1.0
