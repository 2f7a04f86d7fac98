"""The printer, which turns a syntax tree into a formula in text, in ASCII or in LaTeX: `parse(to_text(tree)) == tree`.

`forms`: the signs and templates for text, ASCII and LaTeX.
`boxes`: boxes, which represent the layout of a formula as a tree, and their conversion to a string.
`layout`: the boxes of names and scripts, and the brackets around operands.
`operators`: the boxes of operators, functions and conditions.
`statements`: the boxes of sets and statements, which complete the layout in text.
`ascii_text`: the layout in ASCII.
`latex`: the layout in LaTeX.
`preamble`: the paper's LaTeX macros.
`lines`: the width of boxes, and line breaks in long formulas.
`runs`: styled pieces of text, for pages and images.

Contract: the output parses to the same tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .ascii_text import AsciiLayout
from .boxes import Box, ChangeParts, write
from .statements import TextLayout

RESET = "\x1b[0m"  # Resets the terminal color.


def to_text(node: Any, ascii: bool = False, colors: Mapping[str, str] | None = None) -> str:
    """Convert an expression, a statement, a set or a program to text.

    If `ascii` is true, the text contains only ASCII characters. `colors` maps axis names to terminal color codes.

    >>> from grammar.parser import parse
    >>> to_text(parse("softmax_seq (Q @_key K / sqrt(|key|)) @_seq V"))
    'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
    >>> to_text(parse("X_{a→b} ⊕_{chans} γ"), ascii=True)
    'concat_{chans}(X_{a->b}, gamma)'
    """
    layout = AsciiLayout(node) if ascii else TextLayout(node)
    return write(layout.box(), color_axes(colors, RESET) if colors else None)


def to_latex(
    node: Any, macros: bool = False, colors: Mapping[str, str] | None = None, width: float | None = None,
    words: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    r"""Convert `node` to LaTeX that KaTeX and MathJax can render.

    If `macros` is true, use the macros of the paper's LaTeX package `namedtensor`. `colors` maps axis names to colors,
    such as #0b80a6. `words` maps names to their LaTeX. With a `width` in ems, the result is a display with line breaks
    at that width.

    >>> from grammar.parser import parse
    >>> print(to_latex(parse("Q ⊙_{key} K / 2"), macros=True))
    \frac{Q \ndot{\name{key}} K}{2}
    >>> print(to_latex(parse("∑_{seq} X")))
    \sum\limits_{\mathsf{seq}} X
    """
    from .latex import LatexLayout, MacrosLayout

    layout = (MacrosLayout if macros else LatexLayout)(node, words)
    parts_of = color_axes({axis: layout.tint(color) for axis, color in colors.items()}, "}") if colors else None
    box = layout.box()
    if width is None:
        return write(box, parts_of)
    from .lines import display

    return display([layout.box_of(statement) for statement in getattr(node, "statements", (node,))], width, parts_of)


def color_axes(codes: Mapping[str, str], after: str) -> ChangeParts:
    """Return a function for `write` that encloses each axis name in `codes` between its color code and `after`."""

    def parts_of(box: Box) -> Any:
        is_colored = box.kind == "axis" and box.data in codes
        return (codes[box.data], *box.parts, after) if is_colored else box.parts

    return parts_of
