"""Each optimization, and the plan without it, on numbers near the ends of the range of every float dtype.

An element that the plan without an optimization computes right must be right with it. The ordinary run takes a sample that
rotates (`rotation_seed`), and --slow a larger one; NAMEDTENSOR_OPTIMIZATIONS=all takes all sizes and ranges.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import namedtensor as nt
from namedtensor.planning.optimizations import OPTIMIZATIONS

from .rotation import rotation_seed

WHOLE = os.environ.get("NAMEDTENSOR_OPTIMIZATIONS") == "all"
SEED = rotation_seed()


class Case(NamedTuple):
    """A formula, the axes of its inputs, sizes for which its plan has the optimization and others, and its value by hand
    with the axes of that value.

    `by_hand` takes arrays of a wider dtype; `integers` are inputs of 8 bits. `sizes_by_hand` returns the sizes of the
    numbers that are added to an element, if they may cancel.
    """

    text: str
    axes: dict[str, str]
    sizes: tuple[dict[str, int], ...]
    by_hand: Callable[..., Any]
    order: str
    integers: tuple[str, ...] = ()
    sizes_by_hand: Callable[..., Any] | None = None


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def normalize(X, g, b):
    away = X - X.mean(-1, keepdims=True)
    return away / np.sqrt((away**2).mean(-1, keepdims=True) + 1e-5) * g + b


ATTENTION = "softmax_{k}(Q ⊙_{d} K) ⊙_{k} V"
OF_ATTENTION = {"Q": "q d", "K": "k d", "V": "k v"}
attention = lambda Q, K, V: softmax(Q @ K.T) @ V
CASES = {
    "in-place": [
        Case("tanh(X ⊙ Y) ⊙ X + X", {"X": "a", "Y": "a"}, ({"a": 5}, {"a": 40_000}), lambda X, Y: np.tanh(X * Y) * X + X, "a"),
    ],
    "typed-constants": [Case("X / 4 + 0.5", {"X": "a b"}, ({"a": 2, "b": 3}, {"a": 90, "b": 80}), lambda X: X / 4 + 0.5, "a b")],
    "broadcast-constants": [
        Case("max(X, 0.5)", {"X": "a b"}, ({"a": 15, "b": 64}, {"a": 32, "b": 64}), lambda X: np.maximum(X, 0.5), "a b"),
    ],
    "contraction-order": [
        Case("A ⊙_{m} B ⊙_{k} C", {"A": "n m", "B": "m k", "C": "k"}, ({"n": 2, "m": 3, "k": 2}, {"n": 130, "m": 120, "k": 100}),
             lambda A, B, C: A @ B @ C, "n"),
        Case("A ⊙_{m} B ⊙_{k} C ⊙_{j} D", {"A": "n m", "B": "m k", "C": "k j", "D": "j"},
             ({"n": 2, "m": 3, "k": 2, "j": 2}, {"n": 3000, "m": 30, "k": 20, "j": 15}), lambda A, B, C, D: A @ B @ C @ D, "n"),
        Case("A ⊙_{m} (B ⊙_{k} C)", {"A": "m", "B": "m k", "C": "k j"}, ({"m": 3, "k": 2, "j": 4}, {"m": 120, "k": 130, "j": 110}),
             lambda A, B, C: A @ B @ C, "j"),
        Case("X ⊙ Y ⊙_{k} Z", {"X": "b c", "Y": "b k", "Z": "k"}, ({"b": 2, "c": 3, "k": 2}, {"b": 60, "c": 50, "k": 60}),
             lambda X, Y, Z: X * (Y @ Z)[:, None], "b c"),
        Case("∑_{a, b} x ⊙ y", {"x": "a", "y": "b"}, ({"a": 2, "b": 3}, {"a": 400, "b": 500}), lambda x, y: x.sum() * y.sum(), ""),
        Case("∂(∑_{n} g ⊙ (A ⊙_{m} B ⊙_{k} C))/∂B", {"A": "n m", "B": "m k", "C": "k", "g": "n"},
             ({"n": 2, "m": 3, "k": 2}, {"n": 130, "m": 120, "k": 100}), lambda A, B, C, g: np.outer(g @ A, C), "m k"),
        Case("∑_{a} c ⊙ X", {"c": "", "X": "a"}, ({"a": 4}, {"a": 700}), lambda c, X: (c * X).sum(), ""),
        Case("∑_{a} g ⊙ X", {"g": "b", "X": "a b"}, ({"a": 4, "b": 2}, {"a": 700, "b": 6}), lambda g, X: (g * X).sum(0), "b"),
        Case("∑_{a, b} g ⊙ X", {"g": "b", "X": "a b"}, ({"a": 4, "b": 2}, {"a": 90, "b": 80}), lambda g, X: (g * X).sum(), ""),
        Case("∑_{a} X ⊙ Y", {"X": "a b", "Y": "a b"}, ({"a": 3, "b": 2}, {"a": 90, "b": 80}), lambda X, Y: (X * Y).sum(0), "b"),
    ],
    "deferred-normalization": [
        Case("softmax_{k}(S) ⊙_{k} V", {"S": "q k", "V": "k v"}, ({"q": 2, "k": 3, "v": 4}, {"q": 2, "k": 100, "v": 3}),
             lambda S, V: softmax(S) @ V, "q v"),
    ],
    "unshifted-softmax": [
        Case("softmax_{k}(S)", {"S": "q k"}, ({"q": 2, "k": 5}, {"q": 70, "k": 90}), lambda S: softmax(S), "q k"),
    ],
    "score-order": [
        Case("softmax_{k}(K ⊙_{d} Q)", {"K": "k d", "Q": "q d"}, ({"k": 3, "d": 2, "q": 2}, {"k": 90, "d": 2, "q": 80}),
             lambda K, Q: softmax(Q @ K.T), "q k"),
    ],
    "scale-smaller-operand": [
        Case(text, {"X": "n k", "W": "k m"}, ({"n": 2, "k": 4, "m": 3}, {"n": 2, "k": 4, "m": 300}), by_hand, "n m")
        for text, by_hand in (
            ("(X ⊙_{k} W) / 8", lambda X, W: X @ W / 8), ("(X ⊙_{k} W) ⊙ 1000", lambda X, W: X @ W * 1000),
            ("(X ⊙_{k} W) / 1024", lambda X, W: X @ W / 1024),
        )
    ],
    "attention": [
        Case("softmax_{k}(Q ⊙_{d} K / 2) ⊙_{k} V", OF_ATTENTION, ({"q": 2, "k": 3, "d": 2, "v": 2}, {"q": 30, "k": 50, "d": 2, "v": 2}),
             lambda Q, K, V: softmax(Q @ K.T / 2) @ V, "q v"),
        Case("softmax_{k}(Q ⊙_{d} K / 4096) ⊙_{k} V", OF_ATTENTION, ({"q": 2, "k": 3, "d": 2, "v": 3}, {"q": 30, "k": 50, "d": 2, "v": 3}),
             lambda Q, K, V: softmax(Q @ K.T / 4096) @ V, "q v"),
    ],
    "layer-norm": [
        Case("(X − mean_{a} X) / √(var_{a} X + 0.00001) ⊙ g + b", {"X": "n a", "g": "a", "b": "a"}, ({"n": 2, "a": 3}, {"n": 30, "a": 64}),
             normalize, "n a", sizes_by_hand=lambda X, g, b: X.max(-1, keepdims=True) / X.std(-1, keepdims=True) * g + b),
    ],
    "linear": [
        Case("X ⊙_{a} W + b", {"X": "n a", "W": "a m", "b": "m"}, ({"n": 2, "a": 3, "m": 2}, {"n": 40, "a": 50, "m": 30}),
             lambda X, W, b: X @ W + b, "n m"),
    ],
    "tiling": [
        Case("exp(−X²) ⊙ X / (1 + X²) + X", {"X": "a b"}, ({"a": 3, "b": 5}, {"a": 1100, "b": 1000}, {"a": 1500, "b": 1400}),
             lambda X: np.exp(-X * X) * X / (1 + X * X) + X, "a b"),
    ],
    "online-softmax": [
        Case(ATTENTION, OF_ATTENTION, ({"q": 4, "k": 5, "d": 2, "v": 3}, {"q": 700, "k": 1100, "d": 32, "v": 32}), attention, "q v"),
    ],
    "layer-tiling": [
        Case("X + tanh(X ⊙_{a} W) ⊙_{h} U", {"X": "n a", "W": "a h", "U": "h a"}, ({"n": 4, "a": 3, "h": 5}, {"n": 601, "a": 240, "h": 500}),
             lambda X, W, U: X + np.tanh(X @ W) @ U, "n a"),
    ],
    "blas-thread-limit": [
        Case(ATTENTION, OF_ATTENTION, ({"q": 4, "k": 5, "d": 2, "v": 3}, {"q": 1500, "k": 900, "d": 16, "v": 16}), attention, "q v"),
    ],
    "slice-update": [
        Case("{ x if iota_{b} = 2; X otherwise }", {"x": "a", "X": "a b"}, ({"a": 2, "b": 3}, {"a": 90, "b": 80}),
             lambda x, X: np.where(np.arange(X.shape[1]) == 1, x[:, None], X), "a b"),
    ],
    "scaled-integers": [
        Case("X ⊙_{a} (Q ⊙ s)", {"X": "n a", "Q": "m a", "s": "m"}, ({"n": 2, "a": 3, "m": 2}, {"n": 5, "a": 700, "m": 6}),
             lambda X, Q, s: X @ (Q * s[:, None]).T, "n m", ("Q",)),
    ],
    "scaled-elements": [
        Case("(Q ⊙ s)_{m(i)}", {"Q": "m a", "s": "m", "i": "n"}, ({"a": 3, "m": 99, "n": 2}, {"a": 70, "m": 99, "n": 60}),
             lambda Q, s, i: (Q * s[:, None])[i.astype(int) - 1], "n a", ("Q", "i")),
    ],
    "small-sum-as-matmul": [
        Case("∑_{b} (X / 64)", {"X": "a b"}, ({"a": 3, "b": 5}, {"a": 300, "b": 40}, {"a": 30, "b": 700}), lambda X: (X / 64).sum(1), "a"),
    ],
}  # fmt: skip
DTYPES = {
    "numpy": ("float16", "bfloat16", "float32", "float64", "longdouble"),
    "torch": ("float16", "bfloat16", "float32", "float64"),
    "jax": ("float16", "bfloat16", "float32", "float64"),
}
LIBRARIES = {
    row.name: tuple(library for library in DTYPES if library in (row.targets or DTYPES))
    for row in OPTIMIZATIONS.values()
}
ALL = [(name, library, dtype) for name in OPTIMIZATIONS for library in LIBRARIES[name] for dtype in DTYPES[library]]
NEAR: tuple[str, ...] = ("ordinary", "largest", "smallest")


def test_every_optimization_has_a_case():
    assert set(CASES) == set(OPTIMIZATIONS)


def limits(dtype: str) -> Any:
    if dtype != "bfloat16":
        return np.finfo(dtype)
    return pytest.importorskip("ml_dtypes").finfo("bfloat16")


def sample_arrays(case: Case, sizes: dict[str, int], near: dict[str, str], dtype: str) -> dict[str, Any]:
    """Return arrays of extended precision whose numbers the dtype represents, ordinary or within a factor of 10 of an end."""
    draw, ends = np.random.default_rng(SEED), limits(dtype)
    lowest = {
        "ordinary": np.longdouble(0.25),
        "largest": np.longdouble(ends.max) / 10,
        "smallest": np.longdouble(ends.smallest_normal),
    }
    arrays = {}
    for name, axes in case.axes.items():
        shape = [sizes[axis] for axis in axes.split()]
        factor = draw.integers(1, 100, shape) if name in case.integers else draw.uniform(1, 9.5, shape)
        exact = factor if name in case.integers else lowest[near[name]] * factor
        arrays[name] = np.asarray(exact, np.int8 if name in case.integers else rounding(dtype))
    return arrays


def rounding(dtype: str) -> Any:
    return pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else np.dtype(dtype)


def slot(array: np.ndarray, library: str, dtype: str) -> Any:
    """Return an array of a library."""
    if library == "numpy":
        return array
    if library == "jax":
        return pytest.importorskip("jax.numpy").asarray(array)
    torch = pytest.importorskip("torch")
    return (
        torch.tensor(array) if array.dtype == np.int8 else torch.tensor(array.astype(float)).to(getattr(torch, dtype))
    )


def value(case: Case, tensors: dict[str, Any], library: str, disable: tuple[str, ...]) -> np.ndarray:
    result = nt.formula(case.text).compile(library, disable=disable)(values=tensors)
    array = result.to_array(tuple(case.order.split()))
    return np.asarray(array.double() if library == "torch" else array).astype(np.longdouble)


def compare(name: str, case: Case, sizes: dict[str, int], near: dict[str, str], library: str, dtype: str) -> bool:
    """Compare a plan with and without an optimization; return whether the one without computes an element right."""
    arrays, ends = sample_arrays(case, sizes, near, dtype), limits(dtype)
    tensors = {name: nt.tensor(slot(array, library, dtype), case.axes[name]) for name, array in arrays.items()}
    with np.errstate(all="ignore"):
        wide = np.longdouble if dtype in ("float64", "longdouble") else np.float64
        off, on = (value(case, tensors, library, disable) for disable in ((name,), ()))
        given = {key: array.astype(wide) for key, array in arrays.items()}
        exact = np.asarray(case.by_hand(**given))
        size = np.abs(exact) if case.sizes_by_hand is None else case.sizes_by_hand(**given)
        tolerance = np.longdouble(ends.eps) * (32 + 2 * math.sqrt(max(sizes.values()))) * size
        normal = (np.abs(exact) >= np.longdouble(ends.smallest_normal)) & (np.abs(exact) <= np.longdouble(ends.max))
        right = normal & (np.abs(off - exact) <= tolerance)
        wrong = right & ~(np.abs(on - exact) <= 4 * tolerance)
    report = f"{case.text} with {sizes} and {near}: {on[wrong][:3]} instead of {exact[wrong][:3]}"
    assert not wrong.any(), report
    return bool(right.any())


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("name", "library", "dtype"), ALL)
def test_an_optimization_keeps_what_is_right_without_it(name, library, dtype, request):
    pytest.importorskip(library)
    if library == "jax" and dtype == "float64":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)  # set back by tests/conftest.py
    more = 3 if request.config.getoption("--slow") else 1
    choose = random.Random(f"{SEED} {name} {library} {dtype}")
    for case in CASES[name]:
        floats = [key for key in case.axes if key not in case.integers]
        ordinary, *others = (dict(zip(floats, near)) for near in itertools.product(NEAR, repeat=len(floats)))
        sizes = (
            case.sizes[:1] if (name, dtype) == ("layer-tiling", "longdouble") else case.sizes
        )  # the others take minutes
        for size in sizes if WHOLE else choose.sample(sizes, min(more, len(sizes))):
            chosen = others if WHOLE else choose.sample(others, min(2 * more, len(others)))
            right = [compare(name, case, size, near, library, dtype) for near in (ordinary, *chosen)]
            assert right[0] and (any(right[1:]) or not WHOLE or not others), case.text


@pytest.mark.parametrize("name", [name for name in OPTIMIZATIONS if "numpy" in LIBRARIES[name]])
def test_the_larger_sizes_of_a_case_have_the_optimization(name):
    """Else the comparison would be of equal plans."""
    for case in CASES[name][:1]:
        arrays = sample_arrays(case, case.sizes[1], dict.fromkeys(case.axes, NEAR[0]), "float64")
        tensors = {key: nt.tensor(array, case.axes[key]) for key, array in arrays.items()}
        texts = []
        for disable in ((), (name,)):
            compiled = nt.formula(case.text).compile("numpy", disable=disable)
            compiled(values=tensors)
            texts.append((compiled.source, str(compiled.plan)))
        assert texts[0] != texts[1], case.text
