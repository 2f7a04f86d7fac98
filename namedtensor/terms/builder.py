"""Build terms with smart constructors, which simplify the new terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar.nodes import Node

from ..core.axes import Order, broadcast
from ..core.sizes import resolve, unify
from ..operators import REGISTRY
from .terms import Numbers, Options, Term, TermGraph


class SimplifyingGraph(TermGraph):
    """A term graph that simplifies terms when it interns them.

    For example, A ⊙_{ax} I_{ax,ax*} becomes A_{ax→ax*}. A derivative begins with identities, and this rule removes most
    of them in the first step.
    """

    def __init__(self, graph: TermGraph):
        super().__init__(graph.serials)
        self.interned = graph.interned

    def intern(
        self, operator: str, arguments: tuple[Term, ...] = (), axes: Order = (), options: Options = (),
        shape: dict[str, Any] | None = None, boolean: bool = False, node: Any = None,
    ) -> Term:  # fmt: skip
        """Simplify a term, intern the result, and return it.

        The rewrites remove products with identities and ones, remove broadcasts over axes that the other operand has,
        and move signs outward.
        """
        if operator == "⊙" and axes:
            for one, other in (arguments, arguments[::-1]):
                term = self.renamed(one, other, axes, shape, node)
                if term is not None:
                    return term
        if operator == "⊙" and not axes:
            for one, other in (arguments, arguments[::-1]):
                if is_one(one) and one.shape.keys() <= other.shape.keys():
                    return other
        if operator in BROADCASTING and not axes and len(arguments) == 2:
            one = bare(*arguments)
            arguments = one, bare(arguments[1], one)
        term = self.signed(operator, arguments, axes, options, shape, node)
        return term or super().intern(operator, arguments, axes, options, shape, boolean, node)

    def signed(
        self, operator: str, arguments: tuple[Term, ...], axes: Order, options: Options, shape: dict[str, Any] | None,
        node: Any,
    ) -> Term | None:  # fmt: skip
        """Return the term with the operands' minus signs moved outward, or None if no sign can move.

        A sign turns a sum into a difference or the reverse, or it moves out of a linear operator, product or quotient.
        Two signs in a product or quotient cancel, and so does a double negation.
        """
        signs = [argument.operator == "negative" for argument in arguments]
        if not any(signs):
            return None
        inner = tuple(argument.arguments[0] if sign else argument for argument, sign in zip(arguments, signs))
        if operator == "negative":
            return inner[0]
        if operator in ("+", "-") and signs[1]:
            return self.intern("-" if operator == "+" else "+", (arguments[0], inner[1]), (), (), shape, node=node)
        if operator == "+":
            return self.intern("-", (arguments[1], inner[0]), (), (), shape, node=node)
        if operator in LINEAR and signs[0]:
            term = self.intern(operator, (inner[0], *arguments[1:]), axes, options, shape, node=node)
        elif operator in PRODUCTS:
            term = self.intern(operator, inner, axes, options, shape, node=node)
        else:
            return None
        return term if sum(signs) == 2 else self.intern("negative", (term,), (), (), dict(term.shape), node=node)

    def renamed(self, one: Term, other: Term, axes: tuple[str, ...], shape: Any, node: Any) -> Term | None:
        """Return `one` ⊙_{axes} I…I as a rename of `one`, or None if it is not a rename.

        Each axis in `axes` must be the first axis of an identity whose second axis is new. Identities without an axis
        in `axes` remain factors.
        """
        names: dict[str, str] = {}
        rest: list[Term] = []
        for identity in identities(other) or ():
            row, column = identity.axes
            if row in axes and column not in axes and column not in one.shape:
                names[row] = column
            elif row in axes or column in axes:
                return None
            else:
                rest.append(identity)
        if not names or set(names) != set(axes):
            return None
        sizes = {names.get(axis, axis): size for axis, size in one.shape.items()}
        term = super().intern("rename", (one,), (), tuple(sorted(names.items())), sizes, node=node)
        for identity in rest:
            sizes = {**sizes, **identity.shape}
            term = super().intern("⊙", (term, identity), (), (), sizes, node=node)
        return term


PRODUCTS = frozenset(("⊙", "/"))
BROADCASTING = PRODUCTS | {"+", "-"}
LINEAR = frozenset("∑ mean rename merge split spread pick index scatter".split())  # in their first argument


def bare(term: Term, beside: Term) -> Term:
    """Remove a term's broadcast axes if the other operand has all of them. Otherwise, return the term unchanged."""
    if term.operator == "spread" and all(axis in beside.shape for axis, _ in term.options):
        return term.arguments[0]
    return term


def identities(term: Term) -> list[Term] | None:
    """Return the identities whose product is the term, or None if the term is not a product of identities."""
    if term.operator == "I":
        return [term]
    if term.operator != "⊙" or term.axes:
        return None
    parts = [identities(argument) for argument in term.arguments]
    return None if None in parts else [element for part in parts for element in part]  # type: ignore[union-attr]


class TermBuilder:
    """A builder of terms, which infers their shapes. All of the terms refer to the same node of the formula."""

    def __init__(self, graph: TermGraph, node: Node):
        self.graph: SimplifyingGraph = SimplifyingGraph(graph)
        self.node: Node = node

    def term(
        self,
        operator: str,
        arguments: tuple[Term, ...],
        axes: Order = (),
        options: Options = (),
        shape: dict[str, Any] | None = None,
    ) -> Term:
        record = REGISTRY.get(operator)
        moved = bool(arguments) and arguments[0].boolean and operator != "indicator"
        return self.graph.intern(
            operator, arguments, axes, options, shape, moved if record is None else record.boolean[1], self.node
        )

    def number(self, value: float) -> Term:
        return self.graph.number(value, self.node)

    def leaf(self, name: str, shape: Mapping[str, Any]) -> Term:
        """Create an input with this name and shape. It is equal only to itself."""
        return self.term("input", (), (), (f"{name} {len(self.graph)}",), dict(shape))

    def between(self, operator: str, *terms: Term) -> Term:
        """Return the term of an elementwise operator, with the union of the operands' axes."""
        return self.term(operator, terms, shape=broadcast([term.shape for term in terms], unify))

    def add(self, left: Term, right: Term) -> Term:
        return self.between("+", left, right)

    def negative(self, term: Term) -> Term:
        return self.between("negative", term)

    def times(self, left: Term, right: Term) -> Term:
        return self.between("⊙", left, right)

    def dot(self, left: Term, right: Term, axes: Iterable[str]) -> Term:
        """Return left ⊙_{axes} right. Also sum over an axis in `axes` that only one operand has."""
        axes = tuple(axes)
        both = tuple(axis for axis in axes if axis in left.shape and axis in right.shape)
        left, right = (
            self.sum(term, (axis for axis in axes if axis in term.shape and axis not in both)) for term in (left, right)
        )
        if not both:
            return self.times(left, right)
        shape = broadcast([left.shape, right.shape], unify)
        return self.term("⊙", (left, right), both, (), {axis: size for axis, size in shape.items() if axis not in both})

    def sum(self, term: Term, axes: Iterable[str]) -> Term:
        axes = tuple(axes)
        return self.over("∑", term, axes) if axes else term

    def over(self, operator: str, term: Term, axes: tuple[str, ...]) -> Term:
        """Return the reduction of a term over some axes with an operator."""
        return self.term(
            operator, (term,), axes, (), {axis: size for axis, size in term.shape.items() if axis not in axes}
        )

    def spread(self, term: Term, shape: Mapping[str, Any]) -> Term:
        """Broadcast a term over the axes of a shape that the term lacks."""
        missing = tuple((axis, size) for axis, size in shape.items() if axis not in term.shape)
        return self.term("spread", (term,), (), missing, {**term.shape, **dict(missing)}) if missing else term

    def rename(self, term: Term, names: Mapping[str, str]) -> Term:
        names = {old: new for old, new in names.items() if old != new and old in term.shape}
        if not names:
            return term
        shape = {names.get(axis, axis): size for axis, size in term.shape.items()}
        return self.term("rename", (term,), (), tuple(sorted(names.items())), shape)

    def seed(self, shape: Mapping[str, Any], partners: Mapping[str, str]) -> Term:
        """Return a term that is 1 at equal indices along each axis and its partner, and 0 elsewhere.

        The term is constant along the other axes of the shape.
        """
        number = self.number(1.0)
        for axis, partner in partners.items():
            number = self.times(number, self.identity(axis, partner, shape[axis]))
        return self.spread(number, shape)

    def identity(self, row: str, column: str, size: Any) -> Term:
        options = tuple((f"size {axis}", resolve(size)) for axis in (row, column))
        return self.term("I", (), (row, column), options, {row: size, column: size})

    def onehot(self, at: Term, axis: str, size: Any) -> Term:
        """Return a term along one axis that is 1 at the given index and 0 elsewhere. Indices start at 1."""
        return self.term("onehot", (at,), (axis,), ((f"size {axis}", resolve(size)),), {**at.shape, axis: size})

    def constant(self, axis: str, numbers: Iterable[float]) -> Term:
        numbers = tuple(numbers)
        return self.constants({axis: len(numbers)}, numbers)

    def constants(self, sizes: dict[str, int], numbers: Iterable[float]) -> Term:
        """Return a constant term along the given axes, with numbers in row-major order."""
        options = tuple(sizes), tuple(sizes.values()), Numbers(numbers)
        return self.term("constant", (), (), options, sizes)

    def iota(self, axis: str, first: int, size: Any) -> Term:
        return self.term("iota", (), (axis,), (first, resolve(size)), {axis: size})

    def at(self, term: Term, axis: str, places: Term) -> Term:
        """Return the elements of a term at the positions `places` along an axis.

        Positions start at 1. The term `places` may also have this axis.
        """
        apart = self.rename(term, {axis: f"{axis}@from"})
        shape = {name: size for name, size in apart.shape.items() if name != f"{axis}@from"}
        return self.term("index", (apart, places), (f"{axis}@from",), (), broadcast([shape, places.shape], unify))

    def scatter(self, term: Term, axis: str, size: Any, places: Term, over: Iterable[str]) -> Term:
        """Sum a term over `over`, and add each element at its position along a new axis."""
        over = tuple(sorted(over))
        shape = {name: extent for name, extent in term.shape.items() if name not in over} | {axis: size}
        return self.term("scatter", (term, places), (axis,), (resolve(size), over), shape)

    def pick(self, term: Term, axis: str, position: int) -> Term:
        shape = {name: size for name, size in term.shape.items() if name != axis}
        return self.term("pick", (term,), (), (axis, position), shape)

    def merge(self, term: Term, sources: tuple[str, ...], target: str, size: Any) -> Term:
        shape = {axis: extent for axis, extent in term.shape.items() if axis not in sources} | {target: size}
        return self.term("merge", (term,), (), (sources, target), shape)

    def split(self, term: Term, source: str, parts: tuple[tuple[str, Any], ...]) -> Term:
        shape = {axis: extent for axis, extent in term.shape.items() if axis != source} | dict(parts)
        return self.term("split", (term,), (), (source, parts), shape)


def is_one(term: Term) -> bool:
    """Return whether all elements of a term are known to be 1."""
    return term.number == 1 or (term.operator == "spread" and term.arguments[0].number == 1)
