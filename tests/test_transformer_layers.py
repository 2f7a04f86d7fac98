"""Layers: what every layer does, whatever its formulas; and that they are formulas and nothing else."""

from __future__ import annotations

import ast
import copy
import itertools
import pickle
import textwrap
from pathlib import Path

import numpy as np
import pytest
from layer_cases import CASES, Case

import namedtensor as nt
import transformer
from namedtensor.initializers import Constant
from namedtensor.layers.layer import Layer
from transformer import FFN, LayerNorm, MultiHeadAttention, SelfAttention, learning_records, lelarge, paper

FOLDER = Path(transformer.__file__).parent
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
learning = pytest.mark.parametrize(
    "case", [case for case in CASES if case.layer().parameters], ids=lambda case: case.title
)


def equal(left: Layer, right: Layer) -> bool:
    return (
        type(left) is type(right)
        and left._about == right._about
        and list(left.parameters) == list(right.parameters)
        and all(
            value == right.parameters[name]
            if isinstance(value, (int, float))
            else nt.allclose(value, right.parameters[name], rtol=0, atol=0)
            for name, value in left.parameters.items()
        )
    )


def small() -> FFN:
    return FFN.init(seed=0, sizes={"chans": 4, "hidden": 6})


# ------------------------------------------------------------------------------------------------------ made and used
@every
def test_a_layer_is_made_from_sizes(case: Case):
    layer = case.kind.init(seed=3, sizes=case.sizes)
    assert equal(layer, case.kind.init(seed=3, sizes=case.sizes))
    for name, value in layer.parameters.items():
        assert np.isfinite(value.to_array(value.axes)).all(), name
    if any(np.ptp(value.array) for value in layer.parameters.values()):
        assert not equal(layer, case.kind.init(seed=4, sizes=case.sizes))
    assert all(
        value.array.dtype == "float32"
        for value in case.kind.init(sizes=case.sizes, dtype="float32").parameters.values()
    )


@pytest.mark.parametrize("case", [case for case in CASES if case.arguments], ids=lambda case: case.title)
def test_further_axes_are_mapped_over(case: Case):
    """[f(X)]_s = f(X_s) for every record s of the extra axes."""
    layer, further = case.layer(), {"page": 2, "site": 3}
    inputs = case.inputs(further=further)
    whole = layer(*inputs)
    for record in itertools.product(*map(range, further.values())):
        at = dict(zip(further, record))
        alone = layer(*(input_[at] for input_ in inputs))
        np.testing.assert_allclose(whole[at].to_array(alone.axes), alone.to_array(alone.axes), rtol=1e-12, atol=1e-13)


@every
def test_the_formula_printed_is_what_runs(case: Case):
    """The printed text, run as a program of its own with the layer's parameters, gives what the layer gives."""
    layer, inputs = case.layer(), case.inputs()
    program = nt.program(layer.formula.to_text(), syntax="text")
    values = dict(layer.parameters)
    if layer.inputs:
        again = program[layer.output](values={**values, **dict(zip(layer.inputs, inputs))}, sizes=layer.sizes)
    else:
        again = program[layer.output](*inputs, values=values, sizes=layer.sizes)
    want = layer(*inputs)
    np.testing.assert_array_equal(again.to_array(want.axes), want.to_array(want.axes))


@every
def test_the_order_in_which_axes_are_stored_means_nothing(case: Case):
    layer, inputs = case.layer(), case.inputs()

    def turned(tensor):
        return nt.tensor(tensor.to_array(tensor.axes[::-1]), tensor.axes[::-1])

    other = layer.replace({name: turned(value) for name, value in layer.parameters.items()})
    want, got = layer(*inputs), other(*map(turned, inputs))
    np.testing.assert_allclose(got.to_array(want.axes), want.to_array(want.axes), rtol=1e-11, atol=1e-13)


def test_a_value_inside_is_had_by_its_name():
    block = Case(lelarge.EncoderBlock, {"chans": 4, "key": 3, "hidden": 6}, ("seq[5] chans[4]",))
    layer, (X,) = block.layer(), block.inputs()
    X_2, Y = layer.evaluate(("X_2", "Y"), X)
    assert nt.allclose(X_2, layer.evaluate("X_2", X)) and nt.allclose(Y, layer(X))


def test_constants_are_numbers_among_the_parameters():
    X = nt.tensor([1.0, 2.0, 4.0], "ax")
    layer = lelarge.Standardize({"ε": 1.0})
    np.testing.assert_allclose(layer(X).array, (X.array - 7 / 3) / np.sqrt(X.array.var() + 1))
    assert "ε = 1.0" in repr(layer)
    assert nt.allclose(layer.replace(epsilon=1e-5)(X), nt.standardize(X, axis="ax"))
    assert equal(lelarge.Standardize.init(constants={"ε": 1.0}), layer)


def test_other_first_values_by_name():
    layer = FFN.init(sizes={"chans": 4, "hidden": 6}, initializers={"W_1": Constant(2.0)})
    assert (layer.parameters["W_1"].array == 2).all() and np.ptp(layer.parameters["W_2"].array) > 0


def test_definitions_replace_others():
    plain = small()
    layer = FFN(plain.parameters, definitions="ReLU(x) = x")
    X = nt.tensor(np.ones(4), "chans")
    W_1, W_2 = (plain.parameters[name] for name in ("W_1", "W_2"))
    assert nt.allclose(layer(X), nt.evaluate("X ⊙_{chans} W_1 ⊙_{hidden} W_2", X=X, W_1=W_1, W_2=W_2))
    assert "ReLU(x) = x" in str(layer.formula) and "ReLU(x) = x" not in str(plain.formula)


# ------------------------------------------------------------------------------------------------------------ changed
@learning
def test_replacing_gives_a_new_layer(case: Case):
    layer = case.layer()
    name, value = next(iter(layer.parameters.items()))
    other = layer.replace({name: value * 2})
    assert nt.allclose(other.parameters[name], value * 2) and nt.allclose(layer.parameters[name], value)
    assert all(
        other.parameters[parameter] is layer.parameters[parameter]
        for parameter in layer.parameters
        if parameter != name
    )


def test_replacing_takes_a_greek_letter_spelled_out():
    layer = LayerNorm.init(sizes={"chans": 3})
    γ = nt.tensor([1.0, 2.0, 3.0], "chans")
    assert layer.replace(gamma=γ).parameters["γ"] is γ


def test_a_layer_does_not_change():
    layer = small()
    with pytest.raises(AttributeError, match=r"layer\.replace\(W_1=…\)"):
        layer.W_1 = layer.parameters["W_2"]
    with pytest.raises(AttributeError):
        layer.parameters = {}
    with pytest.raises(TypeError):
        layer.parameters["W_1"] = layer.parameters["W_2"]
    layer.sizes["L"] = 3
    layer.config["L"] = 3
    assert layer.sizes == {} == layer.config


@every
def test_a_layer_is_pickled_and_copied(case: Case):
    layer = case.layer()
    for again in (pickle.loads(pickle.dumps(layer)), copy.copy(layer), copy.deepcopy(layer)):
        assert equal(again, layer)
    inputs = case.inputs()
    assert nt.allclose(pickle.loads(pickle.dumps(layer))(*inputs), layer(*inputs))


# --------------------------------------------------------------------------------------------------------------- kept
@every
def test_a_layer_comes_back_from_its_file(case: Case, tmp_path):
    layer = case.layer()
    layer.save(tmp_path / "layer.safetensors")
    again = case.kind.load(tmp_path / "layer.safetensors")
    assert equal(again, layer)
    for name, value in nt.load_tensors(tmp_path / "layer.safetensors").items():
        assert value.axes == layer.parameters[name].axes


def test_a_file_keeps_numbers_sizes_and_definitions(tmp_path):
    layer = lelarge.Standardize({"ε": 0.25}, sizes={"L": 3}, definitions="var_{ax}(X) = 2")
    layer.save(tmp_path / "layer.safetensors")
    again = lelarge.Standardize.load(tmp_path / "layer.safetensors")
    assert again.parameters == {"ε": 0.25} and again.sizes == {"L": 3}
    assert again.definitions == "var_{ax}(X) = 2" and again.formula == layer.formula


def test_a_strict_layer_is_loaded_as_a_strict_layer(tmp_path):
    class Added(Layer):
        notation = "Added : ℝ^{a} → ℝ^{a × b}\nw ∈ ℝ^{a × b}\nAdded(x) = f(x)\nf(x) = x + w"

    path = tmp_path / "added.safetensors"
    layer = Added.init(sizes={"a": 2, "b": 3}, strict=True)
    layer.save(path)
    Added.load(path)
    definitions = {"definitions": '"f(x) = x + ∑_{a} w"'}
    nt.save_tensors(path, layer.parameters, {**nt.TensorFile(path).metadata, **definitions})
    assert "314: + broadcasts ℝ^{a} against ℝ^{b} (outer product)" in refused(lambda: Added.load(path))


def test_other_programs_read_the_file(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    layer = small()
    layer.save(tmp_path / "ffn.safetensors")
    arrays = safetensors.load_file(tmp_path / "ffn.safetensors")
    for name, value in layer.parameters.items():
        np.testing.assert_array_equal(arrays[name], value.to_array(value.axes))


ABOUT = {
    "layer": "transformer.lelarge.FFN",
    "numbers": "{}",
    "sizes": "{}",
    "definitions": '""',
    "config": "{}",
    "removed": "[]",
}


def written(path: Path, change=lambda parameters: parameters, **about) -> Path:
    """A file of a small FFN, with other parameters or another head than it should have."""
    nt.save_tensors(path, change(dict(small().parameters)), {**ABOUT, **about})
    return path


def refused(action) -> str:
    with pytest.raises(nt.NotationError) as caught:
        action()
    return str(caught.value)


@pytest.mark.parametrize(("remaining", "message"), [
    (4, "it is not a safetensors file"),
    (40, "it is cut short in its head"),
    (-8, "it is cut short: b_2 ends 8 bytes after the end of the file"),
])  # fmt: skip
def test_a_file_cut_short(remaining, message, tmp_path):
    path = written(tmp_path / "ffn.safetensors")
    path.write_bytes(path.read_bytes()[:remaining])
    assert refused(lambda: FFN.load(path)) == f"value error 409: cannot read {path}: {message}"


def test_a_file_of_another_layer(tmp_path):
    path = written(tmp_path / "ffn.safetensors")
    assert refused(lambda: LayerNorm.load(path)) == (
        f"value error 409: {path} holds transformer.lelarge.FFN, and is to be read as transformer.lelarge.LayerNorm"
    )
    norm = paper.LayerNorm.init(sizes={"chans": 2, "layer": 3})
    norm.save(path)
    assert "holds transformer.paper.LayerNorm" in refused(lambda: LayerNorm.load(path))


def test_a_file_of_no_layer(tmp_path):
    path = tmp_path / "tensors.safetensors"
    nt.save_tensors(path, dict(small().parameters))
    assert refused(lambda: FFN.load(path)) == (
        f"value error 409: {path} does not name its layer, and is to be read as transformer.lelarge.FFN"
    )
    nt.save_tensors(path, dict(small().parameters), {"layer": "transformer.lelarge.FFN"})
    assert refused(lambda: FFN.load(path)) == f"value error 409: {path} has no metadata of the layer that it holds"
    written(path, sizes="{")
    assert refused(lambda: FFN.load(path)) == f"value error 409: {path} has no metadata of the layer that it holds"


def test_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "none.safetensors"
    assert refused(lambda: FFN.load(path)) == f"value error 409: cannot read {path}: no such file or directory"


def test_a_file_with_other_parameters(tmp_path):
    path = tmp_path / "ffn.safetensors"
    extra = nt.tensor([1.0], "chans")
    written(path, lambda actual: {name: value for name, value in actual.items() if name != "b_1"})
    assert refused(lambda: FFN.load(path)) == golden("""
        name error 206: FFN is missing b_1
          its formulas declare W_1, b_1, W_2, b_2
          hint: pass it: b_1 ∈ ℝ^{hidden}
    """)
    written(path, lambda actual: {**actual, "c": extra})
    assert refused(lambda: FFN.load(path)) == golden("""
        name error 201: FFN has no parameter c
          its formulas declare W_1, b_1, W_2, b_2
    """)
    written(path, lambda actual: {**actual, "b_1": nt.tensor(np.zeros(5), "hidden")})
    assert refused(lambda: FFN.load(path)) == MISSHAPEN


# ------------------------------------------------------------------------------------------------------------- errors
def golden(text: str) -> str:
    return textwrap.dedent(text).strip()


MISSHAPEN = golden("""
    shape error 302: in the parameters of FFN, axis hidden has size 6 in X ⊙_{chans} W_1 and size 5 in b_1
      2 | FFN(X) = ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
        |               ^^^^^^^^^^^^^^^^^^^^^
      X ⊙_{chans} W_1 : ℝ^{hidden[6]}
      b_1 : ℝ^{hidden[5]}
      + aligns axes by name, so their sizes must match
      hint: rename one of the two axes, or pass tensors of the same size
""")
GOLDEN = {
    "a misshapen parameter": (lambda: small().replace(b_1=nt.tensor(np.zeros(5), "hidden")), MISSHAPEN),
    "two sizes of one axis": (
        lambda: small().replace(b_2=nt.tensor(np.zeros(5), "chans")),
        """
        shape error 302: in the parameters of FFN, axis chans has size 4 in ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 and size 5 in b_2
          2 | FFN(X) = ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
            |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 : ℝ^{chans[4]}
          b_2 : ℝ^{chans[5]}
          + aligns axes by name, so their sizes must match
          hint: rename one of the two axes, or pass tensors of the same size
        """,
    ),
    "a parameter on another axis": (
        lambda: small().replace(b_1=nt.tensor(np.zeros(6), "hiden")),
        """
        shape error 317: in the parameters of FFN, b_1 is missing axis hidden of its declaration
          4 | b_1 ∈ ℝ^{hidden}
            |          ^^^^^^
          b_1 : ℝ^{hiden[6]}
          hint: give b_1 with the axes hidden
        """,
    ),
    "a parameter without names": (
        lambda: small().replace(b_1=np.zeros(6)),
        """
        shape error 317: b_1 of FFN is declared in ℝ^{hidden[6]}, got ndarray without names
          hint: name its axes: nt.tensor(array, "hidden")
        """,
    ),
    "a number for a tensor": (
        lambda: small().replace(b_1=0.0),
        """
        shape error 317: b_1 of FFN is declared in ℝ^{hidden[6]}, got a number
          hint: name its axes: nt.tensor(array, "hidden")
        """,
    ),
    "a missing parameter": (
        lambda: FFN({name: value for name, value in small().parameters.items() if name != "W_2"}),
        """
        name error 206: FFN is missing W_2
          its formulas declare W_1, b_1, W_2, b_2
          hint: pass it: W_2 ∈ ℝ^{hidden × chans}
        """,
    ),
    "an extra parameter": (
        lambda: small().replace(W1=nt.tensor(np.zeros(6), "hidden")),
        """
        name error 201: FFN has no parameter W1
          its formulas declare W_1, b_1, W_2, b_2
          hint: did you mean W_1?
        """,
    ),
    "one missing and one extra": (
        lambda: LayerNorm({"γ": nt.tensor([1.0], "chans"), "delta": nt.tensor([1.0], "chans")}),
        """
        name error 206: LayerNorm is missing β; unexpected: δ
          its formulas declare γ, β
        """,
    ),
    "a size that is not known": (
        lambda: FFN.init(sizes={"chans": 4}),
        """
        shape error 309: the size of axis hidden in W_1 is missing
          hint: pass it: sizes={'hidden': 3}
        """,
    ),
    "an argument on another axis": (
        lambda: small()(nt.tensor(np.zeros((2, 4)), "seq chan")),
        """
        shape error 305: FFN: argument X is missing axis chans
          1 | FFN : ℝ^{chans} → ℝ^{chans}
            |          ^^^^^ required by the signature here
          2 | FFN(X) = ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
            |     ^
          X : ℝ^{seq[2] × chan[4]}
          hint: if chan is meant, rename it: X_{chan→chans}
        """,
    ),
    "an argument of another size": (
        lambda: small()(nt.tensor(np.zeros((2, 5)), "seq chans")),
        """
        shape error 302: axis chans has size 5 in X and size 4 in W_1
          2 | FFN(X) = ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
            |               ^^^^^^^^^^^^^^^
          X : ℝ^{seq[2] × chans[5]}
          W_1 : ℝ^{chans[4] × hidden[6]}
          ⊙_{chans} aligns axes by name, so their sizes must match
          hint: rename one of the two axes, or pass tensors of the same size
        """,
    ),
    "too many arguments": (
        lambda: small()(*[nt.tensor(np.zeros(4), "chans")] * 2),
        """
        shape error 304: FFN expects 1 argument, got 2
          2 | FFN(X) = ReLU(X ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
            | ^^^^^^
          hint: it is defined as FFN(X)
        """,
    ),
    "too many arguments of a layer with named inputs": (
        lambda: Case(lelarge.EncoderBlock, {"chans": 4, "key": 3, "hidden": 6}, ()).layer()(1, 2),
        "shape error 304: EncoderBlock expects X, got 2 arguments",
    ),
    "windows that do not fill the sequence": (
        lambda: paper.MaxPool1d(sizes={"k": 4})(nt.tensor(np.zeros(6), "seq")),
        """
        shape error 310: axis seq has size 6, not a multiple of the window size 4
          2 | MaxPool1d_k(X) = max_{kernel} pool_{seq,kernel} X
            |                               ^^^^^^^^^^^^^^^^^^^
          X : ℝ^{seq[6]}
          hint: choose a size that divides it
        """,
    ),
    "a result that would have an axis twice": (
        lambda: SelfAttention.init(sizes={"chans": 4, "key": 3})(nt.tensor(np.zeros((2, 5, 4)), "val seq chans")),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", GOLDEN)
def test_what_does_not_fit_gets_this_message(title):
    action, message = GOLDEN[title]
    got = refused(action)
    if message is not None:
        assert got == golden(message)
    else:
        assert "error 306" in got and "val" in got


# --------------------------------------------------------------------------------------------------- other libraries
@learning
def test_gradients_by_pytorch_are_those_by_steps(case: Case):
    """Along a random direction, the derivative is what a small step in that direction gives."""
    torch = pytest.importorskip("torch")
    layer, inputs = case.layer(), case.inputs()

    def cost(values):
        text = layer.replace(values)(*inputs)
        return (text * text).sum(axis=text.axes)

    arrays = {name: torch.tensor(value.array, requires_grad=True) for name, value in layer.parameters.items()}
    inputs = [nt.tensor(torch.tensor(input_.array), input_.axes) for input_ in inputs]
    cost({name: nt.tensor(value, layer.parameters[name].axes) for name, value in arrays.items()}).array.backward()
    random = np.random.default_rng(9)
    steps = {name: random.normal(size=value.array.shape) for name, value in layer.parameters.items()}
    along = sum(
        float((value.grad.numpy() * steps[name]).sum()) for name, value in arrays.items() if value.grad is not None
    )

    inputs = case.inputs()
    h = 1e-6
    moved = [
        float(cost({name: nt.tensor(value.array + sign * h * steps[name], value.axes) for name, value in layer.parameters.items()}).array)
        for sign in (1, -1)
    ]  # fmt: skip
    assert along == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=2e-4, abs=1e-6)


def test_gradients_are_those_of_a_layer_written_by_hand():
    torch = pytest.importorskip("torch")
    layer = MultiHeadAttention.init(seed=1, sizes={"chans": 6, "heads": 2, "key": 3, "val": 3}).to("torch")
    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True, generator=torch.Generator().manual_seed(0))
    weights = {name: value.array.clone().requires_grad_() for name, value in layer.parameters.items()}
    named = {name: nt.tensor(value, layer.parameters[name].axes) for name, value in weights.items()}
    ours = layer.replace(named)(nt.tensor(x, "seq chans")).to_array("seq chans")
    (ours**3).sum().backward()
    got = {"x": x.grad, **{name: value.grad for name, value in weights.items()}}

    hand = {name: value.detach().clone().requires_grad_() for name, value in {"x": x, **weights}.items()}
    q, k, v = (
        torch.einsum(
            "hkc,sc->hsk",
            hand[name].permute(*map(layer.parameters[name].axes.index, ("heads", text, "chans"))),
            hand["x"],
        )
        for name, text in (("W_Q", "key"), ("W_K", "key"), ("W_V", "val"))
    )
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    W_O = hand["W_O"].permute(*map(layer.parameters["W_O"].axes.index, ("chans", "concat")))
    theirs = mixed.permute(1, 0, 2).reshape(4, 6) @ W_O.T
    torch.testing.assert_close(ours, theirs)
    (theirs**3).sum().backward()
    for name, value in got.items():
        torch.testing.assert_close(value, hand[name].grad)


@every
def test_a_layer_runs_on_pytorchs_arrays(case: Case):
    torch = pytest.importorskip("torch")
    layer, inputs = case.layer(), case.inputs()
    got = layer.to("torch")(*(nt.tensor(torch.tensor(input_.array), input_.axes) for input_ in inputs))
    want = layer(*inputs)
    if layer.parameters:
        assert isinstance(got.array, torch.Tensor)
    # PyTorch divides whole numbers in float32: so it does the places of tokens.
    near = 1e-6 if case.kind is learning_records.Embedding else 1e-10
    np.testing.assert_allclose(np.asarray(got.to_array(want.axes)), want.to_array(want.axes), rtol=near, atol=1e-12)


@pytest.mark.sampled(3)
@learning
def test_a_layer_is_a_tree_of_jax(case: Case):
    jax = pytest.importorskip("jax")
    layer, inputs = case.layer(), case.inputs()
    leaves, structure = jax.tree.flatten(layer)
    assert len(leaves) == len(layer.parameters)
    assert equal(jax.tree.unflatten(structure, leaves), layer)
    doubled = jax.tree.map(lambda leaf: leaf * 2, layer)
    for name, value in layer.parameters.items():
        np.testing.assert_array_equal(doubled.parameters[name].to_array(value.axes), 2 * value.array)

    with jax.enable_x64(True):
        want = layer(*inputs)
        got = jax.jit(lambda layer, inputs: layer(*inputs))(
            layer.to("jax"), [nt.tensor(jax.numpy.asarray(input_.array), input_.axes) for input_ in inputs]
        )
        np.testing.assert_allclose(np.asarray(got.to_array(want.axes)), want.to_array(want.axes), rtol=1e-9, atol=1e-11)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", [lelarge.EncoderBlock, MultiHeadAttention, paper.Transformer, paper.Conv1d, paper.RNN])
def test_gradients_by_jax_are_pytorchs(kind):
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    case = next(case for case in CASES if case.kind is kind)
    layer, inputs = case.layer(), case.inputs()

    def cost(layer, inputs):
        result = layer(*inputs)
        return (result * result).sum(axis=result.axes).array

    with jax.enable_x64(True):
        positional = [nt.tensor(jax.numpy.asarray(input_.array), input_.axes) for input_ in inputs]
        gradient = jax.jit(jax.grad(cost))(layer.to("jax"), positional)
    assert type(gradient) is kind
    leaves = {name: torch.tensor(value.array, requires_grad=True) for name, value in layer.parameters.items()}
    replaced = layer.replace({name: nt.tensor(value, layer.parameters[name].axes) for name, value in leaves.items()})
    cost(replaced, [nt.tensor(torch.tensor(input_.array), input_.axes) for input_ in inputs]).backward()
    for name, value in leaves.items():
        got = np.asarray(gradient.parameters[name].to_array(layer.parameters[name].axes))
        np.testing.assert_allclose(got, value.grad.numpy(), rtol=1e-7, atol=1e-10)


# ------------------------------------------------------------------------------------------------------ how it looks
@every
def test_a_docstring_shows_the_formulas_and_their_source(case: Case):
    shown = case.kind.__doc__
    for line in filter(None, case.kind.notation.splitlines()):
        assert line in shown
    assert shown.endswith(f"Source: {case.kind.citation}.") and case.kind.citation
    first = shown.split("\n")[0]
    assert first.endswith((".", "`.", ":")) or "." in shown.split("\n\n")[0]


@every
def test_a_layer_prints_its_formulas_and_shapes(case: Case):
    layer = case.layer()
    shown = repr(layer)
    assert shown.startswith(f"{case.kind.__name__}:\n")
    assert textwrap.indent(str(layer.formula), "    ") in shown
    for name, value in layer.parameters.items():
        assert f"    {name} = {value.shape}" in shown
    assert nt.program(layer._repr_latex_().strip("$"), syntax="latex").tree == layer.formula.tree


def test_the_public_layers_are_of_the_texts():
    for name in "LayerNorm FFN Attention SelfAttention MultiHeadAttention EncoderBlock Transformer".split():
        assert name in transformer.__all__ and issubclass(getattr(transformer, name), Layer)


# -------------------------------------------------------------------------------------------------- formulas and nothing else
ARRAYS = {"numpy", "torch", "jax", "array_api_compat", "cupy", "tensorflow", "safetensors", "transformers"}
CODE = sorted(FOLDER.rglob("*.py"))


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(FOLDER)))
def test_there_is_no_array_code(path):
    """No library of arrays is imported, and no array is asked for its methods: `.array` is only handed on."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert not {name.partition(".")[0] for name in names} & ARRAYS, ast.unparse(node)
        if isinstance(node, ast.Attribute) and node.attr == "array":
            above = parents[node]
            assert not isinstance(above, (ast.Attribute, ast.BinOp, ast.Subscript, ast.Compare)), ast.unparse(above)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ARRAYS:
            assert not _imports(parents.get(node)), ast.unparse(parents[node])


def _imports(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and "import" in ast.unparse(node.func)


def test_every_layer_says_where_it_is_from():
    kinds = [Layer]
    for kind in kinds:
        kinds += kind.__subclasses__()
    local = [kind for kind in kinds if kind.notation and kind.__module__.startswith("transformer.")]
    assert len(local) >= len(CASES)
    for kind in local:
        assert kind.citation and kind.formula.tree.statements


def test_a_layer_is_made_before_it_is_called():
    with pytest.raises(nt.NotationError) as caught:
        FFN(nt.tensor([1.0, 2.0], "chans"))  # type: ignore[arg-type]
    assert str(caught.value) == (
        "name error 208: the parameters of a layer must be a mapping from names to tensors, got NamedTensor\n"
        "  hint: create the layer first, layer = FFN.init(sizes=…), and then call it, layer(X)"
    )


def test_a_dtype_that_is_none():
    with pytest.raises(nt.NotationError, match="invalid dtype 'float31'"):
        FFN.init(sizes={"chans": 2, "hidden": 3}, dtype="float31")
