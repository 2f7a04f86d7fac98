"""Stack the members of a family along an axis.

In `H_{time(t)} = h^t` and `∑_{t=1}^{n} h^t`, the index t is a tensor, and the members h^t are stacked along the axis
of t.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar.nodes import Node, Subscript, Superscript

from ..core.sizes import is_ground, resolve
from ..scope.names import read_spelling, walk
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .counting import UnrollableError, is_value, try_typing
from .loops import MAX_FIRST_STEPS, MIN_LOOP_STEPS, RolledLoop, counter, loop_to
from .recurrences import RecurrenceState


class StackedIndex:
    """An index that varies along an axis and starts at `first`. Members of a family are stacked along this axis."""

    mark = None  # Its variable occurs in no label.

    def __init__(self, axis: str, first: int, size: Any):
        self.axis, self.first, self.size = axis, first, size

    def member(self, checker: Inference, recurrence: RecurrenceState, offset: int) -> Term:
        if not is_ground(self.size):
            raise UnrollableError
        start = self.first + offset
        return stack_members(checker, recurrence, range(start, start + resolve(self.size)), self.axis)


def stack_members(checker: Inference, recurrence: RecurrenceState, steps: range, axis: str) -> Term:
    """Return the members at consecutive steps, stacked along an axis.

    Members before the loop are typed one by one. The others are states of the loop.
    """
    low, high = recurrence.range(checker)
    loop = None
    if len(steps) >= MIN_LOOP_STEPS and low <= steps[:: recurrence.direction][-1] <= high:
        loop = loop_with(checker, recurrence, low if recurrence.direction > 0 else high, steps)
    order = steps[:: recurrence.direction]
    alone = len(order) if loop is None else max(0, (loop.base - order[0]) * recurrence.direction + 1)
    parts = [checker.spread(recurrence.at(checker, step), {axis: 1}) for step in order[:alone]]
    if loop is not None:
        parts.append(stack_states(checker, loop, axis, order[alone:][:: recurrence.direction]))
    parts = parts[:: recurrence.direction]
    if len(parts) == 1:
        return parts[0]
    shape = {axis: len(steps), **{name: size for part in parts for name, size in part.shape.items() if name != axis}}
    positions = tuple(range(len(steps)))
    return checker.graph.intern(
        "fill",
        tuple(parts),
        options=(axis, positions),
        shape=shape,
        boolean=parts[-1].boolean,
        node=recurrence.family.body,
    )


def loop_with(checker: Inference, recurrence: RecurrenceState, first: int, steps: range) -> RolledLoop | None:
    """Return a loop that computes these steps, except possibly the first few, or None if there is no such loop."""
    direction = recurrence.direction
    begin, end = (steps[0], steps[-1])[::direction]
    for loop in recurrence.holder.loops.get(recurrence.cache_key, ()):
        if (loop.last - end) * direction >= 0 and (
            max(begin * direction, first * direction + MAX_FIRST_STEPS) - loop.base * direction
        ) >= 0:
            return loop
    if (
        not checker.rolls
        or recurrence.family.name.base in checker.scope.varied
        or (end - first) * direction < MIN_LOOP_STEPS
        or recurrence.cache_key in recurrence.holder.unrollable
    ):
        return None
    return loop_to(checker, recurrence, first, end)


def stack_states(checker: Inference, loop: RolledLoop, axis: str, steps: range) -> Term:
    """Return the states of a loop after these steps, stacked along an axis."""
    node, boolean = loop.loop.node, loop.state.boolean

    def states(along: str) -> Term:
        shape = {along: abs(loop.last - loop.base), **loop.state.shape}
        return checker.graph.intern(
            "through", (loop.loop,), options=(loop.number, along), shape=shape, boolean=boolean, node=node
        )

    if steps == range(loop.base + 1, loop.last + 1):
        return states(axis)
    every = states(f"{axis}@all")
    first = counter(checker, axis, (steps[0] - loop.base) * loop.direction, len(steps), loop.direction, node)
    shape = {axis: len(steps), **loop.state.shape}
    return checker.graph.intern("index", (every, first), (f"{axis}@all",), shape=shape, boolean=boolean, node=node)


def lift_term(
    checker: Inference, variable: str, size: Any, body: Node, env: Environment, typed: Callable[[], Any]
) -> Any:
    """Return the result of `typed`, which types a body with a tensor as the value of its variable.

    Return None if the typing fails, or if the size is small or unknown. Also return None if the body uses the variable
    for anything except a number or the index of a family.
    """
    if not is_ground(size) or resolve(size) < MIN_LOOP_STEPS or not checker.rolls:
        return None
    return try_typing(checker, env, typed) if is_value(checker, variable, body, env) else None


def laid(checker: Inference, variable: str, size: Any, body: Node, env: Environment, typed: Callable[[], Any]) -> Any:
    """Return the result of `typed`, which types a body whose variable is an index over the elements of a tensor.

    Return None if `lift_term` does. A small size is allowed, however, if the body contains members over two indices.
    """
    if has_two_indices(checker, body):
        size = MIN_LOOP_STEPS
    return lift_term(checker, variable, size, body, env, typed)


def has_two_indices(checker: Inference, body: Node) -> bool:
    """Return whether the body mentions a member of a family over two indices."""
    bases = checker.scope.bases_over_two_indices
    if not bases:
        return False
    names = (read_spelling(node) for node in walk(body) if isinstance(node, (Superscript, Subscript)))
    return any(name is not None and name.base in bases for name in names)
