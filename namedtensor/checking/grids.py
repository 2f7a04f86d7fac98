"""Represent names over two indices.

Several equations may define their members, such as E^{i,0}, E^{0,j} and E^{i,j}.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grammar import nodes
from grammar.cache import cached_property

from ..scope.names import Key, match_key, walk
from ..scope.symbols import Definition
from ..terms.environment import Environment
from ..terms.inference import Inference
from ..terms.terms import Term
from .counting import UnrollableError
from .ranges import is_member
from .wavefront_order import Cell, Domain, domain_of

Variables = tuple[str, str]


@dataclass(eq=False)
class Grid:
    """A name over two indices in one environment, with fixed values for its other indices.

    `family` is an equation over both indices.
    """

    checker: Inference
    family: Definition
    others: dict[str, Any]
    holder: Environment
    busy: bool = False
    first: Term | None = None
    reads: dict[Cell, Term] = field(default_factory=dict[Cell, Term])  # Members by offset, while a loop is being typed.
    next: Term | None = None

    @property
    def variables(self) -> Variables:
        i, j = variables_of(self.family)
        return i, j

    @property
    def name(self) -> tuple[Any, ...]:
        """A key that identifies the name. It does not depend on which equation of the name was found first."""
        sizes = tuple(map(len, self.family.name[1:]))
        return self.family.name.base, sizes, id(self.holder), tuple(sorted(self.others.items()))

    @property
    def cache_key(self) -> tuple[Any, ...]:
        return id(self.family), id(self.holder), tuple(sorted(self.others.items()))

    def key(self, cell: Cell) -> Key:
        return self.family.name.key({**self.others, **dict(zip(self.variables, cell))}.get)

    def at(self, cell: Cell) -> Term:
        """Return the member at a cell. Raise UnrollableError if the member is undefined."""
        index = self.checker.find(self.key(cell), self.holder, self.family.head)
        if index is None:
            raise UnrollableError
        return index

    # ------------------------------------------------------------------------------------------- which members
    @cached_property
    def domain(self) -> Domain | None:
        """Return the domain of the members that the family defines, or None if they do not form a domain."""
        domain = self.holder.domains.get(id(self.family))
        if domain is None:
            domain = self.holder.domains[id(self.family)] = domain_in(self.checker, self.family, self.holder)
        return domain

    @cached_property
    def parts(self) -> list[Definition]:
        """Return the families that define members of this name, in the order of precedence."""
        return parts_of(self.checker, self.family, self.holder)

    def is_own(self, domain: Domain) -> bool:
        """Return whether no input, separate equation or earlier family defines a member in a domain."""
        for key in (*self.checker.definitions_of(self.holder), *self.holder.variables):
            cell = self.cell_of(key) if key.base == self.family.name.base else None
            if cell is not None and cell in domain:
                return False
        before = self.parts[: self.parts.index(self.family)]
        return not any(self.has_some(part, domain) for part in before)

    def cell_of(self, key: Key) -> Cell | None:
        """Return the cell of a name, as two numbers, or None if it is not a member of the grid."""
        result = match_key(self.family.name, key, {*self.variables, *self.others})
        numbers = [] if result is None else [str(result.get(variable)) for variable in self.variables]
        if not numbers or not all(number.isdecimal() for number in numbers):
            return None
        row, column = map(int, numbers)
        return (row, column) if self.key((row, column)) == key else None

    def has_some(self, part: Definition, domain: Domain) -> bool:
        """Return whether another family may define a member in the domain."""
        variables = variables_of(part)
        if len(variables) == 2:
            other = domain_in(self.checker, part, self.holder)
            return other is None or domain.meets(other)
        over = part.range
        ends = (
            None if over is None else [self.checker.solver.number(node, self.holder) for node in (over.low, over.high)]
        )
        if ends is None or not all(isinstance(end, int) for end in ends):
            return True
        steps: Any = range(ends[0], ends[1] + 1)
        cells = (self.cell_of(part.name.key({**self.others, variables[0]: step}.get)) for step in steps)
        return any(cell in domain for cell in cells if cell is not None)

    def indices(self, part: Definition, cell: Cell) -> dict[str, Any] | None:
        """Return the indices for which a family's name matches the member at a cell, or None if it never matches."""
        indices = match_key(part.name, self.key(cell), self.checker.scope.indices)
        if indices is None or any(
            name in self.others and index != self.others[name] for name, index in indices.items()
        ):
            return None
        return indices

    def has(self, cell: Cell) -> bool:
        """Return whether an equation or input defines the member at a cell."""
        if any(self.gives(part, cell) is not None for part in self.parts):
            return True
        return self.checker.find(self.key(cell), self.holder, self.family.head) is not None

    def gives(self, part: Definition, cell: Cell) -> dict[str, Any] | None:
        """Return the indices for which a family defines the member at a cell, or None if it does not."""
        indices = self.indices(part, cell)
        if (
            indices is None
            or part.range is None
            or not is_member(self.checker, part.range, indices, self.holder, self.holder)
        ):
            return None
        return indices


def parts_of(checker: Inference, family: Definition, holder: Environment) -> list[Definition]:
    """Return the families with the same name and the same numbers of indices, in the order of precedence."""
    sizes = [*map(len, family.name[1:])]
    return [
        definition
        for definition in checker.families_of(holder)
        if definition.name.base == family.name.base and [*map(len, definition.name[1:])] == sizes
    ]


def variables_of(family: Definition) -> tuple[str, ...]:
    assert family.range is not None
    return tuple(range_.variable.text for range_ in family.range.each)


def domain_in(checker: Inference, family: Definition, holder: Environment) -> Domain | None:
    """Return the domain of a family's two ranges, or None if it is unknown, too large or has a gap.

    The bounds of the second range may depend on the first index.
    """
    rows: Any = family.range
    columns = rows.further
    first, last = (checker.solver.number(part, holder) for part in (rows.low, rows.high))
    if not isinstance(first, int) or not isinstance(last, int) or last - first >= checker.limits.max_steps:
        return None
    variable = rows.variable.text
    named = (node for part in (columns.first, columns.last) for node in walk(part) if isinstance(node, nodes.Name))

    def span(row: int | None) -> Any:
        indices = {} if row is None else {variable: row}
        environment = Environment(parent=holder, sizes_parent=holder, indices=indices)
        return tuple(checker.solver.number(part, environment) for part in (columns.low, columns.high))

    follows = any(name.text == variable for name in named)
    spans = [span(row) for row in range(first, last + 1)] if follows else [span(None)] * (last - first + 1)
    if not all(isinstance(end, int) for bounds in {*spans} for end in bounds):
        return None
    return domain_of(first, spans)
