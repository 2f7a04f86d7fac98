"""Comparison of two numbers up to rounding, relative to the numbers and to the magnitudes of their terms.

If only one of the numbers is finite, the other counts as undefined. Two infinities of the same sign are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

RELATIVE = 1e-8  # With 1e-6, a formula that lacks an ε of 1e-5 would count as equal.
ROUNDINGS = 64  # the tolerance in rounding units of the magnitude; each addend of a sum adds a few units
UNIT = 2.0**-52  # of float64
LEAST = 2.0**-960  # added to each magnitude, so that differences among the smallest float64 numbers count as rounding


class Closeness(Enum):
    """The result of comparing two numbers."""

    EQUAL = "equal"
    DIFFERENT = "different"
    FIRST_UNDEFINED = "only the first is undefined"
    SECOND_UNDEFINED = "only the second is undefined"


def closeness(
    one: Any,
    other: Any,
    magnitude: Callable[[], float],
    relative: float = RELATIVE,
    unit: float = UNIT,
    overflows: bool = False,
) -> Closeness:
    """Compare two numbers up to rounding. `magnitude` is called only if a finite relative difference is too large.

    If `overflows` is true, infinities of both signs are equal, and so are numbers whose magnitude is not finite.

    >>> closeness(1e-17, 0.0, lambda: 1.0).value, closeness(1e-17, 0.0, lambda: 1e-16).value
    ('equal', 'different')
    """
    if one == other:
        return Closeness.EQUAL
    first, second = math.isfinite(one), math.isfinite(other)
    if first and second:
        apart = abs(float(one) - float(other))
        if apart <= relative * max(abs(one), abs(other)):
            return Closeness.EQUAL
        size = magnitude()
        if not math.isfinite(size):
            size = math.inf if overflows else 0.0
        return Closeness.EQUAL if apart <= ROUNDINGS * unit * (size + LEAST) else Closeness.DIFFERENT
    if not first and not second:  # ∞ and −∞ are both defined
        is_equal = overflows or math.isnan(one) or math.isnan(other)
        return Closeness.EQUAL if is_equal else Closeness.DIFFERENT
    return Closeness.SECOND_UNDEFINED if first else Closeness.FIRST_UNDEFINED


class ComparedElements(NamedTuple):
    """The positions of elements that differ, and of elements that are undefined in only one of two values."""

    wrong: list[int]
    first_undefined: list[int]
    second_undefined: list[int]

    @property
    def one_sided(self) -> list[int]:
        return [*self.first_undefined, *self.second_undefined]


def compare(
    first: Sequence[Any],
    second: Sequence[Any],
    magnitudes: Callable[[], Sequence[float]],
    relative: float = RELATIVE,
    unit: float = UNIT,
    overflows: bool = False,
) -> ComparedElements:
    """Compare two values of the same sizes element by element, calling `magnitudes` at most once.

    >>> compare([1.0, 2.0, math.nan], [1.0, 3.0, 0.0], lambda: [1.0, 2.0, 0.0])
    ComparedElements(wrong=[1], first_undefined=[2], second_undefined=[])
    """
    known: list[Sequence[float]] = []

    def magnitude(index: int) -> float:
        if not known:
            known.append(magnitudes())
        return known[0][index]

    result = ComparedElements([], [], [])
    positions = {
        Closeness.DIFFERENT: result.wrong,
        Closeness.FIRST_UNDEFINED: result.first_undefined,
        Closeness.SECOND_UNDEFINED: result.second_undefined,
    }
    for index, (one, other) in enumerate(zip(first, second)):
        kind = closeness(one, other, partial(magnitude, index), relative, unit, overflows)
        if kind is not Closeness.EQUAL:
            positions[kind].append(index)
    return result
