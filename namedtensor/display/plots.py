"""Line plots and histograms by axis: the axes of a tensor are the horizontal axis, the lines and the panels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..core.axes import names_of
from ..core.kinds import as_number
from .colors import COLORS
from .pictures import (
    INK,
    Picture,
    blank,
    check_axes,
    digest,
    labeled,
    marked,
    panels_of,
    real_numbers,
    titled,
    write,
)  # fmt: skip

if TYPE_CHECKING:
    from ..core.tensor import NamedTensor

MAX_LINES = 64  # of one panel
MAX_LEGEND_ENTRIES = 8  # of more lines, a color bar identifies them
PANEL_INCHES = (4.6, 2.9)  # width and height of one panel
SHADES = "viridis"  # of many lines
USES = "lines and panels"  # of axes
Labels = Mapping[str, Sequence[Any]]


def lineplot(
    tensor: NamedTensor,
    along: str | None = None,
    lines: str | None = None,
    panels: str | Iterable[str] | None = None,
    labels: Labels | None = None,
    title: str = "",
    ylabel: str = "",
) -> Picture:
    """Draw a tensor as lines along an axis; the indices of another axis are the lines, those of the others panels.

    Parameters
    ----------
    tensor : NamedTensor
        The tensor to draw.
    along : str, optional
        The horizontal axis (default: the last axis in storage order).
    lines : str, optional
        The axis whose indices are lines (default: the last other axis).
    panels : str or iterable of str, optional
        The axes whose indices are panels (default: all others).
    labels : mapping of str to sequence, optional
        Labels per axis. Numbers along the horizontal axis are its coordinates (default: numbers from 1).
    title : str
        Title of the figure (default: none).
    ylabel : str
        Name of the vertical axis (default: none).

    Returns
    -------
    Picture
        Shown by notebooks; `save` writes a file.

    Raises
    ------
    NotationError
        If the tensor lacks an axis, there are too many lines or panels, or matplotlib is missing (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> loss = nt.tensor([[3.0, 1.0, 0.5], [3.0, 2.0, 1.5]], "rate epoch")
    >>> shown = nt.lineplot(loss, along="epoch", lines="rate", labels={"rate": ["0.1", "0.01"]})
    >>> shown.save("loss.svg")  # doctest: +SKIP
    """
    figure: Any = blank()
    order = _order(tensor, along, lines, panels)
    written = labeled(tensor, labels or {})
    array = _numbers(tensor, order)
    sizes, horizontal = array.shape, order[-1] or ""
    if sizes[-2] > MAX_LINES:
        raise NotationError(
            404, f"the plot has {sizes[-2]} lines; the limit is {MAX_LINES}",
            hint=f'take some elements of an axis, or pass panels="{order[-2]}"',
        )  # fmt: skip
    coordinates, ticks = _coordinates(horizontal, sizes[-1], (labels or {}).get(horizontal), written)
    colors = _line_colors(sizes[-2])
    grid = _panels(figure, order[:-2], sizes[:-2], written)
    for panel, at in grid:
        for color, row in zip(colors, array[at]):
            marker = "o" if sizes[-1] <= 20 else None
            panel.plot(coordinates, row, color=color, linewidth=1.6, marker=marker, markersize=3.5, clip_on=False)
        panel.margins(x=0.02)
        if ticks:
            panel.set_xticks(*ticks, parse_math=False)
            panel.tick_params(axis="x", labelrotation=90 if max(map(len, ticks[1])) > 3 else 0)
        elif coordinates[0] == 1 and sizes[-1] <= 12:
            panel.set_xticks(coordinates)
    _finish(figure, grid, horizontal, ylabel, title)
    if sizes[-2] > 1:
        _legend(figure, grid, order[-2], sizes[-2], colors, written)
    return Picture(figure, digest(array, (order, title)))


def histogram(
    tensor: NamedTensor,
    by: str | None = None,
    bins: int | None = None,
    panels: str | Iterable[str] | None = None,
    labels: Labels | None = None,
    title: str = "",
    xlabel: str = "",
) -> Picture:
    """Draw the distribution of the elements of a tensor; each index of an axis may have a histogram of its own.

    Parameters
    ----------
    tensor : NamedTensor
        The tensor to draw. Elements that are not finite are left out, and counted below the figure.
    by : str, optional
        The axis each of whose indices has a histogram of its own, in one panel (default: none).
    bins : int, optional
        Number of bins, the same for all histograms (default: by the number of elements).
    panels : str or iterable of str, optional
        The axes whose indices are panels (default: none).
    labels : mapping of str to sequence, optional
        Labels per axis (default: numbers from 1).
    title : str
        Title of the figure (default: none).
    xlabel : str
        Name of the horizontal axis (default: none).

    Returns
    -------
    Picture
        Shown by notebooks; `save` writes a file.

    Raises
    ------
    NotationError
        If the tensor lacks an axis, there are too many histograms or panels, or matplotlib is missing (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> W = nt.evaluate("sin(iota_{a} iota_{b})", sizes={"a": 50, "b": 2})
    >>> shown = nt.histogram(W, by="b", bins=20)
    >>> shown.save("weights.svg")  # doctest: +SKIP
    """
    import numpy as np

    figure: Any = blank()
    further = () if panels is None else names_of(panels)
    written = labeled(tensor, labels or {})
    check_axes(tensor, (*further, *(() if by is None else (by,))), USES)
    rest = tuple(axis for axis in tensor.axes if axis not in further and axis != by)
    order = (*further, *(() if by is None else (by,)), *rest)
    array = real_numbers(tensor, order)
    heads = tuple(tensor.sizes[axis] for axis in further)
    array = array.reshape((*heads, 1 if by is None else tensor.sizes[by], -1))
    if array.shape[-2] > MAX_LEGEND_ENTRIES:
        raise NotationError(
            404, f"the panel has {array.shape[-2]} histograms; the limit is {MAX_LEGEND_ENTRIES}",
            hint=f'pass panels="{by}", or take some elements of {by}',
        )  # fmt: skip
    finite = array[np.isfinite(array)]
    if not finite.size:
        raise NotationError(405, f"no element of the tensor is finite: {tensor!r}")
    count = _bins(array.shape[-1]) if bins is None else int(as_number(bins, "bins=", 1, "write bins=30"))
    edges = np.histogram_bin_edges(finite, count)
    colors = _line_colors(array.shape[-2])
    grid = _panels(figure, further, heads, written)
    for panel, at in grid:
        for color, row in zip(colors, array[at]):
            heights, _ = np.histogram(row[np.isfinite(row)], edges)
            panel.stairs(heights, edges, fill=True, color=color, alpha=0.55 if len(colors) == 1 else 0.28, linewidth=0)
            panel.stairs(heights, edges, color=color, linewidth=1.2)
    grid[0][0].set_ylim(bottom=0)  # all panels have one scale
    _finish(figure, grid, xlabel, "elements", title)
    if by is not None and len(colors) > 1:
        _legend(figure, grid, by, len(colors), colors, written)
    if finite.size < array.size:
        write(
            figure.text(0.99, 0.005, "", fontsize=7, color=INK, ha="right", va="bottom"),
            f"{array.size - finite.size} not finite",
        )
    return Picture(figure, digest(array, (order, count, title)))


# ------------------------------------------------------------------------------------------------- what goes where
def _order(tensor: NamedTensor, along: Any, lines: Any, panels: Any) -> tuple[str | None, ...]:
    """The axes of the panels, that of the lines, if any, and the horizontal one."""
    further = () if panels is None else names_of(panels)
    check_axes(tensor, [axis for axis in (*further, lines, along) if axis is not None], USES)
    free = [axis for axis in tensor.axes if axis not in (*further, lines, along)]
    if along is None and free:
        along = free.pop()
    if along is None:
        raise NotationError(316, "a line needs an axis, but the tensor has none", hint="print the number")
    if lines is None and free:
        lines = free.pop()
    return (*further, *free, lines, along)


def _numbers(tensor: NamedTensor, order: Sequence[str | None]) -> Any:
    """The elements as an array of panels, lines and the horizontal axis."""
    array = real_numbers(tensor, [axis for axis in order if axis is not None])
    return array.reshape([1 if axis is None else tensor.sizes[axis] for axis in order])


def _coordinates(axis: str, size: int, given: Any, written: Mapping[str, list[str]]) -> tuple[Any, Any]:
    """Where the elements of the horizontal axis are, and the ticks, if these are words."""
    import numpy as np

    places = np.arange(1, size + 1)
    if given is None:
        return places, None
    try:
        return np.asarray(given, dtype=float), None
    except (TypeError, ValueError):
        at, texts = marked(size, written[axis])
        return places, ([position + 1 for position in at], texts)


def _bins(count: int) -> int:
    return min(max(int(2 * count ** (1 / 3)) + 1, 5), 100)


# ----------------------------------------------------------------------------------------------------------- drawing
def _line_colors(count: int) -> list[Any]:
    if count <= MAX_LEGEND_ENTRIES:
        return [color.light for color in COLORS[:count]]
    from matplotlib import colormaps  # type: ignore[import-not-found]

    return [colormaps[SHADES](0.95 * number / (count - 1)) for number in range(count)]


def _panels(figure: Any, axes: Sequence[Any], sizes: Sequence[int], labels: dict[str, list[str]]) -> list[Any]:
    """The panels, each with its indices, on one scale."""
    count = panels_of(axes, sizes)
    wide = count if count <= 3 else math.ceil(math.sqrt(count))
    high = math.ceil(count / wide)
    shrink = 1 if count == 1 else 0.72
    figure.set_size_inches(PANEL_INCHES[0] * wide * shrink + 0.3, PANEL_INCHES[1] * high * shrink + 0.2)
    drawn = figure.subplots(high, wide, squeeze=False, sharex=True, sharey=True)
    for panel in drawn.flat[count:]:
        panel.set_visible(False)
    grid = list(zip(drawn.flat, itertools.product(*map(range, sizes))))
    for panel, at in grid:
        for side, spine in panel.spines.items():
            spine.set(color=INK, alpha=0.35, linewidth=0.7, visible=side in ("left", "bottom"))
        panel.tick_params(length=2.5, labelsize=8, colors=INK, width=0.6)
        panel.grid(axis="y", color=INK, alpha=0.1, linewidth=0.6)
        panel.set_axisbelow(True)
        if axes:
            write(panel.set_title("", fontsize=9, color=INK, loc="left"), titled(tuple(axes), at, labels))
    for number, (panel, _) in enumerate(grid):
        if number + wide >= count:  # nothing is below it
            panel.tick_params(labelbottom=True)
    return grid


def _finish(figure: Any, grid: list[Any], xlabel: str, ylabel: str, title: str) -> None:
    """Name the axes and the figure."""
    style = {"fontsize": 9, "color": INK}
    if len(grid) == 1:
        write(grid[0][0].set_xlabel("", fontweight="bold", **style), xlabel)
        write(grid[0][0].set_ylabel("", **style), ylabel)
    else:
        write(figure.supxlabel("", fontweight="bold", **style), xlabel)
        write(figure.supylabel("", **style), ylabel)
    if title:
        write(figure.suptitle("", fontsize=11, color=INK), title)


def _legend(
    figure: Any, grid: list[Any], axis: Any, count: int, colors: list[Any], labels: dict[str, list[str]]
) -> None:
    """Say which line is which index: in a legend, or by a color bar where they are many."""
    panels = [panel for panel, _ in grid]
    if count > MAX_LEGEND_ENTRIES:
        from matplotlib.cm import ScalarMappable  # type: ignore[import-not-found]
        from matplotlib.colors import BoundaryNorm, ListedColormap  # type: ignore[import-not-found]

        edges = [number + 0.5 for number in range(count + 1)]
        shades = ScalarMappable(BoundaryNorm(edges, count), ListedColormap(colors))
        at, texts = marked(count, labels.get(axis))
        bar = figure.colorbar(shades, ax=panels, fraction=0.03, pad=0.02, ticks=[position + 1 for position in at])
        bar.outline.set_visible(False)
        bar.ax.set_yticklabels(texts, parse_math=False)
        bar.ax.tick_params(labelsize=7, colors=INK, length=0)
        bar.ax.minorticks_off()
        write(bar.ax.set_title("", fontsize=8.5, color=INK, fontweight="bold"), axis)
        return
    from matplotlib.lines import Line2D  # type: ignore[import-not-found]

    handles = [Line2D([], [], color=color, linewidth=2.2) for color in colors]
    texts = labels.get(axis) or [str(number + 1) for number in range(count)]
    legend = figure.legend(
        handles, [""] * count, loc="outside right upper", fontsize=8, title=" ", frameon=False, labelcolor=INK,
        alignment="left", handlelength=1.4,
    )  # fmt: skip
    for text, shown in zip(legend.get_texts(), texts):
        write(text, shown)
    heading = legend.get_title()
    heading.set(fontsize=8.5, color=INK, fontweight="bold")
    write(heading, axis)
