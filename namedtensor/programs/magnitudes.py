"""How large the numbers are of which a value is computed: what rounding may change it by is a multiple of that.

∑_{a} (X − mean_{a} X) is computed of numbers as large as ∑_{a} (|X| + mean_{a} |X|): each term has the same operators, of the
absolute values of its operands, with + for −. Of other operators it is that of the condition: |log x| + m / |x| for log x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grammar import nodes

from ..terms.builder import TermBuilder
from ..terms.terms import Term, TermGraph, topological

POSITIVE = (  # operators of non-negative operands that are not less for larger ones: those are their magnitudes
    "+", "⊙", "∑", "mean", "cumsum", "norm", "max", "relu", "abs", "sqrt", "variable", "spread", "rename", "index", "pick",
    "merge", "split", "stack", "trace", "where",
)  # fmt: skip
BOUNDED_SLOPE = ("sin", "cos", "tanh", "σ", "erf", "softplus", "arctan", "sigmoid")  # which is at most 2 in size


def magnitudes_of(roots: Sequence[Term]) -> list[Term]:
    """The terms of the magnitudes of terms, in a graph of their own; none where a term has others within."""
    graph = TermGraph()
    make = TermBuilder(graph, nodes.Number(0))
    copies, by_term = dict[int, Term](), dict[int, Term]()
    for root in roots:
        for term in topological(root):
            if term.operator == "loop":
                return []
            arguments = tuple(copies[id(argument)] for argument in term.arguments)
            shape, node = dict(term.shape), term.node
            copy = graph.intern(term.operator, arguments, term.axes, term.options, shape, term.boolean, node)
            copies[id(term)] = copy
            by_term[id(term)] = _magnitude(make, copy, [by_term[id(argument)] for argument in term.arguments])
    return [by_term[id(root)] for root in roots]


def _magnitude(make: TermBuilder, term: Term, parts: Sequence[Term]) -> Term:
    operator = term.operator
    if term.boolean or any(argument.boolean for argument in term.arguments):
        return term
    if operator in ("-", "negative"):
        return make.add(*parts) if operator == "-" else parts[0]
    if operator in POSITIVE and parts:
        return make.term(operator, tuple(parts), term.axes, term.options, dict(term.shape))
    size = make.between("abs", term)
    if operator not in CONDITIONS:
        return size
    return CONDITIONS[operator](make, term, size, parts)


def _of_quotient(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    below = make.between("abs", term.arguments[1])
    return make.between("/", make.add(parts[0], make.times(size, parts[1])), below)


def _of_logarithm(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, make.between("/", parts[0], make.between("abs", term.arguments[0])))


def _of_exponential(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.times(size, make.add(make.number(1), parts[0]))


def _of_bounded_slope(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, parts[0])


def _of_power(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    exponent = term.arguments[1].number
    return make.between("^", parts[0], term.arguments[1]) if exponent and exponent > 0 else size


def _of_minimum(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(*parts) if len(parts) == 2 else make.over("max", parts[0], term.axes)


CONDITIONS: dict[str, Callable[[TermBuilder, Term, Term, Sequence[Term]], Term]] = {
    "/": _of_quotient, "log": _of_logarithm, "exp": _of_exponential, "^": _of_power, "min": _of_minimum,
    **dict.fromkeys(BOUNDED_SLOPE, _of_bounded_slope),
}  # fmt: skip
