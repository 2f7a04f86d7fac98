"""Starts of 0 as zeros of their family's type, where an axis of a member is asked for: S_0 = 0 beside Q ⊙_{key} S_{t-1}.

    S_0 = 0                                   S_0 = { 0 if 0 = 0; K_{seq(1)} ⊙ V_{seq(1)} otherwise }
    S_t = S_{t-1} + K_{seq(t)} ⊙ V_{seq(t)} for t = 1, …, n

What is added in a step says the type: a case that is ruled out gives its axes, and no number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Equation, Name, Node, Number
from grammar.traversal import rebuilt

from .names import spelled, walk

ZERO = Number(0)
HOLDS = Call("=", (), (), (ZERO, ZERO))


def with_typed_zeros(program: nodes.Program) -> nodes.Program:
    """The program in which each start of 0, of which an axis is asked for, is zeros along the axes of its steps."""
    if not any(map(is_zero_start, program.statements)):
        return program
    steps: dict[str, list[Equation]] = {}
    for statement in program.statements:
        if isinstance(statement, Equation) and statement.range is not None:
            name = spelled(statement.sides[0])
            if name is not None:
                steps.setdefault(name.base, []).append(statement)
    asked = set[str]().union(*map(axes_asked_of, program.statements))
    statements: list[nodes.Statement] = []
    for statement in program.statements:
        name = spelled(statement.sides[0]) if isinstance(statement, Equation) and is_zero_start(statement) else None
        if name is not None and name.base in asked and len(steps.get(name.base, ())) == 1:
            assert isinstance(statement, Equation)
            typed = typed_zero(steps[name.base][0], frozenset(steps))
            statement = statement if typed is None else replace(statement, sides=(statement.sides[0], typed))
        statements.append(statement)
    return replace(program, statements=tuple(statements))


def is_zero_start(statement: Any) -> bool:
    """Whether a statement is S_0 = 0: one member, by its number, that is 0."""
    if not isinstance(statement, Equation) or statement.range is not None or len(statement.sides) != 2:
        return False
    name = spelled(statement.sides[0])
    return statement.sides[1] == ZERO and name is not None and any(map(is_number, (*name.subscript, *name.superscript)))


def is_number(part: Node) -> bool:
    return isinstance(part, Number) or isinstance(part, Call) and part.operator == "negative"


def axes_asked_of(statement: Any) -> set[str]:
    """The bases of members that appear where an axis is needed: contracted, renamed, indexed, in a function of axes."""
    axes_asked: set[str] = set()
    for node in walk(statement):
        if isinstance(node, (nodes.Rename, nodes.Index, nodes.Starred)):
            axes_asked |= members_in(node.base)
        elif isinstance(node, Call) and node.subscript:
            axes_asked = axes_asked.union(*map(members_in, node.arguments))
    return axes_asked


def members_in(node: Node) -> set[str]:
    names = (spelled(part) for part in walk(node) if isinstance(part, (nodes.Subscript, nodes.Superscript)))
    return {name.base for name in names if name is not None}


def typed_zero(step: Equation, families: frozenset[str]) -> Node | None:
    """0 with the axes of what a step adds that no family has a part in; None where it adds nothing such."""
    over = step.range
    assert over is not None
    if over.further is not None:
        return None
    added = [
        summand
        for summand in summands(step.sides[1])
        if not families & {n.text for n in walk(summand) if isinstance(n, Name)}
    ]
    if not added:
        return None
    total = added[0]
    for condition in added[1:]:
        total = Call("+", (), (), (total, condition), (), condition.span, condition.span)
    first = substituted(total, over.variable.text, over.first)
    return nodes.Cases(((ZERO, HOLDS), (first, None)), step.sides[1].span)


def summands(node: Any) -> Iterator[Any]:
    if isinstance(node, Call) and node.operator in ("+", "-") and not node.subscript:
        for argument in node.arguments:
            yield from summands(argument)
    else:
        yield node


def substituted(node: Any, variable: str, value: Node) -> Any:
    """An expression with a node for a variable."""
    if isinstance(node, Name):
        return value if node.text == variable else node
    return rebuilt(node, lambda part: substituted(part, variable, value), apart=("variable",))
