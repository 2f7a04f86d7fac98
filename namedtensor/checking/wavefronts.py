"""Type families over two indices as loops, so that the body is typed once. Each step computes a whole wavefront.

    E^{i,j} = min(E^{i-1,j} + 1, E^{i,j-1} + 1, E^{i-1,j-1} + c_{a(i), b(j)}) for i = 1, …, n for j = 1, …, m

The body is typed with i and j as tensors along separate axes, and with E^{i-1,j} as an input over both axes. Terms that
do not depend on a member are computed for all cells at once. The other terms become the body of a loop over the
wavefronts (`wavefront_order`). The states of the loop are the latest wavefronts, with one member per lane. Members that
the steps do not compute, such as E^{i,0}, are inserted in their lanes. If a wavefront has no member in a lane, the lane
repeats the nearest member, so that the loop does not evaluate the formula outside its range.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.sizes import unify
from ..scope.names import Key
from ..terms.builder import TermBuilder
from ..terms.inference import Inference
from ..terms.terms import Term
from .coordinates import Coordinate
from .counting import UnrollableError
from .grid_borders import Border, border_of, type_at
from .grids import Grid
from .wavefront_loops import MAX_FRONTS, LoopOfFronts, RolledGrid, clip_numbers
from .wavefront_order import Cell, Domain, Order


class MisorderedCellsError(UnrollableError):
    """Raised if a loop would read a member before it computes the member."""

    def __init__(self, back: Cell):
        self.back = back


class UncoveredCellError(UnrollableError):
    """Raised if a loop would read undefined members.

    `domain` contains the cells that read only defined members. It is None if these cells do not form a domain.
    """

    def __init__(self, domain: Domain | None):
        self.domain = domain


class Wavefront:
    """A loop over the wavefronts of a grid, while its body is typed."""

    def __init__(self, checker: Inference, grid: Grid, domain: Domain, order: Order, asked: Domain):
        self.checker, self.domain, self.order, self.asked = checker, domain, order, asked
        self.make = TermBuilder(checker.graph, grid.family.body)
        serial = len(checker.graph)
        i, j = grid.variables
        self.axes = f"{i}@front{serial}", f"{j}@front{serial}"
        self.coordinates = [*self.indices()]
        self.grids = {grid.name: grid}

    def indices(self) -> Iterator[Coordinate]:
        """Yield the two indices as tensors over all cells. In a shorter row, j is clipped to the row's span."""
        make, domain, (i, j) = self.make, self.domain, self.axes
        columns = domain.columns
        row, column = make.iota(i, domain.first, len(domain.spans)), make.iota(j, columns.start, len(columns))
        if not domain.is_box:
            lows, highs = (make.constant(i, ends) for ends in zip(*domain.spans))
            column = clip_numbers(make, column, lows, highs)
        yield Coordinate(make, i, self, row, domain.rows)
        yield Coordinate(make, j, self, column, columns)

    # ------------------------------------------------------------------------------------------------ while it is typed
    def read(self, grid: Grid, back: Cell) -> Term:
        """Return the members that each cell reads at an offset, as a term over all cells."""
        grid = self.grids.setdefault(grid.name, grid)
        if back == (0, 0):
            return self.typed(grid)
        distance = self.order.schedule.front(back)
        if distance < 1:
            raise MisorderedCellsError(back)
        if distance > MAX_FRONTS:
            raise UnrollableError
        if back not in grid.reads:
            first = self.first(grid)
            grid.reads[back] = self.checker.unknown_member(grid.family, self.shape | first.shape, first.boolean)
        return grid.reads[back]

    @property
    def shape(self) -> dict[str, int]:
        """The axes over the cells, with their sizes."""
        return {coordinate.axis: len(coordinate.numbers) for coordinate in self.coordinates}

    def first(self, grid: Grid) -> Term:
        """Return a member of the first wavefront. All members must have the type of this member."""
        if grid.first is None:
            grid.first = grid.at(self.order.start())
        return grid.first

    def typed(self, grid: Grid) -> Term:
        """Return the term for a grid's members over all cells. This term is the loop's body."""
        if grid.next is None:
            held = grid.domain is not None and grid.domain.holds(self.domain) and grid.is_own(self.domain)
            if grid.busy or not held or grid.family.name.base in self.checker.scope.varied:
                raise UnrollableError
            grid.busy = True
            grid.next = self.body(grid)
            grid.busy = False
        return grid.next

    def body(self, grid: Grid) -> Term:
        if grid.family.claims:
            raise UnrollableError
        tensors = {Key(name): coordinate.index for name, coordinate in zip(grid.variables, self.coordinates)}
        members: dict[str, Any] = dict(zip(grid.variables, self.coordinates))
        return type_at(self.checker, grid.family, grid.others, tensors, members, grid.holder, labels=True)

    def type_all(self) -> None:
        """Type the body of every grid that the loop reads, and check the members' shapes."""
        rolled = {coordinate.mark: coordinate for coordinate in self.coordinates}
        self.checker.rolled |= rolled
        try:
            while waiting := [member for member in self.grids.values() if member.next is None]:
                self.typed(waiting[0])
            for grid in [member for member in self.grids.values() if member.reads]:
                self.check_shapes(grid)
        finally:
            for mark in rolled:
                del self.checker.rolled[mark]

    def check_shapes(self, grid: Grid) -> None:
        """Raise UnrollableError if a grid's members do not have the type of its first member."""
        first, shape = self.first(grid), self.own_shape(self.typed(grid))
        alike = shape.keys() == first.shape.keys() and grid.next is not None and grid.next.boolean == first.boolean
        if not alike or not all(unify(size, first.shape[axis]) for axis, size in shape.items()):
            raise UnrollableError

    def own_shape(self, term: Term) -> dict[str, Any]:
        return {axis: size for axis, size in term.shape.items() if axis not in self.axes}

    def check_borders(self, borders: dict[Grid, Border]) -> None:
        """Raise UnrollableError if a member next to a border would lack axes.

        The border's members may lack axes. For example, E^{i,0} = 0 has none.
        """
        reads = [(grid, back) for grid in borders for back in grid.reads]
        seen: set[tuple[frozenset[str], ...]] = set()
        for grid, back in reads:
            for row, column in borders[grid].places:
                reader = row + back[0], column + back[1]
                if reader in self.domain:
                    seen.add(
                        tuple(frozenset(shape_before(borders[member], member, reader, far)) for member, far in reads)
                    )
        for axes in seen - {tuple(frozenset(grid.first.shape) for grid, _ in reads if grid.first is not None)}:
            self.retype_members(reads, axes)

    def retype_members(self, reads: list[tuple[Grid, Cell]], axes: tuple[frozenset[str], ...]) -> None:
        """Type all grids again, with only these axes for the members that they read.

        Raise UnrollableError if the types differ.
        """
        again = Wavefront(self.checker, next(iter(self.grids.values())), self.domain, self.order, self.asked)
        again.grids = {
            name: Grid(self.checker, value.family, value.others, value.holder) for name, value in self.grids.items()
        }
        for grid, fresh in zip(self.grids.values(), again.grids.values()):
            fresh.first = grid.first
        for (grid, back), names in zip(reads, axes):
            first = self.first(grid)
            shape = {axis: size for axis, size in first.shape.items() if axis in names}
            again.grids[grid.name].reads[back] = self.checker.unknown_member(
                grid.family, again.shape | shape, first.boolean
            )
        again.type_all()

    # --------------------------------------------------------------------------------------------------------- the loop
    def loops(self) -> Iterator[tuple[Grid, RolledGrid]]:
        """Yield each grid whose members the steps read, with its typed loop."""
        self.type_all()
        carried = [member for member in self.grids.values() if member.reads]
        borders = {member: self.border(member) for member in carried}
        self.check_borders(borders)
        places = [cell[self.order.schedule.lane] for border in borders.values() for cell in border.places]
        ends = [end for pair in self.order.lanes for end in pair]
        lanes = range(min(ends + places), max(ends + places) + 1)
        body = LoopOfFronts(self.make, self.order, lanes, self.coordinates)
        loop, numbers = body.loop(borders)
        for grid in carried:
            first = self.first(grid)
            shape = {body.lane_axis: len(lanes), **first.shape}
            axis, number = body.lane_axis, numbers[grid]
            yield grid, RolledGrid(self.asked, self.domain, self.order, lanes, loop, number, shape, axis, first.boolean)

    def check_covered(self, grid: Grid) -> None:
        """Raise UncoveredCellError if a step reads an undefined member.

        For example, it may read E^{-1,0} in a case that applies only if i > 0.
        """
        readers = {
            (cell[0] + back[0], cell[1] + back[1])
            for back in grid.reads for cell in self.domain.beyond(back) if not grid.has(cell)
        }  # fmt: skip
        if readers:
            raise UncoveredCellError(self.domain.without(readers))

    def border(self, grid: Grid) -> Border:
        self.check_covered(grid)
        cells = dict.fromkeys(cell for back in grid.reads for cell in self.domain.beyond(back))
        first = self.first(grid)
        return border_of(grid, [*cells], first.shape, first.boolean)


def shape_before(border: Border, grid: Grid, reader: Cell, back: Cell) -> dict[str, Any]:
    """Return the shape of the member that a cell reads at an offset. The member may be on the border."""
    assert grid.first is not None
    return border.shapes.get((reader[0] - back[0], reader[1] - back[1]), grid.first.shape)
