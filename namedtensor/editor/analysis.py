"""A document of any type with all its findings, which are updated during editing.

document = EditedDocument("model.py")
document.update(text)          checks the changed part
document.settle()              checks the whole document, when there is time
document.problems, document.parts, document.regions
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.parser import spelling_of

from ..documents.check_files import locate_in_file
from ..documents.document import Document
from ..documents.findings import NOT_CHECKED, findings_of
from ..documents.formula_checks import NO_INPUTS
from ..documents.included_files import Read, Whole
from ..documents.inherited import names_told
from ..documents.loaded import READERS, whole_of
from ..documents.python_source import FormulaString, formulas_in
from ..documents.sections import check_document
from ..documents.suffixes import suffix_of
from ..files.text import InputError
from .parts import TypedPart, find_typed_parts
from .statements import scopes
from .text_programs import Problem, TextProgram, TypeHint, type_hints

PROGRAM, PYTHON = ".nt", ".py"
MAX_CHARS = 1_000_000  # of a document


@dataclass(frozen=True)
class FormulaRegion:
    """A formula or program in a document. `place` maps spans in its text to spans in the document."""

    text: str
    latex: bool
    tree: nodes.Program
    scope: Any  # the symbols, or None if names clash
    place: Callable[[Span], Span | None]
    broken: bool = False  # whether invalid statements are left out
    inherits: frozenset[str] = frozenset()  # names that earlier regions define
    parts: Callable[[], list[Any]] = field(default=list, compare=False)
    types: Mapping[str, str] = field(default_factory=dict)


class EditedProgram(NamedTuple):
    """A program in a document, its span, and the Python string that contains it, if any."""

    program: TextProgram
    span: Span
    formula: FormulaString | None

    def place(self, span: Span) -> Span:
        """Convert a span of the program to a span of the document."""
        if self.formula is not None:
            return self.formula.place(span)
        return self.span[0] + span[0], self.span[0] + span[1]

    def error(self, error: NotationError, text: str) -> NotationError:
        """Return an error of the program with its spans converted to spans of the document."""
        return error.moved(text, self.place) if self.formula is None else locate_in_file(error, self.formula, text)


class EditedDocument:
    """A document that is being edited. `read` returns the text of an included file. By default, it reads from disk."""

    def __init__(self, path: str, read: Read | None = None):
        self.path, self.read = path, read
        self.kind = suffix_of(path)
        self.text = ""
        self.report: Document | None = None
        self.whole: Whole | None = None
        self.programs: list[EditedProgram] = []
        self._problems: list[Problem] = []

    @property
    def is_known(self) -> bool:
        """Whether documents with this suffix can contain formulas."""
        return self.kind in (PROGRAM, PYTHON) or self.kind in READERS

    # ------------------------------------------------------------------------------------------------------- checking
    def update(self, text: str) -> None:
        """Replace the text of the document, and check the changed parts.

        The content of a document never raises an exception.
        """
        self.text, self._problems = text, []
        if len(text) > MAX_CHARS:
            self.programs, self.report = [], None
            message = f"a document is checked up to {MAX_CHARS} characters, and this one has {len(text)}"
            self._problems = [Problem("information", NotationError(404, message, text, (0, 1)))]
        elif self.kind == PROGRAM:
            self._update_programs([(text[slice(*span)], span, None) for span in scopes(text)])
        elif self.kind == PYTHON:
            self._update_python(text)
        elif self.is_known:
            self._check_document(text)

    def settle(self) -> None:
        """Complete the check of the document. So far, only its changed parts have been checked."""
        for edited in self.programs:
            edited.program.settle()

    @property
    def settled(self) -> bool:
        """Whether the current text of the whole document has been checked."""
        return all(edited.program.settled for edited in self.programs)

    def _update_python(self, text: str) -> None:
        try:
            strings = formulas_in(text, lenient=True)
        except SyntaxError:
            self.programs = []
            return
        formulas = [string for string in strings if isinstance(string, FormulaString)]
        self._update_programs([(string.text, string.span, string) for string in formulas])

    def _update_programs(self, sources: list[tuple[str, Span, FormulaString | None]]) -> None:
        """Check the programs in the document.

        For each source text, reuse the earlier program with the same text or, otherwise, at the same position.
        """
        before = [edited.program for edited in self.programs]
        programs: list[EditedProgram] = []
        for at, (text, span, formula) in enumerate(sources):
            known, syntax = (NO_INPUTS, "text") if formula is None else (formula.inputs, formula.syntax)
            if syntax == "auto":
                syntax = spelling_of(text)
            here = before[at : at + 1] if len(before) == len(sources) else []
            used = [edited.program for edited in programs]
            program = next(
                (
                    earlier
                    for earlier in (*(other for other in before if other.text == text), *here)
                    if (earlier.known, earlier.syntax) == (known, syntax) and earlier not in used
                ),
                TextProgram(known, syntax),
            )
            if program.text != text or program.whole is None:
                program.update(text)
            programs.append(EditedProgram(program, span, formula))
        self.programs = programs

    def _check_document(self, text: str) -> None:
        try:
            self.whole = whole_of(text, self.path, self.read)
            self.report = check_document(self.whole.text)
        except InputError as problem:  # a notebook that is not valid JSON
            self.report = None
            self._problems = [Problem("information", NotationError(409, str(problem), text, (0, 1)))]
            return
        for finding in findings_of(self.report, self.whole):
            if finding.file == self.path:
                severity = "information" if finding.severity == NOT_CHECKED else finding.severity
                self._problems.append(Problem(severity, finding.problem))

    # ------------------------------------------------------------------------------------------------------- findings
    @property
    def problems(self) -> list[Problem]:
        """All findings, with their positions in the document."""
        problems = [*self._problems]
        for edited in self.programs:
            for problem in edited.program.findings().problems:
                if edited.formula is None or problem.severity != "information":  # its inputs come from its calls
                    problems.append(problem._replace(error=edited.error(problem.error, self.text)))
        return problems

    def _find_typed(self) -> Iterator[tuple[Iterable[TypedPart], Iterable[TypeHint], Callable[[Span], Span | None]]]:
        """Yield for each program its typed pieces, its hints, and a function that maps its spans to the document."""
        for edited in self.programs:
            findings = edited.program.findings()
            yield findings.parts, findings.hints, edited.place
        for region in self.regions if self.report is not None else ():
            parts = region.parts()
            yield parts, type_hints(region.tree, parts), region.place

    @property
    def parts(self) -> list[TypedPart]:
        """The pieces of formulas that have a type, with their spans in the document, inner pieces first."""
        placed = ((part, locate(part.span)) for parts, _, locate in self._find_typed() for part in parts)
        return [part._replace(span=span) for part, span in placed if span is not None]

    @property
    def hints(self) -> list[TypeHint]:
        """The types of the statements, each positioned at the end of its statement."""
        placed = (
            (hint, locate((hint.offset - 1, hint.offset))) for _, hints, locate in self._find_typed() for hint in hints
        )
        return [hint._replace(offset=span[1]) for hint, span in placed if span is not None]

    def copy(self) -> EditedDocument:
        """Return a copy of the document in which an edit can be tried without checking unchanged parts again."""
        other = copy.copy(self)
        other.programs = [edited._replace(program=copy.copy(edited.program)) for edited in self.programs]
        return other

    @property
    def regions(self) -> list[FormulaRegion]:
        """The formulas and programs in the document, as of the last check of the whole document."""
        if self.report is not None and self.whole is not None:
            return regions_of(self.report, self.whole, self.path)
        regions: list[FormulaRegion] = []
        for edited in self.programs:
            program = edited.program
            whole = program.whole
            if whole is None or not program.settled:
                continue
            checker = whole.checked.checked.checker if whole.checked is not None else None
            regions.append(
                FormulaRegion(
                    program.text, program.syntax == "latex", whole.tree, checker.scope if checker is not None else None,
                    edited.place, whole.is_broken,
                    types=whole.checked.checked.result.types if whole.checked is not None else {},
                )
            )  # fmt: skip
        return regions


def regions_of(report: Document, whole: Whole, path: str) -> list[FormulaRegion]:
    """Return the programs of a document, without the programs whose sections are in included files."""
    regions: list[FormulaRegion] = []
    for section in report.sections:
        inherits = frozenset(
            name
            for maths in section.inherited
            for statement in section.programs[maths].statements
            for name in names_told(statement)
        )
        for work, checked in section.checked:
            if checked.checker is None:
                continue

            def moved(span: Span, work: Any = work) -> Span | None:
                at = work.span(span)
                there = whole.place(at) if at is not None and at not in work.written else None
                is_same = there is not None and there.text[slice(*there.span)] == work.text[slice(*span)]
                return there.span if there is not None and is_same and there.file == path else None

            scope = checked.checker.scope
            regions.append(
                FormulaRegion(
                    work.text, True, scope.program, scope, moved, False, inherits,
                    partial(find_typed_parts, checked.checker), checked.result.types,
                )
            )  # fmt: skip
    return regions
