"""The same models under jax.jit: by hand, and in the libraries of named axes on JAX.

A model that generates runs as a whole inside jax.jit: a scan over the new tokens, keys and values in arrays that have
room for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .attention import jitted
from .block import JAX
from .weights import Weights, bert, gpt2
from .work import Ready, side

AXES = {
    "words": "vocab chans", "places": "place chans", "types": "type chans", "γ": "chans", "β": "chans",
    "W_qkv": "chans part heads size", "b_qkv": "part heads size", "W_O": "heads size chans", "b_O": "chans",
    "W_1": "chans hidden", "b_1": "hidden", "W_2": "hidden chans", "b_2": "chans",
    "γ_1": "chans", "β_1": "chans", "γ_2": "chans", "β_2": "chans",
}  # fmt: skip
HIDDEN = -1e9
Parts = tuple[Callable[..., Any], ...]


def moved(weights: Weights) -> Weights:
    import jax

    return jax.tree.map(jax.numpy.asarray, weights)


def tagged(weights: Weights, heads: int, tag: Callable[[Any, list[str]], Any]) -> Weights:
    """The weights as a library's arrays, made of JAX's and the names of their axes."""
    import jax

    sizes = {"chans": len(weights["γ"]), "size": len(weights["γ"]) // heads, "heads": heads, "part": 3}

    def one(path, array):
        axes = AXES[path[-1].key].split()
        return tag(jax.numpy.asarray(array.reshape([sizes.get(axis, -1) for axis in axes])), axes)

    return jax.tree_util.tree_map_with_path(one, weights)


def unpadded(mask: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda states: states * mask[..., None].astype(np.float32)


# --------------------------------------------------------------------------------------------------------------- JAX
def parts_in_jax(heads: int, ε: float, approximate: bool) -> Parts:
    import jax
    import jax.numpy as jnp

    def norm(x, γ, β):
        return jax.nn.standardize(x, axis=-1, epsilon=ε) * γ + β

    def qkv(w, x):
        b_qkv = x @ w["W_qkv"] + w["b_qkv"]
        return jnp.moveaxis(b_qkv.reshape(*x.shape[:-1], 3, heads, -1), (-3, -2), (0, -3))

    def attend(w, q, k, v, mask):
        scores = jnp.where(mask, q @ k.mT / math.sqrt(q.shape[-1]), HIDDEN)
        mixed = jnp.swapaxes(jax.nn.softmax(scores, axis=-1) @ v, -2, -3)
        return mixed.reshape(*mixed.shape[:-2], -1) @ w["W_O"] + w["b_O"]

    def mlp(w, x):
        return jax.nn.gelu(x @ w["W_1"] + w["b_1"], approximate) @ w["W_2"] + w["b_2"]

    return norm, qkv, attend, mlp


@side(JAX, needs=("jax",))
def minilm_jax(ids, mask) -> Ready:
    import jax.numpy as jnp

    weights, heads, ε = bert()
    norm, qkv, attend, mlp = parts_in_jax(heads, ε, approximate=False)

    def states(w, ids, mask):
        x = norm(w["words"][ids] + w["places"][: ids.shape[1]] + w["types"][0], w["γ"], w["β"])
        for layer in w["layers"]:
            x = norm(x + attend(layer, *qkv(layer, x), mask[:, None, None]), layer["γ_1"], layer["β_1"])
            x = norm(x + mlp(layer, x), layer["γ_2"], layer["β_2"])
        return x

    padded = unpadded(mask)
    return jitted(states, [moved(weights), jnp.asarray(ids), jnp.asarray(mask == 1)], lambda x: padded(np.asarray(x)))


@side(JAX, needs=("jax",))
def generation_jax(arrays, config, ids, new) -> Ready:
    import jax
    import jax.numpy as jnp

    weights, heads, ε = gpt2(arrays, config)
    norm, qkv, attend, mlp = parts_in_jax(heads, ε, approximate=True)
    room = ids.shape[1] + new

    def following(w, tokens, start, memory):
        """The token after these, and the memory with their keys and values."""
        places = start + jnp.arange(len(tokens))
        mask = places[:, None] >= jnp.arange(room)
        x, cached = w["words"][tokens] + w["places"][places], []
        for layer, old in zip(w["layers"], memory):
            q, *result = qkv(layer, norm(x, layer["γ_1"], layer["β_1"]))
            cached.append([jax.lax.dynamic_update_slice_in_dim(*pair, start, 1) for pair in zip(old, result)])
            x += attend(layer, q, *cached[-1], mask)
            x += mlp(layer, norm(x, layer["γ_2"], layer["β_2"]))
        return jnp.argmax(w["words"] @ norm(x[-1], w["γ"], w["β"]), keepdims=True), cached

    def generate(w, prompt):
        empty = jnp.zeros((heads, room, len(w["γ"]) // heads), w["γ"].dtype)
        state = following(w, prompt, 0, [[empty, empty]] * len(w["layers"]))
        step = lambda state, position: (following(w, state[0], position, state[1]), state[0])
        (last, _), before = jax.lax.scan(step, state, jnp.arange(room - new, room - 1))
        return jnp.append(before, last)

    return jitted(generate, [moved(weights), jnp.asarray(ids[0])], lambda tokens: np.asarray(tokens)[None])


# ------------------------------------------------------------------------------------------------------------ haliax
def parts_in_haliax(ε: float, approximate: bool) -> Parts:
    import haliax as hax
    from haliax.nn.attention import dot_product_attention

    def norm(x, γ, β):
        return hax.nn.LayerNorm(γ.axes, γ, β, ε)(x)

    def qkv(w, x):
        q, k, v = (hax.dot(x, w["W_qkv"], axis="chans") + w["b_qkv"]).unbind("part")
        return q, k.rename({"seq": "memory"}), v.rename({"seq": "memory"})

    def attend(w, q, k, v, mask):
        mixed = dot_product_attention("memory", "size", q, k, v, mask)
        return hax.dot(mixed, w["W_O"], axis=("heads", "size")) + w["b_O"]

    def mlp(w, x):
        inner = hax.nn.gelu(hax.dot(x, w["W_1"], axis="chans") + w["b_1"], approximate)
        return hax.dot(inner, w["W_2"], axis="hidden") + w["b_2"]

    return norm, qkv, attend, mlp


@side("haliax, jit", needs=("haliax",))
def minilm_haliax(ids, mask) -> Ready:
    import haliax as hax

    weights, heads, ε = bert()
    norm, qkv, attend, mlp = parts_in_haliax(ε, approximate=False)

    def states(w, ids, mask):
        places = w["places"].slice("place", ids.resolve_axis("seq"))
        x = norm(w["words"].take("vocab", ids) + places + w["types"]["type", 0], w["γ"], w["β"])
        for layer in w["layers"]:
            x = norm(x + attend(layer, *qkv(layer, x), mask), layer["γ_1"], layer["β_1"])
            x = norm(x + mlp(layer, x), layer["γ_2"], layer["β_2"])
        return x

    inputs = [
        tagged(weights, heads, hax.named),
        hax.named(ids, ("batch", "seq")),
        hax.named(mask == 1, ("batch", "memory")),
    ]
    padded = unpadded(mask)
    return jitted(states, inputs, lambda x: padded(np.asarray(x.rearrange(("batch", "seq", "chans")).array)))


@side("haliax, jit", needs=("haliax",))
def generation_haliax(arrays, config, ids, new) -> Ready:
    import haliax as hax
    from haliax.nn.attention import causal_mask

    weights, heads, ε = gpt2(arrays, config)
    norm, qkv, attend, mlp = parts_in_haliax(ε, approximate=True)
    prompt = ids.shape[1]
    Memory, New = hax.Axis("memory", prompt + new), hax.Axis("new", new - 1)

    def following(w, tokens, start, memory):
        """The token after these, and the memory with their keys and values."""
        Seq = tokens.resolve_axis("seq")
        mask = causal_mask(Seq, Memory, q_start=start)
        x, cached = w["words"].take("vocab", tokens) + w["places"].slice("place", Seq, start), []
        for layer, old in zip(w["layers"], memory):
            q, *result = qkv(layer, norm(x, layer["γ_1"], layer["β_1"]))
            cached.append([item.updated_slice({"memory": start}, update) for item, update in zip(old, result)])
            x += attend(layer, q, *cached[-1], mask)
            x += mlp(layer, norm(x, layer["γ_2"], layer["β_2"]))
        last = norm(x["seq", -1:], w["γ"], w["β"])
        return hax.argmax(hax.dot(w["words"], last, axis="chans"), "vocab"), cached

    def generate(w, tokens):
        _, Heads, Size = w["layers"][0]["b_qkv"].axes
        empty = hax.zeros((Heads, Memory, Size), np.float32)
        state = following(w, tokens, 0, [[empty, empty]] * len(w["layers"]))
        step = lambda state, position: (following(w, state[0], position.scalar(), state[1]), state[0])
        (last, _), before = hax.scan(step, New)(state, hax.arange(New, start=prompt))
        return hax.concatenate("new", [before["seq", 0], last.rename({"seq": "new"})])

    inputs = [tagged(weights, heads, hax.named), hax.named(ids[0], "seq")]
    return jitted(generate, inputs, lambda tokens: np.asarray(tokens.array)[None])


# ------------------------------------------------------------------------------------------------------------ penzai
def parts_in_penzai(ε: float, approximate: bool) -> Parts:
    import jax
    import jax.numpy as jnp
    from penzai import pz

    nmap = pz.nx.nmap

    def dot(x, y, *axes):
        return nmap(lambda x, y: jnp.tensordot(x, y, x.ndim))(x.untag(*axes), y.untag(*axes))

    def norm(x, γ, β):
        return nmap(lambda x: jax.nn.standardize(x, epsilon=ε))(x.untag("chans")).tag("chans") * γ + β

    def qkv(w, x):
        q, k, v = pz.nx.unstack(dot(x, w["W_qkv"], "chans") + w["b_qkv"], "part")
        return q, k.untag("seq").tag("memory"), v.untag("seq").tag("memory")

    def attend(w, q, k, v, mask):
        scores = dot(q, k, "size") / math.sqrt(q.named_shape["size"])
        weights = nmap(jax.nn.softmax)(nmap(jnp.where)(mask, scores, HIDDEN).untag("memory")).tag("memory")
        return dot(dot(weights, v, "memory"), w["W_O"], "heads", "size") + w["b_O"]

    def mlp(w, x):
        inner = nmap(lambda x: jax.nn.gelu(x, approximate))(dot(x, w["W_1"], "chans") + w["b_1"])
        return dot(inner, w["W_2"], "hidden") + w["b_2"]

    return norm, qkv, attend, mlp, dot


def in_penzai(array: Any, axes: list[str]) -> Any:
    import jax.numpy as jnp
    from penzai import pz

    return pz.nx.wrap(jnp.asarray(array)).tag(*axes)


@side("penzai, jit", needs=("penzai",))
def minilm_penzai(ids, mask) -> Ready:
    from penzai import pz

    weights, heads, ε = bert()
    norm, qkv, attend, mlp, _ = parts_in_penzai(ε, approximate=False)

    def states(w, ids, mask):
        places = w["places"][{"place": pz.nx.arange("seq", ids.named_shape["seq"])}]
        x = norm(w["words"][{"vocab": ids}] + places + w["types"][{"type": 0}], w["γ"], w["β"])
        for layer in w["layers"]:
            x = norm(x + attend(layer, *qkv(layer, x), mask), layer["γ_1"], layer["β_1"])
            x = norm(x + mlp(layer, x), layer["γ_2"], layer["β_2"])
        return x

    inputs = [
        tagged(weights, heads, in_penzai),
        in_penzai(ids, ["batch", "seq"]),
        in_penzai(mask == 1, ["batch", "memory"]),
    ]
    padded = unpadded(mask)
    return jitted(states, inputs, lambda x: padded(np.asarray(x.unwrap("batch", "seq", "chans"))))


@side("penzai, jit", needs=("penzai",))
def generation_penzai(arrays, config, ids, new) -> Ready:
    import jax
    import jax.numpy as jnp
    from penzai import pz

    weights, heads, ε = gpt2(arrays, config)
    norm, qkv, attend, mlp, dot = parts_in_penzai(ε, approximate=True)
    prompt = ids.shape[1]
    nmap, room = pz.nx.nmap, prompt + new

    def updated(old, new, start):
        put = nmap(jax.lax.dynamic_update_slice)
        return put(old.untag("memory"), new.untag("memory"), (start,)).tag("memory")

    def following(w, tokens, start, memory):
        """The token after these, and the memory with their keys and values."""
        places = start + pz.nx.arange("seq", tokens.named_shape["seq"])
        mask = places >= pz.nx.arange("memory", room)
        x, cached = w["words"][{"vocab": tokens}] + w["places"][{"place": places}], []
        for layer, old in zip(w["layers"], memory):
            q, *result = qkv(layer, norm(x, layer["γ_1"], layer["β_1"]))
            cached.append([updated(*pair, start) for pair in zip(old, result)])
            x += attend(layer, q, *cached[-1], mask)
            x += mlp(layer, norm(x, layer["γ_2"], layer["β_2"]))
        last = norm(x[{"seq": pz.slice[-1:]}], w["γ"], w["β"])
        return nmap(jnp.argmax)(dot(w["words"], last, "chans").untag("vocab")), cached

    def generate(w, tokens):
        sizes = w["layers"][0]["b_qkv"].named_shape
        empty = pz.nx.zeros({"heads": sizes["heads"], "memory": room, "size": sizes["size"]}, dtype=np.float32)
        state = following(w, tokens, 0, [[empty, empty]] * len(w["layers"]))
        step = lambda state, position: (following(w, state[0], position, state[1]), state[0])
        (last, _), before = pz.nx.scan(step, "new", state, prompt + pz.nx.arange("new", new - 1))
        return pz.nx.concatenate([before[{"seq": 0}], last.untag("seq").tag("new")], "new")

    inputs = [tagged(weights, heads, in_penzai), in_penzai(ids[0], ["seq"])]
    return jitted(generate, inputs, lambda tokens: np.asarray(tokens.unwrap("new"))[None])


MINILM = (minilm_jax, minilm_haliax, minilm_penzai)
GENERATION = (generation_jax, generation_haliax, generation_penzai)
