"""Derivatives, for the reference evaluator: limits of quotients of differences, as §5.1 of the paper defines them.

[∂Y/∂X*]_{s, r*} is how fast the number of Y at the record s grows with the number of X at the record r, everything else
left as it is: (Y(X + h) − Y(X − h)) / 2h for a small h. Two such quotients, of h and 2h, are combined so that what is
wrong with them, which grows as h², cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from grammar import nodes
from grammar.errors import NotationError

from ..scope.names import Key, spelled, walk
from .definitions import Tensor, records
from .environment import Environment

STEP = 1e-3


def derivative(evaluation: Any, node: nodes.Derivative, env: Environment) -> Tensor:
    name = spelled(node.variable)
    if name is None:
        raise NotationError(112, "a derivative is taken with respect to a name")
    key, X = evaluation.key_of(name, env), evaluation.value(node.variable, env)
    starred = {axis: axis + node.mark for axis in X.shape}
    at = evaluation.value(node.body, env)
    for axis in starred.values():
        if axis in at.shape:
            raise NotationError(303, f"the derivative would have the axis {axis} twice")
    moving = partial(moved, evaluation, node.body, env, key, X)
    each = {tuple(record.values()): slope(partial(moving, record)) for record in records(X.shape)}
    shape = {**at.shape, **{starred[axis]: size for axis, size in X.shape.items()}}
    return Tensor(shape, lambda record: each[tuple(record[starred[axis]] for axis in X.shape)](record))


def slope(value: Callable[[float], Tensor]) -> Tensor:
    """The derivative of a function of a number, at zero, by central difference quotients of fourth order."""
    near, far = ((value(h), value(-h)) for h in (STEP, 2 * STEP))

    def quotient(record):
        above, below, wide_above, wide_below = (Y(record) for Y in (*near, *far))
        return (8 * (above - below) - (wide_above - wide_below)) / (12 * STEP)

    return Tensor(near[0].shape, quotient)


def moved(
    evaluation: Any, body: Any, env: Environment, key: Key, X: Tensor, record: dict[Any, Any], change: float
) -> Tensor:
    """The value of the body with X larger by `change` at one record."""
    other = Tensor(X.shape, lambda each: X(each) + change * (each == record))
    return with_others(evaluation, body, env, {key: other})


def with_others(evaluation: Any, body: Any, env: Environment, others: dict[Key, Tensor]) -> Tensor:
    """The value of the body with other tensors substituted for some names."""
    top, places = evaluation.top, [*env.outwards()]
    holders = {key: holder(evaluation, key, places) for key in others}
    copies: dict[int, Environment] = {}

    def copied(place: Environment | None) -> Environment | None:
        """The environment with other tensors, nothing computed in it yet; so are all that it looks into."""
        if place is None or id(place) in copies:
            return place and copies[id(place)]
        own = {key: other for key, other in others.items() if holders[key] is place}
        elements = {key: element for key, element in place.elements.items() if key not in own}
        found = copies[id(place)] = replace(place, variables={**place.variables, **own}, elements=elements, memo={})
        found.parent, found.sizes_from = copied(place.parent), copied(place.sizes_from)
        found.facts = [fact._replace(env=copied(fact.env)) for fact in place.facts]
        return found

    evaluation.top = copied(top)
    try:
        return evaluation.value(body, copied(env))
    finally:
        evaluation.top = top


def holder(evaluation: Any, key: Key, places: list[Environment]) -> Environment:
    """The environment in which a name stands for something."""
    for place in places:
        if key in place.elements or key in place.variables or evaluation.fact(key, place, place) is not None:
            return place
    raise NotationError(201, f"{key} is not a tensor with another meaning")


# ------------------------------------------------------------------------------------------ equations of differentials
def changes_in(evaluation: Any, sides: tuple[Any, ...], env: Environment) -> dict[Key, tuple[Tensor, Tensor]]:
    """For the names that an equation has the ∂ of, what they stand for and a change of it; those defined by others follow."""
    found = [node.body for side in sides for node in walk(side) if isinstance(node, nodes.Differential)]
    keys = {evaluation.key_of(name, env): body for body in found if (name := spelled(body)) is not None}
    names = [name for body in found if spelled(body) is None for name in walk(body) if isinstance(name, nodes.Name)]
    within = {evaluation.key_of(spelled(name), env): name for name in names}
    bodies = {**within, **keys}
    given = [
        {key for key in some if any(key in place.variables for place in env.outwards())} for some in (keys, within)
    ]
    values = {key: evaluation.value(bodies[key], env) for key in given[0] or given[1] or keys}
    draw = Random(0)
    return {key: (X, Tensor(X.shape, lambda record: draw.uniform(-1, 1))) for key, X in values.items()}


def differential(evaluation: Any, node: nodes.Differential, env: Environment) -> Tensor:
    """The directional derivative of the body along the changes of its names."""
    if not evaluation.changes:
        raise NotationError(405, "a differential by itself has no value")

    def at(h: float) -> Tensor:
        others = {
            key: Tensor(X.shape, lambda record, X=X, H=H: X(record) + h * H(record))
            for key, (X, H) in evaluation.changes.items()
        }
        return with_others(evaluation, node.body, env, others)

    return slope(at)
