"""How a head's scripts are used: in g_{ax}(X) = S + X with S = X/|ax|, ax is an axis, since g's body names it as one.

A function speaks by its signature, by its body, by the definitions that these need, wherever they appear, and by the
declarations and the facts about sizes from its head to the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammar.nodes import Equation, Signature

from .mentions import collect_usage
from .symbols import Definition, FunctionDefinition
from .where_clauses import BindingGroups, expressions_of

Used = tuple[set[str], set[str]]  # the names that appear as axes, and those that appear as operands or indices


class Usage:
    """The axes and variables that functions mention; `made` are the tensors that only their axes make."""

    def __init__(self, bindings: BindingGroups, names: frozenset[str]):
        self.bindings, self.made = bindings, names
        self.of_statements: dict[int, Used] = {}

    def of(self, function: FunctionDefinition, signatures: Iterable[Signature], below: Iterable[Any]) -> Used:
        axes: set[str] = set()
        variables: set[str] = set()
        parts = [function.body, *function.claims, *below]
        parts += [part for signature in signatures for part in (*signature.domain, signature.codomain)]
        parts += function.statement.sets
        for root in parts:
            collect_usage(root, axes, variables, self.made)
        for definition in self.needed(function):
            pair = self.of_statement(definition.statement)
            axes |= pair[0]
            variables |= pair[1]
        return axes, variables

    def of_statement(self, statement: Equation) -> Used:
        mark = id(statement)
        if mark not in self.of_statements:
            pair: Used = (set(), set())
            collect_usage(statement, *pair, self.made)
            self.of_statements[mark] = pair
        return self.of_statements[mark]

    def needed(self, function: FunctionDefinition) -> list[Definition]:
        """The definitions that the body of a function needs, those of one name together."""
        definitions: dict[int, Definition] = {}
        bound = {name.key() for name in (*function.parameters, *function.options)}
        pending = self.bindings.needed((function.body, *function.claims))
        while pending:
            key = pending.pop()
            meant = () if key in bound else self.bindings.meant(key)
            for definition in (
                candidate for binding in meant for candidate in binding if id(candidate) not in definitions
            ):
                definitions[id(definition)] = definition
                pending += self.bindings.needed(expressions_of(definition))
        return list(definitions.values())
