"""Program slicing: the statements that a formula needs."""

from __future__ import annotations

from typing import Any

from grammar import nodes

from ..scope.names import walk
from ..symbolic.naming import words_of


def needed(statements: tuple[Any, ...], words: set[str]) -> tuple[Any, ...]:
    """The statements that say something of these words, or of what these need."""
    words = set(words)
    chosen: set[int] = set()
    changed = True
    while changed:
        changed = False
        for place, statement in enumerate(statements):
            if place not in chosen and defined_by(statement) & words:
                chosen.add(place)
                words |= words_of(statement) | {
                    each.operator for each in walk(statement) if isinstance(each, nodes.Call)
                }
                changed = True
    return tuple(each for place, each in enumerate(statements) if place in chosen)


def defined_by(statement: Any) -> set[str]:
    """The names, or functions, that a statement is about."""
    if isinstance(statement, nodes.Equation):
        heads: tuple[Any, ...] = statement.sides[:1]
    elif isinstance(statement, nodes.Declaration):
        heads = statement.names
    elif isinstance(statement, nodes.Signature):
        return {statement.head.operator}
    else:
        return set()
    found: set[str] = set()
    for each in heads:
        while hasattr(each, "base"):
            each = each.base
        found |= {each.operator} if isinstance(each, nodes.Call) else words_of(each)
    return found
