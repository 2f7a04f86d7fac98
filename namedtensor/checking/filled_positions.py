"""Positions of an axis that equations for elements fill, as Y_{a(2k)} = … for k = 1, …, n does with 2, 4, …, 2n."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..core.extents import Extent, Size, UndecidedSize
from ..core.sizes import is_ground, unify


class Positions(NamedTuple):
    """first, first + step, …, so many; where the form of a program does not depend on how many these are."""

    first: Size
    step: int
    count: Size

    @property
    def last(self) -> Size:
        return self.first + self.step * (self.count - 1)


Filled: TypeAlias = "list[Any] | Positions"


def numbers_to(first: Size, last: Size) -> range | Positions:
    is_open = Extent in (type(first), type(last))
    return Positions(first, 1, last - first + 1) if is_open else range(first, last + 1)


def positions_at(numbers: Positions, position: Callable[[Size], Any]) -> Positions:
    """The positions that an index takes for numbers. Raises UndecidedSize where it does not grow by a fixed step."""
    first, second, third = (position(numbers.first + at) for at in range(3))
    step = second - first
    if type(step) is not int or step < 1 or third - second != step:
        raise UndecidedSize(next(size for size in (numbers.first, numbers.count) if isinstance(size, Extent)))
    return Positions(first, step, numbers.count)


def length(filled: Filled) -> Size:
    return filled.count if isinstance(filled, Positions) else len(filled)


def count_of(taken: Sequence[Filled]) -> Size | None:
    """The n of the positions 1, …, n that are filled without a gap; None where others are."""
    if not any(isinstance(each, Positions) for each in taken):
        numbers = {number for each in taken for number in each}
        return len(numbers) if numbers == set(range(1, len(numbers) + 1)) else None
    waiting = [each for part in taken for each in ([part] if isinstance(part, Positions) else as_positions(part))]
    last: Size = 0
    while waiting:
        first = next((each for each in waiting if each.first == last + 1), None)
        side = [] if first is None else [
            next((each for each in waiting if each == (last + 1 + at, first.step, first.count)), None)
            for at in range(first.step)
        ]  # fmt: skip
        if first is None or None in side:
            return None
        waiting = [each for each in waiting if each not in side]
        last = last + first.step * first.count
    return last


def as_positions(numbers: Sequence[Any]) -> list[Positions]:
    return [Positions(number, 1, 1) for number in numbers]


def all_of(taken: Sequence[Filled], size: Any) -> list[int] | None:
    """The positions that are filled, in order; None where how many there are is open.

    Raises UndecidedSize where it is not clear that these are all positions of an axis of this size.
    """
    if not any(isinstance(each, Positions) for each in taken):
        return [number for each in taken for number in each]
    count = count_of(taken)
    if count is None and not is_ground(size):
        return None
    if count is None or not unify(count, size):
        raise UndecidedSize(next(each for part in taken for each in part if isinstance(each, Extent)))
    return None
