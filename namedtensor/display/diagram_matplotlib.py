"""Diagrams as PDF and PNG files, rendered by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

from grammar.errors import NotationError

from .colors import Tint
from .diagram_shapes import LIGHT, DiagramShapes, Label, LineShape, Rectangle, Span, Style, color_of, spans_of

POINTS_PER_INCH, DOTS_PER_INCH = 72, 200
ARROW_SIZE = 8


def render(drawing: DiagramShapes, format: str) -> bytes:
    """Return a drawing as a "pdf" or "png" file. Raise NotationError (408) if matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # type: ignore[import-not-found]
        from matplotlib.figure import Figure  # type: ignore[import-not-found]
    except ImportError:
        hint = "pip install '.[pictures]'; or use a name that ends in .svg or .tikz"
        raise NotationError(408, f"writing a diagram as {format.upper()} needs matplotlib", hint=hint) from None
    figure: Any = Figure(figsize=(drawing.width / POINTS_PER_INCH, drawing.height / POINTS_PER_INCH))
    FigureCanvasAgg(figure)
    canvas = figure.add_axes((0, 0, 1, 1), xlim=(0, drawing.width), ylim=(drawing.height, 0))
    canvas.set_axis_off()
    for order, shape in enumerate(drawing.shapes):
        WRITERS[type(shape)](canvas, shape, drawing.tints, order)
    file = io.BytesIO()
    figure.savefig(file, format=format, dpi=DOTS_PER_INCH, metadata={"CreationDate": None} if format == "pdf" else {})
    return file.getvalue()


def _properties(style: Style, order: int) -> dict[str, Any]:
    return {
        "facecolor": style.fill or "none",
        "edgecolor": style.stroke or "none",
        "linewidth": style.width if style.stroke else 0,
        "linestyle": "--" if style.dashed else "-",
        "zorder": order,
    }


def _rectangle(canvas: Any, shape: Rectangle, tints: Mapping[str, Tint], order: int) -> None:
    from matplotlib.patches import FancyBboxPatch  # type: ignore[import-not-found]

    corner = min(shape.corner, shape.width / 2, shape.height / 2)
    style = f"round,pad=0,rounding_size={corner}"
    properties = _properties(LIGHT[shape.kind], order)
    canvas.add_patch(FancyBboxPatch((shape.x, shape.y), shape.width, shape.height, boxstyle=style, **properties))


def _line(canvas: Any, shape: LineShape, tints: Mapping[str, Tint], order: int) -> None:
    from matplotlib.patches import FancyArrowPatch, PathPatch  # type: ignore[import-not-found]
    from matplotlib.path import Path  # type: ignore[import-not-found]

    codes, points = [Path.MOVETO], [shape.start]
    for segment in shape.segments:
        codes += [Path.LINETO if len(segment) == 1 else Path.CURVE4] * len(segment)
        points += segment
    style = LIGHT["line"]
    canvas.add_patch(PathPatch(Path(points, codes), **_properties(style, order)))
    if shape.arrow:
        tip, before = points[-1], points[-2]
        arrow = FancyArrowPatch(before, tip, arrowstyle="-|>", mutation_scale=ARROW_SIZE, shrinkA=0, shrinkB=0, linewidth=0,
                                color=style.stroke, zorder=order)  # fmt: skip
        canvas.add_patch(arrow)


def _label(canvas: Any, shape: Label, tints: Mapping[str, Tint], order: int) -> None:
    """Draw the spans of a label side by side, using the actual width of each span in its font."""
    spans = list(spans_of(shape))
    fonts = [_font(span) for span in spans]
    x = shape.x - sum(width for _, width in fonts) / 2
    for span, (font, width) in zip(spans, fonts, strict=True):
        canvas.text(x, shape.y + span.shift, span.text, fontproperties=font, color=color_of(span, shape, tints), zorder=order,
                    va="baseline", ha="left", parse_math=False)  # fmt: skip
        x += width


def _font(span: Span) -> tuple[Any, float]:
    """Return the font of a span, and the width of its text in this font."""
    from matplotlib.font_manager import FontProperties  # type: ignore[import-not-found]
    from matplotlib.textpath import TextPath  # type: ignore[import-not-found]

    family, style = "DejaVu Serif" if span.axis is None else "DejaVu Sans", "italic" if span.slanted else "normal"
    font = FontProperties(family=family, size=span.size, style=style)
    text: Any = TextPath((0, 0), f"{span.text}|", prop=font)  # a bar, since the width leaves out spaces at the end
    bar: Any = TextPath((0, 0), "|", prop=font)
    return font, text.get_extents().x1 - bar.get_extents().x1


WRITERS: dict[type, Callable[[Any, Any, Mapping[str, Tint], int], None]] = {
    Rectangle: _rectangle,
    LineShape: _line,
    Label: _label,
}
