"""Determine whether index variables of families, such as t in h^{t-1}, are plain numbers.

If a variable is a plain number, a body may be typed once with a tensor in place of the variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from grammar import nodes
from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.nodes import Call, Name, Node

from ..scope.names import Key, component, read_spelling, walk
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import AlreadyReportedError, Inference
from ..terms.loop_bodies import UnsliceableError
from .open_labels import split_offset


class UnrollableError(Exception):
    """Raised if a recurrence, or its part after a certain step, cannot be converted to a loop."""


def has_layers(checker: Inference, holder: Environment) -> bool:
    """Return whether a family's index in this scope is also a label of other names, as in W^l or FFN^l."""
    holder_key = id(holder.function)
    if holder_key not in checker.layered:
        families = checker.families_of(holder)
        checker.layered[holder_key] = any(family.range and is_layer(checker, family) for family in families)
    return checker.layered[holder_key]


def is_layer(checker: Inference, family: Definition) -> bool:
    assert family.range is not None
    variable, families = family.range.variable.text, {definition.name.base for definition in checker.scope.families}
    labeled = bases_with_labels(checker) - families
    for node in walk(family.body):
        if isinstance(node, Call):
            named = node.operator in checker.scope.functions
        else:
            name = read_spelling(node) if isinstance(node, (nodes.Superscript, nodes.Subscript)) else None
            named = name is not None and name.base in labeled
            node = name
        if named and node and any(mentions(part, variable) for part in (*node.subscript, *node.superscript)):
            return True
    return False


def bases_with_labels(checker: Inference) -> frozenset[str]:
    """Return the base names of all names with labels in the program and its inputs, such as W for W^{1,Q}."""
    if checker.labeled is None:
        scope = checker.scope
        names = [name for _, name, _, _ in scope.declarations]
        keys = [*scope.definitions, *checker.top.variables]
        for function in scope.all_functions():
            names += [*function.parameters, *function.options]
            keys += [*function.facts, *function.declarations]
        bases = {name.base for name in (*names, *keys) if name.superscript or name.subscript}
        checker.labeled = frozenset(bases)
    return checker.labeled


def find_loop_mark(checker: Inference, key: Key) -> str | None:
    """Return the marker of the loop whose index occurs in a name's labels, or None if there is no such loop."""
    parts = [part for part in (*key.superscript, *key.subscript) if "@" in part]
    return next((mark for part in parts if (mark := mark_in(checker, part)) is not None), None) if parts else None


def mark_in(checker: Inference, part: str) -> str | None:
    """Return the marker of the loop whose index occurs in a label, or None if there is no such loop."""
    return next((mark for mark in checker.rolled if mark in part), None)


def ahead(part: str, mark: str) -> int:
    """Return the offset between a label and the loop's index, such as −1 for l − 1."""
    rest = part.removeprefix(mark)
    if rest == part or (rest and not re.fullmatch(r"[+-]\d+", rest)):
        raise UnrollableError
    return int(rest or 0)


def label_steps(part: str, mark: str, steps: Sequence[int]) -> list[str]:
    """Return the label at each step of a loop: 7, 8, … for l, 6, 7, … for l − 1, and 7', 8', … for l'."""
    if "@" not in part:
        return [part] * len(steps)
    primes = part[len(part.rstrip("'")) :]
    offset = ahead(part.rstrip("'"), mark)
    if primes and offset:
        raise UnrollableError
    return [f"{step + offset}{primes}" for step in steps]


def find_bound(checker: Inference, label: Any, env: Environment) -> tuple[Any, str, int]:
    """Return the binding, the name and the offset of the index in a label.

    The binding is None if the index is not bound.
    """
    variable, offset = split_offset(label) if isinstance(label, str) else ("", 0)
    return checker.rolled.get(variable) or members_of(variable, env), variable, offset


def members_of(variable: str, env: Environment) -> Any:
    """Return the family members that an index variable is bound to, or None if it is not bound to members."""
    for outer in env.outward:
        if variable in outer.members:
            return outer.members[variable]
        if variable in outer.indices or Key(variable) in outer.variables:
            break
    return None


def is_value(checker: Inference, variable: str, body: Node, env: Environment, labels: bool = False) -> bool:
    """Return whether a body uses a variable only as a number, or as a family index with a fixed offset.

    If `labels` is true, also allow the variable with a fixed offset in labels of tensors and functions.
    """
    labeled, families = find_labeled_names(checker, env)
    if labels:
        families, labeled = families | labeled, set[str]()
    result = occurrences(variable, body) if labels else occurrences_in(body, variable)
    for kind, base, near in result:
        if kind == "axis" or (kind == "call" and not labels):
            return False
        if kind == "name" and not (near if base in families else base not in labeled):
            return False
    return True


Occurrence = tuple[str, str, bool]
_OCCURRENCES: Cache[tuple[str, int], tuple[Node, list[Occurrence]]] = Cache("occurrences of index variables", 4096)


def occurrences(variable: str, body: Node) -> list[Occurrence]:
    """Return the occurrences of a variable in a body, from a cache if possible."""
    return _OCCURRENCES.get_or_build((variable, id(body)), lambda: (body, [*occurrences_in(body, variable)]))[1]


def occurrences_in(body: Node, variable: str) -> Iterator[Occurrence]:
    """Yield the kind and name of each axis or script with a variable, and whether the variable's offset is fixed."""
    for node in walk(body):
        if isinstance(node, nodes.Axis):
            if variable in re.split(r"[_^{},]", node.name)[1:]:
                yield "axis", node.name, False
        elif isinstance(node, Call):
            for part in filter(lambda part: mentions(part, variable), (*node.subscript, *node.superscript)):
                yield "call", node.operator, is_near(part, variable)
        elif isinstance(node, (nodes.Superscript, nodes.Subscript)) and (name := read_spelling(node)) is not None:
            for part in filter(lambda part: mentions(part, variable), (*name.subscript, *name.superscript)):
                yield "name", name.base, is_near(part, variable)


def find_labeled_names(checker: Inference, env: Environment) -> tuple[set[str], set[str]]:
    """Return the base names of tensors with labels in this scope, and the base names of its families."""
    scope = checker.scope
    families = {family.name.base for family in checker.families_around(env)}
    labeled = {name.base for _, name, _, _ in scope.declarations if name.superscript or name.subscript}
    keys = [*scope.definitions]
    for outer in env.outward:
        if outer is checker.top:
            labeled |= labels_given(checker)
        else:
            keys += outer.variables
        if outer.function is not None:
            keys += [*outer.function.facts, *outer.function.declarations]
    return labeled | {key.base for key in keys if key.superscript or key.subscript}, families


def labels_given(checker: Inference) -> frozenset[str]:
    """Return the base names of inputs with labels."""
    if checker.labels_given is None:
        bases = {key.base for key in checker.top.variables if key.superscript or key.subscript}
        checker.labels_given = frozenset(bases)
    return checker.labels_given


def mentions(part: Node, variable: str) -> bool:
    return any(isinstance(node, Name) and node.text.rstrip("'") == variable for node in walk(part))


def is_near(part: Node, variable: str) -> bool:
    """Return whether a component is the variable, possibly with an integer offset: t, t − 1 or t + 2."""
    return split_offset(component(part))[0].rstrip("'") == variable


def try_typing(checker: Inference, env: Environment, typed: Callable[[], Any]) -> Any:
    """Return the result of `typed`. If it fails, discard everything that it recorded, and return None."""
    trace, claims, warnings = len(checker.trace), len(checker.pending_claims), len(checker.warnings)
    collect, checker.recover = checker.recover, False
    memos: list[tuple[dict[Any, Any], set[Any]]] = [
        (memo, set(memo))
        for environment in list_environments(env)
        for memo in (environment.memo, environment.steps, environment.loops, environment.unrollable)
    ]
    memos.append((checker.parameters, set(checker.parameters)))
    checker.attempts += 1
    try:
        return typed()
    except (UnrollableError, UnsliceableError, NotationError, AlreadyReportedError):
        del checker.trace[trace:], checker.pending_claims[claims:], checker.warnings[warnings:]
        for memo, before in memos:
            for key in memo.keys() - before:
                del memo[key]
        return None
    finally:
        checker.recover = collect
        checker.attempts -= 1


@contextmanager
def members_defined(checker: Inference, node: Any) -> Generator[None]:
    """Convert an UnrollableError inside the block to an error at `node`, which reports an undefined family member."""
    try:
        yield
    except UnrollableError:
        raise checker.error(
            210, f"{checker.text(node)} uses a member of a family that no equation defines", node,
            hint="use only the members in the ranges of the family, or extend its ranges",
        ) from None  # fmt: skip


def list_environments(env: Environment) -> list[Environment]:
    """Return an environment and all environments in which it looks up names and sizes."""
    environments: dict[int, Environment] = {}
    waiting: list[Environment | None] = [env]
    while waiting:
        environment = waiting.pop()
        if environment is not None and id(environment) not in environments:
            environments[id(environment)] = environment
            waiting += [environment.parent, environment.sizes_parent, environment.caller]
    return list(environments.values())
