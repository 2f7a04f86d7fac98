"""Differentiate loops. Both the JVP of a loop and its VJP are loops.

    s ← f(s, x)                      a step
    ∂s ← f'(s, x) ⊙ (∂s, ∂x)         a step of the differential, which is linear in its states and uses each earlier s
    c, ∂x ← f'(s, x)ᵀ ⊙ c            a step of the reversed loop, which runs from the last step to the first

The states of all steps are stored. The reversed loop recomputes the other values of each step. The cotangent of a
loop-invariant argument is the sum of its cotangents over the steps. A slice, or a tensor for a single step, has only
the cotangent from its step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..terms.builder import TermBuilder
from ..terms.loop_bodies import Loop
from ..terms.terms import Term, topological
from .selection import Selecting, SelectionMask, Share

Asked = Sequence[tuple[Term, Share]]  # Terms that read a loop's states, with their cotangents.
Carry = Callable[[Selecting, Sequence[tuple[Term, Share]], Sequence[Term], frozenset[str]], dict[int, Share]]
READING = ("after", "through")


class Inputs(NamedTuple):
    """The inputs of a loop's body. Each is paired with its value outside the loop: one term, or one term per step."""

    states: tuple[tuple[Term, Term], ...]
    slices: tuple[tuple[Term, Term], ...]
    members: tuple[tuple[Term, tuple[Term, ...]], ...]
    given: tuple[tuple[Term, Term], ...]


def inputs_of(loop: Loop, arguments: Sequence[Any]) -> Inputs:
    """Return the inputs of a loop's body, each paired with the matching argument of the loop."""
    ends = [len(loop.states), len(loop.states) + len(loop.slices)]
    ends.append(ends[-1] + len(loop.members) * loop.steps)
    lists = (tuple(arguments[at : at + loop.steps]) for at in range(ends[1], ends[2], loop.steps))
    return Inputs(
        tuple(zip(loop.states, arguments)), tuple(zip(loop.slices, arguments[ends[0] : ends[1]])),
        tuple(zip(loop.members, lists)), tuple(zip(loop.given, arguments[ends[2] :])),
    )  # fmt: skip


def loop_term(make: TermBuilder, inputs: Inputs, results: Iterable[Term], like: Loop) -> Term:
    """Return the term of a loop with these inputs and results. Inputs that the results do not read are removed."""
    results = tuple(results)
    read = {id(term) for term in topological(*results)}
    slices, shared = ([pair for pair in pairs if id(pair[0]) in read] for pairs in (inputs.slices, inputs.given))
    members = [pair for pair in inputs.members if id(pair[0]) in read]
    states = tuple(leaf for leaf, _ in inputs.states)
    along, alike, same = (tuple(pair[0] for pair in pairs) for pairs in (slices, members, shared))
    loop = Loop(states, along, alike, same, results, like.axis, like.steps)
    lists = (term for _, some in members for term in some)
    around = (term for pairs in (inputs.states, slices) for _, term in pairs)
    arguments = (*around, *lists, *(term for _, term in shared))
    return make.graph.intern("loop", arguments, options=(loop,), node=make.node)


def get_state_after(make: TermBuilder, loop: Term, number: int, step: int) -> Term:
    state = loop.options[0].states[number]
    return make.term("after", (loop,), (), (number, step), dict(state.shape))


def stack_states(make: TermBuilder, loop: Term, number: int) -> Term:
    body = loop.options[0]
    shape = {body.axis: body.steps, **body.states[number].shape}
    return make.term("through", (loop,), (), (number, body.axis), shape)


def leaf_of(make: TermBuilder, name: str, shape: Mapping[str, Any]) -> Term:
    """Create an input of a loop's body with `name` as its name in the source text."""
    return make.term("input", (), (), (f"{name} {len(make.graph)}", name), dict(shape))


def zero(make: TermBuilder, shape: Mapping[str, Any]) -> Term:
    return make.spread(make.number(0.0), shape)


def whole(make: TermBuilder, term: Term | None, shape: Mapping[str, Any]) -> Term:
    """Broadcast a term to all axes of a shape. If the term is None, return zeros with this shape."""
    return zero(make, shape) if term is None else make.spread(term, shape)


# ----------------------------------------------------------------------------------------------------------- forwards
def tangent(linearization: Any, term: Term, parts: Sequence[Term | None]) -> Term:
    """Return the JVP of a loop, given the tangents of its arguments. It is a loop over the states' tangents."""
    make, loop = linearization.make, term.options[0]
    inputs, changes = inputs_of(loop, term.arguments), inputs_of(loop, parts)
    leaves: dict[int, Term | None] = {}

    def changing(pairs: Iterable[tuple[Term, Any]], are: Callable[[Any], bool]) -> list[tuple[Term, Any]]:
        """Create a leaf for the differential of each input that changes, and return pairs (leaf, value)."""
        result: list[tuple[Term, Any]] = []
        for leaf, change in pairs:
            leaves[id(leaf)] = moved = leaf_of(make, "change", leaf.shape) if are(change) else None
            if moved is not None:
                result.append((moved, change))
        return result

    def is_given(change: Any) -> bool:
        return change is not None

    states = changing(changes.states, lambda change: True)
    slices = changing(changes.slices, is_given)
    members = changing(changes.members, any)
    shared = changing(changes.given, is_given)
    inner = type(linearization)(linearization.checker, make, leaves)
    results = [whole(make, inner.of(term), state.shape) for term, state in zip(loop.results, loop.states)]
    begun = tuple((leaf, whole(make, change, leaf.shape)) for leaf, change in states)
    lists = [(leaf, tuple(whole(make, member, leaf.shape) for member in some)) for leaf, some in members]
    previous: list[tuple[Term, Any]] = [
        (state, get_states_before(make, term, number)) for number, state in read(loop, results)
    ]
    along = [(leaf, whole(make, change, {loop.axis: loop.steps, **leaf.shape})) for leaf, change in slices]
    return loop_term(
        make,
        Inputs(
            begun,
            (*inputs.slices, *along, *(() if loop.members else previous)),
            (*inputs.members, *lists, *(previous if loop.members else ())),
            (*inputs.given, *((leaf, whole(make, change, leaf.shape)) for leaf, change in shared)),
        ),
        results,
        loop,
    )


def read(loop: Loop, results: Sequence[Term]) -> list[tuple[int, Term]]:
    """Return the index and the term of each loop state that the results depend on."""
    keys = {id(term) for term in topological(*results)}
    return [(number, state) for number, state in enumerate(loop.states) if id(state) in keys]


def get_states_before(make: TermBuilder, term: Term, number: int) -> Any:
    """Return a state's values before each step, as separate terms or as one term stacked along the step axis."""
    loop, first = term.options[0], term.arguments[number]
    axis, steps, shape = loop.axis, loop.steps, loop.states[number].shape
    if loop.members:
        return (whole(make, first, shape), *(get_state_after(make, term, number, step) for step in range(steps - 1)))
    rest = make.at(stack_states(make, term, number), axis, make.iota(axis, 1, steps - 1))
    parts = (make.spread(whole(make, first, shape), {axis: 1}), rest)
    return make.term("fill", parts, (), (axis, tuple(range(steps))), {axis: steps, **shape})


# ---------------------------------------------------------------------------------------------------------- backwards
def back(select: Selecting, term: Term, asked: Asked, depends: set[int], carry: Carry) -> dict[int, Share]:
    """Return the VJP of a loop, given the cotangents of the terms that read its states.

    The result maps the position of each argument to its cotangent.
    """
    return Backwards(select.make, term, depends).of(
        [(user, select.settled(share).term) for user, share in asked], carry
    )


class Backwards:
    """The reverse of a linear loop. It runs from the last step to the first, and its states are cotangents."""

    def __init__(self, make: TermBuilder, term: Term, depends: set[int]):
        self.make, self.term, self.loop = make, term, term.options[0]
        self.steps, self.axis = self.loop.steps, self.loop.axis
        self.inputs = inputs_of(self.loop, term.arguments)
        self.turned = make.between("-", make.number(self.steps + 1), make.iota(self.axis, 1, self.steps))
        self.linear = [leaf for leaf, _ in self.inputs.states]
        for leaf, value in (*self.inputs.slices, *self.inputs.given):
            self.linear += [leaf] * (id(value) in depends)
        for leaf, some in self.inputs.members:
            self.linear += [leaf] * any(id(member) in depends for member in some)
        self.depends = {id(leaf) for leaf in self.linear}

    def of(self, asked: Sequence[tuple[Term, Term]], carry: Carry) -> dict[int, Share]:
        make, loop = self.make, self.loop
        extra = self.extra_axes(asked)
        last, within = self.state_cotangents(asked, extra)
        states: list[tuple[Term, Term]] = []
        slices: list[tuple[Term, Term]] = []
        seeds: list[tuple[Term, Share]] = []
        for number, (state, result) in enumerate(zip(loop.states, loop.results)):
            shape = {**state.shape, **extra}
            cotangent = leaf_of(make, "count", shape)
            states.append((cotangent, whole(make, last.get(number), shape)))
            if number in within:
                slices.append((leaf_of(make, "count", shape), self.turn(within[number])))
                cotangent = make.add(cotangent, slices[-1][0])
            seeds.append((result, mask_nonzero(make, cotangent)))
        inner = Selecting(make)
        shares = carry(inner, seeds, self.linear, frozenset(extra))
        counts = {mark: inner.settled(share).term for mark, share in shares.items()}
        results = [whole(make, counts.get(id(leaf)), shape.shape) for leaf, (shape, _) in zip(loop.states, states)]
        same = {id(leaf) for leaf in loop.given}
        for leaf in self.linear[len(loop.states) :]:
            shape = {**leaf.shape, **extra}
            state, count = leaf_of(make, "count", shape), whole(make, counts.get(id(leaf)), shape)
            states.append((state, zero(make, shape)))
            results.append(make.add(state, count) if id(leaf) in same else count)
        rest = Inputs(
            tuple(states), (*slices, *((leaf, self.turn(value)) for leaf, value in self.fixed(self.inputs.slices))),
            tuple((leaf, some[::-1]) for leaf, some in self.fixed(self.inputs.members)), self.fixed(self.inputs.given),
        )  # fmt: skip
        return self.argument_cotangents(loop_term(make, rest, results, loop))

    def fixed(self, pairs: Iterable[tuple[Term, Any]]) -> tuple[tuple[Term, Any], ...]:
        return tuple(pair for pair in pairs if id(pair[0]) not in self.depends)

    def turn(self, term: Term) -> Term:
        """Reverse a slice along the step axis."""
        return self.make.at(term, self.axis, self.turned)

    def extra_axes(self, asked: Sequence[tuple[Term, Term]]) -> dict[str, Any]:
        """Return the axes, with sizes, that cotangents have but the terms of these cotangents lack."""
        extra_axes: dict[str, Any] = {}
        for user, cotangent in asked:
            extra_axes |= {axis: size for axis, size in cotangent.shape.items() if axis not in user.shape}
        return extra_axes

    def state_cotangents(
        self, asked: Sequence[tuple[Term, Term]], extra: Mapping[str, Any]
    ) -> tuple[dict[int, Term], dict[int, Term]]:
        """Return two mappings from state numbers to cotangents: after the last step, and after each step.

        The cotangents after each step are stacked along the step axis.
        """
        make, last, within = self.make, dict[int, Term](), dict[int, Term]()
        for user, cotangent in asked:
            number, at = user.options
            rename, kind = make.spread(cotangent, {**user.shape, **extra}), within
            if user.operator == "through":
                rename = make.rename(rename, {at: self.axis})
            elif at == self.steps - 1:
                kind = last
            else:
                here = make.between("=", make.iota(self.axis, 1, self.steps), make.number(at + 1))
                rename = make.between("where", here, rename, make.number(0.0))
            kind[number] = make.add(kind[number], rename) if number in kind else rename
        return last, within

    def argument_cotangents(self, loop: Term) -> dict[int, Share]:
        """Return the cotangent of each argument of a loop, by the argument's position."""
        make, steps, shares = self.make, self.steps, dict[int, Share]()
        numbers = {id(leaf): number for number, leaf in enumerate(self.linear)}
        position = 0
        for leaf, _ in (*self.inputs.states, *self.inputs.slices):
            if id(leaf) in numbers:
                number = numbers[id(leaf)]
                along = position >= len(self.inputs.states)
                term = (
                    self.turn(stack_states(make, loop, number))
                    if along
                    else get_state_after(make, loop, number, steps - 1)
                )
                shares[position] = Share(term)
            position += 1
        for leaf, some in self.inputs.members:
            for step in range(len(some)) if id(leaf) in numbers else ():
                shares[position + step] = Share(get_state_after(make, loop, numbers[id(leaf)], steps - 1 - step))
            position += len(some)
        for leaf, _ in self.inputs.given:
            if id(leaf) in numbers:
                shares[position] = Share(get_state_after(make, loop, numbers[id(leaf)], steps - 1))
            position += 1
        return shares


def mask_nonzero(make: TermBuilder, cotangent: Term) -> Share:
    """Mask a cotangent by its nonzero elements, so that zeros from a choice in a later step stay zero."""
    holds = SelectionMask(cotangent.shape, lambda: make.between("≠", cotangent, make.number(0)), weak=True)
    return Share(cotangent, (holds,))


def has_loops(term: Term) -> bool:
    return any(part.operator == "loop" for part in topological(term))
