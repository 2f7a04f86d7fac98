"""Formulas in a LaTeX document: found where they stand, gathered by section, and checked there.

    document --find--> maths and definitions of macros --sort--> formulas of the notation --check--> errors with their place

Each section is a scope, which inherits what it does not say itself from those before it. The formulas of a section are copied, with the macros
that the document defines before them, into one program (a `AssembledProgram`), and what the checker says of the program is
carried back to the lines of the document.

Much maths of a document is not of this notation. What does not look like it is passed over; a formula without a named
axis may define a name, and is not blamed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.parser import parse
from grammar.printer import to_text

from .assembled import AssembledProgram, assembled, without
from .inherited import Inheritance, Needs
from .maths import Document, Maths, Section, find
from .notation import gather, heads_of
from .report import Findings, Note, Report, Skipped
from .rows import rows_of
from .verdicts import FALSE, Draws


def check_document(
    source: str,
    everything: bool = False,
    shapes: Mapping[str, Any] | None = None,
    sizes=None,
    common: int = 0,
    draws: Draws | None = None,
) -> Report:
    """Check the formulas of a LaTeX document. With `everything`, maths that seems to be of another notation too.

    `shapes` and `sizes` are known in each section, and so are the facts in comments that stand before `common`. With
    `draws`, each claim and derivation is tried on random tensors too.
    """
    document = find(source, common)
    document.given, document.sizes, document.draws = dict(shapes or {}), sizes, draws
    findings = Findings(list(document.errors))
    before = Inheritance(document)
    for section in document.sections:
        section.functions = before.functions
        blamed = gather(document, section, everything, findings)
        inherit(document, section, before)
        for start in range(0, len(section.formulas), TOGETHER):
            _check_section(document, section, section.formulas[start : start + TOGETHER], blamed, findings)
            if start:
                text = f"the section is long: its formulas from here on are checked apart from the {start} before"
                findings.notes.append(Note(section.formulas[start].start, text))
    if not any(not maths.written for section in document.sections for maths in section.formulas):
        findings.nothing_read(document)
    errors = {(error.span, error.number, error.message): error for error in findings.errors}
    return Report(
        source,
        tuple(document.sections),
        tuple(sorted(errors.values(), key=lambda error: error.span or (0, 0))),
        tuple(findings.warnings),
        tuple(findings.skipped),
        tuple(sorted(findings.notes)),
        tuple(document.ignored),
        tuple(findings.tried),
    )


def inherit(document: Document, section: Section, before: Inheritance) -> None:
    """Give a section the facts of those before it that it needs."""
    facts = before.take(section)
    section.programs.update(facts)
    section.inherited = frozenset(facts)
    section.formulas = sorted([*facts, *section.formulas])


TOGETHER = 300  # formulas of a section that are checked as one program


class Conflict(NamedTuple):
    """Why formulas are no program together, in the document; where a name is defined twice, both statements."""

    problem: NotationError
    first: Span | None = None
    second: Span | None = None


class Redefinition(NamedTuple):
    """A name that is defined again from a formula on: the statement that said what it was, and the one that says it now."""

    position: int
    first: Span
    second: Span


def _check_section(document: Document, section: Section, formulas: list[Maths], blamed: set[Maths], findings: Findings) -> None:  # fmt: skip
    """Check formulas of a section: as one program, or where a name is defined again in a later one, as several.

    From where a name is defined again the first definition is gone, and before that the second is not there; all else
    counts wherever it stands.
    """
    again: list[Redefinition] = []
    for _ in range(CONFLICTS if findings.conflicts < 4 * CONFLICTS else 1):
        removed = frozenset(each.first for each in again)
        conflict = _conflict(assembled(document, formulas, removed), formulas) if formulas else None
        if conflict is None:
            break
        findings.conflicts += 1
        problem, first, second = conflict
        at, before = _holder(formulas, problem.span), _holder(formulas, first)
        later = at is not None and at in blamed and before is not None and before.end <= at.start
        if at and before and later and first and second and problem.span:
            again.append(Redefinition(max(before.end, _counts_from(document, at)), first, second))
            findings.notes.append(Note(problem.span[0], f"{problem.span_text} is defined again: {AGAIN}"))
            continue
        if at is None or at in blamed and not _explained(document, at, conflict, removed):
            findings.errors.append(problem)
        elif at in blamed:
            findings.skipped.append(Skipped(at[:2], problem.message, True, problem))
        if at is None:
            return
        formulas.remove(at)
    else:
        findings.notes.append(Note(section.start, "unchecked: too many of the definitions here are in conflict"))
        return
    needs = Needs(formulas, section.programs)
    starts = sorted({0, *(each.position for each in again)})
    for start, following in zip(starts, [*starts[1:], len(document.source)]):
        own = [maths for maths in formulas if start <= maths.start < following]
        removed = frozenset(each.first if each.position <= start else each.second for each in again)
        present = needs.of(own, following)
        if own:
            _check_program(document, section, present, assembled(document, present, removed), set(own) & blamed, findings)  # fmt: skip


def _counts_from(document: Document, maths: Maths) -> int:
    """From where on what a formula says counts: in running text, for the whole of its paragraph or item."""
    if maths.display:
        return maths.start
    starts = [found.end() for found in PARAGRAPH.finditer(document.source, max(0, maths.start - LONGEST), maths.start)]
    return starts[-1] if starts else maths.start


PARAGRAPH = re.compile(r"\n[ \t]*\n|\\item(?![A-Za-z])|\\(?:begin|end)\{[A-Za-z]+\*?\}|\\(?:sub)*section\*?\{")
LONGEST = 5000  # characters of a paragraph


def _explained(document: Document, at: Maths, conflict: Conflict, removed: frozenset[Span]) -> bool:
    """Whether a formula is not to blame for a conflict: part of it is gone, or one row of it compares two definitions."""
    problem, first, _ = conflict
    if problem.number < 200:
        return without(at[:2], removed) != [at[:2]]
    if _has_unread_rows(document, at):
        return True
    if first is None or problem.span is None:
        return False
    start, end = first[0], problem.span[1]
    rows = (row for row in rows_of(document.source, at) if len(row.cells) > 2)
    return any(row.start <= start and end <= row.end for row in rows)


def _has_unread_rows(document: Document, at: Maths | None) -> bool:
    return at is not None and at.start in document.unread


CONFLICTS = 50
AGAIN = "from here on this counts, and not what was said before"


def _conflict(work: AssembledProgram, formulas: list[Maths]) -> Conflict | None:
    """Why formulas are no program together, if they are none."""
    from ..scope.binder import bind

    try:
        program = parse(work.text, "latex")
    except NotationError as problem:
        return Conflict(work.error(problem))
    if again := _declared_again(work, program, formulas):
        return again
    try:
        bind(work.text, program)
    except NotationError as problem:
        told = work.error(problem)
        if problem.number != 202 or not problem.labels or problem.span is None:
            return Conflict(told)
        first, second = (_statement(program, span) for span in (problem.labels[0][0], problem.span))
        return Conflict(told, work.span(first.span), work.span(second.span))
    return None


def _declared_again(work: AssembledProgram, program: nodes.Program, formulas: list[Maths]) -> Conflict | None:
    """The first declaration of a name that an earlier formula declares to be of another set, or that one of an earlier
    subsection defines."""
    declared: dict[str, nodes.Declaration] = {}
    defined: dict[str, nodes.Equation] = {}
    for statement in program.statements:
        if isinstance(statement, nodes.Equation):
            defined.setdefault(to_text(statement.sides[0]), statement)
        if not isinstance(statement, nodes.Declaration):
            continue
        for name in statement.names:
            again = work.span(name.span)
            before: Any = declared.setdefault(to_text(name), statement)
            if before is statement:
                before = defined.get(to_text(name))
                if before is None or not again or not _is_headed(work, before.span, again):
                    continue
            elif _sets(before) == _sets(statement):
                continue
            first = work.span(before.span)
            if _holder(formulas, first) != _holder(formulas, again):
                message = f"{to_text(name)} is declared twice"
                return Conflict(NotationError(202, message, work.source, again), first, work.span(statement.span))
    return None


def _is_headed(work: AssembledProgram, before: Span, again: Span) -> bool:
    """Whether a subsection begins between a statement and a place of the document."""
    first = work.span(before)
    return first is not None and SUBSECTION.search(work.source, first[1], again[0]) is not None


SUBSECTION = re.compile(r"\\(?:sub)+section(?![A-Za-z])")


def _sets(declaration: nodes.Declaration) -> list[str]:
    return [to_text(each) for each in declaration.sets]


def _statement(program: nodes.Program, span: Span) -> Any:
    return next(each for each in program.statements if each.span[0] <= span[0] < each.span[1])


def _check_program(document: Document, section: Section, formulas: list[Maths], work: AssembledProgram, blamed: set[Maths], findings: Findings) -> None:  # fmt: skip
    """Check formulas as one program, and report what it says of those that are to be blamed."""
    from ..programs.api import check_given

    checked = check_given(work.text, document.given, document.sizes, "latex", None)
    fresh = {name for maths in formulas if maths in blamed for name in heads_of(section.programs[maths])}
    section.types.update({name: text for name, text in checked.types.items() if name not in section.types or BASE.split(name)[0] in fresh})  # fmt: skip
    for error in map(work.error, checked.errors):
        at = _holder(formulas, error.span)
        if at is not None and at not in blamed or _mentions_only(document, section, at, error):
            continue
        if error.number in FACTS and _is_a_condition(section, at):
            continue
        if _has_unread_rows(document, at) and 200 <= error.number < 300:
            continue  # the row that was not read may have said it
        if _prose_may_say(section, at, error):
            section.unknown.setdefault(error.span_text or error.message, error.span[0] if error.span else section.start)
        else:
            findings.errors.append(error)
    for warning in checked.warnings:
        span = work.span(warning.span)
        if _holder(formulas, span) in blamed:
            findings.warnings.append(warning._replace(span=span))
    if document.draws is not None:
        _try_claims(document, formulas, work, blamed, findings)


def _try_claims(document: Document, formulas: list[Maths], work: AssembledProgram, blamed: set[Maths], findings: Findings) -> None:  # fmt: skip
    """Try the claims of the formulas that are to be blamed."""
    from .trial import tried_claims

    assert document.draws is not None
    program = parse(work.text, "latex")
    for tried in tried_claims(
        work.text,
        program,
        document.given,
        document.sizes,
        document.draws,
        lambda span: _holder(formulas, work.span(span)) in blamed,
    ):
        if tried.verdict == FALSE:
            findings.errors.append(work.error(tried.error(work.text)))
        span = work.span(tried.span)
        assert span is not None
        findings.tried.append(tried._replace(span=span))


BASE = re.compile(r"[_^({]")


def _is_a_condition(section: Section, at: Maths | None) -> bool:
    """Whether a formula only says of which tensors the others speak: n ≥ 1, ε > 0."""
    return at is not None and all(isinstance(each, nodes.Fact) for each in section.programs[at].statements)


def _prose_may_say(section: Section, at: Maths | None, error: NotationError) -> bool:
    """Whether an error is that something is not known, a name or a size: running text may say it."""
    if error.number in OF_SHAPES and any(SHAPE_VARIABLE.search(text) for text in (*error.notes, error.message)):
        return True  # 𝒮 stands for any axes, and running text says for which
    if error.number not in FACTS:
        return False
    name = TEXT.sub(r"\1", error.span_text or "").lstrip("\\")
    return len(name) <= SHORT or "did you mean" not in (error.hint or "") or _fragment(section, at)


FACTS = (201, 204, 309)
SHORT = 2  # letters of a name that is near to some other, whatever it is: LN is no misspelt ln
TEXT = re.compile(r"\\(?:text|mathrm|operatorname)\{(.*)\}")
OF_SHAPES = (301, 305, 307)  # numbers of errors of which an operand's axes are the reason
SHAPE_VARIABLE = re.compile("[\U0001d49c-\U0001d4b5]")


def _mentions_only(document: Document, section: Section, at: Maths | None, error: NotationError) -> bool:
    """Whether inline maths has no value and needs none: it names an axis, $\\ax(i)$, or a differential, $\\partial X$."""
    return _fragment(section, at) and (error.number == 405 or error.span_text in document.axes)


def _fragment(section: Section, at: Maths | None) -> bool:
    """Whether maths is in running text and states nothing."""
    statements = section.programs[at].statements if at and not at.display else ()
    return bool(statements) and all(isinstance(each, nodes.Value) for each in statements)


def _holder(formulas: list[Maths], span: Span | None) -> Maths | None:
    """Which of the formulas holds a span."""
    index = bisect_right(formulas, span[0], key=lambda maths: maths.start) - 1 if span else -1
    while index >= 0 and span and formulas[index].written and span[0] >= formulas[index].end:
        index -= 1  # a fact may stand in a comment within a display
    return formulas[index] if index >= 0 and span and span[0] < formulas[index].end else None
