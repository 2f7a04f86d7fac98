r"""LaTeX with source positions: \htmlData{at=3-9}{…} around each typed part, and a class around each axis.

KaTeX turns these marks into HTML attributes and classes, which the page uses to highlight parts and color axes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from grammar.printer.boxes import Box, Part, write
from grammar.printer.latex import LatexLayout

from ..checking.checker import Checker
from ..display.colors import Tint, classes

Span = tuple[int, int]
Axes = Mapping[str, Any]


def write_marked_latex(
    node: Any, tints: Mapping[str, Tint], parts: Collection[Span] = (), types: Mapping[Span, Axes] = {},
    operands: Mapping[str, Axes] = {},
) -> str:  # fmt: skip
    """Return a program, or a part of it, as LaTeX with marks.

    `parts` are the spans of typed expressions. `types` are the types to write above some of them, by span. `operands`
    maps names to types, which are written in place of the names.
    """
    spell_axis = LatexLayout(node).spell_axis

    def mark(box: Box) -> Sequence[Part]:
        node, inside = box.node, box.parts
        if box.kind in ("below", "above") and inside[0] in ("_", "^"):  # A mark needs braces.
            return (f"{inside[0]}{{", *inside[1:-1], "}")
        if box.kind == "axis" and box.data in tints:
            return (tint(box.data), *inside, "}")
        if node is None or node.span not in parts or type(node) not in Checker.RULES:
            return inside
        if axes := types.get(node.span):
            above = "\\times ".join(map(write_axis, axes))
            inside = ("{", *inside, f"}}^{{\\htmlClass{{nt-type}}{{{above}}}}}")
        return (f"\\htmlData{{at={node.span[0]}-{node.span[1]}}}{{", *inside, "}")

    def tint(axis: str) -> str:
        return f"\\htmlClass{{nt-axis {classes(tints[axis])}}}{{"

    def write_axis(axis: str) -> str:
        text = spell_axis(axis)
        return f"{tint(axis)}{text}}}" if axis in tints else text

    def write_type(axes: Axes) -> str:
        sized = "\\times ".join(f"{write_axis(axis)}[{size}]" for axis, size in axes.items())
        return f"{{\\mathbb{{R}}^{{{sized}}}}}" if axes else "\\mathbb{R}"

    words = {name: write_type(axes) for name, axes in operands.items()}
    return write(LatexLayout(node, words).box(), mark)
