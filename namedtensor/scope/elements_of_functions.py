"""Functions defined by elements, f(x)_{h(i)} = x_{h(i)} + 1, desugared: their value is a tensor that is so defined.

f(x)_{h(i)} = x_{h(i)} + 1        f(x) = Y
                                  Y_{h(i)} = x_{h(i)} + 1

What has another definition is not defined so: there it is a claim.
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
    heads = [each.sides[0] for each in program.statements if isinstance(each, Equation)]
    defined = {_name(head) for head in heads if isinstance(head, Call)}
    made: set[Any] = set()
    found: list[Any] = []
    for each in program.statements:
        head = each.sides[0] if isinstance(each, Equation) else None
        call = head.base if isinstance(head, Index) else None
        if not isinstance(call, Call) or _name(call) in defined or not _is_head(call):
            found.append(each)
            continue
        name = Name(source[slice(*call.span)], call.span)
        if _name(call) not in made:
            made.add(_name(call))
            found.append(Equation((call, name), span=each.span))
        found.append(replace(each, sides=(replace(head, base=name), *each.sides[1:])))  # type: ignore[arg-type]
    return replace(program, statements=tuple(found))


def defines_elements(statement: Any) -> bool:
    """Whether elements of a call stand on the left of an equation."""
    head = statement.sides[0] if isinstance(statement, Equation) else None
    return isinstance(head, Index) and isinstance(head.base, Call)


def _name(call: Call) -> tuple[Any, ...]:
    return call.operator, call.superscript, call.subscript, len(call.arguments)


def _is_head(call: Call) -> bool:
    """Whether it is the call of a function of the program's own, with plain names for its arguments."""
    own = call.operator not in FUNCTIONS and call.operator.isidentifier()
    return (
        own and bool(call.arguments) and all(spelled(each) is not None for each in (*call.arguments, *call.parameters))
    )
