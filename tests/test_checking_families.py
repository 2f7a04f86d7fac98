"""Families whose members are defined by elements, and recurrences as sequences: against loops and the reference."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
SUMS = np.cumsum(X, axis=0)
RUNNING = """\
h^t_{chans(i)} = h^{t-1}_{chans(i)} + X_{seq(t), chans(i)} for t = 1, …, n
h^0_{chans(i)} = 0
n = |seq|
X ∈ ℝ^{seq × chans}
"""

CASES = {
    "a member": ("Y = h^2", SUMS[1], "chans"),
    "the last": ("Y = h^n", SUMS[2], "chans"),
    "a sequence of all": ("H_{seq(t)} = h^t", SUMS, "seq chans"),
    "with the one before": ("H_{seq(t)} = h^t - h^{t-1}", X, "seq chans"),
    "by further elements": (
        "H_{seq(t), chans(i)} = h^t_{chans(i)} + i^t",
        SUMS + [[1, 2], [1, 4], [1, 8]],
        "seq chans",
    ),
    "mapped over": ("H_{seq(t)} = h^t ⊙ E\nE ∈ ℝ", 2 * SUMS, "seq chans"),
}


@pytest.mark.parametrize("case", CASES)
def test_against_a_loop_and_the_reference(case):
    text, expected, axes = CASES[case]
    result = nt.evaluate(RUNNING + text, X=nt.tensor(X, "seq chans"), **({"E": 2.0} if "E" in text else {}))
    assert np.array_equal(result.to_array(axes), expected)
    inputs = {"X": reference.tensor(X.tolist(), "seq chans")} | ({"E": 2.0} if "E" in text else {})
    assert np.array_equal(reference.evaluate(RUNNING + text, inputs).to_list(axes), expected)


def test_a_batch_is_mapped_over():
    batch = nt.tensor(np.stack([X, 3 * X]), "batch seq chans")
    result = nt.evaluate(RUNNING + "H_{seq(t)} = h^t", X=batch)
    assert np.array_equal(result.to_array("batch seq chans"), [SUMS, 3 * SUMS])


def test_a_recurrent_network_gives_all_its_states():
    text = "h^t = tanh(W ⊙_{hidden} h^{t-1}_{hidden'→hidden}) for t = 1, …, 4\nh^0 ∈ ℝ^{hidden'}\nH_{step(t)} = h^t"
    W, first = np.array([[0.5, -1.0], [2.0, 0.25]]), np.array([1.0, -0.5])
    result = nt.evaluate(
        text, {"W": nt.tensor(W, "hidden hidden'"), "h^0": nt.tensor(first, "hidden'")}, sizes={"step": 4}
    )
    state, states = first, []
    for _ in range(4):
        state = np.tanh(state @ W)
        states.append(state)
    np.testing.assert_allclose(result.to_array("step hidden'"), states)


def test_a_power_by_an_element_stays_a_power():
    result = nt.evaluate("Y_{seq(i)} = x^i\nx ∈ ℝ", x=3.0, sizes={"seq": 3})
    assert result.to_array().tolist() == [3, 9, 27]


def test_an_element_outside_the_range_of_a_family_is_no_member():
    text = "h^t = 2 h^{t-1} for t = 1, …, 2\nh^0 = x\nH_{seq(t)} = h^t"
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text, x=1.0, sizes={"seq": 3})
    assert caught.value.kind == "name" and "h^3" in str(caught.value)


def test_what_a_downward_recurrence_begins_with_may_be_named_by_its_number():
    """a^{n+1} = … is where a^t for t = n, …, 1 begins, whatever n is."""
    text = "a^{n+1} = x\na^t = 2 a^{t+1} + t for t = n, …, 1\ny = a^1 + a^n"
    after, values = 3.0, []
    for t in (4, 3, 2, 1):
        after = 2 * after + t
        values.append(after)
    assert float(nt.evaluate(text, x=3.0, sizes={"n": 4})) == values[-1] + values[0]
    assert reference.evaluate(text, {"x": 3.0}, sizes={"n": 4}).to_list(()) == values[-1] + values[0]


OWN_STARTS = """\
f : ℝ^{ax} → ℝ
f(X) = h^2 + |ax|
h^0 = |ax|
h^t = h^{t-1} + ∑_{ax} X for t = 1, …, 2
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("out = f(A) + 0 ⊙ ∑_{ax} B", 2 + 2 + 2 * 3),
        ("out = f(A) + f(B)", 2 + 2 + 2 * 3 + 3 + 3 + 2 * 12),
        ("out = ∑_{batch} f(A ⊙ [1, 2]_{batch}) + 0 ⊙ ∑_{ax} B", 4 + 4 + 2 * 9),
    ],
)
def test_a_start_that_is_a_size_has_that_of_the_call(text, expected):
    A, B = [1.0, 2.0], [3.0, 4.0, 5.0]
    tensors = {"A": nt.tensor(A, "ax"), "B": nt.tensor(B, "ax")}
    assert float(nt.evaluate(OWN_STARTS + text, **tensors)) == expected
    plain = {"A": reference.tensor(A, "ax"), "B": reference.tensor(B, "ax")}
    assert reference.evaluate(OWN_STARTS + text, plain).to_list("") == expected


def test_a_start_asks_for_the_size_that_a_step_makes():
    text = (
        "F^0 = [2, |seq|]_{b}\nF^1 = B\nF^l = (∑_{seq} F^{l-1} ⊙ [3, −0.5]_{seq}) + F^{l-2} for l = 2, …, 4\nout = F^2"
    )
    assert nt.evaluate(text, B=nt.tensor([1.0, 2.0], "b")).to_array("b").tolist() == [4.5, 7.0]
    assert reference.evaluate(text, {"B": reference.tensor([1.0, 2.0], "b")}).to_list("b") == [4.5, 7.0]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("n = 4\na^{n} = 3\na^4", "a^n, n"),
        ("n = 4\na^{n+1} = 3\na^5", "a^{n+1}, n"),
        ("n = 4\na_{n} = 3\na_4", "a_n, n"),
        ("x = 1\nC = x\nC ← C + 1\nC ⊙ z", "C, x\n"),
    ],
)
def test_a_name_is_known_by_the_value_of_its_label_in_a_family_alone(text, known):
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(text)
    assert caught.value.code == 201 and f"defined names: {known}" in str(caught.value)
