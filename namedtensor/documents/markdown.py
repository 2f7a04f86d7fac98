r"""Convert Markdown to a LaTeX document of its headings and formulas.

    # Attention                      \section{Attention}
    Let $X \in \reals^{\seq}$.       $X \in \reals^{\seq}$
    ```math                          \[
    Y = \nsum{\seq} X                Y = \nsum{\seq} X
    ```                              \]

Formulas are in `$…$` (no blank within the dollars, and no digit after them, so that $5 is a price), `$$…$$`,
```` ```math ````, in the text notation ```` ```nt ````, `` $`…`$ ``, `\(…\)`, `\[…\]` with one backslash or two, and environments. Code is skipped. A macro
that a formula defines applies from there on.
"""

from __future__ import annotations

import re

from grammar import nodes
from grammar.errors import NotationError
from grammar.parser import parse
from grammar.printer import to_latex

from .included_files import FileParts, Whole
from .maths import CLOSERS, DEFINING, DISPLAYS, PARAGRAPH, PIECES, definition_end, next_end

MARK = re.compile(
    rf"""^[ \t>]*(?P<fence>`{{3,}}|~{{3,}})[ \t]*(?P<info>[^\n`]*)(?:\n|\Z)
    |^\#{{1,2}}[ \t]+(?P<title>[^\n]*)
    |(?P<html><!--)
    |(?P<ticked>\$`)
    |(?P<code>`+)
    |\\begin\{{(?P<environment>(?:{"|".join(DISPLAYS)})\*?)\}}
    |(?P<define>{DEFINING})
    |\\?(?P<bracket>\\[(\[])
    |\\.
    |(?P<dollars>\$\$)
    |(?P<dollar>\$)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
DEFINE = re.compile(DEFINING)
REMARK = re.compile(r"namedtensor:[^\n]*")
DOLLAR = re.compile(r"\\.|\$", re.DOTALL)
MONEY = re.compile(r"[\s$]")


NAMED = r"\label{\name{nt}}"  # marks a formula as one of this notation


def _reads_alike(text: str, statement: nodes.Statement) -> bool:
    """Whether a statement of the text notation has the same tree as LaTeX."""
    try:
        return parse(text, "latex").statements == (statement,)
    except NotationError:
        return False


def whole_markdown(text: str, file: str) -> Whole:
    """Return the headings and formulas of a Markdown file."""
    reading = _Markdown(text, file)
    reading.run()
    return reading.parts.whole()


class _Markdown:
    def __init__(self, text: str, file: str):
        self.text, self.parts = text, FileParts(file, text)
        self.pieces = 0  # math spans; a document with too many is reported when they are read
        self.paragraph = 0  # where the paragraph ends that was looked at last

    def run(self) -> None:
        position = 0
        while self.pieces <= PIECES and (mark := MARK.search(self.text, position)):
            kind = mark.lastgroup if mark.lastgroup != "info" else "fence"
            position = max(READERS[kind](self, mark), mark.start() + 1) if kind else mark.end()

    # ------------------------------------------------------------------------------------------------ not math
    def heading(self, mark: re.Match) -> int:
        self.parts.write(r"\section{", mark.start())
        self.parts.copy(*mark.span("title"))
        self.parts.write("}\n", mark.end())
        return mark.end()

    def html(self, mark: re.Match) -> int:
        """Read a comment; <!-- namedtensor: … --> is a directive."""
        end = self.closing("-->", mark.end())
        for match in REMARK.finditer(self.text, mark.end(), end - 3) if end else ():
            self.parts.write("% ", match.start())
            self.parts.copy(*match.span())
            self.parts.write("\n", match.end())
        return end or mark.end()

    def code(self, mark: re.Match) -> int:
        """`code`, ``code with ` in it``: over at a run of as many"""
        end = self.end_of_paragraph(mark.end())
        closing = re.compile(rf"(?<!`){mark[0]}(?!`)").search(self.text, mark.end(), end)
        return closing.end() if closing else mark.end()

    # --------------------------------------------------------------------------------------------------------- math
    def fence(self, mark: re.Match) -> int:
        closing = re.compile(rf"^[ \t>]*{mark['fence']}[`~]*[ \t]*$", re.MULTILINE).search(self.text, mark.end())
        inside = closing.start() if closing else len(self.text)
        language = mark["info"].split(maxsplit=1)[:1]
        if language == ["nt"]:
            self.program(mark.end(), inside)
        elif language and language[0].startswith("math"):
            self.maths(r"\[", mark.start(), (mark.end(), inside), r"\]")
        return closing.end() if closing else len(self.text)

    def program(self, start: int, end: int) -> None:
        """A block of the text notation: a display for each statement."""
        try:
            statements = parse(self.text[start:end], "text").statements
        except NotationError:
            self.maths(r"\[", start, (start, end), NAMED + r"\]")
            return
        for statement in statements:
            span = start + statement.span[0], start + statement.span[1]
            self.pieces += 1
            self.parts.write(r"\[", span[0])
            if _reads_alike(self.text[slice(*span)], statement):
                self.parts.copy(*span)
            else:
                for letter in to_latex(nodes.Program((statement,))):
                    self.parts.write(letter, span[0])  # so that errors are at the statement
            self.parts.write(NAMED + "\\]\n", span[1])

    def ticked(self, mark: re.Match) -> int:
        end = self.closing("`$", mark.end())
        return self.inline(mark, end - 2, end) if end else mark.end()

    def environment(self, mark: re.Match) -> int:
        end = self.closing(rf"\end{{{mark['environment']}}}", mark.end())
        return self.whole(mark.start(), end) if end else mark.end()

    def bracket(self, mark: re.Match) -> int:
        doubled = mark[0][:-2]
        closer = doubled + CLOSERS[mark["bracket"]]
        end = self.closing(closer, mark.end())
        if not end or end > self.end_of_paragraph(mark.end()):
            return mark.end()
        return self.maths(mark["bracket"], mark.start(), (mark.end(), end - len(closer)), closer[-2:], end)

    def dollars(self, mark: re.Match) -> int:
        end = self.closing("$$", mark.end())
        return self.whole(mark.start(), end) if end and end <= self.end_of_paragraph(mark.end()) else mark.end()

    def dollar(self, mark: re.Match) -> int:
        if MONEY.match(self.text, mark.end()):
            return mark.end()
        for closing in DOLLAR.finditer(self.text, mark.end(), self.end_of_paragraph(mark.end())):
            if closing[0] == "$":
                end = closing.end()
                money = self.text[end - 2].isspace() or self.text[end : end + 1].isdecimal()
                return mark.end() if money else self.inline(mark, end - 1, end)
        return mark.end()

    def inline(self, mark: re.Match, inside: int, end: int) -> int:
        return self.maths("$", mark.start(), (mark.end(), inside), "$", end)

    def whole(self, start: int, end: int) -> int:
        return self.maths("", start, (start, end), "", end)

    def maths(self, opening: str, start: int, inside: tuple[int, int], closing: str, end: int | None = None) -> int:
        """Copy a formula after the definitions in it, which also apply to what follows."""
        for define in DEFINE.finditer(self.text, *inside):
            self.define(define)
        self.pieces += 1
        self.parts.write(opening, start)
        self.parts.copy(*inside)
        self.parts.write(closing + "\n", inside[1])
        return end or inside[1]

    def define(self, mark: re.Match) -> int:
        end = definition_end(self.text, mark)
        if end is not None:
            self.parts.copy(mark.start(), end)
            self.parts.write("\n", end)
        return end or mark.end()

    # ------------------------------------------------------------------------------------------------- where it is over
    def closing(self, closer: str, position: int) -> int | None:
        """The next `closer`, before the next blank line or not; None where there is none."""
        end = next_end(self.text, closer, position)
        return None if end < 0 else end

    def end_of_paragraph(self, position: int) -> int:
        if position >= self.paragraph:
            blank = PARAGRAPH.search(self.text, position)
            self.paragraph = blank.start() if blank else len(self.text)
        return self.paragraph


READERS = {
    "fence": _Markdown.fence,
    "title": _Markdown.heading,
    "html": _Markdown.html,
    "ticked": _Markdown.ticked,
    "code": _Markdown.code,
    "environment": _Markdown.environment,
    "define": _Markdown.define,
    "bracket": _Markdown.bracket,
    "dollars": _Markdown.dollars,
    "dollar": _Markdown.dollar,
}
