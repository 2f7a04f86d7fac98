"""Order the factors of a product so that intermediate results stay small."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from grammar.nodes import Node

from .forms import NUMBER, FormIndex, split_parts
from .spelling import ProductPart, indices_in

FEW_AXES = 2  # Products with at most this many axes are always small enough.


class Grouping(NamedTuple):
    """A possible grouping: the new factors, the position of the group, its members, and the indices summed in it."""

    parts: list[ProductPart]
    place: int
    inside: list[ProductPart]
    gone: set[FormIndex]


def order_contractions(
    parts: list[ProductPart], summed: set[FormIndex], write: Callable[[list[ProductPart], set[FormIndex]], Node]
) -> list[ProductPart]:
    """Group the factors that should be contracted early.

    Group factors if a product would otherwise have more axes than any factor or the result.
    """
    above, below = ([part for part in parts if part.below is divides] for divides in (False, True))
    divided = indices_in(below)
    while len(above) > 2:
        width, best = widest(above, summed), None
        if width <= max(FEW_AXES, len(indices_in(above) - summed), *(len(part.indices) for part in above)):
            break
        for index in sorted(summed - divided, key=NUMBER):
            grouping = _grouping(above, index, summed, divided)
            if grouping is None:
                continue
            wide = max(widest(grouping.inside, grouping.gone), widest(grouping.parts, summed))
            if wide < width:
                width, best = wide, grouping
        if best is None:
            break
        above = best.parts
        above[best.place] = above[best.place]._replace(node=write(best.inside, best.gone))
    return [*above, *below]


def _grouping(
    above: list[ProductPart], index: FormIndex, summed: set[FormIndex], divided: AbstractSet[FormIndex]
) -> Grouping | None:
    """Group the factors with a summed index. Return None if they cannot be grouped."""
    inside, rest = split_parts(above, {index})
    if len(inside) < 2 or not rest:
        return None
    indices = indices_in(inside)
    gone = (summed & indices) - divided - indices_in(rest)
    start = above.index(inside[0])
    after = [part for part in above[start:] if part in rest]
    return Grouping([*above[:start], ProductPart(inside[0].node, indices - gone), *after], start, inside, gone)


def widest(parts: list[ProductPart], summed: set[FormIndex]) -> int:
    """Return the largest number of axes in any intermediate product for the given order of factors.

    Each index is summed after the last factor that has it.
    """
    most, standing = 0, frozenset[FormIndex]()
    for position, part in enumerate(parts):
        standing = (standing | part.indices) - (summed - indices_in(parts[position + 1 :]))
        most = max(most, len(standing))
    return most
