"""Choose names for unnamed axes: one name per class. Primes distinguish axes that would have the same name in a tensor.

    X X^⊤, X by n, d:   the second X has its own rows, which cannot be n too: X ⊙_{d} X_{n→n'}

The nodes of the interference graph are declared axes and classes of used axes. Two nodes have an edge if they occur in
one operation, or if both have given names. In the order of uses, a declared axis and its use get the same name if they
have no edge, so that the use does not need a rename. As in register allocation, a rename corresponds to a move that
could not be eliminated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Any

from .axes import Axes, AxisKind, AxisVariable

KEY = re.compile("⟨[0-9]+⟩")
LETTERS = "ijklmnpqrstuvw"


class RepeatedAxisError(Exception):
    """The error for a value that would have the same axis name twice, such as an outer product of x with itself."""


class InterferenceGraph:
    """Classes of axes that share a name, with the pairs of classes that must not share a name."""

    def __init__(self, axes: Axes):
        self.merged: dict[AxisVariable, AxisVariable] = {}
        self.edges: dict[AxisVariable, set[AxisVariable]] = {}
        self.fixed: dict[AxisVariable, str] = {}
        for axis in [*axes.all.values()]:
            for part in axes.parts(axis):
                self.edges.setdefault(part, set())
                if part.fixed:
                    self.fixed[part] = part.fixed
        for group in axes.together:
            self.separate([part for value in group for part in axes.expand_axes(value)])
        self.separate([*self.fixed])
        self.ages = {axis: age for age, axis in enumerate(self.edges)}
        for move in axes.moves:
            for declared, used in zip(axes.parts(move.declared), axes.parts(move.used)):
                self.merge(declared.root, used.root)

    def find(self, axis: AxisVariable) -> AxisVariable:
        while axis in self.merged:
            axis = self.merged[axis]
        return axis

    def separate(self, group: list[AxisVariable]) -> None:
        distinct = set(group)
        for axis in distinct:
            self.edges.setdefault(axis, set()).update(distinct - {axis})

    def merge(self, first: AxisVariable, second: AxisVariable) -> None:
        """Merge two classes so that they share a name, unless an edge requires different names."""
        first, second = self.find(first), self.find(second)
        if first is second or second in self.edges[first]:
            return
        if second in self.fixed or (first not in self.fixed and self.ages[second] < self.ages[first]):
            first, second = second, first
        self.merged[second] = first
        for other in self.edges.pop(second):
            self.edges[other].discard(second)
            self.edges[other].add(first)
            self.edges[first].add(other)


def names_of(axes: Axes, taken: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the names of the axes by key. A split axis has a name for each part.

    New names do not repeat the names in `taken`, such as names of tensors. Raise RepeatedAxisError if a value
    would have an axis twice.
    """
    for group in axes.together:
        for value in group:
            parts = axes.expand_axes(value)
            if len(set(parts)) < len(parts):
                raise RepeatedAxisError
    graph = InterferenceGraph(axes)
    bases = Bases({*taken, *(name.rstrip("'") for name in axes.given)})
    names: dict[AxisVariable, str] = dict(graph.fixed)
    for axis in list(graph.edges):
        if axis in graph.merged or axis in names:
            continue
        base = bases.of(axis.kind)
        near = {names[other] for other in graph.edges[axis] if other in names}
        names[axis] = next(name for primes in count() if (name := base + "'" * primes) not in near | {*taken})
    return {key: tuple(names[graph.find(part.root)] for part in axes.parts(axis)) for key, axis in [*axes.all.items()]}


class Bases:
    """The base names of axes, which get primes if needed.

    The base of a kind is its name or, if it has none, its hint. A letter replaces a hint that is empty or taken.
    """

    def __init__(self, taken: Collection[str]):
        self.taken, self.names = {*taken}, dict[AxisKind, str]()
        self.letters: Iterator[str] = (f"{letter}{number or ''}" for number in count() for letter in LETTERS)

    def of(self, kind: AxisKind) -> str:
        kind = kind.root
        if kind.name:
            return kind.name
        if kind not in self.names:
            free = kind.hint if kind.hint not in self.taken else ""
            self.names[kind] = free or next(name for name in self.letters if name not in self.taken)
            self.taken.add(self.names[kind])
        return self.names[kind]


def names_of_axes(reader: Any) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the axes by key, for an error message. Unnamed axes are called "an axis" if naming fails."""
    try:
        return names_of(reader.axes)
    except RepeatedAxisError:
        return {key: (axis.kind.name or "an axis",) for key, axis in reader.axes.all.items()}


def spell_names(text: str, names: Mapping[str, tuple[str, ...]]) -> str:
    """Replace the axis keys in a string by axis names, and return the result."""
    return KEY.sub(lambda match: ", ".join(names.get(match[0], ("an axis",))), text)
