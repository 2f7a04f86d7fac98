"""The pieces of a formula that have a type, with their spans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from grammar.errors import Span
from grammar.nodes import Number

from ..display.steps import AxisNames, places


class TypedPart(NamedTuple):
    """A piece of a formula that has a type: its span, its shape, the definitions that contain it, and its node."""

    span: Span
    shape: Mapping[str, Any]
    place: tuple[str, ...]
    node: Any


def find_typed_parts(checker: Any) -> list[TypedPart]:
    """Return each piece that has a type, without duplicates, inner pieces first.

    If several definitions use a piece, the first use determines its type.
    """
    if checker is None:
        return []
    trace = [entry for entry in checker.trace if not isinstance(entry[0], Number)]
    names = AxisNames(trace)
    parts: dict[Span, TypedPart] = {}
    for node, term, env in trace:
        if node.span not in parts and node.span != (0, 0):
            inside = tuple(location.name for location in places(env))
            parts[node.span] = TypedPart(node.span, names.shape(term, env), inside, node)
    return list(parts.values())


def innermost(spans: Iterable[Span], offset: int) -> Span | None:
    """Return the shortest span that contains an offset or ends there.

    >>> innermost([(0, 9), (2, 5), (3, 4)], 4)
    (2, 5)
    """
    within = [span for span in spans if span[0] <= offset < span[1]] or [span for span in spans if span[1] == offset]
    return min(within, key=lambda span: span[1] - span[0], default=None)
