"""Redefinitions and conflicts among the formulas of a section, which are parsed together as one text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar import nodes
from grammar.cache import Cache, cached_property
from grammar.errors import NotationError, Span
from grammar.parser import parse
from grammar.printer import to_text

from ..core.settings import is_strict
from ..operators.user_functions import USER_FUNCTIONS
from ..programs.parsed import ParsedProgram
from ..scope.binder import bind
from ..scope.heads import heads
from ..scope.names import Key, read_spelling, walk
from ..scope.symbols import Scope
from ..terms.inference import InputType
from .assembled import assemble_program
from .document import Document, MathSpan

if TYPE_CHECKING:
    from ..core.extents import Extent
    from ..programs.checks import CheckedProgram


class DefinitionConflict(NamedTuple):
    """The error for formulas that form no program, with the spans of both statements if a name is defined twice."""

    problem: NotationError
    first: Span | None = None
    second: Span | None = None


class Redefinition(NamedTuple):
    """A redefinition of a name, with the position at which it takes effect and the spans of both definitions."""

    position: int
    first: Span
    second: Span


class ConflictingPart(ParsedProgram):
    """A program that contains only those statements of a text whose spans are in `kept`."""

    def __init__(self, source: str, spans: frozenset[Span]):
        super().__init__(source, "latex")
        self.kept = spans
        self._checks: Cache[bool, CheckedProgram] = Cache("checks of a section", 2)  # by whether checks are strict

    def _parse(self, shadowed: frozenset[str]) -> nodes.Program:
        return nodes.Program(
            tuple(statement for statement in super()._parse(shadowed).statements if statement.span in self.kept)
        )

    def checked(self, given: Mapping[str, Any], sizes: Mapping[str, int] | None) -> CheckedProgram:
        """Check the types of the program, with numbers in place of open range ends, and return the result.

        The result without inputs is cached.
        """
        from ..programs.checks import check_program_types
        from ..programs.open_lengths import with_open_ends

        def check(ends: Mapping[str, Extent]) -> CheckedProgram:
            return check_program_types(self, given, sizes, None, ends)

        def errors(checked: CheckedProgram) -> tuple[NotationError, ...]:
            return checked.result.errors

        if given or sizes:
            return with_open_ends(check, errors)[0]
        strict = is_strict()
        return self._checks.get(strict) or self._checks.store(strict, with_open_ends(check, errors)[0])

    @cached_property
    def bound(self) -> Scope:
        """Return the program's scope before inputs are bound. Raise NotationError if the definitions conflict."""
        return bind(self.source, self.tree)

    def scope_given(self, inputs: Mapping[Key, InputType]) -> Scope:
        return super().scope_given(inputs) if inputs else self.bound


class Together:
    """The formulas of a section as one text, with a map from its statements to the formulas."""

    def __init__(self, document: Document, formulas: list[MathSpan]):
        self.formulas = list(formulas)
        self.all = formulas
        self.work = assemble_program(document, formulas)

    @cached_property
    def statements(self) -> tuple[Any, ...]:
        """Return the statements of all formulas. Raise NotationError if they cannot be parsed."""
        return parse(self.work.text, "latex").statements if self.all else ()

    def leave_out(self, maths: MathSpan) -> None:
        self.formulas.remove(maths)

    def holder(self, span: Span | None) -> MathSpan | None:
        """Return the formula that contains a span of the joined text, or None if no formula contains it."""
        return holder(self.all, self.work.span(span))

    @cached_property
    def _holders(self) -> dict[Span, MathSpan | None]:
        return {statement.span: self.holder(statement.span) for statement in self.statements}

    @cached_property
    def of_rows(self) -> frozenset[Span]:
        """Return the spans of signatures that differ between rows, so that each signature applies only to its row."""
        signatures: dict[tuple[MathSpan | None, str], list[nodes.Signature]] = {}
        for statement in self.statements:
            if isinstance(statement, nodes.Signature) and (called := _declares(statement)):
                signatures.setdefault((self._holders[statement.span], called[0][0]), []).append(statement)
        groups = (signature for signature in signatures.values() if len({str(_sets(one)) for one in signature}) > 1)
        return frozenset(one.span for group in groups for one in group)

    def signature_of(self, row: Span) -> nodes.Signature | None:
        """Return the signature in the row of a statement if it applies only to this row, and None otherwise."""
        at = next((at for at, statement in enumerate(self.statements) if statement.span == row), len(self.statements))
        following = self.statements[at + 1] if at + 1 < len(self.statements) else None
        return following if isinstance(following, nodes.Signature) and following.span in self.of_rows else None

    def part(self, formulas: frozenset[MathSpan], removed: frozenset[Span]) -> ConflictingPart:
        """Return the program of some formulas without the removed statements.

        Equal texts and statements return the same cached program.
        """
        left_out = removed | self.of_rows
        holders = frozenset(span for span, at in self._holders.items() if at in formulas and span not in left_out)
        text = self.work.text
        cache_key = text, holders, USER_FUNCTIONS.version
        return PARTS.get(cache_key) or PARTS.store(cache_key, ConflictingPart(text, holders))

    def holding(self, removed: frozenset[Span]) -> list[Any]:
        """Return the statements that hold at the end of the section.

        Redefined names, the statements that depend on them, and expressions in running text are left out.
        """
        statements = [
            statement
            for statement in self.part(frozenset(self.formulas), frozenset()).tree.statements
            if not isinstance(statement, nodes.Value) or ((at := self.holder(statement.span)) and at.display)
        ]
        return drop_superseded(statements, {at for at, statement in enumerate(statements) if statement.span in removed})


PARTS: Cache[tuple[str, frozenset[Span], int], ConflictingPart] = Cache("programs of sections", 256)


def conflict_of(together: Together, removed: frozenset[Span]) -> DefinitionConflict | None:
    """Return the conflict that keeps formulas from forming a program, or None. Removed statements are ignored."""
    work = together.work
    part = together.part(frozenset(together.formulas), removed)
    program = part.tree
    if again := _find_second_declaration(together, program):
        return again
    try:
        _ = part.bound
    except NotationError as problem:
        error = work.error(problem)
        if problem.code != 202 or not problem.labels or problem.span is None:
            return DefinitionConflict(error)
        first, second = (_statement(program, span) for span in (problem.labels[0][0], problem.span))
        return DefinitionConflict(error, first.span, second.span)
    return None


def _find_second_declaration(together: Together, program: nodes.Program) -> DefinitionConflict | None:
    """Return the first conflict between a declaration and an earlier statement, or None if there is no conflict.

    A declaration conflicts if an earlier formula declares the name in another set, or if an earlier subsection defines
    the name. The same rule applies to functions and their signatures.
    """
    declared: dict[str, Any] = {}
    defined: dict[str, nodes.Equation] = {}
    for statement in program.statements:
        for called, name in _declares(statement):
            before = declared.setdefault(called, statement)
            if before is statement:
                before = defined.get(called)
                if before is None or not _is_headed(together, before.span, name.span):
                    continue
            elif _is_said_again(before, statement):
                continue
            if together.holder(before.span) != together.holder(name.span):
                return _again(together, name, before, statement)
        if isinstance(statement, nodes.Equation):
            head = statement.sides[0]
            called = _get_defined_name(head)
            before = declared.get(called) if isinstance(head, nodes.Call) else None
            if before is not None and _is_headed(together, before.span, head.span):
                return _again(together, head, before, statement)
            if called:
                defined.setdefault(called, statement)
    return None


def _again(together: Together, name: Any, before: Any, statement: Any) -> DefinitionConflict:
    work = together.work
    problem = NotationError(202, f"{to_text(name)} is declared twice", work.source, work.span(name.span))
    return DefinitionConflict(problem, before.span, statement.span)


def _declares(statement: Any) -> list[tuple[str, Any]]:
    """Return each name that a declaration or signature declares, with the node that contains the name."""
    if not isinstance(statement, (nodes.Declaration, nodes.Signature)):
        return []
    count = len(statement.domain) if isinstance(statement, nodes.Signature) else None
    return [(called, head) for head in heads(statement) if (called := _get_defined_name(head, count))]


def _get_defined_name(head: Any, arguments: int | None = None) -> str:
    """Return the name that a left-hand side defines. A function's name includes its scripts and argument count.

    Return an empty string for an operator, and for an argument that is not a name, such as in f(2 X).
    """
    if not isinstance(head, nodes.Call):
        return to_text(head)
    plain = all(isinstance(argument, nodes.Name) for argument in (*head.arguments, *head.parameters))
    if not plain or head.subscript or not head.operator[:1].isalpha():
        return ""
    scripts = [to_text(node) for node in head.superscript]
    return f"{head.operator}{scripts}(){len(head.arguments) if arguments is None else arguments}"


def _is_headed(together: Together, before: Span, again: Span) -> bool:
    """Return whether there is a subsection heading between two spans of the joined text."""
    first, second = together.work.span(before), together.work.span(again)
    return bool(first and second and SUBSECTION.search(together.work.source, first[1], second[0]))


SUBSECTION = re.compile(r"\\(?:sub)+section(?![A-Za-z])")


def _is_said_again(before: Any, statement: Any) -> bool:
    """Return whether a declaration or signature only repeats an earlier one."""
    one, other = _sets(before), _sets(statement)
    return one == other or isinstance(statement, nodes.Declaration) and set(other) <= set(one)


def _sets(declaration: Any) -> list[str]:
    sets = (
        declaration.sets if isinstance(declaration, nodes.Declaration) else (*declaration.domain, declaration.codomain)
    )
    return [to_text(set_) for set_ in sets]


def _statement(program: nodes.Program, span: Span) -> Any:
    return next(statement for statement in program.statements if statement.span[0] <= span[0] < statement.span[1])


def holder(formulas: list[MathSpan], span: Span | None) -> MathSpan | None:
    """Return the formula that contains a span of the document, or None if no formula contains it."""
    index = bisect_right(formulas, span[0], key=lambda maths: maths.start) - 1 if span else -1
    while index >= 0 and span and formulas[index].written and span[0] >= formulas[index].end:
        index -= 1  # an assumption may appear in a comment within a display
    return formulas[index] if index >= 0 and span and span[0] < formulas[index].end else None


# ------------------------------------------------------------------------------------------ superseded statements
def drop_superseded(statements: Sequence[Any], gone: set[int]) -> list[Any]:
    """Return the statements, leaving out the superseded statements. Their indices are in `gone`.

    Earlier statements that depend on the superseded names are left out, too.
    """
    lost, waiting = set(gone), list(gone)
    while waiting:
        names = head_keys(statements[waiting.pop()])
        again = max((at for at, statement in enumerate(statements) if names & head_keys(statement)), default=0)
        below = len(statements) if again in lost else again
        further = {at for at in range(below) if at not in lost and names & mention_keys(statements[at])}
        lost |= further
        waiting += further
    return [statement for at, statement in enumerate(statements) if at not in lost]


def head_keys(statement: Any) -> set[str]:
    """Return the keys of the names, including scripts, that a statement defines or declares."""
    return {_exact_name(head) for head in heads(statement)} - {""}


def mention_keys(statement: Any) -> set[str]:
    """Return the keys of the names, including scripts, that occur in a statement."""
    return {_exact_name(node) for node in walk(statement)} - {""}


def _exact_name(node: Any) -> str:
    if isinstance(node, nodes.Call):
        return node.operator if node.operator[:1].isalpha() else ""
    return str(name.key()) if (name := read_spelling(node)) is not None else ""
