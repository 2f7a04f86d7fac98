"""Construct loops over the wavefronts of a grid, and find their members by index.

A state is a wavefront with one member per lane. Each earlier wavefront that a step reads is a separate state. The step
gathers the members from their lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..terms.builder import TermBuilder
from ..terms.loop_bodies import loop_of
from ..terms.terms import Term
from ..terms.wavefront_bodies import map_over_fronts
from .coordinates import Coordinate
from .counting import UnrollableError
from .grid_borders import Border
from .grids import Grid
from .wavefront_order import Cell, Domain, Order

MAX_FRONTS = 16  # The maximum number of wavefronts that a step reads, and of border members in one wavefront.


@dataclass(frozen=True, eq=False)
class RolledGrid:
    """A typed loop over wavefronts, with the result and shape of one name in the loop.

    The loop computes the members in `domain`. It can answer requests for any subset of `asked`.
    """

    asked: Domain
    domain: Domain
    order: Order
    lanes: range
    loop: Term
    number: int
    shape: Mapping[str, Any]
    lane_axis: str
    boolean: bool

    def at(self, make: TermBuilder, cell: Cell) -> Term:
        """Return the member at a cell."""
        schedule = self.order.schedule
        options = (self.number, schedule.front(cell) - self.order.first)
        front = make.graph.intern("after", (self.loop,), (), options, dict(self.shape), self.boolean, make.node)
        return make.pick(front, self.lane_axis, cell[schedule.lane] - self.lanes.start)

    def every(self, make: TermBuilder, axis: str) -> Term:
        """Return all members of the loop along one axis, sorted by wavefront, then by lane."""
        fronts, size = f"{axis}@fronts", len(self.order.lanes)
        shape = {fronts: size, **self.shape}
        term = make.graph.intern("through", (self.loop,), (), (self.number, fronts), shape, self.boolean, make.node)
        return make.merge(term, (fronts, self.lane_axis), axis, size * len(self.lanes))

    def place(self, cell: Cell) -> int:
        """Return the 1-based position of a cell's member in the result of `every`."""
        front, lane = self.order.schedule.front(cell) - self.order.first, cell[self.order.schedule.lane]
        return front * len(self.lanes) + lane - self.lanes.start + 1

    def places(self, make: TermBuilder, row: Term, column: Term) -> Term:
        """Return the positions of members in the result of `every`, given the members' indices as tensors."""
        weights, lane = self.order.schedule
        size = len(self.lanes)
        factors = [size * weight + (index == lane) for index, weight in enumerate(weights)]
        moved = 1 - self.lanes.start - size * self.order.first
        terms = [make.times(make.number(factor), term) for factor, term in zip(factors, (row, column)) if factor]
        number = make.number(moved)
        for term in terms:
            number = make.add(term, number)
        return number


def clip_numbers(make: TermBuilder, term: Term, lows: Term, highs: Term) -> Term:
    """Clip the elements of a term to the range between `lows` and `highs`."""
    return make.between("max", make.between("min", term, highs), lows)


class LoopOfFronts:
    """The loop over wavefronts for a typed body, with its initial states and its step."""

    def __init__(self, make: TermBuilder, order: Order, lanes: range, coordinates: Sequence[Coordinate]):
        self.make, self.order, self.lanes, self.coordinates = make, order, lanes, coordinates
        self.lane, self.weights = order.schedule.lane, order.schedule.weights
        serial = len(make.graph)
        self.front_axis, self.lane_axis = f"fronts@{serial}", f"lanes@{serial}"
        self.inputs: dict[Grid, list[Term]] = {}
        self.shape = {self.front_axis: len(self.order.lanes), self.lane_axis: len(lanes)}
        self.every_lane = self.make.iota(self.lane_axis, lanes.start, len(lanes))
        lows, highs = (self.stack_fronts(ends) for ends in zip(*self.order.lanes))
        self.own_lane = clip_numbers(make, self.every_lane, lows, highs)

    def stack_fronts(self, numbers: tuple[int, ...]) -> Term:
        if len({*numbers}) == 1:
            return self.make.number(numbers[0])
        return self.make.constant(self.front_axis, numbers)

    def cells(self) -> tuple[Term, Term]:
        """Return the indices i and j of the members as tensors over wavefronts and lanes."""
        make, other = self.make, self.weights[1 - self.lane]
        number = make.iota(self.front_axis, self.order.first, len(self.order.lanes))
        rest = make.between("-", number, make.times(make.number(self.weights[self.lane]), self.own_lane))
        rest = rest if other > 0 else make.negative(rest)
        return (self.own_lane, rest) if self.lane == 0 else (rest, self.own_lane)

    def gathered(self, term: Term) -> Term:
        """Rearrange a term over all cells along the axes for wavefronts and lanes."""
        make, (rows, columns), (row, column) = self.make, self.coordinates, self.cells()
        if columns.axis not in term.shape:
            return make.at(term, rows.axis, self.shifted(row, 1 - rows.numbers.start))
        column = self.shifted(column, 1 - columns.numbers.start)
        if rows.axis not in term.shape:
            return make.at(term, columns.axis, column)
        axis, size = f"{self.lane_axis}@cells", len(columns.numbers)
        merged = make.merge(term, (rows.axis, columns.axis), axis, len(rows.numbers) * size)
        before = make.times(self.shifted(row, -rows.numbers.start), make.number(size))
        return make.at(merged, axis, make.add(before, column))

    def shifted(self, index: Term, by: int) -> Term:
        return self.make.add(index, self.make.number(by)) if by else index

    def loop(self, borders: dict[Grid, Border]) -> tuple[Term, dict[Grid, int]]:
        """Return the loop's term and, for each grid, the position of its latest wavefront among the states."""
        states, initial, results, numbers = list[Term](), list[Term](), list[Term](), dict[Grid, int]()
        members: dict[int, Term] = {}
        for grid, border in borders.items():
            numbers[grid], terms = len(states), self.states(grid)
            states += terms
            initial += [self.read_first_front(border, back) for back in range(1, len(terms) + 1)]
            members |= {id(term): self.read(terms, back) for back, term in grid.reads.items()}
        nexts = [grid.next for grid in borders if grid.next is not None]
        axes = frozenset(coordinate.axis for coordinate in self.coordinates)
        stacked = map_over_fronts(self.make.graph, nexts, members, axes, self.shape, self.gathered)
        for (grid, border), term in zip(borders.items(), stacked):
            terms = self.states(grid)
            results += [self.with_border(border, term), *states[numbers[grid] : numbers[grid] + len(terms) - 1]]
        steps = len(self.order.lanes)
        return loop_of(self.make.graph, self.front_axis, steps, states, results, initial, self.make.node), numbers

    def with_border(self, border: Border, term: Term) -> Term:
        """Insert the border's members into a wavefront, because the steps do not compute them."""
        make = self.make
        on: dict[int, list[Cell]] = {}
        for cell in border.places:
            on.setdefault(self.order.schedule.front(cell), []).append(cell)
        fronts = [on.get(number, []) for number in range(self.order.first, self.order.last + 1)]
        most = max(map(len, fronts))
        if most > MAX_FRONTS:
            raise UnrollableError
        for index in range(most):
            cells = [some[index] if index < len(some) else None for some in fronts]
            lane = self.stack_fronts(tuple(self.lanes.start - 1 if pair is None else pair[self.lane] for pair in cells))
            value = make.at(
                border.term, border.axis, self.stack_fronts(tuple(border.places[pair] if pair else 1 for pair in cells))
            )
            here = make.between("=", self.every_lane, lane)
            term = make.term("cases", (value, here, term), shape=dict(term.shape))
        return term

    def states(self, grid: Grid) -> list[Term]:
        """Return placeholders for a grid's earlier wavefronts, latest first.

        They are inputs of the loop's body.
        """
        if grid not in self.inputs:
            assert grid.first is not None
            shape = {self.lane_axis: len(self.lanes), **grid.first.shape}
            self.inputs[grid] = [
                grid.checker.unknown_member(grid.family, shape, grid.first.boolean)
                for _ in range(max(map(self.order.schedule.front, grid.reads)))
            ]
        return self.inputs[grid]

    def read_first_front(self, border: Border, back: int) -> Term:
        """Return an initial wavefront from border members.

        It is `back` wavefronts before the first computed wavefront.
        """
        schedule = self.order.schedule
        places = [1] * len(self.lanes)
        for cell, position in border.places.items():
            if schedule.front(cell) == self.order.first - back:
                places[cell[self.lane] - self.lanes.start] = position
        return self.make.at(border.term, border.axis, self.make.constant(self.lane_axis, places))

    def read(self, states: Sequence[Term], back: Cell) -> Term:
        """Return the members that the current wavefront reads at an offset, each in its reader's lane."""
        state = states[self.order.schedule.front(back) - 1]
        return self.make.at(state, self.lane_axis, self.shifted(self.own_lane, 1 - self.lanes.start - back[self.lane]))
