"""A graph as a drawing: boxes and arrows, with the type of each value beside its arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grammar.printer.runs import Run

from .colors import Tint
from .diagram_layout import DiagramLayout, Link, layered
from .diagram_shapes import SMALL_SIZE, TEXT_SIZE, DiagramShapes, Label, LineShape, Point, Rectangle, Shape, width_of
from .flow_graph import NAMING, DrawnFunction, FlowGraph, Port

PAD, MARGIN, ROUND = 11.0, 14.0, 13.0  # within boxes, around graphs, radius of an operator
LEGEND_HEIGHT = 28


def draw(graph: FlowGraph, tints: Mapping[str, Tint], sizes: Mapping[str, Any]) -> DiagramShapes:
    """Return the drawing of a graph, with a legend of the known sizes."""
    placement = placed(graph)
    layout = placement.layout
    legend = legend_runs(tints, sizes)
    legend_width = width_of(legend, SMALL_SIZE)
    width = max(layout.width, legend_width) + 2 * MARGIN
    shapes = [*shapes_of(placement, (width - layout.width) / 2, MARGIN)]
    if legend:
        shapes.append(Label(legend, legend_width / 2 + MARGIN, layout.height + 2 * MARGIN + 16, SMALL_SIZE))
    height = layout.height + 2 * MARGIN + (LEGEND_HEIGHT if legend else 0)
    return DiagramShapes(width, height, tuple(shapes), tints)


def legend_runs(tints: Mapping[str, Tint], sizes: Mapping[str, Any]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for axis in tints:
        if axis in sizes:
            runs += [Run("     ")] * bool(runs) + [Run(axis, (), axis), Run(f" = {sizes[axis]}")]
    return tuple(runs)


# -------------------------------------------------------------------------------------------------------------- labels
def type_runs(axes: Mapping[str, Any]) -> tuple[Run, ...]:
    """ℝ^{seq × chans}; sizes are in the legend."""
    runs = [Run("ℝ")]
    for axis in axes:
        runs += ([Run(" × ", ("above",))] if len(runs) > 1 else []) + [Run(axis, ("above",), axis)]
    return tuple(runs)


def label_runs(node: DrawnFunction) -> tuple[Run, ...]:
    """The label where a value leaves its node: its name, and its type."""
    named = node.name if node.kind not in NAMING else ()
    return (*named, Run(" ∈ "), *type_runs(node.axes)) if named else type_runs(node.axes)


# -------------------------------------------------------------------------------------------------------------- boxes
class Box(NamedTuple):
    """A node with its size: of its shape, and with the label below it."""

    node: DrawnFunction
    width: float
    height: float
    inner: Placed | None

    @property
    def outer(self) -> tuple[float, float]:
        if self.inner is not None:
            return self.width, self.height
        return max(self.width, width_of(label_runs(self.node), SMALL_SIZE) + 6), self.height + LABEL

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
TITLE = MARGIN + 14  # space for the title of a group


@dataclass
class Placed:
    """A graph with its layout."""

    graph: FlowGraph
    boxes: list[Box]
    layout: DiagramLayout

    def offset(self, port: Port) -> float:
        """How far from the middle of its node an edge's end is: that of a group is the position of the node within it."""
        inner = self.boxes[port.node].inner
        if inner is None or port.within is None:
            return 0.0
        cell = inner.layout.cells[port.within.node]
        return cell.x - inner.layout.width / 2 + inner.offset(port.within)


def placed(graph: FlowGraph) -> Placed:
    """Lay out a graph, what is within it first."""
    boxes = [boxed(node) for node in graph.nodes]
    result = Placed(graph, boxes, DiagramLayout([], [], 0, 0, [], []))
    links = [
        Link(
            edge.source.node,
            edge.target.node,
            result.offset(edge.source),
            result.offset(edge.target),
            out=edge.source.within,
            into=edge.target.within,
        )  # fmt: skip
        for edge in graph.edges
        if edge.source.node != edge.target.node
    ]
    entries = [index for index, node in enumerate(graph.nodes) if node.kind == "entry"]
    result.layout = layered([box.outer for box in boxes], links, entries)
    return result


def boxed(node: DrawnFunction) -> Box:
    if node.inside is not None:
        inner = placed(node.inside)
        width = max(inner.layout.width, width_of(node.runs, SMALL_SIZE) * 1.1)
        return Box(node, width + 2 * MARGIN, inner.layout.height + MARGIN + TITLE, inner)
    wide = width_of(node.runs, TEXT_SIZE) * (1.1 if node.kind == "function" else 1.0)
    if node.kind == "sign":
        return Box(node, max(2 * ROUND, wide + 14), 2 * ROUND, None)
    low = 20.0 if node.detail else 0.0
    return Box(node, max(wide, width_of(node.detail, SMALL_SIZE)) + 2 * PAD, 30.0 + low, None)


# -------------------------------------------------------------------------------------------------------------- shapes
def shapes_of(placement: Placed, left: float, top: float) -> Iterator[Shape]:
    """Yield the shapes of a graph from its upper left corner: edges first, so that boxes cover them."""
    arrivals = spread_arrivals(placement)
    for number, link in enumerate(placement.layout.links):
        yield path(placement, link, arrivals[number], left, top)
    for box, cell in zip(placement.boxes, placement.layout.cells):
        yield from box_shapes(box, left + cell.x, top + cell.y)


def box_shapes(box: Box, x: float, y: float) -> Iterator[Shape]:
    node, left = box.node, x - box.width / 2
    if box.inner is not None:
        title = width_of(node.runs, SMALL_SIZE) / 2
        yield Rectangle("group", left, y, box.width, box.height, 10)
        yield Label(node.runs, left + MARGIN + title, y + 17, SMALL_SIZE, "faint")
        yield from shapes_of(box.inner, left + (box.width - box.inner.layout.width) / 2, y + TITLE)
        return
    kind = "formula-box" if node.kind == "formula" else node.kind
    corner = {"sign": box.height / 2, "function": 6, **dict.fromkeys(NAMING, 15)}.get(node.kind, 3)
    yield Rectangle(kind, left, y, box.width, box.height, corner)
    yield Label(node.runs, x, y + (20 if node.detail else box.height / 2 + 5), TEXT_SIZE, title=node.kind == "function")
    if node.detail:
        yield Label(node.detail, x, y + 39, SMALL_SIZE, "faint")
    below = y + box.height
    yield LineShape((x, below), (((x, below + 8),),))
    yield Label(label_runs(node), x, below + 24, SMALL_SIZE)


# --------------------------------------------------------------------------------------------------------------- edges
def spread_arrivals(placed: Placed) -> dict[int, float]:
    """How far from the middle of its box each edge arrives: side by side, in the order in which they come."""
    layout = placed.layout
    arrivals: dict[int, float] = {}
    for index, box in enumerate(placed.boxes):
        here = [number for number, link in enumerate(layout.links) if link.target == index]
        here.sort(key=lambda number: layout.cells[[layout.links[number].source, *layout.links[number].ways][-1]].x)
        room = min(26.0, 0.6 * box.width / max(len(here), 1))
        for position, number in enumerate(here):
            inside = layout.links[number].arrives
            spread = (
                0.0 if box.inner is not None or box.node.kind == "sign" else (position - (len(here) - 1) / 2) * room
            )
            arrivals[number] = inside + spread
    return arrivals


def path(placed: Placed, link: Link, arrival: float, left: float, top: float) -> LineShape:
    """An edge through its waypoints, upright where it leaves, passes a rank and arrives."""
    layout, cells, box = placed.layout, placed.layout.cells, placed.boxes[link.target]
    source, target = cells[link.source], cells[link.target]
    below = source.y + source.height - placed.boxes[link.source].hidden_below(link.out)
    points = [(left + source.x + link.leaves, top + below)]
    if below < source.y + source.height:
        points.append((points[0][0], top + source.y + source.height))
    for way in link.ways:
        rank = cells[way].rank
        points += [(left + cells[way].x, top + layout.tops[rank]), (left + cells[way].x, top + layout.bottoms[rank])]
    end = (left + target.x + arrival, top + target.y)
    aside = points[-1][0] - (left + target.x)
    if box.node.kind == "sign" and abs(aside) > box.width / 2 + 16 and is_free(placed, link):
        side = 1 if aside > 0 else -1
        height, x = top + target.y + box.height / 2, points[-1][0]
        edge = left + target.x + side * (box.width / 2 + 6)
        bend = ((x, height - 10),), ((x, height), (x - side * 10, height)), ((edge, height),)
        return LineShape(points[0], (*map(curve, points, points[1:]), *bend), arrow=True)
    if abs(aside - arrival) < NEARLY:
        end = (points[-1][0], end[1])
    hidden = box.hidden_above(link.into)
    points += [end, (end[0], end[1] + hidden - 6)] if hidden else [(end[0], end[1] - 6)]
    return LineShape(points[0], tuple(map(curve, points, points[1:])), arrow=True)


def is_free(placed: Placed, link: Link) -> bool:
    """Whether nothing is between a sign and the side from which an edge comes."""
    cells = placed.layout.cells
    target, last = cells[link.target], cells[[link.source, *link.ways][-1]]
    low, high = sorted((target.x, last.x + (0.0 if link.ways else link.leaves)))
    return not any(
        cell.rank == target.rank
        and cell is not target
        and cell.x + cell.width / 2 > low
        and cell.x - cell.width / 2 < high
        for cell in cells
    )


def curve(start: Point, end: Point) -> tuple[Point, ...]:
    """Return a segment that is upright at both ends."""
    if abs(start[0] - end[0]) < 0.5:
        return (end,)
    middle = (start[1] + end[1]) / 2
    return (start[0], middle), (end[0], middle), end
