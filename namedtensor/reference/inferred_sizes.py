"""Sizes of axes that equations make, for the reference evaluator: the values of the equations tell them.

`[3, 1]_{a}` has an axis a of size 2, whoever asks. Each equation of a call, or of the program, is computed; one that cannot
be, because it needs the very size that is asked for, is taken apart, and its parts are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Axis, Call, Number, Size, axis_of
from grammar.traversal import children

from ..scope.names import walk
from ..scope.resized_axes import resizes
from .definitions import Tensor
from .environment import Environment


def inferred_sizes(evaluation: Any, axis: str, place: Environment) -> set[int]:
    """The sizes that an axis has in what a call, or the program, makes."""
    mark = ("made", axis, id(place.function))
    if mark in evaluation.busy:  # what needs the size says nothing of it, whatever a caller's size is
        raise NotationError(309, f"the size of {axis} is asked for while it is inferred", symbol=axis, axis=axis)
    if not any(names(node, axis, place) for node in statements(evaluation)):
        return set()
    evaluation.busy.add(mark)
    try:
        env = place if place.parent is None else replace(place, memo={})
        values = [(node, value_of(evaluation, node, env)) for node in bodies(evaluation, place)]
        found = {size for node, X in values for size in sizes_in(evaluation, node, X, axis, env)}
        if found:
            return found
        inner = [part for what, _ in values for node in expressions(evaluation, what, env) for part in parts(node)]
        return {size for node in inner for size in sizes_below(evaluation, node, axis, env)}
    finally:
        evaluation.busy.discard(mark)


def sizes_before_windows(evaluation: Any, axis: str) -> set[int]:
    """The sizes that an axis has in what the program makes, before windows and slices along it."""
    top, scope = evaluation.top, evaluation.scope
    waiting, inner, found = bodies(evaluation, top), [], set[int]()
    while waiting:
        what = waiting.pop()
        equations = expressions(evaluation, what, top)
        below = [part for node in equations for part in parts(node)]
        if any(resizes(scope, node, axis) for node in equations):
            waiting += below
        else:
            found |= set(sizes_in(evaluation, what, value_of(evaluation, what, top), axis, top))
            inner += below
    return found or {size for node in inner for size in sizes_below(evaluation, node, axis, top)}


def statements(evaluation: Any) -> Iterator[Any]:
    return walk(evaluation.scope.program)


def bodies(evaluation: Any, place: Environment) -> list[Any]:
    """The expressions computed in a call, or in the program: a definition as the name that it gives."""
    scope = evaluation.scope
    keys = list(definitions(evaluation, place))
    for family in (place.function or scope).families:
        assert family.range is not None
        first: dict[str, Any] = {}
        for over in family.range.each:
            inner = Environment(parent=place, sizes_from=place, indices=dict(first))
            first[over.variable.text] = evaluation.size_value(over.first, inner)
        keys.append(family.name.key(first.get))
    if place.function:
        return [*keys, place.function.body]
    claims = [side for claim in scope.claims for side in (claim.left, claim.right) if not isinstance(side, nodes.Set)]
    return [*keys, *(body for _, body in scope.values), *claims]


def definitions(evaluation: Any, place: Environment) -> dict[Any, list[Any]]:
    return place.function.facts if place.function else evaluation.scope.definitions


def value_of(evaluation: Any, what: Any, env: Environment) -> Tensor | None:
    """The value of a name or an expression, or None where it has none."""
    try:
        if hasattr(what, "span"):
            return evaluation.value(what, Environment(parent=env, sizes_from=env))
        return evaluation.find(what, env)
    except NotationError:
        return None


def sizes_in(evaluation: Any, what: Any, X: Tensor | None, axis: str, env: Environment) -> Iterator[int]:
    """The size of the axis in a value; where there is no value, those in the parts of what should have one."""
    if X is not None and axis in X.shape:
        yield X.shape[axis]
    elif X is None:
        for node in expressions(evaluation, what, env):
            for part in parts(node):
                yield from sizes_of_part(evaluation, part, axis, env)


def sizes_of_part(evaluation: Any, node: Any, axis: str, env: Environment) -> Iterator[int]:
    if not mentions(evaluation, node, axis, env):
        return
    yield from sizes_in(evaluation, node, value_of(evaluation, node, env), axis, env)


def sizes_below(evaluation: Any, node: Any, axis: str, env: Environment) -> Iterator[int]:
    """The sizes in the largest parts of an expression that have the axis."""
    if not mentions(evaluation, node, axis, env):
        return
    X = value_of(evaluation, node, env)
    if X is not None and axis in X.shape:
        yield X.shape[axis]
        return
    for part in parts(node):
        yield from sizes_below(evaluation, part, axis, env)


def expressions(evaluation: Any, what: Any, env: Environment) -> list[Any]:
    """The expression itself, or the right sides of the equations of a name, or of the family that it is of."""
    if hasattr(what, "span"):
        return [what]
    found = definitions(evaluation, env).get(what, [])
    return [each.statement for each in found or families_of(evaluation, what, env)]


def families_of(evaluation: Any, what: Any, env: Environment) -> list[Any]:
    families = (env.function or evaluation.scope).families
    return [family for family in families if family.name.base == what.base]


def parts(node: Any) -> list[Any]:
    """The operands of an expression; the right sides of an equation."""
    if not hasattr(node, "span"):
        return []
    if isinstance(node, nodes.Equation):
        return list(node.sides[1:])
    return [part for part in children(node) if not isinstance(part, (Axis, Size, Number, nodes.Range, nodes.Slice))]


def mentions(evaluation: Any, node: Any, axis: str, env: Environment) -> bool:
    """Whether an expression names the axis, or calls a function of the program, which may make it."""
    below = list(walk(node))
    calls = any(isinstance(each, Call) and each.operator in evaluation.scope.functions for each in below)
    return calls or any(names(each, axis, env) for each in below)


def names(node: Any, axis: str, env: Environment) -> bool:
    """Whether a node names the axis, and does not only ask for its size."""
    named = [node] if isinstance(node, Axis) else []
    if isinstance(node, (Call, nodes.Subscript)):
        named += filter(None, map(axis_of, node.subscript if isinstance(node, Call) else node.components))
    return any(axis in (each.name, *env.real(each.name)) for each in named)
