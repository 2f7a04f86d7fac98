"""Represent linear indices, such as n − t + 1, and substitute them in syntax trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Name, Node, Number
from grammar.printer import to_text
from grammar.traversal import map_nodes

Linear = dict[str, int]  # Maps each symbol to its coefficient. The constant is under the key "".

UNIT = ""


def linear(node: Node) -> Linear | None:
    """Return the coefficients of the symbols in an index, and its constant, or None if the index is not linear."""
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
            result = linear(inner)
            return None if result is None else plus({}, result, -1)
    return None


def plus(one: Linear, other: Linear | None = None, times: int = 1) -> Linear:
    """Return the sum of the linear index `one` and `times` times the linear index `other`."""
    result = dict(one)
    for symbol, count in (other or {}).items():
        result[symbol] = result.get(symbol, 0) + times * count
    return {symbol: count for symbol, count in result.items() if count}


def number_of(of: Linear | None, sizes: Mapping[str, int]) -> int | None:
    """Return the value of an index, or None if it contains an unknown symbol. `sizes` contains |a| under the name a."""
    counts = {symbol.strip("|"): count for symbol, count in (of or {}).items() if symbol != UNIT}
    if of is None or not counts.keys() <= sizes.keys():
        return None
    return of.get(UNIT, 0) + sum(count * sizes[symbol] for symbol, count in counts.items())


def write_index(of: Linear) -> Node:
    """Convert a linear index, such as n − t + 1, to a node."""
    order = sorted((symbol for symbol in of if symbol != UNIT), key=lambda symbol: of[symbol] < 0)
    node: Node | None = None
    for symbol in [*order, UNIT]:
        count = of.get(symbol, 0)
        if not count:
            continue
        part: Node = Number(abs(count)) if symbol == UNIT else _symbol(symbol)
        if symbol != UNIT and abs(count) > 1:
            part = Call("juxtaposed", (), (), (Number(abs(count)), part))
        if node is None:
            node = part if count > 0 else Call("negative", (), (), (part,))
        else:
            node = Call("+" if count > 0 else "-", (), (), (node, part))
    return node or Number(0)


def _symbol(text: str) -> Node:
    return nodes.Size(nodes.Axis(text[1:-1])) if text.startswith("|") else Name(text)


def substitute_index(node: Any, variable: str, index: Linear) -> Any:
    """Substitute an index for a variable in a tree.

    For example, with t = n − k + 1, h^{t−1} becomes h^{n−k}.
    """

    def change(part: Any) -> Node | None:
        if isinstance(part, nodes.IndexSum) and part.variable.text == variable:
            return part
        if isinstance(part, (Name, Call)):
            result = linear(part)
            if result is not None and variable in result:
                rest = {symbol: count for symbol, count in result.items() if symbol != variable}
                return write_index(plus(rest, index, result[variable]))
        return None

    return map_nodes(node, change)
