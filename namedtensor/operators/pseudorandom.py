"""Define a counter-based pseudorandom generator, uniform(i, j, …), elementwise (paper §3.2).

The generator maps integers, such as a seed and a sample's index, to a number between 0 and 1.

The number depends only on these integers. Every library therefore computes the same numbers, in any order and on
several devices. The state of the Feistel network consists of three digits in base `PRIME`. All integers are below 2^24,
so single precision represents them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..core.axes import Order
from .builder import OperatorBuilder
from .elementwise import SECTION
from .record import MANY, A, Example, Operator, register

PRIME = 2887  # The largest prime p with 2 p² + 2 p < 2^24.
ROUNDS, LAST = 4, 8  # The number of rounds after each number, and at the end.
KEYS = tuple((1733 * n**3 + 1103 * n**2 + 547) % PRIME for n in range(1, 41))
START = (1, 2, 3)


class PseudorandomSteps:
    """Arithmetic on plain numbers, or on values of a plan. In the second case, each operation is a step of the plan."""

    def __init__(self, b: Any = None):
        self.b = b

    def add(self, x: Any, y: Any) -> Any:
        return x + y if both_plain(x, y) else self.b.add(x, y)

    def multiply(self, x: Any, y: Any) -> Any:
        return x * y if both_plain(x, y) else self.b.multiply(x, y)

    def remainder(self, x: Any, y: int) -> Any:
        return x % y if both_plain(x, y) else self.b.remainder(x, y)

    def whole_part(self, x: Any, rest: Any) -> Any:
        """Compute the integer (x − rest) / PRIME exactly, even if the division is rounded."""
        if both_plain(x, rest):
            return (x - rest) // PRIME
        return self.b.floor(self.b.add(self.b.divide(self.b.subtract(x, rest), float(PRIME)), 0.5))


def both_plain(x: Any, y: Any) -> bool:
    return type(x) is type(y) is int


def scramble(by: PseudorandomSteps, numbers: tuple[Any, ...]) -> Any:
    """Compute an integer from 0 to PRIME² − 1 that depends on the numbers, with the arithmetic of `by`."""
    state: tuple[Any, Any, Any] = START
    keys = [*KEYS]

    def rounds(count: int) -> None:
        nonlocal state
        for _ in range(count):
            key = keys.pop(0)
            keys.append(key)
            first, second, third = state
            mixed = by.add(by.multiply(second, by.add(third, key)), by.add(first, key))
            state = second, third, by.remainder(mixed, PRIME)

    for number in numbers:
        digits: list[Any] = []
        for _ in START:
            rest = by.remainder(number, PRIME)
            digits.append(rest)
            number = by.whole_part(number, rest)
        state = tuple(by.remainder(by.add(old, new), PRIME) for old, new in zip(state, reversed(digits)))  # type: ignore[assignment]
        rounds(ROUNDS)
    rounds(LAST)
    return by.add(by.multiply(state[1], PRIME), state[2])


def definition(*numbers: Any) -> float:
    """Compute uniform for plain numbers. Round them down to integers."""
    if not all(-math.inf < number < math.inf for number in numbers):
        return math.nan
    return (scramble(PseudorandomSteps(), tuple(int(number // 1) for number in numbers)) + 0.5) / PRIME**2


def _uniform(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]) -> Any:
    numbers = b.coerced(arguments, "floats")
    dtype = next((number.dtype for number in numbers if hasattr(number, "dtype")), None)
    wide = b.target.canonical("float64")
    counts = tuple(
        int(number // 1) if isinstance(number, (int, float)) else b.floor(b.cast(b.array(number), wide))
        for number in numbers
    )
    result = scramble(PseudorandomSteps(b), counts)
    if type(result) is int:
        return b.constant((result + 0.5) / PRIME**2)
    result = b.divide(b.add(result, 0.5), float(PRIME**2))
    return result if dtype is None else b.cast(result, dtype)


register(
    Operator(
        "uniform", "elementwise", "->", _uniform,
        "a pseudorandom number between 0 and 1, determined by integers", "(h(X) + 0.5) / p**2 for a scrambling h",
        SECTION, arity=(1, MANY), differentials=("0",), definition=definition, finite="always", sign="≥ 0", method=False,
        example=Example("(A, 7)", (A,)),
    )
)  # fmt: skip
