"""Statements that hold no more, since what they define, or need, is defined again below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar import nodes

from ..scope.heads import heads
from ..scope.names import spelled, walk


def without(statements: Sequence[Any], gone: set[int]) -> list[Any]:
    """Remove the statements at some positions, and those above the new definitions that need the old ones."""
    lost, waiting = set(gone), list(gone)
    while waiting:
        names = defined_by(statements[waiting.pop()])
        again = max((at for at, statement in enumerate(statements) if names & defined_by(statement)), default=0)
        below = len(statements) if again in lost else again
        further = {at for at in range(below) if at not in lost and names & needed_by(statements[at])}
        lost |= further
        waiting += further
    return [statement for at, statement in enumerate(statements) if at not in lost]


def defined_by(statement: Any) -> set[str]:
    """The names that a statement gives a value, a set or a signature."""
    return {_name(head) for head in heads(statement)} - {""}


def needed_by(statement: Any) -> set[str]:
    return {_name(node) for node in walk(statement)} - {""}


def _name(node: Any) -> str:
    if isinstance(node, nodes.Call):
        return node.operator if node.operator[:1].isalpha() else ""
    return str(name.key()) if (name := spelled(node)) is not None else ""
