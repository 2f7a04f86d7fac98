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
    rf"""(?P<remark><!--)
    |<(?P<silent>script|style|pre|code|textarea|head)\b
    |<(?P<title>h[12])\b
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
            if mark["remark"]:
                position = self.remarks(position)
            elif mark["silent"]:
                position = max(next_end(self.lower, f"</{mark['silent'].lower()}>", position), position)
            elif mark["title"]:
                position = self.heading(mark)
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

    def remarks(self, start: int) -> int:
        """Copy the directives of a comment, and return the position after it, or `start` if nothing closes it."""
        end = next_end(self.text, "-->", start)
        for match in REMARK.finditer(self.text, start, end - 3) if end >= 0 else ():
            self.parts.write("% ", match.start())
            self.copy(*match.span())
        return max(end, start)

    def heading(self, mark: re.Match) -> int:
        """Write a heading as a section, and return the position after it, or after its tag's name if nothing closes it."""
        start = next_end(self.text, ">", mark.end())
        closer = f"</{mark['title'].lower()}>"
        end = next_end(self.lower, closer, start) if start >= 0 else -1
        if end < 0:
            return mark.end()
        title = re.sub(r"<[^<>]*>", "", self.text[start : end - len(closer)])
        self.parts.write(r"\section{", mark.start())
        self.parts.write(" ".join(title.split()), start)
        self.parts.write("}\n", end)
        return end

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
