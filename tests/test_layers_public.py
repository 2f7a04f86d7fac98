"""A layer that somebody writes, by the public names alone."""

import pydoc
from importlib import import_module

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.initializers import Constant
from namedtensor.layers import Layer, LayerModule

RANDOM = np.random.default_rng(3)


class Affine(Layer):
    """A linear map and a shift, several times."""

    notation = """
        H^0 = X
        H^l = tanh(H^{l-1}_{a→b} ⊙_{b} W^l + s^l) for l = 1, …, L
        Y = H^L
        X ∈ ℝ^{a}
        W^l ∈ ℝ^{a × b}
        s^l ∈ ℝ^{a}
    """
    output = "Y"
    inputs = ("X",)
    initializers = {"s": Constant(0.5)}


SIZES = {"a": 3, "b": 3, "L": 4}


@pytest.fixture(scope="module")
def layer():
    return Affine.init(0, SIZES)


def test_help_describes_the_class_and_its_formulas():
    for layer in (Layer, Affine):
        assert "parameters" in pydoc.render_doc(layer)
    assert not hasattr(Layer, "formula") and "tanh" in str(Affine.formula)


def by_numpy(layer, x):
    for l in range(1, 5):
        W, s = layer.parameters[f"W^{l}"].to_array("a b"), layer.parameters[f"s^{l}"].to_array("a")
        x = np.tanh(x @ W.T + s)
    return x


def test_its_value(layer):
    x = RANDOM.normal(size=(2, 3))
    assert np.allclose(layer(nt.tensor(x, "seq a")).to_array("seq a"), by_numpy(layer, x))


def test_its_inputs(layer):
    assert layer.input_shapes == {"X": {"a": 3}}


def test_it_is_packed(layer):
    """In one piece of memory: all of a layer before the next, matrices first, the longer side of each last."""
    packed = layer.pack()
    assert [*packed.parameters] == [*layer.parameters]
    arrays = {name: value.array for name, value in packed.parameters.items()}
    starts = {name: array.__array_interface__["data"][0] for name, array in arrays.items()}
    order = sorted(starts, key=starts.__getitem__)
    assert order == [f"W^{l}" for l in range(1, 5)] + [f"s^{l}" for l in range(1, 5)]
    assert max(starts.values()) - min(starts.values()) < 64 * (4 * 2 + 4)
    assert {value.axes for name, value in packed.parameters.items() if name[0] == "W"} == {("b", "a")}
    x = nt.tensor(RANDOM.normal(size=3), "a")
    assert nt.allclose(packed(x), layer(x))


def test_parameters_as_they_are_stored(layer):
    assert [*layer.stored] == [*layer.parameters]
    assert len(layer.stack_layers().stored) == 2 and len(layer.stack_layers().parameters) == 8


def test_a_module_of_other_formulas(layer):
    torch = pytest.importorskip("torch")
    formulas = layer.formula.replace_definitions("Z = 2 Y + shift\nshift ∈ ℝ^{a}")
    module = LayerModule(layer, {"X": "seq a", "shift": "a"}, "Z", formulas, (("a", "seq"),))
    x, shift = torch.randn(5, 3), torch.randn(3)
    expected = 2 * by_numpy(layer, x.double().numpy()) + shift.double().numpy()
    assert np.allclose(module(x, shift).detach().numpy(), expected.T, atol=1e-5)
    H = torch.ones(5, 3)
    replaced = module(nt.tensor(x, "seq a"), nt.tensor(shift, "a"), Y=nt.tensor(H, "seq a"))
    assert np.allclose(replaced.to_array("seq a").detach().numpy(), 2 + shift.numpy())
    module.get_parameter("W^1").data.zero_()
    assert not module.layer.parameters["W^1"].array.any() and type(module.layer) is Affine


def test_a_file_beside_the_class(tmp_path, monkeypatch):
    (tmp_path / "of_a_user.py").write_text(
        'from namedtensor.layers import Layer\nclass Twice(Layer):\n    "Doubled."\n    file = "twice.nt"\n'
    )
    (tmp_path / "twice.nt").write_text("Twice : ℝ^{a} → ℝ^{a}\nTwice(X) = 2 X", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    from of_a_user import Twice  # type: ignore[import-not-found]

    assert Twice.init()(nt.tensor([1.0], "a")).tolist() == [2.0]
    assert Twice.file_text("twice.nt").endswith("Twice(X) = 2 X")


# ------------------------------------------------------------------------------------------------------ bound values
LOOP = nt.program("""
    state = tanh(x + W ⊙_{a} before_{b→a})
    shown = 2 state
    W ∈ ℝ^{a × b}
    x, before ∈ ℝ^{b}
""")


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_a_loop_with_bound_values(library):
    pytest.importorskip(library)
    W, xs = RANDOM.normal(size=(2, 2)), RANDOM.normal(size=(5, 2))
    step = LOOP["shown", "state"].bind({"W": nt.tensor(W, "a b").to(library)}, donate=["before"])
    state, expected = nt.zeros("b[2]", library=library), np.zeros(2)
    for x in xs:
        shown, state = step({"x": nt.tensor(x, "b").to(library), "before": state})
        expected = np.tanh(x + expected @ W)
        assert np.allclose(shown.to_numpy(), 2 * expected, atol=1e-6)


WRITTEN = nt.program("""
    memory = { x if iota_{m} = place; past otherwise }
    past ∈ ℝ^{m}
    x, place ∈ ℝ
""")


def test_the_arrays_that_are_given_away_are_written():
    step, keeping = (WRITTEN["memory",].bind({"x": nt.tensor(7.0)}, donate=names) for names in ("past", ()))
    state = nt.tensor(np.zeros(3), "m")
    for position, expected in ((1, [7, 0, 0]), (3, [7, 0, 7])):
        given = state.array
        (state,) = step({"past": state, "place": nt.tensor(position)})
        assert np.shares_memory(state.array, given) and state.tolist() == expected
    (other,) = keeping({"past": state, "place": nt.tensor(2)})
    assert other.tolist() == [7, 7, 7] and state.tolist() == [7, 0, 7]


def test_a_bound_call_with_a_wrong_input():
    step = LOOP["state",].bind({"W": nt.eye("a[2] b[2]")})
    with pytest.raises(nt.NotationError) as caught:
        step({"x": nt.zeros("c[2]"), "before": nt.zeros("b[2]")})
    assert "x" in str(caught.value) and caught.value.hint
    with pytest.raises(nt.NotationError, match="donate= must be a name, or several"):
        LOOP["state",].bind({}, donate=[1])  # type: ignore[list-item]
    with pytest.raises(nt.NotationError, match="donate= names befor, which the program does not have") as problem:
        LOOP["state",].bind({}, donate=["befor"])
    assert problem.value.code == 201
    assert "did you mean before?" in str(problem.value)
    with pytest.raises(nt.NotationError, match="the argument of bind must be a mapping from names, got 3"):
        LOOP["state",].bind(3)  # type: ignore[arg-type]


def test_a_wrong_file_and_a_wrong_layer(layer):
    with pytest.raises(nt.NotationError, match="Affine cannot read none.nt: no such file") as caught:
        Affine.file_text("none.nt")
    assert caught.value.code == 409 and caught.value.hint
    pytest.importorskip("torch")
    with pytest.raises(nt.NotationError, match="the first argument of LayerModule must be a layer, got 3"):
        LayerModule(3, {"X": "a"})


def test_a_file_of_several_layers_names_each_class(tmp_path, monkeypatch):
    formulas = "#: layer Double\nDouble(X) = 2 X\n\n#: layer Triple\nTriple(X) = 3 X\n"
    (tmp_path / "several.nt").write_text(formulas, "utf-8")
    names = ("Double", "Triple", "Treble")
    lines = [f"class {name}(Layer):\n    output, inputs, file = {name!r}, ('X',), 'several.nt'\n" for name in names]
    text = "from namedtensor.layers import Layer\n" + "\n".join(lines)
    (tmp_path / "layers_of_a_file.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(nt.NotationError, match="several.nt has no layer Treble; it has Double, Triple") as caught:
        module = import_module("layers_of_a_file")
        _ = module.Treble.formula
    assert caught.value.hint == "write the line `#: layer Treble` before its formulas"


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_layer_of_any_size_is_packed(size, backend):
    layer = Affine.init(0, {"a": size, "b": size, "L": 4}).pack(backend)
    x = RANDOM.normal(size=(2, size))
    value = layer(nt.tensor(x, "seq a"))
    assert value.sizes == {"seq": 2, "a": size} and np.allclose(value.to_array("seq a"), by_numpy(layer, x))


def test_an_unknown_library_to_pack_for(layer):
    with pytest.raises(nt.NotationError, match="unknown backend 'tensorflow'") as caught:
        layer.pack("tensorflow")
    assert caught.value.code == 409 and "numpy" in caught.value.hint
