r"""Recognition of definitions that equal built-in functions, such as \nfun{\ax}{norm} X = \sqrt{\nsum{\ax} X^2}."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.printer import to_text

from ..operators import REGISTRY
from ..operators.usage import tensors
from ..scope.heads import heads
from ..scope.names import walk


def is_built_in(tree: nodes.Program, span: Span) -> bool:
    """Return whether a function's definition at a span is proved to equal the built-in function of the same name.

    For a signature, check the definitions of the function.
    """
    equations = [statement for statement in tree.statements if isinstance(statement, nodes.Equation)]
    here = [statement for statement in tree.statements if statement.span[0] <= span[0] < statement.span[1]]
    names = {head.operator for statement in here for head in heads(statement) if isinstance(head, nodes.Call)}
    defining = [equation for equation in equations if equation in here] or [
        equation for equation in equations if getattr(equation.sides[0], "operator", "") in names
    ]
    return bool(defining) and all(map(_is_proved, defining))


def _is_proved(equation: nodes.Equation) -> bool:
    """Return whether an equation is proved if its left-hand side is read as the built-in function."""
    from ..derivations.equal_forms import has_proof

    head = equation.sides[0]
    if not isinstance(head, nodes.Call):
        return False
    arguments = [to_text(nodes.Program((nodes.Value(argument),))) for argument in head.arguments]
    record = REGISTRY.get(head.operator)
    if equation.range is not None or record is None or not all(isinstance(name, nodes.Name) for name in head.arguments):
        return False
    axes = [axis.text for axis in head.subscript if isinstance(axis, nodes.Name)]
    declared = [f"{argument} ∈ {tensors(axes)}" for argument in arguments]
    for options in _options(equation, head) if record.options and not head.parameters else [head.parameters]:
        sides = (replace(head, parameters=options), *equation.sides[1:])
        try:
            if has_proof("\n".join([*declared, to_text(nodes.Program((nodes.Equation(sides),)))]), {}):
                return True
        except NotationError:
            continue
    return False


def _options(equation: nodes.Equation, head: nodes.Call) -> list[tuple[Any, ...]]:
    """Return the candidate options for which the built-in function could equal the definition.

    The candidates are the default options, 0, and the names in the definition.
    """
    given = {name.text for name in (*head.arguments, *head.subscript) if isinstance(name, nodes.Name)}
    names = {node.text: node for side in equation.sides[1:] for node in walk(side) if isinstance(node, nodes.Name)}
    return [(), (nodes.Number(0),), *((name,) for text, name in names.items() if text not in given)]
