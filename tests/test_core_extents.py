"""The algebra of sizes: whatever is drawn of it agrees with Python's integers, and nothing in it is guessed."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from namedtensor.core import extents, size_conditions
from namedtensor.core.extents import (
    Extent,
    SizeSymbol,
    UndecidedSizeError,
    bounds,
    exact_quotient,
    extent,
    format_size,
    is_size,
    largest,
    proves_at_most,
    symbols_of,
    typical,
    upper_bound,
    value_at,
)
from namedtensor.core.size_conditions import (
    SizeCondition,
    assume_divides,
    canonical,
    conditions,
    limit_size,
    retract_after,
    solve,
    substitute_sizes,
)

SYMBOLS = tuple(SizeSymbol(name, name, example) for name, example in (("batch", 2), ("key", 5), ("seq", 7)))
BATCH, KEY, SEQ = map(extent, SYMBOLS)


class Drawn(NamedTuple):
    """A size, and what Python computes for it at given sizes of the axes."""

    size: Any
    at: Callable[[dict[SizeSymbol, int]], int]


def beside(function: Callable[[Any, Any], Any], left: Drawn, right: Drawn, number: Any = None) -> Drawn:
    number = number or function
    return Drawn(function(left.size, right.size), lambda sizes: number(left.at(sizes), right.at(sizes)))


numbers = st.integers(-6, 9).map(lambda number: Drawn(number, lambda _: number))
symbols = st.sampled_from(SYMBOLS).map(lambda symbol: Drawn(extent(symbol), lambda sizes: sizes[symbol]))
positive = st.one_of(st.integers(1, 9).map(lambda number: Drawn(number, lambda _: number)), symbols)


def larger(parts: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    sums = [st.builds(beside, st.just(function), parts, parts) for function in (operator.add, operator.sub)]
    products = st.builds(beside, st.just(operator.mul), parts, parts)
    floors = [st.builds(beside, st.just(function), parts, positive) for function in (operator.floordiv, operator.mod)]
    maxima = st.builds(lambda left, right: beside(largest, left, right, max), parts, parts)
    powers = st.builds(
        lambda part, degree: Drawn(part.size**degree, lambda sizes: part.at(sizes) ** degree), parts, st.integers(0, 3)
    )
    return st.one_of(*sums, products, *floors, maxima, powers)


drawn = st.recursive(numbers | symbols, larger, max_leaves=8)
at_sizes = st.fixed_dictionaries({symbol: st.integers(1, 40) for symbol in SYMBOLS})


def small(size: Any, most: int = 60) -> bool:
    return type(size) is int or len(size.terms) <= most


# ------------------------------------------------------------------------------------------------------------ values
@given(drawn, at_sizes)
def test_a_size_has_the_value_that_integers_have(expected, sizes):
    assert value_at(expected.size, sizes) == expected.at(sizes)
    assert is_size(expected.size)


@given(drawn)
def test_the_value_of_the_example_is_that_of_the_symbols_examples(expected):
    sizes = {symbol: symbol.example for symbol in SYMBOLS}
    assert typical(expected.size) == expected.at(sizes)


@given(drawn, at_sizes)
def test_the_text_of_a_size_is_what_python_computes(expected, sizes):
    assert eval(
        str(expected.size), {}, {"max": max} | {symbol.name: size for symbol, size in sizes.items()}
    ) == expected.at(sizes)


@given(drawn)
def test_a_size_that_is_a_number_is_an_int(expected):
    assert type(expected.size) is int or expected.size.symbols


@given(drawn, drawn, drawn, at_sizes)
def test_equal_forms_are_equal_values_and_rings_have_one_form(a, b, c, sizes):
    assume(all(small(item.size, 12) for item in (a, b, c)))
    x, y, z = a.size, b.size, c.size
    for left, right in ((x + y, y + x), (x * y, y * x), (x * (y + z), x * y + x * z), ((x - y) + y, x), (x - x, 0)):
        assert left == right and hash(left) == hash(right)
    if x == y:
        assert a.at(sizes) == b.at(sizes)


@given(drawn)
def test_a_size_is_no_number_that_it_could_be(expected):
    if isinstance(expected.size, Extent):
        assert expected.size != expected.size.example and expected.size.example != expected.size


# ------------------------------------------------------------------------------------------------------------ bounds
@given(drawn, at_sizes)
def test_bounds_hold_of_every_value(expected, sizes):
    low, high = bounds(expected.size)
    value = expected.at(sizes)
    assert (low is None or low <= value) and (high is None or value <= high)
    assert value <= upper_bound(expected.size, 40)


@given(drawn, drawn, at_sizes)
def test_what_is_proved_of_an_order_holds(left, right, sizes):
    if proves_at_most(left.size, right.size):
        assert left.at(sizes) <= right.at(sizes)


ORDERS = (operator.lt, operator.le, operator.gt, operator.ge)


@given(drawn, drawn, at_sizes, st.sampled_from(ORDERS))
def test_an_order_is_answered_truly_or_not_at_all(left, right, sizes, order):
    try:
        answer = order(left.size, right.size)
    except UndecidedSizeError:
        return
    assert answer == order(left.at(sizes), right.at(sizes))


@given(drawn, at_sizes)
def test_a_truth_is_answered_truly_or_not_at_all(expected, sizes):
    try:
        answer = bool(expected.size)
    except UndecidedSizeError:
        return
    assert answer == bool(expected.at(sizes))


@given(drawn, drawn, at_sizes)
def test_the_larger_of_two_sizes_is(left, right, sizes):
    assert value_at(largest(left.size, right.size), sizes) == max(left.at(sizes), right.at(sizes))


@pytest.mark.parametrize(
    ("left", "right", "proved"),
    [
        (1, SEQ, True),
        (SEQ, SEQ * SEQ, True),
        (SEQ + BATCH, SEQ * BATCH, False),  # not for 1 and 1
        (2 * SEQ, SEQ * BATCH + SEQ, True),
        (0, SEQ // 2 - SEQ // 3, False),
        (SEQ, SEQ + BATCH, True),
        (SEQ - 1, SEQ, True),
        (2, SEQ, False),
        (SEQ // 2, SEQ, False),
        (0, SEQ // 2, True),
        (2, BATCH + SEQ, True),
    ],
)
def test_an_order_is_proved_by_the_form(left, right, proved):
    assert proves_at_most(left, right) == proved


# --------------------------------------------------------------------------------------------------------- quotients
@given(drawn, positive, at_sizes)
def test_an_exact_quotient_gives_back_the_size(expected, divisor, sizes):
    product = expected.size * divisor.size
    quotient = exact_quotient(product, divisor.size)
    assert quotient == expected.size and value_at(quotient, sizes) == expected.at(sizes)
    whole = exact_quotient(expected.size, divisor.size)
    if whole is not None:
        assert whole * divisor.size == expected.size


@given(drawn, st.integers(1, 9))
def test_a_quotient_and_its_rest_make_the_whole(expected, divisor):
    quotient, rest = expected.size // divisor, expected.size % divisor
    assert quotient * divisor + rest == expected.size


def test_a_quotient_that_is_none_is_not_given():
    assert exact_quotient(SEQ, 2) is None and exact_quotient(SEQ + 1, SEQ) is None and exact_quotient(SEQ, 0) is None
    assert exact_quotient(SEQ, BATCH + SEQ) is None and exact_quotient(6, SEQ) is None
    assert exact_quotient(BATCH + SEQ, BATCH + SEQ) == 1 and exact_quotient(4 * SEQ * KEY, 2 * KEY) == 2 * SEQ


# --------------------------------------------------------------------------------------------- what needs a number
NEEDS = {
    "int": int, "float": float, "index": operator.index, "range": range, "list": lambda size: [0] * size,
    "square root": math.sqrt, "zeros": np.zeros, "round": round, "half": lambda size: size / 2, "half of one": lambda size: 1 / size,
    "a fraction": lambda size: size * Fraction(1, 2), "a float beside it": lambda size: 0.5 * size, "a float added": lambda size: size + 0.5,
    "a float taken away": lambda size: 0.5 - size, "an order": lambda size: size > 7, "its truth": lambda size: bool(size - 1),
    "a slice": lambda size: "text"[:size],
}  # fmt: skip


@pytest.mark.parametrize("need", NEEDS.values(), ids=NEEDS)
def test_what_needs_a_number_raises(need):
    with pytest.raises((UndecidedSizeError, TypeError)) as problem:
        need(SEQ)
    if problem.type is UndecidedSizeError:
        assert "seq is known only when the function runs" in str(problem.value) or "seq" in str(problem.value)


@pytest.mark.parametrize("need", [int, float, operator.index, range, np.zeros], ids=str)
def test_a_number_is_never_made_of_the_example(need):
    with pytest.raises(UndecidedSizeError) as problem:
        need(2 * SEQ + 1)
    assert problem.value.size == 2 * SEQ + 1


def test_a_size_stands_beside_nothing_else():
    for other in ("2", None, [1], (1,)):
        with pytest.raises(TypeError):
            SEQ + other
    assert SEQ != "seq" and SEQ != 7 and SEQ != 7.0


# -------------------------------------------------------------------------------------------------------------- text
@pytest.mark.parametrize(
    ("size", "text"),
    [
        (2 * SEQ * SEQ * KEY + 1, "2 |key| |seq|² + 1"),
        (SEQ, "|seq|"),
        (SEQ - 1, "|seq| - 1"),
        (1 - SEQ, "-|seq| + 1"),
        (-3 * SEQ, "-3 |seq|"),
        (SEQ // 2, "⌊|seq| / 2⌋"),
        ((SEQ + 1) // (2 * KEY), "⌊(|seq| + 1) / (2 |key|)⌋"),
        (SEQ**10, "|seq|¹⁰"),
        (largest(SEQ, KEY), "max(|seq|, |key|)"),
        (12, "12"),
    ],
)
def test_a_size_is_shown_as_formulas_write_it(size, text):
    assert format_size(size) == text


# ------------------------------------------------------------------------------------------------- solving, replacing
@given(drawn, st.dictionaries(st.sampled_from(SYMBOLS), drawn), at_sizes)
def test_other_sizes_for_symbols_are_their_values(expected, others, sizes):
    assume(all(other.at(sizes) >= 1 for other in others.values()))
    assume(small(expected.size, 8) and all(small(other.size, 4) for other in others.values()))
    replaced = substitute_sizes(expected.size, {symbol: other.size for symbol, other in others.items()})
    assert value_at(replaced, sizes) == expected.at(
        sizes | {symbol: other.at(sizes) for symbol, other in others.items()}
    )


def zero_of(equations: list[Any], sizes: dict[SizeSymbol, int]) -> bool:
    return all(value_at(equation, sizes) == 0 for equation in equations)


linear = st.tuples(*(st.integers(-2, 2) for _ in SYMBOLS), st.integers(-4, 4)).map(
    lambda counts: sum((count * extent(symbol) for symbol, count in zip(SYMBOLS, counts)), counts[-1])
)


@given(st.lists(linear, max_size=3))
def test_what_is_solved_holds_wherever_the_equations_do(equations):
    solved: dict[SizeSymbol, Any] = {}
    messages = [difference for equation in equations if solve(solved, difference := substitute_sizes(equation, solved))]
    assert not {*solved} & {*symbols_of([*solved.values()])}, "a symbol that is solved is in what another is"
    for a in range(1, 5):
        for b in range(1, 5):
            for c in range(1, 5):
                sizes = dict(zip(SYMBOLS, (a, b, c)))
                if zero_of(messages, sizes):
                    assert all(value_at(size, sizes) == sizes[symbol] for symbol, size in solved.items())
    for message in messages:  # each is 0 by form from then on
        assert substitute_sizes(message, solved) == 0


def test_a_symbol_is_not_solved_by_itself():
    solved: dict[SizeSymbol, Any] = {}
    assert not solve(solved, SEQ * SEQ - SEQ) and not solve(solved, 2 * SEQ - 3 * KEY) and not solved
    assert solve(solved, SEQ - KEY * BATCH) and solved in ({SYMBOLS[2]: KEY * BATCH},)


@given(linear, linear, at_sizes)
def test_a_canonical_size_has_the_same_value_where_the_equation_holds(other, size, sizes):
    equation = other - value_at(other, sizes)  # which holds here
    assume(isinstance(equation, Extent) and isinstance(size, Extent))
    with conditions() as collected:
        assert size_conditions.assume_equal(equation, 0)
        assert value_at(canonical(size), sizes) == value_at(size, sizes)
        assert {*collected.solved}.isdisjoint(symbols_of(canonical(size)))


# --------------------------------------------------------------------------------------------------------- conditions
def test_without_a_plan_nothing_is_assumed():
    for ask in (size_conditions.assume_equal, size_conditions.assume_at_most):
        with pytest.raises(UndecidedSizeError):
            ask(SEQ, KEY)
    with pytest.raises(UndecidedSizeError):
        size_conditions.assume_divides(2, SEQ)


def test_what_the_form_decides_is_no_condition():
    for by_example in (False, True):
        with conditions(by_example) as collected:
            assert size_conditions.assume_equal(SEQ + 1, 1 + SEQ) and not size_conditions.assume_equal(SEQ, SEQ + 1)
            assert not size_conditions.assume_equal(SEQ + BATCH, 1)  # each is at least 1
            assert size_conditions.assume_at_most(1, SEQ) and not size_conditions.assume_at_most(SEQ + 1, SEQ)
            assert size_conditions.assume_divides(SEQ, 2 * SEQ) and size_conditions.assume_divides(2, 6)
            assert not size_conditions.assume_divides(4, 6) and not size_conditions.assume_divides(0, 6)
        assert not collected.found and not collected.solved and not collected.parts


def test_without_an_example_all_is_taken_to_hold():
    with conditions() as collected:
        assert size_conditions.assume_at_most(9, SEQ) and size_conditions.assume_at_most(SEQ, 3)
    assert [*map(str, collected.found)] == ["9 <= seq", "seq <= 3"]


def test_an_example_decides_and_its_answer_is_the_condition():
    with conditions(by_example=True) as collected:
        assert size_conditions.assume_at_most(5, SEQ) and not size_conditions.assume_at_most(8, SEQ)
        assert not size_conditions.assume_equal(SEQ, 2 * KEY)
    assert [*map(str, collected.found)] == ["5 <= seq", "8 > seq", "seq != 2 * key"]


@given(linear, linear, at_sizes, st.booleans(), st.sampled_from(["assume_equal", "assume_at_most"]))
def test_an_answer_holds_of_each_size_that_meets_the_conditions(left, right, sizes, by_example, question):
    with conditions(by_example) as collected:
        answer = getattr(size_conditions, question)(left, right)
    relation = operator.eq if question == "assume_equal" else operator.le
    meets = all(condition.holds(sizes) for condition in collected.found) and all(
        value_at(size, sizes) == sizes[symbol] for symbol, size in collected.solved.items()
    )
    if meets:
        assert answer == relation(value_at(left, sizes), value_at(right, sizes))
    if by_example:
        assert answer == relation(typical(left), typical(right)), "the example's own plan"


@given(linear, linear, at_sizes)
def test_by_example_each_equation_is_checked_too(left, right, sizes):
    """What is solved does not have to be checked by itself only where sizes are read from arrays by it."""
    with conditions(by_example=True) as collected:
        answer = size_conditions.assume_equal(left, right)
    if all(condition.holds(sizes) for condition in collected.found):
        assert answer == (value_at(left, sizes) == value_at(right, sizes))


@pytest.mark.parametrize(("part", "example", "divides"), [(2, 6, True), (3, 7, False), (1, 1, True), (5, 5, True)])
def test_a_part_that_divides_becomes_a_size_of_its_own(part, example, divides):
    seq = SizeSymbol("seq", "seq", example)
    with conditions(by_example=True) as collected:
        assert size_conditions.assume_divides(part, extent(seq)) == divides
        again = canonical(extent(seq))
        if divides and part > 1:
            assert size_conditions.assume_divides(part, again) and again % part == 0
    for size in range(1, 40):
        values: dict[SizeSymbol, int] = {seq: size}
        values |= {symbol: value_at(whole, values) for symbol, whole in collected.parts.items()}
        assert all(condition.holds(values) for condition in collected.found) == ((size % part == 0) == divides)
        if divides and size % part == 0:
            assert value_at(again, values) == size


def test_what_divides_is_not_guessed_of_several_sizes():
    with conditions(by_example=True):
        for part, whole in ((KEY, SEQ), (2, SEQ * KEY), (4, SEQ + 1)):
            with pytest.raises(UndecidedSizeError):
                size_conditions.assume_divides(part, whole)


def test_a_limit_is_a_condition_of_calls_alone():
    with conditions(by_example=True) as of_calls:
        limit_size(SEQ * SEQ * KEY, 10**6)
        limit_size(SEQ, extents.MAX_SIZE)
    assert [*map(str, of_calls.found)] == ["key * seq * seq <= 1000000"]
    with conditions() as declared:
        limit_size(SEQ * SEQ * KEY, 10**6)
    assert not declared.found


@given(linear, linear, st.sampled_from([*size_conditions.RELATIONS]), at_sizes)
def test_a_condition_says_in_its_text_what_it_checks(left, right, relation, sizes):
    condition = SizeCondition(left, relation, right)
    result = eval(str(condition), {}, {symbol.name: size for symbol, size in sizes.items()})
    assert result == condition.holds(sizes)
    assert condition.shown == f"{format_size(left)} {size_conditions.SIGNS[relation]} {format_size(right)}"


def test_conditions_end_with_their_plan():
    with pytest.raises(KeyError), conditions(by_example=True):
        raise KeyError
    with pytest.raises(UndecidedSizeError):
        size_conditions.assume_at_most(5, SEQ)


COUNTER = SizeSymbol("t", "")


@given(linear, linear, st.integers(-3, 3), at_sizes)
def test_what_is_assumed_of_a_counter_holds_of_each_of_its_numbers(left, right, step, sizes):
    """t from 1 to |seq|."""
    left = left + step * extent(COUNTER)
    with conditions() as collected, size_conditions.counting({COUNTER: (1, SEQ)}):
        answer = size_conditions.assume_at_most(left, right)
    holds = [value_at(left, {**sizes, COUNTER: t}) <= value_at(right, sizes) for t in range(1, sizes[SYMBOLS[2]] + 1)]
    if all(condition.holds(sizes) for condition in collected.found):
        assert answer == all(holds)
    else:
        assert answer and not all(holds)


def test_no_equation_holds_of_a_counter_and_ranges_may_follow_another():
    with conditions() as collected, size_conditions.counting({SYMBOLS[2]: (1, KEY), COUNTER: (1, SEQ)}):
        assert not size_conditions.assume_equal(extent(COUNTER), 3) and size_conditions.counter_named("t") is not None
        assert size_conditions.assume_at_most(extent(COUNTER), KEY) and size_conditions.assume_at_most(
            extent(COUNTER), 4
        )
        with pytest.raises(UndecidedSizeError):
            size_conditions.assume_at_most(extent(COUNTER) * extent(COUNTER), 4)
    assert [*map(str, collected.found)] == ["key <= 4"] and size_conditions.counter_named("t") is None


def test_what_failed_is_not_assumed():
    with conditions() as collected:
        with pytest.raises(KeyError), size_conditions.retract_after(KeyError):
            assert size_conditions.assume_at_most(SEQ, 3) and size_conditions.assume_equal(KEY, 2)
            raise KeyError
        assert not collected.found and not collected.solved


def test_a_retracted_block_leaves_no_assumption():
    with conditions() as collected:
        with pytest.raises(KeyError), retract_after(KeyError):
            assert assume_divides(2, SEQ)
            raise KeyError
        assert not (collected.found or collected.solved or collected.parts) and canonical(SEQ) == SEQ
