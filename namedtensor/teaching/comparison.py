"""Two values compared: their axes, their sizes, and their numbers record by record.

The axes of what is given are fixed. A name that only one of the values has, and nothing that is given, is matched to one that
only the other has, in every way that the sizes allow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    """The ways to read the new axes of `found` as those of `due`; the first keeps all names that both have."""
    names = [axis for axis in graded.axes if axis not in expected.axes]
    missing = [axis for axis in expected.axes if axis not in graded.axes]
    if len(names) != len(missing) or set(fixed) & {*names, *missing}:
        return
    for order in itertools.islice(itertools.permutations(missing), MOST_MATCHES):
        if all(graded.sizes[axis] == expected.sizes[other] for axis, other in zip(names, order)):
            yield dict(zip(names, order))


def laid_out(graded: PlainTensor, expected: PlainTensor, matching: Matching) -> tuple[PlainTensor, PlainTensor]:
    """Both with their axes in one order, that of `due`."""
    back = {other: axis for axis, other in matching.items()}
    return graded.laid_out([back.get(axis, axis) for axis in expected.axes]), expected


Magnitudes = Callable[[], Sequence[float]]  # of the elements of an expected value


def magnitudes(
    expected: PlainTensor, matching: Matching, of_graded: PlainTensor | None, of_expected: PlainTensor | None
) -> Sequence[float]:
    """Return how large the numbers are from which the elements of a value and of the expected value are computed."""
    total = [0.0] * len(expected.numbers)
    back = {other: axis for axis, other in matching.items()}
    for of, names in ((of_graded, back), (of_expected, dict[str, str]())):
        if of is not None:
            sizes = {names.get(axis, axis): size for axis, size in expected.sizes.items()}
            total = [sum(pair) for pair in zip(total, of.broadcast_to(sizes).numbers)]
    return [number if math.isfinite(number) else 0.0 for number in total]


def are_close(actual: Iterable[Any], expected: Iterable[Any], scale: float) -> bool:
    """Return whether numbers are equal up to rounding of numbers of this scale."""
    return all(closeness(left, right, lambda: scale) is Closeness.EQUAL for left, right in zip(actual, expected))


def select_different(elements: ComparedElements, style: str) -> list[int]:
    """Return the positions of elements that differ.

    In ordinary tests these include the elements that only one side has. A special test with such elements shows no difference,
    because an operator such as sort moves undefined elements.
    """
    if style in ORDINARY:
        return sorted([*elements.wrong, *elements.one_sided])
    return [] if elements.one_sided else elements.wrong


def compare_elements(
    graded: PlainTensor,
    expected: PlainTensor,
    matching: Matching,
    of: Magnitudes,
    relative: float = RELATIVE,
    unit: float = UNIT,
) -> ComparedElements:
    """Compare two values of the same sizes, element by element."""
    left, right = laid_out(graded, expected, matching)
    return compare(left.numbers, right.numbers, of, relative, unit)


def difference(
    graded: PlainTensor, expected: PlainTensor, matching: Matching, elements: ComparedElements, style: str
) -> Difference | None:
    """Return the record where two compared values differ most, or None if they do not.

    An element that only one side has is a difference in ordinary tests.
    """
    wrong = select_different(elements, style)
    if not wrong:
        return None
    left, right = laid_out(graded, expected, matching)
    pairs = list(zip(left.numbers, right.numbers))
    maximum = max(wrong, key=lambda at: distance(*pairs[at]))
    indices = next(itertools.islice(records(expected.extent), maximum, None))
    record = {axis: index + 1 for axis, index in zip(expected.axes, indices)}
    return Difference(record, *pairs[maximum], len(wrong), len(pairs))


def distance(actual: Any, expected: Any) -> float:
    apart = abs(float(actual) - float(expected))
    return math.inf if math.isnan(apart) else apart


def largest(values: Iterable[PlainTensor]) -> float:
    """The largest finite number of some tensors; 1 where there is none."""
    numbers = (abs(float(number)) for value in values for number in value.numbers)
    return max(filter(math.isfinite, numbers), default=1.0) or 1.0
