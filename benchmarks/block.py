"""The pre-LN block of a transformer, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import namedtensor as nt

from .attention import jitted, softmax
from .work import BY_HAND, OURS, Bar, Ready, Work, both, side

BLOCK = """
Y = T + relu(LayerNorm(T; γ_2, β_2) ⊙_{chans} W_1 + b_1) ⊙_{hidden} W_2 + b_2
T = X + (A ⊙_{memory} V) ⊙_{heads, val} W_O + b_O
A = softmax_{memory}(Q ⊙_{key} K / √|key|)
Q = N ⊙_{chans} W_Q + b_Q
K = [N ⊙_{chans} W_K + b_K]_{seq→memory}
V = [N ⊙_{chans} W_V + b_V]_{seq→memory}
N = LayerNorm(X; γ_1, β_1)
LayerNorm(X; γ, β) = standardize_{chans}(X) ⊙ γ + β
X ∈ ℝ^{seq × chans}
W_Q, W_K ∈ ℝ^{chans × heads × key}
W_V, W_O ∈ ℝ^{chans × heads × val}
b_Q, b_K ∈ ℝ^{heads × key}
b_V ∈ ℝ^{heads × val}
W_1, W_2 ∈ ℝ^{chans × hidden}
b_1 ∈ ℝ^{hidden}
b_O, b_2, γ_1, β_1, γ_2, β_2 ∈ ℝ^{chans}
"""
AXES = {
    "X": "batch seq chans",
    "W_Q": "chans heads key", "W_K": "chans heads key", "W_V": "chans heads val", "W_O": "heads val chans",
    "b_Q": "heads key", "b_K": "heads key", "b_V": "heads val", "b_O": "chans",
    "W_1": "chans hidden", "b_1": "hidden", "W_2": "hidden chans", "b_2": "chans",
    "γ_1": "chans", "β_1": "chans", "γ_2": "chans", "β_2": "chans",
}  # fmt: skip
RESULT = "batch seq chans"
EPSILON = 1e-5
ON_TORCH, UNDER_JIT = f"{OURS} on PyTorch", f"{OURS} under jax.jit"
TORCH, JAX, LAYER = "PyTorch by hand", "jax.jit by hand", "nn.TransformerEncoderLayer"
Arrays = dict[str, Any]


def inputs(**sizes: int) -> dict[str, Arrays]:
    """The arrays of the formulas by their names, and G, which the gradient is pulled back from."""
    generator = np.random.default_rng(0)
    sizes = sizes | dict.fromkeys(("key", "val"), sizes["chans"] // sizes["heads"])
    arrays = {}
    for name, axes in AXES.items():
        drawn = generator.standard_normal([sizes[axis] for axis in axes.split()], dtype=np.float32)
        scale = {"X": 1.0, "W": sizes["hidden" if name == "W_2" else "chans"] ** -0.5}.get(name[0], 0.1)
        arrays[name] = drawn * np.float32(scale) + np.float32(name[0] == "γ")
    arrays["G"] = generator.standard_normal(arrays["X"].shape, dtype=np.float32)
    return {"arrays": arrays}


# -------------------------------------------------------------------------------------------------------------- ours
def named(arrays: Arrays) -> dict[str, nt.NamedTensor]:
    return {name: nt.tensor(arrays[name], axes) for name, axes in AXES.items()}


def result(value: nt.NamedTensor) -> Any:
    return value.to_array(RESULT)


@side(OURS)
def block(arrays) -> Ready:
    entry, values = nt.program(BLOCK)["Y"], named(arrays)
    return Ready(lambda: entry(values=values), result)


def in_torch(arrays: Arrays) -> Arrays:
    import torch

    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def in_jax(arrays: Arrays) -> Arrays:
    import jax.numpy as jnp

    return {name: jnp.asarray(array) for name, array in arrays.items()}


def quietly(call: Callable[[], Any]) -> Callable[[], Any]:
    """Without what PyTorch keeps for gradients."""
    import torch

    return torch.no_grad()(call)


@side(ON_TORCH, needs=("torch",))
def block_torch(arrays) -> Ready:
    entry, values = nt.program(BLOCK)["Y"], named(in_torch(arrays))
    return Ready(quietly(lambda: entry(values=values)), lambda value: np.asarray(result(value)))


@side(UNDER_JIT, needs=("jax",))
def block_jax(arrays) -> Ready:
    entry = nt.program(BLOCK)["Y"]
    return jitted(lambda values: entry(values=values), [named(in_jax(arrays))], lambda value: np.asarray(result(value)))


# ----------------------------------------------------------------------------------------------------------- by hand
def stacked(arrays: Arrays) -> dict[str, np.ndarray]:
    """One matrix for queries, keys and values, the scale of the scores inside; matrices for the rest."""
    chans = len(arrays["b_O"])
    scale = np.float32(1 / math.sqrt(arrays["b_Q"].shape[-1]))
    flat = [arrays[f"W_{name}"].reshape(chans, -1) for name in "QKV"]
    shifts = [arrays[f"b_{name}"].reshape(-1) for name in "QKV"]
    flat[0], shifts[0] = flat[0] * scale, shifts[0] * scale
    return {
        "qkv": np.ascontiguousarray(np.concatenate(flat, 1)), "shift": np.concatenate(shifts),
        "out": arrays["W_O"].reshape(-1, chans),
    }  # fmt: skip


def layer_norm(x, γ, β):
    size = np.float32(x.shape[-1])
    element = x - np.add.reduce(x, -1, None, None, True) / size
    element *= (1 / np.sqrt(np.vecdot(element, element) / size + np.float32(EPSILON)))[..., None]
    element *= γ
    element += β
    return element


def attend(q, k, v, actual, mask=None):
    """Softmax in the scores' own memory, the result divided by the sums; written to `found`."""
    scores = np.matmul(q, k.swapaxes(-1, -2))
    if mask is not None:
        scores += mask
    scores -= np.maximum.reduce(scores, -1, None, None, True)
    np.exp(scores, scores)
    np.matmul(scores, v, out=actual)
    actual /= np.add.reduce(scores, -1, None, None, True)


@side(BY_HAND)
def block_by_hand(arrays) -> Ready:
    element, heads = stacked(arrays), len(arrays["b_Q"])
    X, W_1, b_1, W_2, b_2 = (arrays[name] for name in ("X", "W_1", "b_1", "W_2", "b_2"))
    batch, seq, chans = X.shape

    def call():
        x = X.reshape(-1, chans)
        qkv = layer_norm(x, arrays["γ_1"], arrays["β_1"]).dot(element["qkv"])
        qkv += element["shift"]
        q, k, v = qkv.reshape(batch, seq, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        mixed = np.empty((batch, seq, heads, v.shape[-1]), np.float32)
        attend(q, k, v, mixed.swapaxes(1, 2))
        t = mixed.reshape(batch * seq, -1).dot(element["out"])
        t += arrays["b_O"]
        t += x
        hidden = layer_norm(t, arrays["γ_2"], arrays["β_2"]).dot(W_1)
        hidden += b_1
        np.maximum(hidden, 0, out=hidden)
        y = hidden.dot(W_2)
        y += b_2
        y += t
        return y.reshape(X.shape)

    return Ready(call)


@side("NumPy as written")
def block_as_written(arrays) -> Ready:
    """As one writes it first."""
    a = arrays

    def norm(x, γ, β):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(EPSILON)) * γ + β

    def call():
        n = norm(a["X"], a["γ_1"], a["β_1"])
        q, k, v = (np.einsum("bsc,chk->bhsk", n, a[f"W_{name}"], optimize=True) for name in "QKV")
        q, k, v = (item + a[f"b_{name}"][:, None] for item, name in zip((q, k, v), "QKV"))
        weights = softmax(q @ k.swapaxes(-1, -2) / np.float32(math.sqrt(q.shape[-1])))
        t = a["X"] + np.einsum("bhsv,hvc->bsc", weights @ v, a["W_O"], optimize=True) + a["b_O"]
        hidden = np.maximum(norm(t, a["γ_2"], a["β_2"]) @ a["W_1"] + a["b_1"], 0)
        return t + hidden @ a["W_2"] + a["b_2"]

    return Ready(call)


# ----------------------------------------------------------------------------------------------------------- PyTorch
def function_of_torch(a: Arrays) -> Callable[[], Any]:
    """Stacked weights made once, as a module has them."""
    import torch
    from torch.nn import functional as F

    chans, heads = len(a["b_O"]), len(a["b_Q"])
    with torch.no_grad():
        a["W_qkv"] = torch.cat([a[f"W_{name}"].reshape(chans, -1) for name in "QKV"], 1).T.contiguous()
        a["b_qkv"] = torch.cat([a[f"b_{name}"].reshape(-1) for name in "QKV"])
        a["W_out"], a["W_up"], a["W_down"] = (
            a[name].reshape(-1, a[name].shape[-1]).T.contiguous() for name in ("W_O", "W_1", "W_2")
        )

    def call():
        X = a["X"]
        n = F.layer_norm(X, (chans,), a["γ_1"], a["β_1"], EPSILON)
        q, k, v = F.linear(n, a["W_qkv"], a["b_qkv"]).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        t = X + F.linear(mixed, a["W_out"], a["b_O"])
        n = F.layer_norm(t, (chans,), a["γ_2"], a["β_2"], EPSILON)
        return t + F.linear(F.relu(F.linear(n, a["W_up"], a["b_1"])), a["W_down"], a["b_2"])

    return call


TORCH_LEAVES = ("X", "W_qkv", "b_qkv", "W_out", "b_O", "W_up", "b_1", "W_down", "b_2", "γ_1", "β_1", "γ_2", "β_2")


@side(TORCH, needs=("torch",))
def block_by_hand_torch(arrays) -> Ready:
    return Ready(quietly(function_of_torch(in_torch(arrays))))


def encoder_layer(arrays: Arrays) -> Any:
    """PyTorch's own layer with these weights."""
    import torch

    a = in_torch(arrays)
    chans, heads, hidden = len(a["b_O"]), len(a["b_Q"]), len(a["b_1"])
    layer = torch.nn.TransformerEncoderLayer(
        chans, heads, hidden, dropout=0.0, layer_norm_eps=EPSILON, batch_first=True, norm_first=True
    )
    layer.load_state_dict({
        "self_attn.in_proj_weight": torch.cat([a[f"W_{name}"].reshape(chans, -1).T for name in "QKV"]),
        "self_attn.in_proj_bias": torch.cat([a[f"b_{name}"].reshape(-1) for name in "QKV"]),
        "self_attn.out_proj.weight": a["W_O"].reshape(-1, chans).T, "self_attn.out_proj.bias": a["b_O"],
        "linear1.weight": a["W_1"].T, "linear1.bias": a["b_1"],
        "linear2.weight": a["W_2"].T, "linear2.bias": a["b_2"],
        "norm1.weight": a["γ_1"], "norm1.bias": a["β_1"], "norm2.weight": a["γ_2"], "norm2.bias": a["β_2"],
    })  # fmt: skip
    return layer


@side(LAYER, needs=("torch",))
def block_layer(arrays) -> Ready:
    import torch

    layer, X = encoder_layer(arrays).eval(), torch.from_numpy(arrays["X"])
    return Ready(quietly(lambda: layer(X)))


# --------------------------------------------------------------------------------------------------------------- JAX
def function_of_jax(a: Arrays) -> Any:
    import jax
    import jax.numpy as jnp

    def norm(x, γ, β):
        return jax.nn.standardize(x, axis=-1, epsilon=EPSILON) * γ + β

    n = norm(a["X"], a["γ_1"], a["β_1"])
    q, k, v = (jnp.einsum("bsc,chk->bhsk", n, a[f"W_{name}"]) + a[f"b_{name}"][:, None] for name in "QKV")
    weights = jax.nn.softmax(q @ k.mT / math.sqrt(q.shape[-1]), axis=-1)
    t = a["X"] + jnp.einsum("bhsv,hvc->bsc", weights @ v, a["W_O"]) + a["b_O"]
    hidden = jax.nn.relu(norm(t, a["γ_2"], a["β_2"]) @ a["W_1"] + a["b_1"])
    return t + hidden @ a["W_2"] + a["b_2"]


def stacked_jax(a: Arrays) -> Any:
    """One product for queries, keys and values."""
    import jax
    import jax.numpy as jnp

    def norm(x, γ, β):
        return jax.nn.standardize(x, axis=-1, epsilon=EPSILON) * γ + β

    heads, chans = a["b_Q"].shape[0], len(a["b_O"])
    n = norm(a["X"], a["γ_1"], a["β_1"]) @ a["W_qkv"] + a["b_qkv"]
    q, k, v = n.reshape(*n.shape[:2], 3, heads, -1).transpose(2, 0, 3, 1, 4)
    weights = jax.nn.softmax(q @ k.mT / math.sqrt(q.shape[-1]), axis=-1)
    mixed = jnp.swapaxes(weights @ v, 1, 2).reshape(*n.shape[:2], -1)
    t = a["X"] + mixed @ a["W_O"].reshape(-1, chans) + a["b_O"]
    hidden = jax.nn.relu(norm(t, a["γ_2"], a["β_2"]) @ a["W_1"] + a["b_1"])
    return t + hidden @ a["W_2"] + a["b_2"]


@side(JAX, needs=("jax",))
def block_by_hand_jax(arrays) -> Ready:
    return jitted(function_of_jax, [in_jax({name: arrays[name] for name in AXES})])


@side(f"{JAX}, one product for Q, K, V", needs=("jax",))
def block_stacked_jax(arrays) -> Ready:
    chans = len(arrays["b_O"])
    stacks = {
        "W_qkv": np.concatenate([arrays[f"W_{name}"].reshape(chans, -1) for name in "QKV"], 1),
        "b_qkv": np.concatenate([arrays[f"b_{name}"].reshape(-1) for name in "QKV"]),
    }
    return jitted(stacked_jax, [in_jax(arrays | stacks)])


@side("haliax, jit", needs=("haliax",))
def block_haliax(arrays) -> Ready:
    import haliax as hax

    values = {
        name: hax.named(array, tuple(axes.split()))
        for (name, axes), array in zip(AXES.items(), in_jax({name: arrays[name] for name in AXES}).values())
    }

    def norm(x, γ, β):
        centered = x - hax.mean(x, axis="chans")
        return centered * hax.rsqrt(hax.mean(centered * centered, axis="chans") + EPSILON) * γ + β

    def function(a):
        n = norm(a["X"], a["γ_1"], a["β_1"])
        q, k, v = (hax.dot(n, a[f"W_{name}"], axis="chans") + a[f"b_{name}"] for name in "QKV")
        k, v = k.rename({"seq": "memory"}), v.rename({"seq": "memory"})
        scores = hax.dot(q, k, axis="key") / math.sqrt(a["b_Q"].array.shape[-1])
        mixed = hax.dot(hax.nn.softmax(scores, axis="memory"), v, axis="memory")
        t = a["X"] + hax.dot(mixed, a["W_O"], axis=("heads", "val")) + a["b_O"]
        hidden = hax.nn.relu(hax.dot(norm(t, a["γ_2"], a["β_2"]), a["W_1"], axis="chans") + a["b_1"])
        return t + hax.dot(hidden, a["W_2"], axis="hidden") + a["b_2"]

    return jitted(function, [values], lambda value: np.asarray(value.rearrange(tuple(RESULT.split())).array))


@side("penzai, jit", needs=("penzai",))
def block_penzai(arrays) -> Ready:
    import jax
    import jax.numpy as jnp
    from penzai import pz

    nmap = pz.nx.nmap
    values = {
        name: pz.nx.wrap(array).tag(*AXES[name].split())
        for name, array in in_jax({name: arrays[name] for name in AXES}).items()
    }

    def dot(x, y, *axes):
        return nmap(lambda x, y: jnp.tensordot(x, y, x.ndim))(x.untag(*axes), y.untag(*axes))

    def norm(x, γ, β):
        standardized = nmap(lambda x: jax.nn.standardize(x, epsilon=EPSILON))(x.untag("chans"))
        return standardized.tag("chans") * γ + β

    def function(a):
        n = norm(a["X"], a["γ_1"], a["β_1"])
        q, k, v = (dot(n, a[f"W_{name}"], "chans") + a[f"b_{name}"] for name in "QKV")
        k, v = k.untag("seq").tag("memory"), v.untag("seq").tag("memory")
        scores = dot(q, k, "key") / math.sqrt(arrays["b_Q"].shape[-1])
        weights = nmap(jax.nn.softmax)(scores.untag("memory")).tag("memory")
        t = a["X"] + dot(dot(weights, v, "memory"), a["W_O"], "heads", "val") + a["b_O"]
        hidden = nmap(jax.nn.relu)(dot(norm(t, a["γ_2"], a["β_2"]), a["W_1"], "chans") + a["b_1"])
        return t + dot(hidden, a["W_2"], "hidden") + a["b_2"]

    return jitted(function, [values], lambda value: np.asarray(value.unwrap(*RESULT.split())))


# ---------------------------------------------------------------------------------------------------------- gradients
def pulled(function: Callable[[], Any], leaves: list[Any], G: Any) -> Ready:
    """The gradient of ⟨Y, G⟩ by PyTorch with respect to all leaves, of which the first is X."""
    import torch

    for leaf in leaves:
        leaf.requires_grad_()
    return Ready(lambda: torch.autograd.grad(function(), leaves, G), lambda actual: actual[0].numpy())


@side(ON_TORCH, needs=("torch",))
def gradient_torch(arrays) -> Ready:
    entry, tensors = nt.program(BLOCK)["Y"], in_torch(arrays)
    leaves = [tensors[name].requires_grad_() for name in AXES]
    values = named(tensors)
    return pulled(lambda: result(entry(values=values)), leaves, tensors["G"])


@side(TORCH, needs=("torch",))
def gradient_by_hand_torch(arrays) -> Ready:
    tensors = in_torch(arrays)
    function = function_of_torch(tensors)
    return pulled(function, [tensors[name] for name in TORCH_LEAVES], tensors["G"])


@side(LAYER, needs=("torch",))
def gradient_layer(arrays) -> Ready:
    import torch

    layer, X, G = encoder_layer(arrays), torch.from_numpy(arrays["X"]), torch.from_numpy(arrays["G"])
    return pulled(lambda: layer(X), [X, *layer.parameters()], G)


def pulled_by_jax(function: Callable[[Any], Any], values: Any, G: Any, answer: Callable[[Any], Any]) -> Ready:
    import jax

    gradient = jax.grad(lambda values, G: (function(values) * G).sum())
    return jitted(gradient, [values, G], lambda actual: np.asarray(answer(actual["X"])))


@side(UNDER_JIT, needs=("jax",))
def gradient_jax(arrays) -> Ready:
    entry, moved = nt.program(BLOCK)["Y"], in_jax(arrays)
    return pulled_by_jax(lambda values: result(entry(values=values)), named(moved), moved["G"], result)


@side(JAX, needs=("jax",))
def gradient_by_hand_jax(arrays) -> Ready:
    moved = in_jax(arrays)
    return pulled_by_jax(function_of_jax, {name: moved[name] for name in AXES}, moved["G"], np.asarray)


# ------------------------------------------------------------------------------------------- gradients by the notation
GRADIENT = f"""{BLOCK.replace("X ∈ ℝ^{seq × chans}", "X, G ∈ ℝ^{batch × seq × chans}")}
loss = ∑_{{batch, seq, chans}} Y ⊙ G
""" + "\n".join(f"D_{number} = ∂loss/∂{name}" for number, name in enumerate(AXES))
DERIVATIVES = tuple(f"D_{number}" for number in range(len(AXES)))
AS_FORMULA = f"{OURS}, ∂ in the formula"


def with_weight(arrays: Arrays) -> dict[str, nt.NamedTensor]:
    return {**named(arrays), "G": nt.tensor(arrays["G"], RESULT)}


@side(AS_FORMULA)
def gradient(arrays) -> Ready:
    entry, values = nt.program(GRADIENT)[DERIVATIVES], with_weight(arrays)
    return Ready(lambda: entry(values=values), lambda actual: result(actual[0]))


@side(f"{AS_FORMULA}, on PyTorch", needs=("torch",))
def gradient_formula_torch(arrays) -> Ready:
    entry, values = nt.program(GRADIENT)[DERIVATIVES], with_weight(in_torch(arrays))
    return Ready(quietly(lambda: entry(values=values)), lambda actual: np.asarray(result(actual[0])))


@side(f"{AS_FORMULA}, under jax.jit", needs=("jax",))
def gradient_formula_jax(arrays) -> Ready:
    entry = nt.program(GRADIENT)[DERIVATIVES]
    return jitted(
        lambda values: entry(values=values), [with_weight(in_jax(arrays))], lambda actual: np.asarray(result(actual[0]))
    )


# ------------------------------------------------------------------------------------------------------------- works
SIZES = {"batch": 4, "seq": 256, "chans": 512, "heads": 8, "hidden": 2048}
SMALL = {"batch": 2, "seq": 5, "chans": 6, "heads": 2, "hidden": 7}
SHAPE = "batch 4, seq 256, chans 512, heads 8, hidden 2048"

WORKS = (
    Work(
        "block", f"pre-LN block, {SHAPE}", inputs,
        (*both(block), block_torch, block_jax, *both(block_by_hand), block_as_written, block_by_hand_torch, block_layer,
         block_by_hand_jax, block_stacked_jax, block_haliax, block_penzai), SIZES, SMALL,
        bars=(Bar(OURS, 0.85, BY_HAND), Bar(ON_TORCH, 1.03, LAYER), Bar(UNDER_JIT, 1.03, JAX)), memory=True, close=1e-3,
    ),
    Work(
        "block-gradient", f"gradient of the block, {SHAPE}", inputs,
        (gradient_torch, gradient_jax, gradient_by_hand_torch, gradient_layer, gradient_by_hand_jax, gradient,
         gradient_formula_torch, gradient_formula_jax), SIZES, SMALL,
        base=TORCH, bars=(Bar(ON_TORCH, 1.03, TORCH), Bar(UNDER_JIT, 1.03, JAX), Bar(AS_FORMULA, 1.0, TORCH)), memory=True,
        close=5e-3, norm=2,  # one kink taken on its other side is 1e-3, as there are a million
    ),
)  # fmt: skip
