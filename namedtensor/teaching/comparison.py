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

Matching = Mapping[str, str]  # the other's new axes -> those that are due


@dataclass(frozen=True)
class Difference:
    """The first difference between a value and the expected one; `record` counts from 1."""

    record: Mapping[str, int]
    found: Any
    due: Any
    places: int
    of: int


def matchings(found: GradedValue, due: GradedValue, fixed: Iterable[str]) -> Iterator[Matching]:
    """The ways to read the new axes of `found` as those of `due`; the first keeps all names that both have."""
    own = [axis for axis in found.axes if axis not in due.axes]
    missing = [axis for axis in due.axes if axis not in found.axes]
    if len(own) != len(missing) or set(fixed) & {*own, *missing}:
        return
    for order in itertools.islice(itertools.permutations(missing), MOST_MATCHES):
        if all(found.sizes[axis] == due.sizes[other] for axis, other in zip(own, order)):
            yield dict(zip(own, order))


def laid_out(found: GradedValue, due: GradedValue, matching: Matching) -> tuple[GradedValue, GradedValue]:
    """Both with their axes in one order, that of `due`."""
    back = {other: axis for axis, other in matching.items()}
    return found.laid_out([back.get(axis, axis) for axis in due.axes]), due


def is_close(found: Any, due: Any, scale: float) -> bool:
    """Whether two numbers are the same; what is undefined in both is."""
    if found == due or (math.isnan(found) and math.isnan(due)):
        return True
    return abs(float(found) - float(due)) <= RELATIVE * abs(due) + ROUNDING * scale and math.isfinite(due)


def are_close(found: Iterable[Any], due: Iterable[Any], scale: float) -> bool:
    return all(is_close(left, right, scale) for left, right in zip(found, due))


def difference(found: GradedValue, due: GradedValue, matching: Matching, scale: float) -> Difference | None:
    """The record where they differ most, or None where they do not; the sizes are the same."""
    left, right = laid_out(found, due, matching)
    pairs = list(zip(left.numbers, right.numbers))
    wrong = [place for place, pair in enumerate(pairs) if not is_close(*pair, scale)]
    if not wrong:
        return None
    place = max(wrong, key=lambda at: distance(*pairs[at]))
    indices = next(itertools.islice(records(due.extent), place, None))
    record = {axis: index + 1 for axis, index in zip(due.axes, indices)}
    return Difference(record, *pairs[place], len(wrong), len(pairs))


def distance(found: Any, due: Any) -> float:
    apart = abs(float(found) - float(due))
    return math.inf if math.isnan(apart) else apart


def largest(values: Iterable[GradedValue]) -> float:
    """The largest finite number of some tensors; 1 where there is none."""
    numbers = (abs(float(each)) for value in values for each in value.numbers)
    return max(filter(math.isfinite, numbers), default=1.0) or 1.0
