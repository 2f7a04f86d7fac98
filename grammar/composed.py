"""A string joined from several files that remembers each part's file and line.

Errors report the line in the original file, not the line in the composed text. Other code can treat a `ComposedText`
like any other string.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple, Self


class SourcePart(NamedTuple):
    """Consecutive lines from one file. The file is "" for text that the caller passed directly."""

    text: str
    file: str = ""
    line: int = 1

    def rows(self) -> list[SourcePart]:
        """Return one part for each line of the text."""
        lines = self.text.splitlines(keepends=True)
        return [SourcePart(text, self.file, self.line + number) for number, text in enumerate(lines)]


class ComposedText(str):
    r"""A string that records the file and line of each character, for `errors.location`.

    >>> from grammar.errors import location
    >>> location(ComposedText((SourcePart("a = 1\n", "other.nt", 7), SourcePart("b = 2"))), 3)
    ('other.nt', 7)
    """

    parts: tuple[SourcePart, ...]
    _starts: list[int]

    def __new__(cls, parts: Iterable[SourcePart]) -> Self:
        parts = tuple(part for part in parts if part.text)
        composed = super().__new__(cls, "".join(part.text for part in parts))
        composed.parts, composed._starts, length = parts, [], 0
        for part in parts:
            composed._starts.append(length)
            length += len(part.text)
        return composed

    def __reduce__(self) -> Any:
        return ComposedText, (self.parts,)

    def locate(self, offset: int) -> tuple[str, int]:
        """Return the file and the 1-based line number of the character at an offset."""
        number = max(bisect_right(self._starts, offset) - 1, 0)
        if not self.parts:
            return "", 1
        part = self.parts[number]
        return part.file, part.line + part.text.count("\n", 0, offset - self._starts[number])
