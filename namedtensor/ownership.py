"""Which definitions belong to a function (language.md §4).

A definition belongs to a function iff its body needs it and it mentions a parameter or superscript of the function,
directly or through another such definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grammar import nodes
from grammar.nodes import Axis, Call, Index, Name, Node

from .names import Key, spelled, walk

if TYPE_CHECKING:
    from .scope import Definition, Function


def component_names(node: Node) -> set[str]:
    return {inner.text.rstrip("'") for inner in walk(node) if isinstance(inner, Name)}


ByKey = dict[Key, list["Definition"]]
ByBase = dict[str, list["Definition"]]


def by_name(tensors: list[Definition]) -> tuple[ByKey, ByBase]:
    """Definitions by key, and families by the base of their name."""
    by_key: ByKey = {}
    by_base: ByBase = {}
    for definition in tensors:
        if not definition.is_family:
            by_key.setdefault(definition.key, []).append(definition)
        else:
            by_base.setdefault(definition.name.base, []).append(definition)
    return by_key, by_base


def facts_of(function: Function, by_key: ByKey, by_base: ByBase) -> list[Definition]:
    """The definitions that belong to a function, by language.md §4.

    Of several definitions of one name, the nearest below the head is taken, then the nearest above.
    """
    bound = function.bound
    parameters = {name.key() for name in (*function.parameters, *function.options)}
    labelled = {key for key in parameters if key.subscript or key.superscript}

    def distance(definition: Definition):
        below = definition.position > function.position
        return (not below, abs(definition.position - function.position))

    def candidates(key: Key) -> list[list[Definition]]:
        group = sorted(by_key.get(key, []), key=distance)
        if group and all(definition.elements for definition in group):
            groups = _runs(group)
        else:
            groups = [[definition] for definition in group]
        return groups + [[definition] for definition in sorted(by_base.get(key.base, []), key=distance)]

    verdicts: dict[int, bool] = {}

    def belongs(group: list[Definition], visiting: frozenset[int]) -> bool:
        marker = id(group[0])
        if marker in verdicts:
            return verdicts[marker]
        if marker in visiting:
            return False
        names, words = mentions(group, by_key)
        found = bool(words & bound) or any(key in labelled for key in names)
        if not found:
            for key in names:
                options = candidates(key)
                if any(belongs(option, visiting | {marker}) for option in options[:1]):
                    found = True
                    break
        if found or not visiting:
            verdicts[marker] = found
        return found

    taken: dict[Key, list[Definition]] = {}
    pending = list(needed(function.body, by_key))
    for claim in function.claims:
        pending += needed(claim, by_key)
    while pending:
        key = pending.pop()
        if key in taken or key in parameters:
            continue
        for group in candidates(key):
            if belongs(group, frozenset()):
                taken[key] = group
                for definition in group:
                    pending += needed(definition.body, by_key)
                break
    unique: dict[int, Definition] = {id(d): d for group in taken.values() for d in group}
    return list(unique.values())


def _runs(group: list[Definition]) -> list[list[Definition]]:
    """Definitions by elements of one name: those without a range stand alone, those with one fill parts together."""
    parts = [definition for definition in group if definition.range is not None]
    whole = [[definition] for definition in group if definition.range is None]
    return whole + ([parts] if parts else [])


def needed(node: Node, by_key: dict[Key, list[Definition]]) -> list[Key]:
    """The keys of the names that an expression uses, longest spelling first where a definition has it."""
    found: list[Key] = []
    stack: list = [node]
    while stack:
        current = stack.pop()
        name = spelled(current) if not isinstance(current, Axis) else None
        if name is not None:
            key = name.key()
            if key in by_key or isinstance(current, Name):
                found.append(key)
                continue
            found.append(key)
            if isinstance(current, (nodes.Superscript, nodes.Subscript)):
                stack.append(current.base)
            continue
        if isinstance(current, Call):
            stack.extend(current.arguments)
            stack.extend(current.parameters)
            continue
        stack.extend(nodes.children(current))
    return found


def mentions(group: list[Definition], by_key: dict[Key, list[Definition]]) -> tuple[list[Key], set[str]]:
    """The keys that definitions use, and the single words (names and indices) that they mention."""
    keys: list[Key] = []
    words: set[str] = set()
    for definition in group:
        local = {node.text for _, item in definition.elements for node in walk(item) if isinstance(node, Name)}
        if definition.range is not None:
            local.add(definition.range.variable.text)
        here = needed(definition.body, by_key)
        keys += here
        words |= {key.base for key in here if not key.subscript and not key.superscript} - local
        for node in (definition.body, *(item for _, item in definition.elements)):
            for inner in walk(node):
                if isinstance(inner, (nodes.Superscript, nodes.Subscript)):
                    for part in inner.components:
                        words |= component_names(part)
                elif isinstance(inner, Call):
                    for part in (*inner.superscript, *inner.subscript):
                        words |= component_names(part)
                elif isinstance(inner, Index):
                    for _, index in inner.items:
                        words |= component_names(index) - local
    return keys, words
