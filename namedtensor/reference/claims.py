"""Checks of a program's assertions: equations hold within a tolerance, and values lie in the declared sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from grammar.errors import NotationError

from .definitions import Tensor, records, unite

TOLERANCE = 1e-6  # of the largest number on either side
ROUNDING = 32 * 2.0**-52  # relative to the magnitudes of the numbers in an element's computation


def check_equal(
    left: Tensor, right: Tensor, source: str, span: tuple[int, int], magnitudes: Callable[[], list[Tensor]]
) -> None:
    """Raise NotationError if two sides differ by more than the rounding error that these magnitudes allow."""
    places = [*records(unite(left.shape, right.shape))]
    scale = max((abs(side(at)) for at in places for side in (left, right) if abs(side(at)) < math.inf), default=0)
    for at in places:
        x, y = left(at), right(at)
        if not (x == y or abs(x - y) <= TOLERANCE * scale or (x != x and y != y)):
            if abs(x - y) <= ROUNDING * sum(side(at) for side in magnitudes()):
                continue
            message = f"assertion failed: left-hand side {x}, right-hand side {y}"
            raise NotationError(403, message, source, span)


MEMBERS: Mapping[str, Callable[[Any, Any], bool]] = {  # predicates of a number and the set's parameters
    "integers": lambda x, _: x == math.floor(x),
    "naturals": lambda x, _: x == math.floor(x) and x >= 0,
    "positive": lambda x, _: x > 0,
    "nonnegative": lambda x, _: x >= 0,
    "elements": lambda x, values: x in values,
    "interval": lambda x, ends: ends[0] <= x <= ends[1],
    "count": lambda x, ends: x == math.floor(x) and 1 <= x <= ends[0],
}


def check_member(tensor: Tensor, domain: str, ends: Any, source: str, span: tuple[int, int]) -> None:
    """Raise NotationError if an element of the tensor is not in the set."""
    for entry in tensor.entries.values():
        if not MEMBERS[domain](entry, ends):
            raise NotationError(407, f"{entry} does not lie in the declared set", source, span)
