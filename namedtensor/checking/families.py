"""Members of families, X^l = … for l = 1, …, n: made one after the other, or by a loop."""

from __future__ import annotations

from typing import Any

from grammar.errors import NotationError

from ..scope.names import Key, component
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term, resolved_shape
from . import loops
from .claims import check_statement
from .declarations import unknown_bound
from .elements import define_by_elements


def infer_family(
    checker: Inference, key: Key, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
) -> Term | None:
    """One member of X^l = … for l = 1, …, n; the members before it are made first, so that depth stays small."""
    over = family.range
    assert over is not None
    variable = over.variable.text
    wanted = indices.get(variable)
    wanted = int(wanted) if isinstance(wanted, str) and wanted.isdecimal() else wanted
    if not isinstance(wanted, int):
        return loops.member_at(checker, family, indices, wanted, holder, env)
    first, last = checker.solver.value(over.first, holder), checker.solver.value(over.last, holder)
    if not isinstance(first, int) or not isinstance(last, int):
        raise unknown_bound(checker, over, env)
    if not first <= wanted <= last:
        return None
    steps = checker.limits.steps
    if wanted - first + 1 > steps:
        raise checker.error(
            404,
            f"a recurrence of {wanted - first + 1} steps passes the limit of {steps}",
            over,
            hint="raise limits.steps",
        )
    found = None
    unit = loops.Unit(family, {name: each for name, each in indices.items() if name != variable}, holder)
    downward = (id(holder), unit.key(wanted - 1)) in env.active  # h^{t-1} asks for h^t: none before is due
    begin = wanted if downward else unit.nearest(first, wanted)
    rolled = loops.rolled_up(checker, unit, begin, wanted, env)
    if rolled is not None:
        return rolled
    for step in range(begin, wanted + 1):
        member = member_key(checker, family, {**indices, variable: step})
        if member in holder.memo and not isinstance(holder.memo[member], NotationError):
            found = holder.memo[member]
            continue
        if member in holder.variables or has_own_equation(checker, member, holder):
            continue
        marker = (id(holder), member)
        if marker in env.active:
            if step < wanted:
                continue
            raise checker.error(
                203, f"{member} needs itself", family.head, hint="let each member need only earlier ones"
            )
        checker.spend(over)
        place = Environment(
            parent=holder,
            sizes_parent=holder,
            definition=family,
            depth=holder.depth,
            indices={**indices, variable: step},
            active=env.active | {marker},
        )
        found = infer_member(checker, family, place)
        unit.note(step, found)
        checker.types.setdefault(str(member), resolved_shape(found.shape))
    return found


def infer_member(checker: Inference, family: Definition, place: Environment) -> Term:
    """The value of one member, in an environment that has its index."""
    if family.elements:
        return define_by_elements(checker, [family.member()], place)
    found = checker.infer(family.body, place)
    check_statement(checker, family, found, place)
    return found


def has_own_equation(checker: Inference, member: Key, holder: Environment) -> bool:
    """Whether a member of a family is defined by itself: what the family says of it is a claim then."""
    return member in (checker.scope.definitions if holder.function is None else holder.function.facts)


def member_key(checker: Inference, family: Definition, indices: dict[Any, Any]) -> Key:
    def value(name: str) -> Any:
        return indices.get(name)

    return family.name.key(value)


def infer_definition(checker: Inference, definition: Definition, env: Environment) -> Term:
    if definition.is_family:
        assert definition.range is not None
        last = checker.solver.value(definition.range.last, env)
        if not isinstance(last, int):
            raise unknown_bound(checker, definition.range, env)
        name = definition.name
        texts = tuple(component(node, {definition.range.variable.text: last}.get) for node in name.superscript)
        key = Key(name.base, tuple(component(node) for node in name.subscript), texts)
        found = checker.find(key, env, definition.head)
    else:
        found = checker.find(definition.key, env, definition.head)
    if found is None:
        raise empty_range(checker, definition)
    return found


def empty_range(checker: Inference, definition: Definition):
    over = definition.range or definition.head
    return checker.error(
        405, f"the range of {checker.text(definition.head)} is empty, so it has no last value", over,
        hint="let the range end after it begins",
    )  # fmt: skip
