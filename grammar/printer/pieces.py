"""Printed pieces of a formula, and the brackets between them.

Each part of a tree is printed to a `Piece`: its text, and its precedence. Code that takes a piece as an
operand says on which level it must bind at least; a looser one gets brackets. The levels are the levels of
`formula.lark`.

    (a + b) ⊙ c         ⊙ asks for PRODUCT on its left, and a + b binds on SUM only

A method prints one kind of node. It is a generator: it yields each part that it needs printed, and is sent its piece,
so that a tree may be deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, Union

from ..symbols import SYMBOLS, value

# From the loosest to the tightest. The grammar knows QUOTIENT as PRODUCT, but a reader doubts a / b ⊙ c.
OR, AND, NOT, RELATION, SUM, QUOTIENT, PRODUCT, UNARY, JUXTAPOSITION, ELEMENT, POSTFIXED, ATOM = range(12)


class Piece(NamedTuple):
    """A printed part. `reaches` is true if the part ends in a ∑, whose operand would absorb a following product."""

    text: str
    level: int = ATOM
    reaches: bool = False


Printing = Union[Piece, Generator[Any, Any, Any]]  # the result of a method: a piece, or a generator that returns one


def signs(column: str) -> dict[str, str]:
    """Return a mapping from the value of each symbol in the tree to its preferred form."""
    return {value(symbol): getattr(symbol, column).split()[0] for symbol in SYMBOLS}


class Printer:
    """The base class of printers, which prints nodes of any kind and adds brackets to operands."""

    signs = signs("text")

    def text(self, node: Any) -> str:
        return self.run(self.visit(node)).text

    def run(self, piece: Printing) -> Piece:
        waiting: list[Generator[Any, Any, Any]] = []
        while True:
            answer = piece if isinstance(piece, Piece) else None
            if not isinstance(piece, Piece):
                waiting.append(piece)
            elif not waiting:
                return piece
            try:
                piece = waiting[-1].send(answer)
            except StopIteration as finished:
                waiting.pop()
                piece = finished.value

    def visit(self, node: Any) -> Printing:
        return getattr(self, type(node).__name__.lower())(node)

    def part(self, node, level: int, last: bool = False):
        """Return the piece for an operand, in brackets if the operand binds more loosely than `level`.

        Only a `last` operand, which no product can follow, may end in a ∑.
        """
        piece = yield self.visit(node)
        return piece if piece.level >= level and (last or not piece.reaches) else self.bracketed(piece)

    def right(self, node, level: int):
        """Print the last operand, with brackets if it begins with a sign."""
        piece = yield from self.part(node, level, last=True)
        return self.bracketed(piece) if piece.text.startswith("-") else piece

    def each(self, parts, level: int):
        """Print parts that commas or relations separate."""
        texts = []
        for part in parts:
            piece = yield from self.part(part, level, last=True)
            texts.append(piece.text)
        return texts

    def gathered(self, ways):
        """Return the strings that several generators produce, as a list."""
        texts = []
        for way in ways:
            texts.append((yield from way))
        return texts

    def bracketed(self, piece: Piece) -> Piece:
        return Piece(self.round(piece.text))

    def round(self, text: str) -> str:
        return f"({text})"

    def square(self, text: str) -> str:
        return f"[{text}]"
