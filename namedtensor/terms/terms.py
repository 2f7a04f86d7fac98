"""Define the typed graph, which represents a formula's computation after all names, axes and sizes are resolved.

A term applies an operator from `namedtensor.operators` or one of a few structural operators (`structural`). It has a
shape (axis -> size) and a reference to its node in the formula. In the graph, functions are inlined, short recurrences
are unrolled, and operators are lifted. Equal terms are the same object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice
from operator import attrgetter
from typing import Any, TypeAlias

from grammar.plain_text import encodable

from ..core.axes import Order, show
from ..core.extents import Extent, is_size
from ..core.sizes import resolve
from ..operators.plain_numbers import to_float
from ..operators.record import Operator

SERIAL, OPERATOR = attrgetter("serial"), attrgetter("operator")
Options: TypeAlias = tuple[Any, ...]  # The options of an operator: all of its inputs other than terms and axes.


class Term:
    """An operator applied to arguments. `node` is its node in the formula, and `serial` is its creation number."""

    __slots__ = ("operator", "arguments", "axes", "options", "shape", "boolean", "node", "serial")

    def __init__(
        self, operator: str, arguments: tuple[Term, ...], axes: Order, options: Options, shape: dict[str, Any], boolean: bool,
        node: Any, serial: int,
    ):  # fmt: skip
        self.operator: str = operator
        self.arguments: tuple[Term, ...] = arguments
        self.axes: Order = axes
        self.options: Options = options
        self.shape: dict[str, Any] = shape
        self.boolean: bool = boolean
        self.node: Any = node
        self.serial: int = serial

    @property
    def number(self) -> Any:
        """The value of a term that is a number, or None for any other term."""
        return self.options[0] if self.operator == "number" else None

    @encodable
    def __repr__(self) -> str:
        inside = ", ".join(f"%{argument.serial}" for argument in self.arguments)
        scripts = "_{" + ",".join(self.axes) + "}" if self.axes else ""
        options = f" {self.options}" if self.options else ""
        return f"%{self.serial} = {self.operator}{scripts}({inside}){options} : {show(resolve_shape(self.shape))}"


def resolve_shape(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return a shape with the values of all size variables that have become known."""
    return {axis: resolve(size) for axis, size in shape.items()}


class TermGraph:
    """A graph in which equal terms are the same object (hash consing). Graphs may share `serials`."""

    def __init__(self, serials: Iterator[int] | None = None):
        self.serials: Iterator[int] = count() if serials is None else serials
        self.interned: dict[tuple[Any, ...], Term] = {}

    def intern(
        self, operator: str, arguments: tuple[Term, ...] = (), axes: Order = (), options: Options = (),
        shape: dict[str, Any] | None = None, boolean: bool = False, node: Any = None,
    ) -> Term:  # fmt: skip
        """Return the unique term with this operator and these arguments, axes and options. Create it if needed."""
        # 1, 1.0 and True are three different options.
        key = (operator, tuple(map(id, arguments)), axes, options, tuple(map(type, options)))
        term = self.interned.get(key)
        if term is None:
            term = Term(operator, tuple(arguments), axes, options, shape or {}, boolean, node, next(self.serials))
            self.interned[key] = term
        return term

    def number(self, value: Any, node: Any = None, boolean: bool = False) -> Term:
        kind = "-0.0" if repr(value) == "-0.0" else type(value).__name__  # -0.0 is equal to 0.0.
        return self.intern("number", options=(value, kind), node=node, boolean=boolean)

    def like(
        self,
        term: Term,
        arguments: tuple[Term, ...],
        options: Options | None = None,
        shape: dict[str, Any] | None = None,
    ) -> Term:
        """Return a copy of a term with other arguments and, if given, other options or another shape."""
        options = term.options if options is None else options
        shape = term.shape if shape is None else shape
        return self.intern(term.operator, arguments, term.axes, options, shape, term.boolean, term.node)

    def __len__(self) -> int:
        return len(self.interned)

    def all(self, before: int = 0) -> list[Term]:
        """Return the terms of the graph in topological order, except the first `before` terms."""
        return [*islice(reversed(self.interned.values()), len(self.interned) - before)][::-1]


def topological(*roots: Term) -> list[Term]:
    """Return all terms that the roots need, in topological order."""
    terms: dict[int, Term] = {}
    level: list[Term] = [*roots]
    while level:
        new = {mark: term for mark, term in zip(map(id, level), level) if mark not in terms}
        terms |= new
        level = [argument for term in new.values() for argument in term.arguments]
    return sorted(terms.values(), key=SERIAL)


def made_since(first: Term, root: Term) -> list[Term]:
    """Return the terms that a root needs and that are not older than `first`, in topological order.

    They include all terms that depend on `first`.
    """
    needed: set[int] = set()
    terms: list[Term] = []
    stack = [root]
    while stack:
        term = stack.pop()
        if term.serial >= first.serial and id(term) not in needed:
            needed.add(id(term))
            terms.append(term)
            stack.extend(term.arguments)
    return sorted(terms, key=SERIAL)


def substitute_variables(roots: tuple[Term, ...]) -> tuple[Term, ...]:
    """Replace each variable in the roots with its value. Call this after all derivatives have been taken."""
    order = topological(*roots)
    if "variable" not in map(OPERATOR, order):
        return roots
    terms = TermGraph()
    result: dict[int, Term] = {}
    for term in order:
        arguments = tuple(result[id(argument)] for argument in term.arguments)
        result[id(term)] = arguments[0] if term.operator == "variable" else terms.like(term, arguments)
    return tuple(result[id(root)] for root in roots)


POLYNOMIAL = frozenset(("+", "-", "⊙", "negative"))  # For sizes as operands, the results of these operators are sizes.


def fold(record: Operator, numbers: list[Any], options: Any) -> Any:
    """Compute an operator on plain numbers and sizes. Return None if the computation requires arrays."""
    if record.folded is None or options or None in numbers:
        return None
    if Extent in map(type, numbers):
        return record.folded(*numbers) if record.name in POLYNOMIAL and all(map(is_size, numbers)) else None
    try:
        value = record.folded(*numbers)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(value, complex):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**308:
        value = to_float(value)
    return value


class Numbers(tuple[Any, ...]):
    """The numbers of a constant, in row-major order.

    As in `TermGraph.number`, 1 and 1.0 differ, and so do 0.0 and -0.0.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and [*map(repr, self)] == [*map(repr, other)]

    def __hash__(self) -> int:
        return super().__hash__()


def elements_of_each(terms: Iterable[Term]) -> list[int]:
    """Return the number of elements of each term. Compute it only once per shape."""
    result: dict[int, int] = {}
    counts: list[int] = []
    for term in terms:
        known = result.get(id(term.shape))
        if known is None:
            known = result[id(term.shape)] = number_of_elements(term)
        counts.append(known)
    return counts


def number_of_elements(term: Term) -> int:
    """Return the number of elements of a term, or −1 if a size is unknown."""
    total = 1
    for size in term.shape.values():
        if type(size) is not int:
            size = resolve(size)
            if not isinstance(size, (int, Extent)):
                return -1
        total *= size
    return total
