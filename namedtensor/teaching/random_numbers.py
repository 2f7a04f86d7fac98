"""Random numbers that are the same wherever Python runs, with NumPy and without."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

Draw = Callable[["RandomNumbers"], float]


class RandomNumbers:
    """A stream of numbers that a seed fixes.

    >>> [round(RandomNumbers("0 normal").normal(), 4) for _ in range(2)] == [round(RandomNumbers("0 normal").normal(), 4)] * 2
    True
    """

    def __init__(self, seed: str):
        self.uniformly = random.Random(seed).random

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self.uniformly()

    def whole(self, low: int, high: int) -> int:
        """One of low, …, high."""
        return low + int((high - low + 1) * self.uniformly())

    def normal(self) -> float:
        """By Box and Muller."""
        radius = math.sqrt(-2 * math.log(1 - self.uniformly()))
        return radius * math.cos(2 * math.pi * self.uniformly())


STYLES: dict[str, Draw] = {
    "normal": RandomNumbers.normal,
    "whole": lambda numbers: float(numbers.whole(-4, 4)),
    "positive": lambda numbers: numbers.uniform(0.2, 3.0),
    "large": lambda numbers: 6 * numbers.normal(),
    "small": lambda numbers: 0.01 * numbers.normal(),  # shows an ε that is missing
}
