"""Intermediate values of rules: scripts, left-hand sides and rows, with their spans."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..nodes import Axis, Node
from ..tokens import Token


class Head(NamedTuple):
    """An operator or function with its scripts, before its operands are known."""

    name: str
    superscript: tuple
    subscript: tuple
    parameters: tuple
    name_span: tuple[int, int]
    span: tuple[int, int]


class Script(NamedTuple):
    kind: str  # SUB, SUP, or shape
    items: tuple
    span: tuple[int, int]


class Row(NamedTuple):
    cells: tuple
    span: tuple[int, int]


class Bracket(NamedTuple):
    """[…] that a subscript follows: a literal, or an expression to index or rename."""

    rows: tuple
    span: tuple[int, int]


class Indexed(NamedTuple):
    axis: Axis
    index: Node
    span: tuple[int, int]


class Renamed(NamedTuple):
    old: tuple
    new: tuple
    span: tuple[int, int]


class Arguments(NamedTuple):
    ordinary: tuple
    parameters: tuple


class Bound(NamedTuple):
    variable: Node
    first: Node
    span: tuple[int, int]


class Over(NamedTuple):
    """i ∈ [n], j ≠ i, α → 0: a variable, and where it goes."""

    variable: Axis
    over: Any
    span: tuple[int, int]


class Results(NamedTuple):
    """A, B = X, Y; f(x) = X, Y; A, B = f(x)"""

    heads: tuple
    bodies: tuple
    span: tuple[int, int]


class Member(NamedTuple):
    sets: tuple
    span: tuple[int, int]


def around(children) -> tuple[int, int]:
    return start_of(children[0]), end_of(children[-1])


def covering(children) -> tuple[int, int]:
    """The same where LaTeX wrote them in another order: \\nfun{\\seq}{softmax}, the axes before the name."""
    return min(map(start_of, children)), max(map(end_of, children))


def start_of(value) -> int:
    return value.start if type(value) is Token else value.span[0]


def end_of(value) -> int:
    return value.end if type(value) is Token else value.span[1]


def nodes_among(children) -> tuple:
    return tuple(child for child in children if type(child) is not Token)


def operator_of(name: str, operands: tuple) -> str:
    """concat_{ax}(X, Y) is the ASCII spelling of X ⊕_{ax} Y."""
    return "⊕" if name == "concat" and len(operands) == 2 else name
