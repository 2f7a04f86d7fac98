"""Type the members along the borders of a grid, such as E^{i,0} and E^{0,j}, which are a loop's initial values.

The members of one equation are typed once, with tensors as indices. For `E^{i,0} = i`, the tensor i has the values 0,
1, …. If the equation uses other members of the same family, its members form a recurrence over one index, or they are
typed one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..core.sizes import unify
from ..scope.names import Key
from ..scope.symbols import Definition
from ..terms.builder import TermBuilder
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .counting import UnrollableError, is_value, try_typing
from .grids import Grid, variables_of
from .loops import type_member
from .other_meanings import means_something
from .recurrences import RecurrenceState
from .stacked_families import stack_members
from .wavefront_order import Cell


class Border(NamedTuple):
    """Members that are joined along an axis.

    `places` maps each cell to its 1-based position. `shapes` contains the shapes of the separate members.
    """

    term: Term
    axis: str
    places: dict[Cell, int]
    shapes: dict[Cell, dict[str, Any]]


def border_of(grid: Grid, cells: Sequence[Cell], shape: dict[str, Any], boolean: bool) -> Border:
    """Join the members at the given cells, each broadcast to the given shape."""
    checker = grid.checker
    axis = f"members@{len(checker.graph)}"
    make = TermBuilder(checker.graph, grid.family.body)
    pieces: list[tuple[Term, list[Cell]]] = []
    for part, some in split_by_parts(grid, cells):
        term = together(grid, part, some, axis)
        pieces += [(one(make, grid.at(cell), axis), [cell]) for cell in some] if term is None else [(term, some)]
    terms: list[Term] = []
    shapes: dict[Cell, dict[str, Any]] = {}
    for term, some in pieces:
        remaining = {name: size for name, size in term.shape.items() if name != axis}
        fits = remaining.keys() <= shape.keys() and all(unify(size, shape[name]) for name, size in remaining.items())
        if not fits or term.boolean != boolean:
            raise UnrollableError
        terms.append(make.spread(term, shape))
        shapes |= dict.fromkeys(some, remaining)
    order = [*shapes]
    whole = {axis: len(order), **shape}
    if len(terms) > 1:
        positions = tuple(range(len(order)))
        joined = checker.graph.intern("fill", tuple(terms), (), (axis, positions), whole, boolean, make.node)
    else:
        (joined,) = terms
    return Border(joined, axis, {cell: index for index, cell in enumerate(order, 1)}, shapes)


def split_by_parts(grid: Grid, cells: Sequence[Cell]) -> Iterator[tuple[Definition | None, list[Cell]]]:
    """Yield each family with the cells of the members that it defines.

    The cells of the grid's own family are yielded line by line. Members that are inputs or have separate equations are
    yielded with None in place of a family.
    """
    holder, definitions = grid.holder, grid.checker.definitions_of(grid.holder)
    result: dict[Definition | None, list[Cell]] = {}
    for cell in cells:
        key = grid.key(cell)
        apart = key in holder.variables or key in definitions
        part = None if apart else next((part for part in grid.parts if grid.gives(part, cell) is not None), None)
        result.setdefault(part, []).append(cell)
    for part, some in result.items():
        if part is grid.family:
            yield from ((part, line) for line in lines(some))
        else:
            yield part, some


def lines(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells of each row or column as a group, longest groups first."""
    rest = dict.fromkeys(cells)
    while rest:
        counts = Counter((dimension, cell[dimension]) for cell in rest for dimension in (0, 1))
        ((position, number), _), *_ = counts.most_common(1)
        line = [cell for cell in rest if cell[position] == number]
        yield line
        for cell in line:
            del rest[cell]


def one(make: TermBuilder, term: Term, axis: str) -> Term:
    """Return a term with an added axis of size 1, which makes it possible to join it with other members."""
    return make.spread(term, {axis: 1})


def together(grid: Grid, part: Definition | None, cells: Sequence[Cell], axis: str) -> Term | None:
    """Return the members of one family, joined along an axis.

    Return None if they must be typed one by one.
    """
    if part is None or part.claims:
        return None
    indices = [grid.gives(part, cell) for cell in cells]
    steps = {name: [int(index[name]) for index in indices if index is not None] for name in variables_of(part)}
    if len(cells) > 1:
        result = try_typing(grid.checker, grid.holder, partial(type_once, grid, part, steps, axis))
        if result is not None:
            return result
    if len(steps) == 1 and len(cells) > 1:
        ((_, numbers),) = steps.items()
        if numbers == [*range(numbers[0], numbers[-1] + 1)]:
            recurrence = RecurrenceState(part, grid.others, grid.holder)
            return stack_members(grid.checker, recurrence, range(numbers[0], numbers[-1] + 1), axis)
    return None


def type_once(grid: Grid, part: Definition, steps: dict[str, list[int]], axis: str) -> Term:
    """Return several members of a family, typed once with tensors along an axis as the indices.

    An index with the same value for all members stays a number.
    """
    checker, count = grid.checker, len(next(iter(steps.values())))
    numbers = {name: step[0] for name, step in steps.items() if len({*step}) == 1}
    make = TermBuilder(checker.graph, part.body)
    tensors = {Key(name): make_range(make, axis, step) for name, step in steps.items() if name not in numbers}
    term = type_at(checker, part, {**grid.others, **numbers}, tensors, {}, grid.holder)
    return make.spread(term, {axis: count})


def type_at(
    checker: Inference, family: Definition, numbers: dict[str, Any], tensors: dict[Key, Term], members: dict[str, Any],
    holder: Environment, labels: bool = False,
) -> Term:  # fmt: skip
    """Return the term of a family's body for the given indices, which are numbers or tensors.

    For `members`, see `Environment.members`.
    """
    for variable in (*members, *(key.base for key in tensors)):
        if not is_value(checker, variable, family.body, holder, labels):
            raise UnrollableError
    if any(means_something(checker, name, holder) for name in variables_of(family)):
        raise UnrollableError
    inner = holder.within(definition=family, indices=numbers, variables=tensors, members=members)
    return type_member(checker, family, inner)


def make_range(make: TermBuilder, axis: str, numbers: Sequence[int]) -> Term:
    """Return the tensor with these integers along an axis."""
    first = numbers[0]
    if [*numbers] == [*range(first, first + len(numbers))]:
        return make.iota(axis, first, len(numbers))
    return make.constant(axis, numbers)
