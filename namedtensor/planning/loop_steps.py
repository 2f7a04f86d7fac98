"""A loop as one step of a plan: its body is a plan like any other, of the states, one element of each slice, and the rest.

The states keep their layout and their dtype, which is found by planning the body until it gives what it was given.
"""

from __future__ import annotations

from collections.abc import Sequence

from grammar.errors import NotationError

from ..core.axes import Order
from ..core.sizes import is_ground, resolve
from ..terms.loop_bodies import Loop
from ..terms.terms import Term, without_variables
from .lowering import LoopStep, Lowering
from .plan import Plan, Value


def loop(lowering: Lowering, term: Term) -> Value:
    """The step of a loop, which gives nothing by itself: its states are items of it."""
    return _looped(lowering, term).step


def _looped(lowering: Lowering, term: Term) -> LoopStep:
    """The step of a loop, made once."""
    found = lowering.loop_steps.get(id(term))
    if found is None:
        found = lowering.loop_steps[id(term)] = _made(lowering, term)
    return found


def _made(lowering: Lowering, term: Term) -> LoopStep:
    (loop,) = term.options
    assert isinstance(loop, Loop)
    b, count = lowering.builder, len(loop.states)
    values = [lowering.array(each) for each in term.arguments]
    initial = [begun(lowering, *each) for each in zip(loop.states, values[:count])]
    rest = [
        b.floating(each) if each.dynamic or (each.fixed and b.kind(each) in "iu") else each for each in values[count:]
    ]
    slices = [b.reorder(each, (loop.axis, *without(each.order, loop.axis))) for each in rest[: len(loop.slices)]]
    given = rest[len(loop.slices) :]
    lowering.loops += 1
    name = f"{lowering.prefix}loop_{lowering.loops}"
    while True:
        plan, states = body(lowering, loop, name, initial, [of_one(each) for each in slices], given)
        dtypes = [met(lowering, *pair) for pair in zip(initial, states)]
        if dtypes == [each.dtype for each in initial]:
            break
        initial = [b.cast(each, dtype) for each, dtype in zip(initial, dtypes)]
    kept = tuple(sorted({user.options[0] for user in lowering.uses[id(term)] if user.operator == "through"}))
    step = b.step(
        "loop", (*initial, *slices, *given), (), (), initial[0].dtype, plan=plan, function=name, states=count,
        slices=len(slices), steps=loop.steps, kept=kept,
    )  # fmt: skip
    return LoopStep(step, tuple(initial), kept)


def begun(lowering: Lowering, state: Term, value: Value) -> Value:
    """What a state is at first, with all its axes; whole numbers as floating ones, which a recurrence soon outgrows."""
    b = lowering.builder
    value = value if state.boolean else b.floating(value)
    order = value.order if set(value.order) == set(state.shape) else tuple(state.shape)
    unknown = next((axis for axis in order if not is_ground(resolve(state.shape[axis]))), None)
    if unknown is not None:
        raise NotationError(309, f"the size of {unknown} is not known")
    return b.broadcast(value, order, lowering.extents(state, order))


def without(order: Order, axis: str) -> Order:
    return tuple(name for name in order if name != axis)


def of_one(value: Value) -> Value:
    """One element of a slice, whose first axis is that of the steps."""
    return Value(value.order[1:], value.shape[1:], value.dtype)


def met(lowering: Lowering, before: Value, after: Value) -> str:
    """The dtype of a state that was of one, and has become another."""
    b = lowering.builder
    if before.dtype == after.dtype or b.kind(after) in "bui":
        return before.dtype
    return b.common_dtype((before, after))


def body(
    lowering: Lowering, loop: Loop, name: str, states: Sequence[Value], slices: Sequence[Value], given: Sequence[Value]
) -> tuple[Plan, list[Value]]:  # fmt: skip
    """The plan of one step, and what it makes of the states before these are cast to what they were."""
    inner = lowering.inner()
    inner.builder.in_block, inner.prefix, inner.user_functions = False, f"{name}_", lowering.user_functions
    for term, value in zip(loop.inputs, (*states, *slices, *given)):
        called, shown = term.options
        inner.inputs[called] = inner.builder.input(shown, value.order, value.shape, value.dtype)
    b, made, results = inner.builder, [], []
    for value, before in zip(inner.lower_all(without_variables(loop.results)), states):
        value = b.array(value)
        made.append(value)
        results.append(b.cast(b.broadcast(value, before.order, before.shape), before.dtype))
    return b.plan(lowering.source, results, f"{name}_"), made


def after(lowering: Lowering, term: Term) -> Value:
    """A state after the last step."""
    found, number = _looped(lowering, term.arguments[0]), term.options[0]
    state = found.states[number]
    return lowering.builder.step("item", (found.step,), state.order, state.shape, state.dtype, at=number)


def through(lowering: Lowering, term: Term) -> Value:
    """A state after each step."""
    number, axis = term.options
    found = _looped(lowering, term.arguments[0])
    state, at = found.states[number], len(found.states) + found.kept.index(number)
    order, shape = (axis, *state.order), (term.arguments[0].options[0].steps, *state.shape)
    return lowering.builder.step("item", (found.step,), order, shape, state.dtype, at=at)
