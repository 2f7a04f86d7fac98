r"""Convert Markdown to a LaTeX document of its headings and formulas.

    # Attention                      \section{Attention}
    Let $X \in \reals^{\seq}$.       $X \in \reals^{\seq}$
    ```math                          \[
    Y = \nsum{\seq} X                Y = \nsum{\seq} X
    ```                              \]

The formulas are in `$…$`, `$$…$$`, ```` ```math ````, `` $`…`$ ``, `\(…\)`, `\[…\]` with one backslash or two, and
environments. A block ```` ```nt ```` contains the text notation. A formula in `$…$` has no space next to its dollars
and no digit after them, so that $5 is a price. Code is skipped. A macro that a formula defines applies to all later
formulas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from grammar import nodes
from grammar.errors import NotationError, Span
from grammar.parser import parse
from grammar.printer import to_latex

from ..files.text import InputError
from .included_files import Whole
from .maths import CLOSERS, PARAGRAPH
from .reader import DEFINE, ENVIRONMENT, DocumentReader

DOLLAR = re.compile(r"\\.|\$", re.DOTALL)
MONEY = re.compile(r"[\s$]")
NAMED = r"\label{\name{nt}}"  # marks a formula as one of this notation


def whole_markdown(text: str, file: str) -> Whole:
    """Convert a Markdown file to a LaTeX document that contains its headings and formulas."""
    return MarkdownReader(text, file).whole()


class MarkdownReader(DocumentReader):
    """A reader of Markdown."""

    MARK = re.compile(
        rf"""^[ \t>]*(?P<fence>`{{3,}}|~{{3,}})[ \t]*(?P<info>[^\n`]*)(?:\n|\Z)
        |^\#{{1,2}}[ \t]+(?P<title>[^\n]*)
        |(?P<comment><!--)
        |(?P<ticked>\$`)
        |(?P<code>`+)
        |{ENVIRONMENT}
        |{DEFINE}
        |\\?(?P<bracket>\\[(\[])
        |\\.
        |(?P<dollars>\$\$)
        |(?P<dollar>\$)""",
        re.VERBOSE | re.MULTILINE | re.DOTALL,
    )
    paragraph_end = 0  # the end of the paragraph that was searched last

    def title(self, mark: re.Match) -> int:
        return self.write_title(mark, mark.span("title"), mark.end())

    def code(self, mark: re.Match) -> int:
        """Return the position after inline code, which ends with as many backticks as it begins with.

        If the code is not closed, return the position after the opening backticks.
        """
        end = self.end_of_paragraph(mark.end())
        closing = re.compile(rf"(?<!`){mark[0]}(?!`)").search(self.text, mark.end(), end)
        return closing.end() if closing else mark.end()

    def info(self, mark: re.Match) -> int:
        """Read a fenced block, and return the position after it. The language of the block follows the fence."""
        closing = re.compile(rf"^[ \t>]*{mark['fence']}[`~]*[ \t]*$", re.MULTILINE).search(self.text, mark.end())
        inside = closing.start() if closing else len(self.text)
        language = mark["info"].split(maxsplit=1)[:1]
        if language == ["nt"]:
            self.program(mark.end(), inside)
        elif language and language[0].startswith("math"):
            self.write_formula(r"\[", mark.start(), (mark.end(), inside), r"\]")
        return closing.end() if closing else len(self.text)

    def program(self, start: int, end: int) -> None:
        """Write a block in text notation as LaTeX, with one display for each statement."""
        try:
            statements = parse(self.text[start:end], "text").statements
        except NotationError:
            self.write_formula(r"\[", start, (start, end), NAMED + r"\]")
            return
        for statement in statements:
            span = start + statement.span[0], start + statement.span[1]
            self.pieces += 1
            self.parts.write(r"\[", span[0])
            if _reads_alike(self.text[slice(*span)], statement):
                self.parts.copy(*span)
            else:
                for letter in to_latex(nodes.Program((statement,))):
                    self.parts.write(letter, span[0])  # Errors point to the statement.
            self.parts.write(NAMED + "\\]\n", span[1])

    def ticked(self, mark: re.Match) -> int:
        end = self.closing("`$", mark.end())
        return self.inline(mark, (mark.end(), end - 2), end) if end else mark.end()

    def bracket(self, mark: re.Match) -> int:
        closer = mark[0][:-2] + CLOSERS[mark["bracket"]]
        end = self.closing(closer, mark.end())
        if not end or end > self.end_of_paragraph(mark.end()):
            return mark.end()
        self.write_formula(mark["bracket"], mark.start(), (mark.end(), end - len(closer)), closer[-2:])
        return end

    def dollars(self, mark: re.Match) -> int:
        end = self.closing("$$", mark.end())
        is_closed = end and end <= self.end_of_paragraph(mark.end())
        return self.write_whole(mark.start(), end) if end and is_closed else mark.end()

    def dollar(self, mark: re.Match) -> int:
        if MONEY.match(self.text, mark.end()):
            return mark.end()
        for closing in DOLLAR.finditer(self.text, mark.end(), self.end_of_paragraph(mark.end())):
            if closing[0] == "$":
                end = closing.end()
                money = self.text[end - 2].isspace() or self.text[end : end + 1].isdecimal()
                return mark.end() if money else self.inline(mark, (mark.end(), end - 1), end)
        return mark.end()

    def inline(self, mark: re.Match, span: Span, end: int) -> int:
        self.write_formula("$", mark.start(), span, "$")
        return end

    def end_of_paragraph(self, position: int) -> int:
        if position >= self.paragraph_end:
            blank = PARAGRAPH.search(self.text, position)
            self.paragraph_end = blank.start() if blank else len(self.text)
        return self.paragraph_end


def _reads_alike(text: str, statement: nodes.Statement) -> bool:
    """Return whether parsing a LaTeX text yields the given statement."""
    try:
        return parse(text, "latex").statements == (statement,)
    except NotationError:
        return False


# ----------------------------------------------------------------------------------------------------------- notebooks
CELL = ":cell "  # between the name of a notebook and the number of a cell


def whole_notebook(text: str, file: str) -> Whole:
    """Convert a notebook's Markdown cells to a LaTeX document that contains their headings and formulas.

    Raise InputError if the text is not a notebook.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{file} is not a notebook: {problem}") from None
    whole = Whole(file, text)
    for number, source in _cells(content):
        whole.add(whole_markdown(source, f"{file}{CELL}{number}"))
    return whole


def _cells(content: Any) -> Iterator[tuple[int, str]]:
    """Yield the text of each Markdown cell with its number. The numbers count all cells of the notebook from 1."""
    cells = content.get("cells") if isinstance(content, dict) else None
    for number, cell in enumerate(cells if isinstance(cells, list) else (), 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            source = cell.get("source", "")
            yield number, "".join(map(str, source)) if isinstance(source, list) else str(source)
