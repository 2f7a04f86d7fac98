"""Rejection of equations whose left-hand side is an element of a call, and of functions as arguments.

Examples are f(x)_{h(i)} = … and g(f, x) = f(x). Each error suggests the equations to write instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Equation, Index, Name, Signature, Subscript
from grammar.printer import to_text
from grammar.symbols import FUNCTIONS
from grammar.traversal import rebuilt

from .names import read_spelling, walk


def refuse_elements_of_functions(source: str, program: nodes.Program) -> None:
    """Raise NotationError if a function is defined only by its elements, as in f(X)_{a(i)} = ….

    With a separate definition of the function, such an equation is an assertion.
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
    """Return whether a call can be a function's left-hand side, since all its arguments are plain names."""
    is_user_function = call.operator not in FUNCTIONS and call.operator.isidentifier()
    return (
        is_user_function
        and bool(call.arguments)
        and all(read_spelling(argument) is not None for argument in (*call.arguments, *call.parameters))
    )


def refuse_function_arguments(source: str, program: nodes.Program) -> None:
    """Raise NotationError if a parameter of a function has a signature, since functions cannot be arguments.

    A parameter with the same name as a defined function is rejected only if the equation calls the parameter.
    """
    typed = {statement.head.operator for statement in program.statements if isinstance(statement, Signature)}
    equations = [statement for statement in program.statements if isinstance(statement, Equation)]
    defined = [(equation, head) for equation in equations if isinstance(head := equation.sides[0], Call)]
    names = {head.operator for _, head in defined}
    for equation, head in defined:
        for position, parameter in enumerate(head.arguments):
            name = parameter.text if isinstance(parameter, Name) else ""
            if name in typed and (name not in names or name in _find_applied(equation)):
                raise NotationError(
                    114, f"{head.operator} cannot take the function {name} as an argument", source, parameter.span,
                    hint=f"write an equation for each function: {_example(program, equation, position)}",
                )  # fmt: skip


def _find_applied(equation: Equation) -> set[str]:
    return {node.operator for side in equation.sides[1:] for node in walk(side) if isinstance(node, Call)}


def _example(program: nodes.Program, equation: Equation, position: int) -> str:
    """Return an example with the passed function inlined: twice_h(t) = h(h(t)) for twice(f, t) = f(f(t))."""
    head = equation.sides[0]
    assert isinstance(head, Call)
    calls = (node for node in walk(program) if isinstance(node, Call) and node.operator == head.operator)
    passed = (call.arguments[position] for call in calls if call != head and len(call.arguments) > position)
    name = next((argument.text for argument in passed if isinstance(argument, Name)), "h")
    parameter = head.arguments[position]

    def replace_function(node: Any) -> Any:
        node = rebuilt(node, replace_function)
        return replace(node, operator=name) if isinstance(node, Call) and Name(node.operator) == parameter else node

    label, arguments = (Name(name), *head.subscript), tuple(one for one in head.arguments if one != parameter)
    left = replace(head, subscript=label, arguments=arguments) if arguments else Subscript(Name(head.operator), label)
    return to_text(replace(equation, sides=(left, *map(replace_function, equation.sides[1:]))))
