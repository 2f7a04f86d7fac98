"""The spans of the statements in the text of a program.

They are found without parsing, so an invalid statement does not hide other statements.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from grammar.errors import Span

COMMENT = re.compile(r"#[^\n]*")
EXERCISE = re.compile(r"^#:\s*exercise\b", re.MULTILINE)
JOINS_BEFORE = re.compile(
    r"\s*(?:[=≔≜≡≐≈≃∝,:→←∈∼×…⋯+\-−–/∕÷⊙·*∗⋅@⊕★⊗⊖⊘⊛∘•⋄△⊞⊠⊡≠≤≥<>!∧∨;)\]}]|(?:and|or|for|in|where)\b)"
)
JOINS_AFTER = re.compile(r"(?:[=≔≜≡≐≈≃∝,:→←∈∼×+\-−–/∕÷⊙·*∗⋅@⊕★⊗⊖⊘⊛∘•√∂∑∏≠≤≥<>∧∨¬;]|\b(?:and|or|not|for|in|where))\s*$")
HEAD = re.compile(r"[^\W\d_][^\s=∈:(){}\[\]]*(?:\{[^{}\n]*\}[^\s=∈:(){}\[\]]*)*(?:\([^()\n]*\))?\s*(?:=|∈|≜|≔|:)")
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class StatementText(NamedTuple):
    """The text of a statement, or of several statements that cannot be separated, with its start in the whole text."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """The position at which the statement ends."""
        return self.start + len(self.text)


def split(text: str) -> list[StatementText]:
    r"""Return the statements in the text of a program, without the comments between them.

    A line continues the statement above if a bracket is open, or if an operator ends that statement or begins the line.
    After a bracket that is never closed, a line that looks like a definition begins a statement.

    >>> [each.text for each in split("# X\nX ∈ ℝ^{a}\nY = X +\n  1  # one\nZ = (X\nW = Y")]
    ['X ∈ ℝ^{a}', 'Y = X +\n  1', 'Z = (X', 'W = Y']
    """
    spans: list[Span] = []
    depth, position, joined = 0, 0, False
    for line in text.split("\n"):
        code = (line if "#" not in line else COMMENT.sub("", line)).rstrip()
        if code.strip():
            start = position + len(code) - len(code.lstrip())
            again = depth > 0 and HEAD.match(line) is not None
            begins = not spans or again or (depth <= 0 and not joined and not JOINS_BEFORE.match(code))
            if begins:
                depth = 0
                spans.append((start, position + len(code)))
            else:
                spans[-1] = spans[-1][0], position + len(code)
            depth = max(0, depth + sum((character in OPENING) - (character in CLOSING) for character in code))
            joined = JOINS_AFTER.search(code) is not None
        position += len(line) + 1
    return [StatementText(start, text[start:end]) for start, end in spans]


def statement_at(statements: list[StatementText], span: Span | None) -> int | None:
    """Return the index of the statement in which a span begins, or None if there is no span or no statement.

    Text before the first statement is treated as part of the first statement.
    """
    if span is None or not statements:
        return None
    return max(0, bisect_right(statements, span[0], key=lambda statement: statement.start) - 1)


def scopes(text: str) -> list[Span]:
    """Return the spans of the programs in a text: each exercise of an exercise file, or else the whole text."""
    starts = [heading.start() for heading in EXERCISE.finditer(text)]
    if not starts:
        return [(0, len(text))]
    bounds = [*([0] if text[: starts[0]].strip() else []), *starts, len(text)]
    return [span for span in zip(bounds, bounds[1:]) if span[0] < span[1]]


def blank_spans(text: str, spans: list[Span]) -> str:
    """Return the text with some spans replaced by blanks, so that all other text keeps its position."""
    for start, end in spans:
        blank = "".join(character if character == "\n" else " " for character in text[start:end])
        text = text[:start] + blank + text[end:]
    return text
