"""Plain numbers: what an operator makes of them is known while checking."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def _quotient(left, right):
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    return left / right


def _power(base, exponent):
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent >= 0 and abs(base) > 1 and exponent * max(1, abs(base).bit_length()) > 1024:
            return float(base) ** exponent
        return _exact(base**exponent) if exponent >= 0 else float(base) ** exponent
    return float(base) ** exponent


def _product(left, right):
    return _exact(left * right)


def _exact(number):
    """A whole number where floating ones have no gap, else a floating one, as products of tensors are."""
    return float(number) if type(number) is int and abs(number) > 2**53 else number


FOLDED: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "⊙": _product,
    "juxtaposed": _product,
    "/": _quotient,
    "^": _power,
    "negative": lambda a: -a,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "max": max,
    "min": min,
    "=": lambda a, b: a == b,
    "≠": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "≤": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "≥": lambda a, b: a >= b,
    "∧": lambda a, b: a and b,
    "∨": lambda a, b: a or b,
    "¬": lambda a: not a,
    "odd": lambda a: a % 2 == 1,
    "even": lambda a: a % 2 == 0,
}


def fold(name: str, numbers: list, options) -> Any:
    """The value of an operator on plain numbers, or None where that is left to the arrays."""
    if None in numbers or name not in FOLDED or options:
        return None
    try:
        value = FOLDED[name](*numbers)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(value, complex):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        value = float(value) if abs(value) < 10**308 else math.copysign(math.inf, value)
    return value


class Numbers(tuple):
    """The entries of a literal; compares by identity first, for it may hold many."""

    __slots__ = ()
