"""Which elements an update replaces, one by one, for the reference evaluator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from grammar import nodes
from grammar.errors import NotationError

from .definitions import Tensor, index, number, records
from .environment import plain


def chosen_by(
    items: Sequence[tuple[str, Any]], base: Tensor, value: Tensor, of: Callable[[Any], Tensor]
) -> Iterator[tuple[dict[str, int], Tensor]]:
    """Each record of indices that is replaced, with what replaces it; those that come later count."""
    each = [list(_places(axis, part, base, value, of)) for axis, part in items]
    for choice in itertools.product(*each):
        record: dict[str, int] = {}
        chosen = value
        for places, picked in choice:
            record |= places
            chosen = index(chosen, {axis: number(at) for axis, at in picked.items() if axis in chosen.shape})
        yield record, chosen


def _places(
    axis: str, part: Any, base: Tensor, value: Tensor, of: Callable[[Any], Tensor]
) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Yield the positions that one index of an update selects, each with the element of the value that replaces it."""
    if isinstance(part, nodes.Slice):
        first, last = (int(plain(of(end))) for end in (part.first, part.last))
        in_range(axis, base, first)
        in_range(axis, base, last)
        short = value.shape.get(axis) == last - first + 1 != base.shape[axis]
        for at in range(first, last + 1):
            yield {axis: at}, {axis: at - first + 1 if short else at}
        return
    places = of(part)
    own = [name for name in places.shape if name not in base.shape]
    if len(own) > 1:
        raise NotationError(316, f"an update goes over one axis, not {' and '.join(own)}")
    for record in records(places.shape):
        kept = {name: at for name, at in record.items() if name in base.shape}
        yield {**kept, axis: in_range(axis, base, places(record))}, {name: record[name] for name in own}


def in_range(axis: str, base: Tensor, at: Any) -> int:
    if at != int(at):
        raise NotationError(402, f"an index must be an integer, got {at}")
    if not 1 <= at <= base.shape[axis]:
        raise NotationError(401, f"{axis} has no element {at}")
    return int(at)
