"""Trees that differ from one by a single change: a term or a factor dropped, a sign, an order of operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from grammar import nodes
from grammar.traversal import mapped

from ..scope.names import walk


class SingleChange(NamedTuple):
    """A changed tree, what kind of change it is, the call that it was made at, and what it is changed to."""

    tree: Any
    kind: str
    at: nodes.Call
    new: Any


SIGN, ORDER, TERM, FACTOR = "a sign", "the order of operands", "a missing term", "a missing factor"
OTHER_SIGN = {"+": "-", "-": "+"}


def single_changes(tree: Any) -> Iterator[SingleChange]:
    """Yield each tree with one call changed."""
    for call in walk(tree):
        if isinstance(call, nodes.Call) and len(call.arguments) == 2 and not call.subscript:
            yield from (SingleChange(_with(tree, call, new), kind, call, new) for kind, new in _changes(call))


def _changes(call: nodes.Call) -> Iterator[tuple[str, Any]]:
    if call.operator in OTHER_SIGN:
        yield SIGN, replace(call, operator=OTHER_SIGN[call.operator])
        yield TERM, call.arguments[0]
    if call.operator == "+":
        yield TERM, call.arguments[1]
    if call.operator in ("⊙", "juxtaposed"):
        yield from ((FACTOR, argument) for argument in call.arguments)
    if call.operator in ("-", "/"):
        yield ORDER, replace(call, arguments=call.arguments[::-1])
    if call.operator == "/":
        yield FACTOR, call.arguments[0]


def _with(node: Any, old: Any, new: Any) -> Any:
    """The tree with a node, by identity, replaced."""
    return mapped(node, lambda below: new if below is old else None)
