"""Express the derivative of a formula as a program: the formula's statements, followed by ∂…/∂X* of its value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Axis, Derivative, Equation, Node, Signature, Value
from grammar.parser import parse

from ..core.suggestions import did_you_mean, near
from ..scope.binder import bind
from ..scope.names import Key, key, read_spelling, walk
from ..scope.symbols import Definition, FunctionDefinition, Scope
from ..scope.value_of_program import last_member, restore_written
from .stars import marks, marks_in


def differentiate_program(
    source: str, by: str, tree: nodes.Program, of: FunctionDefinition | Node | None = None
) -> nodes.Program:
    """Append the derivative of `of` with respect to a name, and return the program.

    By default, `of` is the program's value or, if it has no value, its last function. Raise NotationError if `by` is
    not a name or does not occur in the program.
    """
    scope = bind(source, tree)
    variable = parse_name(by)
    words = {node.text for node in walk(tree) if isinstance(node, nodes.Name)}
    if key(by).base not in words:
        used = sorted(words)
        raise NotationError(
            201,
            f"cannot differentiate with respect to {by}: the formula uses {', '.join(used) or 'no name'}",
            hint=did_you_mean(near(by, used)) or (f'write wrt="{used[0]}"' if len(used) == 1 else None),
        )
    used = marks_in(tree)
    mark = next(mark for mark in marks() if mark not in used)
    last = scope.last
    if isinstance(of, FunctionDefinition):
        more: tuple[Any, ...] = derive_function(scope, of, variable, mark)
    elif of is not None:
        more = (Value(Derivative(of, variable, mark)),)
    elif isinstance(last, Definition):
        more = (Value(Derivative(last_member(last), variable, mark)),)
    elif last is not None:
        body = restore_written(tree, last)
        ended = tuple(
            statement for statement in tree.statements if not (isinstance(statement, Value) and statement.body is body)
        )
        return replace(tree, statements=(*ended, Value(Derivative(body, variable, mark))))
    elif not list(scope.all_functions()):
        raise NotationError(
            105, "there is no value to differentiate", source, (0, len(source)),
            hint="end with the expression to differentiate",
        )  # fmt: skip
    else:
        more = derive_function(
            scope, max(scope.all_functions(), key=lambda function: function.position), variable, mark
        )
    return replace(tree, statements=(*tree.statements, *more))


def parse_name(text: str) -> Node:
    """Parse a name. Raise NotationError if the text is not a name."""
    key(text)
    body = parse(text).statements[0]
    if not isinstance(body, Value) or read_spelling(body.body) is None:
        raise NotationError(
            112, f"{text} is not a name", text, (0, len(text)), hint="differentiate with respect to a name: X, W^Q"
        )
    return body.body


def derive_function(scope: Scope, function: FunctionDefinition, variable: Node, mark: str) -> tuple[Any, ...]:
    """Return the statements that define f'(X; W) = ∂f(X; W)/∂X*: the signature, if f has one, and the equation."""
    head = replace(function.head, operator=f"{function.operator}'")
    equation = Equation((head, Derivative(function.head, variable, mark)))
    signature = function.signature
    axes = None if signature is None else axes_of(scope, function, signature, read_spelling(variable).key())  # type: ignore[union-attr]
    if signature is None or axes is None:
        return (equation,)
    starred = tuple((Axis(axis.name + mark), size) for axis, size in axes)
    codomain = replace(signature.codomain, axes=(*signature.codomain.axes, *starred))
    text = replace(signature.head, operator=f"{signature.head.operator}'")
    return (Signature(text, signature.domain, codomain), equation)


def axes_of(scope: Scope, function: FunctionDefinition, signature: Signature, expected: Key) -> tuple[Any, ...] | None:
    """Return the declared axes and sizes of a function's argument or parameter, or None if they are unknown."""
    for parameter, of in zip(function.parameters, signature.domain):
        if parameter.key() == expected:
            return of.axes
    for name, of in function.declarations.items():
        if name == expected:
            return of.axes
    return next((sets[0].axes for _, name, sets, _ in scope.declarations if name.key() == expected), None)
