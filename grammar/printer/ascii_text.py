"""Printing of nodes in ASCII. Symbols without an ASCII character become a backslash and a name."""

from __future__ import annotations

import re
from dataclasses import replace

from ..nodes import Name
from ..symbols import GREEK_MACROS, SPELLED_GREEK
from ..traversal import names_in
from .pieces import QUOTIENT, Piece, signs
from .text import Text

LABELS = {letter: f"\\{name}" for name, letter in GREEK_MACROS.items()} | {"∞": "\\infty"}
WORDS = LABELS | {letter: name for name, letter in SPELLED_GREEK.items()} | {"∞": "inf"}


class Ascii(Text):
    signs = signs("ascii") | {"¬": "not ", "⊕": "\\oplus", "√": "\\surd", "∂": "\\partial"}
    dot = "*"
    defining = ":="
    mean = "E"
    times = ", "

    def __init__(self, node):
        self.taken = names_in(node)  # if a tensor has the name of a function, the function's symbol is printed

    def word(self, text: str) -> str:
        letter = text.rstrip("'")
        return WORDS.get(letter, letter) + text[len(letter) :]

    def axis_word(self, text: str) -> str:
        letter = text.rstrip("'*†")
        return LABELS.get(letter, letter) + text[len(letter) :].replace("†", self.signs["†"])

    def bars(self, operand: str) -> str:
        return f"\\norm({operand})"

    def under(self, operator: str, axes: str) -> str:
        return f"@_{{{axes}}}" if operator == "⊙" else super().under(operator, axes)

    def product(self, node):
        if node.operator != "⊕" or "concat" in self.taken:
            return (yield from super().product(node))
        return (yield from self.function(replace(node, operator="concat")))

    def root(self, node):
        return (yield from (super().root if "sqrt" in self.taken else self.function)(node))

    def before(self, sign: str, operand: str) -> str:
        return self.signs[sign] + ("" if operand.startswith("(") else " ") + operand

    def derivative(self, node):
        """Print d(f(X))/dX* if the variable is a plain name with every axis starred."""
        plain = type(node.variable) is Name and re.fullmatch("[A-Za-z][A-Za-z0-9]*'*", node.variable.text)
        if node.mark != "*" or not plain:
            return (yield from super().derivative(node))
        body = yield self.visit(node.body)
        return Piece(f"d({body.text})/d{node.variable.text}*", QUOTIENT)
