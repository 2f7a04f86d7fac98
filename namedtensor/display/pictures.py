"""Heat maps of tensors with axis names, with one panel for each element of the remaining axes.

The elements are arranged as in a table. matplotlib is an optional dependency.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError, printable

from ..core.axes import names_of
from ..core.suggestions import did_you_mean, near
from ..files.text import whole_file
from ..tensors.tables import values

if TYPE_CHECKING:
    from matplotlib.figure import Figure  # type: ignore[import-not-found]

    from ..core.tensor import NamedTensor

PANELS = 64  # more panels would be too small to read
LABELS = 48  # elements of an axis that are labeled one by one
INK = "#1b1f24"
ABOVE, BELOW = (0.08, 0.44, 0.82), (0.82, 0.40, 0.02)  # as in tables: blue above zero, orange below
MISSING = (0.5, 0.5, 0.5, 0.45)


class Picture:
    """A heat map that notebooks display, drawn in the text color of the page; `figure` is its matplotlib figure."""

    def __init__(self, figure: Figure, mark: str):
        self.figure: Any = figure
        self.mark: str = mark

    def to_svg(self) -> str:
        """Return the figure as SVG."""
        return self._svg(INK)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the picture to a file; the file extension (.svg, .png, .pdf) determines the format.

        Raise NotationError if the format is not supported, or if the file cannot be written.
        """
        try:
            kind = options.pop("format", None) or Path(path).suffix[1:]
            if not kind:  # Use the default format of matplotlib.
                kind = self.figure.canvas.get_default_filetype()
                path = f"{os.fspath(path)}.{kind}"
            with ignore_warnings(), whole_file(path) as file:
                self.figure.savefig(file, format=kind, **{"dpi": 200, **options})
        except (OSError, ValueError) as problem:
            raise NotationError(409, f"cannot write {path}: {problem}") from None

    def _repr_html_(self) -> str:
        return f'<div class="nt-picture">{fit_width(self._svg("currentColor"))}</div>'

    def _svg(self, ink: str) -> str:
        matplotlib: Any = import_module("matplotlib")
        stream = io.StringIO()
        with ignore_warnings(), matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": self.mark}):
            self.figure.savefig(stream, format="svg", transparent=True, dpi=200, metadata={"Date": None})
        text = stream.getvalue()
        return text[text.index("<svg") :].replace(INK, ink)


def fit_width(svg: str) -> str:
    """Return the SVG with a style that limits its width to the width of the page."""
    return svg.replace("<svg", '<svg style="max-width:100%;height:auto"', 1)


def ignore_warnings() -> warnings.catch_warnings:
    """Return a context that suppresses warnings about missing glyphs.

    In SVG, they do not matter, because the viewer uses its own font.
    """
    return warnings.catch_warnings(action="ignore", category=UserWarning)


def heatmap(
    tensor: NamedTensor,
    rows: str | None = None,
    columns: str | None = None,
    facets: str | Iterable[str] | None = None,
    labels: Mapping[str, Sequence[Any]] | None = None,
    title: str = "",
) -> Picture:
    """Draw a tensor as a heat map, with one panel for each index of the other axes.

    Parameters
    ----------
    tensor : NamedTensor
        The tensor to draw.
    rows, columns : str, optional
        The axes of a panel (default: the last two axes in storage order).
    facets : str or iterable of str, optional
        The axes whose indices give one panel each (default: all others). Axes of size 1 are omitted.
    labels : mapping of str to sequence, optional
        Tick labels per axis (default: numbers from 1).
    title : str
        Title of the figure (default: none).

    Returns
    -------
    Picture
        A picture that notebooks display. Its method `save` writes a file.

    Raises
    ------
    NotationError
        If the tensor lacks one of the axes, if the number of labels differs from the size of an axis, or if matplotlib
        is missing (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([[0.9, 0.1], [0.5, 0.5]], "seq memory")
    >>> shown = nt.heatmap(A, rows="seq", columns="memory", labels={"seq": ["the", "cat"]})
    >>> shown.save("A.png")  # doctest: +SKIP
    """
    figure = blank()
    across = selection(tensor, rows, columns, facets)
    written = get_tick_labels(tensor, labels or {})
    array = numbers(tensor, across)
    draw(figure, array, across, written, title)
    mark = hashlib.sha256(array.tobytes() + repr((across, title)).encode()).hexdigest()[:16]
    return Picture(figure, mark)


def blank() -> Figure:
    """Return an empty figure. Raise NotationError (408) if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure  # type: ignore[import-not-found]
    except ImportError:
        raise NotationError(408, "matplotlib is not installed", hint="pip install '.[pictures]'") from None
    return Figure(layout="constrained")


# ------------------------------------------------------------------------------------------------- the arrangement
def selection(tensor: NamedTensor, rows: Any, columns: Any, facets: Any) -> tuple[str, ...]:
    """Return the axes that number the panels, followed by the axes of the rows and columns."""
    further = names_of(facets) if facets is not None else ()
    asked = [axis for axis in (*further, rows, columns) if axis is not None]
    for axis in asked:
        if axis not in tensor.axes:
            raise NotationError(
                301, f"the picture uses axis {axis}, which is missing from the tensor {tensor.shape}",
                hint=did_you_mean(near(axis, list(tensor.axes))) or f"its axes are {', '.join(tensor.axes) or 'none'}",
            )  # fmt: skip
        if asked.count(axis) > 1:
            hint = "use different axes for rows, columns and facets"
            raise NotationError(303, f"axis {axis} is used twice", hint=hint)
    free = [axis for axis in tensor.axes if axis not in asked and (tensor.sizes[axis] > 1 or len(tensor.axes) < 3)]
    if columns is None and free:
        columns = free.pop()
    if rows is None and free:
        rows = free.pop()
    if columns is None:
        raise NotationError(316, "a picture needs an axis, but the tensor has none", hint="print the number")
    return (*further, *free, *(axis for axis in (rows, columns) if axis is not None))


def numbers(tensor: NamedTensor, across: tuple[str, ...]) -> Any:
    """Return the elements of a tensor as an array with the axes of panels, rows and columns in this order."""
    import numpy as np

    left = tuple(axis for axis in tensor.axes if axis not in across)
    array = values(tensor, (*left, *across))
    if array is None or array.dtype.kind not in "biuf":
        raise NotationError(405, f"a picture needs real numbers, got {tensor!r}")
    if not array.size:
        raise NotationError(405, f"there is nothing to draw: {tensor!r}")
    array = np.asarray(array, dtype=float).reshape([tensor.sizes[axis] for axis in across])
    array = array.reshape((1,) * (2 - array.ndim) + array.shape)
    count = math.prod(array.shape[:-2])
    if count > PANELS:
        raise NotationError(
            404, f"the picture has {count} panels; the limit is {PANELS}",
            hint=f'take one element of an axis: A[{{"{across[0]}": 0}}]',
        )  # fmt: skip
    return array


def get_tick_labels(tensor: NamedTensor, labels: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    """Return the tick labels, as text, of each axis for which labels are given."""
    result: dict[str, list[str]] = {}
    for axis, label in labels.items():
        if axis not in tensor.axes:
            raise NotationError(
                301, f"labels for axis {axis}, which is missing from the tensor {tensor.shape}",
                hint=did_you_mean(near(axis, list(tensor.axes))),
            )  # fmt: skip
        result[axis] = [printable(str(entry)) for entry in label]
        if len(result[axis]) != tensor.sizes[axis]:
            raise NotationError(
                317, f"axis {axis} has {tensor.sizes[axis]} elements, got {len(result[axis])} labels",
                hint="pass one label for each element",
            )  # fmt: skip
    return result


# ----------------------------------------------------------------------------------------------------------- drawing
def draw(figure: Any, array: Any, across: tuple[str, ...], labels: dict[str, list[str]], title: str) -> None:
    """Draw the panels with their labels, the color scale and the title."""
    outer, inner = across[:-2], across[-2:]
    count = math.prod(array.shape[:-2])
    wide = count if count <= 4 else math.ceil(math.sqrt(count))
    high = math.ceil(count / wide)
    size = figure_size(array.shape[-2:], inner, labels, wide, high)
    figure.set_size_inches(*size)
    grid = figure.subplots(high, wide, squeeze=False)
    scale = scale_colors(array)
    image: Any = None
    for panel in grid.flat[count:]:
        panel.set_visible(False)
    for index, (panel, at) in enumerate(zip(grid.flat, itertools.product(*map(range, array.shape[:-2])))):
        image = panel.imshow(array[at], interpolation="nearest", aspect="equal", **scale)
        ticks(panel, array.shape[-2:], inner, labels, left=index % wide == 0, bottom=index + wide >= count)
        if outer:
            write(panel.set_title("", fontsize=9, color=INK, loc="left"), make_panel_title(outer, at, labels))
    if title:
        write(figure.suptitle("", fontsize=11, color=INK), title)
    if array.shape[-2] > 1 or array.shape[-1] > 1:
        bar = figure.colorbar(image, ax=list(grid.flat), fraction=0.03, pad=0.02, shrink=min(1.0, 3.0 / size[1]))
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7, colors=INK, length=2)


def make_panel_title(outer: tuple[str, ...], at: tuple[int, ...], labels: dict[str, list[str]]) -> str:
    """Return the title of a panel, such as heads 3. A given label replaces the axis and its number."""
    return ", ".join(
        labels[axis][position] if axis in labels else f"{axis} {position + 1}" for axis, position in zip(outer, at)
    )


def figure_size(extent: Any, inner: tuple[str, ...], labels: dict[str, list[str]], wide: int, high: int):
    """Return the width and height in inches of the figure, including labels and color bar."""
    cell = 0.26 if wide * high <= 4 else 0.15
    largest = 6.0 / math.sqrt(min(wide * high, 4))
    shared = min(max(cell, 1.3 / max(extent)), *(largest / size for size in extent))
    tall, broad = (max(shared * size, 0.3) for size in extent)
    beside, below = (room(labels.get(axis)) for axis in (inner if len(inner) == 2 else ("", *inner)))
    return wide * (broad + 0.25) + beside + 0.9, high * (tall + 0.35) + below + 0.4


def room(texts: list[str] | None) -> float:
    """Return the width in inches that an axis's tick labels need, or a default without labels."""
    return 0.35 + 0.075 * min(max(map(len, texts), default=1), 30) if texts else 0.5


def ticks(panel: Any, extent: Any, inner: tuple[str, ...], labels: dict[str, list[str]], left: bool, bottom: bool):
    """Draw axis names and tick labels. Only panels at the left and bottom edge of the figure have them."""
    for spine in panel.spines.values():
        spine.set(color=INK, alpha=0.25, linewidth=0.6)
    panel.tick_params(length=0, labelsize=7, colors=INK)
    sides = [(panel.yaxis, extent[0], left), (panel.xaxis, extent[1], bottom)]
    for axis, (side, size, expected) in zip(inner, sides[-len(inner) :]):
        places, texts = place_ticks(size, labels.get(axis))
        side.set_ticks(places if expected else [], texts if expected else [], parse_math=False)
        if expected:
            write(side.set_label_text("", fontsize=8.5, color=INK, fontweight="bold"), axis)
    if len(inner) == 1:
        panel.set_yticks([])
    if labels.get(inner[-1]) and bottom:
        panel.tick_params(axis="x", labelrotation=90)


def place_ticks(size: int, texts: list[str] | None) -> tuple[list[int], list[str]]:
    """Return the positions and the texts of the tick labels for an axis of this size."""
    if texts and size <= LABELS:
        return list(range(size)), texts
    step = max(1, 10 ** max(0, math.ceil(math.log10(size / 20)))) if size > 20 else 1
    step = 5 * step // 10 if size / step < 4 and step >= 10 else step
    places = sorted({0, *range(step - 1, size, step)}) if step > 1 else list(range(size))
    return places, [texts[position] if texts else str(position + 1) for position in places]


def write(text: Any, shown: str) -> None:
    """Set the text of a label verbatim, so that a $ does not start math mode."""
    text.set_parse_math(False)
    text.set_text(shown)


def scale_colors(array: Any) -> dict[str, Any]:
    """Return the color map and the values at its two ends. The color of zero is the background color of the page."""
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap  # type: ignore[import-not-found]

    finite = array[np.isfinite(array)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    below, zero, above = (*BELOW, 1.0), (*ABOVE, 0.0), (*ABOVE, 1.0)
    signed = low < 0
    if signed:
        low, high = -max(-low, high), max(-low, high)
    ends = [below, (*BELOW, 0.0), zero, above] if signed else [zero, above]
    places = [0, 0.5, 0.5, 1] if signed else [0, 1]
    colors = LinearSegmentedColormap.from_list("shades", list(zip(places, ends)))
    colors = colors.with_extremes(bad=MISSING)
    low = low if signed else 0.0
    return {"cmap": colors, "vmin": low, "vmax": high if high > low else low + 1}
