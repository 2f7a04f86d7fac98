"""Rewrite terms over all steps of a loop as terms of one step, which form the loop's body.

    states   values that each step passes to the next step, such as h^{t-1}
    slices   values known for all steps at once, with one element per step, such as x_{time(t)}
    members  separate tensors with the same type, one per step, such as W^t
    given    values that are the same at every step, such as W

A term that depends on a state or a member is rewritten without the step axis. The other terms are computed before the
loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from .environment import source_name
from .normalized_exponentials import with_softmax
from .terms import Term, TermGraph, topological

Reshaped = Callable[[Mapping[str, Any]], dict[str, Any]]


class UnsliceableError(Exception):
    """Raised for a term that is not elementwise along the step axis, or whose value is unknown before the steps."""


@dataclass(frozen=True, eq=False)
class Loop:
    """The body of a loop: its inputs, and its results, which are the next values of the states.

    An input in `slices` is one element of an argument along `axis`. An input in `members` is one of `steps` arguments.
    The arguments of the loop's term are the initial states, the whole slices, all members, and the given terms.
    """

    states: tuple[Term, ...]
    slices: tuple[Term, ...]
    members: tuple[Term, ...]
    given: tuple[Term, ...]
    results: tuple[Term, ...]
    axis: str
    steps: int

    @property
    def inputs(self) -> tuple[Term, ...]:
        return self.states + self.slices + self.members + self.given


def loop_of(
    terms: TermGraph, axis: str, steps: int, states: Sequence[Term], results: Sequence[Term], initial: Sequence[Term], node: Any
) -> Term:  # fmt: skip
    """Create the term of a loop.

    Its body computes `results` in one step from the states. The initial values of the states are `initial`.
    """
    body = _Body(axis)
    for state in states:
        body.take("state", state)
    for term in topological(*results):
        if term.operator == "members" and term.axes == (axis,):
            if any(map(body.depends, term.arguments)):
                raise UnsliceableError  # A member of one step depends on a state.
            body.members.append((term, body.take("member", term)))
        elif term.arguments and not body.found.keys().isdisjoint(map(id, term.arguments)):
            body.found[id(term)] = body.translate_step(term)
    nexts = with_softmax(tuple(map(body.part, results)), body.graph)
    parts = tuple(body.found[id(state)] for state in states)
    slices, members, constants = (
        tuple(inner for _, inner in pairs) for pairs in (body.slices, body.members, body.given)
    )
    loop = Loop(parts, slices, members, constants, nexts, axis, steps)
    along = (term for term, _ in body.slices)
    alike = [argument for term, _ in body.members for argument in term.arguments]
    same = (term for term, _ in body.given)
    return terms.intern("loop", (*initial, *along, *alike, *same), options=(loop,), node=node)


MOVES = ("rename", "index", "pick", "spread", "merge", "split")


def find_input_name(term: Term) -> str:
    """Return a name for an input of a body: the name of the tensor that contains its elements, if any."""
    while term.operator in MOVES:
        term = term.arguments[0]
    if term.operator == "members":
        return term.options[0]
    if term.operator == "input":
        return term.options[-1]
    return source_name(term.axes[0]) if term.operator == "iota" else "x"


class _Body:
    """A loop body under construction. `found` maps terms over all steps to their replacements in one step."""

    def __init__(self, axis: str):
        self.axis, self.graph = axis, TermGraph()
        self.found: dict[int, Term] = {}
        self.leaves: dict[int, Term] = {}
        self.slices: list[tuple[Term, Term]] = []
        self.members: list[tuple[Term, Term]] = []
        self.given: list[tuple[Term, Term]] = []

    def depends(self, term: Term) -> bool:
        return id(term) in self.found

    def take(self, kind: str, term: Term) -> Term:
        """Create an input of the body that represents a term outside the body."""
        inner = self.graph.intern(
            "input", options=(f"{kind} {len(self.graph)}", find_input_name(term)), shape=self.remove_axis_of_shape(term.shape), boolean=term.boolean,
            node=term.node,
        )  # fmt: skip
        self.found[id(term)] = inner
        return inner

    def remove_axis_of_shape(self, shape: Mapping[str, Any]) -> dict[str, Any]:
        return {axis: size for axis, size in shape.items() if axis != self.axis}

    def part(self, term: Term) -> Term:
        """Return the counterpart of a term in the body: a term of one step, or an input if the term needs no state."""
        leaf = self.found.get(id(term)) or self.leaves.get(id(term))
        if leaf is None:
            if term.number is not None:
                leaf = self.graph.number(term.number, term.node, term.boolean)
            elif (is_place(term) or term.operator == "iota") and self.axis not in term.shape:
                leaf = self.translate_step(term)
            else:
                group = self.slices if self.axis in term.shape else self.given
                leaf = self.take("slice" if group is self.slices else "given", term)
                del self.found[id(term)]
                group.append((term, leaf))
            self.leaves[id(term)] = leaf
        return leaf

    def translate_step(self, term: Term) -> Term:
        return select_one(
            self.graph, {self.axis}, term, tuple(map(self.part, term.arguments)), self.remove_axis_of_shape
        )


def is_place(term: Term) -> bool:
    """Return whether a term is a condition of the form iota_{ax} = p.

    A plan recognizes the product of such a term and a tensor as one slice of the tensor along the axis.
    """
    kinds = [argument.operator for argument in term.arguments]
    return term.operator == "=" and "iota" in kinds and any(not argument.shape for argument in term.arguments)


def select_one(
    terms: TermGraph, axes: Set[str], term: Term, arguments: tuple[Term, ...], reshaped: Reshaped
) -> Term:  # fmt: skip
    """Return the counterpart of a term at one position along some axes. `reshaped` converts its shape.

    Raise UnsliceableError if the term is not elementwise along the axes.
    """
    options = term.options
    if not axes.isdisjoint(term.axes) or not axes.isdisjoint(CONSUMED.get(term.operator, _nothing)(options)):
        raise UnsliceableError
    if term.operator == "spread":
        options = tuple(pair for pair in options if pair[0] not in axes)
        if not options:
            return arguments[0]
    if term.operator == "loop":
        options = (_inside(options[0], axes, reshaped),)
    return terms.like(term, arguments, options, reshaped(term.shape))


def _inside(loop: Loop, axes: Set[str], reshaped: Reshaped) -> Loop:
    """Return the counterpart of a loop inside the body, at one position along the axes."""
    terms = TermGraph()
    result: dict[int, Term] = {}
    for term in topological(*loop.results, *loop.inputs):
        result[id(term)] = select_one(
            terms, axes, term, tuple(result[id(argument)] for argument in term.arguments), reshaped
        )
    groups = ("states", "slices", "members", "given", "results")
    return replace(loop, **{name: tuple(result[id(term)] for term in getattr(loop, name)) for name in groups})


# ---------------------------------------------------------------------------------------------------- dead states
def drop_dead_states(roots: tuple[Term, ...]) -> tuple[Term, ...]:
    """Remove the dead states of loops, on which no term outside the loop depends, and return the roots."""
    order = topological(*roots)
    asked = _find_live_states(order)
    terms = TermGraph(count(order[-1].serial + 1))  # Inputs are not replaced. They precede all new terms.
    result = {id(term): term for term in order if term.operator == "input"}
    numbers: dict[int, list[int]] = {}
    for term in order:
        if term.operator == "input":
            continue
        arguments, options = tuple([result[id(argument)] for argument in term.arguments]), term.options
        if term.operator == "loop":
            numbers[id(term)] = states = _needed(options[0], asked[id(term)])
            loop, arguments = _with_states(options[0], states, arguments)
            options = (loop,)
        elif term.operator in ("after", "through"):
            options = (numbers[id(term.arguments[0])].index(options[0]), *options[1:])
        result[id(term)] = terms.like(term, arguments, options)
    return tuple(result[id(root)] for root in roots)


def _find_live_states(order: Sequence[Term]) -> dict[int, set[int]]:
    """Return, for each loop, the indices of the states that terms outside the loop read."""
    result: dict[int, set[int]] = {id(term): set() for term in order if term.operator == "loop"}
    for term in order:
        if term.operator in ("after", "through"):
            result[id(term.arguments[0])].add(term.options[0])
    return result


def _needed(loop: Loop, asked: set[int]) -> list[int]:
    """Return the indices of the given states and of all states on which they depend."""
    number = {id(state): index for index, state in enumerate(loop.states)}
    indices, waiting = set(asked), [*asked]
    while waiting:
        for term in topological(loop.results[waiting.pop()]):
            position = number.get(id(term))
            if position is not None and position not in indices:
                indices.add(position)
                waiting.append(position)
    return sorted(indices)


def _with_states(loop: Loop, states: Sequence[int], arguments: Sequence[Term]) -> tuple[Loop, tuple[Term, ...]]:
    """Return a loop with only some of its states, and its remaining arguments."""
    results = tuple(loop.results[state] for state in states)
    read = {id(term) for term in topological(*results)}
    terms: list[Term] = [arguments[state] for state in states]
    at = len(loop.states)
    groups: list[tuple[Term, ...]] = []
    for group, size in ((loop.slices, 1), (loop.members, loop.steps), (loop.given, 1)):
        groups.append(tuple(term for term in group if id(term) in read))
        for term in group:
            terms += arguments[at : at + size] if id(term) in read else ()
            at += size
    slices, members, constants = groups
    inner = tuple(loop.states[state] for state in states)
    return Loop(inner, slices, members, constants, results, loop.axis, loop.steps), tuple(terms)


# The axes along which structural terms are not elementwise, by operator and options.
CONSUMED: dict[str, Callable[[Any], Iterable[str]]] = {
    "rename": lambda options: {name for pair in options for name in pair},
    "merge": lambda options: {*options[0], options[1]},
    "split": lambda options: {options[0], *(name for name, _ in options[1])},
    "pick": lambda options: {options[0]},
    "fill": lambda options: {options[0]},
    "through": lambda options: {options[1]},
}


def _nothing(options: Any) -> tuple[str, ...]:
    return ()
