r"""Convert HTML to a LaTeX document: its headings, and the formulas that MathJax or KaTeX would typeset.

    <h1>Attention</h1>                        \section{Attention}
    \(Q \ndot{\key} K &gt; 0\)                 \(Q \ndot{\key} K > 0\)
    <!-- namedtensor: X ∈ ℝ^{seq} -->         % namedtensor: X ∈ ℝ^{seq}

Formulas are in `\(…\)`, `\[…\]`, `$$…$$` and environments, with entities for `<`, `>` and `&`; a single `$` is a
currency sign. Scripts, styles and code are skipped.
"""

from __future__ import annotations

import html
import re

from .included_files import FileParts, Whole
from .markdown import REMARK
from .maths import CLOSERS, DEFINING, DISPLAYS, PIECES, definition_end, next_end

MARK = re.compile(
    rf"""<!--(?P<remark>.*?)-->
    |<(?P<silent>script|style|pre|code|textarea|head)\b[^>]*>
    |<h[12]\b[^>]*>(?P<title>.*?)</h[12]>
    |\\begin\{{(?P<environment>(?:{"|".join(DISPLAYS)})\*?)\}}
    |(?P<define>{DEFINING})
    |(?P<opening>\\[(\[]|\$\$)
    |\\.""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
MARKUP = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w{1,30});|</?[a-z][^<>]{0,300}>", re.IGNORECASE)


def whole_hypertext(text: str, file: str) -> Whole:
    """Return the headings and formulas of an HTML page."""
    reading = _Hypertext(text, file)
    reading.run()
    return reading.parts.whole()


class _Hypertext:
    def __init__(self, text: str, file: str):
        self.text, self.parts = text, FileParts(file, text)
        self.lower = text.lower()

    def run(self) -> None:
        position = pieces = 0
        while pieces <= PIECES and (mark := MARK.search(self.text, position)):
            position = mark.end()
            if mark["remark"] is not None:
                self.remarks(*mark.span("remark"))
            elif mark["silent"]:
                position = max(next_end(self.lower, f"</{mark['silent'].lower()}>", position), position)
            elif mark["title"] is not None:
                self.heading(mark)
            elif mark["define"]:
                position = definition_end(self.text, mark) or position
                self.copy(mark.start(), position)
            elif mark["environment"] or mark["opening"]:
                pieces += 1
                closer = rf"\end{{{mark['environment']}}}" if mark["environment"] else CLOSERS[mark["opening"]]
                end = next_end(self.text, closer, position)
                if end >= 0:
                    self.copy(mark.start(), end)
                    position = end

    def remarks(self, start: int, end: int) -> None:
        for match in REMARK.finditer(self.text, start, end):
            self.parts.write("% ", match.start())
            self.copy(*match.span())

    def heading(self, mark: re.Match) -> None:
        self.parts.write(r"\section{", mark.start())
        self.parts.write(" ".join(re.sub(r"<[^<>]*>", "", mark["title"]).split()), mark.start("title"))
        self.parts.write("}\n", mark.end())

    def copy(self, start: int, end: int) -> None:
        """A stretch on lines of its own, as a browser shows it: entities as their characters, and without tags."""
        position = start
        for match in MARKUP.finditer(self.text, start, end):
            self.parts.copy(position, match.start())
            if match[0][0] == "&":
                self.parts.write(html.unescape(match[0]), match.start())
            position = match.end()
        self.parts.copy(position, end)
        self.parts.write("\n", end)
