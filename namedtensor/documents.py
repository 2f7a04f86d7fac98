"""Formulas in a LaTeX document: found where they stand, gathered by section, and checked there.

    document --find--> maths and definitions of macros --sort--> formulas of the notation --check--> errors with their place

Each section is a scope: what its displays define, later ones see. The formulas of a section are copied, with the macros
that the document defines before them, into one program (a `Patchwork`), and what the checker says of the program is
carried back to the lines of the document.

Much maths of a document is not of this notation. What does not look like it is passed over; a formula without a named
axis may define a name, and is not blamed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.parser import parse

from .checked import Checked, Warned
from .names import walk


class Maths(NamedTuple):
    """A display or inline formula, its delimiters included."""

    start: int
    end: int
    display: bool


class LeftOut(NamedTuple):
    """Maths that was not checked, and why."""

    span: Span
    reason: str


@dataclass
class Section:
    """A scope: its title, and the maths that stand in it."""

    title: str
    start: int
    maths: list[Maths] = field(default_factory=list)
    formulas: list[Maths] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)  # names that nothing explains, and where they are first used


@dataclass(frozen=True)
class Report:
    """What checking a document found; every span is one of the document."""

    source: str
    sections: tuple[Section, ...]
    errors: tuple[NotationError, ...]
    warnings: tuple[Warned, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def formulas(self) -> int:
        return sum(len(section.formulas) for section in self.sections)

    @property
    def scopes(self) -> list[Section]:
        """The sections that hold formulas."""
        return [section for section in self.sections if section.formulas]


def check_document(
    source: str, everything: bool = False, shapes: Mapping[str, Any] | None = None, sizes=None
) -> Report:
    """Check the formulas of a LaTeX document. With `everything`, maths that seems to be of another notation too.

    `shapes` and `sizes` are known in each section.
    """
    found = find(source)
    found.given, found.sizes = dict(shapes or {}), sizes
    errors: list[NotationError] = list(found.errors)
    warnings: list[Warned] = []
    left_out: list[LeftOut] = []
    for section in found.sections:
        blamed = _gather(found, section, everything, errors, left_out)
        _check_section(found, section, blamed, errors, warnings)
    errors.sort(key=lambda error: error.span or (0, 0))
    return Report(source, tuple(found.sections), tuple(errors), tuple(warnings), tuple(left_out))


# --------------------------------------------------------------------------------------------------------- finding maths
DISPLAYS = "align equation gather multline eqnarray flalign alignat displaymath dmath".split()
OPAQUE = "verbatim Verbatim lstlisting minted comment filecontents tikzpicture".split()
CLOSERS = {r"\[": r"\]", r"\(": r"\)", "$$": "$$", "$": "$"}
TOKEN = re.compile(
    rf"""(?P<comment>%[^\n]*)
    |(?P<opaque>\\begin\{{(?P<kind>(?:{"|".join(OPAQUE)})\*?)\}}.*?\\end\{{(?P=kind)\}})
    |(?P<verb>\\(?:verb|lstinline)\*?(?P<mark>[^A-Za-z\s*{{]).*?(?P=mark))
    |(?P<begin>\\begin\{{(?P<environment>(?:{"|".join(DISPLAYS)}|math)\*?)\}})
    |(?P<finish>\\end\{{(?:{"|".join(DISPLAYS)}|math)\*?\}})
    |(?P<section>\\(?:chapter|section)(?![A-Za-z])\*?)
    |(?P<define>\\(?:(?:re)?newcommand|providecommand|DeclareMathOperator|[gex]?def|let|ndef)(?![A-Za-z]))
    |(?P<text>\\(?:text[a-z]*|mbox|hbox|intertext)\s*\{{)
    |(?P<bracket>\\[\[\]()])
    |(?P<escape>\\.)
    |(?P<dollars>\$\$?)
    |(?P<paragraph>\n[ \t]*\n)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class _Found:
    """What a document holds: its sections with their maths, definitions of macros, and maths that is never closed."""

    source: str
    sections: list[Section]
    definitions: list[Span] = field(default_factory=list)
    axes: set[str] = field(default_factory=set)  # macros that the document defines to be axes
    errors: list[NotationError] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)  # the shapes that are known beside the formulas
    sizes: Mapping[str, int] | None = None


def find(source: str) -> _Found:
    """The sections of a document, its maths and its macros."""
    found = _Found(source, [Section("", 0)])
    position = 0
    while token := TOKEN.search(source, position):
        position = _outside(found, token)
    found.axes = _axis_macros(source, found.definitions)
    return found


def _outside(found: _Found, token: re.Match) -> int:
    """Take in one token of prose; where to read on."""
    source, kind = found.source, token.lastgroup
    kind = "opaque" if token["opaque"] else "verb" if token["verb"] else "begin" if token["begin"] else kind
    if kind == "section":
        title, end = _title(source, token.end())
        found.sections.append(Section(title, token.start()))
        return end
    if kind == "define":
        end = definition_end(source, token) or token.end()
        if _sound(source[token.start() : end]):
            found.definitions.append((token.start(), end))
        return end
    opens = kind == "begin" or kind == "dollars" or token[0] in (r"\[", r"\(")
    return _maths(found, token) if opens else token.end()


def _maths(found: _Found, token: re.Match) -> int:
    opening = token[0]
    closer = rf"\end{{{token['environment']}}}" if token["begin"] else CLOSERS[opening]
    inline = opening in ("$", r"\(", r"\begin{math}")
    end = maths_end(found.source, token.end(), closer, inline)
    if end is None:
        span = token.span()
        error = NotationError(102, f"{opening} is never closed", found.source, span, hint=f"close it with {closer}")
        found.errors.append(error)
        following = re.compile(r"\n[ \t]*\n").search(found.source, token.end())
        return following.end() if following else len(found.source)
    found.sections[-1].maths.append(Maths(token.start(), end, not inline))
    return end


def maths_end(source: str, position: int, closer: str, inline: bool) -> int | None:
    """Where the maths that `closer` ends is over; None where it never is. A paragraph ends inline maths in any case."""
    while token := TOKEN.search(source, position):
        text = token[0]
        if text == closer:
            return token.end()
        if closer == "$" and text == "$$":
            return token.start() + 1
        if token["paragraph"] and inline or token["section"]:
            return None
        position = token.end()
        if token["text"]:
            position = group_end(source, token.end() - 1) or position
    return None


def group_end(source: str, position: int) -> int | None:
    """Where the group that opens with { at `position` is over; None where it never is."""
    depth = 0
    for brace in re.compile(r"\\.|[{}]|%[^\n]*", re.DOTALL).finditer(source, position):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0 and brace[0] == "}":
            return brace.end()
    return None


def _title(source: str, position: int) -> tuple[str, int]:
    brace = re.compile(r"\s*(?:\[[^\]]*\]\s*)?\{").match(source, position)
    end = group_end(source, brace.end() - 1) if brace else None
    return (" ".join(source[brace.end() : end - 1].split()), end) if brace and end else ("", position)


# ----------------------------------------------------------------------------------------------------------- definitions
NAME = re.compile(r"\*?\s*(?:\{\s*(\\[A-Za-z]+)\s*\}|(\\[A-Za-z]+))\s*")


def definition_end(source: str, token: re.Match) -> int | None:
    """Where the definition that `token` begins is over; None where it is none that can be used."""
    name = NAME.match(source, token.end())
    if not name:
        return None
    position = name.end()
    if token[0] == r"\let":
        other = re.compile(r"=?\s*(?:\\[A-Za-z]+|\\.|\S)").match(source, position)
        return other.end() if other else None
    middle = re.compile(r"[^{}\\]*").match(source, position)
    position = middle.end() if middle else position
    return group_end(source, position) if source[position : position + 1] == "{" else None


def _sound(definition: str) -> bool:
    """Whether the notation can read a definition; many of a document it need not."""
    try:
        parse(definition + "\n$x$", "latex")
    except NotationError:
        return False
    return True


def _axis_macros(source: str, definitions: list[Span]) -> set[str]:
    names = set()
    for start, end in definitions:
        text = source[start:end]
        name = NAME.match(text, re.match(r"\\[A-Za-z]+", text).end())  # type: ignore[union-attr]
        if name and (text.startswith(r"\ndef") or re.search(r"\\(?:name|mathsf)(?![A-Za-z])", text)):
            names.add(name[1] or name[2])
    return names


# ------------------------------------------------------------------------------------------- which maths is of the notation
OPERATORS = re.compile(r"\\(?:ndot|nfun|nsum|nprod|ncat|nbin|nmatrix)(?![A-Za-z])")
NAMED = re.compile(r"\\(?:name|mathsf)(?![A-Za-z])")
RELATION = re.compile(r"=|:|\\(?:in|colon)(?![A-Za-z])")
REALS = re.compile(r"\\(?:reals|mathbb\s*\{?\s*R)(?![A-Za-z])")
BEYOND = (106, 111)  # characters and macros that the notation does not have


def _gather(found: _Found, section: Section, everything: bool, errors: list, left_out: list) -> set[Maths]:
    """Sort the maths of a section: formulas to check, and among them those that may be blamed."""
    blamed, functions = set(), set()
    for maths in section.maths:
        marked = everything or _marked(found, maths)
        program = _read(found, section, maths)
        if isinstance(program, NotationError):
            reason = _passed_over(found, maths, program)
            if everything or reason is None:
                errors.append(program)
            else:
                left_out.append(LeftOut((maths.start, maths.end), reason))
            continue
        marked = marked or any(isinstance(node, nodes.Call) and node.operator in functions for node in walk(program))
        if _single(program) or not (marked or maths.display):
            left_out.append(LeftOut((maths.start, maths.end), "a symbol" if _single(program) else "no named axes"))
            continue
        section.formulas.append(maths)
        if marked:
            blamed.add(maths)
            functions |= {head.operator for head in map(_head, program.statements) if head is not None}
    return blamed


def _marked(found: _Found, maths: Maths) -> bool:
    """Whether maths shows a named axis."""
    text = found.source[maths.start : maths.end]
    macros = set(re.findall(r"\\[A-Za-z]+", text))
    return bool(OPERATORS.search(text) or NAMED.search(text) or macros & found.axes)


def _passed_over(found: _Found, maths: Maths, problem: NotationError) -> str | None:
    """Why maths that does not parse is not blamed for it; None where it is."""
    text = found.source[maths.start : maths.end]
    if problem.number in BEYOND:
        return problem.message
    related = bool(RELATION.search(text))
    whole = OPERATORS.search(text) and (related or maths.display) or REALS.search(text) and related
    return None if whole and _marked(found, maths) else "not a formula of the notation"


def _head(statement: Any) -> nodes.Call | None:
    """The head of a function that a statement defines or gives a signature."""
    if isinstance(statement, nodes.Signature):
        return statement.head
    side = statement.sides[0] if isinstance(statement, nodes.Equation) else None
    return side if isinstance(side, nodes.Call) and side.operator[0].isalpha() else None


def _single(program: nodes.Program) -> bool:
    """Whether a program is nothing but a name, a number or a size."""
    statement = program.statements[0]
    while isinstance(statement, nodes.Value):
        body = statement.body
        while isinstance(body, (nodes.Subscript, nodes.Superscript, nodes.Starred)):
            body = body.base
        return len(program.statements) == 1 and isinstance(body, (nodes.Name, nodes.Number, nodes.Size))
    return False


# ------------------------------------------------------------------------------------------------- a section as a program
class Patchwork:
    """Parts of a document copied into one text, and the way back from a place there to the document.

    >>> work = Patchwork("a $x$ b $y$", [(2, 5), (8, 11)])
    >>> work.text
    '$x$\\n$y$'
    >>> work.span((5, 6))
    (9, 10)
    """

    def __init__(self, source: str, parts: list[Span]):
        self.source, self.parts = source, sorted(parts)
        self.text = "\n".join(source[start:end] for start, end in self.parts)
        self.starts = []
        position = 0
        for start, end in self.parts:
            self.starts.append(position)
            position += end - start + 1

    def place(self, position: int) -> int:
        index = max(0, bisect_right(self.starts, position) - 1)
        start, end = self.parts[index]
        return min(start + position - self.starts[index], end)

    def span(self, span: Span | None) -> Span | None:
        if span is None:
            return None
        start = self.place(span[0])
        return start, max(start, self.place(max(span[1] - 1, span[0])) + (span[1] > span[0]))

    def error(self, error: NotationError) -> NotationError:
        """The same error, in the document."""
        if error.source != self.text:
            return error
        labels = tuple((self.span(span), text) for span, text in error.labels)
        return type(error)(
            error.number, error.message, self.source, self.span(error.span), error.notes, error.hint, labels
        )


def _read(found: _Found, section: Section, maths: Maths) -> nodes.Program | NotationError:
    """The tree of maths, or why there is none. Whether f(x) is a call, earlier formulas of the section may say."""
    work = _patchwork(found, [maths])
    try:
        return parse(work.text, "latex")
    except NotationError as problem:
        alone = work.error(problem)
    work = _patchwork(found, [*section.formulas, maths])
    try:
        tree = parse(work.text, "latex")
        return nodes.Program(tuple(each for each in tree.statements if work.place(each.span[0]) >= maths.start))
    except NotationError as problem:
        together = work.error(problem)
    return together if together.span and together.span[0] >= maths.start else alone


def _patchwork(found: _Found, formulas: list[Maths]) -> Patchwork:
    """Formulas with the definitions of macros that stand before the last of them."""
    last = max(maths.end for maths in formulas)
    definitions = [span for span in found.definitions if span[0] < last]
    return Patchwork(found.source, definitions + [(maths.start, maths.end) for maths in formulas])


def _check_section(found: _Found, section: Section, blamed: set[Maths], errors: list, warnings: list) -> None:
    from .formula import check_given

    formulas = list(section.formulas)
    while formulas:
        work = _patchwork(found, formulas)
        problem = _unsorted(work.text)
        if problem is None:
            checked = check_given(work.text, found.given, found.sizes, "latex", None)
            return _report(section, work, checked, formulas, blamed, errors, warnings)
        problem = work.error(problem)
        at = _holder(formulas, problem.span)
        if at is None or at in blamed:
            errors.append(problem)
        if at is None:
            return
        formulas.remove(at)


def _unsorted(text: str) -> NotationError | None:
    """Why the formulas of a section are no program together, if they are none: a name has two definitions."""
    from .scope import analyse

    try:
        analyse(text, parse(text, "latex"))
    except NotationError as problem:
        return problem
    return None


def _holder(formulas: list[Maths], span: Span | None) -> Maths | None:
    return next((maths for maths in formulas if span and maths.start <= span[0] < maths.end), None)


def _report(section: Section, work: Patchwork, checked: Checked, formulas, blamed, errors, warnings) -> None:
    section.types = checked.types
    for error in map(work.error, checked.errors):
        at = _holder(formulas, error.span)
        if error.number == 201 and "did you mean" not in (error.hint or ""):
            section.unknown.setdefault(error.span_text or error.message, error.span[0] if error.span else section.start)
        elif at is None or at in blamed:
            errors.append(error)
    for warning in checked.warnings:
        span = work.span(warning.span)
        if _holder(formulas, span) in blamed:
            warnings.append(warning._replace(span=span))
