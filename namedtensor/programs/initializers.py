"""Initializers of parameters, which are constants and distributions. Their public module is `nt.initializers`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class Constant:
    """An initializer that assigns the same value to each element."""

    value: float

    def draw(self, generator: Any, extent: tuple[int, ...], variables: Mapping[str, float]) -> Any:
        import numpy as np

        return np.full(extent, self.value)


@dataclass(frozen=True)
class Normal:
    """A normal distribution with mean 0. Its `stddev` is a formula in `fan_in`, `fan_out` and the sizes."""

    stddev: str

    def draw(self, generator: Any, extent: tuple[int, ...], variables: Mapping[str, float]) -> Any:
        return generator.standard_normal(extent) * _number(self.stddev, variables)


@dataclass(frozen=True)
class Uniform:
    """A uniform distribution from −`bound` to `bound`. The bound is a formula in `fan_in`, `fan_out` and the sizes."""

    bound: str

    def draw(self, generator: Any, extent: tuple[int, ...], variables: Mapping[str, float]) -> Any:
        bound = _number(self.bound, variables)
        return generator.uniform(-bound, bound, extent)


Initializer = Constant | Normal | Uniform
Initializers = Mapping[str, Initializer]

ones, zeros = Constant(1.0), Constant(0.0)
lecun_normal = Normal("√(1 / fan_in)")
glorot_uniform = Uniform("√(6 / (fan_in + fan_out))")
he_normal = Normal("√(2 / fan_in)")


def _number(formula: str, variables: Mapping[str, float]) -> float:
    words = re.findall(r"\w+", formula)
    return _value(formula, tuple([item for item in variables.items() if item[0] in words]))


@lru_cache(maxsize=256)
def _value(formula: str, variables: tuple[tuple[str, float], ...]) -> float:
    """Return the value of a formula for these variables. The value is cached, because many layers have equal sizes."""
    from .evaluate import evaluate

    return float(evaluate(formula, dict(variables)))
