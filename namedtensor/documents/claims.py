"""Split a program into its assertions. Each assertion gets a separate program with only the statements that it needs.

    f(X) = X ⊙_{ax} X                         f(insideA) = insideA ⊙_{ax} insideA
    ∂f(X; H) = 2 X ⊙_{ax} H                   ∂f(X; H) = 2 X ⊙_{ax} H          about any X

An assertion about the argument of a function holds for any tensor of that type. Therefore, local names of functions are
renamed if the assertion uses the same names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from grammar.errors import Span
from grammar.nodes import Call, Declaration, Equation, Fact, Name, Program, Signature, Size
from grammar.printer import to_text
from grammar.traversal import map_nodes

from ..scope.heads import base_of, head_names
from ..scope.names import key
from ..scope.symbols import FunctionDefinition, Scope
from ..scope.uses import OF_AXES, find_indices, reach, uses_of
from .notation import BUILT_IN, heads_of


class ClaimAlone(NamedTuple):
    """An assertion, or a derivation such as Y = A = B, with a program that ends with it.

    A derivation also defines its first side, which is a name or a call.
    """

    statement: Equation
    program: Program
    defines: bool  # whether it defines its first side
    function: FunctionDefinition | None  # the function that it defines


def claims_alone(scope: Scope) -> Iterator[tuple[Equation, bool]]:
    """Yield each equation that asserts something, and whether the equation also defines its first side."""
    claims = {claim.span for claim in scope.claims}
    claims |= {claim.span for function in scope.all_functions() for claim in function.local_claims}
    for statement in scope.program.statements:
        if isinstance(statement, Equation) and not is_of_sizes(statement):
            if statement.span in claims:
                yield statement, False
            elif len(statement.sides) > 2:
                yield statement, True


def claim_alone(scope: Scope, claim: Equation, defines: bool, signature: Signature | None = None) -> ClaimAlone:
    """Return an assertion with the statements that it needs. `signature` applies only to the assertion's row."""
    function = next(
        (definition for definition in scope.all_functions() if definition.statement.span == claim.span), None
    )
    needed = _needed(scope, claim)
    declarations = () if defines else _declare_parameters(scope, claim, needed)
    if signature is not None:  # The row applies to any function of this type, regardless of earlier definitions.
        called = signature.head.operator
        needed = tuple(statement for statement in needed if called not in head_names(statement))
        declarations = (signature, *declarations)
    return ClaimAlone(claim, Program((*declarations, *_private(scope, needed, claim), claim)), defines, function)


def drop_declarations(alone: ClaimAlone) -> ClaimAlone | None:
    """Return the assertion without the declarations of its names, or None if there are no such declarations."""
    spoken = uses_of(alone.statement).words
    statements = tuple(
        statement
        for statement in alone.program.statements
        if not isinstance(statement, Declaration) or not all(to_text(name) in spoken for name in statement.names)
    )
    return alone._replace(program=Program(statements)) if len(statements) < len(alone.program.statements) else None


def unknown_names(alone: ClaimAlone, given: Collection[str]) -> set[str]:
    """Return the undefined names in an assertion. Names in `given` count as defined."""
    before, claim = alone.program.statements[:-1], alone.statement
    uses = uses_of(claim)
    variables = {*uses.variables, *(operator for operator in uses.calls if operator[:1].isalpha())}
    known = heads_of(Program(before)) | {key(name).base for name in given}
    return variables - known - find_indices(claim) - BUILT_IN - OF_AXES


def is_of_sizes(statement: Any) -> bool:
    """Return whether a statement is an equation with a size as a side. The checker itself tests such equations."""
    return any(isinstance(side, Size) for side in getattr(statement, "sides", ()))


# ----------------------------------------------------------------------------------------------------- needed statements
def _needed(scope: Scope, claim: Equation) -> tuple[Any, ...]:
    """Return the statements that an assertion needs. Assertions inside these statements are dropped."""
    names_made = _names_made(scope)
    makers: dict[str, list[Any]] = {}
    for statement in scope.program.statements:
        for name in names_made.get(statement.span, ()) if statement is not claim else ():
            makers.setdefault(name, []).append(statement)
    names = reach(
        uses_of(claim).words - find_indices(claim),
        lambda name: [word for statement in makers.get(name, ()) for word in uses_of(statement).words],
    ).keys()
    statements = [statement for statement in scope.program.statements if statement is not claim]
    facts = (line for line in statements if isinstance(line, Fact) and uses_of(line).words - BUILT_IN <= names)
    needed = (line for line in statements if is_of_sizes(line) or names_made.get(line.span, set()) & names)
    return (*facts, *map(_drop_assertions, needed))


def _names_made(scope: Scope) -> dict[Span, set[str]]:
    """Return the names that each statement defines or describes, by the statement's span. Skip assertions."""
    names_made = {
        statement.span: head_names(statement)
        for statement in scope.program.statements
        if isinstance(statement, (Declaration, Signature))
    }
    definitions = [*chain.from_iterable(scope.definitions.values()), *scope.families]
    for function in scope.all_functions():
        names_made.setdefault(function.statement.span, set()).add(function.operator)
        definitions += function.all_definitions()
    for definition in definitions:
        names_made.setdefault(definition.statement.span, set()).add(definition.name.base)
    return names_made


def _drop_assertions(statement: Any) -> Any:
    if isinstance(statement, Equation):
        return replace(statement, sides=statement.sides[:2], sets=())
    return statement


# ---------------------------------------------------------------------------------------------- local names of functions
def _private(scope: Scope, needed: tuple[Any, ...], claim: Equation) -> Iterator[Any]:
    """Yield the needed statements, with local names of functions renamed if the assertion uses the same names."""
    spans = {statement.span for statement in needed}
    inside: dict[Span, set[str]] = {}  # the local names of functions, by the span of each of their statements
    for function in scope.all_functions():
        facts = [*function.all_definitions()]
        names = {name.base for name in (*function.parameters, *(fact.name for fact in facts))}
        for span in {function.statement.span, *(fact.statement.span for fact in facts)} & spans:
            inside.setdefault(span, set()).update(names)
    free = uses_of(claim, *(statement for statement in needed if statement.span not in inside)).words
    others = {name: f"inside{letters(at)}" for at, name in enumerate(sorted(free & set().union(*inside.values())))}

    def renamed(node: Any) -> Any:
        is_inside = isinstance(node, Name) and node.text in others
        return replace(node, text=others[node.text]) if is_inside else None

    for statement in needed:
        if not inside.get(statement.span, set()) & others.keys():
            yield statement
            continue
        if not isinstance(statement.sides[0], Call) and base_of(statement.sides[0]) in free:
            yield statement  # The assertion is about this statement, too.
        yield map_nodes(statement, renamed)


def letters(number: int) -> str:
    """Return the suffix with this number for new names, from the sequence A, …, H, AA, …"""
    return "ABCDEFGH"[number % 8] * (1 + number // 8)


def _declare_parameters(scope: Scope, claim: Equation, needed: tuple[Any, ...]) -> Iterator[Declaration]:
    """Yield a declaration for each function parameter that the assertion uses and no statement declares."""
    known = {to_text(name) for statement in needed if isinstance(statement, Declaration) for name in statement.names}
    known |= {to_text(statement.sides[0]) for statement in needed if isinstance(statement, Equation)}
    unknown = uses_of(claim, *needed).words - known
    for function in scope.all_functions():
        if function.signature is not None and any(local.span == claim.span for local in function.local_claims):
            for name, of in zip(function.parameters, function.signature.domain):
                if str(name.key()) in unknown:
                    yield Declaration((Name(name.base),), (of,), None, (0, 0))
