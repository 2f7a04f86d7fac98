"""A loop as one step of a plan: its body is a plan like any other, of the states, one element of each slice, and the rest.

The states keep their layout and their dtype, which is found by planning the body until it gives what it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar.errors import NotationError

from ..core.axes import Order
from ..core.sizes import is_ground, resolve
from ..terms.loop_bodies import Loop
from ..terms.terms import Term, without_variables
from .plan import Plan, Value

if TYPE_CHECKING:
    from .planner import _Planner


class Looped(NamedTuple):
    """The step of a loop, what its states are like, and those of which it keeps all."""

    step: Value
    states: tuple[Value, ...]
    kept: tuple[int, ...]


def looped(planner: _Planner, term: Term) -> Looped:
    """The step of a loop."""
    (loop,) = term.options
    assert isinstance(loop, Loop)
    w, count = planner.writer, len(loop.states)
    values = [planner.array(each) for each in term.arguments]
    initial = [begun(planner, *each) for each in zip(loop.states, values[:count])]
    rest = [
        w.floating(each) if each.dynamic or (each.fixed and w.kind(each) in "iu") else each for each in values[count:]
    ]
    slices = [w.reorder(each, (loop.axis, *without(each.order, loop.axis))) for each in rest[: len(loop.slices)]]
    given = rest[len(loop.slices) :]
    planner.loops += 1
    name = f"{planner.prefix}loop_{planner.loops}"
    while True:
        plan, states = body(planner, loop, name, initial, [of_one(each) for each in slices], given)
        dtypes = [met(planner, *pair) for pair in zip(initial, states)]
        if dtypes == [each.dtype for each in initial]:
            break
        initial = [w.cast(each, dtype) for each, dtype in zip(initial, dtypes)]
    kept = tuple(sorted({user.options[0] for user in planner.users[id(term)] if user.operator == "through"}))
    step = w.step(
        "loop", (*initial, *slices, *given), (), (), initial[0].dtype, plan=plan, function=name, states=count,
        slices=len(slices), steps=loop.steps, kept=kept,
    )  # fmt: skip
    return Looped(step, tuple(initial), kept)


def begun(planner: _Planner, state: Term, value: Value) -> Value:
    """What a state is at first, with all its axes; whole numbers as floating ones, which a recurrence soon outgrows."""
    w = planner.writer
    value = value if state.boolean else w.floating(value)
    order = value.order if set(value.order) == set(state.shape) else tuple(state.shape)
    unknown = next((axis for axis in order if not is_ground(resolve(state.shape[axis]))), None)
    if unknown is not None:
        raise NotationError(309, f"the size of {unknown} is not known")
    return w.broadcast(value, order, planner.extents(state, order))


def without(order: Order, axis: str) -> Order:
    return tuple(name for name in order if name != axis)


def of_one(value: Value) -> Value:
    """One element of a slice, whose first axis is that of the steps."""
    return Value(value.order[1:], value.shape[1:], value.dtype)


def met(planner: _Planner, before: Value, after: Value) -> str:
    """The dtype of a state that was of one, and has become another."""
    w = planner.writer
    if before.dtype == after.dtype or w.kind(after) in "bui":
        return before.dtype
    return w.common_dtype((before, after))


def body(
    planner: _Planner, loop: Loop, name: str, states: Sequence[Value], slices: Sequence[Value], given: Sequence[Value]
) -> tuple[Plan, list[Value]]:  # fmt: skip
    """The plan of one step, and what it makes of the states before these are cast to what they were."""
    inner = planner.inside()
    inner.writer.in_block, inner.prefix, inner.python = False, f"{name}_", planner.python
    for term, value in zip(loop.inputs, (*states, *slices, *given)):
        called, shown = term.options
        inner.inputs[called] = inner.writer.input(shown, value.order, value.shape, value.dtype)
    w, made, results = inner.writer, [], []
    for term, before in zip(inner.all(without_variables(loop.results)), states):
        value = w.array(inner.value(term))
        made.append(value)
        results.append(w.cast(w.broadcast(value, before.order, before.shape), before.dtype))
    return w.plan(planner.source, results, f"{name}_"), made


def after(planner: _Planner, term: Term) -> Value:
    """A state after the last step."""
    found, number = planner.looped(term.arguments[0]), term.options[0]
    state = found.states[number]
    return planner.writer.step("item", (found.step,), state.order, state.shape, state.dtype, at=number)


def through(planner: _Planner, term: Term) -> Value:
    """A state after each step."""
    number, axis = term.options
    found = planner.looped(term.arguments[0])
    state, at = found.states[number], len(found.states) + found.kept.index(number)
    order, shape = (axis, *state.order), (term.arguments[0].options[0].steps, *state.shape)
    return planner.writer.step("item", (found.step,), order, shape, state.dtype, at=at)


RULES: dict[str, Any] = {"after": after, "through": through}
