"""Two values compared: their axes, their sizes, and their numbers record by record.

The axes of what is given are fixed. A name that only one of the values has, and nothing that is given, is matched to one that
only the other has, in every way that the sizes allow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .values import GradedValue, records

RELATIVE = 1e-8  # 1e-6 would pass an ε of 1e-5 that is missing
ROUNDING = 1e-12  # of the largest number in sight: what is left where terms cancel
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


def matchings(graded: GradedValue, expected: GradedValue, fixed: Iterable[str]) -> Iterator[Matching]:
    """The ways to read the new axes of `found` as those of `due`; the first keeps all names that both have."""
    names = [axis for axis in graded.axes if axis not in expected.axes]
    missing = [axis for axis in expected.axes if axis not in graded.axes]
    if len(names) != len(missing) or set(fixed) & {*names, *missing}:
        return
    for order in itertools.islice(itertools.permutations(missing), MOST_MATCHES):
        if all(graded.sizes[axis] == expected.sizes[other] for axis, other in zip(names, order)):
            yield dict(zip(names, order))


def laid_out(graded: GradedValue, expected: GradedValue, matching: Matching) -> tuple[GradedValue, GradedValue]:
    """Both with their axes in one order, that of `due`."""
    back = {other: axis for axis, other in matching.items()}
    return graded.laid_out([back.get(axis, axis) for axis in expected.axes]), expected


def is_close(actual: Any, expected: Any, scale: float) -> bool:
    """Whether two numbers are the same; what is undefined in both is."""
    if actual == expected or (math.isnan(actual) and math.isnan(expected)):
        return True
    return abs(float(actual) - float(expected)) <= RELATIVE * abs(expected) + ROUNDING * scale and math.isfinite(
        expected
    )


def are_close(actual: Iterable[Any], expected: Iterable[Any], scale: float) -> bool:
    return all(is_close(left, right, scale) for left, right in zip(actual, expected))


def difference(graded: GradedValue, expected: GradedValue, matching: Matching, scale: float) -> Difference | None:
    """The record where they differ most, or None where they do not; the sizes are the same."""
    left, right = laid_out(graded, expected, matching)
    pairs = list(zip(left.numbers, right.numbers))
    wrong = [index for index, pair in enumerate(pairs) if not is_close(*pair, scale)]
    if not wrong:
        return None
    maximum = max(wrong, key=lambda at: distance(*pairs[at]))
    indices = next(itertools.islice(records(expected.extent), maximum, None))
    record = {axis: index + 1 for axis, index in zip(expected.axes, indices)}
    return Difference(record, *pairs[maximum], len(wrong), len(pairs))


def distance(actual: Any, expected: Any) -> float:
    apart = abs(float(actual) - float(expected))
    return math.inf if math.isnan(apart) else apart


def largest(values: Iterable[GradedValue]) -> float:
    """The largest finite number of some tensors; 1 where there is none."""
    numbers = (abs(float(number)) for value in values for number in value.numbers)
    return max(filter(math.isfinite, numbers), default=1.0) or 1.0
