"""Compute both sides of an equation on random inputs, with the magnitudes that determine the tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from grammar.errors import NotationError
from grammar.printer import to_text

from ..core.tensor import tensor
from ..programs.plain_values import value_of
from ..programs.program import Formula
from ..programs.term_values import magnitude_of


class SideValues(NamedTuple):
    """The values of all sides of an equation, broadcast to the same axes.

    `magnitudes` returns, for each element, the sum of the magnitudes of all numbers that contribute to the sides.
    """

    sides: list[Sequence[Any]]
    magnitudes: Callable[[], Sequence[float]]

    @property
    def is_partial(self) -> bool:
        """Whether an element is finite on some sides but not on all."""
        return any(len(set(map(math.isfinite, numbers))) > 1 for numbers in zip(*self.sides))


def align_sides(
    programs: Sequence[Formula], results: Sequence[Any], inputs: Mapping[str, Any], sizes: Mapping[str, int]
) -> SideValues:
    """Broadcast the results of programs to the union of their axes.

    Raise NotationError if an axis has several sizes.
    """
    values = [value_of(result) for result in results]
    shape: dict[str, int] = {}
    for program, value in zip(programs, values):
        for axis, size in value.sizes.items():
            if shape.setdefault(axis, size) != size:
                one, other = (to_text(side.tree.statements[-1]) for side in (programs[0], program))
                message = f"axis {axis} has size {shape[axis]} in {one} and size {size} in {other}"
                hint = "rename one of the two axes, or compare tensors of the same sizes"
                raise NotationError(302, message, f"{one}, {other}", (0, len(one)), hint=hint)

    @cache
    def magnitudes() -> list[float]:
        given = {name: tensor(value) for name, value in inputs.items()}
        total = [0.0] * math.prod(shape.values())
        for program in programs:
            try:
                of = value_of(magnitude_of(to_text(program.tree), given, dict(sizes) or None))
            except NotationError:  # A differential has no value outside of an equation, and a side may lack a size.
                continue
            total = [sum(pair) for pair in zip(total, of.broadcast_to(shape).numbers)]
        return total

    return SideValues([value.broadcast_to(shape).numbers for value in values], magnitudes)
