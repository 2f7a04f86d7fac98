"""Functions on 64 MB, where each pass over the memory is what costs."""

from __future__ import annotations

import math

import numpy as np

import namedtensor as nt

from .attention import jitted
from .work import OURS, Bar, Ready, Side, Work, side

NAIVE = "NumPy as written"
IN_PLACE = "NumPy in place"
CHUNKS = "NumPy in place, in chunks"
CHUNK = 2**16  # floats: 256 kB
ROOT = np.float32(math.sqrt(2 / math.pi))
CUBE = np.float32(0.044715)
HALF, ONE = np.float32(0.5), np.float32(1)
EPSILON = np.float32(1e-5)


def inputs(seq: int, chans: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal((seq, chans), dtype=np.float32)}


def ours(formula: str) -> tuple[Side, ...]:
    def arguments(x, convert=lambda array: array) -> tuple:
        return nt.formula(f"f(X) = {formula}"), nt.tensor(convert(x), ("seq", "chans"))

    def on_numpy(x) -> Ready:
        function, X = arguments(x)
        return Ready(lambda: function(X), lambda result: result.to_array("seq chans"))

    def under_jit(x) -> Ready:
        import jax
        import jax.numpy as jnp

        function, X = arguments(x, jnp.asarray)
        compiled = jax.jit(function.__call__)
        call = lambda: jax.block_until_ready(compiled(X))
        call()
        return Ready(call, lambda result: np.asarray(result.to_array("seq chans")))

    return Side(OURS, on_numpy), Side(f"{OURS} under jax.jit", under_jit, ("jax",))


def peers(torch_function, jax_function) -> tuple[Side, ...]:
    def on_torch(x) -> Ready:
        import torch

        array = torch.from_numpy(x)
        return Ready(lambda: torch_function(torch)(array))

    def under_jit(x) -> Ready:
        import jax
        import jax.numpy as jnp

        return jitted(jax_function(jax, jnp), [jnp.asarray(x)])

    return Side("PyTorch", on_torch, ("torch",)), Side("jax.jit", under_jit, ("jax",))


def chunks(function):
    """In place on a few rows after the other, which stay in the cache."""

    def call(x):
        result = np.empty_like(x)
        rows = max(1, CHUNK // x.shape[-1])
        for start in range(0, len(x), rows):
            function(x[start : start + rows], result[start : start + rows])
        return result

    return call


def whole(function):
    def call(x):
        result = np.empty_like(x)
        function(x, result)
        return result

    return call


def on_numpy(name: str, function, needs: tuple[str, ...] = ()) -> Side:
    return Side(name, lambda x: Ready(lambda: function(x)), needs)


# -------------------------------------------------------------------------------------------------------------- GELU
def gelu_tanh(x):
    return HALF * x * (ONE + np.tanh(ROOT * (x + CUBE * (x * x * x))))


def gelu_tanh_into(x, out):
    np.multiply(x, x, out)
    out *= ROOT * CUBE
    out += ROOT
    out *= x
    np.tanh(out, out)
    out += ONE
    out *= x
    out *= HALF


@side(NAIVE, needs=("scipy",))
def gelu_naive(x) -> Ready:
    from scipy.special import erf

    root = np.float32(1 / math.sqrt(2))
    return Ready(lambda: HALF * x * (ONE + erf(x * root)))


@side(CHUNKS, needs=("scipy",))
def gelu_chunks(x) -> Ready:
    from scipy.special import erf

    root = np.float32(1 / math.sqrt(2))

    def into(x, out):
        np.multiply(x, root, out)
        erf(out, out)
        out += ONE
        out *= x
        out *= HALF

    call = chunks(into)
    return Ready(lambda: call(x))


# ------------------------------------------------------------------------------------------------------- standardize
def standardize(x):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + EPSILON)


def standardize_into(x, out):
    """Centered, then scaled by the root of the mean of squares: one temporary, which is the result."""
    size = np.float32(x.shape[-1])
    np.subtract(x, np.add.reduce(x, -1, None, None, True) / size, out)
    out /= np.sqrt(np.vecdot(out, out) / size + EPSILON)[..., None]


# ------------------------------------------------------------------------------------------------------------- works
SIZES, SMALL = {"seq": 32768, "chans": 512}, {"seq": 7, "chans": 5}
BARS = (Bar(OURS, 0.4, NAIVE),)


def work(name: str, title: str, sides: tuple[Side, ...]) -> Work:
    return Work(name, f"{title}, 64 MB", inputs, sides, SIZES, SMALL, NAIVE, BARS, memory=True)


WORKS = (
    work("gelu", "GELU (erf)", (
        *ours("gelu(X)"), gelu_naive, gelu_chunks,
        *peers(lambda torch: torch.nn.functional.gelu, lambda jax, jnp: lambda x: jax.nn.gelu(x, approximate=False)),
    )),
    work("gelu-tanh", "GELU (tanh)", (
        *ours("gelu_tanh(X)"), on_numpy(NAIVE, gelu_tanh), on_numpy(IN_PLACE, whole(gelu_tanh_into)),
        on_numpy(CHUNKS, chunks(gelu_tanh_into)),
        *peers(lambda torch: lambda x: torch.nn.functional.gelu(x, approximate="tanh"), lambda jax, jnp: jax.nn.gelu),
    )),
    work("standardize", "standardize", (
        *ours("standardize_{chans} X"), on_numpy(NAIVE, standardize), on_numpy(IN_PLACE, whole(standardize_into)),
        on_numpy(CHUNKS, chunks(standardize_into)),
        *peers(
            lambda torch: lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
            lambda jax, jnp: lambda x: jax.nn.standardize(x, axis=-1, epsilon=float(EPSILON)),
        ),
    )),
)  # fmt: skip
