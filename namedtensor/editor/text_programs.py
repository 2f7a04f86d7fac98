"""A program that is checked during editing: at once if it is short, and otherwise when there is time.

`update` moves the findings to their positions in the new text, and `settle` checks the new text. A statement that does
not parse does not affect the checks of other statements.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span

from ..documents.formula_checks import NO_INPUTS, UNDEFINED, CheckedFormula, KnownInputs, check_formula
from ..programs.parsed import ParsedProgram
from ..scope.heads import base_of, function_head, head_names
from ..scope.names import plain_key
from ..terms.inference import format_shape
from .parts import TypedPart, find_typed_parts
from .statements import HEAD, StatementText, blank_spans, split, statement_at

MAX_BROKEN = 12  # the limit on invalid statements that are left out
SHORT = 12  # statements of a program that is always checked at once


class Problem(NamedTuple):
    """A finding: an error, and its severity, which is "error", "warning" or "information"."""

    severity: str
    error: NotationError


class TypeHint(NamedTuple):
    """The type of a statement, to be shown at an offset after the statement."""

    offset: int
    text: str


class Diagnostics(NamedTuple):
    """The findings in a program. Their spans refer to the checked text."""

    problems: list[Problem]
    parts: list[TypedPart]
    hints: list[TypeHint]


class CheckedText(NamedTuple):
    """The result of checking a program as a whole."""

    text: str
    findings: Diagnostics
    is_broken: bool  # whether invalid statements are left out
    tree: nodes.Program
    checked: CheckedFormula | None


class TextProgram:
    """A program whose text is edited and checked."""

    def __init__(self, known: KnownInputs = NO_INPUTS, syntax: str = "text"):
        self.known, self.syntax = known, syntax
        self.whole: CheckedText | None = None
        self.text = ""
        self.statements: list[StatementText] = []

    @property
    def settled(self) -> bool:
        """Whether the program was checked in its current form."""
        return self.whole is not None and self.whole.text == self.text

    def update(self, text: str) -> None:
        """Replace the text of the program, and check it if it is short or new."""
        self.text = text
        self.statements = split(text) if self.syntax == "text" else [StatementText(0, text)]
        if self.whole is None or len(self.statements) <= SHORT:
            self.settle()

    def settle(self) -> None:
        """Check the program unless this was already done."""
        if not self.settled:
            self.whole = check_whole_text(self.text, self.statements, self.known, self.syntax)

    def findings(self) -> Diagnostics:
        """Return the findings of the last check, at their positions in the current text."""
        if self.whole is None:
            return Diagnostics([], [], [])
        return self.whole.findings if self.settled else move_findings(self.whole.findings, self.whole.text, self.text)


def move_findings(findings: Diagnostics, old: str, new: str) -> Diagnostics:
    """Return findings at their positions in an edited text, leaving out findings in the part that was edited."""
    first = len(os.path.commonprefix([old, new]))
    last = len(old) - len(os.path.commonprefix([old[first:][::-1], new[first:][::-1]]))
    by = len(new) - len(old)

    def locate(span: Span | None) -> Span | None:
        if span is None or span[1] <= first:
            return span
        return (span[0] + by, span[1] + by) if span[0] >= last else None

    problems = [
        problem._replace(error=problem.error.moved(new, locate))
        for problem in findings.problems
        if locate(problem.error.span) is not None
    ]
    parts = [part._replace(span=span) for part in findings.parts if (span := locate(part.span)) is not None]
    ends = ((hint, locate((hint.offset - 1, hint.offset))) for hint in findings.hints)
    return Diagnostics(problems, parts, [hint._replace(offset=span[1]) for hint, span in ends if span is not None])


def is_about(problem: Problem, defined: Collection[str]) -> bool:
    """Return whether a problem is anything other than an undefined name that another statement defines."""
    error = problem.error
    return error.code != UNDEFINED or plain_key(error.span_text or "").base not in defined


def problems_of(result: CheckedFormula) -> list[Problem]:
    """Convert the errors, the warnings and the information about undefined names of a formula to problems."""
    source = result.checked.result.source
    problems = [Problem("error", error) for error in result.errors]
    problems += (Problem("warning", warning.make_strict_error(source)) for warning in result.warnings)
    problems += (Problem("information", make_undeclared_error(error)) for error in result.unknown)
    return problems


def make_undeclared_error(error: NotationError) -> NotationError:
    """Return the error for an undefined name, reworded as information about an input of unknown type."""
    name = error.span_text
    return error.replace(
        message=f"{name} is an input: nothing here defines or declares it, so its type is unknown",
        hint=f"declare it: {name} ∈ ℝ^{{…}}",
        notes=(),
    )


def find_defined_names(statements: Iterable[StatementText]) -> set[str]:
    """Return the names that statements could define, judging by the first characters of each statement."""
    heads = (HEAD.match(statement.text) for statement in statements)
    return {plain_key(head[0].split("=")[0].split("∈")[0].split("(")[0].rstrip(" :≜≔")).base for head in heads if head}


def check_whole_text(text: str, statements: list[StatementText], known: KnownInputs, syntax: str) -> CheckedText:
    """Check a program, leaving out the statements that do not parse or that clash with others."""
    broken: dict[int, Problem] = {}
    result: CheckedFormula | None = None
    tree = nodes.Program(())
    while len(broken) < len(statements):
        left = blank_spans(text, [(statements[at].start, statements[at].end) for at in broken])
        program = ParsedProgram(left, syntax)
        try:
            tree = program.tree
            _ = program.scope
            result = check_formula(program, known)
            break
        except NotationError as error:
            problem, tree = error, nodes.Program(())
        at = statement_at(statements, problem.span)
        if at is None or at in broken or len(broken) >= MAX_BROKEN:
            broken[-1] = Problem("error", problem.located(text, (0, 0)))
            break
        broken[at] = Problem("error", problem.moved(text, lambda span: span))
    problems = [*broken.values()]
    parts: list[TypedPart] = []
    if result is not None:
        lost = find_defined_names(statements[at] for at in broken)
        problems += (
            problem._replace(error=locate_in_text(problem.error, text))
            for problem in problems_of(result)
            if not broken or is_about(problem, lost) or problem.error.span is None
        )
        parts = sorted(find_typed_parts(result.checked.checker), key=lambda part: part.span[0])
    problems.sort(key=lambda problem: problem.error.span or (0, 0))
    findings = Diagnostics(problems, parts, list(type_hints(tree, parts)))
    return CheckedText(text, findings, bool(broken), tree, result)


def locate_in_text(error: NotationError, text: str) -> NotationError:
    """Return an error whose source is replaced by the original text, in which nothing is blanked.

    An error about an input is moved to the beginning.
    """
    if error.span is None or error.source is None or len(error.source) != len(text):
        return error.replace(source=text, span=(0, 0), labels=())
    return error if error.source == text else error.replace(source=text)


def type_hints(tree: nodes.Program, parts: list[TypedPart]) -> Iterator[TypeHint]:
    """Yield type hints for the statements of a tree that do not declare their types."""
    shapes = {part.span: part.shape for part in parts}
    declarations = [declaration for declaration in tree.statements if isinstance(declaration, nodes.Declaration)]
    declared = {name for declaration in declarations for name in head_names(declaration)}
    for statement in tree.statements:
        if isinstance(statement, nodes.Value):
            body = statement.body
        elif isinstance(statement, nodes.Equation) and not statement.sets and function_head(statement) is None:
            body = statement.sides[-1]
            if base_of(statement.sides[0]) in declared:
                continue
        else:
            continue
        shape = shapes.get(body.span)
        if shape is not None:
            yield TypeHint(body.span[1], format_shape(shape))
