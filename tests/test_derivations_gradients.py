"""`nt.gradient` against PyTorch, JAX and differences: names, axes, functions, several parameters in one plan."""

import json

import numpy as np
import pytest

import namedtensor as nt
from namedtensor import cli

RANDOM = np.random.default_rng(3)
NETWORK = """
W^1 ∈ ℝ^{a × h}
b_1 ∈ ℝ^{h}
W^2 ∈ ℝ^{h × c}
Y = tanh(X ⊙_{a} W^1 + b_1) ⊙_{h} W^2
loss = mean_{batch} (∑_{c} (Y − T)^2)
"""
GIVEN = {
    "X": nt.tensor(RANDOM.normal(size=(4, 3)), "batch a"),
    "T": nt.tensor(RANDOM.normal(size=(4, 2)), "batch c"),
    "W^1": nt.tensor(RANDOM.normal(size=(3, 5)), "a h"),
    "b_1": nt.tensor(RANDOM.normal(size=(5,)), "h"),
    "W^2": nt.tensor(RANDOM.normal(size=(5, 2)), "h c"),
}


def by_differences(name):
    slope = np.zeros(GIVEN[name].array.shape)
    for index in np.ndindex(slope.shape):
        step = np.zeros(slope.shape)
        step[index] = 1e-6
        up, down = (
            float(
                nt.program(NETWORK)["loss"](
                    values=GIVEN | {name: nt.tensor(GIVEN[name].array + sign * step, GIVEN[name].axes)}
                )
            )
            for sign in (1, -1)
        )
        slope[index] = (up - down) / 2e-6
    return slope


def test_every_parameter_has_its_own_axes_and_slope():
    loss, result = nt.gradient(NETWORK, "loss", ["W^1", "b_1", "W^2"], return_value=True)(values=GIVEN)
    assert float(loss) == pytest.approx(float(nt.program(NETWORK)["loss"](values=GIVEN)))
    for name, slope in result.items():
        assert set(slope.axes) == set(GIVEN[name].axes)
        assert slope.to_array(GIVEN[name].axes) == pytest.approx(by_differences(name), abs=1e-6)
        assert (GIVEN[name] - 0.1 * slope).sizes == GIVEN[name].sizes


def test_all_that_is_declared_where_no_name_is_said():
    assert set(nt.gradient(NETWORK, "loss")(values=GIVEN)) == {"W^1", "b_1", "W^2"}


def test_a_function_takes_its_arguments_by_position():
    text = "loss(X, T) = ∑_{batch} (X ⊙_{a} w − T)^2\nw ∈ ℝ^{a}"
    w, T = nt.tensor([1.0, 2.0, 3.0], "a"), nt.tensor(RANDOM.normal(size=4), "batch")
    slope = nt.gradient(text, "loss", "w")(GIVEN["X"], T, values={"w": w})["w"]
    X = GIVEN["X"].array
    assert slope.to_array("a") == pytest.approx(2 * X.T @ (X @ w.array - T.array))


def test_what_is_wrong_is_told():
    with pytest.raises(nt.NotationError, match="does not contain Q"):
        nt.gradient("L = ∑_{a} x", "L", "Q")
    with pytest.raises(nt.NotationError, match="has axes a"):
        nt.gradient("L = x^2", "L", "x")(x=nt.tensor([1.0], "a"))
    with pytest.raises(nt.NotationError, match="at least one name"):
        nt.gradient("L = ∑_{a} x", "L")
    with pytest.raises(nt.NotationError, match="expects 1 arguments, got 2"):
        nt.gradient("f(x) = ∑_{a} x w", "f", "w")(1.0, 2.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_other_libraries(library):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    make = xp.tensor if library == "torch" else xp.asarray
    tensors = {name: nt.tensor(make(tensor.array.astype("float32")), tensor.axes) for name, tensor in GIVEN.items()}
    for name, slope in nt.gradient(NETWORK, "loss")(values=tensors).items():
        assert np.asarray(slope.to_array(GIVEN[name].axes)) == pytest.approx(by_differences(name), abs=1e-3)


def test_a_step_of_learning_by_formulas_alone():
    parameters = {name: GIVEN[name] for name in ("W^1", "b_1", "W^2")}
    data = {name: GIVEN[name] for name in ("X", "T")}
    step = nt.gradient(NETWORK, "loss", parameters, return_value=True)
    losses = []
    for _ in range(60):
        loss, slopes = step(values=parameters | data)
        losses.append(float(loss))
        parameters = {
            name: nt.evaluate("W − 0.05 G", W=parameter, G=slopes[name]) for name, parameter in parameters.items()
        }
    assert losses[-1] < 0.3 * losses[0]


# ------------------------------------------------------------------------------------------------ families, formulas
LAYERED = """
W^l ∈ ℝ^{a × a'}
b^l, c ∈ ℝ^{a}
n^{l,Q} ∈ ℝ^{a}
ids ∈ [3]^{word}
X^l = tanh([X^{l-1} ⊙_{a} W^l]_{a'→a} + b^l ⊙ n^{l,Q}) for l = 1, …, L
loss = ∑_{batch,a} (X^L + c)^2
"""


def layered(L):
    shapes = {"a a'": ("W",), "a": ("b",)}
    inputs = {f"{name}^{l}": axes for axes, names in shapes.items() for name in names for l in range(1, L + 1)}
    inputs |= {f"n^{{{l},Q}}": "a" for l in range(1, L + 1)} | {"c": "a", "X^0": "batch a"}
    sizes = {"a": 3, "a'": 3, "batch": 4}
    return {
        name: nt.tensor(RANDOM.normal(size=[sizes[axis] for axis in axes.split()]), axes)
        for name, axes in inputs.items()
    }


@pytest.mark.parametrize("L", [1, 3])
def test_a_family_is_all_its_members_that_are_given(L):
    tensors = layered(L)
    gradient = nt.gradient(LAYERED, "loss", ["W^l", "c", "n^{l,Q}"])(values=tensors, sizes={"L": L})
    assert [*gradient] == [name for kind in "Wcn" for name in tensors if name[0] == kind]
    one = nt.gradient(LAYERED, "loss", [*gradient])(values=tensors, sizes={"L": L})
    for name, slope in gradient.items():
        assert set(slope.axes) == set(tensors[name].axes) and nt.allclose(slope, one[name])


def test_all_that_is_declared_has_families_and_no_whole_numbers():
    tensors = layered(2)
    gradient = nt.gradient(LAYERED, "loss")(values=tensors, sizes={"L": 2})
    assert set(gradient) == set(tensors) - {"X^0"}


def test_a_family_of_which_none_is_given_is_told():
    tensors = {name: tensor for name, tensor in layered(2).items() if name[0] != "W"}
    with pytest.raises(nt.NotationError, match=r"no value for any member of W\^l"):
        nt.gradient(LAYERED, "loss", "W^l")(values=tensors, sizes={"L": 2})


def test_a_formula_without_the_mark_is_the_same():
    parameters = ("W^1", "b_1", "W^2")
    gradient = nt.gradient(NETWORK, "loss", parameters)(values=GIVEN)
    for name in parameters:
        assert nt.allclose(nt.evaluate(f"{NETWORK}\n∂loss/∂{name}", GIVEN), gradient[name])
        step = nt.evaluate(f"{NETWORK}\n{name} − 0.1 (∂loss/∂{name})", GIVEN)
        assert nt.allclose(step, GIVEN[name] - 0.1 * gradient[name])


BY_METHOD = "w ∈ ℝ^{a}\nb ∈ ℝ\nf(x) = ∑_{a} (w ⊙ x)^2 + b\nL = f(3) + 1"


def test_the_method_is_the_function_said_of_a_program_or_a_name_of_it():
    program, w = nt.program(BY_METHOD), nt.tensor([1.0, 2.0], "a")
    expected = nt.gradient(program, "L")(w=w, b=4.0)
    assert expected["w"].tolist() == [18.0, 36.0] and float(expected["b"]) == 1
    for slopes in (
        program.gradient(),
        program["L"].gradient(["w", "b"]),
        nt.formula(BY_METHOD).gradient("w, b".split(", ")),
    ):
        result = slopes(w=w, b=4.0)
        assert {name: slope.tolist() for name, slope in result.items()} == {"w": [18.0, 36.0], "b": 1.0}
    value, slopes = program["f"].gradient("w", return_value=True)(3.0, w=w, b=4.0)
    assert (float(value), slopes["w"].tolist()) == (49.0, [18.0, 36.0])
    value, slopes = nt.formula("∑_{a} w^2").gradient("w", return_value=True)(w=w)
    assert (float(value), slopes["w"].tolist()) == (5.0, [2.0, 4.0])


def test_the_command_prints_the_number_and_its_slopes(capsys):
    words = ["eval", BY_METHOD, "w=[1,2]:a", "b=4"]
    assert cli.main([*words, "--gradient", "w"]) == 0
    assert capsys.readouterr().out == "L = 50\n\n∂/∂w\na │  1   2\n──┼───────\n  │ 18  36\n"
    assert cli.main([*words, "--gradient", "all", "--of", "L", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["value"]["data"] == 50 and data["gradient"]["w"]["data"] == [18, 36]
    assert cli.main([*words, "--gradient", "v"]) == 1
    assert "the program does not contain v" in capsys.readouterr().err


STACKED = """
W^l ∈ ℝ^{a × a'} for l = 1, …, L
E ∈ ℝ^{v × a}
X^0 = X ⊙_{v} E
X^l = tanh((X^{l-1} ⊙_{a} W^l)_{a'→a}) for l = 1, …, L
loss = ∑_{a, b} (X^L)^2
"""


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("wrt", [["W^l", "E"], None])
def test_a_family_that_is_declared_with_its_range(library, wrt):
    torch = pytest.importorskip("torch")
    make = np.asarray if library == "numpy" else torch.tensor
    if library == "jax":
        make = pytest.importorskip("jax.numpy").asarray
    axes = {"W^1": "a a'", "W^2": "a a'", "E": "v a", "X": "b v"}
    arrays = {name: RANDOM.normal(size=[{"b": 2, "v": 4}.get(axis, 3) for axis in axes[name].split()]) for name in axes}
    tensors = {name: nt.tensor(make(array), axes[name]) for name, array in arrays.items()}
    value, slopes = nt.gradient(STACKED, "loss", wrt, return_value=True)(values=tensors, sizes={"L": 2})
    known = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}
    state = known["X"] @ known["E"]
    for layer in ("W^1", "W^2"):
        state = torch.tanh(state @ known[layer])
    (expected := (state**2).sum()).backward()
    close = 1e-4 if library == "jax" else 1e-12
    np.testing.assert_allclose(float(value), float(expected), rtol=close)
    assert slopes.keys() == {"W^1", "W^2", "E"}
    for name, slope in slopes.items():
        np.testing.assert_allclose(slope.to_array(axes[name]), known[name].grad, rtol=close, atol=close)


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("h^0 = ∑_{ax} X\nh^t = 2 h^{t-1} for t = 1, …, 3", [8, 8, 8]),
        ("h_0 = ∑_{ax} X\nh_{t+1} = 2 h_t for t = 0, …, 2", [8, 8, 8]),
        ("b ∼ Bernoulli(0.5)\nm = b ∑_{ax} X^2\n𝔼_b[m]", [1, 2, 4]),
        ("b ∼ Bernoulli(0.5)\n𝔼[b ∑_{ax} X]", [0.5, 0.5, 0.5]),
    ],
)
def test_the_gradient_of_a_member_and_of_an_expectation(text, slope):
    X = nt.tensor([1.0, 2.0, 4.0], "ax")
    formula = nt.formula(text)
    assert formula.gradient("X")(X=X)["X"].tolist() == slope
    derivative = formula.derivative("X")
    assert derivative(X=X).tolist() == slope and nt.formula(derivative.to_text())(X=X).tolist() == slope
