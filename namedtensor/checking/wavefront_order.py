"""Represent the cells of a family over two indices, and the order in which a loop computes them, by wavefronts.

    E^{i,j} reads E^{i-1,j}, E^{i,j-1}        wavefront k contains the cells with i + j = k
    V^{i,j} reads V^{i-1,j}, V^{i-1,j-1}      wavefront k is the row i = k

A schedule has one weight per index: the cell (i, j) is in wavefront w · i + v · j. A schedule is valid if each cell
depends only on cells in earlier wavefronts. One of the two indices is the *lane*, which identifies a cell within its
wavefront. A wavefront is therefore a vector.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from grammar.cache import cached_property

Cell = tuple[int, int]
LANES_PER_STEP = 256  # The number of lanes that cost as much as a step.


class Domain:
    """A set of cells (i, j). For each i, starting at `first`, a span contains the first and the last value of j."""

    def __init__(self, first: int, spans: Iterable[Cell]):
        self.first, self.spans = first, tuple(spans)

    @property
    def rows(self) -> range:
        return range(self.first, self.first + len(self.spans))

    @cached_property
    def columns(self) -> range:
        return range(min(low for low, _ in self.spans), max(high for _, high in self.spans) + 1)

    @cached_property
    def count(self) -> int:
        return sum(high - low + 1 for low, high in self.spans)

    @cached_property
    def is_box(self) -> bool:
        return len({*self.spans}) == 1

    def __contains__(self, cell: Cell) -> bool:
        row, column = cell
        if row not in self.rows:
            return False
        low, high = self.spans[row - self.first]
        return low <= column <= high

    def holds(self, other: Domain) -> bool:
        """Return whether this domain contains all cells of `other`."""
        ends = (((row, low), (row, high)) for row, (low, high) in zip(other.rows, other.spans))
        return all(low in self and high in self for low, high in ends)

    def meets(self, other: Domain) -> bool:
        """Return whether two domains have a common cell."""
        return any(
            cut_to(span, other.spans[row - other.first])
            for row, span in zip(self.rows, self.spans)
            if row in other.rows
        )

    def cut(self, rows: range, columns: range) -> Domain | None:
        """Restrict the domain to these rows and columns. Return None if the result is empty or has a gap."""
        low, high = max(self.first, rows.start), min(self.rows.stop, rows.stop)
        ends = columns.start, columns.stop - 1
        return domain_of(low, [cut_to(span, ends) for span in self.spans[low - self.first : max(0, high - self.first)]])

    def without(self, cells: Collection[Cell]) -> Domain | None:
        """Remove cells at the ends of rows. Return None if a cell is not at the end of a row."""
        spans: list[Cell] = []
        for row, (low, high) in zip(self.rows, self.spans):
            while low <= high and (row, low) in cells:
                low += 1
            while low <= high and (row, high) in cells:
                high -= 1
            spans.append((low, high))
        domain = domain_of(self.first, spans)
        return None if domain is None or any(cell in domain for cell in cells) else domain

    def turned(self) -> Domain | None:
        """Return the domain with i and j exchanged, or None if the result has a gap."""
        if self.is_box:
            (low, high), *_ = self.spans
            return Domain(low, [(self.first, self.rows[-1])] * (high - low + 1))
        first, size = self.columns.start, len(self.columns)
        lows, highs, counts = find_covering_ranges(
            self.rows, [(low - first, high - first) for low, high in self.spans], size
        )
        if any(high - low + 1 != count for low, high, count in zip(lows, highs, counts)):
            return None
        return domain_of(first, [*zip(lows, highs)])

    def beyond(self, offset: Cell) -> list[Cell]:
        """Return the cells that cells in the domain read at this offset, if they lie outside the domain."""
        cells: list[Cell] = []
        for row, (low, high) in zip(self.rows, self.spans):
            row, low, high = row - offset[0], low - offset[1], high - offset[1]
            if row not in self.rows:
                cells += ((row, column) for column in range(low, high + 1))
                continue
            least, most = self.spans[row - self.first]
            cells += ((row, column) for column in range(low, min(high + 1, least)))
            cells += ((row, column) for column in range(max(low, most + 1), high + 1))
        return cells


def domain_of(first: int, spans: Sequence[Cell | None]) -> Domain | None:
    """Return the domain with these spans. Empty spans at both ends are dropped.

    Return None if all spans are empty, or if an empty span lies between other spans.
    """
    full = [index for index, span in enumerate(spans) if span is not None and span[0] <= span[1]]
    if not full or full[-1] - full[0] + 1 != len(full):
        return None
    return Domain(first + full[0], [span for span in spans[full[0] : full[-1] + 1] if span is not None])


def cut_to(one: Cell, other: Cell) -> Cell | None:
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else None


def find_covering_ranges(lanes: range, spans: Sequence[Cell], size: int) -> tuple[list[int], list[int], list[int]]:
    """Return, for each position, the first and last lane whose span contains it, and the number of such lanes."""
    lows, highs, changes = [0] * size, [-1] * size, [0] * (size + 1)
    for lane, (low, high) in zip(lanes, spans):
        highs[low : high + 1] = [lane] * (high - low + 1)
        changes[low] += 1
        changes[high + 1] -= 1
    for lane, (low, high) in zip(reversed(lanes), reversed(spans)):
        lows[low : high + 1] = [lane] * (high - low + 1)
    return lows, highs, [*accumulate(changes[:-1])]


class Schedule(NamedTuple):
    """The weights of i and j in the number of a wavefront, and the choice of i or j as the lane.

    The other index has weight 1 or −1.
    """

    weights: Cell
    lane: int

    def front(self, cell: Cell) -> int:
        return self.weights[0] * cell[0] + self.weights[1] * cell[1]


class Order(NamedTuple):
    """A schedule for a domain. Wavefronts are numbered from `first`, and each has a first and a last lane."""

    schedule: Schedule
    first: int
    lanes: tuple[Cell, ...]

    @property
    def last(self) -> int:
        return self.first + len(self.lanes) - 1

    def start(self) -> Cell:
        """Return a cell of the first wavefront."""
        lane, schedule = self.lanes[0][0], self.schedule
        (other,) = (weight for index, weight in enumerate(schedule.weights) if index != schedule.lane)
        rest = (self.first - schedule.weights[schedule.lane] * lane) * other
        return (lane, rest) if schedule.lane == 0 else (rest, lane)


def choose_order(domain: Domain, offsets: Iterable[Cell]) -> Order | None:
    """Return the cheapest order in which every cell comes after the cells that it reads, or None if there is none.

    `offsets` contains the offset of each cell that a cell reads.
    """
    offsets = [*offsets]
    most = 1 + max((abs(part) for offset in offsets for part in offset), default=0)
    result: list[tuple[int, int, Domain, Schedule]] = []
    for lane, lying in enumerate((domain, domain.turned())):
        if lying is None:
            continue
        for weight in range(-most, most + 1):
            for other in (1, -1):
                schedule = Schedule((weight, other) if lane == 0 else (other, weight), lane)
                if all(schedule.front(offset) >= 1 for offset in offsets):
                    ends = [*fronts(lying, weight, other)]
                    steps = max(map(max, ends)) - min(map(min, ends)) + 1
                    result.append((steps * (LANES_PER_STEP + len(lying.spans)), len(result), lying, schedule))
    for _, _, lying, schedule in sorted(result, key=lambda item: item[:2]):
        order = order_of(lying, schedule)
        if order is not None:
            return order
    return None


def fronts(lying: Domain, weight: int, other: int) -> Iterable[Cell]:
    """Yield the numbers of the first and last wavefront of each row."""
    for lane, span in zip(lying.rows, lying.spans):
        one, two = (weight * lane + other * end for end in span)
        yield min(one, two), max(one, two)


def order_of(lying: Domain, schedule: Schedule) -> Order | None:
    """Return the order of a domain whose rows are the lanes. Return None if a wavefront is empty or has a gap."""
    ends = [*fronts(lying, schedule.weights[schedule.lane], schedule.weights[1 - schedule.lane])]
    first = min(low for low, _ in ends)
    spans = [(low - first, high - first) for low, high in ends]
    lows, highs, counts = find_covering_ranges(lying.rows, spans, max(high for _, high in ends) - first + 1)
    if any(high - low + 1 != count or not count for low, high, count in zip(lows, highs, counts)):
        return None
    return Order(schedule, first, tuple(zip(lows, highs)))
