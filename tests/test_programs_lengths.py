"""Lengths that nobody planned: served by plans of other lengths where these say the same, and planned where not."""

from __future__ import annotations

import gc
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.backends.kept_code import split_at_numbers
from namedtensor.backends.resized import Law, law_of
from namedtensor.programs import call_cache, lengths
from namedtensor.programs.program import EntryPoint
from namedtensor.programs.sizes_used import says_sizes

LAYERS = """
attention(X) = softmax_{seq}((X ⊙_{chans} Q)_{seq→query} ⊙_{key} (X ⊙_{chans} K) / √|key| + M) ⊙_{seq} X
M_{query(i), seq(j)} = { 0 if j ≤ i; −∞ otherwise }
X^0 = E_{vocab(ids)}
X^l = standardize_{chans}(X^{l-1} + attention(X^{l-1})_{query→seq}) + tanh(X^{l-1}) / |seq| for l = 1, …, 3
Y = X^3
"""
DRAW = np.random.default_rng(0)
GIVEN: dict[str, Any] = {
    name: nt.tensor(DRAW.normal(size=(6, 6)), axes) for name, axes in {"Q": "chans key", "K": "chans key", "E": "vocab chans"}.items()
}  # fmt: skip


def ids(length: int, library: str = "numpy"):
    numbers = np.arange(length) % 6 + 1
    if library == "torch":
        torch = pytest.importorskip("torch")
        return nt.tensor(torch.asarray(numbers), "seq")
    return nt.tensor(numbers, "seq")


def weights(library: str) -> dict[str, Any]:
    if library == "numpy":
        return GIVEN
    torch = pytest.importorskip("torch")
    return {name: nt.tensor(torch.asarray(each.array), each.axes) for name, each in GIVEN.items()}


@pytest.fixture
def plans(monkeypatch):
    """The calls that were planned, by the length of their tokens."""
    found, made = [], EntryPoint._made

    def noted(self, given, *rest):
        found.append(given.values["ids"].sizes["seq"] if "ids" in given.values else None)
        return made(self, given, *rest)

    monkeypatch.setattr(EntryPoint, "_made", noted)
    return found


def fresh(text: str, **given):
    """The value by a plan of its own."""
    return nt.program(text)["Y"](**given)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_lengths_between_those_that_were_planned_cost_no_plan_and_give_the_same(plans, library):
    entry, given = nt.program(LAYERS)["Y"], weights(library)
    for length in (40, 60, 50):
        entry(ids=ids(length, library), **given)
    assert plans == [40, 60, 50]
    served = [entry(ids=ids(length, library), **given) for length in range(41, 60)]
    assert plans == [40, 60, 50]
    for length, value in zip(range(41, 60), served):
        wanted = fresh(LAYERS, ids=ids(length, library), **given)
        assert value.axes == wanted.axes and np.array_equal(np.asarray(value.array), np.asarray(wanted.array))


def test_lengths_that_grow_are_planned_ever_more_rarely(plans):
    entry = nt.program(LAYERS)["Y"]
    for length in range(20, 60):
        assert entry(ids=ids(length), **GIVEN).sizes == {"seq": length, "chans": 6}
    assert len(plans) <= 16 and all(each > 20 for each in plans[1:])


def test_repeated_calls_and_further_ones_take_the_same_way(plans):
    entry = nt.program(LAYERS)["Y"]
    for _ in range(2):
        for length in (9, 30, 17, 12, 25):
            value = entry(ids=ids(length), **GIVEN)
            assert np.array_equal(value.array, fresh(LAYERS, ids=ids(length), **GIVEN).array)
    assert plans[0] == 9 and {9, 30, 17} <= {*plans}


def test_the_plan_of_a_length_that_was_served_is_that_of_this_length():
    compiled = nt.program(LAYERS)["Y"].compile("numpy")
    for length in (9, 30, 17, 13):
        compiled(ids=ids(length), **GIVEN)
    alone = nt.program(LAYERS)["Y"].compile("numpy")
    alone(ids=ids(13), **GIVEN)
    assert str(compiled.plan) == str(alone.plan) and compiled.source == alone.source and "seq[13]" in str(compiled.plan)


def test_what_fails_is_told_of_the_formula():
    entry = nt.program(LAYERS)["Y"]
    for length in (9, 30, 17):
        entry(ids=ids(length), **GIVEN)
    wrong = nt.tensor(np.arange(20), "seq")
    with pytest.raises(nt.NotationError) as served:
        entry(ids=wrong, **GIVEN)
    with pytest.raises(nt.NotationError) as planned:
        fresh(LAYERS, ids=wrong, **GIVEN)
    assert str(served.value) == str(planned.value)


def test_another_size_than_that_which_was_learned_is_planned(plans):
    entry = nt.program(LAYERS)["Y"]
    for length in (9, 30, 17, 12):
        entry(ids=ids(length), **GIVEN)
    wide = {**GIVEN, "E": nt.tensor(DRAW.normal(size=(12, 6)), "vocab chans")}
    assert np.array_equal(entry(ids=ids(12), **wide).array, fresh(LAYERS, ids=ids(12), **wide).array)
    assert plans[:4] == [9, 30, 17, 12]


@pytest.mark.parametrize(
    ("statement", "size"),
    [("|seq| = 2 |half|", 13), ("ids ∈ ℝ^{seq[3 k]}", 13)],
)
def test_what_a_program_says_of_its_sizes_is_held_to_each(statement, size):
    text = f"{statement}\n{LAYERS}\n" + ("Z_{half(i)} = i" if "half" in statement else "Z = k")
    entry = nt.program(text)["Y"]
    for length in (12, 30, 18):
        entry(ids=ids(length), **GIVEN)
    with pytest.raises(nt.NotationError):
        entry(ids=ids(size), **GIVEN)


def test_claims_are_judged_for_each_length():
    text = f"{LAYERS}\nids ∈ {{1, 2, 3, 4, 5}}^{{seq}}"
    entry = nt.program(text)["Y"]
    for length in (9, 30, 17, 12):
        with pytest.raises(nt.NotationError):
            entry(ids=ids(length), **GIVEN)
        entry(ids=nt.tensor(np.arange(length) % 5 + 1, "seq"), **GIVEN)


def test_a_name_that_the_program_does_not_have_is_refused_at_each_length():
    further: dict[str, Any] = {**GIVEN, "B": nt.tensor([1.0], "foo")}
    for length in (9, 30, 17, 12):
        nt.evaluate(LAYERS, GIVEN, ids=ids(length))
        with pytest.raises(nt.NotationError, match="the formula has no B"):
            nt.evaluate(LAYERS, ids=ids(length), **further)


def test_what_lengths_leave_behind_is_bounded_by_bytes(monkeypatch):
    monkeypatch.setattr(call_cache, "BYTES", 2**20)
    tokens = [ids(length) for length in range(5, 205, 5)]  # whose masks are 4 MB
    entry = nt.program(LAYERS)["Y"]
    for each in tokens[::2]:
        entry(ids=each, **GIVEN)
    gc.collect()
    tracemalloc.start()
    try:
        for each in tokens:
            entry(ids=each, **GIVEN)
        assert entry._executables.bytes <= 2**20
        gc.collect()
        gc.disable()  # what is dropped is freed at once
        before = tracemalloc.get_traced_memory()[0]
        for each in tokens:
            entry(ids=each, **GIVEN)
        assert tracemalloc.get_traced_memory()[0] - before < 2**20  # without that, 5 MB and more
        assert before < 2**20 + entry._lengths.nbytes + 2**18
    finally:
        gc.enable()
        tracemalloc.stop()


def test_a_plan_counts_what_it_holds(monkeypatch):
    monkeypatch.setattr(lengths, "is_worth_it", lambda made: False)
    entry = nt.program(LAYERS)["Y"]
    tokens = [ids(length) for length in range(60, 66)]
    entry(ids=ids(50), **GIVEN)
    gc.collect()
    tracemalloc.start()
    try:
        counted = entry._executables.bytes
        for each in tokens:
            entry(ids=each, **GIVEN)
        gc.collect()
        kept, counted = tracemalloc.get_traced_memory()[0], entry._executables.bytes - counted
    finally:
        tracemalloc.stop()
    assert 0.5 * counted < kept < 1.1 * counted


def test_tiles_of_lengths_that_differ_by_little_are_the_same(plans):
    entry = nt.program(LAYERS)["Y"]
    for length in range(400, 430):
        entry(ids=ids(length), **GIVEN)
    assert len(plans) <= 12


ALIKE = {
    "a mask": "Y = softmax_{seq}((X ⊙_{chans} X_{seq→query}) / √|chans| + M) ⊙_{seq} X\nM_{query(i), seq(j)} = { 0 if j ≤ i; −∞ otherwise }",
    "a condition on a size": "Y = { X if |seq| > 40; 2 X + 1 otherwise }",
    "a condition on places": "Y_{seq(i)} = { X_{seq(i)} if i ≤ 50; 0 otherwise }",
    "the last place": "Y_{seq(i)} = { X_{seq(i)} if i = |seq|; X_{seq(i+1)} if i < |seq| }",
    "a sum up to a size": "Y = ∑_{i=1}^{|seq|} i X_{seq(i)}",
    "a recurrence over a size": "h^0 = 0\nh^t = tanh(h^{t-1} + X_{seq(t)}) for t = 1, …, |seq|\nY = h^{|seq|}",
    "powers of a size": "Y = X / √|seq| + |seq|^2 X + 1/|seq| + 2^{|seq|/100}",
    "places of a size": "Y = X_{seq(|seq|)} + X_{seq(1)}",
    "a place that few have": "Y = X_{seq(3)}",
    "tiles": "Y = softmax_{seq}(X ⊙_{chans} X_{seq→query}) ⊙_{query} X_{seq→query}",
    "statistics": "Y = standardize_{seq}(X) + max_{seq} X - mean_{seq, chans}(X)",
    "a merged axis": "Y = X_{(seq,chans)→flat}",
    "a claim about a size": "Y = X\n|seq| ≥ 3",
}


def outcome(call, *given, **named):
    """A value with its axes, or the text of its error."""
    try:
        value = call(*given, **named)
    except nt.NotationError as problem:
        return str(problem), ()
    return value.axes, np.asarray(value.array)


@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_each_length_gives_what_a_plan_of_its_own_gives(text, monkeypatch):
    monkeypatch.setattr(lengths, "STEPS", 0)
    entry = nt.program(text)["Y"]
    for length in (31, 36, 57, 40, 44, 1, 2, 3, 5, 4, 700, 1000, 650, 41, 990, 58):
        x = nt.tensor(DRAW.normal(size=(length, 4)), "seq chans")
        (axes, found), (own_axes, own) = outcome(entry, X=x), outcome(fresh, text, X=x)
        assert axes == own_axes and np.array_equal(found, own, equal_nan=True), length


# ---------------------------------------------------------------------------------------------------------------- laws
@pytest.mark.parametrize(
    ("sizes", "numbers", "law"),
    [
        ((3, 5, 9), (3, 5, 9), Law(1, Fraction(1), Fraction(0))),
        ((3, 5, 9), (8, 12, 20), Law(1, Fraction(2), Fraction(2))),
        ((4, 6, 10), (2, 3, 5), Law(1, Fraction(1, 2), Fraction(0))),
        ((3, 5, 9), (27, 75, 243), Law(2, Fraction(3), 0)),
        ((3, 5, 9), (1 / 3, 1 / 5, 1 / 9), Law(-1, 1.0, 0)),
        ((3, 5, 9), (3.0, 5.0, 9.0), Law(1, 1.0, 0)),
        ((3, 5, 9), (3**-0.5, 5**-0.5, 9**-0.5), None),  # rounded otherwise: no law is guessed
        ((3, 5, 9), (3, 5, 10), None),
        ((3, 5, 9), (1, 2, 4), None),  # half of it, rounded down
        ((3, 5, 9), (3, 5.0, 9), None),
    ],
)
def test_a_law_is_one_that_all_numbers_follow(sizes, numbers, law):
    found = law_of(sizes, numbers)
    if law is None and found is not None:  # exact after all on this machine
        assert [found.at(size) for size in sizes] == list(numbers)
        return
    assert found == law


def test_a_law_gives_no_part_of_an_element():
    assert Law(1, Fraction(1, 2), 0).at(7) is None and Law(1, Fraction(1), -9).at(7) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("t1 = x2.reshape((31, 64))", ("31", "64")),
        ("a = np.float32(1e-05) + 2.5", ("1e-05", "2.5")),
        ("b = x[:, :31, None] - 1", ("31", "1")),
        ("einsum('a1b2', \"3\", 4)", ("4",)),
        ("t_3 = size_1 * 0x10", ("0x10",)),
    ],
)
def test_a_text_is_cut_at_its_numbers(text, numbers):
    found = split_at_numbers(text)
    assert found.numbers == numbers
    assert "".join(each for pair in zip(found.between, (*numbers, "")) for each in pair) == text


def says(text, fixed=(), numbers=()):
    return says_sizes(nt.program(text)._goal.program.scope, {"seq"}, fixed, numbers)


def test_sums_of_sizes_are_served_and_products_are_not():
    assert not says("|memory| = |seq| + before\nX_{seq(1)}") and not says("X ∈ ℝ^{seq[n] × chans[4]}\nX")
    assert says("|seq| = 2 |half|\nX_{half(1)}") and says("X ∈ ℝ^{seq[2n]}\nX") and says("|seq| = k · k\nX + k")


@pytest.mark.parametrize(
    "text",
    [
        "X / √|seq| + 2 |seq| X - |seq|^2", "softmax_{seq}(X ⊙_{chans} X / √|chans|)", "f(x) = x / |seq|\nf(X)",
        "∑_{i=1}^{|seq|} i X_{seq(i)}", "X_{seq(|seq| - 1)}", "{ X if |seq| > 40; 2 X otherwise }", "cos(|seq| X)",
        "Y_{seq(i)} = { X_{seq(i)} if i = |seq|; 0 otherwise }\nY", "h^t = h^{t-1} + t for t = 1, …, |seq|\nh^0 = X",
        "X ∈ ℝ^{seq[n]}\nX / n", "P_{seq(i)} = cos(i / |seq|)\nP + X", "𝕀[X > |seq|]", "f(x) = cos(x)\nf(X) / |seq|",
    ],
)  # fmt: skip
def test_what_follows_a_law_of_its_size_is_served(text):
    assert not says(text)


@pytest.mark.parametrize(
    "text",
    [
        "(-1)^{|seq|} X", "cos(π |seq|) X", "X - 2 floor(|seq|/2) X", "{ X if |seq| = 44; 2 X otherwise }", "X^{|seq|}",
        "k = |seq|\ncos(k) X", "f(x) = cos(x)\nf(|seq|) X", "f(x) = x |seq|\ncos(f(2)) X", "2^{|seq|} X",
        "X ∈ ℝ^{seq[n]}\ncos(n) X", "k = 2\ncos(k |seq|) X", "|seq| · |seq| · |seq| + X", "∑_{i=1}^{3} cos(i |seq|) X",
        "{ X if |seq| (50 - |seq|) > 600; 2 X otherwise }", "max(|seq|, 44) X", "h^0 = 1\nh^t = 2 h^{t-1} for t = 1, …, 3\ncos(h^3 |seq|) X",
        "Y_{seq(i)} = X_{seq(i)} cos(|seq|)\nY", "X_{seq(|seq|/2)}", "{ cos(|seq|) if X > 0; 0 otherwise }",
        "h^t = h^{t-1} + t for t = 1, …, |seq|\nh^0 = X\nh^{|seq|} + 1",
    ],
)  # fmt: skip
def test_what_else_is_made_of_its_size_is_planned_for_each(text):
    assert says(text)


def test_a_size_that_no_call_changes_may_be_used_in_any_way():
    assert says("X cos(|chans|)") and not says("X cos(|chans|)", fixed=["chans"])
    assert says("f(x) = x cos(|chans|)\nf(X)", fixed=["chans"])  # whose axes may be others
    assert says("X cos(k |seq|)", numbers=["k"]) and not says("X cos(k |seq|)")


@pytest.mark.parametrize("text", ["Y = (-1)^{|seq|} X", "Y = cos(π |seq|) X", "Y = { X if |seq| = 44; 2 X otherwise }"])
def test_what_three_lengths_do_not_tell_is_planned(text, monkeypatch):
    monkeypatch.setattr(lengths, "STEPS", 0)
    entry = nt.program(text)["Y"]
    for length in (31, 57, 301, 44, 45):  # all odd but one
        x = nt.tensor(np.ones(length), "seq")
        assert np.array_equal(entry(X=x).array, fresh(text, X=x).array)
