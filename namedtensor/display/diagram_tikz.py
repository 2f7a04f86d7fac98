r"""Diagrams in TikZ.

\draw[…] (12.0,30.0) -- (12.0,44.0);        a line, in coordinates with y downward
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

from grammar.printer.forms import LATEX, SIGNS
from grammar.printer.latex import LETTERS

from .colors import Tint
from .diagram_shapes import (
    INK,
    LIGHT,
    DiagramShapes,
    Label,
    LineShape,
    Point,
    Rectangle,
    Span,
    Style,
    color_of,
    spans_of,
)

MACROS = (
    {sign: macro for sign, macro in SIGNS[LATEX].items() if len(sign) == 1}
    | LETTERS
    | {"ℝ": r"\mathbb{R}", "·": r"\cdot", "→": r"\rightarrow", "×": r"\times", "−": "-", "…": r"\ldots"}
    | {"•": r"\bullet", "√": r"\surd"}
)
ESCAPED = {"_": r"\_", "#": r"\#", "%": r"\%", "&": r"\&", "$": r"\$", "{": r"\{", "}": r"\}", " ": r"\ "}
PIECES = re.compile(r"[A-Za-z]+|.", re.DOTALL)
FONT_SCALE = 0.75  # letter size / line distance


def to_tikz(drawing: DiagramShapes) -> str:
    """Return a drawing as a `tikzpicture`, which needs the packages tikz, amsmath and amssymb."""
    body = "\n".join(f"  {WRITERS[type(shape)](shape, drawing.tints)}" for shape in drawing.shapes)
    return f"\\begin{{tikzpicture}}[x=1bp, y=-1bp, >=stealth]\n{body}\n\\end{{tikzpicture}}\n"


def _options(style: Style, *more: str) -> str:
    words = list(more)
    for name, color in (("fill", style.fill), ("draw", style.stroke)):
        if color:
            red, green, blue, opacity = bytes.fromhex(f"{color[1:]}ff"[:8])
            words.append(f"{name}={{rgb,255:red,{red};green,{green};blue,{blue}}}")
            words += [f"{name} opacity={opacity / 255:.2f}"] if opacity < 255 else []
    words += [f"line width={style.width:g}bp"] if style.stroke else []
    words += ["dashed"] if style.dashed else []
    return ", ".join(words)


def _format_point(point: Point) -> str:
    return f"({point[0]:.1f},{point[1]:.1f})"


def _rectangle(shape: Rectangle, tints: Mapping[str, Tint]) -> str:
    corner = min(shape.corner, shape.width / 2, shape.height / 2)
    options = _options(LIGHT[shape.kind], f"rounded corners={corner:g}bp")
    end = (shape.x + shape.width, shape.y + shape.height)
    return rf"\path[{options}] {_format_point((shape.x, shape.y))} rectangle {_format_point(end)};"


def _line(shape: LineShape, tints: Mapping[str, Tint]) -> str:
    text = _format_point(shape.start)
    for *controls, end in shape.segments:
        text += (
            f" .. controls {' and '.join(map(_format_point, controls))} .. {_format_point(end)}"
            if controls
            else f" -- {_format_point(end)}"
        )
    return rf"\draw[{_options(LIGHT['line'])}{', ->' * shape.arrow}] {text};"


def _label(shape: Label, tints: Mapping[str, Tint]) -> str:
    spans = list(spans_of(shape))
    base = max((span.size for span in spans if span.level == 0), default=shape.size)
    colors = [color_of(span, shape, tints) for span in spans]
    return (
        rf"\node[anchor=base, inner sep=0pt, font=\fontsize{{{FONT_SCALE * base:.1f}}}{{{base:.1f}}}\selectfont] "
        rf"at {_format_point((shape.x, shape.y))} {{${math(spans, colors)}$}};"
    )


def math(spans: list[Span], colors: list[str]) -> str:
    r"""Return spans as LaTeX with subscripts and superscripts.

    >>> name, axis = Span("X", 15, 0, None, True, False), Span("seq", 11, 4, "seq", False, True)
    >>> math([name, axis], [INK, INK])
    'X_{\\mathsf{seq}}'
    """
    text = ""
    for level, group in groupby(zip(spans, colors), key=lambda pair: pair[0].level):
        inside = "".join(_math(span, color) for span, color in group)
        text += inside if level == 0 else ("^" if level > 0 else "_") + f"{{{inside}}}"
    return f"{{}}{text}" if text.startswith(("_", "^")) else text


def _math(span: Span, color: str) -> str:
    if span.axis is not None:
        name = "".join(ESCAPED.get(letter, letter) for letter in span.text)
        inside = rf"\mathsf{{{name}}}"
        return inside if color == INK else rf"\textcolor[HTML]{{{color.lstrip('#').upper()}}}{{{inside}}}"
    return "".join(_letters(piece, span.slanted) for piece in PIECES.findall(span.text))


def _letters(piece: str, slanted: bool) -> str:
    if piece.isascii() and piece.isalpha():
        return piece if slanted or len(piece) == 1 else rf"\mathrm{{{piece}}}"
    macro = MACROS.get(piece, ESCAPED.get(piece, piece))
    if macro.isascii():
        return macro + " " * macro[-1:].isalpha()
    return rf"\text{{{macro}}}"


WRITERS: dict[type, Callable[[Any, Mapping[str, Tint]], str]] = {Rectangle: _rectangle, LineShape: _line, Label: _label}
