"""Derivatives of loops are loops: against the same written out, automatic differentiation, and quotients of differences."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt
from benchmarks.growth import calls_of, gradients_by_all
from namedtensor.checking import loops, stacked_families
from namedtensor.programs.evaluate import EVALUATORS, EXECUTABLES
from namedtensor.terms import structural

LEAST = (
    (loops, "MIN_LOOP_STEPS"),
    (loops, "MIN_LOOP_LAYERS"),
    (stacked_families, "MIN_LOOP_STEPS"),
)  # the least steps of loops
MODULES = {"torch": "torch", "jax": "jax.numpy"}
RNG = np.random.default_rng(11)
GIVEN = {
    "X": nt.tensor(RNG.normal(size=(80, 3)), "time a"),
    "B": nt.tensor(RNG.normal(size=3), "a"),
    "M": nt.tensor(RNG.normal(size=(3, 3)) / 2, "a a'"),
    "c": nt.tensor(0.3, ""),
}
GIVEN |= {f"W^{k}": nt.tensor(RNG.normal(size=(3, 3)) / 2, "a a'") for k in range(1, 11)}
GIVEN |= {f"v_{k}": nt.tensor(RNG.normal(size=3), "a") for k in range(1, 11)}

SINES = "h^0 = B\nh^t = sin(h^{t-1} + X_{time(t)} / t) for t = 1, …, 9\n"
RNN = "h^0 = 0 B\nh^t = tanh([h^{t-1} ⊙_{a} M]_{a'→a} + X_{time(t)}) for t = 1, …, 9\n"
LSTM = """s^0 = 0 B
h^0 = 0 B
g^t = σ(h^{t-1} + X_{time(t)}) for t = 1, …, 9
s^t = s^{t-1} ⊙ g^t + (1 - g^t) ⊙ tanh(h^{t-1} ⊙ B + X_{time(t)}) for t = 1, …, 9
h^t = tanh(s^t) ⊙ g^t for t = 1, …, 9
"""
LAYERS = "Y^0 = B\nY^l = Y^{l-1} + tanh(Y^{l-1} ⊙_{a} W^l)_{a'→a} ⊙ v_l for l = 1, …, 9\n"
MASKED = "h^0 = B\nh^t = { √(h^{t-1} - 1/2) + 1/4 if h^{t-1} > 1/2; 2 h^{t-1} + c otherwise } for t = 1, …, 9\n"
# what is written -> how many loops its plan has
DERIVED = {
    f"{SINES}∂(∑_{{a}} h^{{9}} ⊙ h^{{9}})/∂B*": 2,
    f"{SINES}∂(∑_{{a}} h^{{9}} ⊙ h^{{9}})/∂X*": 2,
    f"{SINES}∂h^{{9}}/∂B*": 2,
    f"{SINES}∂(h^{{9}} + 2 h^{{8}})/∂B*": 4,
    f"{RNN}∂(∑_{{a}} h^{{9}})/∂M*": 2,
    f"{RNN}∂h^{{9}}/∂M*": 2,
    f"{RNN}H ∈ ℝ^{{time[9] × a}}\nH_{{time(t)}} = h^t\n∂(∑_{{time,a}} H ⊙ H)/∂M*": 2,
    f"{RNN}∂(∑_{{t=1}}^{{9}} ∑_{{a}} h^t ⊙ X_{{time(t)}} / t)/∂X*": 2,
    f"{RNN}loss = ∑_{{a}} h^{{9}} ⊙ B\n∂loss/∂M* + ∑_{{a*}} ∂loss/∂B*": 2,
    f"{LSTM}∂(∑_{{a}} h^{{9}} ⊙ s^{{9}})/∂B*": 2,
    f"{LSTM}∂(∑_{{a}} g^{{9}})/∂X*": 2,
    "F^1 = B\nF^0 = c B\nF^t = sin(F^{t-1} ⊙ c) + F^{t-2} / 2 for t = 2, …, 9\n∂(∑_{a} F^{9})/∂c": 2,
    "h^{10} = B\nh^t = cos(h^{t+1} ⊙ c + X_{time(t)}) for t = 9, …, 1\n∂(∑_{a} h^1)/∂X*": 2,
    f"{SINES}∂(∂(∑_{{a}} h^{{9}})/∂B*)/∂B†": 4,
    f"{MASKED}∂(∑_{{a}} h^{{9}})/∂B*": 2,
    f"{MASKED}∂h^{{9}}/∂c": 2,
    f"{LAYERS}loss = ∑_{{a}} Y^9 ⊙ Y^9\n∂loss/∂W^5*": 2,
    f"{LAYERS}loss = ∑_{{a}} Y^9 ⊙ Y^9\n∂loss/∂W^9*": 2,
    f"{LAYERS}loss = ∑_{{a}} Y^9 ⊙ Y^9\n∂loss/∂B*": 2,
    f"{LAYERS}loss = ∑_{{a}} Y^9 ⊙ Y^9\n∂loss/∂v_1* + ∂loss/∂v_9*": 2,
    f"{LAYERS}∂(Y^9 + Y^3)/∂W^1*": 2,
    f"{LAYERS}∂(∂(∑_{{a}} Y^9)/∂v_2*)/∂v_7†": 4,
    "f(u) = ∂(∑_{a} s^{9} ⊙ s^{9})/∂u*\ns^0 = u\ns^t = sin(s^{t-1} + c u) for t = 1, …, 9\nf(B)": 2,
    # by a member: written out
    # within a step, where a state would not say what it is made of
    "h^0 = B\nh^t = ∑_{a*} ∂(h^{t-1} / 2 + B ⊙ B ⊙ c / t)/∂B* for t = 1, …, 9": 0,
    "g(u) = ∑_{a*} ∂(∑_{a} u ⊙ B)/∂B*\nh^0 = B\nh^t = h^{t-1} / 2 + g(h^{t-1}) for t = 1, …, 9": 0,
    "h^0 = B\nh^t = sin(h^{t-1}) for t = 1, …, 9\n∂(∑_{a} h^{9})/∂h^{7}*": 0,
}


@pytest.fixture(autouse=True)
def loops_of_few_steps(monkeypatch):
    forget()
    for module, name in LEAST:
        monkeypatch.setattr(module, name, 5)
    yield
    forget()


def used(formula):
    return {name: tensor for name, tensor in GIVEN.items() if name.partition("_")[0].partition("^")[0] in formula}


def forget():
    for cache in (EXECUTABLES, EVALUATORS):
        cache.clear()


def written_out(monkeypatch, formula, values):
    forget()
    with monkeypatch.context() as context:
        for module, name in LEAST:
            context.setattr(module, name, 10**9)
        result = nt.evaluate(formula, values)
    forget()
    return result


def loops_in(formula, values):
    compiled = nt.formula(formula).compile()
    compiled(values=values)
    return sum(step.primitive == "loop" for step in compiled.plan.steps)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", DERIVED)
def test_the_derivative_of_a_loop_is_that_of_its_steps(formula, monkeypatch):
    values = used(formula)
    result = nt.evaluate(formula, values)
    assert nt.allclose(result, written_out(monkeypatch, formula, values), rtol=1e-9)
    assert loops_in(formula, values) == DERIVED[formula]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("formula", [*DERIVED][::3])
def test_the_derivative_of_a_loop_is_the_same_in_each_library(formula, library):
    xp = pytest.importorskip(MODULES[library], reason=f"{library} is not installed")
    values = used(formula)
    expected = nt.evaluate(formula, values)
    result = nt.evaluate(
        formula, {name: nt.tensor(xp.asarray(value.array), value.axes) for name, value in values.items()}
    )
    assert np.allclose(np.asarray(result.to_array(expected.axes)), expected.array, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "text", [SINES + "∑_{a} h^{9} ⊙ h^{9}", RNN + "∑_{a} h^{9}", LSTM + "∑_{a} h^{9}", LAYERS + "∑_{a} Y^9"]
)
def test_gradients_of_loops_are_those_that_pytorch_finds(text):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    values = used(text)
    leaves = {name: torch.tensor(value.array, requires_grad=True) for name, value in values.items()}
    nt.evaluate(text, {name: nt.tensor(leaf, values[name].axes) for name, leaf in leaves.items()}).array.backward()
    lines = text.splitlines()
    program = "\n".join([*lines[:-1], f"loss = {lines[-1]}"])
    names = [name for name, leaf in leaves.items() if leaf.grad is not None]
    gradient = nt.gradient(program, "loss", names)(values=values)
    assert len(names) > 1
    for name in names:
        assert np.allclose(gradient[name].to_array(values[name].axes), leaves[name].grad, rtol=1e-6, atol=1e-9)


def test_what_is_nothing_by_a_choice_stays_so_through_a_loop():
    """Where c is 0 the first steps have an infinite slope, and count for nothing in the last."""
    formula = "h^0 = c\nh^t = √(h^{t-1}) for t = 1, …, 9\nloss = { h^{9} if c > 1/10; c otherwise }\n∂loss/∂c"
    assert nt.evaluate(formula, {"c": nt.tensor(0.0, "")}).item() == 1


@st.composite
def recurrences(draw):
    parts = st.sampled_from(
        ["sin(h^{t-1})", "h^{t-1} ⊙ B / 4", "h^{t-2} / 3", "cos(h^{t-2} ⊙ X_{time(t)})", "tanh(h^{t-1} ⊙ c)", "X_{time(t)} ⊙ c", "c / t",
         "[h^{t-1} ⊙_{a} M]_{a'→a} / 2", "relu(h^{t-1}) / 3", "softmax_{a} h^{t-1}", "exp(-(h^{t-2})^2)", "B"]
    )  # fmt: skip
    body = " + ".join(["h^{t-1} / 8", *draw(st.lists(parts, min_size=1, max_size=3))])
    last = draw(st.integers(8, 12))
    loss = draw(st.sampled_from([f"h^{{{last}}}", f"h^{{{last}}} ⊙ h^{{{last - 1}}} + B"]))
    name = draw(st.sampled_from(["B", "c", *(name for name in "XM" if name in body)]))
    return f"h^1 = B ⊙ c\nh^2 = sin B\nh^t = {body} for t = 3, …, {last}\n∂(∑_{{a}} {loss})/∂{name}*"


@pytest.mark.slow
@given(recurrences())
def test_a_recurrence_has_the_derivative_of_its_steps(formula):
    with pytest.MonkeyPatch.context() as context:
        values = used(formula)
        expected = written_out(context, formula, values)
    assert nt.allclose(nt.evaluate(formula, values), expected, rtol=1e-8)


def test_a_gradient_does_not_grow_with_the_steps():
    formula = f"{RNN}∂(∑_{{a}} h^{{9}})/∂M*"
    sizes = []
    for steps in (100, 1000):
        text = formula.replace("…, 9", f"…, {steps}").replace("{9}", f"{{{steps}}}")
        compiled = nt.formula(text).compile()
        compiled(values=used(text) | {"X": nt.tensor(np.ones((steps, 3)) / 9, "time a")})
        sizes.append([len(compiled.plan.steps), len(str(compiled.plan)) // 100])
    assert sizes[0] == sizes[1]


def test_gradients_by_the_weights_of_all_layers_cost_little_more_for_many(monkeypatch):
    """In calls of Python functions; what grows is what is done for each tensor that is given, and for each gradient."""
    monkeypatch.setattr(structural, "after_pass", [])
    gradients_by_all(2)()
    few, many = (calls_of(gradients_by_all(n)) for n in (9, 90))
    assert many < 7 * few


def test_what_is_carried_back_has_its_name_in_the_text_of_a_body():
    """Counts of a state and of what is the same at each step, and from outside at each; the rest is called as going on."""
    formula = "h^0 = B\nh^t = tanh(h^{t-1} ⊙ v + U_{time(t)}) for t = 1, …, 9\n∂(h^{9} + ∑_{t=1}^{9} (h^t)^2)/∂v"
    source = nt.formula(formula).to_python("numpy", {"B": "ℝ", "v": "ℝ", "U": "ℝ^{time[9]}"})
    heads = re.findall(r"def loop_\d+\((.*)\)", source)
    assert heads == ["h, U, v", "count_, count__2, count__3, U, h, v"]
