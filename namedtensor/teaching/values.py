"""Tensors as plain numbers, and formulas computed on them: by NumPy, or where it is not installed by the definitions.

Value(("n", "m"), (3, 2), (0.5, 1.0, …))         numbers row by row, as its axes are listed
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grammar.locks import LOADING, all_or_none

if TYPE_CHECKING:
    from ..core.tensor import NamedTensor


@dataclass(frozen=True)
class GradedValue:
    """A tensor as plain numbers, the last axis fastest."""

    axes: tuple[str, ...]
    extent: tuple[int, ...]
    numbers: tuple[Any, ...]

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.axes, self.extent))

    @property
    def number(self) -> float:
        """Of a value without axes."""
        return float(self.numbers[0])

    def laid_out(self, order: Sequence[str]) -> GradedValue:
        """The same with its axes in another order.

        >>> GradedValue(("a", "b"), (2, 2), (1, 2, 3, 4)).laid_out(("b", "a")).numbers
        (1, 3, 2, 4)
        """
        if tuple(order) == self.axes:
            return self
        steps = dict(zip(self.axes, strides(self.extent)))
        extent = tuple(self.sizes[axis] for axis in order)
        places = (sum(map(int.__mul__, record, (steps[axis] for axis in order))) for record in records(extent))
        return GradedValue(tuple(order), extent, tuple(self.numbers[position] for position in places))

    def along(self, at: int) -> Iterator[tuple[Any, ...]]:
        """The rows along one of the axes."""
        order = (*self.axes[:at], *self.axes[at + 1 :], self.axes[at])
        numbers, size = self.laid_out(order).numbers, self.extent[at]
        return (numbers[start : start + size] for start in range(0, len(numbers), size or 1))

    def named(self) -> NamedTensor:
        """As a tensor of NumPy."""
        import numpy as np

        with LOADING, all_or_none():
            from ..core.tensor import tensor

        return tensor(np.asarray(self.numbers, dtype=float).reshape(self.extent), self.axes)


def strides(extent: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(extent[index + 1 :]) for index in range(len(extent)))


def records(extent: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """All places, counted from 0, the last index fastest."""
    return itertools.product(*map(range, extent))


def value_of(value: Any) -> GradedValue:
    """A tensor of any kind as plain numbers."""
    array = value.array
    flat = array.reshape(-1) if value.axes else array
    listed = flat.tolist() if hasattr(flat, "tolist") else [float(flat)]
    return GradedValue(value.axes, tuple(value.sizes.values()), tuple(listed if value.axes else [listed]))


@cache
def has_numpy() -> bool:
    try:
        import_module("numpy")
    except ImportError:
        return False
    return True


def computed(text: str, values: Mapping[str, GradedValue]) -> GradedValue:
    """The value of a formula. Raises NotationError if it has none."""
    return by_numpy(text, values) if has_numpy() else by_definitions(text, values)


def by_numpy(text: str, values: Mapping[str, GradedValue]) -> GradedValue:
    with LOADING, all_or_none():
        from ..programs.evaluate import evaluate

    return value_of(evaluate(text, {name: value.named() for name, value in values.items()}, syntax="text"))


def by_definitions(text: str, values: Mapping[str, GradedValue]) -> GradedValue:
    with LOADING, all_or_none():
        from .. import reference

    tensors = {
        name: reference.tensor(nested(value.numbers, value.extent), value.axes) for name, value in values.items()
    }
    result = reference.evaluate(text, tensors)
    axes = tuple(result.shape)
    return GradedValue(axes, tuple(result.shape.values()), tuple(flat(result.to_list(axes), len(axes))))


def nested(numbers: Sequence[Any], extent: Sequence[int]) -> Any:
    """Nested lists, the first axis outermost."""
    if not extent:
        return numbers[0]
    step = math.prod(extent[1:])
    return [nested(numbers[index * step : (index + 1) * step], extent[1:]) for index in range(extent[0])]


def flat(nested: Any, depth: int) -> Iterator[Any]:
    if depth == 0:
        yield nested
        return
    for part in nested:
        yield from flat(part, depth - 1)
