"""Assertions about what draws estimate: whether estimates with several seeds are farther off than they differ among each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..core.tensor import NamedTensor
from ..programs.evaluate import evaluate

SEEDS, DRAWS, FAR = 12, 2000, 8  # estimates of an assertion, draws of each, and the standard errors that are too many


def farthest(source: str, values: Mapping[str, Any], sizes: Mapping[str, int]) -> float:
    """How many standard errors the mean of estimates of a difference is from 0, where it is the most."""
    numbers = [_numbers(source, {"draws": DRAWS, **values, "seed": seed}, sizes) for seed in range(1, SEEDS + 1)]
    return max((_standard_errors(item) for item in zip(*numbers)), default=0.0)


def _standard_errors(estimates: tuple[float, ...]) -> float:
    mean = sum(estimates) / SEEDS
    spread = math.sqrt(sum((estimate - mean) ** 2 for estimate in estimates) / (SEEDS - 1) / SEEDS)
    return abs(mean) / max(spread, 1e-9 * max(1, *map(abs, estimates)))


def _numbers(source: str, values: Mapping[str, Any], sizes: Mapping[str, int]) -> list[float]:
    """The numbers of a value, each axis in an order that is the same each time."""
    result = evaluate(source, dict(values), sizes=dict(sizes) or None, syntax="text")
    return result.to_numpy(sorted(result.axes)).ravel().tolist() if isinstance(result, NamedTensor) else [float(result)]
