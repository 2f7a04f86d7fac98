"""Positions in a text as editors count them, by line and column from 0. Columns count UTF-16 units by default."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}  # bytes of a unit


class Position(NamedTuple):
    """A line and a column, both counted from 0."""

    line: int
    character: int


class Lines:
    """The lines of a text, for conversion between positions in an editor and offsets in the text.

    >>> lines = Lines("a\\n𝒮x")
    >>> lines.position(3), lines.offset(Position(1, 2)), Lines("𝒮x", "utf-32").position(1)
    (Position(line=1, character=2), 3, Position(line=0, character=1))
    """

    def __init__(self, text: str, encoding: str = "utf-16"):
        self.text, self.encoding = text, encoding
        self.ascii = text.isascii()
        self.starts = [0]
        at = text.find("\n")
        while at >= 0:
            self.starts.append(at + 1)
            at = text.find("\n", at + 1)

    def position(self, offset: int) -> Position:
        """Return the position of an offset. An offset after the end of the text is treated as the end of the text."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.starts, offset) - 1
        return Position(line, self._units(self.text[self.starts[line] : offset]))

    def offset(self, position: tuple[int, int]) -> int:
        """Return the offset of a position. A column after the end of its line is treated as the end of the line."""
        line, character = position
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[max(line, 0)]
        end = self.text.find("\n", start)
        text = self.text[start : len(self.text) if end < 0 else end]
        if self.ascii or self.encoding == "utf-32":
            return start + max(0, min(character, len(text)))
        units = 0
        for at, character_there in enumerate(text):
            if units >= character:
                return start + at
            units += self._units(character_there)
        return start + len(text)

    def _units(self, text: str) -> int:
        if self.ascii or self.encoding == "utf-32":
            return len(text)
        encoded = text.encode("utf-8" if self.encoding == "utf-8" else "utf-16-le", "surrogatepass")
        return len(encoded) // UNITS.get(self.encoding, 2)
