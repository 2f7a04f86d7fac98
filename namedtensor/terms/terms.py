"""The typed tree: what a formula computes, once every name, axis and size is known.

A term applies an operator of `namedtensor.operators`, or is one of the few structural ones (`structural`); it has a
shape (axis -> size) and keeps the piece of the formula that it stands for. Functions are inlined, short recurrences
unrolled, lifting done: what is left is a graph in which equal terms are one object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any, TypeAlias

from ..core.axes import Order, show
from ..core.sizes import resolve

Options: TypeAlias = tuple[Any, ...]  # of an operator, after its arguments


class Term:
    """An operator applied; see the module's text. `node` is the piece of the formula, `serial` the order of making."""

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
        """The value of a plain number, or None."""
        return self.options[0] if self.operator == "number" else None

    def __repr__(self) -> str:
        inside = ", ".join(f"%{argument.serial}" for argument in self.arguments)
        scripts = "_{" + ",".join(self.axes) + "}" if self.axes else ""
        options = f" {self.options}" if self.options else ""
        return f"%{self.serial} = {self.operator}{scripts}({inside}){options} : {show(resolved_shape(self.shape))}"


def resolved_shape(shape: Mapping[str, Any]) -> dict[str, Any]:
    """A shape with every size that has become known."""
    return {axis: resolve(size) for axis, size in shape.items()}


class TermGraph:
    """Makes terms; equal ones are made once. Those of tables that share `serials` have one order of making."""

    def __init__(self, serials: Iterator[int] | None = None):
        self.serials: Iterator[int] = count() if serials is None else serials
        self.interned: dict[tuple[Any, ...], Term] = {}

    def intern(
        self, operator: str, arguments: tuple[Term, ...] = (), axes: Order = (), options: Options = (),
        shape: dict[str, Any] | None = None, boolean: bool = False, node: Any = None,
    ) -> Term:  # fmt: skip
        """The one term of this operator, these arguments, axes and options."""
        # 1, 1.0 and True are three different options
        key = (operator, tuple(map(id, arguments)), axes, options, tuple(map(type, options)))
        found = self.interned.get(key)
        if found is None:
            found = Term(operator, tuple(arguments), axes, options, shape or {}, boolean, node, next(self.serials))
            self.interned[key] = found
        return found

    def number(self, value: Any, node: Any = None, boolean: bool = False) -> Term:
        return self.intern("number", options=(value, type(value).__name__), node=node, boolean=boolean)

    def __len__(self) -> int:
        return len(self.interned)

    def all(self, before: int = 0) -> list[Term]:
        """All of them but the first so many, arguments before what uses them."""
        return [*islice(reversed(self.interned.values()), len(self.interned) - before)][::-1]


def topological(*roots: Term, since: int = 0) -> list[Term]:
    """Every term that the roots need, arguments before what uses them; those alone that were made since, by their serials.

    What depends on a term was made after it: who asks for that need not go through all that it was made of.
    """
    needed: set[int] = set()
    found: list[Term] = []
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term.serial >= since and id(term) not in needed:
            needed.add(id(term))
            found.append(term)
            stack.extend(term.arguments)
    return sorted(found, key=lambda term: term.serial)


def without_variables(roots: tuple[Term, ...]) -> tuple[Term, ...]:
    """The same terms, each variable what it stands for: once there are no derivatives to take, what equals it is it."""
    order = topological(*roots)
    if not any(term.operator == "variable" for term in order):
        return roots
    terms = TermGraph()
    found: dict[int, Term] = {}
    for term in order:
        arguments = tuple(found[id(each)] for each in term.arguments)
        if term.operator == "variable":
            found[id(term)] = arguments[0]
        else:
            found[id(term)] = terms.intern(
                term.operator, arguments, term.axes, term.options, term.shape, term.boolean, term.node
            )
    return tuple(found[id(root)] for root in roots)
