"""Dual numbers v + d ε with ε² = 0: derivatives by plain Python, which looks at no case but the one that is taken.

The parts of one may be dual numbers again; so come second derivatives, and those after them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Unclear(Exception):
    """A comparison that rounding decides."""


class Dual(NamedTuple):
    v: Any
    d: Any

    def __add__(self, other):
        other = dual(other)
        return Dual(self.v + other.v, self.d + other.d)

    def __mul__(self, other):
        other = dual(other)
        return Dual(self.v * other.v, self.v * other.d + self.d * other.v)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -1 * dual(other)

    def __rsub__(self, other):
        return other + -self

    def __truediv__(self, other):
        return self * reciprocal(dual(other))

    def __rtruediv__(self, other):
        return other * reciprocal(self)


def dual(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(x, 0.0)


def plain(x: Any) -> float:
    """The number without any ε."""
    while isinstance(x, Dual):
        x = x.v
    return x


def slope(x: Any) -> Any:
    return x.d if isinstance(x, Dual) else 0.0


def function(value: Callable[[float], float], derivative: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of numbers as one of dual numbers."""

    def of(x: Any) -> Any:
        return Dual(of(x.v), derivative(x.v) * x.d) if isinstance(x, Dual) else value(x)

    return of


reciprocal = function(lambda x: 1 / x, lambda x: -1 * reciprocal(x) * reciprocal(x))
sqrt = function(math.sqrt, lambda x: reciprocal(2 * sqrt(x)))
log = function(math.log, lambda x: reciprocal(x))
exp = function(math.exp, lambda x: exp(x))
sin = function(math.sin, lambda x: cos(x))
cos = function(math.cos, lambda x: -1 * sin(x))


def above(x: Any, y: Any) -> bool:
    """x > y, where that is clear."""
    near = abs(plain(x) - plain(y))
    if 0 < near < 1e-9:
        raise Unclear
    return plain(x) > plain(y)


def gradient(program: Callable[[list], list], at: list) -> list[list]:
    """The derivative of each result by each argument."""
    columns = [
        [slope(y) for y in program([Dual(x, float(i == index)) for i, x in enumerate(at)])] for index in range(len(at))
    ]
    return [list(row) for row in zip(*columns)]
