"""What a name stands for: an argument, a definition, a member of a family, an input, a number, a constant.

Environments are asked from the innermost outwards; definitions are typed once for each environment that holds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Node, Number

from ..core.sizes import SizeVariable, is_ground, resolve
from ..scope.names import CONSTANTS, Key, Spelled, component, match_key, spelled, walk
from ..scope.symbols import Claim, Definition
from ..terms.environment import Environment
from ..terms.terms import Term, resolved_shape
from . import elements, loops
from .cases import unguarded
from .report import AlreadyReported

if TYPE_CHECKING:
    from .checker import Checker


def find(checker: Checker, key: Key, env: Environment, node: Any) -> Term | None:
    """The Term that a key stands for in an environment, or None; what a derivative is taken by is apart from all that equals it."""
    found = found_in(checker, key, env, node)
    if found is None or not is_apart(checker, key, found):
        return found
    if found.operator == "input" and checker.top.variables.get(key) is found:
        return found
    return checker.graph.intern("variable", (found,), (), (str(key),), found.shape, found.boolean, node)


def is_apart(checker: Checker, key: Key, found: Term) -> bool:
    """Whether a derivative is taken by a name, or in a function whose parameter it is; a plain number is constant there."""
    scope = checker.scope
    return key.base in scope.varied or (key.base in scope.apart and found.number is None)


def found_in(checker: Checker, key: Key, env: Environment, node: Any) -> Term | None:
    current: Environment | None = env
    while current is not None:
        if key in current.variables:
            if current is checker.top:
                checker.used.add(key)
            return current.variables[key]
        found = checker.fact(key, current, env)
        if found is not None:
            return found
        if not key.subscript and not key.superscript and key.base in current.indices:
            value = current.indices[key.base]
            if isinstance(value, str) and value.isdecimal():
                value = int(value)
            if isinstance(value, int):
                return checker.graph.number(value, node)
        if key in current.scalars:
            return checker.scalar_term(current.scalars[key], key, node)
        current = current.parent
    return checker.input_or_parameter(key, node)


def fact(checker: Checker, key: Key, holder: Environment, env: Environment) -> Term | None:
    """The value of a definition that the holder's function, or the program, has for this key."""
    facts: Mapping[Key, list[Definition]]
    if holder.function is not None:
        facts, families = holder.function.facts, holder.function.families
    elif holder is checker.top:
        facts, families = checker.scope.definitions, checker.scope.families
    else:
        return None
    if key in facts:
        return checker.define(key, facts[key], holder, env)
    for family in families:
        indices = match_key(family.name, key, checker.scope.indices)
        if indices is not None and family.range is not None:
            found = checker.family(key, family, indices, holder, env)
            if found is not None:  # else another part of it may have this member
                return found
    return None


def define(checker: Checker, key: Key, group: list[Definition], holder: Environment, env: Environment) -> Term:
    """Evaluate definitions in the environment that holds them; one that speaks of sizes, in the environment that asks."""
    place, memo = holder, holder.memo
    if holder is checker.top and env is not checker.top and checker.speaks_of_sizes(key):
        asking = nearest_call(env)
        place = Environment(parent=checker.top, sizes_parent=asking, depth=asking.depth, active=env.active)
        memo = asking.memo
    if key in memo:
        found = memo[key]
        if isinstance(found, (NotationError, AlreadyReported)):
            raise AlreadyReported if checker.recover else found
        return found
    marker = (id(holder), key)
    if marker in env.active or marker in place.active:
        raise checker.error(
            203,
            f"{key} needs itself",
            group[0].statement.sides[0],
            notes=(f"{key} is defined by {checker.text(group[0].body)}",),
            hint="give the first value by an equation of its own, as X^0, and the others by a range"
            if key.superscript
            else f"define it without {key}, or give it a value",
        )
    place = Environment(
        parent=place,
        sizes_parent=place,
        definition=group[0],
        depth=place.depth,
        active=env.active | place.active | {marker},
    )
    try:
        with unguarded(checker):
            term = checker.definition_group(group, place)
    except (NotationError, AlreadyReported) as problem:
        memo[key] = problem
        raise
    memo[key] = term
    checker.types.setdefault(str(key), resolved_shape(term.shape))
    return term


def speaks_of_sizes(checker: Checker, key: Key) -> bool:
    """Whether the value of a top-level name depends on sizes that a call fixes."""
    memo = checker.top.memo.setdefault("sizes of", {})
    if key in memo:
        return memo[key]
    memo[key] = False
    for definition in checker.scope.definitions.get(key, []):
        if definition.elements:
            memo[key] = True
            break
        for node in walk(definition.body):
            if isinstance(node, nodes.Size) or (
                isinstance(node, Call) and node.operator in ("unroll", "pool", "iota", "onehot", "maxk", "argmaxk")
            ):
                memo[key] = True
            name = spelled(node) if not isinstance(node, nodes.Axis) else None
            if name is not None and name.key() != key and name.key() in checker.scope.definitions:
                memo[key] = memo[key] or checker.speaks_of_sizes(name.key())
    return memo[key]


def definition(checker: Checker, definition: Definition, env: Environment) -> Term:
    if definition.is_family:
        assert definition.range is not None
        last = checker.solver.value(definition.range.last, env)
        if not isinstance(last, int):
            raise checker.unknown_bound(definition.range, env)
        name = definition.name
        texts = tuple(component(node, {definition.range.variable.text: last}.get) for node in name.superscript)
        key = Key(name.base, tuple(component(node) for node in name.subscript), texts)
        found = checker.find(key, env, definition.head)
    else:
        found = checker.find(definition.key, env, definition.head)
    if found is None:
        raise checker.empty_range(definition)
    return found


def empty_range(checker: Checker, definition: Definition):
    over = definition.range or definition.head
    return checker.error(
        405, f"the range of {checker.text(definition.head)} is empty, so it has no last value", over,
        hint="let the range end after it begins",
    )  # fmt: skip


def definition_group(checker: Checker, group: list[Definition], env: Environment) -> Term:
    definition = group[0]
    if definition.elements:
        return elements.define(checker, group, env)
    term = checker.infer(definition.body, env)
    checker.check_statement(definition, term, env)
    return term


def check_statement(checker: Checker, definition: Definition, term: Term, env: Environment) -> None:
    for of in definition.statement.sets:
        checker.check_member(term, of, env, definition.body)
    declared, declaring = checker.local_declaration(definition.key, env)
    if declared is not None:
        checker.check_member(term, declared, declaring, definition.body)
    if definition.claims and definition.elements:
        env = elements.each_element(checker, definition.elements, term.shape, env)
    over = definition.range if not definition.is_family else None
    for other in definition.claims:
        checker.pending_claims.append((Claim(definition.body, other, definition.statement.span, over), env))


def local_declaration(checker: Checker, key: Key, env: Environment) -> tuple[nodes.Set | None, Environment]:
    current: Environment | None = env
    while current is not None:
        if current.function is not None and key in current.function.declarations:
            return current.function.declarations[key], env
        current = current.parent
    declared, declaring = checker.declaration(key)
    if declared is None:
        return None, env
    return declared, Environment(parent=env, sizes_parent=env, indices=declaring.indices)


def family(
    checker: Checker, key: Key, family: Definition, indices: dict, holder: Environment, env: Environment
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
        raise checker.unknown_bound(over, env)
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
        member = checker.member_key(family, {**indices, variable: step})
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
        found = checker.member_term(family, place)
        unit.note(step, found)
        checker.types.setdefault(str(member), resolved_shape(found.shape))
    return found


def member_term(checker: Checker, family: Definition, place: Environment) -> Term:
    """The value of one member, in an environment that has its index."""
    if family.elements:
        return elements.define(checker, [family.member()], place)
    found = checker.infer(family.body, place)
    checker.check_statement(family, found, place)
    return found


def has_own_equation(checker: Checker, member: Key, holder: Environment) -> bool:
    """Whether a member of a family is defined by itself: what the family says of it is a claim then."""
    return member in (checker.scope.definitions if holder.function is None else holder.function.facts)


def member_key(checker: Checker, family: Definition, indices: dict) -> Key:
    def value(name: str) -> Any:
        return indices.get(name)

    return family.name.key(value)


def unknown_bound(checker: Checker, over: nodes.Range, env: Environment):
    return checker.error(
        309,
        f"{checker.text(over.last)} has no value, and the range {checker.text(over)} needs one",
        over.last,
        hint=f"give it by name: sizes={{{checker.text(over.last)!r}: 3}}",
    )


def scalar_term(checker: Checker, value: Any, key: Any, node: Any) -> Term:
    value = resolve(value)
    if isinstance(value, SizeVariable):
        return checker.graph.intern("unknown", options=(str(key),), node=node)
    return checker.graph.number(value, node)


def input_or_parameter(checker: Checker, key: Key, node: Any) -> Term | None:
    declared, env = checker.declaration(key)
    if declared is None:
        return None
    if not checker.infer_parameters:
        solved = checker.solver.scalar(key, checker.top)
        if solved is not None:
            return checker.scalar_term(solved, key, node)
        raise checker.error(
            206,
            f"{key} is declared, but no value was given for it",
            node,
            labels=((declared.span, "declared here"),),
            hint=f"give it by name: values={{{str(key)!r}: …}}",
        )
    return checker.declared_parameter(key, declared, env)


def declared_parameter(checker: Checker, key: Key, declared: nodes.Set, env: Environment) -> Term:
    if key not in checker.parameters:
        shape = {}
        for axis, size, _ in checker.set_axes(declared, env):
            value = checker.solver.value(size, env) if size is not None else checker.solver.size_said(axis, env)
            shape[axis] = value if value is not None else checker.unknown_size(axis)
        checker.parameters[key] = checker.graph.intern("input", options=(str(key),), shape=shape)
    return checker.parameters[key]


def number(checker: Checker, key: Key, env: Environment) -> Any:
    """The number that a name stands for by its definition, for size expressions."""
    try:
        term = checker.find(key, env, None)
    except NotationError:
        return None
    return term.number if term is not None else None


def resolve_name(checker: Checker, node: Node, env: Environment) -> Term:
    """A name, with or without scripts; or a power of one."""
    name = spelled(node)
    assert name is not None
    key = name.key(env.index)
    found = checker.find(key, env, node)
    if found is not None:
        return found
    if (name.superscript or name.subscript) and (found := checker.by_value(name, env, node)) is not None:
        return found
    if isinstance(node, nodes.Subscript):
        found = elements.created(checker, node, env)
        if found is not None:
            return found
    if isinstance(node, nodes.Superscript):
        return checker.power(node, env)
    solved = checker.solver.scalar(key, env, node)
    if solved is not None:
        return checker.scalar_term(solved, key, node)
    if not key.subscript and not key.superscript and key.base in CONSTANTS:
        return checker.graph.number(CONSTANTS[key.base], node)
    raise checker.unknown(key, node, env)


def by_value(checker: Checker, name: Spelled, env: Environment, node: Node) -> Term | None:
    """X^L as X^2, where L is 2 and X a family."""

    def value(word: str) -> Any:
        found = env.index(word)
        if found is None and word.rstrip("'") == word:
            found = checker.number(Key(word), env) if checker.defined_number(word, env) else None
            if found is None:
                found = checker.solver.scalar(Key(word), env)
        return resolve(found) if is_ground(found) else None

    families = [*checker.scope.families]
    current: Environment | None = env
    while current is not None:
        if current.function is not None:
            families += current.function.families
        current = current.parent
    declared = [name for _, name, _, over in checker.scope.declarations if over is not None]
    if not any(family.name.base == name.base for family in families) and not any(
        each.base == name.base for each in declared
    ):
        return None

    def member(part: Node) -> str:
        """h^{|a|}, h^{n/2}: what its size expression comes to; else as it is written."""
        text = component(part, value)
        size = checker.solver.value(part, env) if not isinstance(part, (Name, Number)) else None
        return str(resolve(size)) if size is not None and is_ground(size) else text

    key = Key(name.base, tuple(map(member, name.subscript)), tuple(map(member, name.superscript)))
    return checker.find(key, env, node)


def defined_number(checker: Checker, word: str, env: Environment) -> bool:
    return Key(word) in checker.scope.definitions or Key(word) in checker.top.variables


def nearest_call(env: Environment) -> Environment:
    """The environment of the call that is being checked; it holds what depends on the call's sizes."""
    current = env
    while current.function is None and current.parent is not None and current.parent.parent is not None:
        current = current.sizes_parent or current.parent
    return current
