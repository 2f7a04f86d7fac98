"""The value of a program: its last bare expression; without one, the last definition that no other statement uses.

    Y = X - m               the value: nothing uses Y
    m = mean_{chans} X      used by Y

Assertions, declarations and sizes use nothing; a family is one definition with its starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

from grammar import nodes
from grammar.nodes import Axis, Call, IndexSum, Name, Node, Size
from grammar.traversal import children

from .names import Key, Spelled, component, spelled
from .symbols import Definition, FunctionDefinition, Scope
from .where_clauses import ANY, expressions_of, list_members, matches, pattern_of


class Cluster:
    """One definition: all equations of a name, or a family with its initial and individually defined members."""

    def __init__(self, key: Key, family: bool = False):
        self.key, self.family = key, family
        self.parts: list[Definition] = []

    @property
    def last(self) -> Definition:
        families = [part for part in self.parts if part.is_family] or self.parts
        return max(families, key=attrgetter("position"))

    @property
    def is_size(self) -> bool:
        """Whether it only names a size: n = |seq|."""
        return all(any(isinstance(side, Size) for side in part.statement.sides) for part in self.parts)


def value_of(scope: Scope, claimed: list[tuple[int, Node]]) -> tuple[Any, Definition | None]:
    """Return the program's value, and the last definition that nothing uses if it follows an expression that is the value.

    The value is a Definition or an expression, or None if the program has only functions. `claimed` contains the left
    sides of the program's assertions, with the positions of their statements.
    """
    clusters = clusters_of(scope)
    used = used_in(scope, clusters)
    unused = [cluster for cluster in clusters if id(cluster) not in used]
    result: list[tuple[int, Any]] = [(cluster.last.position, cluster.last) for cluster in unused if not cluster.is_size]
    position, last = max(result, key=itemgetter(0), default=(0, None))
    if scope.values:
        asked_at, value = max(scope.values, key=itemgetter(0))
        return value, last if position > asked_at else None
    if last is None and not scope.functions:
        result = [(cluster.last.position, cluster.last) for cluster in unused or clusters] or claimed[:1]
        _, last = max(result, key=itemgetter(0), default=(0, None))
    return last, None


def clusters_of(scope: Scope) -> list[Cluster]:
    clusters: dict[Key, Cluster] = {}
    for family in scope.families:
        pattern = pattern_of(family.name, scope.indices)
        clusters.setdefault(pattern, Cluster(pattern, True)).parts.append(family)
    patterns = list(clusters)
    for key, group in scope.definitions.items():
        local = next((pattern for pattern in patterns if matches(pattern, key)), key)
        clusters.setdefault(local, Cluster(local)).parts.extend(group)
    return list(clusters.values())


def used_in(scope: Scope, clusters: list[Cluster]) -> set[int]:
    """The ids of the clusters that other statements use."""
    uses = _Uses(scope, clusters)
    indices: set[int] = set()
    needs = {id(other): set[int]().union(*map(uses.by_definition, other.parts)) for other in clusters}
    circles = in_circles(needs)
    for cluster, needed in needs.items():
        indices |= {other for other in needed if circles[other] != circles[cluster]}
    for _, node in scope.values:
        indices |= uses.by((node,))
    for function in scope.all_functions():
        indices |= uses.by_function(function)
    return indices


def in_circles(needs: Mapping[int, set[int]]) -> dict[int, int]:
    """The number of the circle that each is in: θ, m and g of θ_t = θ_{t-1} − m_t, m_t = m_{t-1} + g_t, g_t = 2 θ_{t-1} in one."""
    order: list[int] = []
    seen: set[int] = set()
    for root in needs:
        stack = [] if root in seen else [(root, iter(needs[root]))]
        seen.add(root)
        while stack:
            current, rest = stack[-1]
            following = next((index for index in rest if index not in seen), None)
            if following is None:
                order.append(current)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(needs[following])))
    users: dict[int, list[int]] = {}
    for index, needed in needs.items():
        for other in needed:
            users.setdefault(other, []).append(index)
    result: dict[int, int] = {}
    for number, root in enumerate(reversed(order)):
        waiting = [root]
        while waiting:
            current = waiting.pop()
            if current not in result:
                result[current] = number
                waiting += users.get(current, ())
    return result


class _Uses:
    def __init__(self, scope: Scope, clusters: list[Cluster]):
        self.scope = scope
        self.clusters = {cluster.key: cluster for cluster in clusters if not cluster.family}
        self.families: dict[str, list[Cluster]] = {}
        self.by_base: dict[str, list[Key]] = {}  # the names that are no families
        for cluster in clusters:
            if cluster.family:
                self.families.setdefault(cluster.key.base, []).append(cluster)
            else:
                self.by_base.setdefault(cluster.key.base, []).append(cluster.key)
        self.labels = {
            function.operator: {text for kind, text in (*function.subscript, *function.superscript) if kind == "label"}
            for function in scope.all_functions()
        }
        self.declared: dict[str, list[Key]] = {}
        for _, name, _, _ in scope.declarations:
            self.declared.setdefault(name.base, []).append(pattern_of(name, scope.indices))

    def by_definition(self, definition: Definition) -> set[int]:
        return self.by((*expressions_of(definition), *(item for _, item in definition.elements)), definition.local)

    def by_function(self, function: FunctionDefinition) -> set[int]:
        indices: set[int] = set()
        local = {name.key() for name in (*function.parameters, *function.options)} | set(function.facts)
        hidden = {key.base for key in local if key == Key(key.base)} | function.bound
        hidden |= {family.name.base for family in function.families}
        for definition in function.all_definitions():
            indices |= self.by_definition(definition) - self.named(hidden)
        return (indices | self.by((function.body,))) - self.named(hidden, local)

    def named(self, words: set[str], keys: Iterable[Key] = ()) -> set[int]:
        """The clusters that these names, which mean something else in a function, would be."""
        return {id(self.clusters[key]) for key in {*map(Key, words), *keys} if key in self.clusters}

    def by(self, parts: Iterable[Node], local: Iterable[str] = ()) -> set[int]:
        """The ids of the clusters that expressions use; `local` names stand for something else in them."""
        indices: set[int] = set()
        for name in self.names(parts, frozenset(local)):
            indices |= self.meant(name)
        return indices

    def names(self, parts: Iterable[Node], local: frozenset[str]) -> Iterator[Spelled]:
        stack: list[tuple[Any, frozenset[str]]] = [(part, local) for part in parts]
        while stack:
            node, bound = stack.pop()
            name = None if isinstance(node, Axis) else spelled(node)
            if isinstance(node, Size):
                base, _, label = node.axis.name.partition("_")
                yield Spelled(base, (Name(label),) if label else ())
            elif name is not None:
                if name.base not in bound or name.subscript or name.superscript:
                    yield name
                stack += [(part, bound) for part in self.indices_in(name)]
            elif isinstance(node, IndexSum):
                stack += [(node.first, bound), (node.last, bound), (node.body, bound | {node.variable.text})]
            elif isinstance(node, nodes.Over):
                inner = bound | {node.variable.text}
                stack += [(node.over, bound if isinstance(node.over, nodes.Set) else inner), (node.body, inner)]
            elif isinstance(node, nodes.Expectation):
                for draw in node.drawn:
                    stated = self.scope.definitions.get(Key(draw.name), ())
                    if any(isinstance(other.body, nodes.Draw) for other in stated):  # what is stated about it is used
                        yield Spelled(draw.name)
                    stack += [(part, bound) for part in children(draw)]
                    bound = bound | {draw.name}
                stack.append((node.body, bound))
                yield from map(Spelled, ("draws", "seed"))
            elif isinstance(node, nodes.Draw):
                stack += [(part, bound) for part in children(node)]
                yield Spelled("seed")
            elif isinstance(node, nodes.AtPoint):
                stack += [(value, bound) for _, value in node.points]
                stack.append((node.body, bound))
            elif isinstance(node, Call):
                if node.operator == "standardize":
                    yield Spelled("ε")
                labels = self.labels.get(node.operator)
                scripts = node.superscript if labels is None else (*node.superscript, *node.subscript)
                stack += [(part, bound) for part in scripts if component(part) not in (labels or ())]
                stack += [(part, bound) for part in (*node.arguments, *node.parameters)]
            else:
                stack += [(part, bound) for part in children(node)]

    def meant(self, name: Spelled) -> set[int]:
        """Return the clusters that a name means: its symbol or family, or the members that its index counts and its base."""
        members = list[Cluster]()
        while True:
            key = name.key()
            families = self.families.get(key.base, ())
            clusters = (
                [self.clusters[key]]
                if key in self.clusters
                else [family for family in families if matches(family.key, key)]
            )
            if clusters or key == Key(name.base) or self.is_declared(key):
                return {id(cluster) for cluster in (*clusters, *members)}
            members += map(self.clusters.__getitem__, list_members(key, self.by_base.get(key.base, ())))
            name = name._replace(superscript=()) if name.superscript else Spelled(name.base)

    def is_declared(self, key: Key) -> bool:
        return key in self.scope.given or any(matches(pattern, key) for pattern in self.declared.get(key.base, ()))

    def indices_in(self, name: Spelled) -> tuple[Node, ...]:
        """Of the components of a name those that are numbers, not labels: L in X^L, n in the power x^n."""
        parts = (*name.subscript, *name.superscript)
        key = name.key()
        if key in self.scope.given or key in self.clusters:
            return ()
        patterns = [family.key for family in self.families.get(key.base, ())] + self.declared.get(key.base, [])
        for pattern in patterns:
            if matches(pattern, key):
                open = zip((*pattern.subscript, *pattern.superscript), parts)
                return tuple(part for text, part in open if text == ANY)
        return name.superscript


def last_member(definition: Definition) -> Node:
    """The name whose value a definition gives: Y of Y_{seq(i)} = …, X^L of X^l = … for l = 1, …, L."""
    head = definition.head.base if isinstance(definition.head, nodes.Index) else definition.head
    over = definition.range
    if over is None or not definition.is_family:
        return head  # type: ignore[return-value]

    def at_end(node: Any) -> Any:
        if isinstance(node, Name):
            return next((range_.last for range_ in over.each if node.text == range_.variable.text), node)
        if isinstance(node, Call):
            return replace(node, arguments=tuple(map(at_end, node.arguments)))
        return node

    def filled(node: Any) -> Any:
        if isinstance(node, (nodes.Superscript, nodes.Subscript)):
            return replace(node, base=filled(node.base), components=tuple(map(at_end, node.components)))
        return node

    return filled(head)


def as_written(program: nodes.Program, node: Node) -> Node:
    """The expression of a program that a scope has as this node: 𝔼_x[x], which says there the distribution of x."""
    values = (statement.body for statement in program.statements if isinstance(statement, nodes.Value))
    return next((body for body in values if body.span == node.span), node)
