"""Convert recurrences to loops, so that the body is typed once rather than at each step.

An example is `h^t = tanh(h^{t-1} ⊙_{in} W + x_{time(t)}) for t = 1, …, 2000`.

The body is typed with t as a tensor along a separate axis, like the index of a definition by elements. The previous
value h^{t-1} is an input of the body, called a *state*. Terms that do not depend on a state are computed for all steps
at once. The other terms form the body of the loop, which uses one element along that axis per step (`loop_bodies`). The
first steps are unrolled until the shape of h^t stops changing. The whole recurrence is unrolled if the body uses the
index for anything except a number or a label with a fixed offset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import count, islice, repeat
from typing import Any

from grammar import nodes
from grammar.cache import Cache

from ..core.sizes import unify
from ..scope.names import Key
from ..scope.symbols import Definition
from ..terms.environment import Environment, source_name
from ..terms.inference import Inference
from ..terms.loop_bodies import loop_of
from ..terms.terms import Term, resolve_shape
from .counting import (
    UnrollableError,
    ahead,
    bases_with_labels,
    find_bound,
    has_layers,
    is_value,
    label_steps,
    try_typing,
)
from .declarations import make_members
from .indexing import iota
from .other_meanings import is_defined, means_something
from .recurrences import RecurrenceState

MIN_LOOP_STEPS = 64  # The minimum number of steps for a loop.
MIN_LOOP_LAYERS = 2  # The minimum for steps over layers, as in W^l, because such steps are long.
MAX_FIRST_STEPS = 3  # The maximum number of unrolled steps until the shapes stay the same.

_NAMES: Cache[tuple[str, Any], list[Key]] = Cache(  # About 200 bytes per entry.
    "names at the steps of loops", 512, weigh=lambda names: 200 * len(names), byte_limit=2**26
)


def member_at(
    checker: Inference, family: Definition, indices: dict[Any, Any], text: Any, holder: Environment, env: Environment
) -> Any:
    """Return the term of the member h^{t-1} if t is a tensor, or None if t is a number."""
    members, variable, offset = find_bound(checker, text, env)
    if members is None or family.range is None:
        return None
    others = {name: index for name, index in indices.items() if name != family.range.variable.text}
    if any(variable in re.split(r"[+-]", str(item)) for item in others.values()):
        raise UnrollableError
    return members.member(checker, RecurrenceState(family, others, holder), offset)


class Rolled:
    """A loop whose body is being typed. Its steps go up or down from `base` (exclusive) to `last` (inclusive)."""

    def __init__(self, checker: Inference, base: int, last: int, over: nodes.Range, direction: int):
        self.checker, self.base, self.last, self.direction = checker, base, last, direction
        self.axis = f"{over.variable.text}@loop{len(checker.graph)}"
        self.mark = self.axis
        self.steps = (last - base) * direction
        self.index = counter(checker, self.axis, base + direction, self.steps, direction, over)
        self.recurrences: dict[tuple[Any, ...], RecurrenceState] = {}
        self.before = len(checker.parameters)
        self.own: dict[Key, int] = {}  # The parameters of single steps, with the numbers of these steps.

    def member(self, checker: Inference, recurrence: RecurrenceState, offset: int) -> Term:
        recurrence = self.recurrences.setdefault(recurrence.cache_key, recurrence)
        if offset * self.direction > 0 or recurrence.direction != self.direction:
            raise UnrollableError
        return self.next(recurrence) if offset == 0 else self.state(recurrence, abs(offset))

    def state(self, recurrence: RecurrenceState, back: int) -> Term:
        """Return the term for a family's state `back` steps earlier, which is an input of the loop's body."""
        for number in range(1, back + 1):
            if number not in recurrence.states:
                before = recurrence.at(self.checker, self.base + self.direction * (1 - number))
                state = self.checker.unknown_member(recurrence.family, before.shape, before.boolean)
                recurrence.states[number] = state
        return recurrence.states[back]

    def unread(self, recurrence: RecurrenceState, term: Term) -> Term:
        """Return a placeholder for a state that no step reads, so that its previous values do not matter."""
        shape = {axis: size for axis, size in term.shape.items() if axis != self.axis}
        return self.checker.unknown_member(recurrence.family, shape, term.boolean)

    def first(self, recurrence: RecurrenceState, back: int) -> Term:
        """Return the initial value of a state: an existing member, or zeros if no step reads the family."""
        checker, state = self.checker, recurrence.states[back]
        if recurrence.carried:
            return recurrence.at(checker, self.base + recurrence.direction * (1 - back))
        nothing = checker.graph.number(False if state.boolean else 0, state.node, state.boolean)
        return checker.spread(nothing, state.shape, state.node)

    def value(self, text: str, node: Any) -> Term:
        """Return the value of an index expression such as k or k + 1, for a function such as f^k(x) = x / k."""
        offset, graph = ahead(text, self.mark), self.checker.graph
        if not offset:
            return self.index
        return graph.intern("+", (self.index, graph.number(offset, node)), shape=dict(self.index.shape), node=node)

    @property
    def numbers(self) -> range:
        """The values of the index, one per step."""
        return range(self.base + self.direction, self.last + self.direction, self.direction)

    def labeled(self, key: Key, env: Environment, node: Any) -> Term | None:
        """Return the members of a name with the loop's index in its labels, such as W^{l,Q}, stacked over all steps.

        Return None if no member has a value.
        """
        checker = self.checker
        if key.base not in bases_with_labels(checker):
            return None
        members, terms = self.names(key), {}
        if is_of_program(key.base, env):
            known = len(checker.parameters)
            terms = make_members(checker, members) or checker.top.variables
            places = dict(zip(members, count(1)))
            self.own |= {parameter: places[parameter] for parameter in islice(checker.parameters, known, None)}
        result: list[Term | None] = []
        for member in members:
            term = terms.get(member)
            if term is not None and term.operator == "input":
                checker.used.add(member)
            else:
                known = len(checker.parameters)
                term = checker.find(member, env, node)
                self.own |= dict.fromkeys(islice(checker.parameters, known, None), len(result) + 1)
            result.append(term)
            if (term is None) != (result[0] is None):
                raise UnrollableError
        return None if result[0] is None else self.members([part for part in result if part is not None], key, node)

    def names(self, key: Key) -> list[Key]:
        """Return the key of a name at each step, if the name's labels contain the loop's index."""
        steps = self.numbers

        def build() -> list[Key]:
            texts = [[label_steps(part, self.mark, steps) for part in names] for names in key[1:]]
            scripts = (zip(*text) if text else ((),) * len(steps) for text in texts)
            return [Key(*scripts_) for scripts_ in zip(repeat(key.base), *scripts)]

        return _NAMES.get_or_build((str(key).replace(self.mark, "@"), steps), build)

    def order_parameters(self) -> None:
        """Sort, by step, the parameters that the body uses."""
        parameters = self.checker.parameters
        result = {**dict.fromkeys(islice(parameters, self.before, None), 1), **self.own}
        for key in sorted(islice(parameters, self.before, None), key=result.__getitem__):
            parameters[key] = parameters.pop(key)

    def members(self, terms: list[Term], key: Key, node: Any) -> Term:
        """Stack the members for all steps, which must have the same type. If all of them are one term, return that term."""
        first = terms[0]
        if len({*map(id, terms)}) == 1:
            return first
        for term in terms:
            alike = term.shape.keys() == first.shape.keys() and term.boolean == first.boolean
            if alike and term.shape == first.shape:
                continue
            if not alike or not all(unify(size, first.shape[axis]) for axis, size in term.shape.items()):
                raise UnrollableError
        shape = {self.axis: self.steps, **first.shape}
        name = str(key).replace(self.mark, source_name(self.mark))
        return self.checker.graph.intern("members", tuple(terms), (self.axis,), (name,), shape, first.boolean, node)

    def next(self, recurrence: RecurrenceState) -> Term:
        """Return the term of the member that the current step computes."""
        if recurrence.next is None:
            if recurrence.busy:
                raise UnrollableError
            recurrence.busy = True
            recurrence.next = self.typed(recurrence)
        return recurrence.next

    def typed(self, recurrence: RecurrenceState) -> Term:
        checker, family, holder = self.checker, recurrence.family, recurrence.holder
        first, last = recurrence.range(checker)
        low, high = sorted((self.base + self.direction, self.last))
        fits = first <= low and high <= last and not recurrence.is_given(checker, range(low, high + 1))
        if (
            not fits
            or family.claims
            or self.is_other(recurrence)
            or not is_value(checker, recurrence.variable, family.body, holder, labels=True)
        ):
            raise UnrollableError
        variables, members = {Key(recurrence.variable): self.index}, {recurrence.variable: self}
        indices = dict(recurrence.others)
        inner = holder.within(definition=family, indices=indices, variables=variables, members=members)
        return type_member(checker, family, inner)

    def is_other(self, recurrence: RecurrenceState) -> bool:
        """Return whether a family's variable has a meaning in the family's environment other than the loop's index."""
        checker, holder = self.checker, recurrence.holder
        if not means_something(checker, recurrence.variable, holder):
            return False
        key = Key(recurrence.variable)
        return is_defined(checker, key, holder) or checker.find(key, holder, None) is not self.index

    def rolled(self, recurrence: RecurrenceState) -> dict[tuple[Any, ...], RecurrenceState]:
        """Type the loop for a family, and return the states of all families in the loop, by cache key."""
        self.recurrences[recurrence.cache_key] = recurrence
        self.checker.rolled[self.mark] = self
        try:
            self.next(recurrence)
            while waiting := [member for member in self.recurrences.values() if member.next is None]:
                self.next(waiting[0])
        finally:
            del self.checker.rolled[self.mark]
        self.order_parameters()
        for member in self.recurrences.values():
            term = member.next
            assert term is not None
            if not member.states:
                member.states[1], member.carried = self.unread(member, term), False
                continue
            for state in (self.state(member, back) for back in range(1, max(member.states) + 1)):
                shape = {axis: size for axis, size in term.shape.items() if axis != self.axis}
                if shape.keys() != state.shape.keys() or term.boolean != state.boolean:
                    raise UnrollableError
                if not all(unify(state.shape[axis], size) for axis, size in shape.items()):
                    raise UnrollableError
                term = state
        return self.recurrences


def type_member(checker: Inference, family: Definition, environment: Environment) -> Term:
    """Return the term of a member in its own environment.

    Raise UnrollableError if its equation contains assertions or derivatives.
    """
    claims, derived = len(checker.pending_claims), checker.derived
    term = checker.infer_member(family, environment)
    if len(checker.pending_claims) > claims or checker.derived > derived:  # A state hides its parts.
        raise UnrollableError
    return term


def is_of_program(base: str, env: Environment) -> bool:
    """Return whether a name belongs to the program itself, because no enclosing call or index defines it."""
    keys: list[Key] = []
    for outer in env.outward:
        if outer.function is not None:
            keys += [*outer.function.facts, *(family.key for family in outer.function.families)]
        if outer.parent is not None:
            keys += [*outer.variables, *outer.scalars]
    return all(key.base != base for key in keys)


@dataclass(frozen=True)
class RolledLoop:
    """A typed loop, with its steps from `base` (exclusive) to `last` and the state of one family."""

    base: int
    last: int
    loop: Term
    number: int
    state: Term
    direction: int


def roll_up(
    checker: Inference, recurrence: RecurrenceState, begin: int, expected: int, env: Environment
) -> Term | None:
    """Return a distant member of a recurrence by a loop, or None if the recurrence must be unrolled."""
    if (
        not is_worth_it(checker, recurrence, (expected - begin) * recurrence.direction)
        or recurrence.cache_key in recurrence.holder.unrollable
    ):
        return None
    if any((id(recurrence.holder), recurrence.key(step)) in env.active for step in firsts(recurrence, begin)):
        return None  # A first member is being evaluated, and it needs later members.
    loop = loop_to(checker, recurrence, begin, expected)
    return None if loop is None else get_state_after(checker, loop, expected)


def find_passed_member(checker: Inference, recurrence: RecurrenceState, expected: int) -> Term | None:
    """Return a member that an existing loop over layers computes before its last step, or None."""
    for loop in recurrence.holder.loops.get(recurrence.cache_key, ()):
        if (
            loop.loop.options[0].members
            and (expected - loop.base) * loop.direction > 0 < (loop.last - expected) * loop.direction
        ):
            term = get_state_after(checker, loop, expected)
            recurrence.note(expected, term)
            return term
    return None


def is_worth_it(checker: Inference, recurrence: RecurrenceState, steps: int) -> bool:
    """Return whether a recurrence with this many steps should be a loop."""
    if not checker.rolls or recurrence.family.name.base in checker.scope.varied:
        return False
    if checker.shows_layers or steps < MIN_LOOP_LAYERS or steps >= MIN_LOOP_STEPS:
        return steps >= MIN_LOOP_STEPS
    return has_layers(checker, recurrence.holder)


def loop_to(checker: Inference, recurrence: RecurrenceState, begin: int, last: int) -> RolledLoop | None:
    """Return a loop that ends at step `last`. It begins at the first step after which the shapes stay the same.

    Return None if there is no such loop.
    """
    for base in firsts(recurrence, begin) if abs(last - begin) < checker.limits.max_steps else ():
        if (last - base) * recurrence.direction <= 0:  # No step remains.
            break
        try:
            if (base - begin) * recurrence.direction >= 0:
                recurrence.at(checker, base)
        except UnrollableError:
            continue
        loop = try_typing(
            checker,
            recurrence.holder,
            partial(
                made_loop, checker, RecurrenceState(recurrence.family, recurrence.others, recurrence.holder), base, last
            ),
        )
        if loop is not None:
            return loop
    recurrence.holder.unrollable[recurrence.cache_key] = None
    return None


def firsts(recurrence: RecurrenceState, begin: int) -> range:
    """Return the steps after which a loop may begin, possibly including the step before the first member."""
    before = 0 if recurrence.key(begin) in recurrence.holder.memo else recurrence.direction
    return range(begin - before, begin + recurrence.direction * (MAX_FIRST_STEPS + 1), recurrence.direction)


def counter(checker: Inference, axis: str, first: int, count: int, direction: int, node: Any) -> Term:
    """Return the tensor first, first + 1, … along an axis or, for direction −1, the tensor first, first − 1, …."""
    if direction > 0:
        return iota(checker, axis, first, count, node)
    steps = iota(checker, axis, 1, count, node)
    return checker.graph.intern("-", (checker.graph.number(first + 1, node), steps), shape={axis: count}, node=node)


def made_loop(checker: Inference, recurrence: RecurrenceState, base: int, last: int) -> RolledLoop:
    assert recurrence.family.range is not None
    trace = len(checker.trace)
    rolled = Rolled(checker, base, last, recurrence.family.range, recurrence.direction)
    recurrences = list(rolled.rolled(recurrence).values())
    states = [state for member in recurrences for state in member.states.values()]
    results = [term for member in recurrences for term in (rolled.next(member), *[*member.states.values()][:-1])]
    initial = [rolled.first(member, back) for member in recurrences for back in member.states]
    loop = loop_of(checker.graph, rolled.axis, rolled.steps, states, results, initial, recurrence.family.body)
    del checker.trace[trace:]
    result: RolledLoop | None = None
    number = 0
    for member in recurrences:
        for back, state in member.states.items():
            rolled_loop = RolledLoop(base, last, loop, number, state, member.direction)
            step = last + member.direction * (1 - back)
            if member.key(step) not in member.holder.memo:
                member.note(step, get_state_after(checker, rolled_loop, last))
            number += 1
            if back == 1:
                member.holder.loops.setdefault(member.cache_key, []).append(rolled_loop)
                result = rolled_loop if member is recurrence else result
                note_member(checker, member.family, {**member.others, member.variable: last}, member.holder)
    assert result is not None
    return result


def note_member(checker: Inference, family: Definition, indices: dict[str, Any], holder: Environment) -> None:
    """Record the type and the value of a member that one step of a loop computes."""
    key = family.name.key(indices.get)
    term = holder.memo[key]
    checker.types.setdefault(str(key), resolve_shape(term.shape))
    environment = Environment(parent=holder, definition=family, indices=indices)
    checker.trace.append((family.body, term, environment))


def get_state_after(checker: Inference, loop: RolledLoop, step: int) -> Term:
    """Return the term of a loop's state after a step."""
    state, node = loop.state, loop.loop.node
    options = (loop.number, abs(step - loop.base) - 1)
    return checker.graph.intern("after", (loop.loop,), (), options, dict(state.shape), state.boolean, node)
