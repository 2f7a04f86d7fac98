"""One frame of an animation: the source with a piece marked, this piece with its type, and its value as a picture."""

from __future__ import annotations

import html
import itertools
import math
import re
import textwrap
from collections.abc import Container, Mapping
from typing import Any

from ..tensors.tables import number, values
from .colors import Tint
from .pictures import INK, scaled, write
from .steps import ExplainedStep, Explanation, colors_of

MAX_SOURCE_LINES = 7  # shown at a time, around the marked one
MAX_LINE_CHARS = 84
MAX_NUMBERED_CELLS = 12  # along one axis of a value whose numbers are written
MIN_NUMBER_POINTS = 5
MAX_SIDE_CELLS = 400  # along one side of a picture
SIZE_INCHES = (9.6, 5.4)
MARK = "#ffe08a"
MONO = "DejaVu Sans Mono"
SOURCE_SIZES = ((17, 46), (14, 58), (12, 70), (10, MAX_LINE_CHARS))  # points, and how many characters fit in a line


# --------------------------------------------------------------------------------------------------------------- text
def source_lines(source: str, step: ExplainedStep) -> tuple[list[str], list[tuple[int, int] | None]]:
    """The lines of the source around a step, and the columns of the step in each; of a long source those near it."""
    span = getattr(step.node, "span", None) or (0, 0)
    lines, marked, position = list[str](), list[tuple[int, int] | None](), 0
    for line in source.split("\n"):
        start, end = max(span[0] - position, 0), min(span[1] - position, len(line))
        lines.append(line)
        marked.append((start, end) if start < end and span[1] > position else None)
        position += len(line) + 1
    first = next((number for number, columns in enumerate(marked) if columns), 0)
    begin = max(0, min(first - MAX_SOURCE_LINES // 2, len(lines) - MAX_SOURCE_LINES))
    return lines[begin : begin + MAX_SOURCE_LINES], marked[begin : begin + MAX_SOURCE_LINES]


def wrapped(line: str, columns: tuple[int, int] | None) -> list[tuple[str, tuple[int, int] | None]]:
    """A line in pieces that fit, each with the marked columns in it."""
    pieces: list[tuple[str, tuple[int, int] | None]] = []
    for start in range(0, max(len(line), 1), MAX_LINE_CHARS):
        piece = line[start : start + MAX_LINE_CHARS]
        low, high = (0, 0) if columns is None else (max(columns[0] - start, 0), min(columns[1] - start, len(piece)))
        pieces.append((piece, (low, high) if low < high else None))
    return pieces


def marked_html(line: str, columns: tuple[int, int] | None) -> str:
    if columns is None:
        return html.escape(line)
    start, end = columns
    return f"{html.escape(line[:start])}<mark>{html.escape(line[start:end])}</mark>{html.escape(line[end:])}"


class Writing:
    """Writes monospaced text on a figure, axis names in their colors; positions are fractions of the figure."""

    def __init__(self, figure: Any, colors: Mapping[str, Tint]):
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # type: ignore[import-not-found]

        self.figure, self.colors = figure, colors
        self.renderer = FigureCanvasAgg(figure).get_renderer()

    def advance(self, size: float) -> float:
        """The width of one character: fonts are drawn at whole pixels, so it is measured."""
        text = self.figure.text(0, 0, "m" * 100, fontsize=size, family=MONO)
        width = text.get_window_extent(self.renderer).width
        text.remove()
        return width / 100 / self.figure.bbox.width

    def line(self, x: float, y: float, text: str, size: float) -> None:
        """A line that begins at x, its middle at y."""
        advance, position = self.advance(size), 0
        for start, end in (*axis_columns(text, self.colors), (len(text), len(text))):
            for low, high, color in (
                (position, start, INK),
                (start, end, self.colors[text[start:end]].color.light if start < end else INK),
            ):
                if text[low:high].strip():
                    style = {"fontsize": size, "color": color, "family": MONO, "va": "center"}
                    write(self.figure.text(x + low * advance, y, "", **style), text[low:high])
            position = end

    def box(self, x: float, y: float, width: float, height: float, color: str) -> None:
        from matplotlib.patches import Rectangle  # type: ignore[import-not-found]

        self.figure.add_artist(
            Rectangle((x, y), width, height, color=color, linewidth=0, transform=self.figure.transFigure)
        )


def axis_columns(text: str, axes: Container[str]) -> list[tuple[int, int]]:
    """Where names of axes are in a line: in braces after _ or ^, and between bars."""
    return [
        (region.start() + word.start(), region.start() + word.end())
        for region in re.finditer(r"(?<=[_^])\{[^{}]*\}|\|[^\W\d][\w']*\|", text)
        for word in re.finditer(r"[^\W\d][\w'*†]*", region[0])
        if word[0] in axes
    ]


def draw_text(figure: Any, explanation: Explanation, position: int, step: ExplainedStep, title: str = "") -> float:
    """Draw the source with its marked piece, the step's piece and type, and the progress; return where the text ends."""
    writing = Writing(figure, colors_of(explanation))
    lines, marked = source_lines(explanation.source, step)
    pieces = [piece for line, columns in zip(lines, marked) for piece in wrapped(line, columns)][:MAX_SOURCE_LINES]
    longest = max(len(text) for text, _ in pieces)
    size = next(
        size for size, chars in SOURCE_SIZES if longest <= chars and len(pieces) <= 4 or chars == MAX_LINE_CHARS
    )
    wide, high = writing.advance(size), size * 1.55 / 72 / SIZE_INCHES[1]
    y = 0.95
    if title:
        write(figure.text(0.04, y, "", fontsize=14, color=INK, va="center", fontweight="bold"), title)
        y -= 0.07
    for text, columns in pieces:
        if columns is not None:
            start, end = columns
            writing.box(0.04 + (start - 0.15) * wide, y - 0.5 * high, (end - start + 0.3) * wide, high, MARK)
        writing.line(0.04, y, text, size)
        y -= high
    label = textwrap.shorten(f"{step.text} : {step.type}", MAX_LINE_CHARS - 4, placeholder=" …")
    y = (y + 0.60) / 2 if y > 0.72 else y - 0.03
    writing.line(
        0.5 - writing.advance(13 if len(label) < 64 else 10) * len(label) / 2, y, label, 13 if len(label) < 64 else 10
    )
    style = {"fontsize": 9, "color": INK, "alpha": 0.7, "va": "bottom"}
    if step.inside:
        write(figure.text(0.04, 0.022, "", **style), f"in {' › '.join(step.inside)}")
    write(figure.text(0.96, 0.022, "", ha="right", **style), f"{position} of {len(explanation)}")
    writing.box(0, 0, 1, 0.009, "#e6e8eb")
    writing.box(0, 0, position / len(explanation), 0.009, "#3b38c5")
    return y - 0.04


# -------------------------------------------------------------------------------------------------------------- values
def draw_value(
    figure: Any, explanation: Explanation, step: ExplainedStep, frame: tuple[float, float, float, float]
) -> None:
    """The value as a number, a row or a grid of cells; further axes are panels side by side."""
    value = step.value
    array = values(value, value.axes)
    if array is None or array.dtype.kind not in "biuf" or not array.size:
        write(
            figure.text(0.5, frame[1] + frame[3] / 2, "", fontsize=12, color=INK, ha="center", va="center"), str(value)
        )
        return
    if not value.axes:
        text = number(array.item())
        write(figure.text(0.5, frame[1] + frame[3] / 2, "", fontsize=34, color=INK, ha="center", va="center"), text)
        return
    array = array.astype(float)
    panels = math.prod(array.shape[:-2])
    shown = array.reshape((panels, *((1,) * (2 - array.ndim) + array.shape[-2:])))[:4, :MAX_SIDE_CELLS, :MAX_SIDE_CELLS]
    scale = scaled(shown)
    gap = 0.06
    count = len(shown)
    width = (frame[2] - gap * (count - 1)) / count
    for index, grid in enumerate(shown):
        panel = figure.add_axes((frame[0] + index * (width + gap), frame[1], width, frame[3]))
        panel.imshow(grid, aspect="equal", interpolation="nearest", **scale)
        _ticks(panel, value, explanation, first=index == 0)
        if panels > 1:
            outer = _index(array.shape[:-2], value.axes[:-2], index)
            more = f"  (of {panels})" if index == count - 1 and panels > count else ""
            write(panel.set_title("", fontsize=8.5, color=INK, loc="left"), f"{outer}{more}")
        if max(grid.shape) <= MAX_NUMBERED_CELLS:
            _write_numbers(panel, grid, (width * SIZE_INCHES[0], frame[3] * SIZE_INCHES[1]), scale["vmax"])


def _index(sizes: tuple[int, ...], axes: tuple[str, ...], position: int) -> str:
    words: list[str] = []
    for axis, size in zip(reversed(axes), reversed(sizes)):
        position, at = divmod(position, size)
        words.append(f"{axis} {at + 1}")
    return ", ".join(reversed(words))


def _ticks(panel: Any, value: Any, explanation: Explanation, first: bool) -> None:
    """Name the axes in their colors."""
    colors = colors_of(explanation)
    for spine in panel.spines.values():
        spine.set(color=INK, alpha=0.25, linewidth=0.6)
    panel.set_xticks([])
    panel.set_yticks([])

    def named(set_label: Any, axis: str) -> None:
        color = colors[axis].color.light if axis in colors else INK
        write(set_label("", fontsize=11, color=color, fontweight="bold"), axis)

    named(panel.set_xlabel, value.axes[-1])
    if len(value.axes) > 1 and first:
        named(panel.set_ylabel, value.axes[-2])


def _write_numbers(panel: Any, grid: Any, inches: tuple[float, float], largest: float) -> None:
    """Write each number in its cell, white on dark cells, where it is large enough to read."""
    rows, columns = grid.shape
    cell = min(inches[0] / columns, inches[1] / rows)
    texts = [[number(float(element)).replace("-", "−") for element in row] for row in grid]
    longest = max(len(text) for row in texts for text in row)
    size = min(13.0, 0.84 * cell * 72 / (0.62 * max(longest, 4)))
    if size < MIN_NUMBER_POINTS:
        return
    for row, column in itertools.product(range(rows), range(columns)):
        color = "white" if abs(grid[row, column]) > 0.65 * largest else INK
        style = {"fontsize": size, "color": color, "ha": "center", "va": "center"}
        write(panel.text(column, row, "", **style), texts[row][column])
