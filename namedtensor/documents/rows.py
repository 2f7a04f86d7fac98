r"""Split displays into rows, so that a display can be checked without its invalid rows.

    \begin{align} Y &= \langle X \rangle \\ Z &= \nsum{\seq} X \end{align}       Z is checked

After `&&`, a cell that begins with \text is a comment. A declaration in a comment still applies, as in
&& \text{product}~(B \in \reals^{\seq}).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from grammar.errors import NotationError, Span
from grammar.latex.macros import WITH_ARGUMENTS

from .document import MathSpan
from .maths import group_end

ROWS = 200  # the limit on rows of one display
PART = re.compile(
    r"\\\\(?:\*|\[[^\]\n]{0,20}\])?|\\(?:short)?intertext(?![A-Za-z])\s*|\\begin\{[a-zA-Z]+\*?\}(?:\{\d+\})?|\\end\{[a-zA-Z]+\*?\}|\\.|[{&]|%[^\n]*",
    re.DOTALL,
)
OUTER = re.compile(
    rf"\s*(?:\\\[|\$\$|\\begin\{{(?:{'|'.join(WITH_ARGUMENTS)})\*?\}}(?:\[[^\]]*\])?(?:\{{[^{{}}]*\}})?|\\begin\{{[A-Za-z]+\*?\}}|(?P<macro>\\[A-Za-z]+))?"
    r"\s*(?:\\label\{[^}]*\}\s*)?(?:\\begin\{(?:split|aligned|gathered|alignedat|array)\}(?:\[\w\])?(?:\{[^{}]*\})?)?"
)
LAST_MACRO = re.compile(r"\\[A-Za-z]+\Z")
CONTINUES = re.compile(
    r"(?:\s|&|\{\}|%[^\n]*\n|\\(?:quad|qquad|,|;|!|:)|~)*(?:[=:+<>≔≜]|-|\\(?:colon|coloneqq?|triangleq|eqdef|stackrel|overset|in|cdot|odot|times|le|leq|ge|geq|ndot|nbin)(?![A-Za-z]))"
)
DECLARED = re.compile(r"\(([^()]*\\in(?![A-Za-z])[^()]*)\)")


class DisplayRow(NamedTuple):
    """A row of a display, without the separator at its end, and the start positions of its cells."""

    start: int
    end: int
    cells: tuple[int, ...]


def rows_of(source: str, maths: MathSpan) -> list[DisplayRow]:
    """Return the rows of a display. An inline formula is treated as a display with one row."""
    opening = OUTER.match(source, maths.start, maths.end) if maths.display else None
    start = position = opening.end() if opening else maths.start
    rows: list[DisplayRow] = []
    cells, depth = [start], 0
    end = maths.end - 2 * (maths.display and source.startswith("$$", maths.start))
    if opening and opening["macro"] and (closing := LAST_MACRO.search(source, start, maths.end)):  # \be … \ee
        end = closing.start()
    while token := PART.search(source, position, maths.end):
        text, position = token[0], token.end()
        if text == "{":
            position = min(group_end(source, token.start()) or position, maths.end)
        elif text.startswith("\\begin"):
            depth += 1
        elif text.startswith("\\end") and len(text) > 5:
            if depth == 0:
                end = token.start()
                break
            depth -= 1
        elif depth == 0 and text == "&":
            cells.append(token.end())
        elif depth == 0 and text.strip().endswith("intertext"):
            rows.append(DisplayRow(start, token.start(), tuple(cells)))
            start = position = min(group_end(source, token.end()) or position, maths.end)
            cells = [start]
        elif depth == 0 and text.startswith("\\\\"):
            rows.append(DisplayRow(start, token.start(), tuple(cells)))
            start, cells = token.end(), [token.end()]
        elif text in ("\\]", "\\)"):
            end = token.start()
            break
    return [*rows, DisplayRow(start, max(start, end), tuple(cells))][:ROWS]


def columns(source: str, span: Span) -> list[int]:
    """Return the positions of each & in a part of a display, or an empty list if the part has several rows."""
    rows = rows_of(source, MathSpan(*span, False))
    return [cell - 1 for cell in rows[0].cells[1:]] if len(rows) == 1 else []


def unread_part(source: str, rows: list[DisplayRow], gone: list[Span], problem: NotationError) -> Span | None:
    """Return the span to leave out of a display because of a problem.

    The span is the comment that contains the problem, or else its row and the rows that continue it. Return None if the
    problem is outside of the display, or if the span is already removed.
    """
    at = problem.span[0] if problem.span else -1
    index = next((number for number, row in enumerate(rows) if row.start <= at <= row.end), None)
    if index is None:
        return None
    row = rows[index]
    span = comment_of(source, row, at)
    if span is None:
        following = index
        while not _continues(source, row) and following + 1 < len(rows) and _continues(source, rows[following + 1]):
            following += 1
        span = (row.start, rows[following].end)
    taken = span in gone
    return None if taken or span[0] == span[1] else span


def comment_of(source: str, row: DisplayRow, position: int) -> Span | None:
    """Return the comment in a row that contains a position, or None if no comment contains it.

    A comment is a \\text after a wide space, or a cell after the second cell that begins with \\text.
    """
    for number, start in enumerate(row.cells):
        if (
            number >= 2
            and start <= position
            and re.compile(r"\s*\\(?:text|mbox|hbox)\s*\{").match(source, start, row.end)
        ):
            return start, row.end
    spaced = SPACED_COMMENT.search(source, row.start, row.end)
    return (spaced.start(), row.end) if spaced and spaced.start() <= position else None


SPACED_COMMENT = re.compile(r"\\q?quad\s*\\(?:text|mbox|hbox)\s*\{")


def declarations_in(source: str, span: Span) -> list[MathSpan]:
    """Return the parenthesized declarations in a comment as assumptions."""
    return [MathSpan(*match.span(1), False, rf"\({match[1]}\)") for match in DECLARED.finditer(source, *span)]


def _continues(source: str, row: DisplayRow) -> bool:
    return CONTINUES.match(source, row.start, row.end) is not None
