"""The shapes of a diagram as data, with their styles, for the writers of SVG, TikZ and matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from grammar.errors import printable
from grammar.printer.runs import Run

from .colors import Tint

TEXT_SIZE, SMALL_SIZE = 15.0, 12.5
SCRIPT_SCALE = 0.72  # script size / base size
SUBSCRIPT_SHIFT, SUPERSCRIPT_SHIFT = 0.24, -0.38  # of the size of the base, downward
Point = tuple[float, float]


class Style(NamedTuple):
    """The fill and outline of a shape. Either one can be None."""

    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    dashed: bool = False

    @property
    def css(self) -> str:
        """The style as CSS declarations."""
        parts = [f"fill:{self.fill or 'none'}"]
        if self.stroke:
            parts += [f"stroke:{self.stroke}"]
            parts += [f"stroke-width:{self.width:g}"] if self.width != 1 else []
            parts += ["stroke-dasharray:3 3"] if self.dashed else []
        return ";".join(parts)


THEMES = {  # of each shape: fill and outline on light pages, then on dark ones, and the width of the outline
    "ink": ("#1b1f24", None, "#e8eaed", None, 1.0),
    "faint": ("#5b6570", None, "#a3adb8", None, 1.0),
    "line": (None, "#7d8894", None, "#8d98a5", 1.3),
    "head": ("#7d8894", None, "#8d98a5", None, 1.0),
    "input": ("#eef1f4", "#9aa5b1", "#2a2f36", "#6b7683", 1.0),
    "result": ("#eef1f4", "#9aa5b1", "#2a2f36", "#6b7683", 1.0),
    "entry": (None, "#9aa5b1", None, "#6b7683", 1.0),
    "function": ("#e3eef9", "#4b86c2", "#1d3247", "#5b9bd9", 1.3),
    "formula-box": ("#ffffff", "#9aa5b1", "#1b1f24", "#6b7683", 1.0),
    "sign": ("#fff4e0", "#c98a1b", "#3d3018", "#d9a441", 1.3),
    "group": ("#8a97a61a", "#9aa5b1", "#8a97a61a", "#6b7683", 1.0),
}
LIGHT = {kind: Style(fill, stroke, width, kind == "entry") for kind, (fill, stroke, _, _, width) in THEMES.items()}
DARK = {kind: Style(fill, stroke, width, kind == "entry") for kind, (_, _, fill, stroke, width) in THEMES.items()}
INK = LIGHT["ink"].fill


# -------------------------------------------------------------------------------------------------------------- shapes
class Rectangle(NamedTuple):
    kind: str
    x: float
    y: float
    width: float
    height: float
    corner: float


class LineShape(NamedTuple):
    """A line or curve. Each segment is a straight line to one point, or a cubic Bézier curve with three points."""

    start: Point
    segments: tuple[tuple[Point, ...], ...]
    arrow: bool = False


class Label(NamedTuple):
    """A centered text; `x` is its center, and `y` is its baseline."""

    runs: tuple[Run, ...]
    x: float
    y: float
    size: float
    kind: str = "ink"
    title: bool = False


Shape = Rectangle | LineShape | Label


class DiagramShapes(NamedTuple):
    """The shapes of a diagram in drawing order, its size, and the color of each axis."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    tints: Mapping[str, Tint]


# --------------------------------------------------------------------------------------------------------------- labels
class Span(NamedTuple):
    """A part of a label, with its font size and the distance of its baseline below the label's baseline."""

    text: str
    size: float
    shift: float
    axis: str | None
    slanted: bool
    is_script: bool

    @property
    def level(self) -> int:
        """The script level of a span: 0 for the line, 1 for superscripts, -1 for subscripts."""
        return 0 if abs(self.shift) < 0.5 else -1 if self.shift > 0 else 1


def spans_of(label: Label) -> Iterator[Span]:
    """Yield the parts of a label, each with a single font size and baseline."""
    for run in label.runs:
        size, shift = label.size, 0.0
        for script in run.scripts[:2]:
            shift += (SUBSCRIPT_SHIFT if script == "below" else SUPERSCRIPT_SHIFT) * size
            size *= SCRIPT_SCALE
        yield Span(printable(run.text), size, shift, run.axis, run.slanted, bool(run.scripts))


def color_of(span: Span, label: Label, tints: Mapping[str, Tint]) -> str:
    """Return the color in which a span of a label is drawn on light pages."""
    if span.axis is not None and span.axis in tints:
        return tints[span.axis].color.light
    return LIGHT[label.kind].fill or ""


NARROW = dict.fromkeys("ijl|.,;:'!·", 0.3) | dict.fromkeys("ftrI()[] -", 0.37) | dict.fromkeys("szJ", 0.42)
BROAD = (
    dict.fromkeys("mwMW", 0.88)
    | dict.fromkeys("⊙⊕ℝ→∑∏×+−=≤≥<>∈√…", 0.72)
    | dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ", 0.7)
)
WIDTHS = NARROW | BROAD  # of letters in usual fonts, per size
USUAL_WIDTH, BOLD_SCALE = 0.54, 1.12


def width_of(runs: tuple[Run, ...], size: float) -> float:
    """Return the approximate width of a label at a font size."""
    total = 0.0
    for run in runs:
        scale = BOLD_SCALE if run.axis else 1.0
        letters = sum(WIDTHS.get(letter, USUAL_WIDTH) for letter in run.text)
        total += scale * letters * size * SCRIPT_SCALE ** len(run.scripts[:2])
    return total
