"""The maths of a LaTeX document by section, and its definitions of macros, where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.latex.tables import PRIMES, STARS, is_known
from grammar.parser import parse

from .remarks import Ignored, remarks
from .verdicts import Draws


class Maths(NamedTuple):
    """A display or inline formula, its delimiters included; or a fact in a comment, which is `written` as LaTeX."""

    start: int
    end: int
    display: bool
    written: str = ""


@dataclass
class Section:
    """A scope: its title, and the maths that stand in it."""

    title: str
    start: int
    maths: list[Maths] = field(default_factory=list)
    formulas: list[Maths] = field(default_factory=list)
    programs: dict[Maths, nodes.Program] = field(default_factory=dict)
    mentioned: dict[Maths, tuple[str, ...]] = field(default_factory=dict)  # the names in a formula, once asked for
    types: dict[str, str] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()  # names that earlier sections and the first `known` formulas define
    tensors: frozenset[str] = frozenset()
    known: int = 0
    inherited: frozenset[Maths] = frozenset()  # facts of earlier sections that this one needs
    holds: list[Any] = field(default_factory=list)  # the statements that hold at its end
    own: list[Any] = field(default_factory=list)  # those among them that it does not inherit
    unknown: dict[str, int] = field(default_factory=dict)  # names that nothing explains, and where they are first used


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


# ----------------------------------------------------------------------------------------------------------- definitions
class Macro(NamedTuple):
    """A definition of a macro: where it stands, and the macros that its body mentions."""

    start: int
    end: int
    name: str
    mentions: frozenset[str]


@dataclass
class Document:
    """What a document holds: its sections with their maths, definitions of macros, and maths that is never closed."""

    source: str
    sections: list[Section]
    definitions: dict[str, list[Macro]] = field(default_factory=dict)  # by name, in their order
    axes: set[str] = field(default_factory=set)  # macros that the document defines to be axes
    others: set[str] = field(default_factory=set)  # macros of the notation that mean another thing in this document
    named: bool = True  # whether sans-serif letters may be axes: else they are only a font of this document
    speaks: bool = False  # whether it uses a macro of the notation
    errors: list[NotationError] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)  # the shapes that are known beside the formulas
    sizes: Mapping[str, int] | None = None
    draws: Draws | None = None  # how claims are to be tried on random tensors; None where they are not
    unclosed: dict[str, int] = field(default_factory=dict)  # what is not closed, up to where it was looked for
    ignored: list[Ignored] = field(default_factory=list)
    common: int = 0  # up to here stand facts of all sections
    unread: dict[int, frozenset[Span]] = field(default_factory=dict)  # rows and comments left out of the display there
    remarks: int = 0  # how many comments spoke to the checker
    passed: list[Span] = field(default_factory=list)  # definitions, and what TeX prints as it stands


def find(source: str, common: int = 0) -> Document:
    """The sections of a document, its maths and its macros; facts before `common` are facts of each section."""
    document = Document(source, [Section("", 0)], common=common)
    position = 0
    while token := TOKEN.search(source, position):
        position = _outside(document, token)
    shared = [each for each in document.sections[0].maths if each.start < common]
    for section in document.sections[1:]:
        section.maths[:0] = shared
    document.axes = _axis_macros(source, document.definitions)
    document.named = _shows_the_notation(document)
    document.speaks = named_axes(document) is not None
    return document


def _outside(document: Document, token: re.Match) -> int:
    """Take in one token of prose; where to read on."""
    kind = token.lastgroup
    if kind == "section":
        title, end = _title(document.source, token.end())
        document.sections.append(Section(title, token.start()))
        return end
    if kind in PASSED:
        end = PASSED[kind](document, token)
        document.passed.append((token.start(), end))
        return end
    opens = kind in ("begin", "dollars") or token[0] in (r"\[", r"\(")
    return _maths(document, token) if opens else token.end()


def _take_remarks(document: Document, start: int, end: int) -> None:
    """Take in what comments say to the checker."""
    for remark in remarks(document.source, start, end):
        document.remarks += 1
        if document.remarks > REMARKS:
            if document.remarks == REMARKS + 1:
                message = f"a document has more than {REMARKS} comments for the checker: the rest was not read"
                document.errors.append(NotationError(404, message, document.source, (start, end)))
            return
        if isinstance(remark, Ignored):
            document.ignored.append(remark)
        elif isinstance(remark, NotationError):
            document.errors.append(remark)
        else:
            document.sections[-1].maths.append(Maths(*remark.span, False, remark.written))


REMARKS = 3000  # of a document that are listened to


def _comment(document: Document, token: re.Match) -> int:
    _take_remarks(document, *token.span())
    return token.end()


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


def _define(document: Document, token: re.Match) -> int:
    source = document.source
    end = definition_end(source, token)
    name = NAME.match(source, token.end())
    if end is None or name is None:
        return token.end()
    text, macro = source[token.start() : end], name[1] or name[2]
    parameters = PARAMETERS.match(source, name.end(), end)
    number = int(parameters[1] or parameters[0].count("#")) if parameters else 0
    if number != NUMBER_OF_ARGUMENTS.get(macro, number):
        document.others.add(macro)
    known = document.definitions.setdefault(macro, [])
    if len(known) < REDEFINED and len(document.definitions) < DEFINED and _sound(text):
        known.append(Macro(token.start(), end, macro, frozenset(MACRO.findall(source, name.end(), end))))
    return end


PASSED: dict[str | None, Callable[[Document, re.Match], int]] = {
    "define": _define,
    "opaque": lambda document, token: opaque_end(document.source, token),
    "verb": lambda document, token: token.end(),
    "comment": _comment,
}
PARAMETERS = re.compile(r"\s*(?:\[([0-9])\]|(?:#[1-9])*)")
MACRO = re.compile(r"\\[A-Za-z]+")
DEFINED, REDEFINED = 5000, 100  # how many macros of a document are known, and definitions of each


def _maths(document: Document, token: re.Match) -> int:
    opening = token[0]
    closer = rf"\end{{{token['environment']}}}" if token["begin"] else CLOSERS[opening]
    inline = opening in ("$", r"\(", r"\begin{math}")
    end = None
    if token.start() >= document.unclosed.get(closer, 0):
        end, reached = maths_end(document.source, token.end(), closer, inline)
        if end is None:
            document.unclosed[closer] = reached
    if end is None:
        span = token.span()
        error = NotationError(102, f"{opening} is never closed", document.source, span, hint=f"close it with {closer}")
        if len(document.errors) < UNCLOSED:
            document.errors.append(error)
        following = PARAGRAPH.search(document.source, token.end())
        return following.end() if following else len(document.source)
    document.sections[-1].maths.append(Maths(token.start(), end, not inline))
    _take_remarks(document, token.start(), end)
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


def _axis_macros(source: str, definitions: dict[str, list[Macro]]) -> set[str]:
    return {
        name
        for name, known in definitions.items()
        for each in known
        if AXIS.match(source, each.start, each.end) or NAMED.search(source, each.start, each.end)
    }


AXIS = re.compile(r"\\ndef(?![A-Za-z])")
NUMBER_OF_ARGUMENTS = {r"\ndot": 1, r"\nfun": 2, r"\nsum": 1, r"\nprod": 1, r"\ncat": 1, r"\nbin": 2, r"\nmatrix": 3}  # fmt: skip
USES = re.compile(r"(?<!Command\{)(?<!Command)\\(?:ndot|nfun|nsum|nprod|ncat|nbin|nmatrix|name)(?![A-Za-z@])")
NAMES = {r"\name", r"\mathsf"}
NAMED = re.compile(r"\\(?:name|mathsf)(?![A-Za-z])")
REALS = re.compile(r"\\(?:reals|mathbb\s*\{?\s*R)(?![A-Za-z])")


def shows_axes(document: Document, maths: Maths) -> bool:
    """Whether maths shows a named axis."""
    if maths.written:
        return True
    if not document.named:
        return False
    macros = set(MACRO.findall(document.source, *maths[:2]))
    if macros & document.others:
        return False
    return bool(macros & (NUMBER_OF_ARGUMENTS.keys() | NAMES | document.axes)) or _names_bare_axes(document, maths)


def _names_bare_axes(document: Document, maths: Maths) -> bool:
    r"""Whether maths has a shape of macros that nothing defines, ℝ^{\seq \times \key}, or of calligraphic letters, in a
    document of this notation."""
    if not document.speaks:
        return False
    if SHAPE_VARIABLES.search(document.source, *maths[:2]):
        return True
    for shape in SHAPE.finditer(document.source, *maths[:2]):
        named = set(MACRO.findall(shape[1])) - {r"\times", *STARS, *PRIMES}
        if named and not any(each in document.definitions or is_known(each) for each in named):
            return True
    return False


SHAPE = re.compile(
    r"\\(?:reals|mathbb\s*(?:\{\s*R\s*\}|R))(?![A-Za-z])\s*\^\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\[A-Za-z]+)"
)
SHAPE_VARIABLES = re.compile(
    r"(?:\\(?:reals|mathbb\s*(?:\{\s*R\s*\}|R))(?![A-Za-z])|(?<![A-Za-z\\{])[A-Z])\s*\^\s*(?:\{[^{}]*)?\\math(?:cal|scr)(?![A-Za-z])"
)


def named_axes(document: Document) -> Span | None:
    """Where a document first uses a macro of the notation, in maths or not; None where it only defines them."""
    for use in USES.finditer(document.source):
        index = bisect_right(document.passed, (use.start(), len(document.source))) - 1
        if use[0] not in document.others and (index < 0 or document.passed[index][1] <= use.start()):
            return use.span()
    return None


def _shows_the_notation(document: Document) -> bool:
    """Whether a document has a macro of the notation, or sans-serif letters under a sign or in a shape, as axes stand."""
    if NAMES_AXES.search(document.source):
        return True
    own = NUMBER_OF_ARGUMENTS.keys() - document.others
    for section in document.sections:
        for maths in section.maths:
            macros = set(MACRO.findall(document.source, *maths[:2]))
            if (
                macros & own
                or macros & (NAMES | document.axes)
                and (macros & PLACES or REALS.search(document.source, *maths[:2]))
            ):
                return True
    return False


NAMES_AXES = re.compile(r"\\(?:ndef|name)(?![A-Za-z])")
PLACES = {r"\underset", r"\substack"}
