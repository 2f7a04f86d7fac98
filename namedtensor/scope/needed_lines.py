"""Select the lines of a program that given names depend on.

The selected lines contain equations, signatures, declarations and sizes. The selection includes the lines on which
these lines depend. It leaves out assertions and the sizes of other axes.

Definitions that belong to a selected function are included. Other functions' definitions of the same names are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from grammar.errors import Span
from grammar.nodes import Node

from .symbols import FunctionDefinition, Scope
from .uses import uses_of


def names_in(scope: Scope) -> list[str]:
    """Return the top-level names of a program, without scripts, in order of first mention."""
    return list(dict.fromkeys(base for base, _ in _top_level(scope)))


def needed_lines(scope: Scope, names: Iterable[str]) -> list[Span]:
    """Return the spans of the lines that the given names need, in order and without overlaps."""
    return _whole_lines(scope.source, _Selection(scope).of(names))


def _top_level(scope: Scope) -> Iterator[tuple[str, FunctionDefinition | Node | Any]]:
    """Yield pairs of a top-level name and a function or statement that defines or describes the name."""
    for operator, group in scope.functions.items():
        yield from ((operator, function) for function in group)
    for key, definitions in scope.definitions.items():
        yield from ((key.base, definition.statement) for definition in definitions)
    yield from ((family.name.base, family.statement) for family in scope.families)
    yield from ((name.base, scope.program.statements[position]) for position, name, _, _ in scope.declarations)
    yield from ((signature.head.operator, signature) for _, signature in scope.signatures)


class _Selection:
    """The statements that some names need. The selection follows the names in each selected statement."""

    def __init__(self, scope: Scope):
        self.scope = scope
        self.about: dict[str, list[Any]] = {}
        for base, statement in _top_level(scope):
            self.about.setdefault(base, []).append(statement)
        self.spans: set[Span] = set()
        self.axes: set[str] = set()
        self.pending: list[str] = []

    def of(self, names: Iterable[str]) -> list[Span]:
        self.pending, seen = list(names), set[str]()
        while self.pending:
            name = self.pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for statement in self.about.get(name, ()):
                if isinstance(statement, FunctionDefinition):
                    self.add_function(statement)
                else:
                    self.add(statement)
        for size in self.scope.sizes:
            start, end = size.span
            for statement in self.scope.program.statements:  # |a| = |b| = |c| is one statement with two equations.
                if statement.span[0] <= start and end <= statement.span[1] and self.axes >= uses_of(statement).axes():
                    self.spans.add(statement.span)
        return sorted(self.spans)

    def add(self, statement: Any, local: frozenset[str] = frozenset()) -> None:
        """Add a statement to the selection, and mark its names as needed, except the names in `local`."""
        self.spans.add(statement.span)
        uses = uses_of(statement)
        self.axes |= uses.axes()
        self.pending += uses.words - local

    def add_function(self, function: FunctionDefinition) -> None:
        """Add a function, and all definitions and statements that belong to it."""
        facts = [*function.all_definitions()]
        local = frozenset((*function.bound, *(fact.name.base for fact in facts)))
        self.add(function.statement, local)
        for fact in facts:
            self.add(fact.statement, local)
        if function.signature is not None:
            self.add(function.signature)
        for inner in function.functions:
            self.add_function(inner)
        self.spans.update(declared.span for declared in function.declarations.values())
        self.spans.update(size.span for size in function.sizes)


def _whole_lines(source: str, spans: Iterable[Span]) -> list[Span]:
    """Return the spans of the lines that contain the given spans. Merge adjacent lines."""
    lines: list[Span] = []
    for start, end in sorted(spans):
        first = source.rfind("\n", 0, start) + 1
        last = source.find("\n", max(end - 1, start))
        last = len(source) if last < 0 else last + 1
        if lines and first <= lines[-1][1]:
            lines[-1] = lines[-1][0], max(last, lines[-1][1])
        else:
            lines.append((first, last))
    return lines
