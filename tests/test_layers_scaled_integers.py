"""Integers of 8 bits with a scale: products and elements as by NumPy in double precision, and layers that store weights so."""

import pickle
from importlib import import_module

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.programs.families import stack_families
from transformer import FFN, GPT2, LayerNorm, Llama, Mixtral

LIBRARIES = ["numpy", "torch", "jax"]
GENERATOR = np.random.default_rng(0)
SIZES = {"seq": 5, "in": 24, "in'": 3, "out": 7, "out'": 2, "vocab": 11}
NAMES = {
    "Llama": {"L": 3, "vocab": 37, "chans": 32, "hidden": 48, "groups": 2, "queries": 2, "pair": 4, "val": 8},
    "GPT2": {"L": 2, "vocab": 37, "chans": 32, "hidden": 48, "heads": 4, "key": 8, "val": 8, "place": 60},
    "Mixtral": {
        "L": 2,
        "vocab": 37,
        "chans": 32,
        "hidden": 48,
        "groups": 2,
        "queries": 2,
        "pair": 4,
        "val": 8,
        "expert": 4,
    },
}
KINDS = {"Llama": Llama, "GPT2": GPT2, "Mixtral": Mixtral}


def drawn(axes, dtype="float32"):
    return nt.tensor(GENERATOR.standard_normal([SIZES[axis] for axis in axes.split()]).astype(dtype), axes)


def on(library, tensor):
    pytest.importorskip(library)
    return tensor.to(library)


def plan_of(text, library="numpy", **values):
    function = nt.formula(text).compile(backend=library)
    function(**{name: on(library, value) for name, value in values.items()})
    return function.plan


# ------------------------------------------------------------------------------------------------------------ tensors
@pytest.mark.parametrize(
    "axes, over", [("out in", "in"), ("in out", "in"), ("out out' in in'", "in in'"), ("in out in'", ["in'", "in"])]
)
def test_a_tensor_is_its_integers_times_their_scale(axes, over):
    W = drawn(axes)
    Q, s = nt.quantize(W, over)
    over = over.split() if isinstance(over, str) else over
    assert Q.dtype == np.int8 and s.dtype == np.float32
    assert {*Q.axes} == {*W.axes} and {*s.axes} == {*W.axes} - {*over} and {*Q.axes[-len(over) :]} == {*over}
    largest = np.abs(W.to_array(axes)).max(tuple(axes.split().index(axis) for axis in over), keepdims=True)
    away = np.abs((Q * s).to_array(axes) - W.to_array(axes))
    assert (away <= largest / 254 * 1.001).all()
    assert np.abs(Q.to_array(Q.axes).astype(int)).max() == 127


@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_agree_on_the_integers(library):
    W = drawn("out in")
    Q, s = nt.quantize(on(library, W), "in")
    np.testing.assert_array_equal(np.asarray(Q.to_array("out in")), nt.quantize(W, "in")[0].to_array("out in"))
    assert "int8" in str(Q.dtype)
    zeros, scale = nt.quantize(on(library, W * 0), "in")
    assert (
        not np.asarray(zeros.to_array("out in")).any() and np.asarray(scale.to_array()).tolist() == [1] * SIZES["out"]
    )


def test_large_tensors_are_converted_in_pieces(monkeypatch):
    quantization = import_module("namedtensor.tensors.quantization")
    W = drawn("vocab out in")
    whole = nt.quantize(W, "in")
    monkeypatch.setattr(quantization, "PIECE_ELEMENTS", 3 * 7 * 24)
    for part, other in zip(nt.quantize(W, "in"), whole):
        np.testing.assert_array_equal(part.to_array(other.axes), other.to_array(other.axes))


@pytest.mark.parametrize(
    "tensor, axis, code, message",
    [
        (lambda: drawn("out in"), "inn", 301, "quantize needs axis inn"),
        (lambda: drawn("out in"), "", 405, "quantize needs an axis"),
        (lambda: nt.tensor([1, 2], "in"), "in", 405, "quantize expects floats, got int64"),
        (lambda: nt.tensor([1.0, np.nan], "in"), "in", 405, "quantize expects finite elements"),
        (lambda: nt.tensor([1.0, np.inf], "in"), "in", 405, "quantize expects finite elements"),
        (lambda: np.ones(3), "in", 317, "quantize expects a named tensor, got ndarray"),
    ],
)
def test_what_has_no_integers(tensor, axis, code, message):
    with pytest.raises(nt.NotationError, match=message) as caught:
        nt.quantize(tensor(), axis)
    assert caught.value.code == code


# ------------------------------------------------------------------------------------------------------------ formulas
PRODUCTS = {  # formulas, the axes of X, W and of the result, those that W is summed over, and NumPy's einsum
    "X ⊙_{in} (Q ⊙ s)": ("seq in", "out in", "seq out", "in", "si,oi->so"),
    "(s ⊙ Q) ⊙_{in} X": ("in seq", "in out", "seq out", "in", "is,io->so"),
    "X ⊙_{in} (s Q)": ("in", "out out' in", "out out'", "in", "i,opi->op"),
    "X ⊙_{in,in'} (Q ⊙ s)": ("seq in' in", "out in in'", "seq out", "in in'", "sji,oij->so"),
    "2 (X ⊙_{in} (Q ⊙ s))": ("seq in", "out in", "seq out", "in", "si,oi->so"),
    "X ⊙_{in} (Q ⊙ s) + b": ("seq in", "out in", "seq out", "in", "si,oi->so"),
    "X ⊙_{in} [Q ⊙ s]_{out→out''}": ("seq in", "out in", "seq out''", "in", "si,oi->so"),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("text", PRODUCTS)
def test_a_product_reads_the_integers(text, library):
    x_axes, w_axes, result, over, einsum = PRODUCTS[text]
    X, b = drawn(x_axes), drawn("out")
    Q, s = nt.quantize(drawn(w_axes), over)
    expected = np.einsum(einsum, X.to_array(x_axes).astype("float64"), (Q * s).to_array(w_axes).astype("float64"))
    expected = 2 * expected if text[0] == "2" else expected + b.to_array() if "b" in text else expected
    given = {"X": X, "Q": Q, "s": s} | ({"b": b} if "b" in text else {})
    value = nt.evaluate(text, {name: on(library, tensor) for name, tensor in given.items()})
    np.testing.assert_allclose(np.asarray(value.to_array(result)), expected, rtol=1e-5, atol=1e-5)
    steps = [(step.primitive, step.value.count) for step in plan_of(text, library, **given).steps]
    assert [name for name, _ in steps if name in ("multiply_transposed", "dot", "matmul", "addmm")] == [
        "multiply_transposed"
    ]
    assert all(count < Q.to_array(Q.axes).size for name, count in steps if name in ("cast", "multiply"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_product_reads_the_integers_of_a_family_in_one_array(library):
    X, b = drawn("seq in"), drawn("out")
    members = {}
    for l in (1, 2):
        members[f"Q^{l}"], members[f"s^{l}"] = nt.quantize(drawn("out in"), "in")
    families = stack_families({name: on(library, tensor) for name, tensor in members.items()}, ["Q^l", "s^l"], 2)
    function = nt.formula("X ⊙_{in} (Q^2 ⊙ s^2) + b").compile(backend=library)
    value = function(values={**families, "X": on(library, X), "b": on(library, b)})
    weights = (members["Q^2"] * members["s^2"]).to_array("out in").astype("float64")
    expected = X.to_array("seq in") @ weights.T + b.to_array("out")
    np.testing.assert_allclose(np.asarray(value.to_array("seq out")), expected, rtol=1e-5, atol=1e-5)
    assert "multiply_transposed" in {step.primitive for step in function.plan.steps}


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_element_of_a_table_is_one_of_the_integers(library):
    Q, s = nt.quantize(drawn("vocab in"), "in")
    given = {"Q": Q, "s": s, "ids": nt.tensor([3, 1, 11, 3], "seq")}
    text = "(Q ⊙ s)_{vocab(ids)}"
    value = nt.evaluate(text, {name: on(library, tensor) for name, tensor in given.items()})
    expected = (Q * s).to_array("vocab in")[[2, 0, 10, 2]]
    np.testing.assert_allclose(np.asarray(value.to_array("seq in")), expected, rtol=1e-6)
    assert all(step.value.count <= 4 * SIZES["in"] for step in plan_of(text, library, **given).steps)
    assert "multiply_transposed" not in str(plan_of("X ⊙_{in} Q", X=drawn("in"), Q=Q))


@pytest.mark.parametrize(
    "text, scale",
    [
        ("X ⊙_{in} (Q ⊙ s)", "in"),  # a scale that the product sums over
        ("X ⊙_{in} (Q ⊙ s)", "out seq"),
        ("exp(Q ⊙ s) ⊙_{in} X", "out"),
    ],
)
def test_other_scales_have_the_same_value(text, scale):
    X, s = drawn("seq in"), drawn(scale)
    Q = nt.tensor(GENERATOR.integers(-3, 4, (7, 24)).astype("int8"), "out in")
    x, q = X.to_array("seq in").astype("float64")[:, None], Q.to_array("out in")[None]
    factor = np.expand_dims(s.to_array(scale), {"in": (0, 1), "out seq": (2,), "out": (0, 2)}[scale])
    factor = factor.swapaxes(0, 1) if scale == "out seq" else factor
    w = q * factor.astype("float64")
    expected = (x * (np.exp(w) if "exp" in text else w)).sum(-1)
    value = nt.evaluate(text, X=X, Q=Q, s=s).to_array("seq out")
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)


def test_gradients_pass_by_the_integers():
    X, (Q, s) = drawn("seq in"), nt.quantize(drawn("out in"), "in")
    program = nt.program("L = ∑_{seq,out} (X ⊙_{in} (Q ⊙ s))^2")
    gradient = nt.gradient(program, "L", wrt=["X"])(X=X, Q=Q, s=s)["X"]
    x, w = X.to_array("seq in"), (Q * s).to_array("out in")
    np.testing.assert_allclose(gradient.to_array("seq in"), 2 * x @ w.T @ w, rtol=1e-3, atol=1e-3)


# -------------------------------------------------------------------------------------------------------------- layers
def with_products(model):
    """The same model, whose weights are the products of its integers and scales."""
    values = {}
    for name, value in model.parameters.items():
        if isinstance(value, nt.NamedTensor) and "scale" in name:
            continue
        if isinstance(value, nt.NamedTensor) and "int8" in name:
            scale = next(
                text
                for text in (name.replace("int8", "scale"), name.replace("{int8}", "scale"))
                if text in model.parameters
            )
            value, name = value * model.parameters[scale], name.replace(",int8", "").replace("^{int8}", "")
        values[name] = value
    return type(model)(
        values,
        model.sizes,
        "\n".join(line for line in model.definitions.splitlines() if "int8" not in line and "scale" not in line),
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["Llama", "GPT2", pytest.param("Mixtral", marks=pytest.mark.slow)])
def test_models_in_int8_are_those_of_the_products(kind, library):
    pytest.importorskip(library)
    model = KINDS[kind].init(0, NAMES[kind], "float32")
    stored = model.to("numpy", "int8")
    weights = [value for value in stored.parameters.values() if isinstance(value, nt.NamedTensor)]
    before = sum(value.array.nbytes for value in model.parameters.values() if isinstance(value, nt.NamedTensor))
    assert sum(value.array.nbytes for value in weights) < 0.45 * before
    ids = nt.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], "batch seq")
    expected = with_products(stored)
    result = stored.to(library)(ids.to(library))
    right = expected(ids).to_array("batch seq vocab")
    np.testing.assert_allclose(np.asarray(result.to_array("batch seq vocab")), right, atol=2e-5 * np.abs(right).max())
    tokens = np.asarray(stored.to(library).generate(ids.to(library), 6).to_array("batch seq"))
    assert tokens.tolist() == expected.generate(ids, 6).to_array("batch seq").tolist()


def test_steps_of_generation_have_no_weights_as_floats(monkeypatch):
    plans = []
    plan_module = import_module("namedtensor.planning.plan")
    monkeypatch.setattr(plan_module, "CHECKS", [*plan_module.CHECKS, plans.append])
    sizes = NAMES["Llama"] | {"vocab": 41, "L": 2}
    model = Llama.init(0, sizes, "float32").to("numpy", "int8")
    list(model.stream(nt.tensor([1, 2, 3], "seq"), 3))
    steps = [step for plan in plans for step in plan.steps]
    assert sum(step.primitive == "multiply_transposed" for step in steps) >= 2 * 8
    assert all(step.value.count < 41 * 32 for step in steps if step.primitive == "cast")
    assert {step.value.dtype for step in steps if step.primitive in ("multiply_transposed", "dot", "matmul")} == {
        "float32"
    }


def test_a_layer_in_int8_is_saved_stacked_and_pickled(tmp_path):
    model = Llama.init(0, NAMES["Llama"], "float32").to("numpy", "int8")
    ids = nt.tensor([3, 1, 4], "seq")
    right = model(ids).to_array("seq vocab")
    model.save(tmp_path / "model.safetensors")
    for other in (Llama.load(tmp_path / "model.safetensors"), model.stack_layers(), model.pack(), model.to("numpy", "int8"),
                  pickle.loads(pickle.dumps(model)), model.to("numpy", "float32")):  # fmt: skip
        np.testing.assert_allclose(other(ids).to_array("seq vocab"), right, rtol=1e-5, atol=1e-6)
        assert {value.dtype.name for value in other.parameters.values() if isinstance(value, nt.NamedTensor)} == {
            "int8",
            "float32",
        }
    assert np.allclose(model.evaluate("W^{2,Q}", ids).to_array(model.parameters["W^{2,Q,int8}"].axes), (
        model.parameters["W^{2,Q,int8}"] * model.parameters["W^{2,Q,scale}"]).to_array(model.parameters["W^{2,Q,int8}"].axes))  # fmt: skip


def test_layers_of_single_and_half_precision():
    X = nt.tensor(GENERATOR.standard_normal((4, 32)).astype("float32"), "seq chans")
    for dtype in ("float32", "float16"):
        layer = FFN.init(sizes={"chans": 32, "hidden": 64}, dtype=dtype)
        stored = layer.to("numpy", "int8")
        assert [name for name in stored.parameters if "int8" in name] == ["W_1^{int8}", "W_2^{int8}"]
        right = layer.to("numpy", "float32")(X).to_array("seq chans")
        assert np.abs(stored(X).to_array("seq chans") - right).max() < 0.02 * np.abs(right).max()


def test_what_cannot_be_stored_in_int8():
    with pytest.raises(nt.NotationError, match="LayerNorm has no weights to store as int8") as caught:
        LayerNorm.init(sizes={"chans": 32}).to("numpy", "int8")
    assert caught.value.code == 405 and "float16" in caught.value.hint
    layer = FFN.init(sizes={"chans": 32, "hidden": 64})
    broken = layer.replace({"W_2": layer.parameters["W_2"] * np.nan})
    with pytest.raises(nt.NotationError, match="W_2 of FFN cannot be stored as int8: .*finite"):
        broken.to("numpy", "int8")


def test_a_module_of_pytorch():
    torch = pytest.importorskip("torch")
    model = Llama.init(0, NAMES["Llama"], "float32").to("numpy", "int8")
    module = model.module()
    result = module(torch.tensor([[3, 1, 4]])).detach().numpy()
    np.testing.assert_allclose(
        result, model(nt.tensor([[3, 1, 4]], "batch seq")).to_array("batch seq vocab"), atol=1e-4
    )


def test_generation_computes_in_the_dtype_of_the_parameters(monkeypatch):
    """Positions are integers: as floats of 64 bits they would widen all that comes after them."""
    plans = []
    plan_module = import_module("namedtensor.planning.plan")
    monkeypatch.setattr(plan_module, "CHECKS", [*plan_module.CHECKS, plans.append])
    model = Llama.init(0, NAMES["Llama"] | {"vocab": 43, "L": 3}, "float32")
    list(model.stream(nt.tensor([1, 2, 3], "seq"), 3))
    products = [step for plan in plans for step in plan.steps if step.primitive in ("dot", "matmul")]
    assert len(products) > 20 and {step.value.dtype for step in products} == {"float32"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_layers_in_int8_are_one_loop(library, monkeypatch):
    """Weights that a function of layers uses, FFN^l, have definitions within it."""
    pytest.importorskip(library)
    lengths = []
    plan_module = import_module("namedtensor.planning.plan")
    ids = nt.tensor([3, 1, 4, 1, 5], "seq")
    for count in (12, 24):
        plans = []
        with monkeypatch.context() as patch:
            patch.setattr(plan_module, "CHECKS", [*plan_module.CHECKS, plans.append])
            model = Llama.init(0, NAMES["Llama"] | {"L": count}, "float32").to("numpy", "int8")
            result = model.to(library)(ids.to(library)).to_array("seq vocab")
        expected = with_products(model)(ids).to_array("seq vocab")
        np.testing.assert_allclose(np.asarray(result), expected, atol=2e-5 * np.abs(expected).max())
        assert any(step.primitive == "loop" for plan in plans for step in plan.steps)
        lengths.append(sum(len(plan.steps) for plan in plans))
    assert lengths[0] == lengths[1]
