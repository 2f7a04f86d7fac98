"""What is measured: a work, the sides that can do it, and the bars that ours is to meet.

A side is prepared once from the work's arrays and then called again and again:

    @side("PyTorch", needs=("torch",))
    def softmax_torch(x):
        x = torch.from_numpy(x)
        return Ready(lambda: x.softmax(-1))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

BY_HAND = "NumPy by hand"
OURS = "namedtensor"


class LeftOut(Exception):
    """A side that cannot take part, and why."""


class Ready(NamedTuple):
    """A call, and what makes NumPy's array, or several, of its value."""

    call: Callable[[], Any]
    answer: Callable[[Any], Any] = np.asarray


class Times(NamedTuple):
    """The seconds that a call took, and those that all cores together worked for it."""

    seconds: float
    processor: float


@dataclass(frozen=True)
class Side:
    """One way of doing a work; `needs` are the packages besides NumPy that it imports; `threads` those of the BLAS."""

    name: str
    make: Callable[..., Ready]
    needs: tuple[str, ...] = ()
    threads: int | None = None

    @property
    def is_ours(self) -> bool:
        return self.name.startswith(OURS)


ALONE = ", one BLAS thread"


def both(side: Side) -> tuple[Side, Side]:
    """The side with as many threads of the BLAS as it takes by itself, and with one, which is often faster."""
    return side, replace(side, name=side.name + ALONE, threads=1)


def side(name: str, needs: tuple[str, ...] = ()) -> Callable[[Callable[..., Ready]], Side]:
    return lambda make: Side(name, make, needs)


class Bar(NamedTuple):
    """What one of our sides may take at most: a ratio to the time of another side, or megabytes."""

    ours: str
    most: float
    over: str = ""
    of: str = "time"


@dataclass(frozen=True)
class Work:
    """One thing to do, with a size for measuring and a small one for tests and for warming up.

    Ratios are to the time of the side `base`, or of that with one thread of the BLAS where it is the faster; with no base,
    times are given as they are. `threads` is 1 where one thread is best for everybody. A work that is `heavy` has its sides
    prepared one after another, and is not among the quick ones.

    Answers may differ by `close`, as `difference` has it with `norm`: 2 is for works where rounding may change a few
    entries much, like the gradient at an entry so near to 0 that it is on one side of ReLU's kink here and on the other
    there.
    """

    name: str
    title: str
    inputs: Callable[..., dict[str, Any]]
    sides: tuple[Side, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    small: Mapping[str, int] = field(default_factory=dict)
    base: str = BY_HAND
    bars: tuple[Bar, ...] = ()
    threads: int | None = None
    memory: bool = False
    heavy: bool = False
    close: float = 1e-4
    norm: float = math.inf

    def side(self, name: str) -> Side:
        return next(side for side in self.sides if side.name == name)


def arrays_of(value: Any) -> list[np.ndarray]:
    """An answer as NumPy's arrays."""
    return [np.asarray(item) for item in (value if isinstance(value, (tuple, list)) else (value,))]


def difference(left: list[np.ndarray], right: list[np.ndarray], norm: float = math.inf) -> float:
    """The p-norm of two answers' difference over that of the right one, the largest entries for p = ∞.

    Infinite where their shapes differ.
    """
    if [array.shape for array in left] != [array.shape for array in right]:
        return float("inf")
    size = lambda array: float(np.linalg.norm(array.ravel(), norm))
    apart = (size(x - y) / max(size(y), 1e-30) for x, y in zip(left, right) if x.size)
    return max(apart, default=0.0)
