"""Members of families over two indices, E^{3,5} and E^{i,j}: where an index is a tensor, or the loop of all is worth it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

from grammar.nodes import Node

from ..core.sizes import is_ground, resolve
from ..scope.names import Key, component, match_key, spelled, walk
from ..scope.symbols import Definition, Scope
from ..terms.builder import TermBuilder
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term, resolved_shape
from . import loops
from .coordinates import Coordinate
from .counting import OFFSET, Unrollable, attempted, members_of
from .grid_borders import border_of, typed_at
from .grids import Grid, variables_of
from .stacked_families import Along
from .wavefront_loops import RolledGrid
from .wavefront_order import Cell, Domain, ordered
from .wavefronts import Misordered, Uncovered, Wavefront

MAX_TRIED_ORDERS = 8  # orders that are tried at most
MAX_LISTED_MEMBERS = 10**6  # members that are looked up one by one


@dataclass(frozen=True)
class Place:
    """What an index of a member is where it is asked for: the numbers that it takes, the tensor of them if it is one, and
    what binds its variable."""

    numbers: range
    term: Term | None = None
    binding: Any = None
    offset: int = 0


def member_of_grid(
    checker: Inference, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
) -> Term | None:
    """One member, or the tensor of those that the indices say; None where members are made one by one."""
    key = family.name.key(indices.get)
    known = holder.memo.get(key)
    if isinstance(known, Term):
        return known
    asked = asked_of(checker, family, indices, holder, env)
    if asked is None:
        return None
    grid, row, column = asked
    if row.term is None and column.term is None:
        return one_member(grid, (row.numbers[0], column.numbers[0]))
    front = front_of(row, column)
    if front is not None and grid.name in front.grids:
        return front.read(front.grids[grid.name], (-row.offset, -column.offset))
    wanted = box(row.numbers, column.numbers) if front is None else moved(front.domain, row.offset, column.offset)
    parts: list[tuple[Grid, Place, Place]] = []
    for part in grid.parts:
        own = match_key(part.name, key, checker.scope.indices) if len(variables_of(part)) == 2 else None
        found = None if own is None else asked_of(checker, part, own, holder, env)
        parts += [] if found is None else [found]
    recursive = [each for each in parts if reads_itself(checker.scope, each[0].family)]
    holding = (each for each in parts if each[0].domain is not None and each[0].domain.holds(wanted))
    asked = next(holding, None) or next(iter(recursive), None)
    if asked is None:
        raise Unrollable
    if asked not in recursive:
        return inlined(*asked, wanted)
    if front is not None and asked[0].domain is not None and asked[0].domain.holds(front.domain):
        return front.read(asked[0], (-asked[1].offset, -asked[2].offset))
    return table(*asked)


def asked_of(
    checker: Inference, family: Definition, indices: dict[Any, Any], holder: Environment, env: Environment
) -> tuple[Grid, Place, Place] | None:
    """A family with its two indices where it is asked for."""
    variables = variables_of(family)
    others = {name: each for name, each in indices.items() if name not in variables}
    row, column = (place_of(checker, indices.get(name), env, family.body) for name in variables)
    if row is None or column is None or any("@" in str(each) for each in others.values()):
        return None
    return Grid(checker, family, others, holder), row, column


def place_of(checker: Inference, text: Any, env: Environment, node: Node) -> Place | None:
    """What the text of an index says: a number, or a tensor moved by one."""
    if isinstance(text, int) or (isinstance(text, str) and text.isdecimal()):
        return Place(range(int(text), int(text) + 1))
    found = OFFSET.fullmatch(text) if isinstance(text, str) else None
    binding = None if found is None else checker.rolled.get(found[1]) or members_of(found[1], env)
    if found is None or binding is None:
        return None
    offset = int(found[3] or 0) * (-1 if found[2] == "-" else 1)
    if isinstance(binding, Coordinate):
        numbers = range(binding.numbers.start + offset, binding.numbers.stop + offset)
        return Place(numbers, binding.ahead(offset), binding, offset)
    if not isinstance(binding, Along) or not is_ground(binding.size):
        raise Unrollable
    first, size = binding.first + offset, resolve(binding.size)
    make = TermBuilder(checker.graph, node)
    return Place(range(first, first + size), make.iota(binding.axis, first, size), Along(binding.axis, first, size))


def front_of(row: Place, column: Place) -> Wavefront | None:
    """The loop that is being typed whose indices these are."""
    if not isinstance(row.binding, Coordinate) or not isinstance(column.binding, Coordinate):
        return None
    front = row.binding.front
    return front if [row.binding, column.binding] == front.coordinates else None


# ------------------------------------------------------------------------------------------------------ what is read
@lru_cache(maxsize=4096)
def reads_itself(scope: Scope, family: Definition) -> bool:
    """Whether a member of a family may need others of its name."""
    return family.name.base in {each.name.base for each, _ in mentioned(scope, family)}


def mentioned(scope: Scope, family: Definition) -> Iterator[tuple[Definition, Any]]:
    """The families that the equation of one mentions, and theirs, each with the name as it is mentioned."""
    families: dict[str, list[Definition]] = {}
    for each in (*scope.families, *(each for function in scope.all_functions() for each in function.families)):
        families.setdefault(each.name.base, []).append(each)
    seen, waiting = {id(family)}, [family]
    while waiting:
        for node in walk(waiting.pop().body):
            name = spelled(node)
            for each in (
                families.get(name.base, ()) if name is not None and (name.superscript or name.subscript) else ()
            ):
                yield each, name
                if id(each) not in seen:
                    seen.add(id(each))
                    waiting.append(each)


def offsets_of(checker: Inference, family: Definition) -> set[Cell]:
    """Return the offsets of the members that the equations use, if they are known."""
    found: set[Cell] = set()
    for _, name in mentioned(checker.scope, family):
        parts = [OFFSET.fullmatch(component(node)) for node in (*name.subscript, *name.superscript)]
        moved = [(part[1], int(part[3] or 0) * (1 if part[2] == "-" else -1)) for part in parts if part is not None]
        for variables in {variables_of(family)} | {variables_of(each) for each, _ in mentioned(checker.scope, family)}:
            back = dict(moved)
            if len(variables) == 2 and back.keys() >= {*variables}:
                found.add((back[variables[0]], back[variables[1]]))
    return found - {(0, 0)}


# ---------------------------------------------------------------------------------------------------------- one member
def one_member(grid: Grid, cell: Cell) -> Term | None:
    """A member from a loop that has it, or is worth making for it."""
    domain = grid.domain
    if domain is None or cell not in domain:
        return None
    rolled = rolled_grid(grid, range(cell[0], cell[0] + 1), range(cell[1], cell[1] + 1))
    if rolled is None or cell not in rolled.domain:
        return None
    found = rolled.at(TermBuilder(grid.checker.graph, grid.family.body), cell)
    explained(grid, cell, found)
    return found


def explained(grid: Grid, cell: Cell, term: Term) -> None:
    """Note the type and the value of a member that was asked for, as one step."""
    checker, key = grid.checker, grid.key(cell)
    grid.holder.memo[key] = term
    checker.types.setdefault(str(key), resolved_shape(term.shape))
    indices = {**grid.others, **dict(zip(grid.variables, cell))}
    place = Environment(parent=grid.holder, definition=grid.family, indices=indices)
    checker.trace.append((grid.family.body, term, place))


def rolled_grid(grid: Grid, rows: range, columns: range) -> RolledGrid | None:
    """A loop that has the members in these rows and columns; None where there is none, and none is worth it."""
    checker, holder, mark, domain = grid.checker, grid.holder, grid.cache_key, grid.domain
    wanted = None if domain is None else domain.cut(rows, columns)
    if domain is None or wanted is None:
        return None
    made = holder.loops.get(mark, ())
    for each in made:
        if each.asked.holds(wanted):
            return each
    if not checker.rolls or grid.family.name.base in checker.scope.varied or mark in holder.unrollable:
        return None
    due = domain if made else due_for(grid, domain, rows, columns)
    if due is None or due.count < loops.MIN_LOOP_STEPS or not reads_itself(checker.scope, grid.family):
        return None
    holder.unrollable[mark] = True  # while it is typed, and where that fails
    found = attempted(checker, holder, partial(rolled, grid, due))
    if found is not None:
        holder.unrollable.pop(mark)
    return found


def due_for(grid: Grid, domain: Domain, rows: range, columns: range) -> Domain | None:
    """The members that those in these rows and columns may need; all, where these are most of them."""
    offsets = offsets_of(grid.checker, grid.family)
    kept: list[range] = []
    for place, (every, some) in enumerate(((domain.rows, rows), (domain.columns, columns))):
        backs = [offset[place] for offset in offsets]
        first = every.start if any(back > 0 for back in backs) else some.start
        last = every.stop if any(back < 0 for back in backs) else some.stop
        kept.append(range(first, last))
    found = domain.cut(*kept)
    return domain if found is not None and 2 * found.count >= domain.count else found


def rolled(grid: Grid, domain: Domain) -> RolledGrid:
    """The loop over a domain, in the first order that is right."""
    checker, trace = grid.checker, len(grid.checker.trace)
    offsets, asked = offsets_of(checker, grid.family), domain
    for _ in range(MAX_TRIED_ORDERS):
        order = ordered(domain, offsets)
        if order is None:
            break
        own = Grid(checker, grid.family, grid.others, grid.holder)
        try:
            found = dict(Wavefront(checker, own, domain, order, asked).loops())
        except Misordered as problem:
            offsets.add(problem.back)
            continue
        except Uncovered as problem:
            if problem.domain is None:
                break
            domain = problem.domain
            continue
        del checker.trace[trace:]
        for each, made in found.items():
            each.holder.loops.setdefault(each.cache_key, []).append(made)
        return found[own]
    raise Unrollable


# --------------------------------------------------------------------------------------------------------- many members
def inlined(grid: Grid, row: Place, column: Place, wanted: Domain) -> Term:
    """Members that need no others: their equation, with tensors for its indices."""
    places = dict(zip(grid.variables, (row, column)))
    if not grid.is_own(wanted):
        raise Unrollable
    numbers = {name: each.numbers[0] for name, each in places.items() if each.term is None}
    tensors = {Key(name): each.term for name, each in places.items() if each.term is not None}
    members = {name: each.binding for name, each in places.items() if each.term is not None and not each.offset}
    labels = any(isinstance(each, Coordinate) for each in members.values())
    return typed_at(grid.checker, grid.family, {**grid.others, **numbers}, tensors, members, grid.holder, labels)


def box(rows: range, columns: range) -> Domain:
    return Domain(rows.start, [(columns.start, columns.stop - 1)] * len(rows))


def moved(domain: Domain, rows: int, columns: int) -> Domain:
    return Domain(domain.first + rows, [(low + columns, high + columns) for low, high in domain.spans])


def table(grid: Grid, row: Place, column: Place) -> Term:
    """Members of a loop by their indices, and others beside them."""
    rolled = rolled_grid(grid, row.numbers, column.numbers)
    if rolled is None:
        raise Unrollable
    make = TermBuilder(grid.checker.graph, grid.family.body)
    axis = f"members@{len(grid.checker.graph)}"
    every = rolled.every(make, axis)
    rows, columns = (make.number(each.numbers[0]) if each.term is None else each.term for each in (row, column))
    if rolled.domain.holds(box(row.numbers, column.numbers)):
        return make.at(every, axis, rolled.places(make, rows, columns))
    if any(isinstance(each.binding, Coordinate) for each in (row, column)):
        raise Unrollable
    return beside(grid, rolled, every, axis, row, column)


def beside(grid: Grid, rolled: RolledGrid, every: Term, axis: str, row: Place, column: Place) -> Term:
    """The same where some members are none of the loop's."""
    make = TermBuilder(grid.checker.graph, grid.family.body)
    axes = {each.binding.axis: each.numbers for each in (row, column) if each.term is not None}
    if len(row.numbers) * len(column.numbers) > MAX_LISTED_MEMBERS:
        raise Unrollable
    if len(axes) == 1 and row.term is not None and column.term is not None:
        cells = [*zip(row.numbers, column.numbers)]
    else:
        cells = [*product(row.numbers, column.numbers)]
    rest = [cell for cell in cells if cell not in rolled.domain]
    shape = {name: size for name, size in every.shape.items() if name != axis}
    count = resolve(every.shape[axis])
    places = {cell: rolled.place(cell) for cell in cells if cell in rolled.domain}
    if rest:
        border = border_of(grid, rest, shape, rolled.boolean)
        places |= {cell: count + place for cell, place in border.places.items()}
        others = make.rename(border.term, {border.axis: axis})
        size = count + len(rest)
        positions = tuple(range(size))
        every = make.graph.intern(
            "fill", (every, others), (), (axis, positions), {**shape, axis: size}, rolled.boolean, make.node
        )
    sizes = {name: len(numbers) for name, numbers in axes.items()}
    return make.at(every, axis, make.constants(sizes, [places[cell] for cell in cells]))
