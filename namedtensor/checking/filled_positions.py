"""Compute the positions along an axis that equations for elements define.

For example, Y_{a(2k)} = … for k = 1, …, n defines the positions 2, 4, …, 2n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..core.extents import Extent, Size, UndecidedSizeError
from ..core.sizes import is_ground, unify


class Positions(NamedTuple):
    """The positions first, first + step, …. Their number may be unknown."""

    first: Size
    step: int
    count: Size

    @property
    def last(self) -> Size:
        return self.first + self.step * (self.count - 1)


Filled: TypeAlias = list[Any] | Positions


def numbers_to(first: Size, last: Size) -> range | Positions:
    is_open = Extent in (type(first), type(last))
    return Positions(first, 1, last - first + 1) if is_open else range(first, last + 1)


def positions_at(numbers: Positions, position: Callable[[Size], Any]) -> Positions:
    """Return the positions that an index such as 2k+1 selects, one per number.

    Raise UndecidedSizeError if the positions do not increase by a fixed step.
    """
    first, second, third = (position(numbers.first + at) for at in range(3))
    step = second - first
    if type(step) is not int or step < 1 or third - second != step:
        raise UndecidedSizeError(next(size for size in (numbers.first, numbers.count) if isinstance(size, Extent)))
    return Positions(first, step, numbers.count)


def length(filled: Filled) -> Size:
    return filled.count if isinstance(filled, Positions) else len(filled)


def count_of(taken: Sequence[Filled]) -> Size | None:
    """Return n if the defined positions are exactly 1, …, n, or None if they are not."""
    if not any(isinstance(positions, Positions) for positions in taken):
        numbers: set[int] = {number for positions in taken for number in positions}
        return len(numbers) if numbers == set(range(1, len(numbers) + 1)) else None
    parts: list[Positions] = [as_position for part in taken for as_position in to_positions(part)]
    waiting: dict[Any, Positions] = {part.first: part for part in parts}
    last: Size = 0
    while waiting:
        first = waiting.get(last + 1)
        side = [] if first is None else [waiting.pop(last + at, None) for at in range(1, first.step + 1)]
        if first is None or any(positions is None or positions[1:] != first[1:] for positions in side):
            return None
        last = last + first.step * first.count
    return last if len(parts) == len({part.first for part in parts}) else None


def to_positions(filled: Filled) -> list[Positions]:
    if isinstance(filled, Positions):
        return [filled]
    return [Positions(number, 1, 1) for number in filled]


def all_of(taken: Sequence[Filled], size: Any) -> list[int] | None:
    """Return the defined positions in the order of the equations, or None if their number is unknown.

    Raise UndecidedSizeError if the axis has a known size, but the equations do not provably define all positions.
    """
    if not any(isinstance(positions, Positions) for positions in taken):
        return [number for positions in taken for number in positions]
    count = count_of(taken)
    if count is None and not is_ground(size):
        return None
    if count is None or not unify(count, size):
        raise UndecidedSizeError(next(position for part in taken for position in part if isinstance(position, Extent)))
    return None
