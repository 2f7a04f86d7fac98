"""Report unindented lines that begin with + or − after a complete equation, such as −∑_{a} x below y = 2 x.

Such a line is ambiguous, because it could continue the equation or start a new statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from .errors import Hint, NotationError
from .function_names import statements
from .text_tables import JOINS_AFTER
from .tokens import Token, depths

ENDS_SIDE = ("EQUALS", "APPROX", "FOR", "IN")


def refuse_continued_lines(tokens: Sequence[Token], source: str) -> None:
    """Raise NotationError at the first unindented line that begins with + or − after a complete equation."""
    for line in statements(tokens):
        margin = _indentation(line[0].start, source)
        equated = False
        for index, depth in enumerate(depths(line[1:])):
            before, token = line[index], line[index + 1]
            equated = equated or before.type == "EQUALS"
            if depth or not equated or token.type not in ("PLUS", "MINUS") or before.type in JOINS_AFTER:
                continue
            indentation = _indentation(token.start, source)
            if margin is not None and indentation is not None and indentation <= margin:
                raise _line_error(line[index + 1 :], source)


def _line_error(line: Sequence[Token], source: str) -> NotationError:
    """Return the error for a line that begins with + or −. Its hint offers one edit per meaning."""
    ends = (
        index for index, (token, depth) in enumerate(zip(line, depths(line))) if not depth and token.type in ENDS_SIDE
    )
    start, end = line[0].start, line[next(ends, len(line)) - 1].end
    sign, rest = source[start : start + 1], source[start + 1 : end].lstrip()
    apart = rest if sign == "+" else f"({source[start:end]})"
    first = source.rfind("\n", 0, start) + 1
    margin = source[first:start]
    return NotationError(
        107, f"this line begins with {sign} at the margin, below a complete equation", source, (start, end),
        hint=Hint(
            f"indent the line to continue the equation, or write {apart} for a separate statement",
            f"{margin}  {source[start:end]}", margin + apart, at=(first, end),
        ),
    )  # fmt: skip


def _indentation(start: int, source: str) -> int | None:
    """Return the indentation of the line that begins at `start`.

    Return None if other text precedes `start` on its line.
    """
    first = source.rfind("\n", 0, start) + 1
    return None if source[first:start].strip() else start - first
