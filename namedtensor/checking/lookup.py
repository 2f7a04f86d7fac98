"""Resolve names. A name is an argument, a definition, a member of a family, an input, a number or a constant.

Environments are searched from the innermost outward. A definition is typed once per environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Node, Number
from grammar.traversal import children

from ..core.extents import Extent
from ..core.sizes import is_ground, resolve
from ..operators import REGISTRY
from ..scope.names import CONSTANTS, Key, Spelled, compact, component, match_key, read_spelling, walk
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import AlreadyReportedError, Inference
from ..terms.terms import Term, resolve_shape
from .application import apply, scalar_term
from .beyond_families import beyond_family
from .cases import isolate
from .claims import check_statement
from .counting import find_loop_mark, mark_in
from .declarations import declaration, make_parameter
from .elements import define_by_elements
from .families import infer_family
from .indexing import make_created_tensor
from .open_families import find_labeled_member
from .unknown_names import describe_cycle, unknown_name

MAX_NESTED_DEFINITIONS = 100  # At a greater depth, needed definitions are evaluated in advance.


def find_term(checker: Inference, key: Key, env: Environment, node: Any) -> Term | None:
    """Return the term of a name in an environment, or None if the name is undefined.

    The variable of a derivative gets a unique term, which differs even from the term of the same name with the same
    value in another environment.
    """
    holder, term = found_in(checker, key, env, node)
    if term is None or not is_apart(checker, key, term):
        return term
    if term.operator == "input" and holder is checker.top and holder.variables.get(key) is term:
        return term
    options = (str(key), holder.serial)
    return checker.graph.intern("variable", (term,), (), options, term.shape, term.boolean, node)


def is_apart(checker: Inference, key: Key, term: Term) -> bool:
    """Return whether a name needs a separate term because it is the variable of a derivative.

    If a function contains a derivative, each of its parameters also needs a separate term, unless it is a plain number.
    """
    scope = checker.scope
    return key.base in scope.varied or (key.base in scope.apart and term.number is None)


def found_in(checker: Inference, key: Key, env: Environment, node: Any) -> tuple[Environment, Term | None]:
    """Return the term of a name and the environment that contains it. The term is None if the name is undefined."""
    current: Environment | None = env
    while current is not None:
        if current is checker.top and (owned := find_in_callers(checker, key, env, node, given=False)) is not None:
            return owned
        if key in current.variables:
            if current is checker.top:
                checker.used.add(key)
            return current, current.variables[key]
        term = fact(checker, key, current, env)
        if term is not None:
            return current, term
        if not key.subscript and not key.superscript and key.base in current.indices:
            value = current.indices[key.base]
            if isinstance(value, str) and value.isdecimal():
                value = int(value)
            elif isinstance(value, str) and (mark := mark_in(checker, value)) is not None:
                return current, checker.rolled[mark].value(value, node)
            if isinstance(value, (int, Extent)):
                return current, checker.graph.number(value, node)
        if key in current.scalars and may_be_number(checker, key):
            return current, scalar_term(checker, current.scalars[key], key, node)
        current = current.parent
    mark = find_loop_mark(checker, key) if checker.rolled else None
    if mark is not None:
        return checker.top, checker.rolled[mark].labeled(key, env, node)
    term = input_or_parameter(checker, key, node)
    brought = find_in_callers(checker, key, env, node, given=True) if term is None else None
    if brought is not None and (solved := checker.solver.scalar(key, checker.top, node)) is not None:
        return checker.top, scalar_term(checker, solved, key, node)
    return brought or (checker.top, term)


def find_in_callers(
    checker: Inference, key: Key, env: Environment, node: Any, given: bool
) -> tuple[Environment, Term] | None:
    """Find a name in the calls that enclose `env`, and return its environment and term, or None if no call has it.

    If `given` is true, look for an argument. Otherwise, look for a definition.
    """
    inner: list[Environment] = []
    for call in env.calls:
        if inner:
            term = call.variables.get(key) if given else fact(checker, key, call, env)
            if term is not None:
                for between in reversed(inner):
                    names = {outside: lifted for lifted, (outside, _, _) in between.extras.items()}
                    term = checker.renamed(term, {axis: names.get(axis, axis) for axis in term.shape}, node)
                return call, term
        inner.append(call)
    return None


def may_be_number(checker: Inference, key: Key) -> bool:
    """Return whether a name in a size equation may be a number.

    For example, b in b ∈ ℝ^{b} is a tensor, so b is not equal to |b|.
    """
    declared, _ = declaration(checker, key)
    return declared is None or not declared.axes


def fact(checker: Inference, key: Key, holder: Environment, env: Environment) -> Term | None:
    """Return the term of a name that is defined in this environment, or None if there is no definition for it."""
    if holder.function is None and holder is not checker.top:
        return None
    facts = checker.definitions_of(holder)
    families = checker.scope.families_of(key) if holder is checker.top else checker.families_of(holder)
    if key in facts:
        return define(checker, key, facts[key], holder, env)
    for pattern, group in facts.items() if key.superscript else ():
        if pattern.base == key.base and group[0].name.key(env.index) == key:  # For example, h^l in a function f^l.
            return define(checker, pattern, group, holder, env)
    for family in families:
        indices = match_key(family.name, key, checker.scope.indices)
        if indices is not None and family.range is not None:
            term = infer_family(checker, family, indices, holder, env)
            if term is not None:  # Otherwise, another family may have the member.
                return term
    for pattern, group in facts.items() if families and (key.superscript or key.subscript) else ():
        if (
            pattern.base == key.base and evaluate_labels(checker, group[0].name, env) == key
        ):  # The equation a^{n} = … defines a^{4} if n is 4.
            return define(checker, pattern, group, holder, env)
    return None


def define(checker: Inference, key: Key, group: list[Definition], holder: Environment, env: Environment) -> Term:
    """Return the term of a name's definitions in their environment.

    Definitions that depend on sizes are evaluated in the environment of the call instead.
    """
    environment, memo = holder, holder.memo
    if holder is checker.top and env is not checker.top and speaks_of_sizes(checker, key):
        asking = env.nearest_call
        environment = Environment(parent=checker.top, sizes_parent=asking, depth=asking.depth, active=env.active)
        memo = asking.memo
    if len(env.active) > MAX_NESTED_DEFINITIONS and holder.serial not in checker.ahead and key not in memo:
        define_ahead(checker, key, holder)
    if key in memo:
        result = memo[key]
        if isinstance(result, (NotationError, AlreadyReportedError)):
            raise result
        return result
    marker = (id(holder), key)
    if marker in env.active or marker in environment.active:
        raise checker.error(
            203,
            f"circular definition of {key}",
            group[0].statement.sides[0],
            notes=(f"{key} is defined by {checker.text(group[0].body)}", *describe_cycle(checker, key, holder, env)),
            hint="define the first value in a separate equation, as X^0, and the others with a range"
            if key.superscript
            else f"define it without {key}, or pass a value for it",
        )
    environment = environment.within(definition=group[0], active=env.active | environment.active | {marker})
    try:
        with isolate(checker):
            term = infer_group(checker, group, environment)
    except (NotationError, AlreadyReportedError) as problem:
        memo[key] = problem
        raise
    memo[key] = term
    checker.types.setdefault(str(key), resolve_shape(term.shape))
    return term


def define_ahead(checker: Inference, key: Key, holder: Environment) -> None:
    """Evaluate the definitions that a name needs in topological order, to keep Python's recursion shallow.

    The definitions belong to the program, or to the function that is called in the environment `holder`. Skip a
    definition that fails, because a later evaluation reports the error.
    """
    definitions = checker.definitions_of(holder)
    seen, path = {key}, [(key, iter(find_mentioned_names(definitions, key)))]
    checker.ahead.add(holder.serial)
    try:
        while True:
            current, rest = path[-1]
            expected = next((part for part in rest if part not in seen and part not in holder.memo), None)
            if expected is not None:
                seen.add(expected)
                path.append((expected, iter(find_mentioned_names(definitions, expected))))
                continue
            path.pop()
            if not path:
                return
            try:
                define(checker, current, definitions[current], holder, holder)
            except (NotationError, AlreadyReportedError):
                holder.memo.pop(current, None)
    finally:
        checker.ahead.remove(holder.serial)


def find_mentioned_names(definitions: Mapping[Key, list[Definition]], key: Key) -> list[Key]:
    """Return the defined names that a name's definitions mention. Labels are left out."""
    keys: list[Key] = []
    stack: list[Any] = [definition.body for definition in definitions[key]]
    while stack:
        node = stack.pop()
        name = read_spelling(node)
        if name is None:
            stack += children(node)
        elif name.key() in definitions:
            keys.append(name.key())
    return keys


def speaks_of_sizes(checker: Inference, key: Key) -> bool:
    """Return whether the value of a top-level name depends on sizes that may differ between calls."""
    memo, stack = checker.needs_sizes, [key]
    open_: dict[Key, list[Key]] = {}
    while stack:
        current = stack[-1]
        if current in open_:
            memo[current] = any(memo[name] for name in open_.pop(current))
        elif current not in memo:
            memo[current], mentioned = own_mentions(checker, current)
            if not memo[current]:
                open_[current] = mentioned
                stack += (name for name in mentioned if name not in memo)
                continue
        stack.pop()
    return memo[key]


def own_mentions(checker: Inference, key: Key) -> tuple[bool, list[Key]]:
    """Return whether a name's definitions depend on sizes and, if not, the defined names that they mention."""
    definitions = checker.scope.definitions
    mentioned: list[Key] = []
    for definition in definitions.get(key, []):
        if definition.elements:
            return True, []
        for node in walk(definition.body):
            if isinstance(node, nodes.Size) or (
                isinstance(node, Call) and node.operator in REGISTRY and REGISTRY[node.operator].new_formals
            ):
                return True, []
            name = read_spelling(node) if not isinstance(node, nodes.Axis) else None
            if name is not None and name.key() != key and name.key() in definitions:
                mentioned.append(name.key())
    return False, mentioned


def infer_group(checker: Inference, group: list[Definition], env: Environment) -> Term:
    definition = group[0]
    if definition.elements:
        return define_by_elements(checker, group, env)
    term = checker.infer(definition.body, env)
    check_statement(checker, definition, term, env)
    return term


def input_or_parameter(checker: Inference, key: Key, node: Any) -> Term | None:
    declared, env = declaration(checker, key)
    if declared is None:
        return find_labeled_member(checker, key, node) if key.subscript or key.superscript else None
    if not checker.infer_parameters:
        solved = None if declared.axes else checker.solver.scalar(key, checker.top)
        if solved is not None:
            return scalar_term(checker, solved, key, node)
        raise checker.error(
            206,
            f"no value for declared name {key}",
            node,
            labels=((declared.span, "declared here"),),
            hint=f"pass it by name: values={{{str(key)!r}: …}}",
        )
    return make_parameter(checker, key, declared, env)


def resolve_name(checker: Inference, node: Node, env: Environment) -> Term:
    """Return the term of a name with or without scripts. A superscript may be a power."""
    name = read_spelling(node)
    assert name is not None
    key = name.key(env.index)
    term = checker.find_spelled(name, env, node)
    if term is not None:
        return term
    if isinstance(node, nodes.Subscript):
        term = make_created_tensor(checker, node, env)
        if term is not None:
            return term
    if isinstance(node, nodes.Superscript):
        return power(checker, node, env)
    solved = checker.solver.scalar(key, env, node)
    if solved is not None:
        return scalar_term(checker, solved, key, node)
    if not key.subscript and not key.superscript and key.base in CONSTANTS:
        return checker.graph.number(CONSTANTS[key.base], node)
    raise unknown_name(checker, key, node, env)


def find_spelled(checker: Inference, name: Spelled, env: Environment, node: Node) -> Term | None:
    """Return the term of a name, or None if it is undefined.

    Look up the name as it is in the source, then with the values of its scripts.
    """
    key = name.key(env.index)
    index = checker.find(key, env, node)
    if index is None and (name.superscript or name.subscript) and not (checker.rolled and find_loop_mark(checker, key)):
        return look_up_by_value(checker, name, env, node)
    return index


def subscript(checker: Inference, node: nodes.Subscript, env: Environment) -> Term:
    if read_spelling(node) is not None:
        return resolve_name(checker, node, env)
    raise checker.error(
        112,
        f"the subscript of {checker.text(node.base)} is neither an index nor a rename",
        node,
        hint="write an index as X_{seq(1)}, a rename as X_{a→b}",
    )


def superscript(checker: Inference, node: nodes.Superscript, env: Environment) -> Term:
    return resolve_name(checker, node, env) if read_spelling(node) is not None else power(checker, node, env)


def power(checker: Inference, node: nodes.Superscript, env: Environment) -> Term:
    name = read_spelling(node)
    if len(node.components) != 1:
        beyond = beyond_family(checker, name.key(env.index), node, env) if name else None
        raise beyond or checker.error(
            201,
            f"undefined name {checker.text(node)}",
            node,
            hint="declare or define the name with these labels, or pass a value for it",
            symbol=checker.text(node),
        )
    try:
        base = checker.infer(node.base, env)
    except NotationError as problem:
        beyond = beyond_family(checker, name.key(env.index), node, env) if problem.code == 201 and name else None
        if beyond is not None:
            raise beyond from None
        if problem.code == 201 and name is not None and not isinstance(node.components[0], Number):
            raise unknown_name(checker, name.key(env.index), node, env) from None
        raise
    exponent = checker.infer(node.components[0], env)
    return apply(checker, "^", (base, exponent), (), node, env, (node.base, node.components[0]))


def look_up_by_value(checker: Inference, name: Spelled, env: Environment, node: Node) -> Term | None:
    """Return the term of a name with the values of its scripts, such as X^2 for X^L if L is 2, or None if undefined."""
    families = [family.name for family in checker.families_around(env)]
    declared = [text for _, text, _, over in checker.scope.declarations if over is not None]
    if all(text.base != name.base for text in (*families, *declared)):
        return None
    return checker.find(evaluate_labels(checker, name, env), env, node)


def evaluate_labels(checker: Inference, name: Spelled, env: Environment) -> Key:
    """Return the key of a name with known values in place of labels such as |a|, n/2 and n+1."""

    def value(word: str) -> Any:
        index = env.index(word)
        if index is None:
            index = checker.number(Key(word), env) if is_defined(checker, Key(word)) else None
            if index is None:
                index = checker.solver.scalar(Key(word), env)
        return resolve(index) if is_ground(index) else None

    def member(part: Node) -> str:
        """Return the value of a label as text. If it is unknown, return the label itself."""
        text = component(part, value)
        size = checker.solver.value(part, env) if not isinstance(part, (Name, Number)) else None
        return compact(resolve(size)) if size is not None and is_ground(size) else text

    return Key(name.base, tuple(map(member, name.subscript)), tuple(map(member, name.superscript)))


def is_defined(checker: Inference, key: Key) -> bool:
    """Return whether a name is defined in the program or is an input."""
    return key in checker.scope.definitions or key in checker.top.variables
