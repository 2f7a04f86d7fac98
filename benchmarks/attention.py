"""Attention, from shapes where names cost most to ones where memory does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import namedtensor as nt

from .start import ATTENTION
from .work import BY_HAND, OURS, Bar, LeftOut, Ready, Side, Work, both, side

EVALUATE, FORMULA, COMPILED = (f"{OURS}, {way}" for way in ("evaluate", "formula", "compiled"))
SDPA = "PyTorch, scaled_dot_product_attention"


def inputs(heads: int, seq: int, key: int, batch: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    shape = (*((batch,) if batch else ()), heads, seq, key)
    return {name: generator.standard_normal(shape, dtype=np.float32) for name in "qkv"}


def axes(array: Any, *last: str) -> list[str]:
    return [*(("batch",) if array.ndim == 4 else ()), "heads", *last]


# -------------------------------------------------------------------------------------------------------------- ours
def named(q, k, v, convert=lambda array: array) -> list[nt.NamedTensor]:
    names = (("queries", "key"), ("seq", "key"), ("seq", "val"))
    return [nt.tensor(convert(array), axes(array, *name)) for array, name in zip((q, k, v), names)]


def ready(call, Q) -> Ready:
    return Ready(call, lambda result: result.to_array(axes(Q.array, "queries", "val")))


@side(EVALUATE)
def by_evaluate(q, k, v) -> Ready:
    Q, K, V = named(q, k, v)
    return ready(lambda: nt.evaluate(ATTENTION, Q=Q, K=K, V=V), Q)


def attention() -> nt.Formula:
    return nt.formula(f"Attention(Q, K, V) = {ATTENTION}")


@side(FORMULA)
def by_formula(q, k, v) -> Ready:
    Q, K, V = named(q, k, v)
    function = attention()
    return ready(lambda: function(Q, K, V), Q)


@side(COMPILED)
def by_compiled(q, k, v) -> Ready:
    if not hasattr(nt.Formula, "compile"):
        raise LeftOut("formula.compile is not there yet")
    Q, K, V = named(q, k, v)
    function = attention().compile(backend="numpy")
    return ready(lambda: function(Q, K, V), Q)


@side(f"{OURS}, formula on PyTorch", needs=("torch",))
def by_torch(q, k, v) -> Ready:
    import torch

    Q, K, V = named(q, k, v, torch.from_numpy)
    function = attention()
    call = lambda: function(Q, K, V)
    return Ready(call, lambda result: np.asarray(result.to_array(axes(q, "queries", "val"))))


@side(f"{OURS}, formula under jax.jit", needs=("jax",))
def by_jax(q, k, v) -> Ready:
    import jax
    import jax.numpy as jnp

    Q, K, V = named(q, k, v, jnp.asarray)
    function = jax.jit(attention().__call__)
    call = lambda: jax.block_until_ready(function(Q, K, V))
    call()
    return Ready(call, lambda result: np.asarray(result.to_array(axes(q, "queries", "val"))))


# -------------------------------------------------------------------------------------------------------- by hand
@side(BY_HAND)
def by_hand(q, k, v) -> Ready:
    """In place; the scale goes to the queries, the division by sums to the result."""
    scale = np.float32(1 / math.sqrt(q.shape[-1]))
    matmul, maximum, add = np.matmul, np.maximum.reduce, np.add.reduce

    def call():
        scores = matmul(q * scale, k.swapaxes(-1, -2))
        scores -= maximum(scores, -1, None, None, True)
        np.exp(scores, out=scores)
        result = matmul(scores, v)
        result /= add(scores, -1, None, None, True)
        return result

    return Ready(call)


def softmax(scores: np.ndarray) -> np.ndarray:
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1, keepdims=True)


@side("NumPy, einsum")
def by_einsum(q, k, v) -> Ready:
    scale = np.float32(1 / math.sqrt(q.shape[-1]))

    def call():
        scores = np.einsum("...qk,...sk->...qs", q, k)
        return np.einsum("...qs,...sv->...qv", softmax(scores * scale), v)

    return Ready(call)


# ------------------------------------------------------------------------------------------------------------- peers
@side("einops", needs=("einops",))
def by_einops(q, k, v) -> Ready:
    from einops import einsum

    scale = np.float32(1 / math.sqrt(q.shape[-1]))

    def call():
        scores = einsum(q, k, "... queries key, ... seq key -> ... queries seq")
        return einsum(softmax(scores * scale), v, "... queries seq, ... seq val -> ... queries val")

    return Ready(call)


@side("einx", needs=("einx",))
def by_einx(q, k, v) -> Ready:
    import einx

    scale = np.float32(1 / math.sqrt(q.shape[-1]))

    def call():
        scores = einx.dot("... q [k], ... s [k] -> ... q s", q, k)
        return einx.dot("... q [s], ... [s] v -> ... q v", einx.softmax("... q [s]", scores * scale), v)

    return Ready(call)


@side("xarray", needs=("xarray",))
def by_xarray(q, k, v) -> Ready:
    import xarray

    Q, K, V = (xarray.DataArray(tensor.array, dims=tensor.axes) for tensor in named(q, k, v))
    scale = np.float32(1 / math.sqrt(q.shape[-1]))
    order = axes(q, "queries", "val")

    def call():
        scores = xarray.dot(Q, K, dim="key") * scale
        powers = np.exp(scores - scores.max("seq"))
        return xarray.dot(powers / powers.sum("seq"), V, dim="seq")

    return Ready(call, lambda result: result.transpose(*order).values)


@side("PyTorch", needs=("torch",))
def by_eager_torch(q, k, v) -> Ready:
    import torch

    q, k, v = map(torch.from_numpy, (q, k, v))
    scale = 1 / math.sqrt(q.shape[-1])
    return Ready(lambda: torch.softmax(q @ k.mT * scale, -1) @ v)


@side(SDPA, needs=("torch",))
def by_sdpa(q, k, v) -> Ready:
    import torch

    batched = [torch.from_numpy(item if item.ndim == 4 else item[None]) for item in (q, k, v)]
    function = torch.nn.functional.scaled_dot_product_attention
    return Ready(lambda: function(*batched), lambda result: result.numpy().reshape(*q.shape[:-1], v.shape[-1]))


def jitted(function, arrays, answer=np.asarray) -> Ready:
    """The function compiled for these arrays."""
    import jax

    compiled = jax.jit(function)
    call = lambda: jax.block_until_ready(compiled(*arrays))
    call()
    return Ready(call, answer)


@side("jax.jit", needs=("jax",))
def by_jit(q, k, v) -> Ready:
    import jax
    import jax.numpy as jnp

    scale = 1 / math.sqrt(q.shape[-1])
    function = lambda q, k, v: jax.nn.softmax(q @ k.mT * scale, -1) @ v
    return jitted(function, [jnp.asarray(item) for item in (q, k, v)])


def with_haliax(q, k, v) -> tuple:
    import haliax
    import jax.numpy as jnp

    values = [
        haliax.named(jnp.asarray(tensor.array), tuple(haliax.Axis(*axis) for axis in tensor.sizes.items()))
        for tensor in named(q, k, v)
    ]
    scale = 1 / math.sqrt(q.shape[-1])

    def function(Q, K, V):
        scores = haliax.dot(Q, K, axis="key") * scale
        return haliax.dot(haliax.nn.softmax(scores, axis="seq"), V, axis="seq")

    order = tuple(axes(q, "queries", "val"))
    return function, values, lambda result: np.asarray(result.rearrange(order).array)


def with_penzai(q, k, v) -> tuple:
    import jax
    import jax.numpy as jnp
    from penzai import pz

    values = [pz.nx.wrap(jnp.asarray(tensor.array)).tag(*tensor.axes) for tensor in named(q, k, v)]
    scale = 1 / math.sqrt(q.shape[-1])
    dot, softmax = pz.nx.nmap(jnp.dot), pz.nx.nmap(jax.nn.softmax)

    def function(Q, K, V):
        weights = softmax((dot(Q.untag("key"), K.untag("key")) * scale).untag("seq"))
        return dot(weights, V.untag("seq"))

    order = axes(q, "queries", "val")
    return function, values, lambda result: np.asarray(result.unwrap(*order))


def both_ways(name: str, needs: tuple[str, ...], make) -> tuple[Side, Side]:
    """A library of named axes on JAX: each operation by itself, and the whole under jax.jit."""

    def eager(**arrays) -> Ready:
        import jax

        function, values, answer = make(**arrays)
        return Ready(lambda: jax.block_until_ready(function(*values)), answer)

    return Side(name, eager, needs), Side(f"{name}, jit", lambda **arrays: jitted(*make(**arrays)), needs)


HALIAX = both_ways("haliax", ("haliax",), with_haliax)
PENZAI = both_ways("penzai", ("penzai",), with_penzai)

# ------------------------------------------------------------------------------------------------------------- works
SMALL = {"heads": 2, "seq": 5, "key": 4}
BATCHED = SMALL | {"batch": 3}
PLAIN = (by_einsum, by_einops, by_einx, by_xarray)
COMPILING = (by_jit, HALIAX[1], PENZAI[1])
ALL = (by_compiled, by_torch, by_jax, *PLAIN, by_eager_torch, by_sdpa, *COMPILING)
WITH_BOTH = (*both(by_formula), *both(by_hand), *ALL)
BEST = (*both(by_formula), by_compiled, *both(by_hand), by_sdpa, by_jit)


def bars(most: float) -> tuple[Bar, ...]:
    return Bar(FORMULA, most, BY_HAND), Bar(COMPILED, most, BY_HAND)


def work(seq: int, batch: int = 0, sides=WITH_BOTH, **more) -> Work:
    sizes = {"heads": 8, "seq": seq, "key": 64} | ({"batch": batch} if batch else {})
    title = f"attention, {f'batch {batch}, ' if batch else ''}heads 8, key 64, seq {seq}"
    return Work(f"attention-{seq}", title, inputs, sides, sizes, BATCHED if batch else SMALL, memory=seq >= 512, **more)


WORKS = (
    Work(
        "attention-4", "attention, heads 2, key 8, seq 4", inputs,
        (by_evaluate, by_formula, by_hand, *ALL[:-3], by_jit, *HALIAX, *PENZAI),
        {"heads": 2, "seq": 4, "key": 8}, SMALL,
        bars=(Bar(EVALUATE, 1.0, BY_HAND), *bars(1.0)), threads=1,
    ),
    work(8, 0, (by_formula, by_hand, *ALL), threads=1),
    work(32),
    work(128, bars=bars(1.0)),
    work(512, bars=bars(0.8)),
    work(
        2048, 4, (*BEST, HALIAX[1], PENZAI[1]),
        bars=(*bars(0.65), Bar(FORMULA, 1.3, SDPA), Bar(COMPILED, 1.3, SDPA)), heavy=True,
    ),
    work(
        8192, 0, BEST,
        bars=(*bars(0.7), Bar(FORMULA, 50, of="memory"), Bar(COMPILED, 50, of="memory")), heavy=True,
    ),
)  # fmt: skip
