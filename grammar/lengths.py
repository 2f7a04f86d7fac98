"""Limit the length of a source and of its literals, before it is tokenized.

Parsing time grows with the length of a source. The number of elements in a literal is estimated from the separators
between its brackets. A source with a million numbers is therefore rejected before it is tokenized.
"""

from __future__ import annotations

import re

from .errors import NotationError, Span

MAX_TEXT_CHARS = 10**7  # The maximum number of characters in a source.
MAX_LITERAL_NUMBERS = 10**5  # The maximum total of numbers in the literals of a source.

CLOSES = {"[": "]", "{": "}", "(": ")"}
# For each syntax, the separators of literal elements by bracket, and a pattern that matches brackets and separators.
SEPARATORS = {"text": {"[": (",", ";")}, "latex": {"[": (",", ";"), "{": ("&", "\\\\")}}
PIECES = {
    "text": re.compile(r"#[^\n]*|[][(){}]|[^][(){}#]+"),
    "latex": re.compile(r"%[^\n]*|[][(){}]|\\[][(){}%]|(?:[^][(){}%\\]|\\[^][(){}%])+|\\", re.DOTALL),
}
COMMENT = {"text": "#", "latex": "%"}


def check_lengths(source: str, syntax: str, literal: int = MAX_LITERAL_NUMBERS, text: int = MAX_TEXT_CHARS) -> None:
    """Raise NotationError if a source is too long or its literals contain too many numbers."""
    if len(source) > text:
        raise NotationError(
            404, f"the source has {len(source)} characters; the limit is {text}", source, (0, len(source)),
            hint="pass large tensors by name, or raise limits.max_source_chars",
        )  # fmt: skip
    separators = {sign for signs in SEPARATORS[syntax].values() for sign in signs}
    if sum(map(source.count, separators)) >= literal:
        total = 0
        for count, span in cells(source, syntax):
            if count > literal:
                raise too_many_cells(count, literal, source, span)
            total += count if count > 1 else 0
            if total > literal:
                raise NotationError(
                    404, f"the tensor literals have more than {literal} elements, which is the limit", source, span,
                    hint="pass them as tensors, or raise limits.max_literal_elements",
                )  # fmt: skip


def too_many_cells(count: int, limit: int, source: str, span: Span) -> NotationError:
    return NotationError(
        404, f"the tensor literal has {count} elements; the limit is {limit}", source, span,
        hint="pass it as a tensor, or raise limits.max_literal_elements",
    )  # fmt: skip


def cells(source: str, syntax: str):
    """Yield the estimated number of elements and the span of each bracket that may be a literal."""
    separators = SEPARATORS[syntax]
    opened: list[tuple[str, int]] = []
    counts: list[int] = []
    for match in PIECES[syntax].finditer(source):
        piece = match[0]
        if piece in CLOSES:
            opened.append((piece, match.start()))
            counts.append(1)
        elif piece in (")", "]", "}"):
            if opened and CLOSES[opened[-1][0]] == piece:
                sign, start = opened.pop()
                count = counts.pop()
                if sign in separators:
                    yield count, (start, match.end())
        elif opened and piece[0] != COMMENT[syntax]:
            counts[-1] += sum(map(piece.count, separators.get(opened[-1][0], ())))
    for (sign, start), count in zip(opened, counts):  # These brackets are never closed.
        if sign in separators:
            yield count, (start, len(source))
