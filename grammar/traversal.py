"""Traverse and rebuild the syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

from . import nodes


def left_spine(node: Any) -> list[nodes.Call]:
    """Return the nested binary operations along the left of a long sum or product, outermost first.

    For a + b + c, return (a + b) + c and a + b.
    """
    calls: list[nodes.Call] = []
    while type(node) is nodes.Call and len(node.arguments) == 2:
        calls.append(node)
        node = node.arguments[0]
    return calls


def conjuncts(node: Any) -> list[Any]:
    """Return the operands of a conjunction a ∧ b ∧ …, from left to right."""
    result: list[Any] = []
    while type(node) is nodes.Call and node.operator == "∧":
        result.append(node.arguments[1])
        node = node.arguments[0]
    return [node, *reversed(result)]


def children(node: Any) -> tuple[Any, ...]:
    """Return the direct children of `node`, in the order of its fields."""
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


def walk(node: Any) -> Iterator[Any]:
    """Yield `node` and all of its descendants in preorder, without recursion."""
    stack: list[Any] = [node]
    while stack:
        current = stack.pop()
        yield current
        if below := children(current):
            stack.extend(reversed(below))


def names_in(node: Any) -> set[str]:
    """Return the text of every name in a tree."""
    return {inner.text for inner in walk(node) if type(inner) is nodes.Name}


def rebuilt(node: Any, change: Callable[[Any], Any], apart: tuple[str, ...] = ()) -> Any:
    """Return a copy of `node` with `change` applied to each direct child, except children in the fields `apart`."""
    changed: dict[str, Any] = {}
    for slot in BELOW[type(node)]:
        before = getattr(node, slot)
        after = before if slot in apart else _rebuilt_value(before, change)
        if after is not before:
            changed[slot] = after
    return replace(node, **changed) if changed else node


def _rebuilt_value(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) is tuple:
        before = cast("tuple[Any, ...]", value)
        parts = tuple(_rebuilt_value(part, change) for part in before)
        return before if all(part is same for part, same in zip(parts, before)) else parts
    return change(value) if type(value) in BELOW else value


def map_nodes(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return the tree with each node replaced by the result of `change`.

    If `change` returns None for a node, replace the children of that node instead.
    """
    results: dict[int, Any] = {}
    stack: list[tuple[Any, bool]] = [(node, False)]
    while stack:  # A long sum is deeper than Python's recursion limit.
        current, is_below_done = stack.pop()
        if is_below_done:
            results[id(current)] = rebuilt(current, lambda part: results[id(part)])
        elif id(current) not in results:
            result = change(current)
            if result is not None:
                results[id(current)] = result
            else:
                stack.append((current, True))
                stack.extend((child, False) for child in reversed(children(current)))
    return results[id(node)]


PLAIN = ("str", "bool", "int", "int | float", "float", "Span", "Span | None")


def _slots(kind: type) -> tuple[str, ...]:
    """Return the fields of a node class that may contain other nodes."""
    slots: tuple[str, ...] = getattr(kind, "__slots__", ())
    return tuple(name for name in slots if kind.__annotations__.get(name) not in PLAIN)


KINDS = [kind for kind in vars(nodes).values() if isinstance(kind, type) and "span" in getattr(kind, "__slots__", ())]
BELOW: dict[type, tuple[str, ...]] = {kind: _slots(kind) for kind in KINDS}
