"""The order in which a product is written: α ⊙ (G ⊙_{v} V) ⊙_{s} K, so that what it is computed from stays small."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from grammar.nodes import Node

from .forms import NUMBER, FormIndex
from .spelling import ProductPart

FEW_AXES = 2  # axes of a product that is always small enough


class Grouping(NamedTuple):
    """Factors, with one in the place of a group; the place, the group, and the indices that only the group has."""

    parts: list[ProductPart]
    place: int
    inside: list[ProductPart]
    gone: set[FormIndex]


def in_order(
    above: list[ProductPart],
    below: list[ProductPart],
    summed: set[FormIndex],
    written: Callable[[list[ProductPart], list[ProductPart], set[FormIndex]], Node],
) -> list[ProductPart]:
    """The factors with those contracted first that else make products of more axes than anything has."""
    divided = {index for part in below for index in part.indices}
    while len(above) > 2:
        outside = {index for part in above for index in part.indices} - summed
        width, best = widest(above, summed), None
        if width <= max(FEW_AXES, len(outside), *(len(part.indices) for part in above)):
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
        above[best.place] = above[best.place]._replace(node=written(best.inside, [], best.gone))
    return above


def _grouping(
    above: list[ProductPart], index: FormIndex, summed: set[FormIndex], divided: set[FormIndex]
) -> Grouping | None:
    """Those of the factors that have a summed index as one."""
    inside = [part for part in above if index in part.indices]
    if not 2 <= len(inside) < len(above):
        return None
    rest = [part for part in above if part not in inside]
    indices = frozenset(label for part in inside for label in part.indices)
    gone = (summed & indices) - divided.union(*(part.indices for part in rest))
    start = above.index(inside[0])
    after = [part for part in above[start:] if part in rest]
    return Grouping([*above[:start], ProductPart(inside[0].node, indices - gone), *after], start, inside, gone)


def widest(parts: list[ProductPart], summed: set[FormIndex]) -> int:
    """The most axes of what these factors make, one after the other, each index summed at the last that has it."""
    most, standing = 0, frozenset[FormIndex]()
    for position, part in enumerate(parts):
        later = frozenset(index for other in parts[position + 1 :] for index in other.indices)
        standing = (standing | part.indices) - (summed - later)
        most = max(most, len(standing))
    return most
