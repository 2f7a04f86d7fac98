"""What a caller gives away may be written over, and nothing else; the values are the same either way."""

import copy
import pickle

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.core.arrays import place_array
from namedtensor.planning.plan import CHECKS, Plan, PlanValue, Step
from namedtensor.planning.primitives import MalformedPlanError, verify_memory
from namedtensor.programs.entry_points import EntryPoints

PUT = "put(x, X) = { x if iota_{n} = p; X otherwise }\np ∈ ℝ\n"
SHARED, APART = True, False
PROGRAMS = {  # and whether K lies where X lay
    "one slice": ("K = put(k, X)", SHARED),
    "two slices": ("K = put(2 k, put(k, X) + 0 W)", SHARED),
    "a slice of itself": ("K = put(X_{n(1)}, X)", APART),
    "a slice at a place of its own": ("K = { k if iota_{n} = X_{n(1), a(1)}; X otherwise }", APART),
    "a function of numbers": ("K = tanh(X)", SHARED),
    "a sum": ("K = W + X", SHARED),
    "read before": ("K = Y + put(k, X)\nY = ∑_{n} X", SHARED),
    "read again": ("K = put(k, X)\nY = K ⊙ X", APART),
    "given back": ("K = put(k, X)\nY = X", APART),
    "given back in part": ("K = put(k, X)\nY = X_{n(2)}", APART),
    "renamed": ("K = put(k, X)_{a→b}", SHARED),
    "of another type": ("K = 𝕀[X ≥ W]", APART),
    "of another shape": ("K = X + v\nv ∈ ℝ^{b}", APART),
    "kept by a function of Python": ("K = tanh(X) + 0 Y\nY = same(X)", APART),
    "kept by the second argument of one": ("K = tanh(X) + 0 Y\nY = second(W, X)", APART),
    "what else has a way to begin again": ("K = softmax_{n}(X)", SHARED),
}


@pytest.fixture(autouse=True)
def functions():
    nt.custom_function("same : ℝ → ℝ")(lambda x: x)
    nt.custom_function("second : ℝ × ℝ → ℝ")(lambda x, y: y)


def asked(name):
    """A program, the names that are asked for, and what they need."""
    text, shared = PROGRAMS[name]
    program = nt.program(f"{PUT if 'put' in text else ''}{text}\nX, W ∈ ℝ^{{n × a}}\nk ∈ ℝ^{{a}}")
    draw = np.random.default_rng(3).normal
    shapes = {"X": "n a", "W": "n a", "k": "a", "v": "b"}
    sizes = {"n": 5, "a": 4, "b": 3}
    values = {
        other: nt.tensor(draw(size=[sizes[axis] for axis in axes.split()]), axes) for other, axes in shapes.items()
    }
    values["p"] = nt.tensor(2.0)
    used = {other: value for other, value in values.items() if other in text + "p" * ("put" in text)}
    return program, ("K", "Y") if "\nY" in text else ("K",), used, shared


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_result_lies_in_what_was_given_away_where_that_is_read_no_more(name):
    program, names, values, shared = asked(name)
    right, deepcopy = program[names](values=values), copy.deepcopy(values)
    entry = EntryPoints(program, names, donated="X")
    for _ in range(2):  # by the slow path, and by layouts
        deepcopy["X"] = copy.deepcopy(values["X"])
        result = entry(values=deepcopy)
        assert np.shares_memory(result[0].array, deepcopy["X"].array) == shared
        for one, other in zip(result, right):
            assert one.axes == other.axes
            np.testing.assert_allclose(one.array, other.array, rtol=1e-14)
        for text in values.keys() - {"X"}:
            np.testing.assert_array_equal(deepcopy[text].array, values[text].array)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_not_given_away_is_never_written(name):
    program, names, values, _ = asked(name)
    before = copy.deepcopy(values)
    for entry in (program[names], EntryPoints(program, names, donated="W"), program[names]):
        tensors = {**values, "W": copy.deepcopy(values["W"])} if "W" in values else values
        entry(values=tensors)
        np.testing.assert_array_equal(values["X"].array, before["X"].array)
    assert all((values[value].array == before[value].array).all() for value in values)


LAYERS = """
    X^l = tanh(X^{l-1} + W^l ⊙_{n} K^l) for l = 1, …, 9
    K^l = { X^{l-1} if iota_{n} = p; past^l otherwise } for l = 1, …, 9
    W^l ∈ ℝ^{n} for l = 1, …, 9
    past^l ∈ ℝ^{n × a} for l = 1, …, 9
    X^0 ∈ ℝ^{a}
    p ∈ ℝ
"""
READ = {  # what reads the members of a loop besides it, and which of them it may write over
    "nothing": ("", {*range(1, 10)}),
    "the value of another name": ("Y = ∑_{n} past^3", set()),
    "what is given back": ("Y = past^3", set()),
}


@pytest.mark.parametrize("name", READ)
def test_a_loop_writes_over_its_members_where_nothing_else_reads_them(name):
    text, written = READ[name]
    program = nt.program(f"{LAYERS}\n{text}")
    draw, past = np.random.default_rng(4).normal, [f"past^{l}" for l in range(1, 10)]
    values = {f"W^{l}": nt.tensor(draw(size=5), "n") for l in range(1, 10)}
    values |= {"X^0": nt.tensor(draw(size=4), "a"), "p": nt.tensor(2.0)}
    values |= {item: nt.tensor(draw(size=(5, 4)), "n a") for item in past}
    names = ("X^9", *(f"K^{l}" for l in range(1, 10)), *(["Y"] if text else []))
    right, deepcopy = program[names](values=values), copy.deepcopy(values)
    entry = EntryPoints(program, names, donated=past)
    result = entry(values=deepcopy)
    assert "loop" in {step.primitive for step in entry._last_used.plan.steps}
    for one, other in zip(result, right):
        np.testing.assert_allclose(one.to_array(other.axes), other.array, rtol=1e-14)
    shared = [np.shares_memory(item.array, deepcopy[f"past^{l}"].array) for l, item in enumerate(result[1:10], 1)]
    assert {l for l, item in enumerate(shared, 1) if item} == written
    texts = [value for value in values if (deepcopy[value].array == values[value].array).all()]
    assert {*values} - {*texts} == {f"past^{l}" for l in written}


def test_an_entry_that_is_copied_is_given_the_same():
    program, names, values, _ = asked("one slice")
    entry = pickle.loads(pickle.dumps(EntryPoints(program, names, donated="X")))
    (result,) = entry(values=values)
    assert np.shares_memory(result.array, values["X"].array)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_libraries_leave_it_as_it_is(library):
    pytest.importorskip(library)
    program, names, values, _ = asked("one slice")
    (right,) = program[names](values=values)
    there = {
        name: nt.tensor(place_array(value.array, library, "float32"), value.axes) for name, value in values.items()
    }
    (result,) = EntryPoints(program, names, donated="X")(values=there)
    np.testing.assert_allclose(np.asarray(result.array), right.to_array(result.axes), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(there["X"].array), values["X"].array, rtol=1e-6)


def test_results_of_functions_of_python_are_read_as_they_were_given():
    """Such a function may give its second argument back, which was dead before."""
    text = "K = second(W, T) + tanh(T)\nT = exp(X)\nX, W ∈ ℝ^{n}"
    X = nt.tensor([0.5, 1.0], "n")
    result = nt.program(text)(X=X, W=X)
    np.testing.assert_allclose(result.array, np.exp(X.array) + np.tanh(np.exp(X.array)))


def test_a_plan_that_writes_over_another_input_is_malformed():
    x, before = PlanValue(("a",), (2,), "float64"), [*CHECKS]
    CHECKS.clear()
    try:
        step = Step(PlanValue(("a",), (2,), "float64"), "exp", (x,), {})
        verify_memory(Plan("", ["x"], [x], [step], [step.value], donated=[x]), {step.value: x})
        with pytest.raises(MalformedPlanError, match="written over an input"):
            verify_memory(Plan("", ["x"], [x], [step], [step.value]), {step.value: x})
    finally:
        CHECKS[:] = before
