r"""LaTeX with source positions: \htmlData{at=3-9}{…} around each typed part, and a class for each axis.

KaTeX turns them into HTML attributes and classes, which the page uses for highlights and colors. While the printer
runs, the positions are private-use characters. Therefore, they do not affect its checks, such as whether an operand
begins with a sign.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Mapping
from typing import Any

from grammar.printer.latex import Latex
from grammar.printer.pieces import Piece, Printing

from ..checking.checker import Checker
from ..display.colors import Tint, classes

Span = tuple[int, int]
Axes = Mapping[str, Any]
OPEN, STOP, CLOSE = "\ue000\ue001\ue002"
UNMARKED = ("-", "\\partial")  # strings that the printer looks for at the beginning of an operand
MARK = re.compile(f"{OPEN}([^{STOP}]*){STOP}|{CLOSE}")


class MarkedLatex(Latex):
    """LaTeX printer that adds source positions to the typed expressions in `parts`.

    `types` maps some of these spans to the types that are shown as superscripts. `operands` maps names to types that
    replace them.
    """

    def __init__(
        self, node: Any, tints: Mapping[str, Tint], parts: Collection[Span], types: Mapping[Span, Axes],
        operands: Mapping[str, Axes],
    ):  # fmt: skip
        super().__init__(node)
        self.tints, self.parts, self.types, self.operands = tints, parts, types, operands

    def tinted(self, axis: str, text: str) -> str:
        return f"\\htmlClass{{nt-axis {classes(self.tints[axis])}}}{{{text}}}" if axis in self.tints else text

    def visit(self, node: Any) -> Printing:
        if node.span not in self.parts or type(node) not in Checker.RULES:
            return super().visit(node)
        return self.marked(node)

    def marked(self, node: Any) -> Generator[Any, Any, Piece]:
        result = super().visit(node)
        piece = result if isinstance(result, Piece) else (yield from result)
        if piece.text.startswith(UNMARKED):
            return piece
        above = self.type_above(node.span)
        level = piece.level
        text = f"{{{piece.text}}}{above}" if above else piece.text
        start, end = node.span
        return piece._replace(text=f"{OPEN}at={start}-{end}{STOP}{text}{CLOSE}", level=level)

    def word(self, text: str) -> str:
        """Return a name, or a type that replaces an operand."""
        axes = self.operands.get(text)
        if axes is None:
            return super().word(text)
        shown = "\\times ".join(f"{self.tinted(axis, self.axis_word(axis))}[{size}]" for axis, size in axes.items())
        return f"{{\\mathbb{{R}}^{{{shown}}}}}" if axes else "\\mathbb{R}"

    def type_above(self, span: Span) -> str:
        axes = self.types.get(span)
        if not axes:
            return ""
        shown = "\\times ".join(self.tinted(axis, self.axis_word(axis)) for axis in axes)
        return f"^{{\\htmlClass{{nt-type}}{{{shown}}}}}"


def write_marked_latex(
    node: Any, tints: Mapping[str, Tint], parts: Collection[Span] = (), types: Mapping[Span, Axes] = {},
    operands: Mapping[str, Axes] = {},
) -> str:  # fmt: skip
    """Return a program, or a part of it, as LaTeX with marks."""
    text = MarkedLatex(node, tints, parts, types, operands).text(node)
    return MARK.sub(lambda match: "}" if match[0] == CLOSE else f"\\htmlData{{{match[1]}}}{{", text)
