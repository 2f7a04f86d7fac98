"""The magnitudes of values. Rounding can change a value by a small multiple of its magnitude.

The magnitude of ∑_{a} (X − mean_{a} X) is ∑_{a} (|X| + mean_{a} |X|). It applies the same operators to the absolute
values of the operands, with + instead of −. For other operators, the magnitude follows from the condition number. For example,
the magnitude of log x is |log x| + m / |x|, where m is the magnitude of x. If the value of an operator can
underflow to 0, the magnitude is at least `LEAST`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grammar import nodes

from ..terms.builder import TermBuilder
from ..terms.terms import Term, TermGraph, topological
from .closeness import LEAST, UNIT

CHOICES = ("where", "cases", "indicator")  # operators whose conditions are unchanged in the magnitude
POSITIVE = (  # operators that increase with non-negative operands: their magnitude is their value for the magnitudes
    "+", "∑", "mean", "cumsum", "norm", "max", "relu", "abs", "variable", "spread", "rename", "index", "pick",
    "merge", "split", "stack", "trace", "∏", "cumprod",
)  # fmt: skip
BOUNDED_SLOPE = ("sin", "cos", "tanh", "erf", "arctan", "gelu")  # functions with slopes from −2 to 2


def magnitudes_of(roots: Sequence[Term]) -> list[Term]:
    """Return terms for the magnitudes of the roots, in a separate graph, or no terms if the graph has a loop."""
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


MATRIX = ("cofactors", "solve", "logdet", "cholesky", "eigvalsh", "eigh", "expm")


def _magnitude(make: TermBuilder, term: Term, parts: Sequence[Term]) -> Term:
    """Return the magnitude of a term, given the magnitudes of its arguments. A condition is its own magnitude."""
    operator = term.operator
    if term.boolean:
        return term
    if operator in CHOICES:
        return make.term(operator, tuple(parts), term.axes, term.options, dict(term.shape))
    if any(argument.boolean for argument in term.arguments):
        return make.between("abs", term)
    if operator in ("-", "negative"):
        return make.add(*parts) if operator == "-" else parts[0]
    if operator in POSITIVE and parts:
        return make.term(operator, tuple(parts), term.axes, term.options, dict(term.shape))
    size = make.between("abs", term)
    if operator not in CONDITIONS:
        return size
    return CONDITIONS[operator](make, term, size, parts)


def _measure_product(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(make.term("⊙", tuple(parts), term.axes, term.options, dict(term.shape)), make.number(LEAST))


def _measure_quotient(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    below = make.between("abs", term.arguments[1])
    return make.between("/", make.add(parts[0], make.times(size, parts[1])), below)


def _measure_logarithm(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, make.between("/", parts[0], make.between("abs", term.arguments[0])))


def _measure_exponential(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(_measure_logistic(make, term, size, parts), make.number(LEAST))


def _measure_bounded_slope(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, parts[0])


def _measure_logistic(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.times(size, make.add(make.number(1), parts[0]))  # The slope is at most the value.


def _measure_softplus(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, make.times(parts[0], make.between("min", size, make.number(1))))


def _measure_silu(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    (operand,) = term.arguments
    slope = make.times(make.between("σ", operand), make.add(make.number(1), make.between("abs", operand)))
    return make.add(size, make.times(parts[0], make.between("min", slope, make.number(2))))


def _measure_power(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    base, exponent = term.arguments
    number = exponent.number
    if number and number > 0:
        of_power = (
            make.between("^", parts[0], exponent)
            if number >= 1
            else _root(make, make.between("abs", base), parts[0], number)
        )
        return make.add(of_power, make.number(LEAST))
    of_base = make.between("/", parts[0], make.between("abs", base))
    return make.times(size, make.add(make.number(1), make.times(make.between("abs", exponent), of_base)))


def _root(make: TermBuilder, radicand: Term, magnitude: Term, exponent: float = 0.5) -> Term:
    """Return the magnitude of a root, given its radicand and the radicand's magnitude.

    At 0, rounding changes the root by the root of the change in the radicand.
    """
    least = make.times(make.number(UNIT), magnitude)
    largest = make.between("max", radicand, least)
    return make.between("/", magnitude, make.between("^", largest, make.number(1 - exponent)))


def _measure_root(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return _root(make, make.between("abs", term.arguments[0]), parts[0])


def _measure_variance(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, make.over("mean", make.times(parts[0], parts[0]), term.axes))


def _measure_deviation(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return _root(make, make.times(term, term), _measure_variance(make, term, make.times(term, term), parts))


def _measure_standardized(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    away = make.add(parts[0], make.over("mean", parts[0], term.axes))
    deviation = make.over("std", term.arguments[0], term.axes)
    return make.add(size, make.between("/", make.times(make.add(make.number(1), size), away), deviation))


def _measure_softmax(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.times(size, make.add(make.number(1), _measure_log_softmax(make, term, make.number(0), parts)))


def _measure_log_softmax(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, make.add(parts[0], make.over("max", parts[0], term.axes)))


def _measure_largest(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(size, make.over("max", parts[0], term.axes))


def _measure_minimum(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    return make.add(*parts) if len(parts) == 2 else make.over("max", parts[0], term.axes)


def _measure_determinant(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    rows, columns = term.axes
    return make.over("∏", make.sum(parts[0], (columns,)), (rows,))


def _measure_inverse(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    largest, operand = (make.over("max", of, term.axes) for of in (size, parts[0]))
    return make.add(size, make.times(make.times(largest, largest), operand))


def _measure_matrix(make: TermBuilder, term: Term, size: Term, parts: Sequence[Term]) -> Term:
    """Return a rough magnitude for a matrix operator. It is rough because the condition number is not computed."""
    largest = [make.over("max", of, tuple(of.shape)) if of.shape else of for of in (size, *parts)]
    total = make.add(largest[0], make.times(largest[0], largest[0]))
    for entry in largest[1:]:
        total = make.add(total, entry)
    return make.add(size, total)


CONDITIONS: dict[str, Callable[[TermBuilder, Term, Term, Sequence[Term]], Term]] = {
    "⊙": _measure_product, "/": _measure_quotient, "log": _measure_logarithm, "exp": _measure_exponential, "^": _measure_power, "min": _measure_minimum,
    "sqrt": _measure_root, "var": _measure_variance, "std": _measure_deviation, "standardize": _measure_standardized, "softmax": _measure_softmax,
    "logsoftmax": _measure_log_softmax, "logsumexp": _measure_largest,
    **dict.fromkeys(("sort", "median", "quantile", "cummax", "cummin", "maxk"), _measure_largest),
    "det": _measure_determinant, "inv": _measure_inverse, **dict.fromkeys(MATRIX, _measure_matrix),
    "σ": _measure_logistic, "softplus": _measure_softplus, "silu": _measure_silu,
    **dict.fromkeys(BOUNDED_SLOPE, _measure_bounded_slope),
}  # fmt: skip
