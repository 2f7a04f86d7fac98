"""Programs assembled from a document's formulas, which map positions in the program to positions in the document."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

from grammar.errors import NotationError, Span

from ..scope.uses import reach
from .document import Document, DocumentMacro, MathSpan
from .rows import columns
from .shown_axes import MACRO


class AssembledProgram:
    """A program assembled from parts of a document, which maps positions in the program to positions in the document.

    >>> work = AssembledProgram("a $x$ b $y$", [(2, 5), (8, 11)])
    >>> work.text
    '$x$\\n$y$'
    >>> work.span((5, 6))
    (9, 10)
    """

    def __init__(
        self,
        source: str,
        parts: list[Span],
        written: Mapping[Span, str] | None = None,
        before: Mapping[Span, int] | None = None,
    ):
        """Join parts of a source into one text.

        `written` maps a part to the text that replaces it. `before` maps a part to the
        source position before which it is placed.
        """
        first = before or {}
        self.source, self.written = source, written or {}
        self.parts = sorted(parts, key=lambda part: (first.get(part, part[0]), part not in first, part))
        texts = [self.written.get(part) or source[slice(*part)] for part in self.parts]
        self.text = "\n".join(texts)
        self.starts = []
        position = 0
        for text in texts:
            self.starts.append(position)
            position += len(text) + 1

    def part(self, position: int) -> int:
        """Return the index of the part that contains a position of the program."""
        return max(0, bisect_right(self.starts, position) - 1)

    def place(self, position: int) -> int:
        index = self.part(position)
        start, end = self.parts[index]
        return min(start + position - self.starts[index], end)

    def span(self, span: Span | None) -> Span | None:
        """Return the document's span for a program's span. If a part's text was replaced, return the whole part."""
        if span is None:
            return None
        part = self.parts[self.part(span[0])]
        if part in self.written:
            return part
        start = self.place(span[0])
        return start, max(start, self.place(max(span[1] - 1, span[0])) + (span[1] > span[0]))

    def error(self, error: NotationError) -> NotationError:
        """Return an error of the program with its spans converted to spans of the document."""
        if error.source != self.text:
            return error
        return error.moved(self.source, self.span)


USED = re.compile(rf"\\(?:begin|end)\{{[A-Za-z]+\*?\}}|{MACRO.pattern}")


def assemble_program(document: Document, formulas: list[MathSpan]) -> AssembledProgram:
    """Assemble a program from formulas and the macros that they need. Rows that were not parsed are left out.

    Macros that are defined after the last formula are left out.
    """
    parts = [
        part
        for maths in formulas
        for part in left_of(document.source, maths[:2], document.unread_rows.get(maths.start, frozenset()))
    ]
    last = max((maths.end for maths in formulas), default=0)

    def macros(name: str) -> list[DocumentMacro]:
        return [definition for definition in document.definitions.get(name, ()) if definition.start < last]

    used = {name for start, end in parts for name in USED.findall(document.source, start, end)}
    names = reach(used, lambda name: [other for macro in macros(name) for other in macro.mentions])
    parts += {macro[:2] for name in names for macro in macros(name)}
    written = {maths[:2]: maths.written for maths in formulas if maths.written}
    return AssembledProgram(document.source, parts, written, _find_assumptions_within(formulas))


def _find_assumptions_within(formulas: list[MathSpan]) -> dict[Span, int]:
    """Return, for each assumption in a comment within a display, the position where the display starts."""
    within: dict[Span, int] = {}
    display = MathSpan(0, 0, True)
    for maths in formulas:
        if not maths.written:
            display = maths
        elif maths.start < display.end:
            within[maths[:2]] = display.start
    return within


def left_of(source: str, whole: Span, removed: frozenset[Span]) -> list[Span]:
    """Return the remaining spans of a formula after some parts are removed.

    Alignment characters (&) stay, so that a table keeps its columns.
    """
    left: list[Span] = []
    position = whole[0]
    for start, end in sorted(removed):
        if whole[0] <= start and end <= whole[1]:
            left += [(position, start), *((at, at + 1) for at in columns(source, (start, end)))]
            position = end
    return [*left, (position, whole[1])]
