"""Between which numbers results lie: for every small interval the numbers in it are computed, one by one."""

from __future__ import annotations

import itertools
import math
import operator

import pytest

from namedtensor.planning import intervals
from namedtensor.planning.intervals import MAX_BOUND, interval_of_dtype, transfer_step

SMALL = [(low, high) for low in range(-3, 4) for high in range(low, 4)]
COUNTS = (1, 2, 3)


def numbers(interval):
    return range(interval[0], interval[1] + 1)


def hull(results):
    results = list(results)
    return min(results), max(results)


def either(*item):
    return hull(itertools.chain.from_iterable(map(numbers, item)))


TIGHT = {  # primitives of numbers, and what they compute
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "negative": operator.neg, "abs": abs,
    "exact_add": operator.add, "exact_subtract": operator.sub, "exact_abs": abs, "maximum": max, "minimum": min,
}  # fmt: skip


@pytest.mark.parametrize("primitive", TIGHT)
def test_the_ends_are_reached(primitive):
    compute = TIGHT[primitive]
    count = 1 if compute in (operator.neg, abs) else 2
    for inputs in itertools.product(SMALL, repeat=count):
        assert transfer_step(primitive, inputs, {}) == hull(
            itertools.starmap(compute, itertools.product(*map(numbers, inputs)))
        ), inputs


@pytest.mark.parametrize("primitive", ["concat", "stack"])
def test_what_holds_both_reaches_from_the_least_to_the_greatest(primitive):
    for inputs in itertools.product(SMALL, repeat=2):
        assert transfer_step(primitive, inputs, {}) == either(*inputs)
        assert transfer_step("where", [(0, 1), *inputs], {}) == either(*inputs)


def test_powers_lie_within():
    for base, exponent in itertools.product(SMALL, repeat=2):
        pair = transfer_step("power", (base, exponent), {})
        if exponent[0] < 0:
            assert pair is None
            continue
        low, high = hull(x**y for x in numbers(base) for y in numbers(exponent))
        if base[0] < 0:
            most = max(abs(base[0]), abs(base[1])) ** exponent[1]
            assert -most <= pair[0] <= low and high <= pair[1] <= max(most, 1)
        else:
            assert pair[1] == high and pair[0] == (low if base[0] else 0)


def test_remainders_lie_within():
    for left, right in itertools.product(SMALL, repeat=2):
        low, high = transfer_step("remainder", (left, right), {})
        assert all(low <= x % y <= high for x in numbers(left) for y in numbers(right) if y)


REDUCED = {"sum": sum, "trace": sum, "prod": math.prod}
RUNNING = {"cumsum": sum, "cumprod": math.prod}


@pytest.mark.parametrize("count", COUNTS)
def test_reductions(count):
    for interval in SMALL:
        rows = list(itertools.product(numbers(interval), repeat=count))
        for primitive, compute in REDUCED.items():
            low, high = transfer_step(primitive, [interval], {}, count)
            least, greatest = hull(map(compute, rows))
            assert (low, high) == (least, greatest) or compute is math.prod and low <= least and high >= greatest
        for primitive, compute in RUNNING.items():
            low, high = transfer_step(primitive, [interval], {}, count)
            assert all(low <= compute(row[:end]) <= high for row in rows for end in range(1, count + 1))


@pytest.mark.parametrize("primitive", ["dot", "matmul", "vecdot"])
def test_products_are_sums_of_products(primitive):
    for left, right in itertools.product(SMALL, repeat=2):
        low, high = hull(x * y for x in numbers(left) for y in numbers(right))
        assert transfer_step(primitive, (left, right), {}, 3) == (3 * low, 3 * high)


def test_what_is_not_known_stays_so():
    for primitive in ("add", "where", "sum", "dot", "abs"):
        for inputs in ([None], [(0, 1), None], [None, (0, 1)]):
            assert transfer_step(primitive, inputs, {}) is None
    assert transfer_step("exp", [(0, 1)], {}) is None
    assert transfer_step("add", [], {}) is None


def test_what_only_chooses_keeps_the_interval_of_what_it_chooses_from():
    for primitive in intervals.CHOOSING:
        assert transfer_step(primitive, [(2, 5), (7, 9)], {}) == (2, 5)
        assert transfer_step(primitive, [None], {}) is None


def test_what_is_made():
    assert transfer_step("constant", [], {"number": 7}) == (7, 7)
    assert transfer_step("constant", [], {"number": True}) == (1, 1)
    assert transfer_step("constant", [], {"number": 7.0}) is None
    assert transfer_step("arange", [], {"start": 1, "stop": 5}) == (1, 4)
    assert transfer_step("arange", [], {"start": 3, "stop": 3}) == (3, 3)
    assert transfer_step("numbers", [], {"numbers": (4, -2, 9)}) == (-2, 9)
    assert transfer_step("numbers", [], {"numbers": (4, 2.5)}) is None
    assert transfer_step("numbers", [], {"numbers": ()}) is None
    assert transfer_step("positions", [], {"size": 6}) == (0, 5)
    assert transfer_step("positions", [], {"size": 0}) == (0, 0)


@pytest.mark.parametrize(
    ("dtype", "interval"),
    [("bool", (0, 1)), ("uint8", (0, 255)), ("int8", (-128, 127)), ("uint16", (0, 65535)), ("int64", (-(2**63), 2**63 - 1)),
     ("float32", None), ("complex64", None), ("bfloat16", None)],
)  # fmt: skip
def test_dtypes(dtype, interval):
    assert interval_of_dtype(dtype) == interval


def test_far_ends_are_infinite():
    assert intervals.add((0, MAX_BOUND), (0, 1)) == (0, math.inf)
    assert intervals.add((-MAX_BOUND, 0), (-1, 0)) == (-math.inf, 0)
    assert intervals.add((-MAX_BOUND, 0), (0, MAX_BOUND)) == (-MAX_BOUND, MAX_BOUND)
    assert intervals.multiply((-math.inf, math.inf), (0, 0)) == (0, 0)
    assert transfer_step("power", [(2, 2), (1000, 1000)], {}) == (2**1000, 2**1000)
    assert transfer_step("power", [(2, 2), (0, 1001)], {}) == (1, math.inf)
    assert transfer_step("power", [(3, 3), (10**9, 10**9)], {}) == (MAX_BOUND, math.inf)
    assert transfer_step("prod", [(0, 255)], {}, 10**9) == (0, math.inf)
    assert transfer_step("sum", [(-1, 2)], {}, 10) == (-10, 20)


def test_within():
    assert intervals.is_within((0, 1), (0, 1)) and intervals.is_within((1, 2), (0, 3))
    assert not intervals.is_within((-1, 1), (0, 1)) and not intervals.is_within((0, 2), (0, 1))
