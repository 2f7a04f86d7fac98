"""Find members of families over two indices, such as E^{3,5} and E^{i,j}, by tensor indices or by a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

from grammar.nodes import Node

from ..core.sizes import is_ground, resolve
from ..scope.names import Key, component, match_key, read_spelling, walk
from ..scope.symbols import Definition, Scope
from ..terms.builder import TermBuilder
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from . import loops
from .coordinates import Coordinate
from .counting import UnrollableError, find_bound, try_typing
from .grid_borders import border_of, type_at
from .grids import Grid, variables_of
from .open_labels import split_offset
from .stacked_families import StackedIndex
from .wavefront_loops import RolledGrid
from .wavefront_order import Cell, Domain, choose_order
from .wavefronts import MisorderedCellsError, UncoveredCellError, Wavefront

MAX_TRIED_ORDERS = 8  # The maximum number of orders to try.
MAX_LISTED_MEMBERS = 10**6  # The maximum number of members that are typed one by one.


@dataclass(frozen=True)
class Place:
    """One index of a requested member.

    `numbers` contains the possible values of the index. If there are several, `term` is the index as a tensor.
    `binding` and `offset` describe the variable in the index.
    """

    numbers: range
    term: Term | None = None
    binding: Any = None
    offset: int = 0


def member_of_grid(
    checker: Inference, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
) -> Term | None:
    """Return the requested member, or a tensor of members if an index is a tensor.

    Return None if the member must be typed separately.
    """
    key = family.name.key(indices.get)
    known = holder.memo.get(key)
    if isinstance(known, Term):
        return known
    asked = find_grid(checker, family, indices, holder, env)
    if asked is None:
        return None
    grid, row, column = asked
    if row.term is None and column.term is None:
        return one_member(grid, (row.numbers[0], column.numbers[0]))
    front = front_of(row, column)
    if front is not None and grid.name in front.grids:
        return front.read(front.grids[grid.name], (-row.offset, -column.offset))
    expected = (
        box(row.numbers, column.numbers) if front is None else move_domain(front.domain, row.offset, column.offset)
    )
    parts: list[tuple[Grid, Place, Place]] = []
    for part in grid.parts:
        bound = match_key(part.name, key, checker.scope.indices) if len(variables_of(part)) == 2 else None
        result = None if bound is None else find_grid(checker, part, bound, holder, env)
        parts += [] if result is None else [result]
    recursive = [other for other in parts if reads_itself(checker.scope, other[0].family)]
    holding = (other for other in parts if other[0].domain is not None and other[0].domain.holds(expected))
    asked = next(holding, None) or next(iter(recursive), None)
    if asked is None:
        raise UnrollableError
    if asked not in recursive:
        return type_inline(*asked, expected)
    if front is not None and asked[0].domain is not None and asked[0].domain.holds(front.domain):
        return front.read(asked[0], (-asked[1].offset, -asked[2].offset))
    return table(*asked)


def find_grid(
    checker: Inference, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
) -> tuple[Grid, Place, Place] | None:
    """Return the grid of a family and the two requested indices, or None if an index is not a number or a tensor."""
    variables = variables_of(family)
    others = {name: index for name, index in indices.items() if name not in variables}
    row, column = (place_of(checker, indices.get(name), env, family.body) for name in variables)
    if row is None or column is None or any("@" in str(item) for item in others.values()):
        return None
    return Grid(checker, family, others, holder), row, column


def place_of(checker: Inference, text: Any, env: Environment, node: Node) -> Place | None:
    """Return the index that a text such as 3 or i-1 represents.

    Return None if the text is not a number and contains no bound variable.
    """
    if isinstance(text, int) or (isinstance(text, str) and text.isdecimal()):
        return Place(range(int(text), int(text) + 1))
    binding, _, offset = find_bound(checker, text, env)
    if binding is None:
        return None
    if isinstance(binding, Coordinate):
        numbers = range(binding.numbers.start + offset, binding.numbers.stop + offset)
        return Place(numbers, binding.ahead(offset), binding, offset)
    if not isinstance(binding, StackedIndex) or not is_ground(binding.size):
        raise UnrollableError
    first, size = binding.first + offset, resolve(binding.size)
    make = TermBuilder(checker.graph, node)
    return Place(
        range(first, first + size), make.iota(binding.axis, first, size), StackedIndex(binding.axis, first, size)
    )


def front_of(row: Place, column: Place) -> Wavefront | None:
    """Return the wavefront loop that has these two indices as its current indices, or None if there is none."""
    if not isinstance(row.binding, Coordinate) or not isinstance(column.binding, Coordinate):
        return None
    front = row.binding.front
    return front if [row.binding, column.binding] == front.coordinates else None


# ------------------------------------------------------------------------------------------------------ what is read
@lru_cache(maxsize=4096)
def reads_itself(scope: Scope, family: Definition) -> bool:
    """Return whether a member of a family may depend on other members of the same family."""
    return family.name.base in {definition.name.base for definition, _ in find_mentioned_families(scope, family)}


def find_mentioned_families(scope: Scope, family: Definition) -> Iterator[tuple[Definition, Any]]:
    """Yield each family that a family's equation mentions, directly or indirectly, with the name in the source."""
    families: dict[str, list[Definition]] = {}
    for definition in (
        *scope.families,
        *(member for function in scope.all_functions() for member in function.families),
    ):
        families.setdefault(definition.name.base, []).append(definition)
    seen, waiting = {id(family)}, [family]
    while waiting:
        for node in walk(waiting.pop().body):
            name = read_spelling(node)
            for definition in (
                families.get(name.base, ()) if name is not None and (name.superscript or name.subscript) else ()
            ):
                yield definition, name
                if id(definition) not in seen:
                    seen.add(id(definition))
                    waiting.append(definition)


def offsets_of(checker: Inference, family: Definition) -> set[Cell]:
    """Return the fixed offsets from a member to the members that its equation reads."""
    cells: set[Cell] = set()
    for _, name in find_mentioned_families(checker.scope, family):
        moved = (split_offset(component(node)) for node in (*name.subscript, *name.superscript))
        back = {variable: -offset for variable, offset in moved}
        for variables in {variables_of(family)} | {
            variables_of(definition) for definition, _ in find_mentioned_families(checker.scope, family)
        }:
            if len(variables) == 2 and back.keys() >= {*variables}:
                cells.add((back[variables[0]], back[variables[1]]))
    return cells - {(0, 0)}


# ---------------------------------------------------------------------------------------------------------- one member
def one_member(grid: Grid, cell: Cell) -> Term | None:
    """Return a member from an existing loop, or from a new loop if that is worthwhile.

    Return None if no loop computes the member.
    """
    domain = grid.domain
    if domain is None or cell not in domain:
        return None
    rolled = try_rolling(grid, range(cell[0], cell[0] + 1), range(cell[1], cell[1] + 1))
    if rolled is None or cell not in rolled.domain:
        return None
    term = rolled.at(TermBuilder(grid.checker.graph, grid.family.body), cell)
    grid.holder.memo[grid.key(cell)] = term
    loops.note_member(grid.checker, grid.family, {**grid.others, **dict(zip(grid.variables, cell))}, grid.holder)
    return term


def try_rolling(grid: Grid, rows: range, columns: range) -> RolledGrid | None:
    """Return a loop that computes the members in these rows and columns.

    Return None if no loop can compute them or no loop is worthwhile.
    """
    checker, holder, mark, domain = grid.checker, grid.holder, grid.cache_key, grid.domain
    expected = None if domain is None else domain.cut(rows, columns)
    if domain is None or expected is None:
        return None
    loop = holder.loops.get(mark, ())
    for member in loop:
        if member.asked.holds(expected):
            return member
    if not checker.rolls or grid.family.name.base in checker.scope.varied or mark in holder.unrollable:
        return None
    result = domain if loop else due_for(grid, domain, rows, columns)
    if result is None or result.count < loops.MIN_LOOP_STEPS or not reads_itself(checker.scope, grid.family):
        return None
    holder.unrollable[mark] = None  # The entry is None during typing, and if typing fails.
    element = try_typing(checker, holder, partial(roll_domain, grid, result))
    if element is not None:
        holder.unrollable.pop(mark)
    return element


def due_for(grid: Grid, domain: Domain, rows: range, columns: range) -> Domain | None:
    """Return the cells in these rows and columns, together with all cells on which they may depend.

    If these cells are at least half of the domain, return the whole domain. Return None if the cells do not form a
    domain.
    """
    offsets = offsets_of(grid.checker, grid.family)
    ranges: list[range] = []
    for index, (every, some) in enumerate(((domain.rows, rows), (domain.columns, columns))):
        backs = [offset[index] for offset in offsets]
        first = every.start if any(back > 0 for back in backs) else some.start
        last = every.stop if any(back < 0 for back in backs) else some.stop
        ranges.append(range(first, last))
    result = domain.cut(*ranges)
    return domain if result is not None and 2 * result.count >= domain.count else result


def roll_domain(grid: Grid, domain: Domain) -> RolledGrid:
    """Return a loop that computes all members in a domain. Try several orders until one is valid."""
    checker, trace = grid.checker, len(grid.checker.trace)
    offsets, asked = offsets_of(checker, grid.family), domain
    for _ in range(MAX_TRIED_ORDERS):
        order = choose_order(domain, offsets)
        if order is None:
            break
        inner = Grid(checker, grid.family, grid.others, grid.holder)
        try:
            grids = dict(Wavefront(checker, inner, domain, order, asked).loops())
        except MisorderedCellsError as problem:
            offsets.add(problem.back)
            continue
        except UncoveredCellError as problem:
            if problem.domain is None:
                break
            domain = problem.domain
            continue
        del checker.trace[trace:]
        for member, rolled in grids.items():
            member.holder.loops.setdefault(member.cache_key, []).append(rolled)
        return grids[inner]
    raise UnrollableError


# --------------------------------------------------------------------------------------------------------- many members
def type_inline(grid: Grid, row: Place, column: Place, expected: Domain) -> Term:
    """Return the requested members by typing the equation once, with tensors as indices.

    Raise UnrollableError if a member needs another member.
    """
    places = dict(zip(grid.variables, (row, column)))
    if not grid.is_own(expected):
        raise UnrollableError
    numbers = {name: position.numbers[0] for name, position in places.items() if position.term is None}
    tensors = {Key(name): position.term for name, position in places.items() if position.term is not None}
    members = {
        name: position.binding for name, position in places.items() if position.term is not None and not position.offset
    }
    labels = any(isinstance(member, Coordinate) for member in members.values())
    return type_at(grid.checker, grid.family, {**grid.others, **numbers}, tensors, members, grid.holder, labels)


def box(rows: range, columns: range) -> Domain:
    return Domain(rows.start, [(columns.start, columns.stop - 1)] * len(rows))


def move_domain(domain: Domain, rows: int, columns: int) -> Domain:
    return Domain(domain.first + rows, [(low + columns, high + columns) for low, high in domain.spans])


def table(grid: Grid, row: Place, column: Place) -> Term:
    """Return the requested members, taken from a loop's results if there is a loop. Otherwise, type them one by one."""
    rolled = try_rolling(grid, row.numbers, column.numbers)
    if rolled is None:
        if grid.checker.attempts or any(isinstance(offset.binding, Coordinate) for offset in (row, column)):
            raise UnrollableError
        return each_by_itself(grid, row, column)
    make = TermBuilder(grid.checker.graph, grid.family.body)
    axis = f"members@{len(grid.checker.graph)}"
    every = rolled.every(make, axis)
    rows, columns = (make.number(offset.numbers[0]) if offset.term is None else offset.term for offset in (row, column))
    if rolled.domain.holds(box(row.numbers, column.numbers)):
        return make.at(every, axis, rolled.places(make, rows, columns))
    if any(isinstance(offset.binding, Coordinate) for offset in (row, column)):
        raise UnrollableError
    return join_members(grid, rolled, every, axis, row, column)


def cells_of(row: Place, column: Place) -> list[Cell]:
    """Return the cells for two requested indices.

    If both indices vary along one axis, pair their values. Otherwise, combine each row with each column.
    """
    same = row.term is not None and column.term is not None and row.binding.axis == column.binding.axis
    return [*zip(row.numbers, column.numbers)] if same else [*product(row.numbers, column.numbers)]


def each_by_itself(grid: Grid, row: Place, column: Place) -> Term:
    """Return the requested members, typed one by one."""
    make = TermBuilder(grid.checker.graph, grid.family.body)
    cells = cells_of(row, column)
    if len(cells) > grid.checker.limits.max_steps:
        raise UnrollableError
    first = grid.at(cells[0])
    border = border_of(grid, [*dict.fromkeys(cells)], dict(first.shape), first.boolean)
    sizes = {slot.binding.axis: len(slot.numbers) for slot in (row, column) if slot.term is not None}
    return make.at(border.term, border.axis, make.constants(sizes, [border.places[cell] for cell in cells]))


def join_members(grid: Grid, rolled: RolledGrid, every: Term, axis: str, row: Place, column: Place) -> Term:
    """Join all requested members. A loop computes some of them, and the others are typed one by one."""
    make = TermBuilder(grid.checker.graph, grid.family.body)
    axes = {offset.binding.axis: offset.numbers for offset in (row, column) if offset.term is not None}
    if len(row.numbers) * len(column.numbers) > MAX_LISTED_MEMBERS:
        raise UnrollableError
    cells = cells_of(row, column)
    rest = [cell for cell in cells if cell not in rolled.domain]
    shape = {name: size for name, size in every.shape.items() if name != axis}
    count = resolve(every.shape[axis])
    places = {cell: rolled.place(cell) for cell in cells if cell in rolled.domain}
    if rest:
        border = border_of(grid, rest, shape, rolled.boolean)
        places |= {cell: count + position for cell, position in border.places.items()}
        others = make.rename(border.term, {border.axis: axis})
        size = count + len(rest)
        positions = tuple(range(size))
        every = make.graph.intern(
            "fill", (every, others), (), (axis, positions), {**shape, axis: size}, rolled.boolean, make.node
        )
    sizes = {name: len(numbers) for name, numbers in axes.items()}
    return make.at(every, axis, make.constants(sizes, [places[cell] for cell in cells]))
