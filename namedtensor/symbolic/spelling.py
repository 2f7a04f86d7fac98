"""Constructors of the notation's nodes, from names and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grammar.nodes import Axis, Call, Name, Node, Number, Rename, Starred, Value
from grammar.parser import parse
from grammar.traversal import children

from .lengths import length

MARKS = "*†"


@lru_cache(maxsize=4096)
def expression(text: str) -> Node:
    (statement,) = parse(text, "text").statements
    assert isinstance(statement, Value)
    return statement.body


@lru_cache(maxsize=4096)
def component(axis: str) -> Node:
    """The name of an axis as a subscript has it."""
    found = expression(f"∑_{{{axis}}} x")
    assert isinstance(found, Call)
    return found.subscript[0]


def components(axes: Iterable[str]) -> tuple[Node, ...]:
    return tuple(map(component, axes))


def call(operator: str, *arguments: Node, axes: Iterable[str] = (), parameters: tuple[Node, ...] = ()) -> Call:
    return Call(operator, (), components(axes), arguments, parameters)


def shortest(found: Iterable[Node | None]) -> Node:
    return min((each for each in found if each is not None), key=lambda each: (length(each), renames(each)))


def renames(node: Node) -> int:
    """How many parts of an expression are renamed."""
    return isinstance(node, (Rename, Starred)) + sum(map(renames, children(node)))


@lru_cache(maxsize=4096)
def named(text: str) -> Node:
    return expression(text)


def distinct(axes: Iterable[str]) -> list[str]:
    """The axes, primes telling those apart that have one name."""
    found: list[str] = []
    for axis in axes:
        while axis in found:
            axis += "'"
        found.append(axis)
    return found


def rename(node: Node, names: Mapping[str, str]) -> Node:
    """The node with other axes: X^* where every axis gets one mark, else X_{a→b}."""
    moved = {old: new for old, new in names.items() if old != new}
    if not moved:
        return node
    marks = {new[len(old) :] if new.startswith(old) else "" for old, new in names.items()}
    if len(marks) == 1 and "" not in marks and set("".join(marks)) <= set(MARKS):
        return Starred(node, marks.pop())
    return Rename(node, tuple(((Axis(old),), (Axis(new),)) for old, new in moved.items()))


def number_node(value: Any) -> Node:
    if value == float("inf"):
        return Name("∞")
    value = Fraction(value)
    if value.denominator == 1:
        return Number(value.numerator)
    if value.denominator > 16 and Fraction(repr(float(value))) == value:
        return Number(float(value))
    return call("/", Number(value.numerator), Number(value.denominator))


def number_parts(value: Fraction) -> tuple[Node | None, Node | None]:
    """Return the numerator and denominator of a coefficient, None for 1."""
    if value.denominator > 16 and Fraction(repr(float(value))) == value:
        return Number(float(value)), None
    above = None if value.numerator == 1 else Number(value.numerator)
    return above, None if value.denominator == 1 else Number(value.denominator)


def size_node(text: str) -> Node:
    return expression(text if text.startswith("|") and text.count("|") == 2 else f"({text})")


def with_axes(node: Node, axes: Iterable[str]) -> Node:
    """The same along extra axes: times ones_{ax}."""
    if not (axes := ",".join(axes)):
        return node
    ones = expression(f"ones_{{{axes}}}")
    if isinstance(node, Number):
        return ones if node == Number(1) else call("juxtaposed", node, ones)
    return call("⊙", node, ones)
