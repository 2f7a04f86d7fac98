"""Functions defined by elements, f(x)_{h(i)} = x_{h(i)} + 1, desugared: their value is a tensor that is so defined.

f(x)_{h(i)} = x_{h(i)} + 1        f(x) = Y
                                  Y_{h(i)} = x_{h(i)} + 1

What has another definition is not defined so: there it is an assertion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Call, Equation, Index, Name
from grammar.symbols import FUNCTIONS

from .names import spelled


def without_elements_of_functions(source: str, program: nodes.Program) -> nodes.Program:
    """The program with two equations for each function that is defined by elements."""
    heads = [statement.sides[0] for statement in program.statements if isinstance(statement, Equation)]
    defined = {_name(head) for head in heads if isinstance(head, Call)}
    axes: set[Any] = set()
    result: list[Any] = []
    for statement in program.statements:
        head = statement.sides[0] if isinstance(statement, Equation) else None
        call = head.base if isinstance(head, Index) else None
        if not isinstance(call, Call) or _name(call) in defined or not _is_head(call):
            result.append(statement)
            continue
        name = Name(source[slice(*call.span)], call.span)
        if _name(call) not in axes:
            axes.add(_name(call))
            result.append(Equation((call, name), span=statement.span))
        result.append(replace(statement, sides=(replace(head, base=name), *statement.sides[1:])))  # type: ignore[arg-type]
    return replace(program, statements=tuple(result))


def _name(call: Call) -> tuple[Any, ...]:
    return call.operator, call.superscript, call.subscript, len(call.arguments)


def _is_head(call: Call) -> bool:
    """Whether it is the call of a function of the program's own, with plain names for its arguments."""
    is_user_function = call.operator not in FUNCTIONS and call.operator.isidentifier()
    return (
        is_user_function
        and bool(call.arguments)
        and all(spelled(argument) is not None for argument in (*call.arguments, *call.parameters))
    )
