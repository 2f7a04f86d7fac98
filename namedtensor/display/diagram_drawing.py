"""Drawings of graphs with boxes and arrows, and a label with the type below each box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grammar.printer.runs import Run

from .colors import Tint
from .diagram_layout import DiagramLayout, Link, lay_out
from .diagram_shapes import SMALL_SIZE, TEXT_SIZE, DiagramShapes, Label, LineShape, Point, Rectangle, Shape, width_of
from .flow_graph import NAMING, DrawnFunction, Edge, FlowGraph, Port
from .html import type_runs

PAD, MARGIN, ROUND = 11.0, 14.0, 13.0  # within boxes, around graphs, radius of an operator
LEGEND_HEIGHT = 28


def draw(graph: FlowGraph, tints: Mapping[str, Tint], sizes: Mapping[str, Any]) -> DiagramShapes:
    """Return the shapes of a graph, with a legend that lists the known sizes."""
    placed = place_graph(graph)
    layout = placed.layout
    legend = legend_runs(tints, sizes)
    legend_width = width_of(legend, SMALL_SIZE)
    width = max(layout.width, legend_width) + 2 * MARGIN
    shapes = [*shapes_of(placed, (width - layout.width) / 2, MARGIN)]
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
def label_runs(node: DrawnFunction) -> tuple[Run, ...]:
    """Return the label of a node: the type of its value, and the name of the value unless the node shows the name."""
    named = node.name if node.kind not in NAMING else ()
    type = type_runs(node.axes, is_sized=False)  # sizes are in the legend
    return (*named, Run(" ∈ "), *type) if named else type


# -------------------------------------------------------------------------------------------------------------- boxes
NEARLY = 7.0  # an edge whose ends are less than this out of line is drawn straight
LABEL = 30.0  # the height of a label and the line above it
TITLE = MARGIN + 14  # space for the title of a group


class NodeBox(NamedTuple):
    """A node with the size of its shape. For a group, the box also contains the layout of the nested graph."""

    node: DrawnFunction
    width: float
    height: float
    inner: Placed | None

    @property
    def outer(self) -> tuple[float, float]:
        """The size of the shape together with its label."""
        if self.inner is not None:
            return self.width, self.height
        return max(self.width, width_of(label_runs(self.node), SMALL_SIZE) + 6), self.height + LABEL


class Anchor(NamedTuple):
    """The point at which an edge touches a box, as offsets from the box's center, top and bottom."""

    x: float = 0.0
    top: float = 0.0
    bottom: float = 0.0


class Placed(NamedTuple):
    """A graph with its boxes, its edges and their layout."""

    boxes: list[NodeBox]
    edges: list[Edge]
    layout: DiagramLayout


def place_graph(graph: FlowGraph) -> Placed:
    """Return the layout of a graph. Nested graphs are laid out first."""
    boxes = [make_box(node) for node in graph.nodes]
    edges = [edge for edge in graph.edges if edge.source.node != edge.target.node]
    links = [
        Link(source.node, target.node, anchor_of(boxes, source).x, anchor_of(boxes, target).x)
        for source, target in edges
    ]
    entries = [index for index, node in enumerate(graph.nodes) if node.kind == "entry"]
    return Placed(boxes, edges, lay_out([box.outer for box in boxes], links, entries))


def anchor_of(boxes: Sequence[NodeBox], port: Port) -> Anchor:
    """Return the point at which an edge touches a box.

    In a group, the edge continues to the node inside, unless another rank lies between this node and the border.
    """
    inner = boxes[port.node].inner
    if inner is None or port.within is None:
        return Anchor()
    layout, cell = inner.layout, inner.layout.cells[port.within.node]
    within = anchor_of(inner.boxes, port.within)
    is_last = cell.rank + 1 == len(layout.tops)
    return Anchor(
        cell.x - layout.width / 2 + within.x,
        0.0 if cell.rank else TITLE + cell.y + within.top,
        layout.height - cell.y - cell.height + MARGIN + within.bottom if is_last else 0.0,
    )


def make_box(node: DrawnFunction) -> NodeBox:
    """Return the box of a node, whose size depends on its text or its nested graph."""
    if node.inside is not None:
        inner = place_graph(node.inside)
        title = width_of(node.runs, SMALL_SIZE) * 1.1
        first = min((cell.x for cell in inner.layout.cells if cell.rank == 0), default=title)
        width = max(inner.layout.width + 2 * max(0.0, title + 6 - first), title)  # arrows pass beside the title
        return NodeBox(node, width + 2 * MARGIN, inner.layout.height + MARGIN + TITLE, inner)
    wide = width_of(node.runs, TEXT_SIZE) * (1.1 if node.kind == "function" else 1.0)
    if node.kind == "sign":
        return NodeBox(node, max(2 * ROUND, wide + 14), 2 * ROUND, None)
    low = 20.0 if node.detail else 0.0
    return NodeBox(node, max(wide, width_of(node.detail, SMALL_SIZE)) + 2 * PAD, 30.0 + low, None)


# -------------------------------------------------------------------------------------------------------------- shapes
def shapes_of(placed: Placed, left: float, top: float) -> Iterator[Shape]:
    """Yield the shapes of a graph whose upper left corner is given. Edges come first, so boxes cover them."""
    for edge, link in zip(placed.edges, placed.layout.links):
        yield draw_edge(placed, edge, link, left, top)
    for box, cell in zip(placed.boxes, placed.layout.cells):
        yield from box_shapes(box, left + cell.x, top + cell.y)


def box_shapes(box: NodeBox, x: float, y: float) -> Iterator[Shape]:
    """Yield the shapes of a box, given the center of its upper side."""
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
def draw_edge(placed: Placed, edge: Edge, link: Link, left: float, top: float) -> LineShape:
    """Return the line of an edge through its waypoints. It is vertical at its ends and within each rank.

    It can also arrive at a sign from the side.
    """
    layout, box = placed.layout, placed.boxes[link.target]
    source, target = layout.cells[link.source], layout.cells[link.target]
    bottom = top + source.y + source.height
    points = [(left + source.x + link.leaves, bottom - anchor_of(placed.boxes, edge.source).bottom)]
    if points[0][1] < bottom:
        points.append((points[0][0], bottom))
    for way in link.ways:
        cell = layout.cells[way]
        points += [(left + cell.x, top + layout.tops[cell.rank]), (left + cell.x, top + layout.bottoms[cell.rank])]
    x, y = left + target.x, top + target.y
    aside = points[-1][0] - x
    if box.node.kind == "sign" and abs(aside) > box.width / 2 + 16 and is_free(placed, link, points[-1][0] - left):
        side, height = (1 if aside > 0 else -1), y + box.height / 2
        turn = points[-1][0]
        points.append((turn, height - 10))
        corner = ((turn, height - 10 / 3), (turn - side * 10 / 3, height), (turn - side * 10, height))
        end = ((x + side * (box.width / 2 + 6), height),)
        return LineShape(points[0], (*map(curve, points, points[1:]), corner, end), arrow=True)
    arrival = link.arrives + spread_arrival(placed, link)
    if abs(aside - arrival) < NEARLY:
        arrival = aside
    hidden = anchor_of(placed.boxes, edge.target).top
    points += [(x + arrival, y), (x + arrival, y + hidden - 6)] if hidden else [(x + arrival, y - 6)]
    return LineShape(points[0], tuple(map(curve, points, points[1:])), arrow=True)


def spread_arrival(placed: Placed, link: Link) -> float:
    """Return the horizontal offset at which an edge arrives at a box.

    Edges that arrive at the same box are spread side by side.
    """
    layout, box = placed.layout, placed.boxes[link.target]
    if box.inner is not None or box.node.kind == "sign":
        return 0.0
    here = [other for other in layout.links if other.target == link.target]
    here.sort(key=lambda other: layout.cells[[other.source, *other.ways][-1]].x)
    position = next(number for number, other in enumerate(here) if other is link)
    return (position - (len(here) - 1) / 2) * min(26.0, 0.6 * box.width / len(here))


def is_free(placed: Placed, link: Link, x: float) -> bool:
    """Return whether an edge can arrive at a sign from the side without crossing another cell."""
    target = placed.layout.cells[link.target]
    low, high = sorted((target.x, x))
    return not any(
        cell.rank == target.rank
        and cell is not target
        and cell.x + cell.width / 2 > low
        and cell.x - cell.width / 2 < high
        for cell in placed.layout.cells
    )


def curve(start: Point, end: Point) -> tuple[Point, ...]:
    """Return the segment between two points, which is vertical at both ends."""
    if abs(start[0] - end[0]) < 0.5:
        return (end,)
    middle = (start[1] + end[1]) / 2
    return (start[0], middle), (end[0], middle), end
