"""Formulas in a LaTeX document: found where they stand, gathered by section, and checked there.

    document --find--> maths and definitions of macros --sort--> formulas of the notation --check--> errors with their place

Each section is a scope: what its displays define, later ones see. The formulas of a section are copied, with the macros
that the document defines before them, into one program (a `AssembledProgram`), and what the checker says of the program is
carried back to the lines of the document.

Much maths of a document is not of this notation. What does not look like it is passed over; a formula without a named
axis may define a name, and is not blamed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.latex.macros import EXPANSION, expand, scan
from grammar.parser import parse

from ..scope.names import walk
from ..terms.inference import CheckWarning


class Maths(NamedTuple):
    """A display or inline formula, its delimiters included."""

    start: int
    end: int
    display: bool


class Skipped(NamedTuple):
    """Maths that was not checked, and why; `named` where it is a formula that shows a named axis."""

    span: Span
    reason: str
    named: bool = False


class Note(NamedTuple):
    """What a reader of the report should know of a place, and no error."""

    position: int
    text: str


@dataclass
class Section:
    """A scope: its title, and the maths that stand in it."""

    title: str
    start: int
    maths: list[Maths] = field(default_factory=list)
    formulas: list[Maths] = field(default_factory=list)
    programs: dict[Maths, nodes.Program] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()  # names that the first `known` formulas define
    tensors: frozenset[str] = frozenset()
    known: int = 0
    unknown: dict[str, int] = field(default_factory=dict)  # names that nothing explains, and where they are first used


@dataclass(frozen=True)
class Report:
    """What checking a document found; every span is one of the document."""

    source: str
    sections: tuple[Section, ...]
    errors: tuple[NotationError, ...]
    warnings: tuple[CheckWarning, ...]
    left_out: tuple[Skipped, ...]
    notes: tuple[Note, ...] = ()

    @property
    def unread(self) -> tuple[Skipped, ...]:
        """Formulas with named axes that were not checked."""
        return tuple(left for left in self.left_out if left.named)

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
    findings = _Findings(list(found.errors))
    for section in found.sections:
        blamed = _gather(found, section, everything, findings)
        for start in range(0, len(section.formulas), TOGETHER):
            _check_section(found, section, section.formulas[start : start + TOGETHER], blamed, findings)
            if start:
                text = f"the section is long: its formulas from here on are checked apart from the {start} before"
                findings.notes.append(Note(section.formulas[start].start, text))
    if not any(section.formulas for section in found.sections):
        findings.nothing_read(source)
    findings.errors.sort(key=lambda error: error.span or (0, 0))
    return Report(
        source,
        tuple(found.sections),
        tuple(findings.errors),
        tuple(findings.warnings),
        tuple(findings.left_out),
        tuple(sorted(findings.notes)),
    )


TOGETHER = 300  # formulas of a section that are checked as one program


@dataclass
class _Findings:
    """What was found so far."""

    errors: list[NotationError] = field(default_factory=list)
    warnings: list[CheckWarning] = field(default_factory=list)
    left_out: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    read: int = 0  # characters of maths that the parser was given
    conflicts: int = 0  # definitions that cannot stand together

    def nothing_read(self, source: str) -> None:
        """Where formulas with named axes were all left out, that is an error: who checks a document wants to know."""
        unread = [left for left in self.left_out if left.named]
        if not unread or self.errors:
            return
        formulas = "formula" if len(unread) == 1 else f"{len(unread)} formulas"
        self.errors.append(
            NotationError(
                108,
                f"nothing was checked: the {formulas} with named axes could not be read",
                source,
                unread[0].span,
                notes=(f"the first was left out for this: {unread[0].reason}",),
                hint="check --all says it of each",
            )  # fmt: skip
        )


# --------------------------------------------------------------------------------------------------------- finding maths
DISPLAYS = "align equation gather multline eqnarray flalign alignat displaymath dmath".split()
OPAQUE = "verbatim Verbatim lstlisting minted comment filecontents tikzpicture".split()
CLOSERS = {r"\[": r"\]", r"\(": r"\)", "$$": "$$", "$": "$"}
TOKEN = re.compile(
    rf"""(?P<comment>%[^\n]*)
    |(?P<opaque>\\begin\{{(?P<kind>(?:{"|".join(OPAQUE)})\*?)\}})
    |(?P<verb>\\(?:verb|lstinline)\*?(?P<mark>[^A-Za-z\s*{{])[^\n]*?(?P=mark))
    |(?P<begin>\\begin\{{(?P<environment>(?:{"|".join(DISPLAYS)}|math)\*?)\}})
    |(?P<finish>\\end\{{(?:{"|".join(DISPLAYS)}|math)\*?\}})
    |(?P<section>\\(?:chapter|section)(?![A-Za-z])\*?)
    |(?P<define>\\(?:(?:re)?newcommandx?|providecommand|DeclareMathOperator|[gex]?def|let|ndef)(?![A-Za-z]))
    |(?P<text>\\(?:text[a-z]*|mbox|hbox|intertext)\s*\{{)
    |(?P<bracket>\\[\[\]()])
    |(?P<escape>\\.)
    |(?P<dollars>\$\$?)
    |(?P<paragraph>\n[ \t]*\n)""",
    re.VERBOSE | re.DOTALL,
)


class Definition(NamedTuple):
    """A definition of a macro: where it stands, and the macros that its body mentions."""

    start: int
    end: int
    name: str
    mentions: frozenset[str]


@dataclass
class _Found:
    """What a document holds: its sections with their maths, definitions of macros, and maths that is never closed."""

    source: str
    sections: list[Section]
    definitions: dict[str, list[Definition]] = field(default_factory=dict)  # by name, in their order
    axes: set[str] = field(default_factory=set)  # macros that the document defines to be axes
    others: set[str] = field(default_factory=set)  # macros of the notation that mean another thing in this document
    named: bool = True  # whether sans-serif letters may be axes: else they are only a font of this document
    errors: list[NotationError] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)  # the shapes that are known beside the formulas
    sizes: Mapping[str, int] | None = None
    unclosed: dict[str, int] = field(default_factory=dict)  # what is not closed, up to where it was looked for


def find(source: str) -> _Found:
    """The sections of a document, its maths and its macros."""
    found = _Found(source, [Section("", 0)])
    position = 0
    while token := TOKEN.search(source, position):
        position = _outside(found, token)
    found.axes = _axis_macros(source, found.definitions)
    found.named = _shows_the_notation(found)
    return found


def _outside(found: _Found, token: re.Match) -> int:
    """Take in one token of prose; where to read on."""
    kind = token.lastgroup
    if kind == "section":
        title, end = _title(found.source, token.end())
        found.sections.append(Section(title, token.start()))
        return end
    if kind == "define":
        return _define(found, token)
    if kind == "opaque":
        return opaque_end(found.source, token)
    opens = kind in ("begin", "dollars") or token[0] in (r"\[", r"\(")
    return _maths(found, token) if opens else token.end()


def opaque_end(source: str, token: re.Match) -> int:
    """Where what TeX prints as it stands is over; where it never is, only its \\begin is passed over."""
    end = next_end(source, rf"\end{{{token['kind']}}}", token.end())
    return token.end() if end < 0 else end


def next_end(source: str, text: str, position: int) -> int:
    """Where the next `text` ends; -1 where there is none. That there is none is looked for once."""
    last = _last(source, text)
    return -1 if last < position else source.index(text, position) + len(text)


@lru_cache(maxsize=64)
def _last(source: str, text: str) -> int:
    return source.rfind(text)


def _define(found: _Found, token: re.Match) -> int:
    source = found.source
    end = definition_end(source, token)
    name = NAME.match(source, token.end())
    if end is None or name is None:
        return token.end()
    text, macro = source[token.start() : end], name[1] or name[2]
    parameters = PARAMETERS.match(source, name.end(), end)
    number = int(parameters[1] or parameters[0].count("#")) if parameters else 0
    if number != NUMBER_OF_ARGUMENTS.get(macro, number):
        found.others.add(macro)
    known = found.definitions.setdefault(macro, [])
    if len(known) < REDEFINED and len(found.definitions) < DEFINED and _sound(text):
        known.append(Definition(token.start(), end, macro, frozenset(MACRO.findall(source, name.end(), end))))
    return end


PARAMETERS = re.compile(r"\s*(?:\[([0-9])\]|(?:#[1-9])*)")


MACRO = re.compile(r"\\[A-Za-z]+")
DEFINED, REDEFINED = 5000, 100  # how many macros of a document are known, and definitions of each


def _maths(found: _Found, token: re.Match) -> int:
    opening = token[0]
    closer = rf"\end{{{token['environment']}}}" if token["begin"] else CLOSERS[opening]
    inline = opening in ("$", r"\(", r"\begin{math}")
    end = None
    if token.start() >= found.unclosed.get(closer, 0):
        end, reached = maths_end(found.source, token.end(), closer, inline)
        if end is None:
            found.unclosed[closer] = reached
    if end is None:
        span = token.span()
        error = NotationError(102, f"{opening} is never closed", found.source, span, hint=f"close it with {closer}")
        if len(found.errors) < UNCLOSED:
            found.errors.append(error)
        following = PARAGRAPH.search(found.source, token.end())
        return following.end() if following else len(found.source)
    found.sections[-1].maths.append(Maths(token.start(), end, not inline))
    return end


UNCLOSED = 1000  # errors of this kind that are told of
PARAGRAPH = re.compile(r"\n[ \t]*\n")


def maths_end(source: str, position: int, closer: str, inline: bool) -> tuple[int | None, int]:
    """Where the maths that `closer` ends is over, None where it never is; and up to where that was looked for.

    A paragraph ends inline maths in any case.
    """
    while token := TOKEN.search(source, position):
        text = token[0]
        if text == closer:
            return token.end(), token.end()
        if closer == "$" and text == "$$":
            return token.start() + 1, token.end()
        if token["paragraph"] and inline or token["section"]:
            return None, token.start()
        position = token.end()
        if token["text"]:
            position = group_end(source, token.end() - 1) or position
    return None, len(source)


def group_end(source: str, position: int) -> int | None:
    """Where the group that opens with { at `position` is over; None where it never is."""
    return _groups(source).get(position)


@lru_cache(maxsize=8)
def _groups(source: str) -> dict[int, int]:
    """Where each { of a source stands, and where its group is over."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for brace in BRACE.finditer(source):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            ends[opened.pop()] = brace.end()
    return ends


BRACE = re.compile(r"\\.|[{}]|%[^\n]*", re.DOTALL)


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


def _axis_macros(source: str, definitions: dict[str, list[Definition]]) -> set[str]:
    return {
        name
        for name, known in definitions.items()
        for each in known
        if AXIS.match(source, each.start, each.end) or NAMED.search(source, each.start, each.end)
    }


AXIS = re.compile(r"\\ndef(?![A-Za-z])")


# ------------------------------------------------------------------------------------------- which maths is of the notation
NUMBER_OF_ARGUMENTS = {r"\ndot": 1, r"\nfun": 2, r"\nsum": 1, r"\nprod": 1, r"\ncat": 1, r"\nbin": 2, r"\nmatrix": 3}  # fmt: skip
NAMES = {r"\name", r"\mathsf"}
OPERATORS = re.compile(rf"(?:{'|'.join(map(re.escape, NUMBER_OF_ARGUMENTS))})(?![A-Za-z])")
NAMED = re.compile(r"\\(?:name|mathsf)(?![A-Za-z])")
RELATION = re.compile(r"=|:|\\(?:in|colon)(?![A-Za-z])")
REALS = re.compile(r"\\(?:reals|mathbb\s*\{?\s*R)(?![A-Za-z])")
BEYOND = (106, 111)  # characters and macros that the notation does not have


def _gather(found: _Found, section: Section, everything: bool, findings: _Findings) -> set[Maths]:
    """Sort the maths of a section: formulas to check, and among them those that may be blamed."""
    marked = {maths for maths in section.maths if everything or _marked(found, maths)}
    blamed: set[Maths] = set()
    functions: set[str] = set()  # of named axes
    for maths in section.maths if marked else ():
        if maths not in marked and not maths.display and not _mentions(found, maths, functions):
            findings.left_out.append(Skipped(maths[:2], "no named axes"))
            continue
        if findings.read > READ:  # the one that passed the limit says so
            findings.left_out.append(Skipped(maths[:2], "too many formulas", maths in marked))
            continue
        program = _read(found, section, maths, findings)
        if isinstance(program, NotationError):
            reason = _passed_over(found, maths, program)
            if everything or reason is None:
                findings.errors.append(program)
            else:
                findings.left_out.append(Skipped(maths[:2], reason, maths in marked and _says_something(found, maths)))
            continue
        if not program.statements or _single(program):
            findings.left_out.append(Skipped(maths[:2], "a symbol" if program.statements else "a comment"))
            continue
        named = maths in marked or any(isinstance(node, nodes.Call) and node.operator in functions for node in walk(program))  # fmt: skip
        if not (named or maths.display):
            findings.left_out.append(Skipped(maths[:2], "no named axes"))
            continue
        section.formulas.append(maths)
        section.programs[maths] = program
        if named:
            blamed.add(maths)
            functions |= {head.operator for head in map(_head, program.statements) if head is not None}
    if not marked:
        findings.left_out += [Skipped(maths[:2], "no named axes") for maths in section.maths]
    _keep_needed(section, blamed, findings)
    return blamed


def _mentions(found: _Found, maths: Maths, names: set[str]) -> bool:
    return any(found.source.find(name, *maths[:2]) >= 0 for name in names)


def _says_something(found: _Found, maths: Maths) -> bool:
    """Whether maths with named axes is more than a symbol or a fragment in running text."""
    text = found.source[maths.start : maths.end]
    operates, relates = bool(OPERATORS.search(text)), bool(RELATION.search(text))
    return operates and relates or maths.display and (operates or relates)


def _keep_needed(section: Section, blamed: set[Maths], findings: _Findings) -> None:
    """Of formulas without named axes, keep those alone that say what is used in one with them."""
    used: set[str] = set()
    needed, new = set(), set(blamed)
    while new:
        needed |= new
        used |= {name for maths in new for name in _names(section.programs[maths])}
        new = {maths for maths in section.formulas if maths not in needed and used & _heads(section.programs[maths])}
    findings.left_out += [Skipped(maths[:2], "no named axes") for maths in section.formulas if maths not in needed]
    section.formulas = [maths for maths in section.formulas if maths in needed]


def _names(program: nodes.Program) -> set[str]:
    """The names of tensors and functions in a program."""
    return {_base(node) for node in walk(program)} - {""}


def _heads(program: nodes.Program) -> set[str]:
    """The names that the statements of a program may define."""
    found = set()
    for statement in program.statements:
        if isinstance(statement, nodes.Signature):
            found.add(statement.head.operator)
        elif isinstance(statement, (nodes.Equation, nodes.Declaration)):
            found |= {_base(node) for node in getattr(statement, "sides", ()) or getattr(statement, "names", ())}
    return found - {""}


def _base(node: Any) -> str:
    """The name without scripts and indices that a node is, or the function that it calls."""
    while isinstance(node, (nodes.Subscript, nodes.Superscript, nodes.Starred, nodes.Index, nodes.Rename)):
        node = node.base
    return node.text if isinstance(node, nodes.Name) else node.operator if isinstance(node, nodes.Call) else ""


def _marked(found: _Found, maths: Maths) -> bool:
    """Whether maths shows a named axis."""
    if not found.named:
        return False
    macros = set(MACRO.findall(found.source, *maths[:2]))
    return not macros & found.others and bool(macros & (NUMBER_OF_ARGUMENTS.keys() | NAMES | found.axes))


def _shows_the_notation(found: _Found) -> bool:
    """Whether a document has a macro of the notation, or sans-serif letters under a sign or in a shape, as axes stand."""
    if NAMES_AXES.search(found.source):
        return True
    own = NUMBER_OF_ARGUMENTS.keys() - found.others
    for section in found.sections:
        for maths in section.maths:
            macros = set(MACRO.findall(found.source, *maths[:2]))
            if (
                macros & own
                or macros & (NAMES | found.axes)
                and (macros & PLACES or REALS.search(found.source, *maths[:2]))
            ):
                return True
    return False


NAMES_AXES = re.compile(r"\\(?:ndef|name)(?![A-Za-z])")
PLACES = {r"\underset", r"\substack"}


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
class AssembledProgram:
    """Parts of a document copied into one text, and the way back from a place there to the document.

    >>> work = AssembledProgram("a $x$ b $y$", [(2, 5), (8, 11)])
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


def _read(found: _Found, section: Section, maths: Maths, findings: _Findings) -> nodes.Program | NotationError:
    """The tree of maths, or why there is none. Whether f(x) is a call, earlier formulas of the section may say."""
    work = _patchwork(found, [maths])
    findings.read += len(work.text) + _expanded(work)
    if findings.read > READ:
        message = f"a document has more than {READ} characters of formulas: the rest was not read"
        return NotationError(404, message, found.source, maths[:2], hint="check its parts one by one")
    try:
        return parse(work.text, "latex")
    except NotationError as problem:
        alone = work.error(problem)
    _forget_endless(found, alone)
    functions, tensors = _known(section)
    try:
        return parse(work.text, "latex", tensors - functions, functions=functions)
    except NotationError as problem:
        return work.error(problem)


READ = 300_000


def _expanded(work: AssembledProgram) -> int:
    """How many pieces the macros of the document make of maths: few characters can ask for much."""
    if len(work.parts) == 1:
        return 0
    try:
        return len(expand(work.text, scan(work.text)))
    except NotationError:
        return EXPANSION // 10


def _known(section: Section) -> tuple[frozenset[str], frozenset[str]]:
    """The names of functions, and of tensors, that the formulas of a section define so far."""
    for maths in section.formulas[section.known :]:
        for statement in section.programs[maths].statements:
            head = _head(statement)
            if head is not None:
                section.functions |= {head.operator}
            else:
                section.tensors |= _heads(nodes.Program((statement,)))
    section.known = len(section.formulas)
    return section.functions, section.tensors


def _forget_endless(found: _Found, problem: NotationError) -> None:
    """A macro that expands without end is told of once, and is no macro from then on."""
    if problem.number == 109 and problem.span_text in found.definitions and problem.message.endswith(ENDLESS):
        del found.definitions[problem.span_text]


ENDLESS = "expands without end"


def _patchwork(found: _Found, formulas: list[Maths], removed: frozenset[Span] = frozenset()) -> AssembledProgram:
    """Formulas without the statements that are removed, with the definitions of macros that they need and that stand
    before the last of them."""
    parts = [part for maths in formulas for part in _without(maths[:2], removed)]
    last = max((maths.end for maths in formulas), default=0)
    known: dict[str, list[Definition]] = {}
    wanted = {name for start, end in parts for name in MACRO.findall(found.source, start, end)}
    while wanted:
        name = wanted.pop()
        if name not in known:
            known[name] = [each for each in found.definitions.get(name, ()) if each.start < last]
            wanted.update(other for each in known[name] for other in each.mentions)
    return AssembledProgram(found.source, parts + [each[:2] for group in known.values() for each in group])


def _without(whole: Span, removed: frozenset[Span]) -> list[Span]:
    """What is left of a stretch where others are taken out of it."""
    left, position = [], whole[0]
    for start, end in sorted(removed):
        if whole[0] <= start and end <= whole[1]:
            left.append((position, start))
            position = end
    return [*left, (position, whole[1])]


# ----------------------------------------------------------------------------------------------------- checking a section
class Conflict(NamedTuple):
    """Why formulas are no program together, in the document; where a name is defined twice, both statements.

    `claim` says that the second is none of the name: an element, or a call with what is defined before.
    """

    problem: NotationError
    first: Span | None = None
    second: Span | None = None
    claim: bool = False


def _check_section(found: _Found, section: Section, formulas: list[Maths], blamed: set[Maths], findings: _Findings) -> None:  # fmt: skip
    """Check formulas of a section: as one program, or where a name is defined again in a later one, as several.

    From where a name is defined again the first definition is gone, and all else that stands before counts still.
    """
    again: list[tuple[int, Span]] = []  # where a name is defined again, and the statement that said what it was
    for _ in range(CONFLICTS if findings.conflicts < 4 * CONFLICTS else 1):
        removed = frozenset(span for _, span in again)
        conflict = _conflict(_patchwork(found, formulas, removed)) if formulas else None
        if conflict is None:
            break
        findings.conflicts += 1
        problem = conflict.problem
        at, first = _holder(formulas, problem.span), _holder(formulas, conflict.first)
        later = at is not None and at in blamed and first is not None and first.end <= at.start
        if at and later and conflict.second and conflict.claim:
            again.append((0, conflict.second))
            findings.left_out.append(Skipped(conflict.second, "a claim about what is defined before", True))
            continue
        if at and later and conflict.first and problem.span:
            again.append((at.start, conflict.first))
            findings.notes.append(Note(problem.span[0], f"{problem.span_text} is defined again: {AGAIN}"))
            continue
        if at is None or at in blamed and not (problem.number < 200 and _without(at[:2], removed) != [at[:2]]):
            findings.errors.append(problem)
        if at is None:
            return
        formulas.remove(at)
    else:
        findings.notes.append(Note(section.start, "unchecked: too many of the definitions here are in conflict"))
        return
    starts = sorted({0, *(position for position, _ in again)})
    for start, following in zip(starts, [*starts[1:], len(found.source)]):
        present = [maths for maths in formulas if maths.start < following]
        removed = frozenset(span for position, span in again if position <= start)
        if any(maths.start >= start for maths in present):
            _check_program(found, section, present, _patchwork(found, present, removed), start, blamed, findings)


CONFLICTS = 50
AGAIN = "from here on this counts, and not what was said before"


def _conflict(work: AssembledProgram) -> Conflict | None:
    """Why formulas are no program together, if they are none."""
    from ..scope.binder import bind

    try:
        program = parse(work.text, "latex")
    except NotationError as problem:
        return Conflict(work.error(problem))
    try:
        bind(work.text, program)
    except NotationError as problem:
        told = work.error(problem)
        if problem.number != 202 or not problem.labels or problem.span is None:
            return Conflict(told)
        first, second = (_statement(program, span) for span in (problem.labels[0][0], problem.span))
        return Conflict(told, work.span(first.span), work.span(second.span), _claims(program, second))
    return None


def _statement(program: nodes.Program, span: Span) -> Any:
    return next(each for each in program.statements if each.span[0] <= span[0] < each.span[1])


def _claims(program: nodes.Program, second: Any) -> bool:
    """Whether a statement says something of one element, or of a function at what other statements define."""
    head = second.sides[0]
    if isinstance(head, nodes.Index):
        return not any(isinstance(node, nodes.Name) for _, index in head.items for node in walk(index))
    arguments = {_base(argument) for argument in getattr(head, "arguments", ())}
    defined = {_base(each.sides[0]) for each in program.statements if isinstance(each, nodes.Equation) and _head(each) is None}  # fmt: skip
    return bool(arguments & defined)


def _check_program(found: _Found, section: Section, formulas: list[Maths], work: AssembledProgram, start: int, blamed: set[Maths], findings: _Findings) -> None:  # fmt: skip
    """Check formulas as one program, and report what it says of those from `start` on."""
    from ..programs.api import check_given

    checked = check_given(work.text, found.given, found.sizes, "latex", None)
    fresh = {name for maths in formulas if maths.start >= start for name in _heads(section.programs[maths])}
    section.types.update({name: text for name, text in checked.types.items() if name not in section.types or BASE.split(name)[0] in fresh})  # fmt: skip
    for error in map(work.error, checked.errors):
        at = _holder(formulas, error.span)
        if at is not None and at.start < start or _mentions_only(found, section, at, error):
            continue
        if _prose_may_say(section, at, error):
            section.unknown.setdefault(error.span_text or error.message, error.span[0] if error.span else section.start)
        elif at is None or at in blamed:
            findings.errors.append(error)
    for warning in checked.warnings:
        span = work.span(warning.span)
        at = _holder(formulas, span)
        if at is not None and at in blamed and at.start >= start:
            findings.warnings.append(warning._replace(span=span))


BASE = re.compile(r"[_^({]")


def _prose_may_say(section: Section, at: Maths | None, error: NotationError) -> bool:
    """Whether an error is that something is not known, a name or a size: running text may say it."""
    if error.number not in FACTS:
        return False
    name = (error.span_text or "").lstrip("\\")
    return len(name) == 1 or "did you mean" not in (error.hint or "") or _fragment(section, at)


FACTS = (201, 204, 309)


def _mentions_only(found: _Found, section: Section, at: Maths | None, error: NotationError) -> bool:
    """Whether inline maths has no value and needs none: it names an axis, $\\ax(i)$, or a differential, $\\partial X$."""
    return _fragment(section, at) and (error.number == 405 or error.span_text in found.axes)


def _fragment(section: Section, at: Maths | None) -> bool:
    """Whether maths is in running text and states nothing."""
    statements = section.programs[at].statements if at and not at.display else ()
    return bool(statements) and all(isinstance(each, nodes.Value) for each in statements)


def _holder(formulas: list[Maths], span: Span | None) -> Maths | None:
    """Which of the formulas holds a span."""
    index = bisect_right(formulas, span[0], key=lambda maths: maths.start) - 1 if span else -1
    return formulas[index] if index >= 0 and span and span[0] < formulas[index].end else None
