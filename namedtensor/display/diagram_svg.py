"""A flow of values as a drawing: boxes and arrows in SVG, the type of each value on the way that it goes.

It needs no program and no package: the layout is `layered`, the letters are measured by a table of breadths.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from grammar.errors import NotationError, printable
from grammar.locks import LOADING, all_or_none
from grammar.printer.runs import Run

from ..files.text import reason, whole_file
from .colors import Tint, axis_rules, classes, rules
from .diagram_layout import Layout, Link, layered
from .flow_graph import NAMING, Drawn, Graph, Port
from .pictures import fitted

SERIF = "'STIX Two Text','Cambria','Times New Roman','Liberation Serif','DejaVu Serif',serif"
SANS = "'Helvetica Neue',Arial,'Liberation Sans','DejaVu Sans',sans-serif"
TEXT, SMALL, SCRIPT = 15.0, 12.5, 0.72  # sizes of letters; that of a script to its base
PAD, MARGIN, ROUND = 11.0, 14.0, 13.0

LIGHT = {
    ".nt-ink": "fill:#1b1f24", ".nt-faint": "fill:#5b6570",
    ".nt-line": "stroke:#7d8894;stroke-width:1.3;fill:none", ".nt-head": "fill:#7d8894",
    ".nt-input": "fill:#eef1f4;stroke:#9aa5b1", ".nt-result": "fill:#eef1f4;stroke:#9aa5b1", ".nt-entry": "fill:none;stroke:#9aa5b1;stroke-dasharray:3 3",
    ".nt-function": "fill:#e3eef9;stroke:#4b86c2;stroke-width:1.3", ".nt-formula-box": "fill:#ffffff;stroke:#9aa5b1",
    ".nt-sign": "fill:#fff4e0;stroke:#c98a1b;stroke-width:1.3", ".nt-group": "fill:#8a97a61a;stroke:#9aa5b1",
}  # fmt: skip
DARK = {
    ".nt-ink": "fill:#e8eaed", ".nt-faint": "fill:#a3adb8",
    ".nt-line": "stroke:#8d98a5;stroke-width:1.3;fill:none", ".nt-head": "fill:#8d98a5",
    ".nt-input": "fill:#2a2f36;stroke:#6b7683", ".nt-result": "fill:#2a2f36;stroke:#6b7683", ".nt-entry": "fill:none;stroke:#6b7683;stroke-dasharray:3 3",
    ".nt-function": "fill:#1d3247;stroke:#5b9bd9;stroke-width:1.3", ".nt-formula-box": "fill:#1b1f24;stroke:#6b7683",
    ".nt-sign": "fill:#3d3018;stroke:#d9a441;stroke-width:1.3", ".nt-group": "fill:#8a97a61a;stroke:#6b7683",
}  # fmt: skip
FONTS = f".nt-math{{font-family:{SERIF}}}.nt-math .nt-axis,.nt-title{{font-family:{SANS};font-weight:600}}.nt-slanted{{font-style:italic}}"


# -------------------------------------------------------------------------------------------------------------- texts
NARROW = dict.fromkeys("ijl|.,;:'!·", 0.3) | dict.fromkeys("ftrI()[] -", 0.37) | dict.fromkeys("szJ", 0.42)
BROAD = (
    dict.fromkeys("mwMW", 0.88)
    | dict.fromkeys("⊙⊕ℝ→∑∏×+−=≤≥<>∈√…", 0.72)
    | dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ", 0.7)
)
BREADTHS = NARROW | BROAD


def breadth(runs: tuple[Run, ...], size: float) -> float:
    """The breadth of runs, in the letters of usual fonts."""
    total = 0.0
    for run in runs:
        wide = 1.12 if run.axis else 1.0
        total += wide * sum(BREADTHS.get(letter, 0.54) for letter in run.text) * size * SCRIPT ** len(run.scripts[:2])
    return total


def svg_text(runs: tuple[Run, ...], x: float, y: float, size: float, tints: Mapping[str, Tint], kind: str = "") -> str:
    """Runs, their middle at x and their line at y."""
    spans: list[str] = []
    height = 0.0
    for run in runs:
        level, wanted = size, 0.0
        for script in run.scripts[:2]:
            wanted += (0.24 if script == "below" else -0.38) * level
            level *= SCRIPT
        shift = f' dy="{wanted - height:.1f}"' if abs(wanted - height) > 0.05 else ""
        letters = f' font-size="{level:.1f}"' if run.scripts else ""
        spans.append(f"<tspan{shift}{letters}{styled(run, tints)}>{html.escape(printable(run.text))}</tspan>")
        height = wanted
    classed = f"nt-math {kind or 'nt-ink'}"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="middle" xml:space="preserve" '
        f'class="{classed}">{"".join(spans)}</text>'
    )


def styled(run: Run, tints: Mapping[str, Tint]) -> str:
    if run.axis is not None and run.axis in tints:
        return f' class="nt-axis {classes(tints[run.axis])}"'
    return ' class="nt-slanted"' if run.slanted else ""


def type_runs(axes: Mapping[str, Any]) -> tuple[Run, ...]:
    """ℝ^{seq × chans}; sizes stand in the legend."""
    runs = [Run("ℝ")]
    for axis in axes:
        runs += ([Run(" × ", ("above",))] if len(runs) > 1 else []) + [Run(axis, ("above",), axis)]
    return tuple(runs)


def label_runs(node: Drawn) -> tuple[Run, ...]:
    """The label where a value leaves its node: its name, and its type."""
    named = node.name if node.kind not in NAMING else ()
    return (*named, Run(" ∈ "), *type_runs(node.axes)) if named else type_runs(node.axes)


# -------------------------------------------------------------------------------------------------------------- boxes
class Box(NamedTuple):
    """A node with its size: of what is drawn, and with the label below that."""

    node: Drawn
    width: float
    height: float
    inner: Placed | None

    @property
    def outer(self) -> tuple[float, float]:
        if self.inner is not None:
            return self.width, self.height
        return max(self.width, breadth(label_runs(self.node), SMALL) + 6), self.height + LABEL

    def hidden_above(self, within: Port | None) -> float:
        """How far below a group's upper side the node within begins, where nothing lies between."""
        if self.inner is None or within is None or self.inner.layout.cells[within.node].rank:
            return 0.0
        cell = self.inner.layout.cells[within.node]
        return TITLE + cell.y + self.inner.boxes[within.node].hidden_above(within.within)

    def hidden_below(self, within: Port | None) -> float:
        """How far above a group's lower side the node within ends, where nothing lies between."""
        if self.inner is None or within is None:
            return 0.0
        layout, cell = self.inner.layout, self.inner.layout.cells[within.node]
        if cell.rank + 1 < len(layout.tops):
            return 0.0
        rest = layout.height - cell.y - cell.height + MARGIN
        return rest + self.inner.boxes[within.node].hidden_below(within.within)


NEARLY = 7.0  # an edge that is out of straight by less is drawn straight
LABEL = 30.0  # a piece of line, and the label
TITLE = MARGIN + 14  # room for the title of a group


@dataclass
class Placed:
    """A graph with its layout."""

    graph: Graph
    boxes: list[Box]
    layout: Layout

    def offset(self, port: Port) -> float:
        """How far from the middle of its node an edge's end is: that of a group is where the node within it stands."""
        inner = self.boxes[port.node].inner
        if inner is None or port.within is None:
            return 0.0
        cell = inner.layout.cells[port.within.node]
        return cell.x - inner.layout.width / 2 + inner.offset(port.within)


def placed(graph: Graph) -> Placed:
    """Lay out a graph, what is within it first."""
    boxes = [boxed(node) for node in graph.nodes]
    found = Placed(graph, boxes, Layout([], [], 0, 0, [], []))
    links = [
        Link(
            edge.source.node,
            edge.target.node,
            found.offset(edge.source),
            found.offset(edge.target),
            out=edge.source.within,
            into=edge.target.within,
        )  # fmt: skip
        for edge in graph.edges
        if edge.source.node != edge.target.node
    ]
    entries = [place for place, node in enumerate(graph.nodes) if node.kind == "entry"]
    found.layout = layered([box.outer for box in boxes], links, entries)
    return found


def boxed(node: Drawn) -> Box:
    if node.inside is not None:
        inner = placed(node.inside)
        width = max(inner.layout.width, breadth(node.runs, SMALL) * 1.1)
        return Box(node, width + 2 * MARGIN, inner.layout.height + MARGIN + TITLE, inner)
    wide = breadth(node.runs, TEXT) * (1.1 if node.kind == "function" else 1.0)
    if node.kind == "sign":
        return Box(node, max(2 * ROUND, wide + 14), 2 * ROUND, None)
    low = 20.0 if node.detail else 0.0
    return Box(node, max(wide, breadth(node.detail, SMALL)) + 2 * PAD, 30.0 + low, None)


# ------------------------------------------------------------------------------------------------------------- drawing
def draw(found: Placed, left: float, top: float, tints: Mapping[str, Tint]) -> list[str]:
    """The shapes of a graph whose upper left corner is there: edges first, so that boxes lie on them."""
    shapes: list[str] = []
    arrivals = spread_arrivals(found)
    for number, link in enumerate(found.layout.links):
        shapes.append(path(found, link, arrivals[number], left, top))
    for box, cell in zip(found.boxes, found.layout.cells):
        shapes += draw_box(box, left + cell.x, top + cell.y, tints)
    return shapes


def draw_box(box: Box, x: float, y: float, tints: Mapping[str, Tint]) -> list[str]:
    node, half = box.node, box.width / 2
    if box.inner is not None:
        inner = (box.width - box.inner.layout.width) / 2
        title = breadth(node.runs, SMALL) / 2
        return [
            rectangle("nt-group", x - half, y, box.width, box.height, 10),
            svg_text(node.runs, x - half + MARGIN + title, y + 17, SMALL, tints, "nt-faint"),
            *draw(box.inner, x - half + inner, y + TITLE, tints),
        ]
    kind = "nt-formula-box" if node.kind == "formula" else f"nt-{node.kind}"
    corner = {"sign": box.height / 2, "function": 6, **dict.fromkeys(NAMING, 15)}.get(node.kind, 3)
    middle = y + (20 if node.detail else box.height / 2 + 5)
    title = "nt-ink nt-title" if node.kind == "function" else "nt-ink"
    shapes = [
        rectangle(kind, x - half, y, box.width, box.height, corner),
        svg_text(node.runs, x, middle, TEXT, tints, title),
    ]
    if node.detail:
        shapes.append(svg_text(node.detail, x, y + 39, SMALL, tints, "nt-faint"))
    below = y + box.height
    shapes.append(f'<path class="nt-line" d="M{x:.1f} {below:.1f}V{below + 8:.1f}"/>')
    shapes.append(svg_text(label_runs(node), x, below + 24, SMALL, tints))
    return shapes


def rectangle(kind: str, x: float, y: float, width: float, height: float, corner: float) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner:g}"/>'


# --------------------------------------------------------------------------------------------------------------- edges
def spread_arrivals(found: Placed) -> dict[int, float]:
    """How far from the middle of its box each edge arrives: side by side, in the order in which they come."""
    layout = found.layout
    arrivals: dict[int, float] = {}
    for place, box in enumerate(found.boxes):
        here = [number for number, link in enumerate(layout.links) if link.target == place]
        here.sort(key=lambda number: layout.cells[[layout.links[number].source, *layout.links[number].ways][-1]].x)
        room = min(26.0, 0.6 * box.width / max(len(here), 1))
        for position, number in enumerate(here):
            inside = layout.links[number].arrives
            spread = (
                0.0 if box.inner is not None or box.node.kind == "sign" else (position - (len(here) - 1) / 2) * room
            )
            arrivals[number] = inside + spread
    return arrivals


def path(found: Placed, link: Link, arrival: float, left: float, top: float) -> str:
    """An edge through its waypoints, upright where it leaves, passes a rank and arrives."""
    layout, cells, box = found.layout, found.layout.cells, found.boxes[link.target]
    source, target = cells[link.source], cells[link.target]
    below = source.y + source.height - found.boxes[link.source].hidden_below(link.out)
    points = [(left + source.x + link.leaves, top + below)]
    if below < source.y + source.height:
        points.append((points[0][0], top + source.y + source.height))
    for way in link.ways:
        rank = cells[way].rank
        points += [(left + cells[way].x, top + layout.tops[rank]), (left + cells[way].x, top + layout.bottoms[rank])]
    end = (left + target.x + arrival, top + target.y)
    aside = points[-1][0] - (left + target.x)
    text = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    if box.node.kind == "sign" and abs(aside) > box.width / 2 + 16 and is_free(found, link):
        side = 1 if aside > 0 else -1
        height = top + target.y + box.height / 2
        edge = left + target.x + side * (box.width / 2 + 6)
        text += "".join(curve(one, other) for one, other in zip(points, points[1:]))
        text += f"V{height - 10:.1f}Q{points[-1][0]:.1f} {height:.1f} {points[-1][0] - side * 10:.1f} {height:.1f}H{edge:.1f}"
    else:
        if abs(aside - arrival) < NEARLY:
            end = (points[-1][0], end[1])
        hidden = box.hidden_above(link.into)
        points += [end, (end[0], end[1] + hidden - 6)] if hidden else [(end[0], end[1] - 6)]
        text += "".join(curve(one, other) for one, other in zip(points, points[1:]))
    return f'<path class="nt-line" d="{text}" marker-end="url(#nt-arrow)"/>'


def is_free(found: Placed, link: Link) -> bool:
    """Whether nothing stands between a sign and the side from which an edge comes."""
    cells = found.layout.cells
    target, last = cells[link.target], cells[[link.source, *link.ways][-1]]
    low, high = sorted((target.x, last.x + (0.0 if link.ways else link.leaves)))
    return not any(
        cell.rank == target.rank
        and cell is not target
        and cell.x + cell.width / 2 > low
        and cell.x - cell.width / 2 < high
        for cell in cells
    )


def curve(one: tuple[float, float], other: tuple[float, float]) -> str:
    if abs(one[0] - other[0]) < 0.5:
        return f"L{other[0]:.1f} {other[1]:.1f}"
    bend = (one[1] + other[1]) / 2
    return f"C{one[0]:.1f} {bend:.1f} {other[0]:.1f} {bend:.1f} {other[0]:.1f} {other[1]:.1f}"


# --------------------------------------------------------------------------------------------------------------- whole
@dataclass(frozen=True, repr=False)
class Diagram:
    """A drawing of where the values of a program go; shows itself in a notebook, and is saved as SVG, TikZ, PDF or PNG."""

    graph: Graph
    tints: Mapping[str, Tint]
    sizes: Mapping[str, Any]

    def to_svg(self) -> str:
        """The drawing as SVG, for light pages and slides."""
        found = "".join(f"{selector}{{{text}}}" for selector, text in LIGHT.items())
        colors = "".join(
            f".{classes(tint)}{{fill:{tint.color.light}}}" for tint in self.tints.values() if not tint.underlined
        )
        return self._svg(found + colors + FONTS)

    def to_tikz(self) -> str:
        """The drawing as a `tikzpicture`, for a document with the packages tikz and those of `latex_preamble()`."""
        with LOADING, all_or_none():
            from .diagram_files import tikz

        return tikz(self.to_svg())

    def save(self, place: str | os.PathLike[str]) -> None:
        """Write it to a file of the kind that the name says: .svg, .tikz or .tex, .pdf, .png; without an ending, SVG.

        Raises NotationError where the name asks for another kind or the file cannot be written (409), and for PDF and PNG
        where matplotlib is not installed (408).
        """
        ending = Path(place).suffix.lower()
        if ending not in FORMATS:
            kinds = ", ".join(each for each in FORMATS if each)
            raise NotationError(
                409, f"cannot write {place}: supported formats are {kinds}", hint="use a name that ends in .svg"
            )
        data = FORMATS[ending](self)
        try:
            with whole_file(place) as file:
                file.write(data)
        except OSError as problem:
            raise NotationError(409, f"cannot write {place}: {reason(problem)}") from None

    def __repr__(self) -> str:
        return f"Diagram of {len(self.graph.nodes)} pieces: a notebook shows it, and save('x.svg') writes it"

    def _repr_html_(self) -> str:
        return f'<div class="nt-diagram">{fitted(self._svg(rules(LIGHT, DARK) + axis_rules() + FONTS))}</div>'

    def _svg(self, style: str) -> str:
        found = placed(self.graph)
        legend, wide = self._legend(found.layout.height + 2 * MARGIN + 16)
        width = max(found.layout.width, wide) + 2 * MARGIN
        height = found.layout.height + 2 * MARGIN + (28 if legend else 0)
        left = (width - found.layout.width) / 2
        shapes = "".join(draw(found, left, MARGIN, self.tints))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img"><style>{style}</style><defs><marker id="nt-arrow" viewBox="0 0 8 8" refX="2" '
            'refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
            f'<path class="nt-head" d="M0 0L8 4L0 8z"/></marker></defs>{shapes}{legend}</svg>'
        )

    def _legend(self, y: float) -> tuple[str, float]:
        """The sizes that are known, and how broad that is."""
        entries: list[Run] = []
        for axis in self.tints:
            if axis in self.sizes:
                entries += [Run("     ")] * bool(entries) + [Run(axis, (), axis), Run(f" = {self.sizes[axis]}")]
        wide = breadth(tuple(entries), SMALL)
        return (svg_text(tuple(entries), wide / 2 + MARGIN, y, SMALL, self.tints) if entries else ""), wide


def _painted(format: str) -> Callable[[Diagram], bytes]:
    def data(diagram: Diagram) -> bytes:
        with LOADING, all_or_none():
            from .diagram_files import painted

        return painted(diagram.to_svg(), format)

    return data


FORMATS: dict[str, Callable[[Diagram], bytes]] = {
    **dict.fromkeys(("", ".svg"), lambda diagram: diagram.to_svg().encode("utf-8")),
    **dict.fromkeys((".tikz", ".tex"), lambda diagram: diagram.to_tikz().encode("utf-8")),
    ".pdf": _painted("pdf"),
    ".png": _painted("png"),
}
