"""Linearize terms (JVP): compute the differential of each term from the differentials of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..operators import REGISTRY
from ..operators.record import Operator
from ..scope.names import Key
from ..terms.builder import TermBuilder
from ..terms.inference import Inference
from ..terms.terms import Term, topological
from . import loops
from .products import is_long, multiply_others, multiply_up_to
from .record_formulas import LETTERS, ZERO, expand_definition, infer_formula

DIFFERENTIAL = "∂"


class Linearization:
    """The JVP of terms. It maps the id of each term to its tangent, given the tangents of some terms."""

    is_computed = True  # Whether tangents are evaluated rather than converted to forms.

    def __init__(self, checker: Inference, make: TermBuilder, given: Mapping[int, Term | None]):
        self.checker, self.make = checker, make
        self.found: dict[int, Term | None] = dict(given)

    def of(self, body: Term) -> Term | None:
        """Return the tangent of a term, or None if it is zero."""
        for term in topological(body):
            if id(term) not in self.found:
                self.found[id(term)] = self.next(term)
        return self.found[id(body)]

    def next(self, term: Term) -> Term | None:
        """Return the tangent of a term, given the tangents of its arguments, or None if it is zero."""
        self.checker.spend(self.make.node)
        parts = [self.found[id(argument)] for argument in term.arguments]
        if all(part is None for part in parts):
            return None
        if term.operator == "^" and term.arguments[1].number == 0:
            return None
        if term.operator == "∏" and len(term.axes) > 1:
            return self.of(self.one_by_one(term))
        if term.operator in PRODUCTS and self.is_computed and is_long(term):
            return PRODUCTS[term.operator](self, term, parts)
        rule, record = STRUCTURAL.get(term.operator), REGISTRY.get(term.operator)
        if record is not None and record.joins:
            rule = _combine_parts
        if term.operator == "python":
            record = term.options[0]  # it has all attributes of a record that are used here
        if rule is not None:
            return rule(self, term, parts)
        texts = record.differentials if record is not None else ()
        if not texts and (expanded := expand_definition(self.checker, term)) is not None:
            return self.of(expanded)
        if record is None or not texts:
            raise self.checker.error(
                405, f"no derivative rule for {term.operator if term.operator in REGISTRY else self.checker.text(term.node)}",
                self.make.node,
                labels=((term.node.span, "it is used here"),) if term.node is not None else (),
                hint="give it a differential: nt.operator(…, differential=…)"
                if term.operator == "python"
                else "express it with operators that have derivative rules",
            )  # fmt: skip
        texts = texts[-len(parts) :] if len(parts) > 1 else texts[:1]
        total: Term | None = None
        for index, part in enumerate(parts):
            if part is None or texts[index] == ZERO:
                continue
            result = self.by_rule(record, texts[index], term, index, part)
            total = result if total is None else self.make.add(total, result)
        return None if total is None else self.whole(term, total)

    def one_by_one(self, term: Term) -> Term:
        """Split a reduction over several axes into successive reductions over one axis."""
        argument = term.arguments[0]
        for axis in term.axes:
            shape = {name: size for name, size in argument.shape.items() if name != axis}
            argument = self.make.term(term.operator, (argument,), (axis,), (), shape)
        return argument

    def whole(self, term: Term, part: Term) -> Term:
        """Broadcast a tangent to all axes of its term."""
        return self.make.spread(part, term.shape)

    def by_rule(self, record: Operator, text: str, term: Term, position: int, part: Term) -> Term:
        """Return the contribution of one argument to a term's tangent, from the differential in the record."""
        change = {Key(DIFFERENTIAL + LETTERS[position]): part}
        return infer_formula(self.checker, record, text, term, self.make.node, change)


def _linear(self: Linearization, term: Term, parts: list[Any]) -> Term | None:
    """Return the tangent of a linear term that moves elements: the same operation on its argument's tangent."""
    if parts[0] is None:
        return None
    return self.make.term(term.operator, (parts[0], *term.arguments[1:]), term.axes, term.options, term.shape)


def _rename(self: Linearization, term: Term, parts: list[Any]) -> Term:
    return self.make.rename(parts[0], dict(term.options))


def _combine_parts(self: Linearization, term: Term, parts: list[Any]) -> Term:
    """Return the tangent of a concatenation, which is the concatenation of the operands' tangents.

    An operand without a tangent contributes zeros, because it has separate elements.
    """
    pieces = tuple(
        self.make.spread(self.make.number(0.0) if part is None else part, argument.shape)
        for part, argument in zip(parts, term.arguments)
    )
    return self.make.term(term.operator, pieces, term.axes, term.options, term.shape)


def _cases(self: Linearization, term: Term, parts: list[Any]) -> Term | None:
    """Return the tangent of a choice, which selects tangents of the values by the same conditions."""
    values = range(0, len(parts), 2)
    if all(parts[value] is None for value in values):
        return None
    pieces = list(term.arguments)
    for value in values:
        pieces[value] = self.make.number(0.0) if parts[value] is None else parts[value]
    return self.make.term("cases", tuple(pieces), (), (), term.shape)


def _exponential(self: Linearization, term: Term, parts: list[Any]) -> Term:
    """Return the tangent of `expm`, which is e^X or its derivative along directions.

    The tangent is a sum. One summand has X's tangent as an additional direction. In each other summand, the tangent of
    a direction replaces this direction.
    """
    X, *along = term.arguments
    result: Term | None = None
    for index, part in enumerate(parts):
        if part is None:
            continue
        changed = (*along, part) if index == 0 else (*along[: index - 1], part, *along[index:])
        shape = {axis: size for term in (X, *changed) for axis, size in term.shape.items()}
        more = self.make.term(term.operator, (X, *changed), term.axes, term.options, shape)
        result = more if result is None else self.make.add(result, more)
    assert result is not None
    return self.whole(term, result)


def _same(self: Linearization, term: Term, parts: list[Any]) -> Term:
    return parts[0]


def _none(self: Linearization, term: Term, parts: list[Any]) -> None:
    return None


def _differentiate_loop(self: Linearization, term: Term, parts: list[Any]) -> Term | None:
    """Return the tangent of a loop's state: the same state in the loop that computes tangents."""
    return self.make.term(term.operator, tuple(parts), (), term.options, term.shape)


def _product(self: Linearization, term: Term, parts: list[Any]) -> Term:
    """Return the tangent of a product over a long axis."""
    return self.whole(term, self.make.dot(parts[0], multiply_others(self.make, term), term.axes))


def _running_product(self: Linearization, term: Term, parts: list[Any]) -> Term | None:
    """Return the tangent of `cumprod` along a long axis."""
    return self.of(multiply_up_to(self.make, term))


PRODUCTS = {"∏": _product, "cumprod": _running_product}

# The differentials of terms that are not operators, and of the operator with any number of directions.
STRUCTURAL = {
    "loop": loops.tangent,
    **dict.fromkeys(loops.READING, _differentiate_loop),
    "rename": _rename,
    **dict.fromkeys(("merge", "split", "spread", "pick", "index", "scatter"), _linear),
    **dict.fromkeys(("fill", "literal"), _combine_parts),
    "cases": _cases,
    "expm": _exponential,
    "variable": _same,
    "indicator": _none,
}
