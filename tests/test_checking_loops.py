"""Long recurrences as loops: the same as written out, as plain NumPy, and in time and memory that do not grow with the steps."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from namedtensor import reference
from namedtensor.checking import loops
from namedtensor.programs.evaluate import EVALUATORS, EXECUTABLES

STEPS = 100
TIME = 130
RNG = np.random.default_rng(7)
X = nt.tensor(RNG.normal(size=(TIME, 3)), "time hidden")
W = nt.tensor(RNG.normal(size=(3, 3)) / 2, "hidden hidden'")
B = nt.tensor(RNG.normal(size=3), "hidden")
BATCH = nt.tensor(RNG.normal(size=(2, TIME, 3)), "batch time hidden")
WHOLE = nt.tensor(np.arange(1, 4), "hidden")
TOKENS = nt.tensor(RNG.integers(1, 4, TIME), "time")

RNN = """
h^0 = 0 · B
h^t = tanh([h^{t-1} ⊙_{hidden} W]_{hidden'→hidden} + X_{time(t)}) for t = 1, …, 100
"""
LSTM = """
c^0 = 0
h^0 = 0
g^t = σ(h^{t-1} + X_{time(t)}) for t = 1, …, 100
c^t = c^{t-1} ⊙ g^t + (1 - g^t) ⊙ tanh(h^{t-1} ⊙ B + X_{time(t)}) for t = 1, …, 100
h^t = tanh(c^t) ⊙ g^t for t = 1, …, 100
"""
# what is written -> how many loops its plan has
ROLLED = {
    "h^0 = 1\nh^t = h^{t-1}/2 + t for t = 1, …, 100": 1,
    "h^0 = B\nh^t = h^{t-1}/2 + t for t = 1, …, 100": 1,
    "h^0 = B\nh^t = h^{t-1}/t + X_{time(t)} for t = 1, …, 100": 1,
    "h^0 = B\nh^t = h^{t-1}/2 + X_{time(t+1)} - X_{time(2)} for t = 1, …, 100": 1,
    "h^3 = B\nh^t = h^{t-1}/2 + X_{time(t)} for t = 4, …, 100": 1,
    "h^0 = WHOLE\nh^t = h^{t-1} + t for t = 1, …, 100": 1,
    "h^0 = 1\nh^1 = B\nh^t = h^{t-1}/2 + h^{t-2}/3 - h^{t-2} ⊙ t / 100 for t = 2, …, 100": 1,
    "h^0 = B\nh^t = h^{t-1}/2 + 2^{-t} + t^2/100 for t = 1, …, 100": 1,
    "h^0 = B\nh^t = { h^{t-1}/2 if t > 50; h^{t-1} + 1 if t < 20; B otherwise } for t = 1, …, 100": 1,
    "h^0 = B\nh^t = { h^{t-1}/2 if h^{t-1} > t; h^{t-1} + 1 otherwise } for t = 1, …, 100": 1,
    "h^0 = B\nh^t = { X_{time(t-1)} if t > 1; B otherwise } + h^{t-1}/2 for t = 1, …, 100": 1,
    "h^0 = B\nh^t = ∑_{j=1}^{3} h^{t-1} / (j + t) for t = 1, …, 100": 1,
    "h^0 = B\nh^t_{hidden(i)} = h^{t-1}_{hidden(4-i)} + i/t for t = 1, …, 100": 1,
    "h^0 = B\nh^t = softmax_{hidden}(h^{t-1} + X_{time(t)}) for t = 1, …, 100": 1,
    "h^0 = B\nh^t = h^{t-1}/2 + W_{hidden'(TOKENS_{time(t)})} for t = 1, …, 100": 1,
    RNN: 1,
    f"{RNN}h^{{70}}": 1,
    f"{RNN}h^{{70}} + h^{{99}} + h^{{100}}": 1,
    f"{RNN}h^{{99}} + h^{{20}}": 1,
    f"{RNN}H ∈ ℝ^{{time[100] × hidden}}\nH_{{time(t)}} = h^t\nH": 1,
    f"{RNN}H ∈ ℝ^{{time[100] × hidden}}\nH_{{time(t)}} = h^t ⊙ t + h^{{t-1}}\nH + h^{{100}}": 1,
    f"{RNN}∑_{{t=1}}^{{100}} h^t ⊙ X_{{time(t)}} / t": 1,
    f"{RNN}∑_{{t=5}}^{{99}} (h^{{t+1}} - h^{{t-1}})^2": 1,
    LSTM: 1,
    f"{LSTM}c^{{100}} + g^{{100}}": 1,
    f"{LSTM}g^{{100}}": 1,
    "f : ℝ^{hidden} → ℝ^{hidden}\nf(b) = s^{100}\ns^0 = 0\ns^t = s^{t-1}/2 + b for t = 1, …, 100\nf(BATCH)": 1,
    "f(b) = s^{100}\ns^0 = 0\ns^t = cos(s^{t-1} + b/t) for t = 1, …, 100\nf(B) + f(2 B)": 2,
    "f(b, u) = 2 b - u\nh^0 = B\nh^t = f(h^{t-1}, X_{time(t)})/3 for t = 1, …, 100": 1,
    # a recurrence within each step of another
    "f(b) = s^{66}\ns^0 = 0\ns^k = s^{k-1}/2 + b/k for k = 1, …, 66\n"
    "h^0 = B\nh^t = f(h^{t-1} + X_{time(t)})/3 for t = 1, …, 70": 1,
    "h^{80} = B\nh^t = h^{t+1}/2 + 1/t for t = 1, …, 79\nh^1": 0,
    # some member has a value of its own
    "h^0 = B\nh^t = h^{t-1}/2 for t = 1, …, 49\nh^{50} = 2 B\nh^t = h^{t-1}/2 + X_{time(t)} for t = 51, …, 130\nh^{129}": 0,
    # the index is a label
    "h^0 = B\nh^t = h^{t-1}/2 + V^t for t = 1, …, 100": 1,
    "h^0 = B\nh^t = h^{t-1}/2 + V^{t+1} ⊙ V^{t-1} for t = 2, …, 9\nh^1 = V^1 ⊙ B": 1,
    "g^k(x) = x / k + V^k\nh^0 = B\nh^t = g^t(h^{t-1}) for t = 1, …, 100": 1,
    "h^0 = B\nh^t = h^{t-1} + ∑_{j=1}^{2} V^j for t = 1, …, 100": 1,
}
GIVEN = {"X": X, "W": W, "B": B, "BATCH": BATCH, "WHOLE": WHOLE, "TOKENS": TOKENS}
GIVEN |= {f"V^{number}": nt.tensor(float(number), "") for number in range(1, TIME)}


def forget():
    for cache in (EXECUTABLES, EVALUATORS):
        cache.clear()


@pytest.fixture
def written_out(monkeypatch):
    """A formula's value with no loops."""

    def value(formula, given=GIVEN):
        forget()
        with monkeypatch.context() as context:
            context.setattr(loops, "MIN_LOOP_STEPS", 10**9)
            result = nt.evaluate(formula, given)
        forget()
        return result

    return value


def plan_of(formula, given=GIVEN):
    used = {name: value for name, value in given.items() if name.partition("^")[0] in formula}
    compiled = nt.formula(formula).compile()
    compiled(values=used)
    return compiled.plan


def loops_in(plan):
    return [step for step in plan.steps if step.primitive == "loop"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", ROLLED)
def test_a_loop_gives_what_its_steps_give_written_out(formula, written_out):
    result = nt.evaluate(formula, GIVEN)
    assert nt.allclose(result, written_out(formula))
    assert result.dtype == np.float64
    assert len(loops_in(plan_of(formula))) == ROLLED[formula]


@pytest.mark.parametrize("formula", [name for name in ROLLED if "BATCH" not in name and "V^" not in name][::3])
def test_a_loop_gives_what_the_definitions_give(formula):
    result = nt.evaluate(formula, GIVEN)
    tensors = {
        name: reference.tensor(tensor.array.tolist(), tensor.axes) for name, tensor in GIVEN.items() if "^" not in name
    }
    exact = reference.evaluate(formula, {name: tensor for name, tensor in tensors.items() if name in formula})
    assert np.allclose(result.to_array(result.axes), exact.to_list(result.axes))


def of(library, given=GIVEN):
    """The same tensors in another library; JAX has single precision."""
    xp = pytest.importorskip("jax.numpy" if library == "jax" else library, reason=f"{library} is not installed")
    return {name: nt.tensor(xp.asarray(value.array), value.axes) for name, value in given.items()}


LIBRARIES = ["numpy", "torch", "jax"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", LIBRARIES[1:])
@pytest.mark.parametrize("formula", [name for name in ROLLED if "V^" not in name])
def test_a_loop_is_the_same_in_each_library(formula, library):
    expected = nt.evaluate(formula, GIVEN)
    result = nt.evaluate(formula, of(library))
    order = expected.axes
    assert np.allclose(np.asarray(result.to_array(order)), expected.to_array(order), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("formula", [RNN, LSTM, next(name for name in ROLLED if "H_" in name)])
def test_the_source_of_a_loop_runs_by_itself(formula, library):
    tensors = of(library, {name: GIVEN[name] for name in "XWB" if name in formula})
    text = nt.formula(formula).to_python(library, tensors)
    space = {}
    exec(text, space)
    expected = nt.evaluate(formula, GIVEN)
    result = space["function"](*(tensor.array for tensor in tensors.values()))
    both = [np.asarray(result), np.asarray(nt.evaluate(formula, tensors).array)]
    assert text.count("def loop_1(") == 1
    assert np.allclose(*both, rtol=1e-3, atol=1e-3)
    assert sorted(both[0].shape) == sorted(expected.sizes.values())


def squared(formula):
    """The sum of the squares of what a formula gives, as a function of the arrays of B and X."""
    compiled = nt.formula(formula).compile()

    def loss(b, x):
        value = compiled(B=nt.tensor(b, "hidden"), X=nt.tensor(x, "time hidden"))
        return (value.array**2).sum()

    return loss


DIFFERENTIABLE = {
    "a state": "h^0 = B\nh^t = sin(h^{t-1} + X_{time(t)} / t) for t = 1, …, 100",
    "two before": "h^0 = B\nh^1 = 2 B\nh^t = cos(h^{t-1} ⊙ h^{t-2} + X_{time(t)}) for t = 2, …, 100",
    "all states": "h^0 = B\nh^t = sin(h^{t-1} + X_{time(t)}) for t = 1, …, 100\nH ∈ ℝ^{time[100] × hidden}\nH_{time(t)} = h^t\nH",
    "two families": LSTM,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_the_libraries_differentiate_loops(name, library):
    """Against quotients of differences of what NumPy gives."""
    formula = DIFFERENTIABLE[name]
    plain, b, x = squared(formula), B.array, X.array
    step = 1e-6
    by_b = [(plain(b + step * e, x) - plain(b - step * e, x)) / (2 * step) for e in np.eye(3)]
    change = np.zeros_like(x)
    change[97] = 1
    by_x = (plain(b, x + step * change) - plain(b, x - step * change)) / (2 * step)
    if library == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        leaves = [torch.tensor(item, requires_grad=True) for item in (b, x)]
        gradient = torch.autograd.grad(squared(formula)(*leaves), leaves)
    else:
        jax = pytest.importorskip("jax", reason="jax is not installed")
        gradient = jax.grad(squared(formula), (0, 1))(jax.numpy.asarray(b), jax.numpy.asarray(x))
    assert np.allclose(np.asarray(gradient[0]), by_b, rtol=1e-2, atol=1e-3)
    assert np.isclose(float(gradient[1][97].sum()), by_x, rtol=1e-2, atol=1e-3)


def test_the_language_differentiates_recurrences():
    """Where a derivative is taken the steps are written out."""
    result = nt.evaluate(
        "h^0 = B\nh^t = sin(h^{t-1} + X_{time(t)} / t) for t = 1, …, 100\n∂(∑_{hidden} h^{100} ⊙ h^{100})/∂B", GIVEN
    )
    loss, step = squared(DIFFERENTIABLE["a state"]), 1e-6
    expected = [(loss(B.array + step * e, X.array) - loss(B.array - step * e, X.array)) / (2 * step) for e in np.eye(3)]
    assert np.allclose(result.to_array("hidden"), expected, rtol=1e-4, atol=1e-6)


# ----------------------------------------------------------------------------------------------------- against NumPy
def test_a_long_recurrence_is_what_a_loop_of_python_gives():
    h = 1.0
    for t in range(1, 100_001):
        h = h / 2 + t
    assert nt.evaluate("h^0 = 1\nh^t = h^{t-1}/2 + t for t = 1, …, 100000").item() == pytest.approx(h)


@st.composite
def recurrences(draw):
    """A recurrence, and the same in Python: h^t of the numbers before, t, a given scalar and a given vector's elements."""
    depth = draw(st.integers(1, 3))
    first = draw(st.integers(1, 3)) + depth - 1
    last = first + draw(st.integers(loops.MIN_LOOP_STEPS - 3, loops.MIN_LOOP_STEPS + 40))
    parts = st.sampled_from(
        [
            ("t/100", lambda h, t: t / 100), ("X_{time(t)}", lambda h, t: h.x[t - 1]),
            ("B / t", lambda h, t: h.b / t), ("cos(t)", lambda h, t: np.cos(t)),
            ("X_{time(t-1)}", lambda h, t: h.x[t - 2] if t > 1 else 0.0),
            *[(f"sin(h^{{t-{back}}})", lambda h, t, back=back: np.sin(h[t - back])) for back in range(1, depth + 1)],
            *[(f"h^{{t-{back}}} / 2", lambda h, t, back=back: h[t - back] / 2) for back in range(1, depth + 1)],
        ]
    )  # fmt: skip
    chosen = draw(st.lists(parts, min_size=1, max_size=4))
    if first == 1:
        chosen = [item for item in chosen if "t-1)" not in item[0]] or [("t/100", lambda h, t: t / 100)]
    starts = [f"h^{number} = {number} B" for number in range(first - depth, first)]
    body = " + ".join(text for text, _ in chosen)
    text = "\n".join([*starts, f"h^t = {body} for t = {first}, …, {last}"])
    return text, [function for _, function in chosen], range(first - depth, first), range(first, last + 1)


class States(dict):
    x, b = X.array[:, 0], B.array[0]


@pytest.mark.slow
@given(recurrences())
def test_a_recurrence_is_what_python_makes_of_it(drawn):
    text, functions, starts, steps = drawn
    h = States({number: number * States.b for number in starts})
    for t in steps:
        h[t] = sum(function(h, t) for function in functions)
    result = nt.evaluate(text, {"X": nt.tensor(States.x, "time"), "B": nt.tensor(States.b, "")})
    assert result.item() == pytest.approx(h[steps[-1]], rel=1e-9, abs=1e-12)


# ---------------------------------------------------------------------------------------------------- what it is made of
def counts(formula, given):
    """How much is typed, and how many steps the plan has."""
    plan = plan_of(formula, given)
    return len(plan.steps), sum(len(loop.options["plan"].steps) for loop in loops_in(plan)), len(str(plan))


@pytest.mark.parametrize("further", ["", "∑_{t=1}^{100} h^t", "H_{time(t)} = h^t\nH"])
def test_a_plan_does_not_grow_with_the_steps(further):
    formula = f"h^0 = 0 · B\nh^t = tanh(h^{{t-1}} + X_{{time(t)}}) for t = 1, …, 100\n{further}"
    sizes = []
    for steps in (1000, 2000):
        tensors = {"B": B, "X": nt.tensor(np.ones((steps, 3)), "time hidden")}
        sizes.append(counts(formula.replace("100", str(steps)), tensors)[:2])
    assert sizes[0] == sizes[1]


def test_short_recurrences_are_written_out():
    formula = "h^0 = B\nh^t = h^{t-1}/2 + t for t = 1, …, 64"
    assert not loops_in(plan_of(formula)) and len(loops_in(plan_of(formula.replace("64", "65")))) == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_a_state_has_the_dtype_of_what_is_given(dtype):
    tensors = {name: nt.tensor(GIVEN[name].array.astype(dtype), GIVEN[name].axes) for name in "BX"}
    for formula in ("h^0 = B\nh^t = h^{t-1}/2 + t/100 for t = 1, …, 100", DIFFERENTIABLE["all states"], LSTM):
        assert nt.evaluate(formula, tensors).dtype == dtype


def test_a_step_of_whole_numbers_leaves_a_state_its_dtype():
    """What a state is at first says its dtype, unless a step is of floating numbers that hold more."""
    small = nt.tensor(B.array.astype("float32"), "hidden")
    for start, step, dtype in (
        (small, "WHOLE ⊙ t", "float32"),
        (small, "{ WHOLE if t > 50; 3 WHOLE otherwise }", "float32"),
        (small, "2 WHOLE ⊙ B", "float64"),
        (B, "WHOLE ⊙ t", "float64"),
    ):
        result = nt.evaluate(f"h^0 = S\nh^t = {step} for t = 1, …, 100\nh^{{100}} + 0 S", {**GIVEN, "S": start})
        assert result.dtype == dtype, step


NARROW = {name: nt.tensor(np.float32(tensor.array), tensor.axes) if name != "TOKENS" and name != "WHOLE" else tensor
          for name, tensor in GIVEN.items()} | {"PLACE": nt.tensor(5.0, "")}  # fmt: skip
OF_FLOATS = [formula for formula in ROLLED if not formula.startswith(("h^0 = 1\nh^t = h^{t-1}/2 + t", "h^0 = WHOLE"))]
# numbers that come of no floating data, beside a position that is held in a wider dtype
MASKED = """
X^0 = B + X_{time(PLACE)}
K^l = X^{l-1} + V^l for l = 1, …, 9
X^l = softmax_{hidden}(K^l + M) for l = 1, …, 9
X^{9}
M = { 0 if TOKENS_{time(1)} = WHOLE; -∞ otherwise }
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", [*OF_FLOATS[1::6], MASKED])
def test_a_loop_has_the_dtype_that_its_steps_have_written_out(formula, written_out, monkeypatch):
    result = nt.evaluate(formula, NARROW)
    monkeypatch.setattr(loops, "MIN_LOOP_LAYERS", 10**9)
    assert result.dtype == written_out(formula, NARROW).dtype == np.float32


def test_a_loop_computes_in_the_dtype_of_its_data():
    (loop,) = loops_in(plan_of(MASKED, NARROW))
    floating = {step.value.dtype for step in loop.options["plan"].steps} - {"bool"}
    assert floating == {"float32"}


def test_a_step_knows_a_slice_of_a_memory_that_it_writes():
    """As without a loop, it is copied and written to; the other slices are not compared one by one."""
    text = """
    Y^l = { h^l if iota_{time} = PLACE; X + V^l otherwise } for l = 1, …, 9
    h^0 = B
    h^l = h^{l-1} / 2 + V^l for l = 1, …, 9
    Y^9 + Y^4
    """
    tensors = GIVEN | {"PLACE": nt.tensor(5.0, "")}
    (loop,) = loops_in(plan_of(text, tensors))
    primitives = [step.primitive for step in loop.options["plan"].steps]
    assert "put" in primitives and "where" not in primitives
    X, B = GIVEN["X"].array, GIVEN["B"].array

    def memory(l):
        h = B
        for number in range(1, l + 1):
            h = h / 2 + number
        result = X + l
        result[4] = h
        return result

    assert np.allclose(nt.evaluate(text, tensors).to_array("time hidden"), memory(9) + memory(4))


def test_whole_numbers_become_floating_ones():
    """3^100 has 48 digits."""
    result = nt.evaluate("h^0 = WHOLE\nh^t = 3 h^{t-1} for t = 1, …, 100", GIVEN)
    assert np.allclose(result.array, 3.0**100 * np.arange(1, 4))


def test_a_step_sums_as_a_formula_does():
    """With all threads, and not as a block, which one thread computes: where a sum is a product with ones, it is here."""
    M = nt.tensor(RNG.normal(size=(300, 300)) / 300, "hidden k")
    B = nt.tensor(RNG.normal(size=300), "hidden")
    (loop,) = loops_in(plan_of("h^0 = B\nh^t = ∑_{k} exp(h^{t-1} ⊙ M / t) / 400 for t = 1, …, 100", {"M": M, "B": B}))
    alone = plan_of("∑_{k} exp(B ⊙ M / 2) / 400", {"M": M, "B": B})
    result, expected = ({step.primitive for step in item.steps} for item in (loop.options["plan"], alone))
    assert result & {"sum", "dot", "matmul", "vecdot"} == expected & {"sum", "dot", "matmul", "vecdot"} != set()


# --------------------------------------------------------------------------------------------------------------- errors
WRONG = {
    "an index after the last": ("h^0 = B\nh^t = h^{t-1} + X_{time(t+100)} for t = 1, …, 100", 401, "t+100"),
    "an index before the first": ("h^0 = B\nh^t = h^{t-1} + X_{time(t-90)} for t = 1, …, 100", 401, "t-90"),
    "an index that a state makes": ("h^0 = 1\nh^t = h^{t-1} + 0 X_{time(h^{t-1}), hidden(1)} + 2 for t = 1, …, 100", 401, "h^{t-1}"),
    "no case": ("h^0 = B\nh^t = { h^{t-1} if t < 50; B if t > 50 } for t = 1, …, 100", 405, "{ h^{t-1} if t < 50; B if t > 50 }"),
    "no case of a state": ("h^0 = 0\nh^t = { h^{t-1} + 1 if h^{t-1} < 50 } for t = 1, …, 100", 405, "{ h^{t-1} + 1 if h^{t-1} < 50 }"),
    "a size": ("h^0 = B\nh^t = h^{t-1} + X for t = 1, …, 100\n[1, 2]_{hidden} + h^{100}", 302, None),
    "an axis": ("h^0 = B\nh^t = ∑_{seq} h^{t-1} for t = 1, …, 100", 301, "seq"),
    "a name": ("h^0 = B\nh^t = h^{t-1} + Z_{time(t)} for t = 1, …, 100", 201, "Z"),
    "itself": ("h^0 = B\nh^t = h^t + h^{t-1} for t = 1, …, 100", 203, None),
    "too many steps": ("h^0 = B\nh^t = h^{t-1} for t = 1, …, 10000000", 404, "for t = 1, …, 10000000"),
    "too many steps of labels": ("h^0 = B\nh^t = h^{t-1} + g^{2 t}(B) for t = 1, …, 900000\ng^k(x) = x ⊙ k", 404, None),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", WRONG)
def test_a_loop_fails_in_the_words_of_the_language(name, library):
    formula, number, piece = WRONG[name]
    with pytest.raises(nt.NotationError) as caught:
        nt.evaluate(formula, of(library))
    assert caught.value.code == number
    assert piece is None or caught.value.span_text == piece.removeprefix("for ") or caught.value.span_text == piece


# ------------------------------------------------------------------------------------------------- what is shown of it
def test_what_is_known_of_a_loop():
    tensors = {"B": B, "X": X, "W": W}
    shapes: dict[str, Any] = {name: dict(tensor.sizes) for name, tensor in tensors.items()}
    checked = nt.check(RNN, **shapes)
    assert checked.ok and checked.type == "ℝ^{hidden[3]}"
    explained = nt.explain(RNN, tensors)
    assert nt.allclose(explained.value, nt.evaluate(RNN, tensors))
    assert [stage.inside for stage in explained][-1] == ("h^100",)
    assert len(explained) < 60
    sets: dict[str, Any] = {
        name: "ℝ^{" + " × ".join(f"{axis}[{size}]" for axis, size in shape.items()) + "}"
        for name, shape in shapes.items()
    }
    cost = nt.formula(RNN).cost(**sets)
    assert cost.multiply_adds == 100 * 9


def test_parameters_within_loops_are_found():
    program = nt.program("W ∈ ℝ^{hidden × hidden'}\nX ∈ ℝ^{time × hidden}\nB ∈ ℝ^{hidden}\n" + RNN)
    result = program.init(sizes={"hidden": 3, "hidden'": 3, "time": 130})
    assert {"W", "B"} <= set(result)


OF_WHOLE_NUMBERS = (
    "F^0 = onehot_{b}(2)\nF^1 = N\nF^l = sin([0, −1, −1]_{b}) + F^{l-2} / 2 for l = 2, …, %d\nout = A + F^{%d}"
)


@pytest.mark.parametrize("steps", [10, 69, 70])  # written out, and as a loop whose two states change places
def test_states_of_whole_numbers_settle_in_the_dtype_of_what_they_meet(steps):
    N, A = nt.tensor([-3, 3, 5], "b"), nt.tensor(np.float32([1, 2, 3]), "b")
    result = nt.evaluate(OF_WHOLE_NUMBERS % (steps, steps), N=N, A=A)
    state, following = np.array([0.0, 1.0, 0.0]), np.array([-3.0, 3.0, 5.0])
    for _ in range(2, steps + 1):
        state, following = following, np.sin([0, -1, -1]) + state / 2
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.to_array("b"), [1, 2, 3] + following, rtol=1e-6)


def test_the_dtypes_of_states_settle_whatever_the_common_dtype_is(monkeypatch):
    """Where two dtypes are each found for the other, again and again, the wider one ends it."""
    from namedtensor.planning.builder import PlanBuilder

    plain = PlanBuilder.common_dtype

    def swapped(builder, arguments, floats=False):
        before, *after = arguments
        of_states = len(arguments) == 2 and {before.dtype, after[0].dtype} == {"float32", "float64"}
        return after[0].dtype if of_states else plain(builder, arguments, floats)

    monkeypatch.setattr(PlanBuilder, "common_dtype", swapped)
    text = "F^0 = A\nF^1 = B\nF^l = F^{l-2} / 2 for l = 2, …, 69\nF^{69}"
    tensors = {"A": nt.tensor(np.float32([4.0]), "settled"), "B": nt.tensor([2.0], "settled")}
    assert nt.evaluate(text, tensors).to_array("settled") == pytest.approx([2.0 / 2**34])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("over", ["D_{a(t)} = h^{t,t} for t = 1, …, 70\n∑_{a} D", "∑_{t=1}^{70} h^{t,t}"])
def test_an_index_is_not_the_label_that_is_spelled_so(over):
    family = "h^{0,k} = k for k = 1, …, 80\nh^{t,k} = h^{t-1,k} + 1 for t = 1, …, 80\n"
    tensors = {"h^{0,t}": nt.tensor(5, "")}
    assert nt.evaluate(f"{family}{over} + h^{{0,t}}", tensors).item() == sum(2 * t for t in range(1, 71)) + 5


def stepped(steps, first=1.0, divisor=2):
    """h^t = h^{t-1} / divisor + t after each of some steps, or h^{t+1} where they go down."""
    values, h = {}, first
    for t in steps:
        values[t] = h = h / divisor + t
    return values


UP, DOWN = stepped(range(1, 101)), stepped(range(100, 0, -1))
STACKED = {  # how many loops the plan has, and the value
    "h^t = h^{t-1}/2 + t for t = 1, …, 100\n∑_{t=1}^{100} h^t": (1, sum(UP.values())),
    "h^t = h^{t-1}/2 + t for t = 1, …, 100\n∑_{t=1}^{100} h^{t-1}": (1, sum(UP.values()) - UP[100] + 1),
    # a shorter loop comes before
    "h^t = h^{t-1}/2 + t for t = 1, …, 100\nh^{70} + ∑_{t=1}^{100} h^t": (2, sum(UP.values()) + UP[70]),
    "h^t = h^{t+1}/2 + t for t = 100, …, 1\n∑_{t=1}^{100} h^t": (1, sum(DOWN.values())),
    "h^t = h^{t+1}/2 + t for t = 100, …, 1\n∑_{t=1}^{100} h^{t+1}": (1, sum(DOWN.values()) - DOWN[1] + 1),
    "h^t = h^{t+1}/2 + t for t = 100, …, 1\nh^{31} + ∑_{t=1}^{100} h^t": (2, sum(DOWN.values()) + DOWN[31]),
}


@pytest.mark.parametrize("formula", STACKED)
def test_the_steps_of_a_loop_are_summed(formula):
    number, value = STACKED[formula]
    plan = plan_of(f"h^{{{101 if '+1' in formula else 0}}} = x\n{formula}", {"x": 1.0})
    assert nt.evaluate(f"h^0 = 1\nh^{{101}} = 1\n{formula}").item() == pytest.approx(value)
    assert len(loops_in(plan)) == number


def test_steps_of_two_families_do_not_keep_one_from_being_a_loop():
    formula = """h^0 = x
h^t = h^{t-1}/2 + t for t = 1, …, 80
h^t = h^{t-1}/3 + t for t = 81, …, 130
∑_{t=66}^{130} h^t"""
    before = stepped(range(1, 81))
    after = stepped(range(81, 131), before[80], 3)
    expected = sum(before[t] for t in range(66, 81)) + sum(after.values())
    assert nt.evaluate(formula, x=1.0).item() == pytest.approx(expected)
    assert len(loops_in(plan_of(formula, {"x": 1.0}))) == 1


@pytest.mark.parametrize(
    ("equations", "names", "expected"),
    [
        ("", {"W^3": 100.0}, 69 + 100),
        ("", {f"W^{number}": float(number) for number in range(1, 71)}, 70 * 71 / 2),
        ("\n".join(f"W^{{{number}}} = {number}" for number in range(1, 71)), {}, 70 * 71 / 2),
    ],
)
def test_a_label_is_no_power_in_a_long_sum(equations, names, expected):
    """W^3 is the tensor of that name where there is one, and else the power of W, which is 1."""
    assert nt.evaluate(f"{equations}\n∑_{{t=1}}^{{70}} W^t", {"W": 1.0, **names}).item() == expected
