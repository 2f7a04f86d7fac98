"""Traversal of the syntax tree: the nodes directly below a node, and the operations that a long sum is made of."""

from __future__ import annotations

from typing import Any

from . import nodes


def left_spine(node: Any) -> list[nodes.Call]:
    """The operations with two operands that a long sum or product is made of, the last written first: (a + b) + c, a + b."""
    calls: list[nodes.Call] = []
    while type(node) is nodes.Call and len(node.arguments) == 2:
        calls.append(node)
        node = node.arguments[0]
    return calls


def children(node: Any) -> tuple[Any, ...]:
    """The nodes directly below `node`, in the order written."""
    slots = BELOW[type(node)]
    if not slots:
        return ()
    result: list[Any] = []
    for slot in slots:
        value: Any = getattr(node, slot)
        if type(value) is tuple:
            _gather(value, result)
        elif type(value) in BELOW:
            result.append(value)
    return tuple(result)


def _gather(values: Any, result: list[Any]) -> None:
    for value in values:
        if type(value) in BELOW:
            result.append(value)
        elif type(value) is tuple:
            _gather(value, result)


PLAIN = ("str", "bool", "int", "int | float", "float", "Span", "Span | None")


def _slots(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that may hold others."""
    slots: tuple[str, ...] = getattr(kind, "__slots__", ())
    return tuple(name for name in slots if kind.__annotations__.get(name) not in PLAIN)


KINDS = [kind for kind in vars(nodes).values() if isinstance(kind, type) and "span" in getattr(kind, "__slots__", ())]
BELOW: dict[type, tuple[str, ...]] = {kind: _slots(kind) for kind in KINDS}
