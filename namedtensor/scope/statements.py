"""Classify statements as definitions, functions, size equations, assertions or declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Declaration, Equation, Index, Name, Node, Number, Range, Signature, Size

from .known_heads import Head
from .names import Spelled, component_names, read_spelling, walk
from .shape_variables import is_shape
from .symbols import Claim, Definition, FunctionDefinition, Scope, SizeEquation, equal_sides
from .uses import ARITHMETIC, NEARLY

OF_SIZES = frozenset({"+", "-", "⊙", "/", "^", "juxtaposed", "negative"})


class Statements:
    """The classified statements of a program. `claimed` contains the left-hand sides of assertions."""

    def __init__(self, scope: Scope, claimed: frozenset[Head] = frozenset()):
        self.scope, self.claimed = scope, claimed
        self.tensors: list[Definition] = []
        self.functions: list[FunctionDefinition] = []
        self.size_facts: list[tuple[int, SizeEquation]] = []
        self.claims: list[tuple[int, Claim]] = []
        self.signatures: dict[tuple[Any, ...], list[Signature]] = {}
        self.dots: list[int] = []

    def add(self, position: int, statement: nodes.Statement) -> None:
        scope = self.scope
        if isinstance(statement, nodes.Fact):
            scope.facts.add(statement.span)
            held, expected = nodes.Indicator(statement.condition, statement.span), Number(1, statement.span)
            if isinstance(statement.condition, Call) and statement.condition.operator in NEARLY:
                held = expected = statement.condition
            self.claims.append((position, Claim(held, expected, statement.span)))
        elif isinstance(statement, nodes.Value):
            scope.values.append((position, statement.body))
        elif isinstance(statement, Signature):
            scope.signatures.append((position, statement))
            self.signatures.setdefault(spelling(statement.head), []).append(statement)
        elif isinstance(statement, Declaration):
            self.declare(position, statement)
        elif isinstance(statement, nodes.Imports):
            raise NotationError(
                409, "an import is not read here: this text may not read files", scope.source, statement.span,
                hint='pass the text to nt.program with folders="…", or load its file with nt.load_program',
            )  # fmt: skip
        elif isinstance(statement, nodes.Ellipsis):
            self.dots.append(position)
        else:
            assert isinstance(statement, Equation)  # All updates have become equations.
            self.equate(position, statement)

    def declare(self, position: int, statement: Declaration) -> None:
        if statement.range is not None:
            self.scope.indices |= statement.range.variables
        for node in statement.names:
            name = read_spelling(node)
            if name is not None:
                self.scope.declarations.append((position, name, statement.sets, statement.range))
            else:
                for set_ in statement.sets:
                    self.claims.append((position, Claim(node, set_, statement.span)))

    def equate(self, position: int, statement: Equation) -> None:
        sides = statement.sides
        if statement.range is not None:
            self.scope.indices |= statement.range.variables
        counting = variables_of(statement)
        sized = any(isinstance(side, Size) for side in sides)
        heads = [
            index
            for index, side in enumerate(sides)
            if definable(side)
            and (position, index) not in self.claimed
            and (statement.range is None or not is_of_other_member(side, statement.range))
            and side not in counting
            and (index == 0 or (sized and isinstance(side, Name)))  # This is the n in |ax| = n.
        ]
        if any(isinstance(side, Size) and (position, index) not in self.claimed for index, side in enumerate(sides)):
            heads = find_heads_of_sizes(sides, heads)
            if not heads or (statement.range is None and read_spelling(sides[heads[0]]) is not None):
                return self.state_sizes(position, statement, heads)
        if not heads:
            stated = equal_sides(sides[0], sides[1:], statement.span, statement.range, len(sides) > 2)
            self.claims += ((position, claim) for claim in stated)
            for of in statement.sets:
                self.claims.append((position, Claim(sides[0], of, statement.span, statement.range)))
            return
        chosen = heads[0]
        others = [side for index, side in enumerate(sides) if index != chosen]
        self.define(position, statement, sides[chosen], others[0], tuple(others[1:]))

    def state_sizes(self, position: int, statement: Equation, heads: list[int]) -> None:
        """Add the size equations of a statement.

        `heads` contains the indices of the sides that define a name. Add a definition for the first of them, if any.
        """
        sides = statement.sides
        for left, right in zip(sides, sides[1:]):
            self.size_facts.append((position, SizeEquation(left, right, (left.span[0], right.span[1]))))
            if not heads and not (is_of_sizes(left) and is_of_sizes(right)):  # No rule for sizes handles this equation.
                self.claims.append((position, Claim(left, right, statement.span, statement.range)))
        for chosen in heads[:1]:
            body = next(side for side in sides if side is not sides[chosen])
            self.define(position, statement, sides[chosen], body, ())

    def define(self, position: int, statement: Equation, head: Node, body: Node, claims: tuple[Node, ...]) -> None:
        if isinstance(head, Call):
            parameters = tuple(read_spelling(argument) for argument in head.arguments)
            options = tuple(read_spelling(argument) for argument in head.parameters)
            function = FunctionDefinition(position, head.operator, head, parameters, options, body, statement, claims)  # type: ignore[arg-type]
            self.functions.append(function)
            return
        elements: tuple[Any, ...] = ()
        named = head
        if isinstance(head, Index):
            elements, named = head.items, head.base
        name = read_spelling(named)
        assert name is not None
        if statement.range is not None and not elements:
            self.check_ranged(name, statement.range, head)
        over, filling = statement.range, None
        if over is not None and elements:
            labels = {word for part in (*name.subscript, *name.superscript) for word in component_names(part)}
            members = [range_ for range_ in over.each if range_.variable.text in labels]
            if members:
                filling = chain_ranges([range_ for range_ in over.each if range_ not in members])
                over = chain_ranges(members)
        definition = Definition(position, name, body, statement, claims, over, elements, head, filling)
        self.tensors.append(definition)

    def check_ranged(self, name: Spelled, over: Range, head: Node) -> None:
        """Raise NotationError if the left-hand side of an equation with a range lacks the range's variable."""
        parts = (*name.subscript, *name.superscript)
        counted = {word for part in parts for word in component_names(part)}
        missing = [range_ for range_ in over.each if range_.variable.text not in counted]
        if not missing:
            return
        variable = missing[0].variable.text
        text = self.scope.source[slice(*head.span)]
        raise NotationError(
            114,
            f"{text} has no index {variable}, but its equation has a range over {variable}",
            self.scope.source,
            head.span,
            labels=((missing[0].span, "the range"),),
            hint=f"write {text}^{variable} for a family, or remove the range",
        )


def chain_ranges(ranges: list[Range]) -> Range | None:
    """Link several ranges into one chain, or return None if there are no ranges."""
    range_: Range | None = None
    for bound_ in reversed(ranges):
        range_ = replace(bound_, further=range_)
    return range_


def variables_of(statement: Equation) -> list[Name]:
    """Return the variables in an equation's indices and ranges, as in A_{height(i)} and `for t = 1, …, n`."""
    items = [item for side in statement.sides for part in walk(side) if isinstance(part, Index) for item in part.items]
    names = [index for _, index in items if isinstance(index, Name)]
    return names if statement.range is None else [*names, *(over.variable for over in statement.range.each)]


def find_heads_of_sizes(sides: tuple[Node, ...], heads: list[int]) -> list[int]:
    """Return the left-hand sides that define a name in an equation with a side |a|, such as n = |a|.

    The equation |a| = n specifies a size. The equation n = |a| = m states that three numbers are equal. Neither defines
    a name.
    """
    numbers = [side for side in sides if isinstance(side, Name)]
    open = bool(heads) and isinstance(sides[heads[0]], Name) and len(numbers) > 1
    return [] if isinstance(sides[0], Size) or open else heads


def is_of_other_member(side: Node, over: Range) -> bool:
    """Return whether a side is a family member with a computed index, such as F^{2 n} for n = 1, …, 4.

    Such a side is not a definition.
    """
    name = read_spelling(side)
    if name is None:
        return False
    computed = [part for part in (*name.subscript, *name.superscript) if isinstance(part, Call)]
    return any(component_names(part) & over.variables for part in computed)


def is_of_sizes(side: Node) -> bool:
    """Return whether a side of an equation contains only sizes, names, numbers and arithmetic."""
    return not any(isinstance(node, Call) and node.operator not in OF_SIZES for node in walk(side))


def spelling(head: Call) -> tuple[Any, ...]:
    """Return the operator and scripts of a left-hand side, which identify the function that it defines."""
    return head.operator, head.subscript, head.superscript


SIGNS = frozenset(
    {"⊕", "‖", "sqrt", "abs", "floor", "ceil"}
)  # These are operators such as √x, |x| and ⌊x⌋, which a program cannot define.


def definable(node: Node) -> bool:
    """Return whether a node can be a left-hand side: a name, f(X; W), g_{ax} X, X ★ Y, or Y_{seq(i)}."""
    if isinstance(node, Index):
        return read_spelling(node.base) is not None
    if isinstance(node, Call):
        if node.operator in ARITHMETIC | NEARLY | SIGNS:
            return False
        if any(isinstance(part, Name) and is_shape(part.text) for part in node.superscript):
            return False  # f^{𝒮'} is a lift of f.
        return bool(node.arguments or node.parameters) and all(
            read_spelling(argument) is not None for argument in (*node.arguments, *node.parameters)
        )
    return read_spelling(node) is not None
