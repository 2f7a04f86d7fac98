"""Type families, such as X^l = … for l = 1, …, n. Their members are evaluated in sequence or by a loop."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Range

from ..scope.names import match_key
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term, resolve_shape
from . import loops
from .cases import isolate
from .claims import check_statement
from .elements import define_by_elements
from .grid_members import member_of_grid
from .open_families import open_indices, open_member
from .ranges import ends, get_range_index, is_member, last_indices, number_indices
from .recurrences import RecurrenceState


def infer_family(
    checker: Inference, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
) -> Term | None:
    """Return the term of a family member, or None if the family does not define it.

    Earlier members are typed first, so that recursion stays shallow.
    """
    over = family.range
    assert over is not None
    asked = open_indices(checker, family, indices, holder, env)
    if asked is not None:
        return open_member(checker, family, indices, asked, holder)
    variable = over.variable.text
    expected = get_range_index(indices, over)
    if len(over.each) == 2:
        member = member_of_grid(checker, family, indices, holder, env)
        if member is not None:
            return member
    if not isinstance(expected, int):
        return loops.member_at(checker, family, indices, expected, holder, env)
    first, last = ends(checker, over, holder, env)
    if not first <= expected <= last:
        return None
    if over.further is not None:
        within = is_member(checker, over.further, {**indices, variable: expected}, holder, env)
        if within is None:
            return loops.member_at(checker, family, indices, indices.get(variable), holder, env)
        if not within:
            return None
    check_steps(checker, over, last - expected + 1 if over.downward else expected - first + 1)
    recurrence = RecurrenceState(family, {name: index for name, index in indices.items() if name != variable}, holder)
    # If h^{t-1} depends on h^t, earlier members cannot be typed first.
    against = (id(holder), recurrence.key(expected - recurrence.direction)) in env.active
    alone = against or over.further is not None  # Only the equation determines the order of the E^{i,j}.
    if not alone:
        first, last = skip_earlier_members(checker, recurrence, (first, last), expected, env)
    begin = expected if alone else recurrence.nearest(last if over.downward else first, expected)
    rolled = loops.find_passed_member(checker, recurrence, expected) or loops.roll_up(
        checker, recurrence, begin, expected, env
    )
    if rolled is not None:
        return rolled
    member = None
    for step in range(begin, expected + recurrence.direction, recurrence.direction):
        member = infer_step(checker, recurrence, {**indices, variable: step}, step == expected, env) or member
    return member


def skip_earlier_members(
    checker: Inference, recurrence: RecurrenceState, range_: tuple[int, int], expected: int, env: Environment
) -> tuple[int, int]:
    """Return the first and last number of the range, without members that an earlier family defines."""
    family, holder, key = recurrence.family, recurrence.holder, recurrence.key(expected)
    first, last = range_
    for other in checker.scope.families_of(key) if holder.function is None else holder.function.families:
        if other is family:
            break
        over = other.range
        if over is None or over.further is not None or match_key(other.name, key, checker.scope.indices) is None:
            continue
        low, high = ends(checker, over, holder, env)
        first = max(first, high + 1) if low <= last and high < expected else first
        last = min(last, low - 1) if high >= first and low > expected else last
    return first, last


def check_steps(checker: Inference, over: Range, count: int) -> None:
    steps = checker.limits.max_steps
    if count > steps:
        raise checker.error(
            404,
            f"the recurrence has {count} steps; the limit is {steps}",
            over,
            hint="raise limits.max_steps",
        )


def infer_step(
    checker: Inference, recurrence: RecurrenceState, indices: dict[Any, Any], is_wanted: bool, env: Environment
) -> Term | None:
    """Return the term of a member, and infer it if needed.

    Return None if another equation defines the member, or if it is being inferred.
    """
    family, holder, over = recurrence.family, recurrence.holder, recurrence.family.range
    assert over is not None
    member = family.name.key(indices.get)
    known = holder.memo.get(member)
    if known is not None and not isinstance(known, NotationError):
        return known
    if member in holder.variables or member in checker.definitions_of(
        holder
    ):  # The family's equation is an assertion about this member.
        return None
    marker = (id(holder), member)
    if marker in env.active:
        if not is_wanted:
            return None
        raise checker.error(
            203, f"circular definition of {member}", family.head, hint="define each member by earlier members only"
        )
    checker.spend(over)
    environment = holder.within(definition=family, indices=number_indices(indices, over), active=env.active | {marker})
    term = infer_member(checker, family, environment)
    recurrence.note(indices[over.variable.text], term)
    checker.types.setdefault(str(member), resolve_shape(term.shape))
    return term


def infer_member(checker: Inference, family: Definition, environment: Environment) -> Term:
    """Return the term of a member, given an environment that contains its index."""
    with isolate(checker):
        if family.elements:
            return define_by_elements(checker, [family.member()], environment)
        term = checker.infer(family.body, environment)
        check_statement(checker, family, term, environment)
    return term


def infer_definition(checker: Inference, definition: Definition, env: Environment) -> Term:
    key = definition.key
    if definition.is_family:
        assert definition.range is not None
        key = definition.name.key(last_indices(checker, definition.range, env).get)
    index = checker.find(key, env, definition.head)
    if index is None:
        raise empty_range(checker, definition)
    return index


def empty_range(checker: Inference, definition: Definition) -> NotationError:
    over = definition.range or definition.head
    return checker.error(
        405, f"the range of {checker.text(definition.head)} is empty, so there is no last value", over,
        hint="make the range end after it begins",
    )  # fmt: skip
