"""How a head's scripts are used: in g_{ax}(X) = S + X with S = X/|ax|, ax is an axis, since g's body names it as one.

A function speaks by its signature, by its body, by the definitions that these need, wherever they stand, and by the
declarations and the facts about sizes from its head to the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammar.nodes import Equation, Signature

from .mentions import collect_usage
from .symbols import Definition, FunctionDefinition
from .where_clauses import BindingGroups, expressions_of

Used = tuple[set[str], set[str]]  # the names that stand as axes, and those that stand as operands or indices


class Usage:
    """The axes and variables that functions mention; `made` are the tensors that only their axes make."""

    def __init__(self, bindings: BindingGroups, made: frozenset[str]):
        self.bindings, self.made = bindings, made
        self.of_statements: dict[int, Used] = {}

    def of(self, function: FunctionDefinition, signatures: Iterable[Signature], below: Iterable[Any]) -> Used:
        axes: set[str] = set()
        variables: set[str] = set()
        own = [function.body, *function.claims, *below]
        own += [part for each in signatures for part in (*each.domain, each.codomain)]
        own += function.statement.sets
        for root in own:
            collect_usage(root, axes, variables, self.made)
        for definition in self.needed(function):
            found = self.of_statement(definition.statement)
            axes |= found[0]
            variables |= found[1]
        return axes, variables

    def of_statement(self, statement: Equation) -> Used:
        mark = id(statement)
        if mark not in self.of_statements:
            found: Used = (set(), set())
            collect_usage(statement, *found, self.made)
            self.of_statements[mark] = found
        return self.of_statements[mark]

    def needed(self, function: FunctionDefinition) -> list[Definition]:
        """The definitions that the body of a function needs, those of one name together."""
        found: dict[int, Definition] = {}
        bound = {name.key() for name in (*function.parameters, *function.options)}
        pending = self.bindings.needed((function.body, *function.claims))
        while pending:
            key = pending.pop()
            meant = () if key in bound else self.bindings.meant(key)
            for definition in (each for binding in meant for each in binding if id(each) not in found):
                found[id(definition)] = definition
                pending += self.bindings.needed(expressions_of(definition))
        return list(found.values())
