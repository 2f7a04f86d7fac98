r"""The base of the readers that convert Markdown, HTML and reStructuredText to LaTeX.

A reader has a pattern of markup tokens, and one method for each group in the pattern. The method converts the content
that begins at a token, and returns the position after this content. A macro that a formula defines applies to all later
formulas.
"""

from __future__ import annotations

import re
from typing import ClassVar

from grammar.errors import Span

from .included_files import Whole
from .maths import DEFINING, DISPLAYS, PIECES, definition_end, next_end

ENVIRONMENT = rf"\\begin\{{(?P<environment>(?:{'|'.join(DISPLAYS)})\*?)\}}"
DEFINE = rf"(?P<define>{DEFINING})"
DEFINITION = re.compile(DEFINING)
DIRECTIVE = re.compile(r"namedtensor:[^\n]*")


class DocumentReader:
    """A reader that converts headings and formulas to LaTeX. Each subclass defines the pattern `MARK`."""

    MARK: ClassVar[re.Pattern[str]]

    def __init__(self, text: str, file: str):
        self.text, self.parts = text, Whole(file, text)
        self.pieces = 0  # formulas; a document with too many is reported when they are read

    def whole(self) -> Whole:
        """Return the LaTeX document that contains the headings and formulas."""
        position = 0
        while self.pieces <= PIECES and (mark := self.MARK.search(self.text, position)):
            position = max(getattr(self, mark.lastgroup)(mark), mark.start() + 1) if mark.lastgroup else mark.end()
        return self.parts

    def write_title(self, mark: re.Match, title: Span, end: int) -> int:
        self.parts.write(r"\section{", mark.start())
        self.copy(*title)
        self.parts.write("}\n", end)
        return end

    def write_line(self, span: Span, before: str = "") -> None:
        """Write a span of the source as a separate line that begins with `before`."""
        self.parts.write(before, span[0])
        self.copy(*span)
        self.parts.write("\n", span[1])

    def write_formula(self, opening: str, start: int, span: Span, closing: str) -> None:
        """Write a formula with the given delimiters, after the macro definitions that it contains."""
        for mark in DEFINITION.finditer(self.text, *span):
            self.define(mark)
        self.pieces += 1
        self.parts.write(opening, start)
        self.copy(*span)
        self.parts.write(closing + "\n", span[1])

    def write_whole(self, start: int, end: int) -> int:
        """Write a formula that includes its delimiters, and return its end."""
        self.write_formula("", start, (start, end), "")
        return end

    def copy(self, start: int, end: int) -> None:
        self.parts.copy(start, end)

    def define(self, mark: re.Match) -> int:
        end = definition_end(self.text, mark)
        if end is not None:
            self.write_line((mark.start(), end))
        return end or mark.end()

    def comment(self, mark: re.Match) -> int:
        """Write the directives of a comment, such as <!-- namedtensor: … -->, and return the position after it."""
        end = self.closing("-->", mark.end())
        for match in DIRECTIVE.finditer(self.text, mark.end(), end - 3) if end else ():
            self.write_line(match.span(), "% ")
        return end or mark.end()

    def environment(self, mark: re.Match) -> int:
        end = self.closing(rf"\end{{{mark['environment']}}}", mark.end())
        return self.write_whole(mark.start(), end) if end else mark.end()

    def closing(self, closer: str, position: int) -> int | None:
        """Return the position after the next `closer`, or None if there is none."""
        end = next_end(self.text, closer, position)
        return None if end < 0 else end
