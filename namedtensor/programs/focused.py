"""A program with one of its names as its value: what the verbs of `program["f"]` are said of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar import nodes
from grammar.nodes import Declaration, Equation, Signature

from ..checking.checker import Checker
from ..core.limits import recursion_headroom
from ..scope.names import Key, spelled
from ..scope.symbols import FunctionDefinition, Scope
from ..terms.inference import InputType
from .call_cache import CachedCall
from .entries import EntryPoint
from .program import Formula, Program


class Focused(Formula):
    """The program of an entry, which prints as what it says of that name, and is not run but as the entry is."""

    def __init__(self, entry: EntryPoint):
        CachedCall.__init__(self)
        program = entry.program
        self.source, self.syntax, self.scope = program.source, program.syntax, program.scope
        self.program, self.entry, self._entries, self._last = program, entry, program._entries, entry
        self.tree = statements_of(program, entry)

    def __eq__(self, other: object) -> bool:
        mine = (self.program, self.entry.name)
        return isinstance(other, Focused) and mine == (other.program, other.entry.name)

    def __hash__(self) -> int:
        return hash((self.program, self.entry.name))

    def __reduce__(self) -> Any:
        return Focused, (self.entry,)

    def scope_given(self, inputs: Mapping[Key, InputType]) -> Scope:
        return self.program.scope_given(inputs)

    def function_of(self, scope: Scope) -> EntryPoint:
        return self.entry

    def last_function(self, scope: Scope | None = None) -> FunctionDefinition | None:
        group = (self.scope if scope is None else scope).functions.get(self.entry.key.base, [])
        exact = (function for function in group if function.title == str(self.entry.key))
        return next(exact, group[0] if group else None)

    def demanding(self, sizes: Any, shapes: Any, told: Iterable[str] | None = None) -> Checker:
        checker = self._demanding(sizes, shapes, told)
        with recursion_headroom(self.source):
            called = self.entry.function(checker)
            if called is None:
                self.entry.term(checker, [])
            else:
                self.demand_function(checker, *called)
            checker.solver.settle()
        return checker

    def _functions(self) -> list[FunctionDefinition]:
        function = self.last_function()
        return [] if function is None else [function]


def statements_of(program: Program, entry: EntryPoint) -> nodes.Program:
    """The statements that say what a name is: its equations, its signature, its declaration."""
    tree = program.tree
    found = tuple(each for each in tree.statements if says(each, entry, program.scope))
    return nodes.Program(found or tree.statements, tree.span)


def says(statement: Any, entry: EntryPoint, scope: Scope) -> bool:
    base = entry.key.base
    if base in scope.functions:
        heads = statement.sides[:1] if isinstance(statement, Equation) else ()
        heads = (statement.head,) if isinstance(statement, Signature) else heads
        return any(isinstance(head, nodes.Call) and head.operator == base for head in heads)
    if isinstance(statement, Equation):
        heads = tuple(head.base if isinstance(head, nodes.Index) else head for head in statement.sides[:1])
    else:
        heads = statement.names if isinstance(statement, Declaration) else ()
    names = [name for head in heads if (name := spelled(head)) is not None]
    exact = any(name.key() == entry.key for name in names)
    return exact or any(name.base == base and family_of(entry, scope) for name in names)


def family_of(entry: EntryPoint, scope: Scope) -> bool:
    """Whether a name is a member of a family, whose equations all say what it is."""
    return entry.key not in scope.definitions and any(family.key.base == entry.key.base for family in scope.families)
