"""Location of the formulas and macro definitions in a LaTeX document, section by section."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from grammar.errors import NotationError, Span
from grammar.latex.macros import OUTER
from grammar.parser import parse

from .directives import Ignored, remarks
from .document import Document, DocumentMacro, MathSpan, Section
from .shown_axes import MACRO, NUMBER_OF_ARGUMENTS, axis_macros, find_axis_macro, shows_the_notation

DISPLAYS = [name for name in OUTER if name != "math"]
OPAQUE = "verbatim Verbatim alltt lstlisting minted Sinput Soutput comment filecontents tikzpicture".split()
DEFINING = r"\\(?:(?:re)?new(?:commandx?|environment)|providecommand|DeclareMathOperator|DeclarePairedDelimiterX?|[gex]?def|let|ndef)(?![A-Za-z])"
CLOSERS = {r"\[": r"\]", r"\(": r"\)", "$$": "$$", "$": "$"}
TOKEN = re.compile(
    rf"""(?P<comment>%[^\n]*)
    |(?P<opaque>\\begin\{{(?P<kind>(?:{"|".join(OPAQUE)})\*?)\}})
    |(?P<verb>\\(?:verb|lstinline)\*?(?P<mark>[^A-Za-z\s*{{])[^\n]*?(?P=mark))
    |(?P<begin>\\begin\{{(?P<environment>(?:{"|".join(DISPLAYS)}|math)\*?)\}})
    |(?P<finish>\\end\{{(?:{"|".join(DISPLAYS)}|math)\*?\}})
    |(?P<section>\\(?:chapter|section)(?![A-Za-z])\*?)
    |(?P<define>{DEFINING})
    |(?P<signed>\\(?:New|Renew|Provide|Declare)Document(?:Command|Environment)(?![A-Za-z]))
    |(?P<text>\\(?:text[a-z]*|mbox|hbox|intertext)\s*\{{)
    |(?P<bracket>\\[\[\]()])
    |(?P<other>\\(?:begin|end)\{{[A-Za-z]+\*?\}})
    |(?P<escape>\\(?:[A-Za-z]+|.))
    |(?P<dollars>\$\$?)
    |(?P<paragraph>\n[ \t]*\n)""",
    re.VERBOSE | re.DOTALL,
)


def find(source: str, common: int = 0) -> Document:
    """Return the sections, formulas and macros of a document. Assumptions before `common` hold in all sections."""
    document = Document(source, [Section("", 0)], common=common)
    position = index = 0
    while token := TOKEN.search(source, position):
        position = _outside(document, token)
        index += token.lastgroup in COUNTED
        if index > PIECES:
            message = f"a document has more than {PIECES} formulas and headings: the rest was not read"
            document.errors.append(NotationError(404, message, source, token.span(), hint="check its parts one by one"))
            document.passed.append((position, len(source)))
            break
    shared = [formula for formula in document.sections[0].maths if formula.start < common]
    for section in document.sections[1:]:
        section.maths[:0] = shared
    document.axes = axis_macros(source, document.definitions)
    document.named = shows_the_notation(document)
    document.speaks = find_axis_macro(document) is not None
    return document


PIECES = 60_000  # a book of mathematics has twenty thousand
COUNTED = ("begin", "bracket", "dollars", "section")


def _outside(document: Document, token: re.Match) -> int:
    """Process a token outside of formulas, and return the position after it."""
    kind = token.lastgroup
    if kind == "section":
        title, end = _title(document.source, token.end())
        document.sections.append(Section(title, token.start()))
        return end
    if kind in PASSED:
        end = PASSED[kind](document, token)
        document.passed.append((token.start(), end))
        return end
    opens = kind in ("begin", "dollars") or token[0] in (r"\[", r"\(") or token[0] in document.openers
    return _maths(document, token) if opens else token.end()


def _take_remarks(document: Document, start: int, end: int) -> None:
    """Add the directives in the comments of a range to a document."""
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
            document.sections[-1].maths.append(MathSpan(*remark.span, False, remark.written))


REMARKS = 3000  # the limit on directives in a document


def _comment(document: Document, token: re.Match) -> int:
    _take_remarks(document, *token.span())
    return token.end()


def opaque_end(source: str, token: re.Match) -> int:
    """Return the end of a verbatim environment that begins with a token, or the token's end if it is not closed."""
    end = next_end(source, rf"\end{{{token['kind']}}}", token.end())
    return token.end() if end < 0 else end


def next_end(source: str, text: str, position: int) -> int:
    """Return the position after the next occurrence of `text`, or -1 if there is none."""
    last = _last(source, text)
    return -1 if last < position else source.index(text, position) + len(text)


@lru_cache(maxsize=64)
def _last(source: str, text: str) -> int:
    return source.rfind(text)


def _define(document: Document, token: re.Match) -> int:
    source = document.source
    end = definition_end(source, token)
    if end is not None and token[0].endswith("environment"):
        _define_environment(document, token.start(), ENVIRONMENT.match(source, token.end()), end)
        return end
    name = NAME.match(source, token.end())
    if end is None or name is None:
        return token.end()
    text, macro = source[token.start() : end], name[1] or name[2]
    parameters = PARAMETERS.match(source, name.end(), end)
    number = int(parameters[1] or parameters[0].count("#")) if parameters else 0
    if number != NUMBER_OF_ARGUMENTS.get(macro, number):
        document.others.add(macro)
    if shortcut := SHORTCUT.search(text):
        group = document.openers if shortcut[1] == "begin" else document.closers
        group[macro] = shortcut[2]
    _know(document, macro, (token.start(), end), text)
    return end


def _define_environment(document: Document, start: int, head: re.Match | None, end: int) -> None:
    r"""Record that an environment such as \newenvironment{shown}{\begin{align}}{\end{align}} is a display."""
    if head is None:
        return
    text = document.source[start:end]
    if within := BEGUN.search(text, head.end() - start):
        document.openers[rf"\begin{{{head[1]}}}"] = within[1]
        document.closers[rf"\end{{{head[1]}}}"] = within[1]
    for macro in (rf"\begin{{{head[1]}}}", rf"\end{{{head[1]}}}"):
        _know(document, macro, (start, end), text)


def _know(document: Document, macro: str, span: Span, text: str) -> None:
    known = document.definitions.setdefault(macro, [])
    if len(known) < REDEFINED and len(document.definitions) < DEFINED and _sound(text):
        known.append(DocumentMacro(*span, macro, frozenset(MACRO.findall(document.source, *span)) - {macro}))


def _skip_signature(document: Document, token: re.Match) -> int:
    r"""Return the position after \NewDocumentCommand{\name}{m o}{body}, which the notation does not support."""
    position = token.end()
    while group := GROUP.match(document.source, position):
        position = group_end(document.source, group.end() - 1) or token.end()
        if position == token.end():
            break
    return position


GROUP = re.compile(r"(?:\s|\\[A-Za-z]+){0,9}\{")
BEGUN = re.compile(rf"\\begin\{{((?:{'|'.join(DISPLAYS)})\*?)\}}")
SHORTCUT = re.compile(
    rf"\{{\s*\\(begin|end)\{{((?:{'|'.join(DISPLAYS)})\*?)\}}\s*(?:\[[^\]]*\]\s*)?(?:\{{[^{{}}]*\}}\s*)?\}}\Z"
)


PASSED: dict[str | None, Callable[[Document, re.Match], int]] = {
    "define": _define,
    "signed": _skip_signature,
    "opaque": lambda document, token: opaque_end(document.source, token),
    "verb": lambda document, token: token.end(),
    "comment": _comment,
}
PARAMETERS = re.compile(r"\s*(?:\[([0-9])\]|(?:#[1-9])*)")
DEFINED, REDEFINED = 5000, 100  # how many macros of a document are known, and definitions of each


def _maths(document: Document, token: re.Match) -> int:
    opening = token[0]
    environment = token["environment"] or document.openers.get(opening)
    closer = rf"\end{{{environment}}}" if environment else CLOSERS[opening]
    inline = opening in ("$", r"\(", r"\begin{math}")
    end = None
    if token.start() >= document.unclosed.get(closer, 0):
        others = {macro for macro, begun in document.closers.items() if begun == environment}
        end, reached = maths_end(document.source, token.end(), closer, inline, others)
        if end is None:
            document.unclosed[closer] = reached
    if end is None:
        span = token.span()
        error = NotationError(102, f"{opening} is not closed", document.source, span, hint=f"close it with {closer}")
        if len(document.errors) < UNCLOSED:
            document.errors.append(error)
        following = PARAGRAPH.search(document.source, token.end())
        return following.end() if following else len(document.source)
    document.sections[-1].maths.append(MathSpan(token.start(), end, not inline))
    _take_remarks(document, token.start(), end)
    return end


UNCLOSED = 1000  # errors of this kind that are reported
PARAGRAPH = re.compile(r"\n[ \t]*\n")


def maths_end(
    source: str, position: int, closer: str, inline: bool, others: Collection[str] = ()
) -> tuple[int | None, int]:
    """Return the end of a formula, or None if the formula is not closed, and the position where the search ended.

    The formula ends at `closer` or at a delimiter in `others`. The search ends at a section heading. For an
    inline formula, it also ends at the end of the paragraph.
    """
    while token := TOKEN.search(source, position):
        text = token[0]
        if text == closer or text in others:
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
    """Return the end of the group that begins with { at `position`, or None if it is not closed."""
    return _groups(source).get(position)


@lru_cache(maxsize=8)
def _groups(source: str) -> dict[int, int]:
    """Return a map from the position of each { to the end of its group."""
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


ENVIRONMENT = re.compile(r"\*?\s*\{\s*([A-Za-z]+\*?)\s*\}\s*(?:\[[^\]]{0,200}\]\s*){0,2}")
AFTER_BLANKS = re.compile(r"(?:\s|%[^\n]*\n)*")


GROUPS = {r"\DeclarePairedDelimiter": 2, r"\DeclarePairedDelimiterX": 3}  # after the name; other definitions have one


def definition_end(source: str, token: re.Match) -> int | None:
    """Return the end of the macro definition that a token begins, or None if it is invalid."""
    if token[0].endswith("environment"):
        head = ENVIRONMENT.match(source, token.end())
        middle = group_end(source, head.end()) if head else None
        following = AFTER_BLANKS.match(source, middle) if middle else None
        return group_end(source, following.end()) if following else None
    name = NAME.match(source, token.end())
    if not name:
        return None
    position = name.end()
    if token[0] == r"\let":
        other = re.compile(r"=?\s*(?:\\[A-Za-z]+|\\.|\S)").match(source, position)
        return other.end() if other else None
    for _ in range(GROUPS.get(token[0], 1)):
        middle = re.compile(r"[^{}\\]*").match(source, position)
        position = middle.end() if middle else position
        end = group_end(source, position) if source[position : position + 1] == "{" else None
        if end is None:
            return None
        position = end
    return position


def _sound(definition: str) -> bool:
    """Return whether a macro definition has no errors."""
    try:
        parse(definition + "\n$x$", "latex")
    except NotationError:
        return False
    return True
