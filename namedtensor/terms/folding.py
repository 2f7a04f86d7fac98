"""Constant folding: operators applied to plain numbers while checking."""

from __future__ import annotations

import math
from typing import Any

from ..core.extents import Extent, is_size
from ..operators.record import Operator

POLYNOMIAL = frozenset(("+", "-", "⊙", "negative"))  # operators that make a size of sizes


def fold(record: Operator, numbers: list[Any], options: Any) -> Any:
    """The value of an operator on plain numbers, or None where that is left to the arrays."""
    if record.folded is None or options or None in numbers:
        return None
    if Extent in map(type, numbers):
        return record.folded(*numbers) if record.name in POLYNOMIAL and all(map(is_size, numbers)) else None
    try:
        value = record.folded(*numbers)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(value, complex):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        value = float(value) if abs(value) < 10**308 else math.copysign(math.inf, value)
    return value


class Numbers(tuple[Any, ...]):
    """The entries of a literal; compares by identity first, for it may hold many."""

    __slots__ = ()
