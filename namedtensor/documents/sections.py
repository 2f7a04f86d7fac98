"""Check the formulas of a LaTeX document, section by section.

    document --find--> math spans, macro definitions --gather--> formulas of the notation --check--> errors

Each section is a scope, and it inherits names from earlier sections. The formulas of a section are copied into one
program (an `AssembledProgram`), after the macro definitions of the document. The findings of the checker are mapped
back to the lines of the document.

Many formulas of a document do not use this notation, and they are skipped. A formula without a named axis may define a
name, but its errors are not reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grammar import nodes
from grammar.errors import NotationError, OperandNote, Span

from ..core.settings import raise_recursion_limit
from ..core.suggestions import Suggestion
from ..scope.heads import base_of
from ..scope.names import walk
from ..terms.inference import CheckWarning
from .built_ins import is_built_in
from .conflicts import ConflictingPart, Redefinition, Together, conflict_of, holder
from .document import Document, MathSpan, Note, Section, Skipped
from .inherited import Inheritance, Needs, bound_by, later_signatures
from .maths import find
from .notation import NO_NAMED_AXES, gather, heads_of
from .rows import rows_of
from .shown_axes import find_axis_macro, unseen
from .unused import find_unused_names
from .verdicts import FALSE, UNSPECIFIED, Draws


@raise_recursion_limit
def check_document(
    source: str,
    everything: bool = False,
    shapes: Mapping[str, Any] | None = None,
    sizes=None,
    common: int = 0,
    draws: Draws | None = None,
) -> Document:
    """Check the formulas of a LaTeX document.

    With `everything`, also check formulas that seem to use another notation. `shapes`, `sizes`, and the assumptions in
    comments before `common` apply to each section. With `draws`, also test each assertion and derivation on random
    tensors.
    """
    document = find(source, common)
    document.everything, document.given, document.sizes, document.draws = everything, shapes or {}, sizes, draws
    reported = _read_sections(document)
    before = Inheritance(document, later_signatures(document) if len(document.sections) > 1 else {})
    for section in document.sections:
        blamed = reported.intersection(section.formulas)
        facts = before.take(section)
        section.programs.update(facts)
        section.inherited = frozenset(facts)
        section.formulas = sorted([*facts, *section.formulas])
        for start in range(0, len(section.formulas), TOGETHER):
            _check_section(document, section, section.formulas[start : start + TOGETHER], blamed)
            if start:
                text = f"the section is long: its formulas from here on are checked apart from the {start} before"
                document.notes.append(Note(section.formulas[start].start, text))
    document.warnings += find_unused_names(document)
    document.skipped += [Skipped(span, reason, True) for span, reason in unseen(document)]
    if not any(not maths.written for section in document.sections for maths in section.formulas):
        _report_nothing_read(document)
    if draws is not None:
        _count_untested(document)
    errors = {(error.span, error.code, error.message): error for error in document.errors}
    document.errors = sorted(errors.values(), key=lambda error: error.span or (0, 0))
    document.notes.sort()
    return document


def _report_nothing_read(document: Document) -> None:
    """Add an error if a document uses named axes but no formula was checked."""
    unread = document.unread
    span = unread[0].span if unread else find_axis_macro(document)
    if span is None or document.errors:
        return
    which = "formula" if len(unread) == 1 else f"{len(unread)} formulas"
    why = f"the {which} with named axes could not be read" if unread else "named axes are here, and no formula"
    notes = (f"the first was left out for this: {unread[0].reason}",) if unread else ()
    hint = "check --all says it of each" if unread else "write math in $…$, \\[…\\] or an environment such as align"
    message = f"nothing was checked: {why}"
    document.errors.append(NotationError(108, message, document.source, span, notes=notes, hint=hint))


def _count_untested(document: Document) -> None:
    """Add a note with the number of equations that are not tested because they have no named axes."""
    left = [skipped.span for skipped in document.skipped if skipped.reason == NO_NAMED_AXES]
    rows = ((start, row) for start, end in sorted(left) for row in document.source[start:end].split("\\\\"))
    untested = [start for start, row in rows if EQUATION.search(row)]
    if untested:
        which, them = ("equation is", "it") if len(untested) == 1 else ("equations are", "them")
        text = f"{len(untested)} {which} not tested: no named axes (--all tests {them})"
        document.notes.append(Note(untested[0], text))


EQUATION = re.compile(r"(?<![\\:<>!])=")


def _read_sections(document: Document) -> set[MathSpan]:
    """Parse the formulas of all sections, and return the formulas whose errors are reported."""
    before = Inheritance(document)
    reported: set[MathSpan] = set()
    for section in document.sections:
        section.functions = before.functions
        reported |= gather(document, section, before.known)
        before.add(section)
    return reported


TOGETHER = 300  # formulas of a section that are checked as one program


def _check_section(document: Document, section: Section, formulas: list[MathSpan], blamed: set[MathSpan]) -> None:  # fmt: skip
    """Check the formulas of a section as one program, or as several if a later formula redefines a name.

    The first definition applies before the redefinition, and the second applies after it. All other statements apply
    everywhere.
    """
    together = _readable(document, formulas, blamed)
    again: list[Redefinition] = []
    for _ in range(CONFLICTS if document.conflicts < 4 * CONFLICTS else 1):
        removed = frozenset(redefinition.first for redefinition in again)
        conflict = conflict_of(together, removed) if together.formulas else None
        if conflict is None:
            break
        document.conflicts += 1
        problem, first, second = conflict
        at, before = holder(together.all, problem.span), together.holder(first)
        later = at is not None and at in blamed and before is not None and before.end <= at.start
        if at and before and later and first and second and problem.span:
            counts = _counts_from(document, at, _find_taken_formula(section, together, before, at, second))
            again.append(Redefinition(max(before.end, counts), first, second))
            document.notes.append(Note(problem.span[0], f"{problem.span_text} is defined again: {SUPERSEDES}"))
            continue
        if at is None or at in blamed and not _is_explained(document, at, problem, together.work.span(first)):
            document.errors.append(problem)
        elif at in blamed:
            document.skipped.append(Skipped(at[:2], problem.message, True, problem))
        if at is None:
            return
        together.leave_out(at)
    else:
        document.notes.append(Note(section.start, "unchecked: too many of the definitions here are in conflict"))
        return
    formulas[:] = together.formulas
    needs = Needs(formulas, section)
    starts = sorted({0, *(redefinition.position for redefinition in again)})
    for start, following in zip(starts, [*starts[1:], len(document.source)]):
        spans = [maths for maths in formulas if start <= maths.start < following]
        removed = frozenset(
            redefinition.first if redefinition.position <= start else redefinition.second for redefinition in again
        )
        if spans:
            present = frozenset(needs.of(spans, following))
            _check_program(document, section, together, together.part(present, removed), set(spans) & blamed)
    held = together.holding(frozenset(redefinition.first for redefinition in again))
    section.holds += held
    section.own += [statement for statement in held if together.holder(statement.span) not in section.inherited]


def _readable(document: Document, formulas: list[MathSpan], blamed: set[MathSpan]) -> Together:
    """Return the formulas that can be parsed as one program. Report or skip each formula that prevents this."""
    while True:
        together = Together(document, formulas)
        try:
            _ = together.statements
            return together
        except NotationError as problem:
            error = together.work.error(problem)
            at = holder(formulas, error.span)
            if at is None or at in blamed and not _has_unread_rows(document, at):
                document.errors.append(error)
            elif at in blamed:
                document.skipped.append(Skipped(at[:2], error.message, True, error))
            formulas = [maths for maths in formulas if maths is not at] if at else []


def _find_taken_formula(
    section: Section, together: Together, before: MathSpan, at: MathSpan, second: Span
) -> MathSpan | None:
    """Return the last formula between two declarations in which the declared name is a parameter, or None.

    An example is f(X; W) = …, where W ∈ ….
    """
    statement = next(line for line in together.statements if line.span == second)
    names = {base_of(name) for name in statement.names} if isinstance(statement, nodes.Declaration) else set[str]()
    between = (maths for maths in together.formulas if before.end <= maths.start < at.start)
    heads = (span for span in between if any(names & set(bound_by(one)) for one in section.programs[span].statements))
    return max(heads, default=None)


def _counts_from(document: Document, maths: MathSpan, head: MathSpan | None) -> int:
    """Return the position from which a redefinition applies.

    A display applies from its start, and a formula in running text applies from the start of its paragraph. If `head`
    is given, the redefinition applies from the start of `head`.
    """
    if head is not None or maths.display:
        return (head or maths).start
    starts = [match.end() for match in PARAGRAPH.finditer(document.source, max(0, maths.start - LONGEST), maths.start)]
    return starts[-1] if starts else maths.start


PARAGRAPH = re.compile(r"\n[ \t]*\n|\\item(?![A-Za-z])|\\(?:begin|end)\{[A-Za-z]+\*?\}|\\(?:sub)*section\*?\{")
LONGEST = 5000  # characters of a paragraph


def _is_explained(document: Document, at: MathSpan, problem: NotationError, first: Span | None) -> bool:
    """Return whether a conflict is explained, so that it is not reported.

    This is the case if the formula has rows that were not parsed, or if a row compares two definitions.
    """
    if _has_unread_rows(document, at):
        return True
    if first is None or problem.span is None:
        return False
    start, end = first[0], problem.span[1]
    rows = (row for row in rows_of(document.source, at) if len(row.cells) > 2)
    return any(row.start <= start and end <= row.end for row in rows)


def _has_unread_rows(document: Document, at: MathSpan | None) -> bool:
    return at is not None and at.start in document.unread_rows


CONFLICTS = 50
SUPERSEDES = "from here on, this definition replaces the earlier one"


def _check_program(document: Document, section: Section, together: Together, program: ConflictingPart, blamed: set[MathSpan]) -> None:  # fmt: skip
    """Check formulas as one program, and report errors of the `blamed` formulas."""
    result = program.checked(document.given, document.sizes)
    section.checked.append((together.work, result))
    checked = result.result
    fresh = {name for maths in blamed for name in heads_of(section.programs[maths])}
    section.types.update({name: text for name, text in checked.types.items() if name not in section.types or BASE.split(name)[0] in fresh})  # fmt: skip
    for problem in checked.errors:
        at, error = together.holder(problem.span), together.work.error(problem)
        if at is not None and at not in blamed or _mentions_only(document, section, at, error):
            continue
        if at is not None and _has_increment(program.tree, problem):
            reason = f"{error.span_text} is a differential with its increment"
            document.skipped.append(Skipped(at[:2], reason, True, error))
            continue
        if error.code in FACTS and _is_a_condition(section, at):
            continue
        if _has_unread_rows(document, at) and 200 <= error.code < 300:
            continue  # A skipped row may define the name.
        if _prose_may_say(section, at, error):
            section.unknown.setdefault(error.span_text or error.message, error.span[0] if error.span else section.start)
        else:
            document.errors.append(error)
    for warning in checked.warnings:
        reported = together.holder(warning.span) in blamed and warning.code != UNUSED
        if reported and not (warning.code == SHADOWS and is_built_in(program.tree, warning.span)):
            document.warnings.append(warning._replace(span=together.work.span(warning.span)))
    if document.draws is not None:
        _try_claims(document, section, together, program, blamed)


def _try_claims(
    document: Document,
    section: Section,
    together: Together,
    program: ConflictingPart,
    blamed: set[MathSpan],
) -> None:
    """Test the assertions in `blamed` formulas, and in displays without named axes."""
    from .trial import try_assertions

    assert document.draws is not None
    work = together.work
    wrong = [error.span for error in document.errors if error.span is not None]

    def is_wanted(span: Span) -> bool:
        """Return whether an assertion is in a formula to be tested and has no reported error."""
        start, end = work.span(span) or span
        at = together.holder(span)
        displayed = at is not None and at.display and at not in section.inherited
        return (at in blamed or displayed) and not any(start <= at[0] < end for at in wrong)

    result = try_assertions(work.text, program.tree, document.given, document.sizes, document.draws, is_wanted, together.signature_of)  # fmt: skip
    for tried in result:
        if tried.status == FALSE:
            document.errors.append(work.error(tried.error(work.text)))
        span = work.span(tried.span)
        assert span is not None
        if tried.problem is not None and together.holder(tried.span) in blamed:
            at = work.span(tried.step) if tried.step else span
            document.warnings.append(
                CheckWarning(tried.problem.code, tried.problem.message, at or span, tried.problem.hint or "")
            )
            continue
        document.tried.append(tried._replace(span=span))


BASE = re.compile(r"[_^({]")


def _is_a_condition(section: Section, at: MathSpan | None) -> bool:
    """Return whether a formula consists only of conditions, such as n ≥ 1 or ε > 0."""
    return at is not None and all(isinstance(statement, nodes.Fact) for statement in section.programs[at].statements)


def _prose_may_say(section: Section, at: MathSpan | None, error: NotationError) -> bool:
    """Return whether an error concerns an undefined name or size that the text of the document may explain."""
    if error.code in OF_SHAPES and _has_shape_variable(error):
        return True  # 𝒮 stands for any axes, and running text says for which
    if error.code == 301 and _constrains_a_parameter(section, at, error):
        return True
    if error.code not in FACTS:
        return False
    if SANS_SERIF.match(error.span_text or ""):
        return True  # an axis that running text mentions: $\ax[I] \in \mathcal{S}$
    name = TEXT.sub(r"\1", error.span_text or "").lstrip("\\")
    base = BASE.split(name)[0].rstrip(".")
    if base == UNSPECIFIED or len(base) <= SHORT or any(letter.isdigit() for letter in base):
        return True  # LN is not a misspelling of ln, nor Conv2d of Conv
    return not isinstance(error.hint, Suggestion) or _fragment(section, at)


def _constrains_a_parameter(section: Section, at: MathSpan | None, error: NotationError) -> bool:
    """Return whether an equation with a range is only about an argument of an earlier function.

    An example is ∑_{vocab} X_{seq(i)} = 1 for i = 1, …, n.
    """
    operands = {note.operand for note in error.notes if isinstance(note, OperandNote)}
    if at is None or not any(getattr(statement, "range", None) for statement in section.programs[at].statements):
        return False
    heads = (
        statement
        for maths in section.formulas
        if maths.start <= at.start
        for statement in section.programs[maths].statements
    )
    return any(operands & set(bound_by(statement)) for statement in heads)


SANS_SERIF = re.compile(r"(?:\\ensuremath\s*\{\s*)?\\(?:name|mathsf)(?![A-Za-z])")
FACTS = (201, 204, 309)
SHADOWS = 209  # the code of a definition that replaces a built-in function
UNUSED = 211  # the code of a definition after the value of a program, which documents do not have
SHORT = 2  # names up to this length resemble other names by chance
TEXT = re.compile(r"\\(?:text|mathrm|operatorname)\{(.*)\}")
OF_SHAPES = (301, 305, 307)  # codes of errors that an operand's axes cause
SHAPE_VARIABLE = re.compile("[\U0001d49c-\U0001d4b5]")


def _has_shape_variable(error: NotationError) -> bool:
    """Return whether an error concerns a shape variable, such as 𝒮, which represents any axes."""
    operands = [note for note in error.notes if isinstance(note, OperandNote)]
    return any(map(SHAPE_VARIABLE.search, [error.axis or "", *(axis for note in operands for axis in note.axes)]))


def _mentions_only(document: Document, section: Section, at: MathSpan | None, error: NotationError) -> bool:
    r"""Return whether an inline formula only mentions an axis ($\ax(i)$) or a differential ($\partial X$)."""
    return _fragment(section, at) and (error.code == 405 or error.span_text in document.axes)


def _fragment(section: Section, at: MathSpan | None) -> bool:
    """Return whether an inline formula consists only of expressions and declarations of differentials."""
    statements = section.programs[at].statements if at and not at.display else ()
    return bool(statements) and all(
        isinstance(statement, nodes.Value)
        or isinstance(statement, nodes.Declaration)
        and all(isinstance(name, nodes.Differential) for name in statement.names)
        for statement in statements
    )


def _has_increment(tree: nodes.Program, problem: NotationError) -> bool:
    """Return whether an error concerns a call in ∂f(X; H), which is the differential of f(X) with increment H."""
    called = (node.body for node in walk(tree) if isinstance(node, nodes.Differential))
    return problem.code == 304 and any(
        isinstance(body, nodes.Call) and len(body.parameters) == 1 and body.span == problem.span for body in called
    )
