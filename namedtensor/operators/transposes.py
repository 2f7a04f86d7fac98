"""Define transpose rules (VJPs) of linear operators, which the operators' records contain as `transpose`.

A rule creates terms through the builder that it receives, because operators do not depend on terms. The caller sums
over the axes that an operand lacks.

    t = ∑_{seq} u        the cotangent of u is the cotangent of t, at each element of seq
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from ..core.axes import Order
from ..core.sizes import resolve


class OperatorTerm(Protocol):
    """A call of an operator in the typed graph, with the attributes of `terms.terms.Term` that operator rules use."""

    operator: str
    axes: Order
    shape: dict[str, Any]

    @property
    def arguments(self) -> tuple[Any, ...]: ...


class OperatorTermBuilder(Protocol):
    """The interface of `terms.builder.TermBuilder` that operator rules use to build terms."""

    def term(
        self, operator: str, arguments: tuple[Any, ...], axes: Order = ..., options: Any = ..., shape: Any = ...
    ) -> Any: ...
    def number(self, value: float) -> Any: ...
    def between(self, operator: str, *terms: Any) -> Any: ...
    def add(self, left: Any, right: Any) -> Any: ...
    def negative(self, term: Any) -> Any: ...
    def sum(self, term: Any, axes: Iterable[str]) -> Any: ...
    def spread(self, term: Any, shape: Mapping[str, Any]) -> Any: ...
    def rename(self, term: Any, names: Mapping[str, str]) -> Any: ...
    def iota(self, axis: str, first: int, size: Any) -> Any: ...
    def at(self, term: Any, axis: str, places: Any) -> Any: ...
    def pick(self, term: Any, axis: str, position: int) -> Any: ...
    def merge(self, term: Any, sources: tuple[str, ...], target: str, size: Any) -> Any: ...


Transpose = Callable[
    [OperatorTermBuilder, OperatorTerm, Any, int], Any
]  # Maps a builder, a term, its cotangent and the position of an operand to the operand's cotangent.


# --------------------------------------------------------------------------------------------------------- arithmetic
def transpose_sum(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    return cotangent


def transpose_difference(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    return make.negative(cotangent) if position else cotangent


def transpose_negative(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    return make.negative(cotangent)


# --------------------------------------------------------------------------------------------------------- reductions
def transpose_total(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    return make.spread(cotangent, {**cotangent.shape, **term.arguments[0].shape})


def transpose_mean(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    total = math.prod(resolve(term.arguments[0].shape[axis]) for axis in term.axes)
    return transpose_total(make, term, make.between("/", cotangent, make.number(total)), position)


def transpose_running_sum(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    """Return the transpose of cumsum, a cumulative sum from the other end."""
    (axis,) = term.axes
    size = resolve(cotangent.shape[axis])
    turned = make.between("-", make.number(size + 1), make.iota(axis, 1, size))
    up_to = make.term(term.operator, (make.at(cotangent, axis, turned),), term.axes, (), dict(cotangent.shape))
    return make.at(up_to, axis, turned)


# ------------------------------------------------------------------------------------------------------------- joining
def transpose_concatenation(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    (axis,) = term.axes
    sizes: list[int] = [resolve(argument.shape[axis]) for argument in term.arguments]
    return make.at(cotangent, axis, make.iota(axis, 1 + sum(sizes[:position]), sizes[position]))


def transpose_stacked(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    return make.pick(cotangent, term.axes[0], position)


# ------------------------------------------------------------------------------------------------------------- windows
def transpose_windows(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    """Return the transpose of unroll. Each element is the sum over all windows that contain it.

    Element s is element k of the window that begins at s − k + 1.
    """
    seq, kernel = term.axes
    whole, windows = term.arguments[0].shape[seq], term.shape[seq]
    begin = make.add(
        make.between("-", make.iota(seq, 1, whole), make.iota(kernel, 1, term.shape[kernel])), make.number(1)
    )
    one, last = make.number(1), make.number(resolve(windows))
    inside = make.between("∧", make.between("≥", begin, one), make.between("≤", begin, last))
    places = make.between("where", inside, begin, one)
    result = make.at(cotangent, seq, places)
    return make.sum(make.between("where", inside, result, make.number(0.0)), (kernel,))


def transpose_pooling(make: OperatorTermBuilder, term: OperatorTerm, cotangent: Any, position: int) -> Any:
    seq, kernel = term.axes
    apart = make.rename(cotangent, {seq: f"{seq}@pool"})
    return make.merge(apart, (f"{seq}@pool", kernel), seq, term.arguments[0].shape[seq])
