"""Diagrams in SVG."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

from .colors import Tint, axis_rules, classes, rules
from .diagram_shapes import DARK, LIGHT, DiagramShapes, Label, LineShape, Rectangle, Style, spans_of

SERIF = "'STIX Two Text','Cambria','Times New Roman','Liberation Serif','DejaVu Serif',serif"
SANS = "'Helvetica Neue',Arial,'Liberation Sans','DejaVu Sans',sans-serif"
FONTS = f".nt-math{{font-family:{SERIF}}}.nt-math .nt-axis,.nt-title{{font-family:{SANS};font-weight:600}}.nt-slanted{{font-style:italic}}"
ARROW = (
    '<defs><marker id="nt-arrow" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto"><path class="nt-head" d="M0 0L8 4L0 8z"/></marker></defs>'
)


def to_svg(drawing: DiagramShapes, dark: bool = False) -> str:
    """Return a drawing as SVG. If `dark` is true, its colors follow the theme of the page."""
    if dark:
        style = rules(selectors(LIGHT), selectors(DARK)) + axis_rules()
    else:
        style = "".join(f"{selector}{{{text}}}" for selector, text in selectors(LIGHT).items())
        tints = (tint for tint in drawing.tints.values() if not tint.underlined)
        style += "".join(f".{classes(tint)}{{fill:{tint.color.light}}}" for tint in tints)
    shapes = "".join(WRITERS[type(shape)](shape, drawing.tints) for shape in drawing.shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" '
        f'width="{drawing.width:.0f}" height="{drawing.height:.0f}" role="img"><style>{style}{FONTS}</style>{ARROW}{shapes}</svg>'
    )


def selectors(styles: Mapping[str, Style]) -> dict[str, str]:
    return {f".nt-{kind}": style.css for kind, style in styles.items()}


def _rectangle(shape: Rectangle, tints: Mapping[str, Tint]) -> str:
    size = f'width="{shape.width:.1f}" height="{shape.height:.1f}" rx="{shape.corner:g}"'
    return f'<rect class="nt-{shape.kind}" x="{shape.x:.1f}" y="{shape.y:.1f}" {size}/>'


def _line(shape: LineShape, tints: Mapping[str, Tint]) -> str:
    steps = [("M", (shape.start,)), *(("L" if len(points) == 1 else "C", points) for points in shape.segments)]
    text = "".join(command + " ".join(f"{x:.1f} {y:.1f}" for x, y in points) for command, points in steps)
    return f'<path class="nt-line" d="{text}"' + ' marker-end="url(#nt-arrow)"' * shape.arrow + "/>"


def _label(shape: Label, tints: Mapping[str, Tint]) -> str:
    spans, height = "", 0.0
    for span in spans_of(shape):
        shift = f' dy="{span.shift - height:.1f}"' if abs(span.shift - height) > 0.05 else ""
        size = f' font-size="{span.size:.1f}"' if span.is_script else ""
        kind = ' class="nt-slanted"' if span.slanted else ""
        if span.axis is not None and span.axis in tints:
            kind = f' class="nt-axis {classes(tints[span.axis])}"'
        spans += f"<tspan{shift}{size}{kind}>{html.escape(span.text)}</tspan>"
        height = span.shift
    kind = f"nt-math nt-{shape.kind}" + " nt-title" * shape.title
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" text-anchor="middle" xml:space="preserve" '
        f'class="{kind}">{spans}</text>'
    )


WRITERS: dict[type, Callable[[Any, Mapping[str, Tint]], str]] = {Rectangle: _rectangle, LineShape: _line, Label: _label}
