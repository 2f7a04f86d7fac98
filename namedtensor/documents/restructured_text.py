r"""Convert reStructuredText to a LaTeX document of its headings and formulas.

    Attention                            \section{Attention}
    =========
    Let :math:`X \in \reals^{\seq}`.     $X \in \reals^{\seq}$

    .. math::                            \[
       :label: sum                       Y = \nsum{\seq} X
                                         \]
       Y = \nsum{\seq} X

Literal text, other comments, and the bodies of other directives are skipped. A comment `.. namedtensor: …` is a
directive for the checker. A macro that a formula defines applies to all later formulas.
"""

from __future__ import annotations

import re

from .included_files import Whole
from .reader import DocumentReader

OPTION = re.compile(r"[ \t]*:\w+:[^\n]*(?:\n|\Z)")
PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?![ \t]*(?:\n|\Z)))*")
LEVELS = 2  # of headings that begin a section, as in Markdown


def whole_restructured_text(text: str, file: str) -> Whole:
    """Convert a reStructuredText file to a LaTeX document that contains its headings and formulas."""
    return RestructuredTextReader(text, file).whole()


class RestructuredTextReader(DocumentReader):
    """A reader of reStructuredText."""

    MARK = re.compile(
        r"""^(?P<title>[^\s.:][^\n]*)\n(?P<underline>([=\-`:'"~^_*+\#<>])\3{2,})[ \t]*$
        |^[ \t]*\.\.[ \t]+(?P<remark>namedtensor:[^\n]*)
        |^(?P<margin>[ \t]*)\.\.[ \t]+math::[ \t]*(?P<display>[^\n]*)
        |^(?P<block>[ \t]*)(?:\.\.(?:[ \t][^\n]*)?|[^\n]*(?<!:)::)[ \t]*$
        |:math:`(?P<inline>[^`]+)`
        |``(?:(?!``).)+``""",
        re.VERBOSE | re.MULTILINE | re.DOTALL,
    )

    def __init__(self, text: str, file: str):
        super().__init__(text, file)
        self.levels: dict[str, int] = {}

    def underline(self, mark: re.Match) -> int:
        is_section = self.levels.setdefault(mark["underline"][0], len(self.levels)) < LEVELS
        return self.write_title(mark, mark.span("title"), mark.end()) if is_section else mark.end()

    def remark(self, mark: re.Match) -> int:
        self.write_line(mark.span("remark"), "% ")
        return mark.end()

    def inline(self, mark: re.Match) -> int:
        self.write_formula("$", mark.start("inline"), mark.span("inline"), "$")
        return mark.end()

    def display(self, mark: re.Match) -> int:
        """Write each paragraph in the body of a math directive as a display, and return the position after the body."""
        start = mark.end() + 1
        end = self.end_of_body(start, len(mark["margin"]))
        while option := OPTION.match(self.text, start, end):
            start = option.end()
        for span in (mark.span("display"), *(part.span() for part in PARAGRAPH.finditer(self.text, start, end))):
            if self.text[slice(*span)].strip():
                self.write_formula(r"\[", span[0], span, r"\]")
        return end

    def block(self, mark: re.Match) -> int:
        return self.end_of_body(mark.end() + 1, len(mark["block"]))

    def end_of_body(self, start: int, indent: int) -> int:
        """Return the end of a directive's body. Its lines are blank or indented by more than `indent`."""
        dedented = re.compile(rf"^[ \t]{{0,{indent}}}(?=\S)", re.MULTILINE)
        line = dedented.search(self.text, min(start, len(self.text)))
        return line.start() if line else len(self.text)
