"""Find the recurrences and sums in a program whose derivative is taken.

    h^t = tanh(h^{t-1} ⊙_{g} U) for t = 1, …, n        steps 1 to n, forwards; h is a state
    L = ∑_{t=1}^{n} norm(h^t)^2                        a sum over the same steps

A family is a state if a step refers to its previous member or, in a backward recurrence, to its next member. Other
families are names inside one step. An unsupported form raises `NotARecurrenceError`, and the caller then expands the
program member by member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any

from grammar import nodes
from grammar.nodes import IndexSum, Node, Number
from grammar.traversal import children, map_nodes

from ..scope.names import Spelled, component, read_spelling, walk
from ..scope.symbols import Definition, Scope
from ..scope.uses import reach
from ..symbolic.naming import words_of
from .indices import UNIT, Linear, linear, plus, substitute_index
from .reading import equations_of, find_defined_names, find_names


class NotARecurrenceError(Exception):
    """Raised for a program without a recurrence, or with a recurrence of an unsupported form."""


@dataclass
class Family:
    """A family, with the name and the body of its member at the common index `variable`."""

    definition: Definition
    variable: str
    head: Node
    body: Node

    @property
    def base(self) -> str:
        return self.definition.name.base

    def index(self, name: Spelled) -> Linear | None:
        """Return the index of a member of the family, or None if the name is not a member."""
        pattern = read_spelling(self.head)
        assert pattern is not None
        return find_index(pattern, self.variable, name)

    def member(self, index: Linear) -> Node:
        """Return the name of the member at an index."""
        return substitute_index(self.head, self.variable, index)


def find_index(pattern: Spelled, variable: str, name: Spelled) -> Linear | None:
    """Return the value of `variable` that turns a name such as W^t into a name such as W^2, or None if there is none.

    Raise NotARecurrenceError if the value cannot be determined.
    """
    if pattern.base != name.base or [*map(len, pattern[1:])] != [*map(len, name[1:])]:
        return None
    pairs = [*zip(chain(*pattern[1:]), chain(*name[1:]))]
    counted = [pair for pair in pairs if variable in words_of(pair[0])]
    if any(component(mine) != component(theirs) for mine, theirs in pairs if (mine, theirs) not in counted):
        return None
    mine, theirs = map(linear, counted[0]) if len(counted) == 1 else (None, None)
    if mine is None or theirs is None or mine.get(variable) != 1:
        raise NotARecurrenceError
    return plus(plus(theirs, mine, -1), {variable: 1})


@dataclass
class Sum:
    """A sum ∑_{t=first}^{last} in the program whose summands depend on the derivative's variable."""

    node: IndexSum
    first: Linear
    last: Linear
    body: Node


@dataclass
class FamilyRecurrence:
    """The families and sums that depend on a derivative's variable, over one common range.

    `step` is +1 for a forward recurrence and −1 for a backward recurrence.
    """

    variable: str
    first: Linear = field(default_factory=dict)
    last: Linear = field(default_factory=dict)
    families: list[Family] = field(default_factory=list[Family])
    states: list[Family] = field(default_factory=list[Family])
    sums: list[Sum] = field(default_factory=list[Sum])
    step: int = 1

    @property
    def start(self) -> Linear:
        """The index of the initial state, which is one step before the first step."""
        return plus(self.first if self.step > 0 else self.last, {UNIT: -self.step})

    @property
    def end(self) -> Linear:
        return self.last if self.step > 0 else self.first

    def found(self, node: Any) -> tuple[Family, Linear] | None:
        """Return the family and the index of a member, or None if the node is not a member of a family."""
        name = read_spelling(node) if isinstance(node, (nodes.Superscript, nodes.Subscript)) else None
        if name is None:
            return None
        pairs = ((family, family.index(name)) for family in self.families)
        return next(((family, index) for family, index in pairs if index is not None), None)

    def references(self, node: Any) -> Iterable[tuple[Family, Linear]]:
        waiting = [node]
        while waiting:
            statement = waiting.pop()
            pair = self.found(statement)
            if pair is None:
                waiting.extend(children(statement))
            else:
                yield pair


def recurrence_of(scope: Scope, tree: nodes.Program, taken: nodes.Derivative) -> FamilyRecurrence:
    """Return the recurrence that a derivative passes through.

    Raise NotARecurrenceError if the program has no recurrence of a supported form.
    """
    reached = depending(tree, words_of(taken.variable))
    variables = [family.range.variable.text for family in scope.families if family.range is not None]
    variables += [node.variable.text for node in walk(tree) if isinstance(node, IndexSum)]
    recurrence = FamilyRecurrence(next(iter(variables), "t"))
    for definition in scope.families:
        if definition.name.base in reached:
            _add(recurrence, definition)
    inside = {id(part) for family in recurrence.families for part in walk(family.definition.statement)}
    for node in walk(tree):
        if not isinstance(node, IndexSum) or id(node) in inside or not find_names(node.body) & reached:
            continue
        symbolic = not (isinstance(node.first, Number) and isinstance(node.last, Number))
        if symbolic or any(recurrence.references(node.body)):
            recurrence.sums.append(_sum(node, recurrence))
    if not recurrence.families and not recurrence.sums:
        raise NotARecurrenceError
    _orient_steps(recurrence)
    return recurrence


def depending(tree: nodes.Program, words: set[str]) -> set[str]:
    """Return the given words, and the names and functions that depend on them, directly or indirectly."""
    equations = equations_of(tree)
    spoken = [
        (set[str]().union(*map(find_names, equation.sides[1:])), find_defined_names(equation)) for equation in equations
    ]
    return {*reach(words, lambda word: [name for others, names in spoken if word in others for name in names])}


def _add(recurrence: FamilyRecurrence, definition: Definition) -> None:
    over, variable = definition.range, recurrence.variable
    if over is None or over.further is not None or definition.elements or definition.claims:
        raise NotARecurrenceError
    scripts = [*chain(*definition.name[1:])]
    if [part for part in scripts if over.variable.text in words_of(part)] != [over.variable]:
        raise NotARecurrenceError
    first, last = linear(over.low), linear(over.high)
    if first is None or last is None or (recurrence.families and (first, last) != (recurrence.first, recurrence.last)):
        raise NotARecurrenceError
    recurrence.first, recurrence.last = first, last
    sides = definition.statement.sides[0], definition.body
    head, body = (substitute_index(side, over.variable.text, {variable: 1}) for side in sides)
    recurrence.families.append(Family(definition, variable, head, body))


def _sum(node: IndexSum, recurrence: FamilyRecurrence) -> Sum:
    variable = recurrence.variable
    first, last = linear(node.first), linear(node.last)
    if node.operator != "∑" or first is None or last is None:
        raise NotARecurrenceError
    body = substitute_index(node.body, node.variable.text, {variable: 1})
    inner = [part for part in walk(body) if isinstance(part, IndexSum)]
    if inner or (variable != node.variable.text and variable in words_of(node.body)):
        raise NotARecurrenceError
    if any(recurrence.references(body)) and (first, last) != (recurrence.first, recurrence.last):
        raise NotARecurrenceError
    return Sum(node, first, last, body)


def _orient_steps(recurrence: FamilyRecurrence) -> None:
    """Determine the direction of the recurrence, and which families are states.

    Raise NotARecurrenceError if the formulas use members other than the current and adjacent members, or if they use
    both previous and next members.
    """
    ways: set[int] = set()
    states: dict[str, Family] = {}
    for body in (*(member.body for member in recurrence.families), *(sum_.body for sum_ in recurrence.sums)):
        for family, index in recurrence.references(body):
            offset = plus(index, {recurrence.variable: 1}, -1)
            if offset not in ({}, {UNIT: 1}, {UNIT: -1}):
                raise NotARecurrenceError
            if offset:
                ways.add(-offset[UNIT])
                states[str(family.definition.key)] = family
    if len(ways) > 1:
        raise NotARecurrenceError
    recurrence.step = ways.pop() if ways else 1
    recurrence.states = list(states.values())


def replace_members(node: Any, recurrence: FamilyRecurrence, label: Callable[[Family, Linear], Node | None]) -> Any:
    """Replace each family member in a tree with `label(family, index)`. If `label` returns None, keep the member."""

    def change(part: Any) -> Node | None:
        pair = recurrence.found(part)
        return None if pair is None else label(*pair)

    return map_nodes(node, change)


MIN_STEPS = 3


def steps_of_recurrences(tree: nodes.Program) -> dict[str, int]:
    """Return a size for each symbol in the ends of ranges and sums, so that each range or sum has only a few steps.

    The symbol is n if n is undefined, or seq if n = |seq|.
    """
    result: dict[str, int] = {}
    variables: set[str] = set()
    for node in walk(tree):
        if isinstance(node, (nodes.Range, nodes.IndexSum)):
            variables.add(node.variable.text)
            first, last = linear(node.first) or {}, linear(node.last) or {}
            for symbol in (symbol.strip("|") for symbol in {**first, **last} if symbol != UNIT):
                result[symbol] = max(result.get(symbol, 0), MIN_STEPS + abs(first.get(UNIT, 0)))
    for name, axis in sizes_named(tree):
        if name in result:
            result[axis] = result[name]
    defined = set().union(*map(find_defined_names, tree.statements))
    return {symbol: steps for symbol, steps in result.items() if symbol not in variables | defined}


def sizes_named(tree: nodes.Program) -> Iterator[tuple[str, str]]:
    """Yield each name that is defined as a size, with its axis, such as N and n for N = |n|."""
    for equation in equations_of(tree):
        axes = [side.axis.name for side in equation.sides if isinstance(side, nodes.Size)]
        yield from product((side.text for side in equation.sides if isinstance(side, nodes.Name)), axes)


def name_sizes(tree: nodes.Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the values of names that are defined as sizes, such as N for N = |n|, given the axis sizes."""
    return {name: sizes[axis] for name, axis in sizes_named(tree) if axis in sizes}


def size_few_steps(tree: nodes.Program) -> dict[str, int]:
    """Return sizes and numbers, by name, with which each recurrence has only a few steps."""
    sizes = steps_of_recurrences(tree)
    return {**sizes, **name_sizes(tree, sizes)}
