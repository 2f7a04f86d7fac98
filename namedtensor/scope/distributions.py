"""Define distributions by name, with functions that compute samples from uniform numbers.

Samples are counter-based. Each sample is computed from the seed, the variable's name and labels, the sample
number, and the position along the sample's axes. Every evaluator and every library therefore produces the same
samples.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from grammar import nodes
from grammar.nodes import Draw, Expectation
from grammar.traversal import children

from .names import component, walk
from .symbols import Scope
from .uses import NOTHING

DEFAULT_DRAWS = 10_000  # The number of samples in an expectation, unless `draws` specifies a number.
Operation = Callable[
    ..., Any
]  # Applies an operator of the notation, given by its name, to an evaluator's tensors or to numbers.


class Distribution(NamedTuple):
    """A distribution. `of(op, parameters, u, w)` computes a sample from the uniform numbers u and w.

    `parameters` is the number of parameters. `op("cumsum", p, along=True)` applies the operator along the axis of p.
    """

    parameters: int
    of: Callable[[Operation, Sequence[Any], Any, Any], Any]
    finite: bool = False  # Whether an expectation enumerates the outcomes.


def _normal(op: Operation, parameters: Sequence[Any], u: Any, w: Any) -> Any:
    """Draw from a normal distribution with the Box-Muller transform. The second parameter is the variance."""
    mean, variance = parameters
    radius = op("sqrt", op("⊙", -2.0, op("log", u)))
    standard = op("⊙", radius, op("cos", op("⊙", 2 * math.pi, w)))
    return op("+", mean, op("⊙", op("sqrt", variance), standard))


def _uniform(op: Operation, parameters: Sequence[Any], u: Any, w: Any) -> Any:
    low, high = parameters
    return op("+", low, op("⊙", op("-", high, low), u))


def _exponential(op: Operation, parameters: Sequence[Any], u: Any, w: Any) -> Any:
    return op("/", op("negative", op("log", u)), parameters[0])


def _gumbel(op: Operation, parameters: Sequence[Any], u: Any, w: Any) -> Any:
    node, scale = parameters
    return op("-", node, op("⊙", scale, op("log", op("negative", op("log", u)))))


def _bernoulli(op: Operation, parameters: Sequence[Any], u: Any, w: Any) -> Any:
    return op("where", op("<", u, parameters[0]), 1, 0)


def _categorical(op: Operation, parameters: Sequence[Any], u: Any, w: Any) -> Any:
    """Compute a sample of a categorical distribution.

    The sample is the first index whose cumulative probability exceeds u. If rounding leaves no such index, it is the
    last index with a probability.
    """
    (p,) = parameters
    before = op("where", op("≤", op("cumsum", p, along=True), u), 1, 0)
    last = op("∑", op("where", op("≥", p, 0), 1, 0), along=True)
    return op("min", op("+", 1, op("∑", before, along=True)), last)


NORMAL, UNIFORM = Distribution(2, _normal), Distribution(2, _uniform)
DISTRIBUTIONS = {
    **dict.fromkeys(("N", "Normal", "Gaussian"), NORMAL),
    **dict.fromkeys(("U", "Uniform", "Unif"), UNIFORM),
    **dict.fromkeys(("Exponential", "Exp"), Distribution(1, _exponential)),
    "Gumbel": Distribution(2, _gumbel),
    **dict.fromkeys(("Bernoulli", "Bern", "Ber"), Distribution(1, _bernoulli, finite=True)),
    **dict.fromkeys(("", "Categorical", "Cat"), Distribution(1, _categorical, finite=True)),
}


def is_categorical(draw: Draw) -> bool:
    """Return whether the outcomes of a random variable are indices along an axis.

    The only parameter of its distribution contains their probabilities.
    """
    return DISTRIBUTIONS[draw.family].of is _categorical


def is_finite(draw: Draw) -> bool:
    """Return whether an expectation over a random variable enumerates its outcomes."""
    known = DISTRIBUTIONS.get(draw.family)
    return known is not None and known.finite and not draw.axes


def number_of(node: Draw, counted: Sequence[bool] = ()) -> int:
    """Return a number that makes the samples of this variable independent of other variables' samples.

    If a label's entry in `counted` is true, `·` replaces the label. Labels without an entry are left out.
    """
    labels = ["·" if number else component(part) for part, number in zip(node.labels, counted)]
    name = node.name + (f"^{{{','.join(labels)}}}" if labels else "")
    return zlib.crc32(name.encode()) % 2**20


@lru_cache(maxsize=16)
def find_finite_variables(scope: Scope) -> frozenset[str] | None:
    """Return the declared random variables whose outcomes an expectation enumerates, or None if nothing is random."""
    drawn = [node for node in walk(scope.program) if isinstance(node, Draw)]
    return frozenset(draw.name for draw in drawn if is_finite(draw) and not draw.labels) if drawn else None


def depends_on_draws(scope: Scope, sides: Sequence[Any]) -> bool:
    """Return whether any side of an assertion depends on random samples.

    For such an assertion, only the types of the sides are checked, because an estimate only approximates the true
    value. An expectation that enumerates the outcomes of a variable does not use samples of the variable.
    """
    finite = find_finite_variables(scope)
    waiting: list[tuple[Any, frozenset[str]]] = [(side, NOTHING) for side in sides if finite is not None]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        node, averaged = waiting.pop()
        if isinstance(node, Draw) and node.name not in averaged:
            return True
        if isinstance(node, Expectation):
            names = {draw.name for draw in node.drawn if is_finite(draw)}
            names |= {draw.text for draw in node.draws if isinstance(draw, nodes.Name)} & (finite or NOTHING)
            averaged = averaged | (names if node.draws else finite or NOTHING)
        name = node.text if isinstance(node, nodes.Name) else node.operator if isinstance(node, nodes.Call) else ""
        if name and (name, averaged) not in seen:
            seen.add((name, averaged))
            waiting += [(body, averaged) for body in scope.bodies_named(name)]
        waiting += [(child, averaged) for child in children(node)]
    return False
