"""Descriptions of differences between values: different axes, a wrong element, a constant ratio, or a different order."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..operators.usage import tensors
from ..programs.closeness import RELATIVE
from ..programs.plain_values import PlainTensor
from .comparison import ComparedValue, Difference, Matching, are_close, lay_out


@dataclass(frozen=True)
class Words:
    """The words that messages use for the two values, such as "your answer" and "the expected value"."""

    yours: str = "your answer"
    your_value: str = "your value"
    due: str = "the expected value"
    changed: str = "the solution"  # the formula that a mutant changes
    is_secret: bool = True  # whether large parts of the formula stay unnamed


def join_names(names: Sequence[str]) -> str:
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def axes_differ(graded: PlainTensor, expected: PlainTensor, given: Sequence[str], words: Words) -> str:
    """Return a description of a value's extra and missing axes, compared with the expected value."""
    extra = [axis for axis in graded.axes if axis not in expected.axes]
    lacking = [axis for axis in expected.axes if axis not in graded.axes]
    faults: list[str] = []
    if still := [axis for axis in extra if axis in given]:
        faults.append(f"still has the {_axes(still)}")
    if new := [axis for axis in extra if axis not in given]:
        faults.append(f"has the new {_axes(new)}")
    if lacking:
        faults.append(f"lacks the {_axes(lacking)}")
    marked = [(axis, other) for axis in extra for other in lacking if other.rstrip("*'′†") == axis != other]
    rename = f"; rename {marked[0][0]}: _{{{marked[0][0]}→{marked[0][1]}}}" if len(marked) == 1 else ""
    where = f"it is in {_type(graded, given)}, {words.due} is in {_type(expected, given)}"
    return f"{words.your_value} {join_names(faults)}: {where}{rename}"


def _axes(names: Sequence[str]) -> str:
    return f"{'axis' if len(names) == 1 else 'axes'} {join_names(names)}"


def _type(value: PlainTensor, given: Sequence[str]) -> str:
    """Return the type of a value, with its axes in the order of the inputs.

    The storage order is not used, because the evaluator chooses it.
    """
    axes = sorted(value.axes, key=lambda axis: (given.index(axis) if axis in given else len(given), axis))
    return tensors(axes)


def sizes_differ(graded: PlainTensor, expected: PlainTensor, words: Words) -> str | None:
    for axis in expected.axes:
        if axis in graded.sizes and graded.sizes[axis] != expected.sizes[axis]:
            return f"axis {axis} has size {graded.sizes[axis]} in {words.your_value} and {expected.sizes[axis]} in {words.due}"
    return None


def value_differs(where: Difference, words: Words) -> str:
    """Return a description of a difference, such as "your answer is 1.13, the expected value is 0.487"."""
    at = f"at {{{', '.join(f'{axis}({index})' for axis, index in where.record.items())}}} " if where.record else ""
    count = f" ({where.places} of {where.of} elements differ)" if where.of > 1 else ""
    digits = next((n for n in (4, 6, 9, 12) if format_number(where.found, n) != format_number(where.due, n)), 17)
    return f"{at}{words.yours} is {format_number(where.found, digits)}, {words.due} is {format_number(where.due, digits)}{count}"


def format_number(number: Any, digits: int = 4) -> str:
    if isinstance(number, bool):
        return str(number).lower()
    if isinstance(number, float) and not math.isfinite(number):
        return {"inf": "∞", "-inf": "−∞"}.get(str(number), "undefined")
    return f"{number:.{digits}g}".replace("-", "−")


def names_of_new_axes(matching: Matching) -> str:
    """Return a remark that lists corresponding axes with different names. Such a difference is not a mistake."""
    return "; ".join(f"your {axis} is called {other} in ours" for axis, other in matching.items() if axis != other)


def find_exchanged_axes(values: Sequence[ComparedValue], words: Words) -> str | None:
    """Return a message if all values equal the expected values after an exchange of two axes, or None otherwise."""
    axes = values[0].test.expected.axes
    if set(values[0].graded.axes) != set(axes):
        return None
    for one, other in itertools.combinations(axes, 2):
        exchanged = ((lay_out(value.graded, value.test.expected, {one: other, other: one}), value) for value in values)
        if all(
            graded.extent == value.test.expected.extent
            and are_close(graded.numbers, value.test.expected.numbers, value.test.scale)
            for graded, value in exchanged
        ):
            return f"{words.yours} has the axes {one} and {other} exchanged"
    return None


# -------------------------------------------------------------------------------------------------------- kinds of differences
Pairs = list[tuple[float, float]]  # each element with the expected element


def find_relation(values: Sequence[ComparedValue], matching: Matching, words: Words) -> str | None:
    """Return a sentence about a relation between all values and their expected values, or None if none is found.

    The relation is a ratio, a difference, a function, an order or a rounding.
    """
    arrays = [(lay_out(value.graded, value.test.expected, matching), value.test.expected) for value in values]
    tests = [
        [(float(left), float(right)) for left, right in zip(graded.numbers, expected.numbers)]
        for graded, expected in arrays
    ]
    pairs = [*itertools.chain(*tests)]
    return (
        _ratio(tests, [value.test.drawn.extent for value in values], words)
        or _offset(pairs, words)
        or _function(pairs, words)
        or _describe_reordering(arrays, words)
        or _close(pairs, words)
    )


def _constant(values: Sequence[float]) -> float | None:
    """Return the median of the values if they are finite and equal up to rounding, or None otherwise."""
    if not values or not all(map(math.isfinite, values)):
        return None
    middle = float(statistics.median(values))
    return middle if all(near(value, middle, 1e-7, 1e-9) for value in values) else None


def near(number: float, expected: float, relative: float, absolute: float = 0.0) -> bool:
    return abs(number - expected) <= absolute + relative * abs(expected)


def _ratio(tests: Sequence[Pairs], sizes: Sequence[Mapping[str, int]], words: Words) -> str | None:
    ratios: list[float] = []
    extents: list[Mapping[str, int]] = []
    for pairs, extent in zip(tests, sizes):
        if not all(abs(number) <= 1e-7 for number, right in pairs if not abs(right) > 1e-9):
            return None
        ratio = _constant([number / right for number, right in pairs if abs(right) > 1e-9])
        if ratio is not None:
            ratios.append(ratio)
            extents.append(extent)
        elif any(right for _, right in pairs):
            return None
    if len(ratios) < 2:
        return None
    if not any(ratios):
        return f"every element of {words.yours} is 0"
    named = ratio_named(ratios, extents)
    return named and f"{words.yours} is {named} times {words.due}"


def ratio_named(ratios: Sequence[float], sizes: Sequence[Mapping[str, int]]) -> str | None:
    """Return a ratio of values as text. Append an expression of axis sizes that equals the ratio in every test, if any.

    Return None if the ratios differ and no expression matches, or if the ratio is displayed as 1.

    >>> ratio_named([0.75, 0.625], [{"seq": 3, "key": 4}, {"seq": 5, "key": 8}])
    '3/4 = |seq|/|key|'
    """
    first = _fraction(ratios[0])
    if first == "1":
        return None
    for text, value in SIZE_RATIOS:
        for names in itertools.permutations(sizes[0], 2 if "{1}" in text else 1):
            values = [value(extent[names[0]], extent[names[-1]]) for extent in sizes]
            for sign in (1, -1):
                if all(near(ratio, sign * number, 1e-9) for ratio, number in zip(ratios, values)):
                    return f"{first} = {'−' if sign < 0 else ''}{text.format(*(f'|{name}|' for name in names))}"
    return first if all(near(ratio, ratios[0], 1e-7, 1e-8) for ratio in ratios) else None


def _fraction(ratio: float) -> str:
    for below in range(1, 65):
        if math.isclose(ratio * below, round(ratio * below), rel_tol=1e-9, abs_tol=1e-12):
            return f"{round(ratio * below)}/{below}".removesuffix("/1").replace("-", "−")
    return format_number(ratio)


SIZE_RATIOS: tuple[tuple[str, Callable[[float, float], float]], ...] = (  # the simplest first
    ("{0}", lambda n, _: n),
    ("1/{0}", lambda n, _: 1 / n),
    ("√{0}", lambda n, _: n**0.5),
    ("1/√{0}", lambda n, _: n**-0.5),
    ("{0}^2", lambda n, _: n**2),
    ("1/{0}^2", lambda n, _: n**-2),
    ("{0}/({0} − 1)", lambda n, _: n / (n - 1) if n > 1 else math.inf),
    ("({0} − 1)/{0}", lambda n, _: (n - 1) / n),
    ("{0}/{1}", lambda n, m: n / m),
    ("√({0}/{1})", lambda n, m: (n / m) ** 0.5),
    ("{0} {1}", lambda n, m: n * m),
    ("1/({0} {1})", lambda n, m: 1 / (n * m)),
)


def _offset(pairs: Pairs, words: Words) -> str | None:
    by = _constant([left - right for left, right in pairs])
    if not by:
        return None
    return f"{words.yours} is {format_number(abs(by))} {'more' if by > 0 else 'less'} than {words.due}, everywhere"


OF_NUMBERS: tuple[tuple[str, Callable[[float], float]], ...] = (  # functions that map the expected value to a value
    ("the square of", lambda x: x * x),
    ("the root of", lambda x: math.sqrt(x) if x >= 0 else math.nan),
    ("1 over", lambda x: 1 / x if x else math.nan),
    ("the absolute value of", abs),
    ("the exponential of", lambda x: math.exp(min(x, 700.0))),
    ("the logarithm of", lambda x: math.log(x) if x > 0 else math.nan),
)


def _function(pairs: Pairs, words: Words) -> str | None:
    """Return a description of the function in `OF_NUMBERS` that maps each expected element to the actual element.

    Return None if there is no such function.
    """
    finite = [pair for pair in pairs if math.isfinite(pair[0])]
    if len(finite) <= 2 or all(near(number, right, 1e-8, 1e-12) for number, right in finite):
        return None
    for message, function in OF_NUMBERS:
        if all(near(number, function(right), 1e-8, 1e-12) for number, right in finite):
            return f"{words.yours} is {message} {words.due}"
    return None


def _describe_reordering(arrays: Sequence[tuple[PlainTensor, PlainTensor]], words: Words) -> str | None:
    """Return a description of the elements' order if they are the expected elements in other positions, or else None.

    Elements that are equal up to rounding do not count as moved.
    """
    axes = arrays[0][1].axes
    if all(are_close(graded.numbers, expected.numbers, 1.0) for graded, expected in arrays):
        return None
    for at, axis in enumerate(axes):
        rows = (row for graded, expected in arrays for row in zip(graded.split_rows(at), expected.split_rows(at)))
        if all(are_close(sorted(result), sorted(expected), 1.0) for result, expected in rows):
            return f"{words.yours} has the elements of {words.due}, in another order along {axis}"
    if axes and all(are_close(sorted(graded.numbers), sorted(expected.numbers), 1.0) for graded, expected in arrays):
        return f"{words.yours} has the elements of {words.due}, at other positions"
    return None


def _close(pairs: Pairs, words: Words) -> str | None:
    off = max((abs(number - right) for number, right in pairs), default=0.0)
    scale = max((abs(right) for _, right in pairs), default=0.0)
    if math.isfinite(scale) and RELATIVE * scale < off <= 1e-3 * scale:
        return f"{words.yours} is close, and off by {format_number(off)} at most: was a number rounded?"
    return None
