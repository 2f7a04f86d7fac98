r"""Detection of named axes in formulas, by macros of the notation and by axes that the document defines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from grammar.errors import Span
from grammar.latex.tables import PRIMES, STARS, is_known

from .document import Document, DocumentMacro, MathSpan

MACRO = re.compile(r"\\[A-Za-z]+")


def axis_macros(source: str, definitions: dict[str, list[DocumentMacro]]) -> set[str]:
    return {
        name
        for name, known in definitions.items()
        for macro in known
        if AXIS.match(source, macro.start, macro.end) or NAMED.search(source, macro.start, macro.end)
    }


AXIS = re.compile(r"\\ndef(?![A-Za-z])")
NUMBER_OF_ARGUMENTS = {r"\ndot": 1, r"\nfun": 2, r"\nsum": 1, r"\nprod": 1, r"\ncat": 1, r"\nbin": 2, r"\nmatrix": 3}  # fmt: skip
USES = re.compile(  # not \name{Ada Lovelace} of a letterhead
    r"(?<!Command\{)(?<!Command)\\(?:ndot|nfun|nsum|nprod|ncat|nbin|nmatrix|name(?!\{[^{}]*\s))(?![A-Za-z@])"
)
NAMES = {r"\name", r"\mathsf"}
NAMED = re.compile(r"\\(?:name|mathsf)(?![A-Za-z])")
REALS = re.compile(r"\\(?:reals|mathbb\s*\{?\s*R)(?![A-Za-z])")


def shows_axes(document: Document, maths: MathSpan) -> bool:
    """Return whether a formula contains a named axis, or is an assumption."""
    if maths.written:
        return True
    if not document.named:
        return False
    macros = set(MACRO.findall(document.source, *maths[:2]))
    if macros & document.others:
        return False
    return bool(macros & (NUMBER_OF_ARGUMENTS.keys() | NAMES | document.axes)) or _names_bare_axes(document, maths)


def _names_bare_axes(document: Document, maths: MathSpan) -> bool:
    r"""Return whether a formula contains a shape that uses undefined macros or calligraphic letters.

    An example is ℝ^{\seq \times \key}.
    """
    if not document.speaks:
        return False
    if SHAPE_VARIABLES.search(document.source, *maths[:2]):
        return True
    for shape in SHAPE.finditer(document.source, *maths[:2]):
        named = set(MACRO.findall(shape[1])) - {r"\times", *STARS, *PRIMES}
        if named and not any(name in document.definitions or is_known(name) for name in named):
            return True
    return False


SHAPE = re.compile(
    r"\\(?:reals|mathbb\s*(?:\{\s*R\s*\}|R))(?![A-Za-z])\s*\^\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\[A-Za-z]+)"
)
SHAPE_VARIABLES = re.compile(
    r"_\s*\{\s*\\math(?:cal|scr)\s*\{[A-Z]'?\}(?:'|\s)*(?:,|\\(?:rightarrow|to)(?![A-Za-z]))|"
    r"(?:\\(?:reals|mathbb\s*(?:\{\s*R\s*\}|R))(?![A-Za-z])|(?<![A-Za-z\\{])[A-Z])\s*\^\s*(?:\{[^{}]*)?\\math(?:cal|scr)(?![A-Za-z])"
)


def find_axis_macro(document: Document) -> Span | None:
    """Return the span of the first macro of the notation in a document, outside of macro definitions, or None."""
    return next((use.span() for use in uses(document)), None)


def uses(document: Document) -> Iterator[re.Match]:
    """Yield the occurrences of the notation's macros in a document, outside of macro definitions."""
    for use in USES.finditer(document.source):
        index = bisect_right(document.passed, (use.start(), len(document.source))) - 1
        if use[0] not in document.others and (index < 0 or document.passed[index][1] <= use.start()):
            yield use


def unseen(document: Document) -> Iterator[tuple[Span, str]]:
    r"""Yield operators of the notation that are not in a located formula, at most one per paragraph, with a reason.

    An unsupported environment may contain a formula.
    """
    result = sorted(maths[:2] for section in document.sections for maths in section.maths)
    paragraph = 0  # the end of the last paragraph
    for use in uses(document):
        index = bisect_right(result, (use.start(), len(document.source))) - 1
        if use.start() < paragraph or use[0] == r"\name" or index >= 0 and use.start() < result[index][1]:
            continue
        blank = BLANK_LINE.search(document.source, use.end())
        paragraph = blank.start() if blank else len(document.source)
        yield use.span(), f"{use[0]} is outside a supported math environment{_find_environment_around(document, use)}"


def _find_environment_around(document: Document, use: re.Match) -> str:
    r"""Return a phrase about an environment around an occurrence, such as ", in \begin{shown}", or ""."""
    start = max(0, use.start() - NEAR)
    begun = document.source.rfind(r"\begin{", start, use.start())
    opening = ENVIRONMENT.match(document.source, begun) if begun >= 0 else None
    ended = opening and document.source.find(rf"\end{{{opening[1]}}}", begun, use.start()) >= 0
    return f", in {opening[0]}" if opening and not ended and opening[1] != "document" else ""


ENVIRONMENT = re.compile(r"\\begin\{([A-Za-z]+\*?)\}")
BLANK_LINE = re.compile(r"\n[ \t]*\n")
NEAR = 2000  # characters before a use in which its environment is looked for


def shows_the_notation(document: Document) -> bool:
    """Return whether a document uses this notation, by its macros or by sans-serif letters as axes."""
    if NAMES_AXES.search(document.source):
        return True
    names = NUMBER_OF_ARGUMENTS.keys() - document.others
    for section in document.sections:
        for maths in section.maths:
            macros = set(MACRO.findall(document.source, *maths[:2]))
            if (
                macros & names
                or macros & (NAMES | document.axes)
                and (macros & PLACES or REALS.search(document.source, *maths[:2]))
            ):
                return True
    return False


NAMES_AXES = re.compile(r"\\(?:ndef|name)(?![A-Za-z])")
PLACES = {r"\underset", r"\substack"}
