r"""Convert reStructuredText to a LaTeX document of its headings and formulas.

    Attention                            \section{Attention}
    =========
    Let :math:`X \in \reals^{\seq}`.     $X \in \reals^{\seq}$

    .. math::                            \[
       :label: sum                       Y = \nsum{\seq} X
                                         \]
       Y = \nsum{\seq} X

Literal text and the bodies of other directives and comments are skipped. A comment `.. namedtensor: …` is a directive of the
linter. A macro that a formula defines applies to the formulas after it.
"""

from __future__ import annotations

import re

from .included_files import FileParts, Whole
from .maths import DEFINING, PIECES, definition_end

MARK = re.compile(
    r"""^(?P<title>[^\s.:][^\n]*)\n(?P<line>([=\-`:'"~^_*+\#<>])\3{2,})[ \t]*$
    |^(?P<margin>[ \t]*)\.\.[ \t]+(?P<remark>namedtensor:[^\n]*)
    |^(?P<indent>[ \t]*)\.\.[ \t]+math::[ \t]*(?P<first>[^\n]*)
    |^(?P<apart>[ \t]*)(?:\.\.(?:[ \t][^\n]*)?|[^\n]*(?<!:)::)[ \t]*$
    |:math:`(?P<inline>[^`]+)`
    |``(?P<literal>(?:(?!``).)+)``""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
DEFINE = re.compile(DEFINING)
OPTION = re.compile(r"[ \t]*:\w+:[^\n]*(?:\n|\Z)")
PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?![ \t]*(?:\n|\Z)))*")
LEVELS = 2  # of headings that begin a section, as in Markdown


def whole_restructured_text(text: str, file: str) -> Whole:
    """Return the headings and formulas of a reStructuredText file."""
    parts, levels, position, pieces = FileParts(file, text), dict[str, int](), 0, 0
    while pieces <= PIECES and (mark := MARK.search(text, position)):
        position = mark.end()
        if mark["title"] is not None:
            if levels.setdefault(mark["line"][0], len(levels)) < LEVELS:
                parts.write(r"\section{", mark.start())
                parts.copy(*mark.span("title"))
                parts.write("}\n", mark.end("title"))
        elif mark["remark"] is not None:
            parts.write("% ", mark.start())
            parts.copy(*mark.span("remark"))
            parts.write("\n", mark.end())
        elif mark["inline"] is not None:
            pieces += 1
            _copy_formula(parts, "$", mark.span("inline"), "$")
        elif mark["indent"] is not None:
            start = mark.end() + 1
            position = _end_of_body(text, start, len(mark["indent"]))
            while option := OPTION.match(text, start, position):
                start = option.end()
            spans = [mark.span("first"), *(one.span() for one in PARAGRAPH.finditer(text, start, position))]
            for span in spans:
                if text[slice(*span)].strip():
                    pieces += 1
                    _copy_formula(parts, r"\[", span, r"\]")
        elif mark["apart"] is not None:
            position = _end_of_body(text, mark.end() + 1, len(mark["apart"]))
    return parts.whole()


def _copy_formula(parts: FileParts, opening: str, span: tuple[int, int], closing: str) -> None:
    """Copy a formula after the macros that it defines."""
    for define in DEFINE.finditer(parts.text, *span):
        if (end := definition_end(parts.text, define)) is not None:
            parts.copy(define.start(), end)
            parts.write("\n", end)
    parts.write(opening, span[0])
    parts.copy(*span)
    parts.write(closing + "\n", span[1])


def _end_of_body(text: str, start: int, indent: int) -> int:
    """Return the end of the lines from `start` that are blank or indented by more than `indent`."""
    dedent = re.compile(rf"^[ \t]{{0,{indent}}}(?=\S)", re.MULTILINE).search(text, min(start, len(text)))
    return dedent.start() if dedent else len(text)
