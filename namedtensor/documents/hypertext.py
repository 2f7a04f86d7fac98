r"""Convert HTML to a LaTeX document of its headings and the formulas that MathJax or KaTeX would typeset.

    <h1>Attention</h1>                        \section{Attention}
    \(Q \ndot{\key} K &gt; 0\)                 \(Q \ndot{\key} K > 0\)
    <!-- namedtensor: X ∈ ℝ^{seq} -->         % namedtensor: X ∈ ℝ^{seq}

The formulas are in `\(…\)`, `\[…\]`, `$$…$$` and environments. Entities may stand for `<`, `>` and `&`. A single `$` is
a currency sign. Scripts, styles and code are skipped.
"""

from __future__ import annotations

import html
import re

from .included_files import Whole
from .maths import CLOSERS, next_end
from .reader import DEFINE, ENVIRONMENT, DocumentReader

MARKUP = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w{1,30});|</?[a-z][^<>]{0,300}>", re.IGNORECASE)


def whole_hypertext(text: str, file: str) -> Whole:
    """Convert an HTML page to a LaTeX document that contains its headings and formulas."""
    return HypertextReader(text, file).whole()


class HypertextReader(DocumentReader):
    """A reader of HTML."""

    MARK = re.compile(
        rf"""(?P<comment><!--)
        |<(?P<silent>script|style|pre|code|textarea|head)\b
        |<(?P<title>h[12])\b
        |{ENVIRONMENT}
        |{DEFINE}
        |(?P<opening>\\[(\[]|\$\$)
        |\\.""",
        re.VERBOSE | re.DOTALL | re.IGNORECASE,
    )

    def __init__(self, text: str, file: str):
        super().__init__(text, file)
        self.lower = text.lower()

    def silent(self, mark: re.Match) -> int:
        return max(next_end(self.lower, f"</{mark['silent'].lower()}>", mark.end()), mark.end())

    def title(self, mark: re.Match) -> int:
        """Write a heading as a section, and return the position after it.

        If the heading is not closed, return the position after its tag.
        """
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

    def opening(self, mark: re.Match) -> int:
        end = self.closing(CLOSERS[mark["opening"]], mark.end())
        return self.write_whole(mark.start(), end) if end else mark.end()

    def copy(self, start: int, end: int) -> None:
        """Copy a range of the page without its tags, and with entities replaced by their characters."""
        position = start
        for match in MARKUP.finditer(self.text, start, end):
            self.parts.copy(position, match.start())
            if match[0][0] == "&":
                self.parts.write(html.unescape(match[0]), match.start())
            position = match.end()
        self.parts.copy(position, end)
