"""The printer, which turns a syntax tree into a formula in text, in ASCII or in LaTeX: `parse(to_text(tree)) == tree`.

`pieces`: which part gets brackets; how a part is asked for.
`scripts`: names, numbers, and their sub- and superscripts; calls, literals, cases.
`operators`: prefix, infix and subscripted operators.
`text`: sets and statements; a method per node type.
`ascii_text`: the methods whose output differs in ASCII.
`latex`: those that differ in LaTeX.
`preamble`: the macros of the paper, for LaTeX.
`breadth`: how broad LaTeX is when it is set.
`broken`: long formulas in several rows.
`runs`: how a page or a picture is to set each piece.

Contract: the output parses to the same tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .ascii_text import Ascii
from .text import Text

RESET = "\x1b[0m"  # ends a color in a terminal


def to_text(node: Any, ascii: bool = False, colors: Mapping[str, str] | None = None) -> str:
    """Return `node`, which is an expression, a statement, a set or a program, as text.

    `ascii` restricts the text to ASCII letters and signs.

    `colors` are the terminal codes for the name of each axis.

    >>> from grammar.parser import parse
    >>> to_text(parse("softmax_seq (Q @_key K / sqrt(|key|)) @_seq V"))
    'softmax_{seq}(Q ⊙_{key} K / √|key|) ⊙_{seq} V'
    >>> to_text(parse("X_{a→b} ⊕_{chans} γ"), ascii=True)
    'concat_{chans}(X_{a->b}, gamma)'
    """
    printer = Ascii(node) if ascii else Text()
    if colors:
        printer.colors, printer.after = colors, RESET
    return printer.text(node)


def to_latex(
    node: Any, macros: bool = False, colors: Mapping[str, str] | None = None, width: float | None = None
) -> str:
    """Return `node` as LaTeX that KaTeX and MathJax can render.

    `macros` uses the macros of the paper's package `namedtensor`.

    `colors` are the colors of the axes, such as #0b80a6. With a `width` in ems, the result is a display with line
    breaks at that width.

    >>> from grammar.parser import parse
    >>> print(to_latex(parse("Q ⊙_{key} K / 2"), macros=True))
    \\frac{Q \\ndot{\\name{key}} K}{2}
    >>> print(to_latex(parse("∑_{seq} X")))
    \\sum\\limits_{\\mathsf{seq}} X
    """
    from .latex import Latex, Macros

    printer = Macros(node) if macros else Latex(node)
    if colors:
        printer.colors = {axis: printer.tint(color) for axis, color in colors.items()}
        printer.after = "}"
    if width is None:
        return printer.text(node)
    from .broken import display

    printer.mark = "&"
    return display([printer.text(statement) for statement in getattr(node, "statements", (node,))], width)
