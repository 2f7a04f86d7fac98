"""Closed forms and proofs end after a bounded number of operations, whatever the exponents and however alike the indices are."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.derivations.closed_form import closed_form
from namedtensor.symbolic import algebra, canonical, factoring
from namedtensor.symbolic.work import MAX_WORK_OPERATIONS, TooLongError, open_budget, working

COUNTED = (
    (algebra, "normalize_product"),
    (canonical, "_refine_colors"),
    (canonical, "_parts_key"),
    (factoring, "find_shared_factors"),
)
MAX_OPERATIONS = 12_000  # of a closed form with a power


class TooMany(BaseException):
    """No error that a derivation could catch."""


@pytest.fixture
def operations(monkeypatch):
    """Count products, refinements, keys and factorings; `count[1]` is the most that there may be."""
    count = [0, MAX_OPERATIONS]

    def counted(function):
        def call(*arguments, **named):
            count[0] += 1
            if count[0] > count[1]:
                raise TooMany
            return function(*arguments, **named)

        return call

    for module, name in COUNTED:
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    return count


SHAPES = {"X": "ℝ^{a}", "Y": "ℝ^{a × b}", "n": "ℝ", "m": "ℝ"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("exponent", [2, 3, 8, 9, 10, 20, 60, 1000])
@pytest.mark.parametrize("base, inner", [
    ("∑_{a} X + n", "1"), ("∑_{a} X", "1"), ("(∑_{a} X) ⊙ n + m", "n"), ("∑_{a} X^2 + ∑_{a} X + n + m", "2 X + 1"),
    ("X ⊙_{a} X + n", "2 X"), ("∑_{a,b} Y ⊙ X + n ⊙ ∑_{a} X", "∑_{b} Y + n"),
])  # fmt: skip
def test_the_power_of_a_sum_stays_a_power(base, inner, exponent, operations):
    shapes = {name: shape for name, shape in SHAPES.items() if name in base}
    closed = nt.formula(f"∂(({base})^{exponent})/∂X").closed_form(**shapes)
    assert len(str(closed)) < 200
    values = {
        "X": nt.tensor([0.2, -0.1], "a"),
        "Y": nt.tensor([[0.1, 0.3, 0.2], [0.2, -0.4, 0.5]], "a b"),
        "n": 0.4,
        "m": 0.3,
    }
    values = {name: values[name] for name in shapes}
    expected = nt.evaluate(f"{exponent} ({base})^{exponent - 1} ⊙ ({inner}) + 0 ⊙ X", values)
    result = nt.evaluate(f"{closed}\nZ = D + 0 ⊙ X", values)
    np.testing.assert_allclose(result.to_array("a"), expected.to_array("a"))


@pytest.mark.parametrize("claim, verdict", [
    ("(∑_{a} X + n)^2 = (∑_{a} X)^2 + 2 n ⊙ ∑_{a} X + n^2", "proved"),
    ("(∑_{a} X + n)^7 ⊙ (∑_{a} X + n) = (∑_{a} X + n)^8", "proved"),
    ("(∑_{a} X)^8 = (∑_{a} X)^3 ⊙ (∑_{a} X)^5", "proved"),
    ("(∑_{a,b} Y ⊙ X)^6 = (∑_{a,b} Y ⊙ X)^3 ⊙ (∑_{a,b} X ⊙ Y)^3", "proved"),
    ("(X ⊙_{a} X)^2 = ∑_{a} X^4", "disproved"),
])  # fmt: skip
def test_equal_sums_in_a_product_are_proved_soon(claim, verdict, operations):
    """(∑ x)ⁿ has n! orders of its indices, all of which mean the same."""
    operations[1] = 20_000
    assert nt.prove(claim, **{name: shape for name, shape in SHAPES.items() if name in claim}).status == verdict


LONG = {
    "a product of many sums": " ⊙ ".join(f"(X ⊙_{{a}} u^{{{number}}} + n + m)" for number in range(30)),
    "a tower of powers": "((((((X ⊙_{a} X + n)^9 + m)^9 + n)^9 + m)^9 + n)^9 + m)^9",
    "many free axes": "(" + " ⊙ ".join(f"z_{{z→c{number}}}" for number in range(9)) + " + ∑_{a} X)^3",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", [0, 10, 100, 1000, MAX_WORK_OPERATIONS])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_budget_ends_a_derivation(text, limit, operations):
    """It is one for the whole question; then comes what was reached, or a sentence."""
    operations[1] = 50 * limit + 4000 if limit < MAX_WORK_OPERATIONS else 200_000
    shapes = {"X": "ℝ^{a}", "n": "ℝ", "m": "ℝ", "z": "ℝ^{z}"} | {f"u^{{{number}}}": "ℝ^{a}" for number in range(30)}
    shapes = {name: shape for name, shape in shapes.items() if name in text}
    try:
        closed = closed_form(nt.formula(f"∂({text})/∂X"), shapes, limit=limit)
        assert str(closed).count("\n") < 100
        assert (f"ended at {limit:,} operations" in closed.note) or not closed.note
    except nt.NotationError as problem:
        assert problem.code in (404, 405) and problem.message


def test_one_budget_for_all_simplifications():
    with pytest.raises(TooLongError), open_budget(100):
        for _ in range(10):
            with working() as work, open_budget(10**6):
                work.spend(30)


def test_what_may_be_left_out_has_a_part_of_the_budget():
    with working(limit=100) as work:
        reached = []
        with work.budget.part():
            for step in range(1000):
                work.spend(10)
                reached.append(step)
        assert len(reached) == 5 and work.budget.spent <= 50
        work.spend(40)


SUMS = " ⊙ ".join(f"(∑_{{a}} X ⊙ u^{{{number}}} + n)" for number in range(4))


def test_a_form_that_a_budget_cut_short_says_so():
    shapes = {"X": "ℝ^{a}", "n": "ℝ"} | {f"u^{{{number}}}": "ℝ^{a}" for number in range(4)}
    notes = {}
    for limit in (100, 200, 400, 800, 1600, MAX_WORK_OPERATIONS):
        try:
            closed = closed_form(nt.formula(f"∂({SUMS})/∂X"), shapes, limit=limit)
        except nt.NotationError as problem:
            assert f"this takes more than {limit} rewrites" in problem.message
            continue
        notes[limit] = closed.note, closed.length
    assert notes[MAX_WORK_OPERATIONS][0] == ""
    cut = [limit for limit, (note, _) in notes.items() if note]
    assert cut and all(notes[limit][0].endswith(f"ended at {limit:,} operations") for limit in cut)
    assert all(length >= notes[MAX_WORK_OPERATIONS][1] for _, length in notes.values())
