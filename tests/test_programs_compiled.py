"""Compiled formulas in the hands of their libraries: gradients, `torch.compile`, modules, half precision, `jit` and `vmap`."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import namedtensor as nt

torch: Any = pytest.importorskip("torch")

RANDOM = np.random.default_rng(11)
SIZES = {"n": 6, "heads": 2, "query": 5, "seq": 7, "key": 8, "val": 4, "a": 8, "h": 3, "batch": 3}
ATTENTION = "softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V"
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "attention": (ATTENTION, {"Q": "heads query key", "K": "heads seq key", "V": "heads seq val"}),
    "a layer": ("X ⊙_{a} W + b", {"X": "n a", "W": "a h", "b": "h"}),
    "layer norm": ("standardize_{a} X ⊙ g + b", {"X": "n a", "g": "a", "b": "a"}),
    "a network": ("relu(X ⊙_{a} W + b) ⊙_{h} v", {"X": "n a", "W": "a h", "b": "h", "v": "h"}),
    "a chain": ("tanh(X) ⊙ exp(−X²)", {"X": "n a"}),
}


def numbers(axes: str) -> np.ndarray:
    return RANDOM.normal(size=[SIZES[axis] for axis in axes.split()])


def by_hand(name: str, *arrays: Any) -> Any:
    """The same as a person writes it in PyTorch."""
    F = torch.nn.functional
    x = arrays[0]
    match name:
        case "attention":
            return F.scaled_dot_product_attention(*arrays)
        case "a layer":
            return x @ arrays[1] + arrays[2]
        case "layer norm":
            return F.layer_norm(x, x.shape[-1:]) * arrays[1] + arrays[2]
        case "a network":
            return F.relu(x @ arrays[1] + arrays[2]) @ arrays[3]
    return torch.tanh(x) * torch.exp(-(x**2))


def of_torch(name: str, dtype: Any = None) -> dict[str, nt.NamedTensor]:
    return {key: nt.tensor(torch.asarray(numbers(axes)).to(dtype), axes) for key, axes in CASES[name][1].items()}


def axes_by_hand(name: str) -> str:
    return {"attention": "heads query val", "a layer": "n h", "a network": "n"}.get(name, "n a")


# ---------------------------------------------------------------------------------------------------------- precision
# Half precision keeps 8 and 11 bits; a library may round in between where another does not.
CLOSE = {"bfloat16": 4e-2, "float16": 5e-3, "float32": 1e-5}


@pytest.mark.parametrize("precision", CLOSE)
@pytest.mark.parametrize("name", CASES)
def test_in_each_precision_as_pytorch_by_hand(name, precision):
    values = of_torch(name, getattr(torch, precision))
    array = nt.formula(CASES[name][0]).compile("torch")(values=values).to_array(axes_by_hand(name))
    want = by_hand(name, *(value.array for value in values.values()))
    assert array.dtype == want.dtype == getattr(torch, precision)
    torch.testing.assert_close(array, want, rtol=CLOSE[precision], atol=CLOSE[precision])


ANGLES = [
    "ω_{a(k)} = 1 / 3^{(k − 1) / |a|}\nX ⊙ cos(p ⊙ ω) + X_{a→a}",
    "φ = { (p + 1) ω if p > 3; (p + 1) ω otherwise }\nω = 0.37\nX ⊙ cos φ",
    "[X ⊙ 0 + [sin(p 0.1), 1]_{b}]_{b(1)}", "X ⊙ (iota_{a} + 2000.5) / (iota_{a} + 2000)", "∑_{s} X ⊙ cos(p 0.5) / |s|",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "library, precision", [("numpy", "float16"), ("torch", "bfloat16"), ("torch", "float16"), ("jax.numpy", "bfloat16")]
)
@pytest.mark.parametrize("text", ANGLES)
def test_whole_numbers_and_constants_are_no_coarser_than_single(text, library, precision):
    """Half precision has no 2,047: a position turned by an angle would be turned by another."""
    xp = pytest.importorskip(library)
    X, p = RANDOM.normal(size=(8, 4)), np.arange(8) * 292
    exact = nt.evaluate(text, {"X": nt.tensor(X, "s a"), "p": nt.tensor(p, "s")})
    half = (
        xp.asarray(X).to(getattr(torch, precision))
        if library == "torch"
        else xp.asarray(X, dtype=getattr(xp, precision))
    )
    result = nt.evaluate(text, {"X": nt.tensor(half, "s a"), "p": nt.tensor(xp.asarray(p), "s")})
    assert str(result.dtype).removeprefix("torch.") == precision
    array = result.to_array(exact.axes)
    array = array.float().numpy() if library == "torch" else np.asarray(array, dtype="float32")
    np.testing.assert_allclose(array, exact.to_array(exact.axes), rtol=2e-2, atol=2e-2)


# ------------------------------------------------------------------------------------------------------------- devices
MADE = [
    "X + [1, 2, 3]_{b}", "X ⊙ iota_{b} / |b|", "X ⊙_{b} I_{b,b'}", "{ X if iota_{a} = 1; 0.5 otherwise }", "𝕀[X > 0.5] ⊙ X",
    "softmax_{b}(X + { 0 if iota_{b} ≤ 2; −∞ otherwise })", "Y_{b(i)} = i^2\nX ⊙ Y", "standardize_{b} X + gelu X", "cumsum_{b} X",
    "unroll_{b,k} X", "maxk_{b,k} X", "X ⊕_{b} [1, 2]_{b}", "[X_{b(1)}, 2]_{c}", "max(X, 0.1) − |X|", "X_{b(3)} ⊙ (1 − 2 X_{b(1)})",
    "logsumexp_{b} X ⊙ norm_{b} X",
]  # fmt: skip


@pytest.mark.parametrize("form", ["{}", "∂({})/∂X*"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("text", MADE)
def test_what_a_plan_makes_is_made_where_its_tensors_are(text, precision, form):
    """Arrays on PyTorch's device `meta` have no numbers, and do not mix with those of another device, as on a GPU."""
    before, _, last = text.rpartition("\n")
    X = nt.tensor(torch.empty(2, 3, device="meta", dtype=getattr(torch, precision)), "a b")
    for _ in range(3):
        result = nt.evaluate(f"{before}\n{form.format(last)}", {"X": X}, sizes={"k": 2} if ",k}" in text else None)
    assert result.array.device.type == "meta" and str(result.dtype) == f"torch.{precision}"


# ------------------------------------------------------------------------------------------------------ torch.compile
BACKENDS = [
    "eager",
    "aot_eager",
    pytest.param("inductor", marks=pytest.mark.skipif(not shutil.which("g++"), reason="inductor needs a C++ compiler")),
]


def gradients(function: Any, arrays: list[Any]) -> tuple[Any, ...]:
    leaves = [array.clone().requires_grad_() for array in arrays]
    value = function(*leaves)
    weights = torch.arange(value.numel(), dtype=value.dtype).reshape(value.shape)
    return value.detach(), *torch.autograd.grad((value * weights).sum(), leaves)


@pytest.mark.sampled(12)
@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["attention", "layer norm", "a network"])
def test_torch_compile_gives_the_same_value_and_gradient(name, backend):
    values = of_torch(name, torch.float64)
    function = nt.formula(CASES[name][0]).compile("torch").specialize(values=values).function
    arrays = [value.array for value in values.values()]
    torch._dynamo.reset()
    result = gradients(torch.compile(function, backend=backend, fullgraph=True), arrays)
    for one, gradient, hand in zip(
        result, gradients(function, arrays), gradients(lambda *x: by_hand(name, *x), arrays)
    ):
        torch.testing.assert_close(one, gradient, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(one.flatten(), hand.flatten(), rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------ modules
class ByHand(torch.nn.Module):
    def __init__(self, W, b, v):
        super().__init__()
        self.W, self.b, self.v = (torch.nn.Parameter(item.clone()) for item in (W, b, v))

    def forward(self, X):
        return torch.relu(X @ self.W + self.b) @ self.v


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_a_module_trains_as_one_by_hand(optimizer):
    values = of_torch("a network", torch.float64)
    X = values.pop("X")
    hand = ByHand(*(value.array for value in values.values()))
    module = nt.formula(CASES["a network"][0]).compile("torch").module(values)
    before = {name: value.array.clone() for name, value in values.items()}
    target = torch.asarray(numbers("n"))
    for model, inputs in ((module, X), (hand, X.array)):
        steps = getattr(torch.optim, optimizer)(model.parameters(), lr=0.1)
        for _ in range(3):
            steps.zero_grad()
            result = model(X=inputs)
            (((result.array if model is module else result) - target) ** 2).sum().backward()
            steps.step()
    expected = dict(hand.named_parameters())
    for name, result in module.named_parameters():
        torch.testing.assert_close(result, expected[name], rtol=1e-9, atol=1e-9)
        assert not torch.equal(result.detach(), before[name])


def test_a_module_is_saved_and_loaded():
    values = of_torch("a network", torch.float64)
    X = values.pop("X")
    compiled = nt.formula(CASES["a network"][0]).compile("torch")
    first = compiled.module(values)
    second = compiled.module(
        {name: nt.tensor(torch.zeros_like(value.array), value.axes) for name, value in values.items()}
    )
    second.load_state_dict(first.state_dict())
    assert nt.allclose(first(X=X), second(X=X)) and not nt.allclose(first(X=X), 0 * first(X=X))


# ---------------------------------------------------------------------------------------------------------------- JAX
def of_jax(name: str) -> tuple[Any, Any, dict[str, nt.NamedTensor]]:
    jax = pytest.importorskip("jax")
    values = {key: nt.tensor(jax.numpy.asarray(numbers(axes)), axes) for key, axes in CASES[name][1].items()}
    return jax, nt.formula(CASES[name][0]).compile("jax"), values


def in_torch(name: str, values: dict[str, nt.NamedTensor]) -> tuple[np.ndarray, ...]:
    """The value by hand, and the gradient of the sum of its squares, in each input."""
    leaves = [torch.tensor(np.asarray(value.array), dtype=torch.float64).requires_grad_() for value in values.values()]
    value = by_hand(name, *leaves)
    gradient = torch.autograd.grad((value**2).sum(), leaves)
    return value.detach().numpy(), *(item.numpy() for item in gradient)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_jit_and_grad_of_a_compiled_formula(name):
    """With named tensors, and of the plain function of positional arrays."""
    jax, compiled, values = of_jax(name)
    want, *slopes = in_torch(name, values)
    order = axes_by_hand(name)
    for call in (lambda **given: compiled(**given), jax.jit(lambda **given: compiled(**given))):
        np.testing.assert_allclose(call(**values).to_array(order), want, rtol=1e-4, atol=1e-5)

    def loss(given):
        return (compiled(values=given).array ** 2).sum()

    result = jax.jit(jax.grad(loss))(values)
    for value, slope in zip(values, slopes):
        np.testing.assert_allclose(result[value].array, slope, rtol=1e-3, atol=1e-4)
    function = compiled.specialize(values=values).function
    arrays = [value.array for value in values.values()]
    plain = jax.grad(lambda *given: (function(*given) ** 2).sum(), argnums=tuple(range(len(arrays))))(*arrays)
    for value, slope in zip(plain, slopes):
        np.testing.assert_allclose(value, slope, rtol=1e-3, atol=1e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_vmap_of_a_compiled_formula_is_a_batch_axis(name):
    jax, compiled, values = of_jax(name)
    batch = RANDOM.normal(size=(SIZES["batch"], *next(iter(values.values())).array.shape)).astype("float32")
    first, *others = CASES[name][1]
    axes = values[first].axes
    rest = {text: values[text] for text in others}
    whole = nt.tensor(jax.numpy.asarray(batch), ("batch", *axes))
    want = nt.evaluate(CASES[name][0], {first: whole, **rest}).to_array(f"batch {axes_by_hand(name)}")

    def one(array):
        return compiled(values={first: nt.tensor(array, axes), **rest}).to_array(axes_by_hand(name))

    for call in (jax.vmap(one), jax.jit(jax.vmap(one))):
        np.testing.assert_allclose(call(whole.array), want, rtol=1e-4, atol=1e-5)
    function = compiled.specialize(values=values).function
    plain = jax.vmap(function, in_axes=(0, *[None] * len(others)))(
        whole.array, *(tensor.array for tensor in rest.values())
    )
    assert plain.shape[0] == SIZES["batch"]
    np.testing.assert_allclose(np.sort(plain, axis=None), np.sort(want, axis=None), rtol=1e-4, atol=1e-5)


# ------------------------------------------------------------------------------------------------------ repeated calls
LIBRARIES = {
    "numpy": np.asarray,
    "torch": torch.asarray,
    "jax": lambda array: pytest.importorskip("jax.numpy").asarray(array),
}


def given_to(library: str, name: str) -> dict[str, nt.NamedTensor]:
    return {key: nt.tensor(LIBRARIES[library](numbers(axes)), axes) for key, axes in CASES[name][1].items()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", CASES)
def test_a_repeated_call_gives_what_the_formula_does(name, library):
    """Numbers, sizes, order of axes and ways of giving change between calls, and each call is its own."""
    text, parameters = CASES[name]
    formula = nt.formula(f"f({', '.join(parameters)}) = {text}")
    compiled = formula.compile(library)
    first, second = given_to(library, name), given_to(library, name)
    turned = {key: nt.tensor(tensor.to_array(tensor.axes[::-1]), tensor.axes[::-1]) for key, tensor in first.items()}
    for tensors in (first, second, turned, first, second, turned, second):
        want = formula(*tensors.values())
        for result in (compiled(*tensors.values()), compiled(values=tensors), compiled(**tensors)):  # pyright: ignore[reportArgumentType]
            assert nt.allclose(result, want, rtol=1e-4, atol=1e-5)
        assert compiled.names == tuple(parameters)


def test_what_was_used_last_is_what_is_shown():
    compiled = nt.formula("f(x) = 2 x").compile()
    short, wide = nt.tensor([1.0, 2.0], "a"), nt.tensor([[1.0, 2.0, 3.0]], "a b")
    for tensor in (short, wide, short, wide, short):
        compiled(tensor)
        assert compiled.plan.inputs[0].shape == tensor.array.shape  # pyright: ignore[reportAttributeAccessIssue]


V = nt.tensor([1.0, 2.0, 4.0], "a")


@pytest.mark.parametrize(
    ("text", "arguments", "named"),
    [
        ("h(x) = x + w\nw = ∑_{a} x\nx ∈ ℝ^{a}", (V,), {"x": 2 * V}),  # an argument and an input of the same name
        ("h(x) = w x\nw ∈ ℝ^{a}", (V,), {"w": 3 * V}),
        ("h(x; n) = x^n", (V, 3), {}),
        ("h(x, y) = x - y", (V,), {"y": 2 * V}),
    ],
)
def test_a_compiled_function_binds_its_arguments_as_the_formula_does(text, arguments, named):
    expected = nt.formula(text)(*arguments, **named)
    assert nt.formula(text).compile()(*arguments, **named).tolist() == expected.tolist()


def test_a_whole_number_is_none_with_a_point():
    compiled, X = nt.formula("X + n").compile(), nt.tensor([1, 2], "a")
    for _ in range(2):
        assert compiled(X=X, n=1).dtype.kind == "i" and compiled(X=X, n=1.0).dtype.kind == "f"


def test_wrong_calls_are_refused_after_right_ones():
    compiled = nt.formula("f(x, y) = x + y").compile()
    x = nt.tensor([1.0, 2.0], "a")
    assert nt.allclose(compiled(x, x), compiled(x, y=x))
    for wrong, number in (
        ((x, nt.tensor([1.0], "a")), 302),
        ((x, x, x), 304),
        ((x, [1.0, 2.0]), 317),
        ((x, torch.ones(2)), 317),
    ):
        with pytest.raises(nt.NotationError) as caught:
            compiled(*wrong)
        assert caught.value.code == number


def test_a_python_function_that_is_changed_is_called_anew():
    x = nt.tensor([1.0], "a")
    nt.custom_function("changing : ℝ → ℝ")(lambda x: 2 * x)
    compiled = nt.formula("changing(x)").compile()
    assert [float(compiled(x=x).array[0]) for _ in range(2)] == [2.0, 2.0]
    nt.custom_function("changing : ℝ → ℝ")(lambda x: 3 * x)
    assert [float(compiled(x=x).array[0]) for _ in range(2)] == [3.0, 3.0]
