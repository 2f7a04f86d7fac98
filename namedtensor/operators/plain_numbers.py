"""Compute the results of operators on plain numbers during the check of a formula (constant folding)."""

from __future__ import annotations

import math
from typing import Any


def to_float(number: int) -> float:
    """Convert an integer of any size to a float, which is infinite if the integer is too large.

    >>> to_float(-(10**400))
    -inf
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def quotient(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    return left / right


def power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent >= 0 and abs(base) > 1 and exponent * max(1, abs(base).bit_length()) > 1024:
            return float(base) ** exponent
        return _exact(base**exponent) if exponent >= 0 else float(base) ** exponent
    return float(base) ** exponent


def product(left: Any, right: Any) -> Any:
    return _exact(left * right)


def _exact(number: Any) -> Any:
    """Convert an integer beyond ±2^53, which a float may not represent exactly, to a float. Keep any other number."""
    return float(number) if type(number) is int and abs(number) > 2**53 else number


def conjunction(left: bool, right: bool) -> bool:
    return left and right


def disjunction(left: bool, right: bool) -> bool:
    return left or right
