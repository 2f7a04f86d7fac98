"""Loops in plans. A loop is one step, whose body is a plan with states, slice elements and invariant values as inputs.

Members that are stored in one array are passed as slices of this array. Each state has the same axis order, sizes and
dtype after every step. To find the dtype, the body is planned until its results have the same dtypes as its states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, count, repeat

from grammar.errors import NotationError

from ..core.axes import Order
from ..core.sizes import is_ground, resolve
from ..terms.loop_bodies import Loop
from ..terms.terms import Term, topological
from . import whole_numbers
from .builder import PlanBuilder
from .dtypes import FLOATING
from .lowering import LoopStep, Lowering, sizes_of
from .plan import Argument, Plan, PlanValue

INDEXED = ("index", "scatter")  # operators whose second argument is an index


def loop(lowering: Lowering, term: Term) -> PlanValue:
    """Lower a loop and return the value of its step.

    This value is not an array. Its items are the final states, followed by the states recorded after every step.
    """
    loop_step = lowering.loop_steps[id(term)] = _trace_loop(lowering, term)
    return loop_step.step


def _trace_loop(lowering: Lowering, term: Term) -> LoopStep:
    loop, arguments, terms, names = with_families(lowering, term)
    b, number = lowering.builder, len(loop.states)
    values = [argument if isinstance(argument, PlanValue) else b.constant(argument) for argument in arguments]
    initial = [begun(lowering, *pair) for pair in zip(loop.states, values[:number])]
    places = places_in(loop)
    rest = [
        b.floating(value) if value.dynamic or (value.fixed and b.kind(value) in "iu" and not position) else value
        for value, position in zip(values[number:], places)
    ]
    rest = met_by_data(b, initial, rest)
    ends = len(loop.slices), len(loop.slices) + len(loop.members) * loop.steps
    slices = [b.reorder(value, (loop.axis, *drop_axis(value.order, loop.axis))) for value in rest[: ends[0]]]
    members = [alike(b, rest[at : at + loop.steps]) for at in range(ends[0], ends[1], loop.steps)]
    constants = rest[ends[1] :]
    donated = frozenset(
        inner for inner, outer, other in zip(loop.members, terms, members)
        if all(map(lowering.is_donated, outer)) and other == [*map(lowering.value, outer)]
    )  # fmt: skip
    lowering.loops += 1
    name = f"{lowering.prefix}loop_{lowering.loops}"
    for planned in count():
        elements = [*map(take_one, slices), *(other[0] for other in members)]
        plan, states = body(lowering, loop, name, initial, elements, constants, donated, names)
        dtypes = [met(lowering, *pair, only_wider=planned > number) for pair in zip(initial, states)]
        if dtypes == [value.dtype for value in initial]:
            break
        initial = [b.cast(value, dtype) for value, dtype in zip(initial, dtypes)]
    users = lowering.uses[id(term)]
    options = tuple(sorted({user.options[0] for user in users if user.operator == "through"}))
    between = (user.options[0] for user in users if user.operator == "after" and user.options[1] < loop.steps - 1)
    listed = tuple(sorted({*between}))
    step = b.step(
        "loop", (*initial, *slices, *chain.from_iterable(members), *constants), (), (), initial[0].dtype,
        plan=plan, function=name, states=number, slices=len(slices), members=len(members), steps=loop.steps, kept=options,
        listed=listed,
    )  # fmt: skip
    return LoopStep(step, tuple(initial), options, listed)


def with_families(lowering: Lowering, term: Term) -> tuple[Loop, list[Argument], list[Sequence[Term]], dict[Term, str]]:
    """Return a loop, its arguments, the terms of each member, and names of members for the target's placement.

    A family that is stored in one array becomes a sliced argument of the loop. If the target has a placement, each
    member whose terms are all inputs is mapped to the name of the first one.
    """
    (loop,) = term.options
    assert isinstance(loop, Loop)
    values, steps = lowering.values_of(term), loop.steps
    begin = len(loop.states) + len(loop.slices)
    end = begin + len(loop.members) * steps
    groups = [term.arguments[at : at + steps] for at in range(begin, end, steps)]
    names = {
        inner: terms[0].options[0]
        for inner, terms in zip(loop.members, groups)
        if lowering.target.placement is not None and all(argument.operator == "input" for argument in terms)
    }
    for at, inner in enumerate(loop.members):  # the loop's body places these inputs
        if inner in names:
            span = slice(begin + at * steps, begin + (at + 1) * steps)
            values[span] = [lowering.stored.get(id(argument), lowering.value(argument)) for argument in groups[at]]
    whole = [family(lowering, terms, loop.axis) for terms in groups]
    slices = [inner for inner, value in zip(loop.members, whole) if value is not None]
    listed = [inner for inner, value in zip(loop.members, whole) if value is None]
    lists = chain.from_iterable(values[begin + at * steps :][:steps] for at, value in enumerate(whole) if value is None)
    return (
        replace(loop, slices=(*loop.slices, *slices), members=tuple(listed)),
        [*values[:begin], *(value for value in whole if value is not None), *lists, *values[end:]],
        [terms for terms, value in zip(groups, whole) if value is None],
        names,
    )


def family(lowering: Lowering, terms: Sequence[Term], axis: str) -> PlanValue | None:
    """Return an array whose first axis contains the values of these terms in order, or None if no such array exists."""
    b, members = lowering.builder, lowering.members
    result = [members.get(term.options[0]) if term.operator == "input" else None for term in terms]
    if result[0] is None:
        return None
    whole, first = result[0]
    if result != [(whole, index) for index in range(first, first + len(terms))]:
        return None
    whole = b.renamed(whole, (axis, *lowering.array(terms[0]).order))
    if len(terms) == whole.shape[0]:
        return whole
    first_last = b.reorder(whole, (*whole.order[1:], axis))
    return b.reorder(b.part(first_last, first, len(terms)), whole.order)


def member(lowering: Lowering, name: str) -> PlanValue:
    """Return the member of a family with this name from the array that stores the family."""
    whole, position = lowering.members[name]
    return lowering.builder.pick(whole, {whole.order[0]: position})


def places_in(loop: Loop) -> list[bool]:
    """Return, for each argument of a loop that is not a state, whether the loop's body uses it only as indices."""
    as_places: dict[int, bool] = {}
    for term in topological(*loop.results):
        for index, argument in enumerate(term.arguments):
            as_places[id(argument)] = as_places.get(id(argument), True) and term.operator in INDEXED and index == 1
    lists = chain.from_iterable(map(repeat, loop.members, repeat(loop.steps)))
    return [as_places.get(id(slice_), False) for slice_ in (*loop.slices, *lists, *loop.given)]


def begun(lowering: Lowering, state: Term, value: PlanValue) -> PlanValue:
    """Return the initial value of a state, broadcast to the state's axes, in a dtype wide enough for the recurrence."""
    b = lowering.builder
    if not state.boolean:
        value = whole_numbers.for_recurrence(b, value) if b.kind(value) in whole_numbers.WHOLE else b.floating(value)
    order = value.order if set(value.order) == set(state.shape) else tuple(state.shape)
    unknown = next((axis for axis in order if not is_ground(resolve(state.shape[axis]))), None)
    if unknown is not None:
        raise NotationError(309, f"the size of {unknown} is not known")
    return b.broadcast(value, order, lowering.extents(state, order))


def met_by_data(b: PlanBuilder, initial: Sequence[PlanValue], rest: Sequence[PlanValue]) -> list[PlanValue]:
    """Return `rest`, the arguments of a loop after the initial states, with weak and fixed floats cast.

    Their new dtype is the dtype of the other floats among the states and arguments, if these floats share one dtype.
    """
    floating = {dtype for dtype in {value.dtype for value in (*initial, *rest)} if b.target.kind(dtype) in FLOATING}
    weak = [value.dtype in floating and (value.weak or value.fixed) for value in rest]
    strong = {value.dtype for value, is_weak in zip(rest, weak) if not is_weak}
    strong |= {value.dtype for value in initial if not (value.weak or value.fixed)}
    (dtype, *more) = strong & floating or (None,)
    if dtype is None or more:
        return [*rest]
    return [b.cast(value, dtype) if is_weak else value for value, is_weak in zip(rest, weak)]


def alike(b: PlanBuilder, values: Sequence[PlanValue]) -> list[PlanValue]:
    """Return the values after converting them to a common order of axes and a common dtype."""
    order, dtype = values[0].order, b.common_dtype(values)
    if {(value.order, value.dtype, value.dynamic) for value in values} == {(order, dtype, False)}:
        return [*values]
    return [b.cast(b.reorder(value, order), dtype) for value in values]


def drop_axis(order: Order, axis: str) -> Order:
    return tuple(name for name in order if name != axis)


def take_one(value: PlanValue) -> PlanValue:
    """Return a prototype of one element of a value along its first axis, which is the axis of the loop."""
    return PlanValue(
        value.order[1:], value.shape[1:], value.dtype, value.fixed, interval=value.interval, weak=value.weak
    )


def met(lowering: Lowering, before: PlanValue, after: PlanValue, only_wider: bool) -> str:
    """Return the common dtype of the values that a state has before and after a step of the loop.

    If the value after the step is an integer or Boolean, this is the dtype before the step. If `only_wider` is true,
    the result is never narrower than either float dtype, so that repeated planning terminates.
    """
    b = lowering.builder
    if before.dtype == after.dtype or b.kind(after) in "bui":
        return before.dtype
    return b.target.result_type([before.dtype, after.dtype]) if only_wider else b.common_dtype((before, after))


def body(
    lowering: Lowering, loop: Loop, name: str, states: Sequence[PlanValue], elements: Sequence[PlanValue], given: Sequence[PlanValue],
    donated: Set[Term], names: Mapping[Term, str],
) -> tuple[Plan, list[PlanValue]]:  # fmt: skip
    """Return the plan for one step of a loop, and its results before conversion to the axes and dtypes of the states.

    The plan may overwrite the `donated` members.
    """
    inner = lowering.lower_body()
    inner.prefix, inner.user_functions = f"{name}_", lowering.user_functions
    for term, value in zip(loop.inputs, (*states, *elements, *given)):
        called, shown = term.options
        known = None if any(value is state for state in states) else value
        entry = inner.builder.input(shown, value.order, value.shape, value.dtype, known)
        entry.weak = value.weak
        placement = lowering.target.placement if term in names else None
        inner.inputs[called] = (
            entry if placement is None else inner.placed_as(entry, placement.of_input(names[term], sizes_of(entry)))
        )
    inner.builder.donated = frozenset(inner.inputs[term.options[0]] for term in donated)
    b, result, results = inner.builder, [], []
    for value, before in zip(inner.lower_all(inner.tables.normalize(loop.results, True)), states):
        value = b.array(value)
        result.append(value)
        results.append(b.cast(b.broadcast(value, before.order, before.shape), before.dtype))
    return b.plan(lowering.source, results, f"{name}_"), result


def lower_state_after(lowering: Lowering, term: Term) -> PlanValue:
    """Return the value that a state has after a given step of a loop."""
    step, (number, options) = lowering.loop_steps[id(term.arguments[0])], term.options
    b, state = lowering.builder, step.states[number]
    if options == term.arguments[0].options[0].steps - 1:
        return b.step("item", (step.step,), state.order, state.shape, state.dtype, at=number)
    at = len(step.states) + len(step.kept) + step.listed.index(number)
    every = b.step("item", (step.step,), (), (), state.dtype, at=at)
    return b.step("item", (every,), state.order, state.shape, state.dtype, at=options)


def lower_states(lowering: Lowering, term: Term) -> PlanValue:
    """Return the values that a state has after each step of a loop, as one array."""
    number, axis = term.options
    step = lowering.loop_steps[id(term.arguments[0])]
    state, at = step.states[number], len(step.states) + step.kept.index(number)
    order, shape = (axis, *state.order), (term.arguments[0].options[0].steps, *state.shape)
    return lowering.builder.step("item", (step.step,), order, shape, state.dtype, at=at)
