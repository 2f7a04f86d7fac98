"""Nodes to text or LaTeX in which each axis has a color: `\\textcolor` around its name, or what a terminal reads so.

What is printed is what the other printers print, but for the colors.
"""

from __future__ import annotations

from collections.abc import Mapping

from .ascii_text import Ascii
from .latex import Latex, Macros
from .text import Text

RESET = "\x1b[0m"


class ColoredPrinter:
    """The base of the colored printers: `colors` has the text before the name of each axis."""

    colors: Mapping[str, str] = {}
    after = ""

    def tinted(self, axis: str, text: str) -> str:
        return f"{self.colors[axis]}{text}{self.after}" if axis in self.colors else text


class Terminal(ColoredPrinter, Text):
    """Text for terminals; a color is its escape sequence."""

    after = RESET

    def __init__(self, node, colors: Mapping[str, str]):
        super().__init__()
        self.colors = colors

    def braced(self, content: str) -> str:
        bare = content.replace(RESET, "")
        for color in self.colors.values():
            bare = bare.replace(color, "")
        return content if super().braced(bare) == bare else f"{{{content}}}"


class AsciiTerminal(Terminal, Ascii):
    """The same in ASCII."""

    def __init__(self, node, colors: Mapping[str, str]):
        Ascii.__init__(self, node)
        self.colors = colors


class ColoredLatex(ColoredPrinter, Latex):
    """LaTeX that KaTeX and MathJax render; a color is #0b80a6."""

    after = "}"

    def __init__(self, node, colors: Mapping[str, str]):
        super().__init__(node)
        self.colors = {axis: f"\\textcolor{{{color}}}{{" for axis, color in colors.items()}


class ColoredMacros(ColoredPrinter, Macros):
    """LaTeX in the macros of the paper, with the colors of the package xcolor."""

    after = "}"

    def __init__(self, node, colors: Mapping[str, str]):
        super().__init__(node)
        self.colors = {axis: f"\\textcolor[HTML]{{{color.lstrip('#').upper()}}}{{" for axis, color in colors.items()}
