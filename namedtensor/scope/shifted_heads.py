"""Rewrite equations that define the next step, such as x_{t+1} = x_t − g for t = 0, …, n, as equations for x_t.

x^{t+1} = x^t + 1 for t = 0, …, n        x^t = x^{t-1} + 1 for t = 0 + 1, …, n + 1

After the rewrite, every family has the plain index variable on its left-hand side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Equation, Name, Node, Number, Range
from grammar.traversal import rebuilt

from .names import read_spelling


def replace_shifted_heads(program: nodes.Program) -> nodes.Program:
    """Rewrite each x^{t+1} = … for t = 0, …, n as an equation for x^t, and return the program."""
    return replace(program, statements=tuple(map(shift_range, program.statements)))


def shifts(statement: Any) -> dict[str, int]:
    """Return the offset of each range variable on the left-hand side, such as 1 for t in x^{t+1}."""
    if not isinstance(statement, Equation) or statement.range is None:
        return {}
    head = statement.sides[0]
    if isinstance(head, Call):
        parts = (*head.superscript, *head.subscript)
    else:
        name = read_spelling(head.base if isinstance(head, nodes.Index) else head)
        parts = () if name is None else (*name.superscript, *name.subscript)
    result: dict[str, int] = {}
    for part in parts:
        variable, offset = ahead_of(part)
        if offset and variable in statement.range.variables:
            result[variable] = offset
    return result


def ahead_of(part: Node) -> tuple[str, int]:
    """Return the name and the offset in an expression such as t + 1, t − 2 or t.

    For any other expression, return an empty name.
    """
    if isinstance(part, Name):
        return part.text, 0
    if isinstance(part, Call) and part.operator in ("+", "-") and len(part.arguments) == 2:
        left, right = part.arguments
        if isinstance(left, Name) and isinstance(right, Number) and isinstance(right.value, int):
            return left.text, right.value if part.operator == "+" else -right.value
        if (
            part.operator == "+"
            and isinstance(right, Name)
            and isinstance(left, Number)
            and isinstance(left.value, int)
        ):
            return right.text, left.value
    return "", 0


def shift_range(statement: Any) -> Any:
    """Shift the range of an equation so that its left-hand side has no offset. Return any other statement unchanged."""
    result = shifts(statement)
    if not result:
        return statement
    sides = tuple(shift_variables(side, result) for side in statement.sides)
    sets = tuple(shift_variables(of, result) for of in statement.sets)
    over: Range | None = None
    for variable in reversed(statement.range.each):
        by = result.get(variable.variable.text, 0)
        first, last = (move_end(shift_variables(end, result), by) for end in (variable.first, variable.last))
        other = replace(variable, first=first, last=last, further=over, down=variable.downward)
        if other.downward and not variable.downward:  # n, …, 1 would count down, but n, …, 2 − 1 does not.
            other = replace(other, last=sum_of(variable.last, by, variable.last))
        over = other
    return replace(statement, sides=sides, sets=sets, range=over)


def move_end(end: Node, by: int) -> Node:
    """Add an offset to the end of a range."""
    name, offset = ahead_of(end)
    return sum_of(Name(name, end.span), offset + by, end) if by and name else add_number(end, by)


def add_number(end: Node, by: int) -> Node:
    """Add `by` to the end of a range. The result is a number if the end is a number, and a sum otherwise."""
    return replace(end, value=end.value + by) if isinstance(end, Number) else sum_of(end, by, end)


def sum_of(base: Node, offset: int, node: Node) -> Node:
    """Return the sum of `base` and an offset, such as t + 2 or t − 1, or `base` itself if the offset is 0."""
    if not offset:
        return base
    number, span = Number(abs(offset), node.span), node.span
    return Call("+" if offset > 0 else "-", (), (), (base, number), (), span, span)


def shift_variables(node: Any, by: Mapping[str, int]) -> Any:
    """Shift the variables in an expression. For example, t becomes t − 1 if `by` is 1 for t."""
    if isinstance(node, (Name, Call)):
        variable, offset = ahead_of(node)
        if variable in by:
            return sum_of(Name(variable, node.span), offset - by[variable], node)
    if isinstance(node, (nodes.IndexSum, nodes.Over)) and node.variable.text in by:
        by = {name: index for name, index in by.items() if name != node.variable.text}
    apart = () if isinstance(node, nodes.Derivative) else ("variable",)
    return rebuilt(node, lambda part: shift_variables(part, by), apart)
