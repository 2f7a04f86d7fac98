"""Layered layout of a graph: nodes in ranks from top to bottom, with few crossings and nearly straight edges.

The algorithm follows Sugiyama, Tagawa and Toda (1981). The longest path to a node determines its rank, and the
barycenters of its neighbors determine its order within the rank. Then the nodes of each rank move to the positions with
the shortest edges. An edge over several ranks has a waypoint in each rank. The layout knows only the sizes of cells, so
it treats a group as a single node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import accumulate, pairwise
from typing import NamedTuple

SPACE, GAP, SLIM = 22.0, 30.0, 10.0  # between neighbors, between ranks, the breadth of a waypoint
SWEEPS = 24
WEIGHTS = (20.0, 1.0, 50.0)  # of pieces with zero, one or two waypoints at their ends


@dataclass
class Cell:
    """A node or a waypoint, with its size, rank and position. `x` is its center, and `y` is its top."""

    width: float
    height: float
    rank: int = 0
    x: float = 0.0
    y: float = 0.0
    is_way: bool = False


@dataclass
class Link:
    """An edge. Its offsets are the horizontal distances of its ends from the centers of its nodes."""

    source: int
    target: int
    leaves: float = 0.0
    arrives: float = 0.0
    ways: list[int] = field(default_factory=list[int])

    def pieces(self) -> Iterator[DiagramPiece]:
        """Yield the pieces of the edge between adjacent ranks."""
        for upper, lower in pairwise((self.source, *self.ways, self.target)):
            leaves = self.leaves if upper == self.source else 0.0
            yield DiagramPiece(upper, lower, leaves - (self.arrives if lower == self.target else 0.0))


class DiagramPiece(NamedTuple):
    """A piece of an edge between adjacent ranks, from the cell `upper` to the cell `lower`.

    It is straight if the horizontal offset of `lower` from `upper` equals `shift`.
    """

    upper: int
    lower: int
    shift: float


@dataclass
class DiagramLayout:
    """The layout of a graph: cells with positions, links through waypoints, total size, and extent of each rank."""

    cells: list[Cell]
    links: list[Link]
    width: float = 0.0
    height: float = 0.0
    tops: list[float] = field(default_factory=list[float])
    bottoms: list[float] = field(default_factory=list[float])


def lay_out(sizes: Sequence[tuple[float, float]], links: Sequence[Link], first: Collection[int] = ()) -> DiagramLayout:
    """Return a layout for nodes of these sizes. Links point down, and the nodes in `first` are in the first rank."""
    layout = DiagramLayout([Cell(width, height) for width, height in sizes], list(links))
    rank_cells(layout, first)
    pieces = [piece for link in links for piece in link.pieces()]
    ranks = order_cells(layout.cells, pieces)
    place_cells(layout.cells, pieces, ranks)
    stack_ranks(layout, ranks)
    return layout


def rank_cells(layout: DiagramLayout, first: Collection[int]) -> None:
    """Assign cells to ranks by their longest path from above, and add a waypoint in each rank that a link crosses.

    A node without incoming links is moved to the rank just above its highest target, unless the node is in `first`.
    """
    cells = layout.cells
    sources: dict[int, list[int]] = {index: [] for index in range(len(cells))}
    for link in layout.links:
        sources[link.target].append(link.source)
    for index in TopologicalSorter(sources).static_order():
        cells[index].rank = max((cells[source].rank + 1 for source in sources[index]), default=0)
    for index, cell in enumerate(cells):
        below = [cells[link.target].rank for link in layout.links if link.source == index]
        if below and not sources[index] and index not in first:
            cell.rank = min(below) - 1
    for link in layout.links:
        for rank in range(cells[link.source].rank + 1, cells[link.target].rank):
            link.ways.append(len(cells))
            cells.append(Cell(SLIM, 0.0, rank, is_way=True))


# -------------------------------------------------------------------------------------------------------------- order
def order_cells(cells: list[Cell], pieces: Sequence[DiagramPiece]) -> list[list[int]]:
    """Return the cells of each rank from left to right, in an order with few crossings."""
    above: dict[int, list[int]] = {index: [] for index in range(len(cells))}
    below: dict[int, list[int]] = {index: [] for index in range(len(cells))}
    for upper, lower, _ in pieces:
        above[lower].append(upper)
        below[upper].append(lower)
    ranks: list[list[int]] = [[] for _ in range(max((cell.rank for cell in cells), default=-1) + 1)]
    for index in first_order(cells, below):
        ranks[cells[index].rank].append(index)
    candidates = [[list(rank) for rank in ranks]]
    for sweep in range(SWEEPS):
        neighbors = below if sweep % 2 else above
        at = {index: position for rank in ranks for position, index in enumerate(rank)}
        for rank in reversed(ranks) if sweep % 2 else ranks:
            rank.sort(key=lambda index: sum(at[other] for other in neighbors[index]) / len(neighbors[index])
                      if neighbors[index] else at[index])  # fmt: skip
            at |= {index: position for position, index in enumerate(rank)}
        candidates.append([list(rank) for rank in ranks])
    return min(candidates, key=lambda candidate: count_crossings(candidate, pieces))


def first_order(cells: list[Cell], below: dict[int, list[int]]) -> list[int]:
    """Return an initial order of the cells, depth-first along edges, so that related cells are near each other."""
    result: dict[int, None] = {}
    waiting = sorted(range(len(cells)), key=lambda index: (-cells[index].rank, -index))
    while waiting:
        index = waiting.pop()
        if index not in result:
            result[index] = None
            waiting += reversed(below[index])
    return list(result)


def count_crossings(ranks: list[list[int]], pieces: Sequence[DiagramPiece]) -> int:
    """Return the number of crossings between edges of adjacent ranks."""
    count = 0
    for rank in ranks:
        at = {index: position for position, index in enumerate(rank)}
        below = {lower: position for other in ranks for position, lower in enumerate(other)}
        ends = [(at[upper], below[lower]) for upper, lower, _ in pieces if upper in at]
        count += sum(
            (left - other) * (right - far) < 0
            for number, (left, right) in enumerate(ends)
            for other, far in ends[:number]
        )
    return count


# ---------------------------------------------------------------------------------------------------------- positions
class Pull(NamedTuple):
    """A position at which one of a cell's edges would be straight, with the weight of this edge."""

    x: float
    weight: float


class Tie(NamedTuple):
    """An edge as seen from one of its cells: the other cell, its offset for a straight edge, and the edge's weight."""

    other: int
    shift: float
    weight: float


Ties = Sequence[Sequence[Tie]]  # of each cell


def place_cells(cells: list[Cell], pieces: Sequence[DiagramPiece], ranks: list[list[int]]) -> None:
    """Place the cells so that their edges are short, keeping the order of the cells in each rank."""
    above: list[list[Tie]] = [[] for _ in cells]
    below: list[list[Tie]] = [[] for _ in cells]
    for upper, lower, shift in pieces:
        weight = WEIGHTS[cells[upper].is_way + cells[lower].is_way]
        above[lower].append(Tie(upper, shift, weight))
        below[upper].append(Tie(lower, -shift, weight))
    both = [[*high, *low] for high, low in zip(above, below)]
    for rank in ranks:
        place_rank(cells, rank, above)
    for rank in reversed(ranks):
        place_rank(cells, rank, below)
    for _ in range(SWEEPS):
        for rank in ranks:
            place_rank(cells, rank, both)
        move_chains(cells, both, ranks)


def place_rank(cells: list[Cell], rank: list[int], ties: Ties) -> None:
    """Place the cells of one rank by isotonic regression, which minimizes the weighted distances to their pulls."""
    offsets = list(accumulate((distance(cells[one], cells[other]) for one, other in pairwise(rank)), initial=0.0))
    blocks: list[tuple[float, list[Pull], int]] = []  # cells that touch: the position of the first, and how many
    for index, offset in zip(rank, offsets):
        pulls = [Pull(cells[tie.other].x + tie.shift - offset, tie.weight) for tie in ties[index]]
        block, count = pulls or [Pull(cells[index].x - offset, 0.001)], 1
        x = median(block)
        while blocks and blocks[-1][0] >= x:
            _, others, number = blocks.pop()
            block, count = others + block, count + number
            x = median(block)
        blocks.append((x, block, count))
    starts = [x for x, _, count in blocks for _ in range(count)]
    for index, offset, start in zip(rank, offsets, starts):
        cells[index].x = start + offset


def move_chains(cells: list[Cell], ties: Ties, ranks: list[list[int]]) -> None:
    """Move groups of cells that are connected by straight edges, each as a unit, as far as their neighbors allow."""
    done: set[int] = set()
    for root in range(len(cells)):
        if root in done:
            continue
        chain, waiting = set[int](), [root]
        while waiting:
            index = waiting.pop()
            if index not in chain:
                chain.add(index)
                waiting += [tie.other for tie in ties[index] if abs(stretch(cells, index, tie)) < 1e-3]
        done |= chain
        pulls = [
            Pull(stretch(cells, index, tie), tie.weight)
            for index in chain for tie in ties[index] if tie.other not in chain
        ]  # fmt: skip
        low, high = float("-inf"), float("inf")
        for rank in ranks:
            for left, right in pairwise(rank):
                room = cells[right].x - cells[left].x - distance(cells[left], cells[right])
                if left in chain and right not in chain:
                    high = min(high, room)
                if right in chain and left not in chain:
                    low = max(low, -room)
        shift = min(max(median(pulls), low), high) if pulls else 0.0
        for index in chain:
            cells[index].x += shift


def stretch(cells: list[Cell], index: int, tie: Tie) -> float:
    """Return the horizontal distance of a cell from the position at which one of its edges is straight."""
    return cells[tie.other].x + tie.shift - cells[index].x


def median(pulls: list[Pull]) -> float:
    """Return the weighted median of positions, which is the midpoint if several positions are optimal."""
    ordered = sorted(pulls)
    half = sum(pull.weight for pull in ordered) / 2
    totals = list(accumulate(pull.weight for pull in ordered))
    low = next(pull.x for pull, total in zip(ordered, totals) if total >= half - 1e-9)
    high = next((pull.x for pull, total in zip(ordered, totals) if total > half + 1e-9), low)
    return (low + high) / 2


def distance(left: Cell, right: Cell) -> float:
    """Return the minimum distance between the centers of two cells that are side by side."""
    space = SPACE / 2 if left.is_way and right.is_way else SPACE
    return (left.width + right.width) / 2 + space


def stack_ranks(layout: DiagramLayout, ranks: list[list[int]]) -> None:
    """Place the ranks below each other, and shift all cells so that the layout begins at 0."""
    cells, down = layout.cells, 0.0
    for rank in ranks:
        height = max((cells[index].height for index in rank), default=0.0)
        layout.tops.append(down)
        layout.bottoms.append(down + height)
        for index in rank:
            cells[index].y = down + (0.0 if cells[index].is_way else (height - cells[index].height) / 2)
        down += height + GAP
    left = min((cell.x - cell.width / 2 for cell in cells), default=0.0)
    for cell in cells:
        cell.x -= left
    layout.width = max((cell.x + cell.width / 2 for cell in cells), default=0.0)
    layout.height = max(down - GAP, 0.0)
