"""A recurrence that starts at 0 has the axes of its steps, however a step wraps the member before."""

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import reference

X = np.array([[1.0, -2.0], [-3.0, 4.0], [0.5, 1.5]])
U = np.array([[1.0, 2.0], [3.0, 4.0]])
BEFORE = "U ⊙_{k'} h^{t-1}_{k→k'}"
STEPS = {
    "max of two": (f"max(x_{{seq(t)}} + {BEFORE}, 0)", lambda x, h: np.maximum(x + U @ h, 0)),
    "a function": (f"tanh(x_{{seq(t)}} + {BEFORE})", lambda x, h: np.tanh(x + U @ h)),
    "a bracket": (f"2 (x_{{seq(t)}} + {BEFORE})", lambda x, h: 2 * (x + U @ h)),
    "a minus": (f"-(x_{{seq(t)}} + {BEFORE})", lambda x, h: -(x + U @ h)),
    "a square": (f"(x_{{seq(t)}} + {BEFORE})^2 / 10", lambda x, h: (x + U @ h) ** 2 / 10),
    "a number beside it": (f"1 + tanh(x_{{seq(t)}} + {BEFORE})", lambda x, h: 1 + np.tanh(x + U @ h)),
    "cases": (
        f"{{ x_{{seq(t)}} + {BEFORE} if t > 1; x_{{seq(t)}} otherwise }}",
        lambda x, h: x + U @ h,
    ),
    "a product of functions": (
        f"exp(x_{{seq(t)}}) ⊙ (1 - tanh({BEFORE}))",
        lambda x, h: np.exp(x) * (1 - np.tanh(U @ h)),
    ),
    "a softmax": (
        f"softmax_{{k}}(x_{{seq(t)}} + {BEFORE})",
        lambda x, h: np.exp(x + U @ h) / np.exp(x + U @ h).sum(),
    ),
    "only a contraction": (f"tanh(1 + {BEFORE}) + 0 x_{{seq(t), k(1)}}", lambda x, h: np.tanh(1 + U @ h)),
    "a function of the program": (
        "F(x_{seq(t)}, h^{t-1})",
        lambda x, h: x + U @ h,
        "F(y, v) = y + U ⊙_{k'} v_{k→k'}",
    ),
    "a function with a definition below": (
        "F(x_{seq(t)}, h^{t-1})",
        lambda x, h: x + 2 * h,
        "F(y, v) = y + z\nz = 2 v",
    ),
    "gates": (
        "o^t ⊙ tanh(1 + c^t)",
        lambda x, h: np.tanh(x + U @ h) * np.tanh(1 + np.exp(x)),
        f"o^t = tanh(x_{{seq(t)}} + {BEFORE}) for t = 1, …, 3\nc^t = exp(x_{{seq(t)}}) for t = 1, …, 3",
    ),
}


def program(case):
    step, _, *more = STEPS[case]
    return "\n".join(["h^0 = 0", f"h^t = {step} for t = 1, …, 3", *more, "h^3"])


def compute_expected(case):
    state = np.zeros(2)
    for x in X:
        state = STEPS[case][1](x, state)
    return state


@pytest.mark.parametrize("case", STEPS)
def test_a_start_of_zero_has_the_axes_of_the_steps(case):
    inputs = {"x": (X, "seq k"), "U": (U, "k k'")} if "U" in program(case) else {"x": (X, "seq k")}
    value = nt.evaluate(program(case), {name: nt.tensor(*given) for name, given in inputs.items()})
    np.testing.assert_allclose(value.to_array("k"), compute_expected(case))
    tensors = {name: reference.tensor(array.tolist(), axes) for name, (array, axes) in inputs.items()}
    np.testing.assert_allclose(reference.evaluate(program(case), tensors).to_list("k"), compute_expected(case))


@pytest.mark.parametrize("case", ["max of two", "gates", "only a contraction"])
def test_a_start_of_zero_inside_a_function_is_lifted(case):
    text = program(case).removesuffix("h^3") + "G(x) = h^3\nG : ℝ^{seq × k} → ℝ^{k}\nG(z)"
    value = nt.evaluate(text, z=nt.tensor(np.stack([X, X]), "b seq k"), U=nt.tensor(U, "k k'"))
    np.testing.assert_allclose(value.to_array("b k"), [compute_expected(case)] * 2)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_start_of_zero_in_another_library_and_in_a_derivative(library):
    pytest.importorskip(library)
    x, u = nt.tensor(X, "seq k").to(library), nt.tensor(U, "k k'").to(library)
    value = nt.evaluate(program("a function"), x=x, U=u)
    np.testing.assert_allclose(value.to_numpy("k"), compute_expected("a function"), rtol=1e-5)
    text = program("a function").removesuffix("h^3") + "∑_{k} h^3"
    slope = nt.derivative(text, "x")(x=x, U=u)
    (seq,) = [axis for axis in slope.axes if axis.startswith("seq")]
    (k,) = [axis for axis in slope.axes if axis.startswith("k")]
    step = 1e-6 * np.eye(6).reshape(6, 3, 2)
    by_differences = [(total_of_tanh(X + change) - total_of_tanh(X - change)) / 2e-6 for change in step]
    np.testing.assert_allclose(slope.to_numpy(f"{seq} {k}").ravel(), by_differences, atol=1e-4)


def total_of_tanh(x):
    state = np.zeros(2)
    for row in x:
        state = np.tanh(row + U @ state)
    return state.sum()


def test_operators_that_keep_axes_are_those_of_the_records():
    from namedtensor.operators import REGISTRY
    from namedtensor.scope.zero_starts import KEEPING_AXES

    assert {name for name, record in REGISTRY.items() if record.kind in ("elementwise", "axis_map")} == KEEPING_AXES
