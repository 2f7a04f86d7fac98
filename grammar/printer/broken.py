r"""Line breaks in long formulas. A break precedes the loosest operator on the outermost level with operators.

Y &= A + B + C        Y &= A + B \\ &\quad {} + C
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .breadth import breadth

TOKEN = re.compile(r"\\(?:left|right)\s*(?:\\[A-Za-z]+|\\.|.)|\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
LOOSEST_FIRST = (
    r"= \in \to \rightarrow",
    "+ -",
    r"\odot \cdot \ndot \ncat \nbin \mathbin \times \star \oplus \land \lor",
)
LEVEL = {token: level for level, tokens in enumerate(LOOSEST_FIRST) for token in tokens.split()}
OPENING, CLOSING = "([", ")]"
INDENT_EMS = 1.0  # ems of \quad before what goes on
MAX_LEFT_SHARE = 0.45  # of a row that the left sides may take before all begin at the margin


class Break(NamedTuple):
    """A possible line break in a row: the enclosing brackets, their number, and the precedence of the next operator."""

    depth: int
    level: int
    position: int
    brackets: tuple[tuple[int, int], ...]


def display(rows: list[str], width: float) -> str:
    r"""Return rows aligned at their relations, as a display at most `width` ems wide if line breaks allow it.

    >>> print(display(["Y &= A + B", "Z &= C"], 30))
    \begin{align*}
    Y &= A + B \\
    Z &= C
    \end{align*}
    """
    lines = align_rows(rows, width)
    left = heads(rows)
    if left > MAX_LEFT_SHARE * width or any(left + breadth(line.partition("&")[2]) > width for line in lines):
        lines = align_left(rows, width)
    text = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{text}\n\\end{{align*}}"


def heads(rows: list[str]) -> float:
    """Return the width of the left sides, which form one column."""
    return max((breadth(row.partition("&")[0]) for row in rows if "&" in row), default=0.0)


def align_rows(rows: list[str], width: float) -> list[str]:
    """Return the rows aligned at their relations."""
    lines: list[str] = []
    for row in rows:
        head, _, body = row.partition("&") if "&" in row else ("", "", row)
        lines += lines_of(f"{head}&", broken(body, width - heads(rows)))
    return lines


def align_left(rows: list[str], width: float) -> list[str]:
    """Return the rows aligned at the left margin. Such a row may also be broken before its relation."""
    return [line for row in rows for line in lines_of("&", broken(row.replace("&", "", 1), width, whole="&" in row))]


def lines_of(head: str, parts: list[str]) -> list[str]:
    """Return the lines of a broken row, with all lines after the first indented."""
    return [head + parts[0], *(f"&\\quad {{}}{part}" for part in parts[1:])]


def broken(text: str, width: float, whole: bool = False) -> list[str]:
    """Break a formula into lines of at most the given width. A line that cannot be broken stays longer.

    A `whole` statement is broken at the relation between its sides only as a last resort.
    """
    pieces: list[str] = []
    while breadth(text) > width - INDENT_EMS * bool(pieces):
        chosen = best(text, width - INDENT_EMS * bool(pieces), whole)
        if chosen is None:
            break
        text, moved = opened(text, chosen)
        pieces.append(text[:moved].rstrip())
        text, whole = text[moved:], whole and chosen.depth > 0
    return [*pieces, text]


def best(text: str, width: float, whole: bool) -> Break | None:
    """Return the last outermost break after a first line that fits, or the first break if there is no such break."""
    result = breaks(text, whole)
    for key in sorted({(break_.depth, break_.level) for break_ in result}):
        group = [break_ for break_ in result if (break_.depth, break_.level) == key]
        fitting = [break_ for break_ in group if breadth(opened(text, break_)[0][: break_.position]) <= width]
        if fitting and breadth(text[: fitting[-1].position]) > 0.25 * width:
            return fitting[-1]
    return min(result, key=lambda break_: break_.position, default=None)


def breaks(text: str, whole: bool = False) -> list[Break]:
    """Return every position at which a row may be broken. Braces and environments are never broken."""
    result: list[Break] = []
    stack: list[int] = []  # where brackets open
    pairs: dict[int, int] = {}
    braces, before = 0, ""
    waiting: list[tuple[int, int, tuple[int, ...]]] = []
    for token in TOKEN.finditer(text):
        word = token[0]
        if word.isspace():
            continue
        bracket = word[-1] if word.startswith(("\\left", "\\right")) else word
        if word == "{" or word == "\\begin":
            braces += 1
        elif word == "}" or word == "\\end":
            braces -= 1
        elif braces == 0 and bracket in OPENING:
            stack.append(token.start())
        elif braces == 0 and bracket in CLOSING and stack:
            pairs[stack.pop()] = token.start()
        elif braces == 0 and word in LEVEL and before not in ("", *LEVEL) and before[-1] not in OPENING + ",":
            waiting.append((LEVEL[word], token.start(), tuple(stack)))
        before = word
    first = next((position for level, position, opened_at in waiting if level == 0 and not opened_at), None)
    for level, position, opened_at in waiting:
        if whole and position == first:
            level = len(LOOSEST_FIRST)  # the relation of the statement itself is left last
        if all(index in pairs for index in opened_at):
            brackets = tuple((index, pairs[index]) for index in opened_at)
            result.append(Break(len(brackets), level, position, brackets))
    return result


def opened(text: str, chosen: Break) -> tuple[str, int]:
    r"""Set the brackets around a break to a fixed size, and return the new LaTeX and the position of the break."""
    position = chosen.position
    for start, word, fixed in sorted(
        [(start, "\\left", "\\Bigl") for start, _ in chosen.brackets]
        + [(end, "\\right", "\\Bigr") for _, end in chosen.brackets],
        reverse=True,
    ):
        if text.startswith(word, start):
            text = text[:start] + fixed + text[start + len(word) :]
            position += (len(fixed) - len(word)) * (start < chosen.position)
    return text, position
