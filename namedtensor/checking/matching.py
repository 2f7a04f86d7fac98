"""Choose the function definition for a call, by name, scripts and number of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grammar.nodes import Call, axis_of

from ..scope.names import component
from ..scope.symbols import FunctionDefinition
from ..terms.environment import Environment
from ..terms.inference import Inference
from .counting import UnrollableError, label_steps, mark_in
from .lifting import Bindings


def matching(checker: Inference, node: Call, env: Environment) -> Iterator[tuple[FunctionDefinition, Bindings]]:
    """Yield the function definitions that match a call, best match first.

    A definition with a specific label, such as f^1, comes before a definition for every index, such as f^l.
    """
    if checker.rolled:
        check_steps(checker, node, env)
    subscripts = [{component(part, env.index), component(part)} for part in node.subscript]
    superscripts = [{component(part, env.index)} for part in node.superscript]
    result: list[tuple[tuple[Any, ...], FunctionDefinition, Bindings]] = []
    for function in checker.scope.functions_of(node.operator, subscripts, superscripts):
        bindings = match(checker, function, node, env)
        if bindings is not None:
            exact = function.head.subscript == node.subscript and function.head.superscript == node.superscript
            misfit = function.misfit(len(node.arguments), len(node.parameters))
            indices = len(bindings["numbers"]) + len(bindings["indices"])
            result.append(((misfit, indices, not exact, function.open), function, bindings))
    for _, function, bindings in sorted(result, key=lambda entry: entry[0]):
        yield function, bindings


def check_steps(checker: Inference, node: Call, env: Environment) -> None:
    """Raise UnrollableError if a function called in a loop, such as f^l, has a separate definition at one step."""
    scripts = [component(part, env.index) for part in (*node.subscript, *node.superscript)]
    for index, text in enumerate(scripts):
        mark = mark_in(checker, text)
        if mark is None:
            continue
        steps = {*label_steps(text, mark, checker.rolled[mark].numbers)}
        for function in checker.scope.functions.get(node.operator, ()):
            heads = (*function.subscript, *function.superscript)
            if len(heads) == len(scripts) and heads[index][0] == "label" and heads[index][1] in steps:
                raise UnrollableError


def match(checker: Inference, function: FunctionDefinition, node: Call, env: Environment) -> Bindings | None:
    """Match a call with a function's left-hand side. Return the axes, numbers and indices, or None for a mismatch."""
    bindings: Bindings = {"axes": {}, "numbers": {}, "indices": {}}
    heads, uses = function.subscript, node.subscript
    if len(heads) == 1 and heads[0][0] == "axis" and uses:
        names: list[str] = []
        for part in uses:
            axis = axis_of(part)
            if axis is None:
                return None
            names += env.resolve_axis(axis.name)
        bindings["axes"][heads[0][1]] = tuple(names)
    elif len(heads) != len(uses):
        return None
    else:
        for (kind, text), part in zip(heads, uses):
            axis = axis_of(part)
            if kind == "axis":
                if axis is None:
                    return None
                bindings["axes"][text] = env.resolve_axis(axis.name)
            elif kind == "number":
                bindings["numbers"][text] = part
    if len(function.superscript) != len(node.superscript):
        return None
    for (kind, text), part in zip(function.superscript, node.superscript):
        use = component(part, env.index)
        if kind == "index":
            if bindings["indices"].setdefault(text, use) != use:
                return None
        elif use != text:
            return None
    return bindings
