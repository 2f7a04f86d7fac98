"""Interval analysis of integers: bounds on the elements of a value, based on dtypes, literals and sizes.

Tables contain, for each primitive whose result has integer elements, a function that computes the bounds. The planner
can thus prove, without data, that a product fits. If a value may not fit, the plan computes in floats (see
`whole_numbers`).

    iota_{a}           1 … |a|
    iota_{a} − 1       0 … |a| − 1
    2 u, u of uint8    0 … 510

The interval of a value is None if its elements may be numbers other than integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..core.extents import Extent, upper_bound
from .plan import Interval, PlanValue, Scalar

MAX_BOUND = 2**1000  # a larger bound is replaced by infinity
EXACT = (-(2**53), 2**53)  # the integers that 64-bit floats hold without a gap
SIGNIFICANT_BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


@lru_cache(maxsize=64)
def interval_of_dtype(dtype: str) -> Interval | None:
    """Return the interval of an integer or Boolean dtype, or None for other dtypes.

    >>> interval_of_dtype("uint8"), interval_of_dtype("bool"), interval_of_dtype("float32")
    ((0, 255), (0, 1), None)
    """
    if dtype == "bool":
        return 0, 1
    name = dtype.rstrip("0123456789")
    if name not in ("int", "uint"):
        return None
    bits = int(dtype[len(name) :])
    return (0, 2**bits - 1) if name == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@lru_cache(maxsize=64)
def exact_in(dtype: str) -> Interval:
    """Return the interval in which a float dtype represents every integer exactly.

    >>> exact_in("float16")
    (-2048, 2048)
    """
    end = 2 ** SIGNIFICANT_BITS.get(dtype, 53)
    return -end, end


def make_interval(number: Any) -> Interval | None:
    """Return the interval of a plain integer or a symbolic size, or None for any other number."""
    if type(number) is Extent:
        return -upper_bound(-number), upper_bound(number)
    return (int(number), int(number)) if isinstance(number, int) else None


def is_within(inner: Interval, outer: Interval) -> bool:
    """Return whether the first interval lies within the second.

    >>> is_within((0, 510), EXACT), is_within((0, math.inf), EXACT)
    (True, False)
    """
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(*intervals: Interval) -> Interval:
    """Return the smallest interval that contains all given intervals."""
    return min(low for low, _ in intervals), max(high for _, high in intervals)


# ------------------------------------------------------------------------------------------------------ of two numbers
def widen_bounds(low: Any, high: Any) -> Interval:
    """Return the interval with bounds beyond ±MAX_BOUND widened to infinity, which limits their number of digits."""
    return min(low if low >= -MAX_BOUND else -math.inf, MAX_BOUND), max(
        high if high <= MAX_BOUND else math.inf, -MAX_BOUND
    )


def add(left: Interval, right: Interval) -> Interval:
    return widen_bounds(left[0] + right[0], left[1] + right[1])


def subtract(left: Interval, right: Interval) -> Interval:
    return add(left, negative(right))


def multiply(left: Interval, right: Interval) -> Interval:
    corners = [a * b if a and b else 0 for a in left for b in right]
    return widen_bounds(min(corners), max(corners))


def power(base: Interval, exponent: Interval) -> Interval | None:
    """Return the interval of a power, or None if the exponent may be negative.

    >>> power((-2, 2), (0, 3)), power((1, 9), (2, 2)), power((2, 2), (-1, 1))
    ((-8, 8), (1, 81), None)
    """
    least, most = exponent
    if least < 0:
        return None
    large = max(abs(base[0]), abs(base[1]))
    high = max(1 if least == 0 else 0, _raise_to_power(large, most))
    low = _raise_to_power(base[0], least) if base[0] >= 1 else 0 if base[0] == 0 else -high
    return widen_bounds(low, high)


def _raise_to_power(base: Any, exponent: Any) -> Any:
    if base <= 1:
        return base
    if exponent == 0:
        return 1
    return base**exponent if exponent * math.log2(base) <= 1000 else math.inf


def remainder(left: Interval, right: Interval) -> Interval:
    return min(right[0], 0), max(right[1], 0)


# ------------------------------------------------------------------------------------------------------- of one number
def negative(x: Interval) -> Interval:
    return -x[1], -x[0]


def absolute(x: Interval) -> Interval:
    return max(x[0], -x[1], 0), max(abs(x[0]), abs(x[1]))


# --------------------------------------------------------------------------------------------------------- of several
def total(x: Interval, count: int) -> Interval:
    """Return the interval of a sum of `count` values.

    >>> total((0, 255), 10)
    (0, 2550)
    """
    return multiply(x, (count, count))


def product(x: Interval, count: int) -> Interval:
    """Return the interval of a product of `count` values."""
    pair = power(x, (count, count))
    assert pair is not None
    return pair


def up_to(of_all: Callable[[Interval, int], Interval], x: Interval, count: int) -> Interval:
    """Return the hull of x and the interval that `of_all` returns for `count` values, for example their sum.

    This interval contains the results for one value, two values, and so on, up to `count` values.
    """
    return hull(x, of_all(x, count))


OF_NUMBERS: dict[str, Callable[..., Interval | None]] = {
    "add": add, "subtract": subtract, "multiply": multiply, "power": power, "remainder": remainder, "negative": negative,
    "abs": absolute, "exact_add": add, "exact_subtract": subtract, "exact_abs": absolute, "concat": hull,
    "stack": hull, "where": lambda condition, x, y: hull(x, y), "sign": lambda x: (-1, 1),
    "maximum": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "minimum": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
}  # fmt: skip
# These give entries of their first argument, moved or cast.
CHOOSING = frozenset(
    "same cast exact_cast transpose reshape expand broadcast pick head part contiguous unfold sort max min take "
    "take_along as_array".split()
)
REDUCTIONS: dict[str, Callable[[Interval, int], Interval]] = {
    "sum": total,
    "prod": product,
    "cumsum": lambda x, count: up_to(total, x, count),
    "cumprod": lambda x, count: up_to(product, x, count),
    "exact_sum": total,
    "exact_cumsum": lambda x, count: up_to(total, x, count),
    "trace": total,
}
PRODUCTS = frozenset(("dot", "matmul", "vecdot"))
PLACES = frozenset(("argmax", "ascending", "descending"))  # positions along the last axis
MADE: dict[str, Callable[[Mapping[str, Any]], Interval | None]] = {
    "constant": lambda options: make_interval(options["number"]),
    "arange": lambda options: (
        -upper_bound(-options["start"]),
        max(upper_bound(options["start"]), upper_bound(options["stop"] - 1)),
    ),
    "numbers": lambda options: enclose_numbers(options["numbers"]),
    "positions": lambda options: (0, max(upper_bound(options["size"] - 1), 0)),
}


def enclose_numbers(numbers: Sequence[Any]) -> Interval | None:
    """Return the smallest interval that contains a literal's numbers, or None if it is empty or has a non-integer."""
    if not numbers or not all(isinstance(number, int) for number in numbers):
        return None
    return int(min(numbers)), int(max(numbers))


def transfer_step(
    primitive: str, intervals: Sequence[Interval | None], options: Mapping[str, Any], count: int = 1
) -> Interval | None:
    """Return the interval of a primitive's result, given the intervals of its arguments, or None if it is unknown.

    A reduction combines `count` elements.
    """
    if primitive in MADE:
        return MADE[primitive](options)
    if primitive in CHOOSING:
        return intervals[0]
    if not intervals or any(interval is None for interval in intervals):
        return None
    known: list[Any] = [*intervals]
    if primitive in REDUCTIONS:
        return REDUCTIONS[primitive](known[0], count)
    if primitive in PRODUCTS:
        return total(multiply(*known), count)
    return OF_NUMBERS[primitive](*known) if primitive in OF_NUMBERS else None


# ---------------------------------------------------------------------------------------------------- steps
def interval_of(argument: Any) -> Interval | None:
    """Return the integer bounds of an argument of a step, or None if its elements may be non-integers."""
    if isinstance(argument, PlanValue):
        return argument.interval
    if isinstance(argument, Scalar):
        return interval_of_dtype({bool: "bool", int: "int64"}.get(argument.kind, "float64"))
    return make_interval(argument)


def count_elements(primitive: str, arguments: Sequence[Any], options: dict[str, Any]) -> int:
    """Return the largest number of elements that a step combines to one element, or 1 if the step does not reduce."""
    shape = getattr(arguments[0], "shape", ()) if arguments else ()
    if primitive in ("trace", *PRODUCTS):
        return shape[-1] if shape else 1
    if primitive not in REDUCTIONS:
        return 1
    at = options["at"]
    places = range(len(shape)) if at is None else at if isinstance(at, tuple) else (at,)
    count = 1
    for position in places:
        count *= shape[position]
    return count


def interval_of_step(primitive: str, arguments: Sequence[Any], options: dict[str, Any], dtype: str) -> Interval | None:
    """Return the integer bounds of a step's result, limited by its dtype, or None if elements may be non-integers."""
    result = None
    if primitive in PLACES:
        result = 0, max(upper_bound(arguments[0].shape[-1] - 1), 0)
    elif not any(isinstance(argument, PlanValue) and argument.interval is None for argument in arguments):
        known = [interval_of(argument) for argument in arguments]
        result = transfer_step(primitive, known, options, upper_bound(count_elements(primitive, arguments, options)))
    natural = interval_of_dtype(dtype)
    if natural is None or result is None:
        return result if natural is None else natural
    both = max(result[0], natural[0]), min(result[1], natural[1])
    return both if both[0] <= both[1] else natural  # numbers that exceed the dtype fail at run time
