"""Reject left-hand sides that are elements of a call, as in f(x)_{h(i)} = …, and indices without a range."""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Equation, Index
from grammar.symbols import FUNCTIONS
from grammar.traversal import names_in

from .names import component_names, read_spelling, walk
from .uses import find_indices


def refuse_elements_of_functions(source: str, program: nodes.Program) -> None:
    """Raise NotationError if only elements of a function's result are defined, as in f(X)_{a(i)} = ….

    If the function has a separate definition, such an equation is an assertion.
    """
    heads = [statement.sides[0] for statement in program.statements if isinstance(statement, Equation)]
    defined = {_name(head) for head in heads if isinstance(head, Call)}
    for head in heads:
        call = head.base if isinstance(head, Index) else None
        if isinstance(call, Call) and _name(call) not in defined and _is_head(call):
            shown, index = source[slice(*call.span)], source[call.span[1] : head.span[1]]
            raise NotationError(
                101, "elements of a call cannot define a function", source, head.span,
                hint=f"define a tensor by its elements, Y{index} = …, and the function as {shown} = Y",
            )  # fmt: skip


def _name(call: Call) -> tuple[Any, ...]:
    return call.operator, call.superscript, call.subscript, len(call.arguments)


def _is_head(call: Call) -> bool:
    """Return whether a call can be the left-hand side of a definition because all of its arguments are names."""
    is_user_function = call.operator not in FUNCTIONS and call.operator.isidentifier()
    return (
        is_user_function
        and bool(call.arguments)
        and all(read_spelling(argument) is not None for argument in (*call.arguments, *call.parameters))
    )


def refuse_unranged_draws(source: str, program: nodes.Program) -> None:
    """Raise NotationError if a random variable such as z^t has an index, but its statement has no range for it."""
    positions = [at for node in walk(program) if isinstance(node, Index) for _, at in node.items]
    indices = find_indices(program).union(*map(names_in, positions))
    for statement in program.statements:
        draw = statement.sides[-1] if isinstance(statement, Equation) and statement.range is None else None
        labels = draw.labels if isinstance(draw, nodes.Draw) else ()
        variables = {name for part in labels for name in component_names(part)} & indices
        if isinstance(draw, nodes.Draw) and variables:
            raise NotationError(
                114, f"the range of {min(variables)} in {draw.name} is missing", source, statement.span,
                hint=f"write {source[slice(*statement.span)]} for {min(variables)} = 1, …, n",
            )  # fmt: skip
