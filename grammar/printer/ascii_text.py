"""Lay out formulas in ASCII, with a backslash and a name for symbols without an ASCII character."""

from __future__ import annotations

import re
from dataclasses import replace

from ..nodes import Name
from ..symbols import GREEK_MACROS, SPELLED_GREEK
from ..traversal import names_in
from .boxes import QUOTIENT, Box, begins
from .forms import ASCII
from .statements import TextLayout

LABELS = {letter: f"\\{name}" for name, letter in GREEK_MACROS.items()} | {"∞": "\\infty"}
WORDS = LABELS | {letter: name for name, letter in SPELLED_GREEK.items()} | {"∞": "inf"}


class AsciiLayout(TextLayout):
    column = ASCII

    def __init__(self, node):
        super().__init__(node)
        self.taken = names_in(node)  # If a tensor has the name of a function, print the function's symbol instead.

    def spell(self, text: str) -> str:
        letter = text.rstrip("'")
        return WORDS.get(letter, letter) + text[len(letter) :]

    def spell_axis(self, text: str) -> str:
        letter = text.rstrip("'*†")
        return LABELS.get(letter, letter) + text[len(letter) :].replace("†", self.signs["†"])

    def product(self, node) -> Box:
        if node.operator != "⊕" or "concat" in self.taken:
            return super().product(node)
        return self.function(replace(node, operator="concat"))

    def root(self, node) -> Box:
        return super().root(node) if "sqrt" in self.taken else self.function(node)

    def put_before(self, sign, operand):
        return self.signs[sign] + ("" if begins(operand, "(") else " "), operand

    def derivative(self, node) -> Box:
        """Return d(f(X))/dX* if the variable is a plain name and every axis has a star.

        Otherwise, return the same layout as in text.
        """
        is_plain = type(node.variable) is Name and re.fullmatch("[A-Za-z][A-Za-z0-9]*'*", node.variable.text)
        if node.mark != "*" or not is_plain:
            return super().derivative(node)
        return Box(("d", self.round(self.box_of(node.body)), f"/d{node.variable.text}*"), QUOTIENT)
