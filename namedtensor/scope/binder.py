"""Determine the meaning of each name in a program and the equations that each function needs.

Equations are declarative, so they are not executed in order. A definition belongs to a function if and only if two
conditions hold. The function's body needs it, and it mentions a parameter, index or axis of the function's left-hand
side, directly or through another definition that belongs to the function. Definitions that belong to no function are
top-level definitions. The paper's "where" therefore needs no block syntax.

    statements -> definitions, functions, declarations, size equations, assertions
"""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.nodes import Call, Equation, Index, Name, Node, Number, Range, Signature, axis_of

from ..core.settings import recursion_headroom
from .dependencies import BindingGroups
from .index_conditions import CONDITION, replace_index_conditions
from .known_heads import Given, Head, find_asserted_heads, find_replacements
from .names import component, read_spelling, walk
from .ownership import Ownership, value_of
from .refused_heads import refuse_elements_of_functions, refuse_unranged_draws
from .shifted_heads import replace_shifted_heads
from .statements import spelling
from .symbols import FunctionDefinition, Scope
from .updates import replace_updates
from .uses import NOTHING, OF_AXES, uses_of
from .zero_starts import with_typed_zeros


def bind(source: str, program: nodes.Program, given: Given | None = None, open: bool = False) -> Scope:
    """Convert the statements of a program to symbols, and assign definitions and assertions to functions.

    `given` maps the names of the given values to their axes. An equation for such a name is an assertion. If `open` is
    true, later code may give more values, so a second equation for a function may also be an assertion. Raise
    NotationError (kind "name") if one name has two definitions.
    """
    given = given or {}
    mark = (source, id(program), frozenset(given.items()), open)  # A hash of the program would walk its tree.
    bound = _SCOPES.get(mark)
    if bound is None:
        with recursion_headroom(source):
            scope = _analyse(source, desugar_program(source, program, given), given, open)
        bound = _SCOPES.get_or_build(mark, lambda: (scope, program))
    return bound[0]


# Each entry also holds its program, so that no other program can get the same id.
_SCOPES: Cache[tuple[Any, ...], tuple[Scope, nodes.Program]] = Cache("scopes of programs", 512)


def desugar_program(source: str, program: nodes.Program, given: Given) -> nodes.Program:
    """Rewrite updates, shifted left-hand sides, index conditions and zero starts as plain equations.

    Raise NotationError for equations that the notation rejects.
    """
    kinds = {type(statement) for statement in program.statements}
    if kinds.isdisjoint((Equation, nodes.Update)):  # There are no definitions.
        return _drop_conditions(source, program, given)
    if nodes.Update in kinds:
        program = replace_updates(program)
    equations = [statement for statement in program.statements if isinstance(statement, Equation)]
    ranged = any(equation.range is not None for equation in equations)
    if ranged:
        program = replace_shifted_heads(program)
    if any(isinstance(equation.sides[-1], nodes.Draw) for equation in equations):
        refuse_unranged_draws(source, program)
    if any(isinstance(head := equation.sides[0], Index) and isinstance(head.base, Call) for equation in equations):
        refuse_elements_of_functions(source, program)
    program = _drop_conditions(source, program, given)
    return with_typed_zeros(program) if ranged else program


def _drop_conditions(source: str, program: nodes.Program, given: Given) -> nodes.Program:
    return replace_index_conditions(program, given) if CONDITION.search(source) is not None else program


def _analyse(source: str, program: nodes.Program, given: Given, open: bool) -> Scope:
    if all(isinstance(statement, nodes.Value) for statement in program.statements):  # There are no names.
        bodies = (statement.body for statement in program.statements if isinstance(statement, nodes.Value))
        scope = Scope(source, program, given=frozenset(given), values=list(enumerate(bodies)))
        scope.last = scope.values[-1][1] if scope.values else None
    else:
        scope = _classify_statements(source, program, given, open)
    if any(sign in source for sign in DERIVATIVES):
        by = [node for node in walk(program) if isinstance(node, (nodes.Derivative, nodes.Differential))]
        names = (read_spelling(find_varied_part(node)) for node in by)
        scope.differentiated = tuple(name for name in names if name is not None)
        moved = {name.text for node in walk(program) if isinstance(node, nodes.AtPoint) for name, _ in node.points}
        scope.varied = frozenset(name.base for name in scope.differentiated) | moved
        scope.apart = frozenset(
            base for function in scope.all_functions() if differentiates(function) for base in function.bound
        )
    return scope


def _classify_statements(source: str, program: nodes.Program, given: Given, open: bool) -> Scope:
    """Return the scope of a program. Classify its statements repeatedly until no further assertions are found."""
    claimed: frozenset[Head] = frozenset()
    while True:
        scope = Scope(source, program, given=frozenset(given))
        binder = Binder(scope, claimed)
        for position, statement in enumerate(program.statements):
            binder.add(position, statement)
        binder.sort()
        further = find_asserted_heads(scope, given, open) - claimed
        if not further:
            break
        claimed |= further
    binder.finish()
    scope.replaced = find_replacements(scope)
    statements = [(program.statements[position], side) for position, side in claimed]
    scope.calls = frozenset(equation.span for equation, side in statements if isinstance(equation.sides[side], Call))  # type: ignore[union-attr]
    return scope


DERIVATIVES = ("∂", "partial", "/d", "|_", "vert_", "∣_")


def differentiates(function: FunctionDefinition) -> bool:
    """Return whether a function or a definition in it contains a derivative."""
    bodies = [function.body, *(definition.body for definition in function.all_definitions())]
    return any(isinstance(node, nodes.Derivative) for body in bodies for node in walk(body))


def find_varied_part(node: nodes.Derivative | nodes.Differential) -> Node:
    """Return the variable of a derivative, or the operand of a differential."""
    return node.variable if isinstance(node, nodes.Derivative) else node.body


class Binder(Ownership):
    """A binder for one program. It extends `Ownership` with checks and the order of the steps."""

    def sort(self) -> None:
        """Assign definitions, signatures, declarations and size equations to functions."""
        scope = self.scope
        self.read_dots()
        if any(function.head.subscript or function.head.superscript for function in self.functions):
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
        """Assign the assertions, and determine the program's value.

        Raise NotationError if a name has two definitions, or if two parameters of a function have the same name.
        """
        heads: dict[tuple[Any, ...], FunctionDefinition] = {}
        for function in self.functions:
            other = heads.setdefault((*spelling(function.head), function.arity), function)
            if other is not function:
                self.twice(function.title, other.statement, function.statement, function.head.span)
            self.check_parameters(function.head)
        for group in self.scope.definitions.values():
            if len(group) > 1 and not all(definition.elements for definition in group):
                self.twice(str(group[0].key), group[0].statement, group[1].statement, group[1].statement.sides[0].span)
        claimed = self.attach_claims()
        self.scope.last, self.scope.unused = value_of(self.scope, claimed)
        self.scope.claimed = claimed[0][1] if claimed else None
        if not any(self.scope.last is node for _, node in self.scope.values):
            self.scope.values += [pair for pair in claimed if pair[1] is self.scope.last]

    def check_parameters(self, head: Call) -> None:
        """Raise NotationError if two parameters on a left-hand side have the same name."""
        seen: dict[Any, Node] = {}
        for argument in (*head.arguments, *head.parameters):
            name = read_spelling(argument)
            assert name is not None
            first = seen.setdefault(name.key(), argument)
            if first is not argument:
                raise NotationError(
                    114, f"{head.operator} has two parameters named {name.key()}", self.scope.source, argument.span,
                    labels=((first.span, "first here"),), hint="rename one of them",
                )  # fmt: skip

    def twice(self, name: str, first: Equation, second: Equation, span: tuple[int, int]) -> None:
        raise NotationError(
            202,
            f"{name} is defined twice",
            self.scope.source,
            span,
            labels=((first.sides[0].span, "first here"),),
            hint="rename one of them",
        )

    def classify_heads(self) -> None:
        stated = {definition.name.base for definition in self.tensors}
        stated |= {name.base for _, name, _, _ in self.scope.declarations}
        bases = OF_AXES - stated - {name.base for name in self.scope.given}
        further = {
            node.text for definition in self.functions for node in definition.head.superscript if isinstance(node, Name)
        }
        bindings = BindingGroups(self.scope, self.tensors, self.scope.indices | further)
        ends = [*(function.position for function in self.functions[1:]), len(self.scope.program.statements)]
        defining = {id(definition.statement) for definition in self.tensors}
        for function, end in zip(self.functions, ends):
            if not function.head.subscript and not function.head.superscript:
                continue
            between = self.scope.program.statements[function.position + 1 : end]
            below = [
                statement
                for statement in between
                if id(statement) not in defining and not isinstance(statement, (nodes.Value, Signature))
            ]
            signatures = self.signatures.get(spelling(function.head), ())
            sets = [part for signature in signatures for part in (*signature.domain, signature.codomain)]
            uses = uses_of(function.body, *function.claims, *function.statement.sets, *below, *sets)
            needed = [uses_of(definition.statement) for definition in bindings.find_reached(function)]
            axes = NOTHING.union(*(part.axes(bases) for part in (uses, *needed)))
            variables = NOTHING.union(*(part.variables for part in (uses, *needed)))
            function.superscript = tuple(
                ("index" if isinstance(node, Name) and node.text in variables else "label", component(node))
                for node in function.head.superscript
            )
            result: list[tuple[str, str]] = []
            for node in function.head.subscript:
                axis = axis_of(node)
                text = component(node)
                if isinstance(node, Name) and node.text in variables and node.text not in stated:
                    result.append(("number", text))
                elif axis is not None and axis.name in axes:
                    result.append(("axis", axis.name))
                else:
                    result.append(("label", text))
            function.subscript = tuple(result)

    def read_dots(self) -> None:
        """Extend each equation after ⋮, such as X^L = …, to a family that starts at the lowest member before ⋮."""
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
