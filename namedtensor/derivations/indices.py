"""Linear indices of families and sums, n − t + 1, and their substitution in trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Node, Number
from grammar.printer import to_text

Linear = dict[str, int]  # how often each symbol counts; "" is 1

UNIT = ""


def linear(node: Node) -> Linear | None:
    """Return an index as a sum of symbols and an integer; None if it is not linear."""
    match node:
        case Number(value=int() as value):
            return plus({UNIT: value})
        case Name(text=text):
            return {text: 1}
        case nodes.Size():
            return {to_text(node): 1}
        case Call(operator="+" | "-" as operator, arguments=(left, right)):
            first, second = linear(left), linear(right)
            if first is None or second is None:
                return None
            return plus(first, second, 1 if operator == "+" else -1)
        case Call(operator="negative", arguments=(inner,)):
            found = linear(inner)
            return None if found is None else plus({}, found, -1)
    return None


def plus(one: Linear, other: Linear | None = None, times: int = 1) -> Linear:
    """Return their sum, the second scaled."""
    found = dict(one)
    for symbol, count in (other or {}).items():
        found[symbol] = found.get(symbol, 0) + times * count
    return {symbol: count for symbol, count in found.items() if count}


def written(of: Linear) -> Node:
    """An index as a node: n − t + 1."""
    order = sorted((symbol for symbol in of if symbol != UNIT), key=lambda symbol: of[symbol] < 0)
    found: Node | None = None
    for symbol in [*order, UNIT]:
        count = of.get(symbol, 0)
        if not count:
            continue
        part: Node = Number(abs(count)) if symbol == UNIT else _symbol(symbol)
        if symbol != UNIT and abs(count) > 1:
            part = Call("juxtaposed", (), (), (Number(abs(count)), part))
        if found is None:
            found = part if count > 0 else Call("negative", (), (), (part,))
        else:
            found = Call("+" if count > 0 else "-", (), (), (found, part))
    return found or Number(0)


def _symbol(text: str) -> Node:
    return nodes.Size(nodes.Axis(text[1:-1])) if text.startswith("|") else Name(text)


def mapped(node: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with what `change` gives for a node in its place; None leaves it as it is and looks below."""
    found = change(node)
    if found is not None:
        return found
    parts = {}
    for name in node.__slots__:
        if name in ("span", "operator_span"):
            continue
        before = getattr(node, name)
        after = _mapped_value(before, change)
        if after is not before:
            parts[name] = after
    return replace(node, **parts) if parts else node


def _mapped_value(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        found = tuple(_mapped_value(each, change) for each in value)
        return value if all(one is other for one, other in zip(found, value)) else found
    return mapped(value, change) if hasattr(value, "span") else value


def at(node: Any, variable: str, index: Linear) -> Any:
    """The tree where a variable is another index: h^{t−1} at t = n − k + 1 is h^{n−k}."""

    def change(each: Any) -> Node | None:
        if isinstance(each, nodes.IndexSum) and each.variable.text == variable:
            return each
        if isinstance(each, (Name, Call)):
            found = linear(each)
            if found is not None and variable in found:
                rest = {symbol: count for symbol, count in found.items() if symbol != variable}
                return written(plus(rest, index, found[variable]))
        return None

    return mapped(node, change)
