"""Replace zero initial values, such as S_0 = 0, with tensors of zeros if an operation needs the axes of S_0.

    S_0 = 0                           S_0 = { 0 if 0 = 0; W ⊙ K_{seq(1)} if 0 = 0; V_{seq(1)} if 0 = 0 }
    S_t = max(W ⊙ K_{seq(t)} ⊙_{key} S_{t-1} + V_{seq(t)}, 0) for t = 1, …, n

The operands of a step that do not depend on a family determine the type. They become cases that are never selected, so
they contribute their axes but not their values.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from grammar import nodes
from grammar.nodes import Call, Equation, Name, Node, Number
from grammar.symbols import ELEMENTWISE
from grammar.traversal import rebuilt

from .names import read_spelling, walk

ZERO = Number(0)
HOLDS = Call("=", (), (), (ZERO, ZERO))


def with_typed_zeros(program: nodes.Program) -> nodes.Program:
    """Replace each initial value of 0 that needs axes with a tensor of zeros, and return the program."""
    if not any(map(is_zero_start, program.statements)):
        return program
    steps: dict[str, list[Equation]] = {}
    functions: dict[str, Equation] = {}
    defined: set[str] = set()
    for statement in program.statements:
        if not isinstance(statement, Equation):
            continue
        head = statement.sides[0]
        name = read_spelling(head)
        defined |= {name.base} if name is not None else set()
        if statement.range is not None and name is not None:
            steps.setdefault(name.base, []).append(statement)
        elif isinstance(head, Call) and all(isinstance(argument, Name) for argument in head.arguments):
            functions[head.operator] = statement
    asked = set[str]().union(*(axes_asked_of(statement, functions) for statement in program.statements))
    single = {base: group[0] for base, group in steps.items() if len(group) == 1}
    axes = StepAxes(single, frozenset(steps), functions, frozenset(defined))
    statements: list[nodes.Statement] = []
    for statement in program.statements:
        name = (
            read_spelling(statement.sides[0]) if isinstance(statement, Equation) and is_zero_start(statement) else None
        )
        if name is not None and name.base in asked and name.base in axes.steps:
            assert isinstance(statement, Equation)
            parts = [*axes.parts_of_step(name.base, frozenset())]
            typed = nodes.Cases(((ZERO, HOLDS), *((part, HOLDS) for part in parts)), statement.sides[1].span)
            statement = replace(statement, sides=(statement.sides[0], typed)) if parts else statement
        statements.append(statement)
    return replace(program, statements=tuple(statements))


def is_zero_start(statement: Any) -> bool:
    """Return whether a statement defines a numbered member as 0, as in S_0 = 0 or h^{|seq|+1} = 0."""
    if not isinstance(statement, Equation) or statement.range is not None or len(statement.sides) != 2:
        return False
    name = read_spelling(statement.sides[0])
    return statement.sides[1] == ZERO and name is not None and any(map(is_number, (*name.subscript, *name.superscript)))


def is_number(part: Node) -> bool:
    """Return whether a label is a number, a size, a sum, a difference or a negated term.

    Return False for a name such as n, because it may be an ordinary label.
    """
    return isinstance(part, (Number, nodes.Size)) or isinstance(part, Call) and part.operator in ("negative", "+", "-")


def axes_asked_of(statement: Any, functions: Container[str]) -> set[str]:
    """Return the members whose axes a statement needs.

    A statement needs them if it contracts, renames or indexes the member, or passes it to a function that needs axes.
    """
    axes_asked: set[str] = set()
    for node in walk(statement):
        if isinstance(node, (nodes.Rename, nodes.Index, nodes.Starred)):
            axes_asked |= members_in(node.base)
        elif isinstance(node, Call) and (node.subscript or node.operator in functions):
            axes_asked = axes_asked.union(*map(members_in, node.arguments))
    return axes_asked


def members_in(node: Node) -> set[str]:
    names = (read_spelling(part) for part in walk(node) if isinstance(part, (nodes.Subscript, nodes.Superscript)))
    return {name.base for name in names if name is not None}


class StepAxes(NamedTuple):
    """A search for the operands of step equations that depend on no family and therefore determine the axes."""

    steps: dict[str, Equation]
    families: frozenset[str]
    functions: dict[str, Equation]
    defined: frozenset[str]

    def is_free(self, node: Any) -> bool:
        """Return whether an expression mentions no family."""
        return self.families.isdisjoint(names_of(node))

    def parts_of_step(self, base: str, seen: frozenset[str]) -> Iterator[Node]:
        """Yield the operands in a family's first step that determine the family's axes."""
        step = self.steps.get(base)
        if step is None or base in seen or step.range is None or step.range.further is not None:
            return
        for part in self.parts(step.sides[1], seen | {base}):
            yield substitute_nodes(part, {step.range.variable.text: step.range.first})

    def parts(self, node: Any, seen: frozenset[str]) -> Iterator[Node]:
        """Yield the operands of an expression that mention no family. The expression has all of their axes."""
        if self.is_free(node):
            yield node
            return
        name = read_spelling(node)
        if name is not None:
            yield from self.parts_of_step(name.base, seen)
        elif isinstance(node, nodes.Cases):
            for value, _ in node.branches:
                yield from self.parts(value, seen)
        elif isinstance(node, nodes.Superscript):
            yield from self.parts(node.base, seen)
        elif isinstance(node, Call) and node.operator in self.functions and node.operator not in seen:
            head, body, *_ = self.functions[node.operator].sides
            names = [argument.text for argument in head.arguments if isinstance(argument, Name)]  # type: ignore[union-attr]
            inlined = substitute_nodes(body, dict(zip(names, node.arguments)))
            local = self.defined.difference(
                *map(names_of, node.arguments)
            )  # This operand may need a definition in the function.
            yield from (
                part for part in self.parts(inlined, seen | {node.operator}) if local.isdisjoint(names_of(part))
            )
        elif isinstance(node, Call) and node.operator == "⊙" and node.subscript:
            for operand in filter(self.is_free, node.arguments):
                yield Call("∑", (), node.subscript, (operand,), (), node.span, node.span)
        elif isinstance(node, Call) and keeps_axes(node):
            for argument in node.arguments:
                yield from self.parts(argument, seen)


def names_of(node: Any) -> set[str]:
    """Return the names in an expression and its scripts, as words."""
    return {part.text for part in walk(node) if isinstance(part, Name)}


def keeps_axes(node: Call) -> bool:
    """Return whether the result of a built-in function has all axes of its operands."""
    both = node.operator in ("max", "min") and len(node.arguments) > 1
    return node.operator in KEEPING_AXES or not node.subscript and (node.operator in ("⊙", "dot") or both)


# Elementwise operators and functions along an axis. A test compares them with the operators' records.
KEEPING_AXES = ELEMENTWISE | frozenset(
    """+ - / ^ negative juxtaposed = ≠ < > ≤ ≥ ¬ ∧ ∨ odd even
    softmax logsoftmax standardize argmax argmin argsort sort cumsum cumprod cummax cummin""".split()
)


def substitute_nodes(node: Any, values: Mapping[str, Node]) -> Any:
    """Replace variables in an expression with the nodes in `values`."""
    if isinstance(node, Name):
        return values.get(node.text, node)
    return rebuilt(node, lambda part: substitute_nodes(part, values), apart=("variable",))
