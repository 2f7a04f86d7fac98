"""What the scripts of a head are: in g_{ax}(X) = S + X with S = X/|ax|, ax is an axis, since g speaks of it as one.

A function speaks by its signature, by its body, by the definitions that these need, wherever they stand, and by the
declarations and the facts about sizes from its head to the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from grammar import nodes
from grammar.nodes import Axis, Call, Equation, Index, Name, Signature, Size, axis_of

from .names import MARKS, OF_AXES, spelled, walk
from .where_clauses import Units, component_names, said

if TYPE_CHECKING:
    from .binder import Definition, FunctionDefinition

ARITHMETIC = {"+", "-", "⊙", "/", "^", "juxtaposed", "negative", "∑", "∏", "=", "≠", "<", "≤", ">", "≥", "∧", "∨", "¬"}

Used = tuple[set[str], set[str]]  # the names that stand as axes, and those that stand as operands or indices


class Usage:
    """The axes and the variables that functions speak of; `made` are the tensors that only their axes make."""

    def __init__(self, units: Units, made: frozenset[str]):
        self.units, self.made = units, made
        self.of_statements: dict[int, Used] = {}

    def of(self, function: FunctionDefinition, signatures: Iterable[Signature], below: Iterable[Any]) -> Used:
        axes: set[str] = set()
        variables: set[str] = set()
        own = [function.body, *function.claims, *below]
        own += [part for each in signatures for part in (*each.domain, each.codomain)]
        if isinstance(function.statement, Equation):
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
        pending = self.units.needed((function.body, *function.claims))
        while pending:
            key = pending.pop()
            meant = () if key in bound else self.units.meant(key)
            for definition in (each for unit in meant for each in unit if id(each) not in found):
                found[id(definition)] = definition
                pending += self.units.needed(said(definition))
        return list(found.values())


def axes_spoken_of(roots: Iterable[Any]) -> frozenset[str]:
    """The axes that are named at and below some nodes, without their marks."""
    axes: set[str] = set()
    for root in roots:
        collect_usage(root, axes, set(), OF_AXES)
    return frozenset(axes)


def collect_usage(root: Any, axes: set[str], variables: set[str], made: frozenset[str]) -> None:
    """Add to `axes` the names that stand as axes at and below `root`, and to `variables` those that stand as operands."""
    stack: list = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Axis):
            axes.add(node.name.rstrip(MARKS))
        elif isinstance(node, Name):
            variables.add(node.text)
        elif isinstance(node, Call):
            for part in node.subscript:
                found = axis_of(part)
                if found is not None:
                    axes.add(found.name.rstrip(MARKS))
                    if isinstance(part, nodes.Subscript) or node.operator in ARITHMETIC:
                        continue
                else:
                    stack.append(part)
            stack.extend(node.arguments)
            stack.extend(node.parameters)
            for part in node.superscript:
                variables.update(component_names(part))
        elif isinstance(node, (nodes.Superscript, nodes.Subscript)):
            stack.append(node.base)
            name = spelled(node)
            if isinstance(node, nodes.Subscript) and name is not None and name.base in made:
                axes.update(axis.name for axis in map(axis_of, node.components) if axis is not None)
            plain = isinstance(node, nodes.Subscript) and name is not None  # whose words are labels
            for part in node.components:
                if any(is_term(inner) for inner in walk(part)):
                    stack.append(part)  # an exponent: 2^{∑_{ax} X}, X^{|ax|}
                elif not (plain and isinstance(part, Name)):
                    variables.update(component_names(part))
        else:
            stack.extend(nodes.children(node))


def is_term(node: Any) -> bool:
    """Whether what holds this in a superscript is surely an exponent, and no index or label."""
    return isinstance(node, (Index, Size)) or (isinstance(node, Call) and bool(node.subscript))
