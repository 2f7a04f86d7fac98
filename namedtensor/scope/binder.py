"""What each name of a program means, and which equations a function needs.

Equations are facts, not steps. A definition belongs to a function iff the function's body needs it and it mentions a
parameter or superscript of the function, directly or through another such definition; what no function needs is top
level. So the paper's "where" needs no block.

    statements -> definitions, functions, declarations, facts about sizes, claims
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Call, Declaration, Equation, Index, Name, Node, Number, Range, Signature, Size, axis_of

from ..core.limits import recursion_headroom
from .head_usage import Usage
from .known_heads import Given, Head, claimed_heads, replaced
from .mentions import ARITHMETIC, OF_AXES
from .names import Key, Spelled, component, component_names, spelled, walk
from .symbols import Claim, Definition, FunctionDefinition, Scope, SizeEquation
from .updates import without_updates
from .value_of_program import value_of
from .where_clauses import Units, definitions_of, said


def bind(source: str, program: nodes.Program, given: Given | None = None, open: bool = False) -> Scope:
    """Sort the statements of a program and say what belongs to what.

    `given` has the names that values are given for, with their axes: an equation about one of these is a claim. It is
    `open` where more may be given later: then a second equation for a function may be one. Raises NotationError of
    kind name where one name has two definitions.
    """
    given = given or {}
    program = updated(program)
    # the scope holds the program, so that its id stays its own; a hash would walk it
    mark = (source, id(program), frozenset(given.items()), open)
    found = _SCOPES.get(mark)
    if found is None:
        with recursion_headroom(source):
            found = _SCOPES[mark] = _analyse(source, program, given, open)
        if len(_SCOPES) > 512:
            _SCOPES.pop(next(iter(_SCOPES)))
    return found


_SCOPES: dict[tuple[Any, ...], Scope] = {}


@lru_cache(maxsize=512)
def _updated(program: nodes.Program) -> nodes.Program:
    return without_updates(program)


def updated(program: nodes.Program) -> nodes.Program:
    """The program without updates; one and the same each time."""
    if not any(isinstance(each, nodes.Update) for each in program.statements):
        return program
    return _updated(program)


def _analyse(source: str, program: nodes.Program, given: Given, open: bool) -> Scope:
    claimed: frozenset[Head] = frozenset()
    while True:
        scope = Scope(source, program, given=frozenset(given))
        sorter = Binder(scope, claimed)
        for position, statement in enumerate(program.statements):
            sorter.add(position, statement)
        sorter.sort()
        further = claimed_heads(scope, given, open) - claimed
        if not further:
            break
        claimed |= further
    sorter.finish()
    scope.replaced = replaced(scope)
    statements = [(program.statements[position], side) for position, side in claimed]
    scope.calls = frozenset(each.span for each, side in statements if isinstance(each.sides[side], Call))  # type: ignore[union-attr]
    if any(sign in source for sign in DERIVATIVES):
        by = [each for each in walk(program) if isinstance(each, (nodes.Derivative, nodes.Differential))]
        found = (spelled(varied(node)) for node in by)
        scope.differentiated = tuple(name for name in found if name is not None)
        scope.varied = frozenset(name.base for name in scope.differentiated)
        scope.apart = frozenset(base for each in scope.all_functions() if differentiates(each) for base in each.bound)
    return scope


DERIVATIVES = ("∂", "partial", "/d")


def differentiates(function: FunctionDefinition) -> bool:
    """Whether a derivative is taken in a function or in what belongs to it."""
    bodies = [function.body, *(each.body for group in function.facts.values() for each in group)]
    bodies += [each.body for each in function.families]
    return any(isinstance(node, nodes.Derivative) for body in bodies for node in walk(body))


def varied(node: nodes.Derivative | nodes.Differential) -> Node:
    """What a derivative is taken by, or a differential is of."""
    return node.variable if isinstance(node, nodes.Derivative) else node.body


class Binder:
    def __init__(self, scope: Scope, claimed: frozenset[Head] = frozenset()):
        self.scope, self.claimed = scope, claimed
        self.tensors: list[Definition] = []
        self.functions: list[FunctionDefinition] = []
        self.size_facts: list[tuple[int, SizeEquation]] = []
        self.claims: list[tuple[int, Claim]] = []
        self.signatures: dict[tuple[Any, ...], list[Signature]] = {}
        self.dots: list[int] = []

    # ------------------------------------------------------------------------------------------- one statement each
    def add(self, position: int, statement: nodes.Statement) -> None:
        scope = self.scope
        if isinstance(statement, nodes.Fact):
            scope.facts.add(statement.span)
            held = nodes.Indicator(statement.condition, statement.span)
            self.claims.append((position, Claim(held, Number(1, statement.span), statement.span)))
        elif isinstance(statement, nodes.Value):
            scope.values.append((position, statement.body))
        elif isinstance(statement, Signature):
            scope.signatures.append((position, statement))
            self.signatures.setdefault(spelling(statement.head), []).append(statement)
        elif isinstance(statement, Declaration):
            self.declare(position, statement)
        elif isinstance(statement, nodes.Ellipsis):
            self.dots.append(position)
        else:
            assert isinstance(statement, Equation)  # an update has become one
            self.equate(position, statement)

    def declare(self, position: int, statement: Declaration) -> None:
        if statement.range is not None:
            self.scope.indices |= statement.range.variables
        for node in statement.names:
            name = spelled(node)
            if name is not None:
                self.scope.declarations.append((position, name, statement.sets, statement.range))
            else:
                for each in statement.sets:
                    self.claims.append((position, Claim(node, each, statement.span)))

    def equate(self, position: int, statement: Equation) -> None:
        sides = statement.sides
        if statement.range is not None:
            self.scope.indices |= statement.range.variables
        counting = variables_of(statement)
        heads = [
            index
            for index, side in enumerate(sides)
            if definable(side)
            and (position, index) not in self.claimed
            and side not in counting
            and not (index and speaks_of(sides[0], side))
        ]
        if any(isinstance(side, Size) for side in sides):
            heads = defined_by_sizes(sides, heads)
            if not heads or (statement.range is None and spelled(sides[heads[0]]) is not None):
                return self.state_sizes(position, statement, heads)
        if not heads:
            for other in (*sides[1:], *statement.sets):
                self.claims.append((position, Claim(sides[0], other, statement.span, statement.range)))
            return
        chosen = heads[0]
        others = [side for index, side in enumerate(sides) if index != chosen]
        self.define(position, statement, sides[chosen], others[0], tuple(others[1:]))

    def state_sizes(self, position: int, statement: Equation, heads: list[int]) -> None:
        """Equations between sizes and numbers, which define the number that `heads` has."""
        sides = statement.sides
        for left, right in zip(sides, sides[1:]):
            self.size_facts.append((position, SizeEquation(left, right, (left.span[0], right.span[1]))))
            if not heads and not (is_of_sizes(left) and is_of_sizes(right)):  # no rule for sizes reads it
                self.claims.append((position, Claim(left, right, statement.span, statement.range)))
        for chosen in heads[:1]:
            body = next(side for side in sides if side is not sides[chosen])
            self.define(position, statement, sides[chosen], body, ())

    def define(self, position: int, statement: Equation, head: Node, body: Node, claims: tuple[Node, ...]) -> None:
        if isinstance(head, Call):
            parameters = tuple(spelled(argument) for argument in head.arguments)
            options = tuple(spelled(argument) for argument in head.parameters)
            function = FunctionDefinition(position, head.operator, head, parameters, options, body, statement, claims)  # type: ignore[arg-type]
            self.functions.append(function)
            return
        elements: tuple[Any, ...] = ()
        named = head
        if isinstance(head, Index):
            elements, named = head.items, head.base
        name = spelled(named)
        assert name is not None
        if statement.range is not None and not elements:
            self.check_ranged(name, statement.range, head)
        over, filling = statement.range, None
        if over is not None and elements:
            labels = {word for part in (*name.subscript, *name.superscript) for word in component_names(part)}
            members = [each for each in over.each if each.variable.text in labels]
            if members:
                filling = chained([each for each in over.each if each not in members])
                over = chained(members)
        definition = Definition(position, name, body, statement, claims, over, elements, head, filling)
        self.tensors.append(definition)

    def check_ranged(self, name: Spelled, over: Range, head: Node) -> None:
        """Raise where an equation over a range defines one name only."""
        parts = (*name.subscript, *name.superscript)
        counted = {word for part in parts for word in component_names(part)}
        missing = [each for each in over.each if each.variable.text not in counted]
        if not missing:
            return
        variable = missing[0].variable.text
        text = self.scope.source[slice(*head.span)]
        raise NotationError(
            114,
            f"{text} is one name, and its equation ranges over {variable}",
            self.scope.source,
            head.span,
            labels=((missing[0].span, "the range"),),
            hint=f"write {text}^{variable} for a family, or remove the range",
        )

    # ------------------------------------------------------------------------------------------------- all together
    def sort(self) -> None:
        """Say what belongs to what."""
        scope = self.scope
        self.read_dots()
        self.classify_heads()
        for function in self.functions:
            scope.functions.setdefault(function.operator, []).append(function)
        for function in self.functions:
            scope.indices |= {text for kind, text in function.superscript if kind == "index"}
        self.own_facts()
        self.attach_signatures()
        self.attach_declarations()
        self.attach_sizes()

    def finish(self) -> None:
        """Raise where a name has two definitions; else say what is claimed, and what the value is."""
        heads: dict[tuple[Any, ...], FunctionDefinition] = {}
        for function in self.functions:
            other = heads.setdefault((*spelling(function.head), len(function.parameters)), function)
            if other is not function:
                self.twice(function.title, other.statement, function.statement, function.head.span)
        for group in self.scope.definitions.values():
            if len(group) > 1 and not all(definition.elements for definition in group):
                self.twice(str(group[0].key), group[0].statement, group[1].statement, group[1].statement.sides[0].span)
        claimed = self.attach_claims()
        self.scope.last = value_of(self.scope, claimed)
        self.scope.claimed = claimed[0][1] if claimed else None
        if not any(self.scope.last is node for _, node in self.scope.values):
            self.scope.values += [pair for pair in claimed if pair[1] is self.scope.last]

    def twice(self, name: str, first: Equation, second: Equation, span: tuple[int, int]) -> None:
        raise NotationError(
            202,
            f"{name} is defined twice",
            self.scope.source,
            span,
            labels=((first.sides[0].span, "first here"),),
            hint="give one of them another name",
        )

    def classify_heads(self) -> None:
        stated = {definition.name.base for definition in self.tensors}
        stated |= {name.base for _, name, _, _ in self.scope.declarations}
        made = OF_AXES - stated - {name.base for name in self.scope.given}
        further = {node.text for each in self.functions for node in each.head.superscript if isinstance(node, Name)}
        usage = Usage(Units(self.tensors, self.scope.indices | further), made)
        ends = [*(function.position for function in self.functions[1:]), len(self.scope.program.statements)]
        defining = {id(definition.statement) for definition in self.tensors}
        for function, end in zip(self.functions, ends):
            if not function.head.subscript and not function.head.superscript:
                continue
            between = self.scope.program.statements[function.position + 1 : end]
            below = [
                each for each in between if id(each) not in defining and not isinstance(each, (nodes.Value, Signature))
            ]
            axes, variables = usage.of(function, self.signatures.get(spelling(function.head), ()), below)
            function.superscript = tuple(
                ("index" if isinstance(node, Name) and node.text in variables else "label", component(node))
                for node in function.head.superscript
            )
            found: list[tuple[str, str]] = []
            for node in function.head.subscript:
                axis = axis_of(node)
                text = component(node)
                if isinstance(node, Name) and node.text in variables and node.text not in stated:
                    found.append(("number", text))
                elif axis is not None and axis.name in axes:
                    found.append(("axis", axis.name))
                else:
                    found.append(("label", text))
            function.subscript = tuple(found)

    def read_dots(self) -> None:
        """Two written instances with ⋮ between them say the rule of the last for every index from the first."""
        for dots in self.dots:
            for definition in self.tensors:
                if definition.position < dots or len(definition.name.superscript) != 1 or definition.range is not None:
                    continue
                last = definition.name.superscript[0]
                firsts = [
                    other
                    for other in self.tensors
                    if other.position < dots
                    and other.name.base == definition.name.base
                    and len(other.name.superscript) == 1
                    and isinstance(other.name.superscript[0], Number)
                    and other.name.superscript[0].value >= 1
                ]
                if not isinstance(last, Name) or not firsts:
                    continue
                first = min(firsts, key=lambda other: other.name.superscript[0].value)  # type: ignore[union-attr]
                definition.range = Range(last, first.name.superscript[0], last, definition.statement.span)
                self.scope.indices.add(last.text)
                self.tensors = [other for other in self.tensors if other not in firsts]

    def own_facts(self) -> None:
        owned: set[int] = set()
        by_axes: list[Definition] = []  # which belong to a function for its axes alone, and may be meant elsewhere too
        units = Units(self.tensors, self.scope.indices)
        for function in self.functions:
            found = definitions_of(function, units)
            named = found if not function.over_axes else definitions_of(function, units, frozenset())
            by_axes += [each for each in found if each not in named]
            for definition in found:
                owned.add(id(definition))
                if definition.is_family:
                    function.families.append(definition)
                else:
                    function.facts.setdefault(definition.key, []).append(definition)
        owned -= {id(each) for each in self.needed_elsewhere(by_axes, owned, units)} if by_axes else set()
        for definition in self.tensors:
            if id(definition) in owned:
                continue
            if definition.is_family:
                self.scope.families.append(definition)
            else:
                self.scope.definitions.setdefault(definition.key, []).append(definition)

    def needed_elsewhere(self, these: list[Definition], owned: set[int], units: Units) -> list[Definition]:
        """Those of the definitions that what belongs to no function needs, directly or through another of them."""
        inside = {id(each.statement) for each in self.tensors if id(each) in owned}
        inside |= {id(each.statement) for each in self.functions}
        pending = units.needed(each for each in self.scope.program.statements if id(each) not in inside)  # type: ignore[arg-type]
        found: dict[int, Definition] = {}
        while pending:
            meant = {id(each) for unit in units.meant(pending.pop()) for each in unit}
            for each in these:
                if id(each) in meant and id(each) not in found:
                    found[id(each)] = each
                    pending += units.needed(said(each))
        return list(found.values())

    def attach_signatures(self) -> None:
        for function in self.functions:
            found = self.signatures.get(spelling(function.head), [])
            fitting = [each for each in found if len(each.domain) == len(function.parameters)]
            function.signature = (fitting or found or [None])[-1]

    def nearest_above(self, position: int, functions: Iterable[FunctionDefinition]) -> FunctionDefinition | None:
        above = [function for function in functions if function.position <= position]
        return max(above, key=lambda function: function.position, default=None)

    def attach_declarations(self) -> None:
        typed = gathered(self.functions, typed_by)
        defined = {definition.key for definition in self.top_level()}
        declarations, self.scope.declarations = self.scope.declarations, []
        for position, name, sets, over in declarations:
            plain = name.key()
            owner = self.nearest_above(position, typed.get(plain, ()))
            if owner is not None and plain not in defined:
                owner.declarations[plain] = sets[0]
            else:
                self.scope.declarations.append((position, name, sets, over))

    def top_level(self):
        return (definition for group in self.scope.definitions.values() for definition in group)

    def attach_sizes(self) -> None:
        bound = gathered(self.functions, lambda function: function.bound)
        for position, fact in self.size_facts:
            mentioned = {node.text for side in (fact.left, fact.right) for node in walk(side) if isinstance(node, Name)}
            owner = self.nearest_above(position, {each for word in mentioned for each in bound.get(word, ())})
            (owner.sizes if owner is not None else self.scope.sizes).append(fact)

    def attach_claims(self) -> list[tuple[int, Node]]:
        """Give each claim to its function, or to the program; the left sides of the program's, which may be its value."""
        claimed: list[tuple[int, Node]] = []
        bound = gathered(self.functions, lambda function: function.bound)
        stated = {definition.name.base for definition in self.tensors}
        stated |= {name.base for _, name, _, _ in self.scope.declarations}
        for position, claim in self.claims:
            mentioned = {node.text for node in walk(claim.left) if isinstance(node, Name)}
            if not isinstance(claim.right, nodes.Set):
                mentioned |= {node.text for node in walk(claim.right) if isinstance(node, Name)}
            owner = self.nearest_above(position, {each for word in mentioned for each in bound.get(word, ())})
            if owner is not None and not (mentioned & owner.bound) <= stated:
                owner.local_claims.append(claim)
            else:
                self.scope.claims.append(claim)
                if claim.range is None and not any(
                    isinstance(node, nodes.Differential)
                    for node in walk(claim.left)  # which has no value
                ):
                    claimed.append((position, claim.left))
        return claimed


def chained(ranges: list[Range]) -> Range | None:
    """Ranges one after the other."""
    found: Range | None = None
    for each in reversed(ranges):
        found = replace(each, further=found)
    return found


def variables_of(statement: Equation) -> list[Name]:
    """The names that count elements or members in an equation: i of A_{height(i)}, t of `for t = 1, …, n`."""
    items = [item for side in statement.sides for part in walk(side) if isinstance(part, Index) for item in part.items]
    found = [index for _, index in items if isinstance(index, Name)]
    return found if statement.range is None else [*found, *(over.variable for over in statement.range.each)]


def defined_by_sizes(sides: tuple[Node, ...], heads: list[int]) -> list[int]:
    """Of the heads of an equation one of whose sides is |a|, those that it defines.

    |a| = n says what |a| is, and n = |a| = m that three numbers are one, whichever is known.
    """
    numbers = [side for side in sides if isinstance(side, Name)]
    open = bool(heads) and isinstance(sides[heads[0]], Name) and len(numbers) > 1
    return [] if isinstance(sides[0], Size) or open else heads


OF_SIZES = frozenset({"+", "-", "⊙", "/", "^", "juxtaposed", "negative"})


def is_of_sizes(side: Node) -> bool:
    """Whether a side of an equation is sizes, names and numbers in arithmetic."""
    return not any(isinstance(node, Call) and node.operator not in OF_SIZES for node in walk(side))


def spelling(head: Call) -> tuple[Any, ...]:
    """What tells the heads of functions apart."""
    return head.operator, head.subscript, head.superscript


def typed_by(function: FunctionDefinition) -> set[Key]:
    """The names whose declaration can be that of a function's parameter or fact, which no signature types."""
    names = (*(() if function.signature else function.parameters), *function.options)
    return {*function.facts, *(name.key() for name in names)}


def gathered(
    functions: Iterable[FunctionDefinition], names: Callable[[FunctionDefinition], Iterable[Any]]
) -> dict[Any, list[FunctionDefinition]]:
    """The functions by the names that each has."""
    found: dict[Any, list[FunctionDefinition]] = {}
    for function in functions:
        for name in names(function):
            found.setdefault(name, []).append(function)
    return found


def speaks_of(left: Node, side: Node) -> bool:
    """Whether the left side is made of what another side would define: abs(x) = x says no more of x than a claim does."""
    named = spelled(side.base if isinstance(side, Index) else side)
    return named is not None and any(spelled(node) == named for node in walk(left))


def definable(node: Node) -> bool:
    """Whether an equation can define this side: a name, f(X; W), g_{ax} X, X ★ Y, or Y_{seq(i)}."""
    if isinstance(node, Index):
        return spelled(node.base) is not None
    if isinstance(node, Call):
        if node.operator in ARITHMETIC or (node.operator == "⊕"):
            return False
        return bool(node.arguments or node.parameters) and all(
            spelled(argument) is not None for argument in (*node.arguments, *node.parameters)
        )
    return spelled(node) is not None
