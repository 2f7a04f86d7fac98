"""Layers and formulas as modules of PyTorch: they train as those written by hand, under the names of the formulas."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="modules are PyTorch's")

import namedtensor as nt  # noqa: E402
from namedtensor.layers.layer import Layer  # noqa: E402
from transformer import FFN, GPT2, EncoderBlock, LayerNorm, MultiHeadAttention  # noqa: E402


class Odd(Layer):
    """Names that PyTorch has for itself, or parts at points."""

    notation = """
        Odd : ℝ^{chans} → ℝ^{chans}
        Odd(X) = X ⊙ half + train_1 ⊙ W^{1,Q} + ε
        half, train_1, W^{1,Q} ∈ ℝ^{chans}
    """


LAYERS = {
    "FFN": (FFN, {"chans": 4, "hidden": 8}), "LayerNorm": (LayerNorm, {"chans": 4}), "Odd": (Odd, {"chans": 4}),
    "MultiHeadAttention": (MultiHeadAttention, {"chans": 4, "heads": 2, "key": 3, "val": 3}),
    "EncoderBlock": (EncoderBlock, {"chans": 4, "hidden": 8, "key": 3, "val": 4}),
}  # fmt: skip


def layer_of(name: str, **more) -> Layer:
    kind, sizes = LAYERS[name]
    layer = kind.init(seed=1, sizes=sizes, **more)
    random = np.random.default_rng(2)
    drawn = {
        key: nt.tensor(random.normal(size=parameter.array.shape), parameter.axes)
        for key, parameter in layer.parameters.items()
    }
    return layer.replace(drawn)


def batch(dtype=torch.float64):
    return torch.randn(2, 5, 4, dtype=dtype, generator=torch.Generator().manual_seed(0))


# ------------------------------------------------------------------------------------------------ names, values, looks
@pytest.mark.parametrize("name", LAYERS)
def test_a_module_has_the_values_and_the_names_of_its_layer(name):
    layer = layer_of(name)
    module, x = layer.module(X="batch seq chans", dtype="float64"), batch()
    expected = [key for key, value in layer.parameters.items() if isinstance(value, nt.NamedTensor)]
    assert isinstance(module, torch.nn.Module) and list(module.state_dict()) == expected
    assert [key for key, _ in module.named_parameters()] == expected
    result = layer(nt.tensor(x.numpy(), "batch seq chans"))
    assert nt.allclose(nt.tensor(module(x).detach(), module.axes), result)
    assert nt.allclose(module(X=nt.tensor(x, "batch seq chans")), result)  # a named one as it is
    assert all(line.strip() in repr(module) for line in str(layer.formula).splitlines())


def test_names_that_pytorch_has_are_parameters_all_the_same():
    module = layer_of("Odd").module(X="chans")
    assert list(module.state_dict()) == ["half", "train_1", "W^{1,Q}"]
    assert module.half().training and getattr(module, "W^{1,Q}").shape == (4,)
    pointed = nt.formula("w^{1.5} x + b").compile("torch").module({"w^{1.5}": nt.tensor(2.0), "b": nt.tensor(1.0)})
    assert list(pointed.state_dict()) == ["w^{1·5}", "b"] and float(pointed(x=3.0)) == 7
    pointed.load_state_dict(pointed.state_dict())


ORDERS = [
    ("ℝ^{a} → ℝ^{b}", "X ⊙_{a} W", "n a", ("n", "b")), ("ℝ^{a} → ℝ^{b}", "X ⊙_{a} W", "a n", ("n", "b")),
    ("ℝ^{a} → ℝ^{a × b}", "X ⊙ W", "a n", ("a", "n", "b")), ("ℝ^{a} → ℝ^{a × b}", "X ⊙ W", "a", ("a", "b")),
    ("ℝ^{a} → ℝ", "∑_{a,b} X ⊙ W", "n a", ("n",)), ("ℝ^{a} → ℝ", "∑_{a,b} X ⊙ W", "a", ()),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "body", "order", "axes"), ORDERS, ids=str)
def test_a_plain_result_is_in_the_order_said_new_axes_last(signature, body, order, axes):
    text = f"f : {signature}\nf(X) = {body}\nW ∈ ℝ^{{a × b}}"
    W = nt.tensor(np.arange(6.0).reshape(2, 3), "a b")
    module = nt.formula(text).compile("torch").module({"W": W}, X=order)
    assert module.axes == axes  # before a call
    sizes = {"n": 5, "a": 2}
    x = torch.arange(float(np.prod([sizes[axis] for axis in order.split()]))).reshape([sizes[a] for a in order.split()])
    result = module(x)
    assert isinstance(result, torch.Tensor) and module.axes == axes and result.ndim == len(axes)
    assert nt.allclose(nt.tensor(result, axes), nt.formula(text)(nt.tensor(x.numpy().astype(float), order), W=W))


# ------------------------------------------------------------------------------------------------------------ training
class ByHand(torch.nn.Module):
    def __init__(self, layer: FFN):
        super().__init__()
        for name in ("W_1", "b_1", "W_2", "b_2"):
            self.register_parameter(name, torch.nn.Parameter(torch.tensor(layer.parameters[name].array)))

    def forward(self, x):
        return torch.relu(x @ self.W_1 + self.b_1) @ self.W_2 + self.b_2


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_an_ordinary_loop_trains_it_as_one_by_hand(optimizer):
    layer, x = layer_of("FFN"), batch()
    before = {name: value.array.copy() for name, value in layer.parameters.items()}
    result = {}
    for model in (layer.module(X="batch seq chans", dtype="float64"), ByHand(layer)):
        steps = getattr(torch.optim, optimizer)(model.parameters(), lr=0.05)
        model.train()
        for _ in range(4):
            steps.zero_grad()
            (model(x) - x).square().mean().backward()
            steps.step()
        model.eval()
        result[type(model)] = {name: (item.detach(), item.grad) for name, item in model.named_parameters()}
    ours, theirs = result.values()
    assert list(ours) == list(theirs)
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], rtol=1e-10, atol=1e-12)
        assert not np.allclose(ours[name][0], before[name])
        assert np.array_equal(layer.parameters[name].array, before[name])  # the layer has not changed


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_those_of_the_layer_on_tensors_by_hand(name):
    layer, x = layer_of(name), batch()
    module = layer.module(X="batch seq chans", dtype="float64")
    module(x).square().sum().backward()
    leaves = {key: torch.tensor(value.array, requires_grad=True) for key, value in layer.parameters.items()}
    named = {key: nt.tensor(leaf, layer.parameters[key].axes) for key, leaf in leaves.items()}
    layer.replace(named)(nt.tensor(x, "batch seq chans")).array.square().sum().backward()
    for key, parameter in module.named_parameters():
        torch.testing.assert_close(parameter.grad, leaves[key].grad)


# ---------------------------------------------------------------------------------------------------- as modules are
@pytest.mark.parametrize("name", LAYERS)
def test_a_module_is_copied_saved_converted_and_comes_back(name):
    layer, x = layer_of(name), batch()
    module = layer.module(X="batch seq chans", dtype="float64")
    expected = module(x).detach()
    bytes_io = io.BytesIO()
    torch.save(module.state_dict(), bytes_io)
    bytes_io.seek(0)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        torch.testing.assert_close(other(x), expected)
        with torch.no_grad():
            for parameter in other.parameters():
                parameter.mul_(0).add_(0.5)
        torch.testing.assert_close(module(x), expected)  # nothing is shared
        bytes_io.seek(0)
        other.load_state_dict(torch.load(bytes_io))
        torch.testing.assert_close(other(x), expected)
    narrow = copy.deepcopy(module).to(torch.float32)
    assert narrow(x.float()).dtype == torch.float32
    swapped = {key: item.detach() for key, item in module.named_parameters()}
    torch.testing.assert_close(torch.func.functional_call(narrow, swapped, (x,)), expected)
    back = type(layer).from_module(module)
    assert type(back) is type(layer) and back.sizes == layer.sizes and list(back.parameters) == list(layer.parameters)
    assert all(nt.allclose(back.parameters[key], value) for key, value in layer.parameters.items())
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    assert nt.allclose(back(nt.tensor(x, "batch seq chans")), nt.tensor(expected, module.axes))


def test_a_module_is_part_of_another():
    layer = layer_of("FFN")
    model = torch.nn.Sequential(torch.nn.Linear(4, 4).double(), layer.module(X="batch seq chans", dtype="float64"))
    assert {"1.W_1", "1.b_1"} <= set(dict(model.named_parameters()))
    model(batch()).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters()) and "FFN(X) =" in repr(model)
    assert isinstance(Layer.from_module(model[1]), FFN)


def test_a_model_is_one_too():
    sizes = {"L": 2, "vocab": 9, "place": 8, "chans": 4, "heads": 2, "key": 2, "val": 2, "hidden": 5}
    model = GPT2.init(sizes=sizes)
    module, ids = model.module(ids="batch seq"), torch.tensor([[3, 1, 4, 1], [5, 8, 2, 6]])
    logits = module(ids)
    assert module.axes == ("batch", "seq", "vocab") and "W^{1,Q}" in module.state_dict()
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten()).backward()
    assert all(parameter.grad is not None for parameter in module.parameters() if parameter.requires_grad)
    assert nt.allclose(GPT2.from_module(module)(nt.tensor(ids, "batch seq")), nt.tensor(logits.detach(), module.axes))


def test_a_compiled_formula_takes_parameters_of_any_library_and_numbers():
    program = nt.program("f : ℝ^{a} → ℝ^{b}\nf(X) = n X ⊙_{a} W + b_1\nW ∈ ℝ^{a × b}\nb_1 ∈ ℝ^{b}")
    parameters = program.init(sizes={"a": 2, "b": 3}, n=3)
    module = program.compile().module({**parameters, "n": 3}, X="a rows")
    x = torch.ones(2, 4, dtype=torch.float64)
    want = 3 * (x.T @ torch.tensor(parameters["W"].array))
    torch.testing.assert_close(module(x), want)
    assert list(module.state_dict()) == ["W", "b_1"]
    torch.testing.assert_close(program["f"].compile("torch").module({**parameters, "n": 3}, X="rows a")(x.T), want)


# -------------------------------------------------------------------------------------------------------------- errors
WRONG = {
    "an order that nobody said": (lambda: layer_of("FFN").module()(batch()), 317, r'\.module\(X="batch seq chans"\)'),
    "another number of axes": (
        lambda: layer_of("FFN").module(X="n chans")(batch()),
        316,
        "the module expects X with axes n, chans, got an array of 3 axes",
    ),
    "no such input": (lambda: layer_of("FFN").module(Y="n chans"), 201, "FFN takes X, and no Y"),
    "no parameter": (
        lambda: nt.formula("x w").compile("torch").module({"w": [1, 2]}),
        317,
        "w must be a named tensor, got a list",
    ),
    "another library": (lambda: nt.formula("x").compile("numpy").module({}), 317, "was compiled for numpy"),
    "a module of PyTorch's": (lambda: FFN.from_module(torch.nn.Linear(1, 1)), 317, "got a Linear"),
    "of another layer": (lambda: FFN.from_module(layer_of("LayerNorm").module()), 317, "got one of LayerNorm"),
}


@pytest.mark.parametrize(("run", "number", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told(run, number, message):
    with pytest.raises(nt.NotationError, match=message) as raised:
        run()
    assert raised.value.code == number


# --------------------------------------------------------------------------------------------------------------- dtypes
def test_initialized_parameters_are_of_single_precision():
    layer = FFN.init(sizes={"chans": 4, "hidden": 8})
    assert {parameter.dtype for parameter in layer.module(X="n chans").parameters()} == {torch.float32}
    assert layer.module(X="n chans", dtype="bfloat16").W_1.dtype == torch.bfloat16
    assert layer.to("torch").module(X="n chans").W_1.dtype == torch.float64  # PyTorch's arrays keep theirs
    assert layer.to("numpy", "float16").module(X="n chans").W_1.dtype == torch.float16
    torch.set_default_dtype(torch.float64)
    try:
        assert layer.module(X="n chans").W_1.dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_axes_of_an_input_are_names():
    compiled = nt.formula("X ⊙_{a} W").compile()
    with pytest.raises(nt.NotationError, match="3 does not name axes"):
        compiled.module({"W": nt.tensor([1.0, 2.0], "a")}, X=3)
    with pytest.raises(nt.NotationError, match="axes are separated with spaces, not commas"):
        compiled.module({"W": nt.tensor([1.0, 2.0], "a")}, X="a,b")


def test_a_hook_that_raises_ends_the_call():
    module = layer_of("FFN").module(X="batch seq chans")
    x = batch(module.W_1.dtype)

    def stop(*_):
        raise ValueError("the hook stops")

    handle = module.register_forward_pre_hook(stop)
    with pytest.raises(ValueError, match="the hook stops"):
        module(x)
    handle.remove()
    with pytest.raises(nt.NotationError, match="axis chans has size 3"):
        module(x[..., :3])
