"""Tensors stored as plain Python numbers, which do not require NumPy.

PlainTensor(("n", "m"), (3, 2), (0.5, 1.0, …))         a tensor with its numbers in row-major order
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.tensor import NamedTensor


@dataclass(frozen=True)
class PlainTensor:
    """A tensor that is stored as plain numbers, in which the last axis varies fastest."""

    axes: tuple[str, ...]
    extent: tuple[int, ...]
    numbers: tuple[Any, ...]

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.axes, self.extent))

    @property
    def number(self) -> float:
        """The number that a tensor without axes contains."""
        return float(self.numbers[0])

    def laid_out(self, order: Sequence[str]) -> PlainTensor:
        """Return the tensor with its axes in the given order.

        >>> PlainTensor(("a", "b"), (2, 2), (1, 2, 3, 4)).laid_out(("b", "a")).numbers
        (1, 3, 2, 4)
        """
        if tuple(order) == self.axes:
            return self
        return self.broadcast_to({axis: self.sizes[axis] for axis in order})

    def broadcast_to(self, sizes: dict[str, int]) -> PlainTensor:
        """Return the tensor broadcast to these axes. Its elements are repeated along axes that it lacks.

        >>> PlainTensor(("a",), (2,), (1, 2)).broadcast_to({"b": 2, "a": 2}).numbers
        (1, 2, 1, 2)
        """
        steps = dict(zip(self.axes, strides(self.extent)))
        taken = [steps.get(axis, 0) for axis in sizes]
        extent = tuple(sizes.values())
        positions = (sum(map(int.__mul__, record, taken)) for record in records(extent))
        return PlainTensor(tuple(sizes), extent, tuple(self.numbers[position] for position in positions))

    def first_along(self, retained: Collection[str]) -> PlainTensor:
        """Return the elements at the first position along every axis that is not in `retained`.

        >>> PlainTensor(("a", "b"), (2, 2), (1, 2, 3, 4)).first_along("a").numbers
        (1, 3)
        """
        sizes = {axis: size if axis in retained else 1 for axis, size in self.sizes.items()}
        numbers = self.broadcast_to(sizes).numbers
        extent = tuple(size for axis, size in sizes.items() if axis in retained)
        return PlainTensor(tuple(axis for axis in self.axes if axis in retained), extent, numbers)

    def split_rows(self, at: int) -> Iterator[tuple[Any, ...]]:
        """Yield the one-dimensional rows along the axis at position `at`."""
        order = (*self.axes[:at], *self.axes[at + 1 :], self.axes[at])
        numbers, size = self.laid_out(order).numbers, self.extent[at]
        return (numbers[start : start + size] for start in range(0, len(numbers), size or 1))

    def to_tensor(self) -> NamedTensor:
        """Return the tensor as a named tensor with a NumPy array."""
        import numpy as np

        from ..core.tensor import tensor

        return tensor(np.asarray(self.numbers, dtype=float).reshape(self.extent), self.axes)

    def to_operand(self) -> NamedTensor | float:
        """Return a named tensor with a NumPy array, or a number if the tensor has no axes."""
        return self.to_tensor() if self.axes else self.number


def strides(extent: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(extent[index + 1 :]) for index in range(len(extent)))


def records(extent: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Return all positions, counted from 0, in an array of these sizes. The last index varies fastest."""
    return itertools.product(*map(range, extent))


def value_of(value: Any) -> PlainTensor:
    """Convert a named tensor of any library to a tensor of plain numbers."""
    array = value.array
    flat = array.reshape(-1) if value.axes else array
    listed = flat.tolist() if hasattr(flat, "tolist") else [float(flat)]
    return PlainTensor(value.axes, tuple(value.sizes.values()), tuple(listed if value.axes else [listed]))
