"""Recognition of the formulas of a document that use this notation.

Other formulas are skipped. Errors are reported only for formulas that show named axes.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from grammar import nodes
from grammar.errors import ENDLESS_MACRO, NotationError, Span
from grammar.latex.macros import MAX_MACRO_PIECES, expand, scan
from grammar.parser import parse
from grammar.symbols import BINDERS, FUNCTIONS

from ..scope.heads import function_head, head_names
from ..scope.uses import ARITHMETIC, uses_of
from .assembled import assemble_program
from .document import Document, MathSpan, Section, Skipped
from .rows import comment_of, declarations_in, rows_of, unread_part
from .shapes_alone import shape_alone
from .shown_axes import NUMBER_OF_ARGUMENTS, REALS, shows_axes

NO_NAMED_AXES = "no named axes"  # the reason for leaving a formula out
OPERATORS = re.compile(rf"(?:{'|'.join(map(re.escape, NUMBER_OF_ARGUMENTS))})(?![A-Za-z])")
RELATION = re.compile(r"[=:≔≜]|\\(?:in|colon|coloneqq?|triangleq|eqdef)(?![A-Za-z])")
BEYOND = (106, 111)  # codes of unsupported characters and macros

BEYOND_IT = re.compile(r"\\right\s*(?:\||\\r?vert)\s*_|\\text\{\s*(?:for all|iff)\b|\\(?:mid|cup)(?![A-Za-z])|\\(?:only|onslide|uncover|visible|alert)\s*<")  # fmt: skip
CALLED = re.compile(
    r"\\(?:text|mathrm|operatorname|textrm|textsf|mathsf)\s*\{(\w+)\}(?=\s*(?:\\left|\\[bB]igg?l?)?\s*\()"
)


def gather(document: Document, section: Section, before: Collection[str] = ()) -> set[MathSpan]:
    """Select the formulas of a section to check, and return the formulas whose errors are reported.

    `before` contains the names of earlier sections.
    """
    marked = {maths for maths in section.maths if document.everything or shows_axes(document, maths)}
    blamed: set[MathSpan] = set()
    functions: set[str] = set()  # of named axes
    in_text: list[MathSpan] = []  # in running text, without a named axis
    for maths in section.maths if marked else ():
        if maths not in marked and not maths.display and not _mentions(document, maths, functions):
            in_text.append(maths)
            continue
        if document.parsed > READ:  # the one that exceeds the limit reports it
            document.skipped.append(Skipped(maths[:2], "too many formulas", maths in marked))
            continue
        program = _read(document, section, maths)
        if isinstance(program, NotationError) and maths.display and maths in marked:
            program = _read_rows(document, section, maths, program)
        if maths in marked and _is_shape(document, section, maths, program):
            continue
        if isinstance(program, NotationError):
            if program.code == EMPTY and not maths.written:  # words in math mode: $\\textsf{A}$
                document.skipped.append(Skipped(maths[:2], "a symbol"))
            else:
                _leave_out(document, maths, program)
            continue
        if not program.statements or _single(program):
            document.skipped.append(Skipped(maths[:2], "a symbol" if program.statements else "a comment"))
            continue
        named = maths in marked or not functions.isdisjoint(uses_of(program).calls)  # fmt: skip
        if not (named or maths.display):
            in_text.append(maths)
            continue
        section.formulas.append(maths)
        section.programs[maths] = program
        if named:
            blamed.add(maths)
            functions |= {head.operator for head in map(function_head, program.statements) if head is not None}
    if not marked:
        document.skipped += [Skipped(maths[:2], NO_NAMED_AXES) for maths in section.maths]
    _keep_needed(document, section, blamed, set(before))
    for maths in in_text:
        program = _said_of_known(document, section, maths, blamed)
        if program is None:
            document.skipped.append(Skipped(maths[:2], NO_NAMED_AXES))
        else:
            section.formulas.append(maths)
            section.programs[maths] = program
            blamed.add(maths)
    section.formulas.sort()
    return blamed


def _is_shape(document: Document, section: Section, maths: MathSpan, program: Any) -> bool:
    """Return whether a formula is a single shape or type. If it is, add it to the section or report its error."""
    if not isinstance(program, NotationError) and not _single(program):
        return False
    try:
        shape = shape_alone(document, maths)
    except NotationError as problem:
        document.errors.append(problem)
        return True
    if shape is not None:
        section.shapes.append(maths)
        section.programs[maths] = shape
    return shape is not None


def _said_of_known(
    document: Document, section: Section, maths: MathSpan, blamed: set[MathSpan]
) -> nodes.Program | None:
    """Return the program of an inline formula if it uses only names of the section, and None otherwise.

    Examples are A + x with tensors that are already defined, and ε > 0 with a name that the section uses.
    """
    if not blamed or document.parsed > READ or not OPERATES.search(document.source, *maths[:2]):
        return None
    program = _read(document, section, maths)
    if isinstance(program, NotationError) or not program.statements or _single(program):
        return None
    names = uses_of(program).words - BUILT_IN
    if all(isinstance(statement, nodes.Fact) for statement in program.statements):
        known = {name for span in blamed for name in find_names(section, span)}
    elif all(
        isinstance(statement, nodes.Value) and not isinstance(statement.body, nodes.Differential)
        for statement in program.statements
    ):
        known = {name for span in blamed if span.start < maths.start for name in heads_of(section.programs[span])}
    else:
        return None
    return program if names and names <= known else None


OPERATES = re.compile(r"[-+*/(<>]|\\(?:odot|cdot|times|frac|leq?|geq?|neq?)(?![A-Za-z])")


def _leave_out(document: Document, maths: MathSpan, problem: NotationError) -> None:
    """Record a formula that cannot be parsed, either as an error or as skipped with a reason."""
    reason = _explain_skipping(document, maths, problem)
    if document.everything or reason is None or maths.written:
        document.errors.append(problem)
    else:
        named = shows_axes(document, maths) and _says_something(document, maths)
        beyond = BEYOND_IT.search(document.source, *maths[:2])
        if beyond and problem.code not in BEYOND:  # Point to the unsupported symbol.
            problem = NotationError(111, reason, document.source, beyond.span())
        elif problem.code not in BEYOND:  # The notes and the hint do not apply to this problem.
            problem = NotationError(problem.code, reason, problem.source, problem.span)
        document.skipped.append(Skipped(maths[:2], reason, named, problem))


def _read_rows(
    document: Document, section: Section, maths: MathSpan, problem: NotationError
) -> nodes.Program | NotationError:
    """Parse the valid rows of a display, report each invalid row, and return the tree.

    If no row is valid, return the error of the whole display.
    """
    first = problem
    rows, gone = rows_of(document.source, maths), []
    problems: list[tuple[MathSpan, NotationError]] = []
    facts: list[MathSpan] = []
    program: nodes.Program | NotationError = problem
    while isinstance(program, NotationError) and document.parsed <= READ and len(gone) < UNREAD_ROWS:
        part = unread_part(document.source, rows, gone, program)
        if part is None:
            break
        comment = comment_of(document.source, next(row for row in rows if row.start <= part[0] <= row.end), part[0])
        if comment == part:
            facts += declarations_in(document.source, part)
        else:
            problems.append((MathSpan(*part, True), program))
        gone.append(part)
        document.unread_rows[maths.start] = _outermost(gone)
        program = _read(document, section, maths)
    if isinstance(program, NotationError) or not program.statements:
        document.unread_rows.pop(maths.start, None)
        if _explain_skipping(document, maths, first) is None:  # reported for the display: here the other rows
            document.errors += [why for row, why in problems[1:] if _explain_skipping(document, row, why) is None]
        return first
    for row, why in problems:
        _leave_out(document, row, why)
    for fact in facts:
        declared = _read(document, section, fact)
        if not isinstance(declared, NotationError):
            section.formulas.append(fact)
            section.programs[fact] = declared
    return program


UNREAD_ROWS = 20  # of one display


def _outermost(spans: list[Span]) -> frozenset[Span]:
    return frozenset(
        span
        for span in spans
        if not any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in spans)
    )


def _mentions(document: Document, maths: MathSpan, names: set[str]) -> bool:
    return any(document.source.find(name, *maths[:2]) >= 0 for name in names)


def _says_something(document: Document, maths: MathSpan) -> bool:
    """Return whether a formula with named axes is complete, rather than a symbol or a fragment in running text."""
    text = document.source[maths.start : maths.end]
    operates, relates = bool(OPERATORS.search(text)), bool(RELATION.search(text))
    return operates and relates or maths.display and (operates or relates)


def _keep_needed(document: Document, section: Section, blamed: set[MathSpan], known: set[str]) -> None:
    """Drop formulas without named axes, except those that are related to formulas with named axes.

    A formula stays if a formula with named axes uses it, or if it uses only names defined by such formulas.
    """
    used: set[str] = set()
    needed, new = set(), set(blamed)
    while new:
        needed |= new
        used |= {name for maths in new for name in find_names(section, maths)}
        new = {maths for maths in section.formulas if maths not in needed and used & heads_of(section.programs[maths])}
    known |= {name for maths in needed for name in heads_of(section.programs[maths])}
    for maths in section.formulas if needed else ():
        heads = heads_of(section.programs[maths])
        spoken = find_names(section, maths) - heads - BUILT_IN
        if maths not in needed and spoken and spoken <= known:
            needed.add(maths)
            known |= heads
    document.skipped += [Skipped(maths[:2], NO_NAMED_AXES) for maths in section.formulas if maths not in needed]
    section.formulas = sorted(maths for maths in section.formulas if maths in needed)


def find_names(section: Section, maths: MathSpan) -> frozenset[str]:
    """Return the names in a formula of a section."""
    if maths not in section.mentioned:
        section.mentioned[maths] = uses_of(section.programs[maths]).words
    return section.mentioned[maths]


def heads_of(program: nodes.Program) -> set[str]:
    """Return the names on the left-hand sides of a program's statements."""
    return {name for statement in program.statements for name in head_names(statement)}


def _explain_skipping(document: Document, maths: MathSpan, problem: NotationError) -> str | None:
    """Return the reason why a formula that cannot be parsed is skipped, or None if its error is reported instead."""
    text = document.source[maths.start : maths.end]
    if problem.code in BEYOND:
        return problem.message
    if beyond := BEYOND_IT.search(text):
        return f"{beyond[0]} is not read here"
    if problem.code == 101 and problem.span_text in (",", ";") and CALLED.search(text):
        return f"{problem.message}: a function is called that no formula here defines"
    related = bool(RELATION.search(text))
    whole = OPERATORS.search(text) and (related or maths.display) or REALS.search(text) and related
    return None if whole and shows_axes(document, maths) else "not a formula of the notation"


def _single(program: nodes.Program) -> bool:
    """Return whether a program consists of a single name, number or size."""
    statement = program.statements[0]
    while isinstance(statement, nodes.Value):
        body = statement.body
        while isinstance(body, (nodes.Subscript, nodes.Superscript, nodes.Starred)):
            body = body.base
        return len(program.statements) == 1 and isinstance(body, (nodes.Name, nodes.Number, nodes.Size))
    return False


def _read(document: Document, section: Section, maths: MathSpan) -> nodes.Program | NotationError:
    """Parse a formula; return its tree or its error. In f(x), f is a function if an earlier formula defines it."""
    work = assemble_program(document, [maths])
    document.parsed += len(work.text) + (_tokens_of(work.text) if len(work.parts) > 1 else 0) + EACH
    if document.parsed > READ:
        message = f"a document has more than {READ} characters of formulas: the rest was not read"
        return NotationError(404, message, document.source, maths[:2], hint="check its parts one by one")
    try:
        return parse(work.text, "latex")
    except NotationError as problem:
        alone = work.error(problem)
    _forget_endless(document, alone)
    functions, tensors = _list_defined_names(section)
    try:
        return parse(work.text, "latex", tensors - functions, functions=functions)
    except NotationError as problem:
        return work.error(problem)


BUILT_IN = FUNCTIONS | ARITHMETIC | BINDERS
EMPTY = 108  # the code of a formula without an expression
READ = 300_000
EACH = 10  # characters added to the length of each formula


@lru_cache(maxsize=1024)
def _tokens_of(text: str) -> int:
    """Return the number of tokens in a text after macro expansion, which can be many for a short text."""
    try:
        return len(expand(text, scan(text)))
    except NotationError as problem:
        return MAX_MACRO_PIECES // (10 if problem.reason == ENDLESS_MACRO else 100)


def _list_defined_names(section: Section) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of functions and the names of tensors that the section's formulas define so far."""
    for maths in section.formulas[section.known :]:
        for statement in section.programs[maths].statements:
            head = function_head(statement)
            if head is not None:
                section.functions |= {head.operator}
            else:
                section.tensors |= head_names(statement)
    section.known = len(section.formulas)
    return section.functions, section.tensors


def _forget_endless(document: Document, problem: NotationError) -> None:
    """Remove a macro whose expansion does not end, so that its error is reported only once."""
    if problem.code == 109 and problem.span_text in document.definitions and problem.reason == ENDLESS_MACRO:
        del document.definitions[problem.span_text]
