"""A first call in a mode of PyTorch or JAX leaves nothing behind that later calls see, and modes take formulas called before.

The expected values are NumPy's, written by hand.
"""

import itertools
from functools import partial

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.layers import Layer

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

X = np.array([0.5, 1.5, 2.5], "float32")
RAMP = np.arange(1, 4, dtype="float32")


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attend(x):
    """Return causal attention of three positions with scores x_i x_j."""
    return softmax(np.where(np.tri(3, dtype=bool), np.outer(x, x), -np.inf)) @ x


FORMULAS = {  # one for each kind of constant: the text and NumPy's value
    "iota": ("X ⊙ iota_{a}", lambda x: x * RAMP),
    "softmax of iota": ("softmax_{a}(X + iota_{a})", lambda x: softmax(x + RAMP)),
    "mask": ("{ X if iota_{a} ≥ 2; −1 otherwise }", lambda x: np.where(RAMP >= 2, x, -1)),
    "causal attention": ("softmax_{b}({ X ⊙ X_{a→b} if iota_{a} ≥ iota_{b}; −∞ otherwise }) ⊙_{b} X_{a→b}", attend),
    "literal": ("X ⊙ [3, 1, 2]_{a}", lambda x: x * np.array([3, 1, 2], "float32")),
    "identity": ("X ⊙_{a} I_{a,b}", lambda x: x),
    "one-hot": ("X ⊙ onehot_{a}(2)", lambda x: x * np.array([0, 1, 0], "float32")),
    "size": ("X / √|a|", lambda x: x / np.sqrt(3)),
    "number": ("max(X, 0.75)", lambda x: np.maximum(x, 0.75)),
    "lookup": ("[5, 7, 9]_{b}_{b(iota_{a})} ⊙ X", lambda x: x * np.array([5, 7, 9], "float32")),
    "gradient": ("∂(∑_{a} X^2 ⊙ iota_{a})/∂X", lambda x: 2 * x * RAMP),
}


# ------------------------------------------------------------------------------------------------------------- PyTorch
def make_torch_function(text):
    """Return a function from a plain tensor to the value of a formula."""
    formula = nt.formula(text)
    return lambda x: formula(X=nt.tensor(x, "a")).array


def export(function, x, strict=False):
    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    return torch.export.export(Module(), (x,), strict=strict).module()(x)


def trace(mode, function, x):
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(function, tracing_mode=mode)(x)(x)


def fake(function, x):
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode() as mode:
        assert function(mode.from_tensor(x)).shape == (3,)


def meta(function, x):
    assert function(x.to("meta")).is_meta


def run_on_meta(function, x):
    with torch.device("meta"):
        return function(x)


def infer(function, x):
    with torch.inference_mode():
        return function(x).clone()


def default_meta(function, x):
    torch.set_default_device("meta")
    try:
        return function(x)
    finally:
        torch.set_default_device(None)


def automatic_precision(function, x):
    with torch.autocast("cpu", torch.bfloat16):
        function(x)


TORCH = {
    "export": export,
    "make_fx real": partial(trace, "real"),
    "make_fx fake": partial(trace, "fake"),
    "make_fx symbolic": partial(trace, "symbolic"),
    "FakeTensorMode": fake,
    "meta tensors": meta,
    "device meta": run_on_meta,
    "default device meta": default_meta,
    "inference_mode": infer,
    "no_grad": lambda function, x: torch.no_grad()(function)(x),
    "autocast": automatic_precision,
    "compile": lambda function, x: torch.compile(function, backend="eager")(x),
    "vmap": lambda function, x: torch.func.vmap(function)(torch.stack([x, x]))[1],
    "grad": lambda function, x: torch.func.grad(lambda x: function(x).sum())(x) * torch.nan,
    "jvp": lambda function, x: torch.func.jvp(function, (x,), (x,))[0],
    "functionalize": lambda function, x: torch.func.functionalize(function)(x),
}


# ----------------------------------------------------------------------------------------------------------------- JAX
def make_jax_function(text):
    formula = nt.formula(text)
    return lambda x: formula(X=nt.tensor(x, "a")).array


def eval_shape(function, x):
    assert jax.eval_shape(function, x).shape == (3,)


JAX = {
    "jit": lambda function, x: jax.jit(function)(x),
    "vmap": lambda function, x: jax.vmap(function)(jax.numpy.stack([x, x]))[1],
    "grad": lambda function, x: jax.grad(lambda x: function(x).sum())(x) * np.nan,
    "jvp": lambda function, x: jax.jvp(function, (x,), (x,))[0],
    "eval_shape": eval_shape,
    "make_jaxpr": lambda function, x: jax.make_jaxpr(function)(x) and None,
    "export": lambda function, x: jax.export.export(jax.jit(function))(x).call(x),
    "checkpoint": lambda function, x: jax.checkpoint(function)(x),
}
NUMBERS = itertools.count(1)
KINDS = {
    "torch": (torch.Tensor, TORCH, make_torch_function, torch.tensor),
    "jax": (jax.Array, JAX, make_jax_function, jax.numpy.asarray),
}


def is_expected(actual, expected):
    """Return whether a value in a mode is right; a mode without values gives None, and a gradient nan."""
    return actual is None or np.isnan(np.asarray(actual)).all() or np.allclose(np.asarray(actual), expected, 1e-5, 1e-6)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("kind", FORMULAS)
@pytest.mark.parametrize(("library", "mode"), [(library, mode) for library in KINDS for mode in KINDS[library][1]])
@pytest.mark.parametrize("first", ("mode", "ordinary"))
@pytest.mark.filterwarnings("ignore")
def test_a_formula_has_the_same_value_before_in_and_after_a_mode(kind, library, mode, first):
    type_, modes, function_of, array = KINDS[library]
    text, value_of = FORMULAS[kind]
    number = next(NUMBERS)  # no plan of the text exists yet
    function, expected = function_of(f"({text}) + {number}"), value_of(X) + number
    for _ in range(2 if first == "ordinary" else 0):
        assert np.allclose(np.asarray(function(array(X))), expected, 1e-5)
    assert is_expected(modes[mode](function, array(X)), expected)
    for _ in range(3):  # the second and third call are specialized
        result = function(array(X))
        assert type(result) is type_ or library == "jax" and isinstance(result, type_)
        assert np.allclose(np.asarray(result), expected, 1e-5)
    if library == "torch":
        assert not result.is_inference()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("library", "mode"), [(library, mode) for library in KINDS for mode in KINDS[library][1]])
@pytest.mark.filterwarnings("ignore")
def test_a_mode_takes_a_chain_whose_values_are_examined(library, mode):
    modes, array = KINDS[library][1], KINDS[library][3]
    formula = nt.formula(f"(X ⊙ U) ⊙_{{m}} B ⊙_{{k}} C + {next(NUMBERS)} − {next(NUMBERS)} + 1")  # a new text

    def function(x):
        full = x.new_full if library == "torch" else lambda shape, number: jax.numpy.full(shape, number, x.dtype)
        axes = {"U": "a m", "B": "m k", "C": "k"}
        return formula(X=nt.tensor(x, "a"), **{
            name: nt.tensor(full([{"a": 3}.get(axis, 1500) for axis in order.split()], 0.5), order)
            for name, order in axes.items()
        }).array  # fmt: skip

    assert is_expected(modes[mode](function, array(X)), 0.5**3 * 1500**2 * X)
    assert np.allclose(np.asarray(function(array(X))), 0.5**3 * 1500**2 * X, 1e-5)


# PyTorch rejects ordinary parameters beside tensors without values.
WITHOUT_PARAMETERS = ("FakeTensorMode", "meta tensors", "make_fx fake", "make_fx symbolic")


class Masked(Layer):
    notation = """
        Y = { X ⊙_{a} W + [1, 2]_{b} if iota_{b} ≥ 2; 0 otherwise }
        X ∈ ℝ^{a}
        W ∈ ℝ^{a × b}
    """
    output = "Y"
    inputs = ("X",)


W = np.arange(6, dtype="float32").reshape(3, 2)


def compute_layer(x):
    """Return the value of the layer in NumPy."""
    return np.where([False, True], x @ W + [1, 2], 0)


def layer_of_torch():
    return Masked({"W": nt.tensor(torch.tensor(W), "a b")})


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mode", [mode for mode in TORCH if mode not in WITHOUT_PARAMETERS])
@pytest.mark.filterwarnings("ignore")
def test_a_layer_has_its_value_after_a_mode(mode):
    layer = layer_of_torch()
    TORCH[mode](lambda x: layer(nt.tensor(x, "a")).array, torch.tensor(X))
    result = layer(nt.tensor(torch.tensor(X), "a")).array
    assert type(result) is torch.Tensor and np.allclose(result, compute_layer(X))


@pytest.mark.parametrize("mode", ("inference_mode", "device meta", "default device meta", "export"))
@pytest.mark.filterwarnings("ignore")
def test_a_module_that_is_made_or_converted_in_a_mode_has_its_value_later(mode):
    layer, created = layer_of_torch(), []

    def make(x):
        created.append(layer.module(X="a"))
        created.append(layer.module(X="a").double().float())
        return x

    if mode == "export":
        created.append(layer.module(X="a"))
        export(created[0], torch.tensor(X))
    else:
        TORCH[mode](make, torch.tensor(X))
    for module in created:
        result = module(torch.tensor(X))
        assert not result.is_inference() and np.allclose(result.detach(), compute_layer(X))


DIGAMMA = np.array(
    [-np.euler_gamma - 2 * np.log(2), 2 - np.euler_gamma - 2 * np.log(2), 8 / 3 - np.euler_gamma - 2 * np.log(2)]
)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mode", TORCH)
@pytest.mark.filterwarnings("ignore")
def test_a_function_of_tensors_has_its_value_after_a_mode(mode):
    axis = f"a_{next(NUMBERS)}"  # no plan for this axis exists yet

    def digamma(x):
        return nt.digamma(nt.tensor(x, axis)).array

    TORCH[mode](digamma, torch.tensor(X))
    result = digamma(torch.tensor(X))
    assert type(result) is torch.Tensor and np.allclose(result, DIGAMMA, 1e-5)
