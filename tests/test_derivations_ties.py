"""Closed forms of piecewise linear programs: those of ∂ wherever there is a derivative, also where arguments tie on a region."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import namedtensor as nt

POINTS = np.array([-3.17, -1.29, -0.83, -0.31, 0.11, 0.47, 0.89, 1.07, 1.43, 2.61])  # no bend is at one of these
STEP = 1e-6
SAME = (  # of ℝ to ℝ, with the intervals on which they are the identity
    "relu({})", "clip({}, −1, 1)", "clip({}, 0.8, 1.2)", "abs({})", "max({}, −2)", "min({}, 2)", "leaky_relu({})",
    "({} ⊙ 𝕀[{} > 0.5])", "{{ {} if {} < 1.5; 1.5 otherwise }}", "max_{{a}}({} ⊙ left)", "where({} > 0, {}, 0)",
    "[maxk_{{a,j}}({} ⊙ left − 9 ⊙ right)]_{{j(1)}}",
)  # fmt: skip
JOINED = (
    "max({}, {})", "min({}, {})", "max({}, min({}, {}))", "max_{{a}}({} ⊙ left + {} ⊙ right)", "min_{{a}}({} ⊙ left + {} ⊙ right)",
    "(max({}, {}) − {})", "({} + {})", "clip({}, {}, 3)", "clip({}, −3, {})", "{{ {} if {} > 0; {} otherwise }}",
)  # fmt: skip


def drawn(draws: random.Random, depth: int) -> str:
    """A piecewise linear expression in x; parts that are x itself on a region tie there."""
    if depth == 0 or draws.random() < 0.15:
        return draws.choice(("x", "x", "x", "2 ⊙ x", "(x − 0.25)", "0.75"))
    if draws.random() < 0.5:
        part = drawn(draws, depth - 1)
        return draws.choice(SAME).replace("{}", part).replace("{{", "{").replace("}}", "}")
    form = draws.choice(JOINED)
    parts = [drawn(draws, depth - 1) for _ in range(form.count("{}"))]
    if draws.random() < 0.5:  # twice the same, in another spelling
        parts[1] = draws.choice(("relu({})", "clip({}, −1, 1)", "max({}, −2)")).format(parts[0])
    return form.format(*parts)


def derivative_by_differences(value, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slopes at points, and whether there is one: whether both sides have the same."""
    before, at, after = (np.broadcast_to(value(points + by), points.shape) for by in (-STEP, 0, STEP))
    left, right = (at - before) / STEP, (after - at) / STEP
    return (left + right) / 2, np.abs(left - right) < 1e-6


def at_points(program, points: np.ndarray) -> np.ndarray:
    """The value at each point; left and right lay two parts along an axis."""
    tensors = {"x": nt.tensor(points, "n"), "left": nt.tensor([1.0, 0.0], "a"), "right": nt.tensor([0.0, 1.0], "a")}
    return np.asarray(program(values=tensors).to_array("n"))


@pytest.mark.sampled(3)
@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_a_closed_form_is_the_derivative_wherever_there_is_one(seed):
    text = drawn(random.Random(seed), 3)
    assert_agreement(text)


def assert_agreement(text: str) -> None:
    sizes = "\n|j| = 2" if "maxk" in text else ""
    value = nt.program(f"{text} + 0 ⊙ x{sizes}")
    slopes, smooth = derivative_by_differences(lambda points: at_points(value, points), POINTS)
    derivative = nt.program(f"∂(∑_{{n}} ({text} + 0 ⊙ x))/∂x{sizes}")
    closed = derivative.closed_form(x="ℝ^{n}", left="ℝ^{a}", right="ℝ^{a}")
    read = at_points(nt.program(f"{closed}\nZ = D + 0 ⊙ x{sizes}")["Z"], POINTS)
    assert smooth.sum() >= len(POINTS) - 2
    np.testing.assert_allclose(at_points(derivative, POINTS)[smooth], slopes[smooth], atol=1e-6, err_msg=text)
    np.testing.assert_allclose(read[smooth], slopes[smooth], atol=1e-6, err_msg=f"{text}: {closed}")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", [
    "x ⊙ where(0.75 > 0, 0.75, 0)", "clip(x, −3, where(0.75 < 0, 0.75, 2))", "{ x if 1 < 0; 2 ⊙ x if x > 0; 3 ⊙ x if 1 > 0; x otherwise }",
    "max(x, relu x)", "max(relu x, x)", "min(x, clip(x, 0.8, 1.2))", "min(clip(x, 0.8, 1.2), x)", "max(x, x)", "min(x, x)",
    "min(3 ⊙ x, 3 ⊙ clip(x, 0.8, 1.2))", "min(−3 ⊙ x, −3 ⊙ clip(x, 0.8, 1.2))", "max(max(x, relu x), abs x)",
    "max(abs x, relu x) + min(x, −relu(−x))", "max_{a}(x ⊙ left + relu x ⊙ right)", "clip(x, relu x, 3)", "clip(x, −3, relu x)",
    "max(x, { x if x > 0; 0 otherwise })", "[maxk_{a,j}(x ⊙ left + relu x ⊙ right)]_{j(1)}", "[sort_{a}(x ⊙ left + relu x ⊙ right)]_{a(2)}",
    "x ⊙ 𝕀[0.75 > 0.5]", "min(0.75 ⊙ 𝕀[0.75 < 0.5], x)", "{ x if max(x, −2) > 0; max(2 ⊙ x, relu(2 ⊙ x)) otherwise }",
    "{ min_{a}([maxk_{a,j}(2 ⊙ x ⊙ left − 9 ⊙ right)]_{j(1)} ⊙ left) if [maxk_{a,j}(2 ⊙ x ⊙ left − 9 ⊙ right)]_{j(1)} < 1.5; 1.5 otherwise }",
    "median_{a}(x ⊙ left + relu x ⊙ right)", "norm_{a}(x ⊙ left + relu x ⊙ right; ∞)", "[cummax_{a}(x ⊙ left + relu x ⊙ right)]_{a(2)}",
])  # fmt: skip
def test_arguments_that_tie_on_a_region(text):
    assert_agreement(text)


def test_the_objective_of_ppo_has_its_derivative_inside_the_range():
    D = nt.program("∂(mean_{t} min(r ⊙ A, clip(r, 0.8, 1.2) ⊙ A))/∂r")
    r, A = nt.tensor([0.5, 0.9, 1.1, 1.5] * 2, "t"), nt.tensor([2.0] * 4 + [-2.0] * 4, "t")
    closed = D.closed_form(r="ℝ^{t}", A="ℝ^{t}")
    assert np.asarray(D(r=r, A=A)).tolist() == [0.25, 0.25, 0.25, 0, 0, -0.25, -0.25, -0.25]
    assert np.asarray(nt.program(str(closed))["D"](r=r, A=A)).tolist() == [0.25, 0.25, 0.25, 0, 0, -0.25, -0.25, -0.25]


def test_a_tie_at_one_point_has_one_of_the_two_slopes():
    """As documented: ∂ takes their mean, and the closed form one of them."""
    closed = nt.formula("∂(max(x, 2 ⊙ x))/∂x").closed_form()
    assert float(nt.evaluate("∂(max(x, 2 ⊙ x))/∂x", x=0.0)) == 1.5
    assert float(nt.evaluate(str(closed), x=0.0)) in (1, 2)
