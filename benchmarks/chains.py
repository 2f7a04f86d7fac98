"""Chains of two cheap operations, from 10^5 to 10^7 numbers, beside one expression of NumPy.

Two libraries in one process, in turns; the ratio of a round is that to the mean of the calls by hand before and after, and
the control is the ratio of these two.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import namedtensor as nt

SIZES = (10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7)
DTYPES = ("float32", "float64")
CHAINS: dict[str, Callable[[Any, Any], Any]] = {
    "X Y + X": lambda x, y: x * y + x,
    "2 X + Y": lambda x, y: 2 * x + y,
    "relu(X + Y)": lambda x, y: np.maximum(x + y, 0),
    "X Y - Y": lambda x, y: x * y - y,
}
NUMBERS, LEAST, MOST = 3e7, 9, 101  # numbers of all rounds together, rounds at least and at most
MAX_RATIO = 1.05
HAND = "NumPy"


def drawn(size: int, dtype: str) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [generator.standard_normal((size // 100, 100)).astype(dtype) for _ in range(2)]


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ratios(text: str, size: int, dtype: str) -> tuple[float, float]:
    """The median of ours over NumPy's, and of NumPy's over NumPy's."""
    x, y = drawn(size, dtype)
    X, Y = nt.tensor(x, "a b"), nt.tensor(y, "a b")
    formula, by_hand = nt.formula(f"f(X, Y) = {text}"), CHAINS[text]
    ours, theirs = lambda: formula(X, Y), lambda: by_hand(x, y)
    np.testing.assert_allclose(ours().to_array("a b"), theirs(), rtol=1e-5, atol=1e-6)
    for _ in range(3):
        ours(), theirs()
    rounds = [
        (seconds(theirs), seconds(ours), seconds(theirs)) for _ in range(max(LEAST, min(MOST, round(NUMBERS / size))))
    ]
    between = (2 * ours_seconds / (before + after) for before, ours_seconds, after in rounds)
    return statistics.median(between), statistics.median(before / after for before, _, after in rounds)


def rows(sizes: tuple[int, ...] = SIZES) -> list[dict]:
    """A row for each chain, size and dtype, and for each size and dtype the control."""
    result = []
    for size in sizes:
        for dtype in DTYPES:
            controls = []
            for text in CHAINS:
                ratio, control = ratios(text, size, dtype)
                controls.append(control)
                figure = f"chain {text}, {size:,} numbers, {dtype}"
                result.append({"figure": figure, "value": ratio, "unit": f"× {HAND}", "bar": MAX_RATIO})
            figure = f"chains, {size:,} numbers, {dtype}: control, {HAND} against itself"
            result.append({"figure": figure, "value": statistics.median(controls), "unit": f"× {HAND}", "bar": None})
    return result
