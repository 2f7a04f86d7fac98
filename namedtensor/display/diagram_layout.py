"""A layered layout: nodes in ranks from top to bottom, few crossings, edges as straight as possible.

After Sugiyama, Tagawa and Toda 1981: ranks by the longest path; order within a rank by the barycenters of neighbors;
then vertically aligned chains of cells are moved so that the other edges are short. An edge over several ranks has a
waypoint in each. The layout knows only sizes of cells, so a group is a node like others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

SPACE, GAP, SLIM = 22.0, 30.0, 10.0  # between neighbors, between ranks, the breadth of a waypoint
SWEEPS = 24


@dataclass
class Cell:
    """A node or a waypoint: its size, and its place once that is found (`x` is its middle, `y` its top)."""

    width: float
    height: float
    rank: int = 0
    x: float = 0.0
    y: float = 0.0
    is_way: bool = False
    is_top: bool = False  # it stays in the first rank


@dataclass
class Link:
    """An edge; the offsets say how far from the middles of its ends it begins and arrives.

    `out` and `into` are whatever the caller knows of its ends.
    """

    source: int
    target: int
    leaves: float = 0.0
    arrives: float = 0.0
    out: Any = None
    into: Any = None
    ways: list[int] = field(default_factory=list[int])


class DiagramPiece(NamedTuple):
    """A segment of an edge between adjacent ranks."""

    upper: int
    lower: int
    leaves: float
    arrives: float


@dataclass
class DiagramLayout:
    """Cells with their places, the links through their waypoints, and the size of the whole."""

    cells: list[Cell]
    links: list[Link]
    width: float
    height: float
    tops: list[float]
    bottoms: list[float]


def layered(sizes: Sequence[tuple[float, float]], links: Sequence[Link], first: Collection[int] = ()) -> DiagramLayout:
    """Places for nodes of these sizes, in which every link goes down; those of `first` appear in the first rank."""
    cells = [Cell(width, height, is_top=index in first) for index, (width, height) in enumerate(sizes)]
    rank_cells(cells, links)
    add_ways(cells, links)
    ranks = ordered(cells, links)
    align(cells, links, ranks)
    return settled(cells, links, ranks)


# -------------------------------------------------------------------------------------------------------------- ranks
def rank_cells(cells: list[Cell], links: Sequence[Link]) -> None:
    """The longest path from above; sources are placed just above their targets."""
    waiting = {index: sum(link.target == index for link in links) for index in range(len(cells))}
    ready = [position for position, count in waiting.items() if not count]
    while ready:
        index = ready.pop()
        for link in links:
            if link.source == index:
                cells[link.target].rank = max(cells[link.target].rank, cells[index].rank + 1)
                waiting[link.target] -= 1
                if not waiting[link.target]:
                    ready.append(link.target)
    for index, cell in enumerate(cells):
        below = [cells[link.target].rank for link in links if link.source == index]
        if below and not cell.is_top and not any(link.target == index for link in links):
            cell.rank = min(below) - 1


def add_ways(cells: list[Cell], links: Sequence[Link]) -> None:
    for link in links:
        for rank in range(cells[link.source].rank + 1, cells[link.target].rank):
            link.ways.append(len(cells))
            cells.append(Cell(SLIM, 0.0, rank, is_way=True))


def pieces(links: Sequence[Link]) -> list[DiagramPiece]:
    """The pieces of all edges."""
    result: list[DiagramPiece] = []
    for link in links:
        stations = [link.source, *link.ways, link.target]
        for upper, lower in zip(stations, stations[1:]):
            leaves = link.leaves if upper == link.source else 0.0
            arrives = link.arrives if lower == link.target else 0.0
            result.append(DiagramPiece(upper, lower, leaves, arrives))
    return result


# -------------------------------------------------------------------------------------------------------------- order
def ordered(cells: list[Cell], links: Sequence[Link]) -> list[list[int]]:
    """The cells of each rank from left to right."""
    joined = pieces(links)
    above: dict[int, list[int]] = {index: [] for index in range(len(cells))}
    below: dict[int, list[int]] = {index: [] for index in range(len(cells))}
    for upper, lower, _, _ in joined:
        above[lower].append(upper)
        below[upper].append(lower)
    ranks: list[list[int]] = [[] for _ in range(max((cell.rank for cell in cells), default=-1) + 1)]
    for position in first_order(cells, below):
        ranks[cells[position].rank].append(position)
    best, fewest = [list(rank) for rank in ranks], crossings(ranks, joined)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        for rank in ranks if down else reversed(ranks):
            at = {node: position for other in ranks for position, node in enumerate(other)}
            rank.sort(key=lambda node: barycenter(node, neighbours, at))
        count = crossings(ranks, joined)
        if count < fewest:
            best, fewest = [list(rank) for rank in ranks], count
    return best


def first_order(cells: list[Cell], below: dict[int, list[int]]) -> list[int]:
    """Order nodes along the edges, deepest first, so that related nodes are adjacent."""
    result: dict[int, None] = {}
    for root in sorted(range(len(cells)), key=lambda index: cells[index].rank):
        waiting = [root]
        while waiting:
            position = waiting.pop()
            if position not in result:
                result[position] = None
                waiting += reversed(below[position])
    return list(result)


def barycenter(position: int, neighbours: dict[int, list[int]], at: dict[int, int]) -> float:
    near = neighbours[position]
    return sum(at[other] for other in near) / len(near) if near else at[position]


def crossings(ranks: list[list[int]], joined: Sequence[DiagramPiece]) -> int:
    at = {node: (number, position) for number, rank in enumerate(ranks) for position, node in enumerate(rank)}
    count = 0
    for rank in range(len(ranks)):
        ends = [(at[upper][1], at[lower][1]) for upper, lower, _, _ in joined if at[upper][0] == rank]
        for index, (left, right) in enumerate(ends):
            count += sum((left - other) * (right - far) < 0 for other, far in ends[:index])
    return count


# ------------------------------------------------------------------------------------------------------------- places
@dataclass
class Strand:
    """Cells of several ranks that are stacked, so that the edges between them are straight."""

    x: float
    members: dict[int, float]  # each cell, and its distance from x


Beside = list[
    tuple[dict[int, float], dict[int, float]]
]  # of each strand, the least distances to others, left and right


def align(cells: list[Cell], links: Sequence[Link], ranks: list[list[int]]) -> None:
    """Move strands to where the other edges are short; the order and the distances in each rank stay."""
    joined = pieces(links)
    strands, of = strands_of(cells, joined, ranks)
    pulls: list[list[tuple[int, float, float]]] = [[] for _ in strands]  # of each: the other one, a shift, a weight
    for upper, lower, leaves, arrives in joined:
        one, other = of[upper], of[lower]
        if one != other:
            shift = strands[one].members[upper] + leaves - strands[other].members[lower] - arrives
            weight = 2.0 if cells[upper].is_way or cells[lower].is_way else 1.0
            pulls[other].append((one, shift, weight))
            pulls[one].append((other, -shift, weight))
    beside = neighbours(cells, strands, of, ranks)
    push_apart(strands, beside)
    for sweep in range(6 * SWEEPS):
        places = range(len(strands)) if sweep % 2 else range(len(strands) - 1, -1, -1)
        for position in places:
            if pulls[position]:
                total = sum(weight for _, _, weight in pulls[position])
                expected = sum(weight * (strands[other].x + shift) for other, shift, weight in pulls[position]) / total
                low, high = limits(position, strands, beside)
                strands[position].x = min(max(expected, low), high)
    for strand in strands:
        for position, offset in strand.members.items():
            cells[position].x = strand.x + offset


def strands_of(cells: list[Cell], joined: list[DiagramPiece], ranks: list[list[int]]):
    """The strands, and the one that each cell belongs to."""
    expected = straight(cells, joined, ranks)
    between_ways = [piece for piece in expected if cells[piece.upper].is_way and cells[piece.lower].is_way]
    for extra in (expected, between_ways, []):  # fewer, where the orders of the ranks contradict one another
        of = list(range(len(cells)))
        offsets = [0.0] * len(cells)
        for upper, lower, leaves, arrives in extra:  # from above, so that the upper end has its strand
            of[lower], offsets[lower] = of[upper], offsets[upper] + leaves - arrives
        numbers = {root: number for number, root in enumerate(dict.fromkeys(of))}
        strands = [Strand(0.0, {}) for _ in numbers]
        for index, root in enumerate(of):
            strands[numbers[root]].members[index] = offsets[index]
        indices = [numbers[root] for root in of]
        with suppress(CycleError):
            sorted_out(neighbours(cells, strands, indices, ranks))
            break
    return strands, indices


def straight(cells: list[Cell], joined: list[DiagramPiece], ranks: list[list[int]]):
    """The pieces that are to be straight: each cell has at most one above and one below, and no two cross.

    Between waypoints first; of the others those that are the middle one of each end, and go to the next rank.
    """
    at = {node: position for rank in ranks for position, node in enumerate(rank)}
    above = {
        position: middle([piece.upper for piece in joined if piece.lower == position], cells, at) for position in at
    }
    below = {
        position: middle([piece.lower for piece in joined if piece.upper == position], cells, at) for position in at
    }
    both = [piece for piece in joined if cells[piece.upper].is_way and cells[piece.lower].is_way]
    both += [
        piece for piece in joined
        if not cells[piece.upper].is_way and not cells[piece.lower].is_way
        and below[piece.upper] == piece.lower and above[piece.lower] == piece.upper
    ]  # fmt: skip
    pieces: list[DiagramPiece] = []
    for piece in both:
        crossing = any(
            cells[other.upper].rank == cells[piece.upper].rank
            and (at[other.upper] - at[piece.upper]) * (at[other.lower] - at[piece.lower]) <= 0
            for other in pieces
        )
        if not crossing:
            pieces.append(piece)
    return sorted(pieces, key=lambda piece: cells[piece.upper].rank)


def middle(others: list[int], cells: list[Cell], at: dict[int, int]) -> int | None:
    """Return the median of a cell's neighbors, nodes before waypoints."""
    near = sorted([other for other in others if not cells[other].is_way] or others, key=lambda other: at[other])
    return near[(len(near) - 1) // 2] if near else None


def neighbours(cells: list[Cell], strands: list[Strand], of: list[int], ranks: list[list[int]]):
    """Of each strand, those at its left and those at its right, with the least distance between the two."""
    beside: Beside = [({}, {}) for _ in strands]
    for rank in ranks:
        for left, right in zip(rank, rank[1:]):
            one, other = of[left], of[right]
            least = distance(cells[left], cells[right]) + strands[one].members[left] - strands[other].members[right]
            beside[one][1][other] = max(least, beside[one][1].get(other, least))
            beside[other][0][one] = max(least, beside[other][0].get(one, least))
    return beside


def sorted_out(beside: Beside) -> list[int]:
    """The strands so that each comes after those at its left. Raises CycleError where that is not possible."""
    return list(TopologicalSorter({position: left for position, (left, _) in enumerate(beside)}).static_order())


def push_apart(strands: list[Strand], beside: Beside) -> None:
    """Each strand as far left as those at its left let it."""
    for position in sorted_out(beside):
        strands[position].x = max(
            (strands[other].x + least for other, least in beside[position][0].items()), default=0.0
        )


def limits(position: int, strands: list[Strand], beside: Beside) -> tuple[float, float]:
    left, right = beside[position]
    low = max((strands[other].x + least for other, least in left.items()), default=float("-inf"))
    high = min((strands[other].x - least for other, least in right.items()), default=float("inf"))
    return low, max(low, high)


def distance(left: Cell, right: Cell) -> float:
    space = SPACE / 2 if left.is_way and right.is_way else SPACE
    return (left.width + right.width) / 2 + space


def settled(cells: list[Cell], links: Sequence[Link], ranks: list[list[int]]) -> DiagramLayout:
    """The heights of ranks, and all moved so that the whole begins at nothing."""
    tops: list[float] = []
    bottoms: list[float] = []
    down = 0.0
    for rank in ranks:
        height = max((cells[position].height for position in rank), default=0.0)
        tops.append(down)
        bottoms.append(down + height)
        for position in rank:
            cells[position].y = down + (0.0 if cells[position].is_way else (height - cells[position].height) / 2)
        down += height + GAP
    left = min((cell.x - cell.width / 2 for cell in cells), default=0.0)
    for cell in cells:
        cell.x -= left
    width = max((cell.x + cell.width / 2 for cell in cells), default=0.0)
    return DiagramLayout(cells, list(links), width, max(down - GAP, 0.0), tops, bottoms)
