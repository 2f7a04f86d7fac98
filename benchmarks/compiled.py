"""Whole formulas against the same by hand, as NumPy, PyTorch and JAX do it best: what a formula costs, or saves."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np

import namedtensor as nt

from .measure import compare
from .start import ATTENTION, attention_by_hand, attention_tensors

MEASURED = ((4, 2, 8, 1.0), (128, 8, 64, 1.0), (512, 8, 64, 0.8), (2048, 8, 64, 0.65))  # seq, heads, key, bar


def gelu_by_hand(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))


def standardize_by_hand(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def attention() -> list[dict]:
    rows = []
    for seq, heads, key, bar in MEASURED:
        named, arrays = attention_tensors(seq, heads, key)
        rounds, repeat = (40, 100) if seq < 64 else (max(3, 2048 // seq), max(1, 512 // seq))
        ratio = compare(
            lambda n=named: nt.evaluate(ATTENTION, n), lambda a=arrays: attention_by_hand(*a), rounds, repeat
        )[0]
        figure = f"attention, heads {heads}, seq {seq}, key {key}"
        rows.append({"figure": figure, "value": ratio, "unit": "× NumPy", "bar": bar})
    return rows


def memory() -> dict:
    """What attention over 8192 needs besides its inputs and its output."""
    named, _ = attention_tensors(8192, 8, 64)
    tracemalloc.start()
    result = nt.evaluate(ATTENTION, named)
    peak = tracemalloc.get_traced_memory()[1] - result.array.nbytes
    tracemalloc.stop()
    return {"figure": "attention, heads 8, seq 8192: memory", "value": peak / 1e6, "unit": "MB", "bar": 50}


def chains() -> list[dict]:
    generator = np.random.default_rng(0)
    rows = []
    for size, bar in ((8, 0.6), (256, 1.05)):
        a, b, c = (generator.standard_normal((size, size)) for _ in range(3))
        v = generator.standard_normal(size)
        given = {"A": nt.tensor(a, "a b"), "B": nt.tensor(b, "b c"), "C": nt.tensor(c, "c d"), "v": nt.tensor(v, "d")}
        text = "((A ⊙_{b} B) ⊙_{c} C) ⊙_{d} v"
        ratio = compare(
            lambda t=text, g=given: nt.evaluate(t, g), lambda a=a, b=b, c=c, v=v: a @ (b @ (c @ v)), 20, 100
        )[0]
        rows.append({"figure": f"A B C v, n = {size}", "value": ratio, "unit": "× the best order", "bar": bar})
    return rows


def elementwise() -> list[dict]:
    x = np.random.default_rng(0).standard_normal((4096, 4096), dtype=np.float32)
    X = nt.tensor(x, "rows columns")
    pairs: dict[str, tuple[str, Callable]] = {
        "GELU (tanh) on 64 MB": ("gelu_tanh(X)", gelu_by_hand),
        "standardize on 64 MB": ("standardize_{columns} X", standardize_by_hand),
    }
    return [
        {"figure": figure, "value": compare(lambda t=text: nt.evaluate(t, X=X), lambda f=hand: f(x), 5, 1)[0], "unit": "× NumPy",
         "bar": 0.4}
        for figure, (text, hand) in pairs.items()
    ]  # fmt: skip


def torch_rows() -> list[dict]:
    """Attention against PyTorch's own, where it is installed."""
    try:
        import torch
    except ImportError:
        return []
    named, arrays = attention_tensors(512, 8, 64)
    own = {name: nt.tensor(torch.asarray(value.array), value.axes) for name, value in named.items()}
    q, k, v = (torch.asarray(array)[None] for array in arrays)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    ratio = compare(lambda: nt.evaluate(ATTENTION, own), lambda: sdpa(q, k, v), 20, 3)[0]
    return [{"figure": "attention, seq 512, PyTorch", "value": ratio, "unit": "× its own", "bar": 1.03}]


def rows() -> list[dict]:
    return [*attention(), memory(), *chains(), *elementwise(), *torch_rows()]
