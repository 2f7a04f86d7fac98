"""Nodes to text or LaTeX in which each axis has a colour: `\\textcolor` around its name, or what a terminal reads so.

What is printed is what the other printers print, but for the colours.
"""

from __future__ import annotations

from collections.abc import Mapping

from .ascii_text import Ascii
from .latex import Latex, Macros
from .text import Text

RESET = "\x1b[0m"


class Coloured:
    """The base of the coloured spellings: `colours` has what stands before the name of each axis."""

    colours: Mapping[str, str] = {}
    after = ""

    def tinted(self, axis: str, text: str) -> str:
        return f"{self.colours[axis]}{text}{self.after}" if axis in self.colours else text


class Terminal(Coloured, Text):
    """Text for terminals; a colour is its escape sequence."""

    after = RESET

    def __init__(self, node, colours: Mapping[str, str]):
        super().__init__()
        self.colours = colours

    def braced(self, content: str) -> str:
        bare = content.replace(RESET, "")
        for colour in self.colours.values():
            bare = bare.replace(colour, "")
        return content if super().braced(bare) == bare else f"{{{content}}}"


class AsciiTerminal(Terminal, Ascii):
    """The same in ASCII."""

    def __init__(self, node, colours: Mapping[str, str]):
        Ascii.__init__(self, node)
        self.colours = colours


class ColouredLatex(Coloured, Latex):
    """LaTeX that KaTeX and MathJax render; a colour is #0b80a6."""

    after = "}"

    def __init__(self, node, colours: Mapping[str, str]):
        super().__init__(node)
        self.colours = {axis: f"\\textcolor{{{colour}}}{{" for axis, colour in colours.items()}


class ColouredMacros(Coloured, Macros):
    """LaTeX in the macros of the paper, with the colours of the package xcolor."""

    after = "}"

    def __init__(self, node, colours: Mapping[str, str]):
        super().__init__(node)
        self.colours = {
            axis: f"\\textcolor[HTML]{{{colour.lstrip('#').upper()}}}{{" for axis, colour in colours.items()
        }
