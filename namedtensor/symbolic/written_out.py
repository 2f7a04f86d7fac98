"""Definitions that proofs expand: var, std, norm, standardize, logsumexp, logsoftmax.

Each function takes the forms that are being made, and a term; reading leaves these operators as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..operators import REGISTRY
from ..terms.terms import Term
from . import algebra
from .applying import applied, own_options
from .forms import ONE, ONE_, Form, number, size


def _averaged(self: Any, term: Term, form: Form) -> Form:
    indices = self.indices(term.arguments[0], term.axes)
    count = ONE
    for index in indices:
        count = algebra.multiply(count, size(index.size))
    return algebra.multiply(algebra.sum_over(form, indices), algebra.power(count, -ONE_))


def _variance(self: Any, term: Term) -> Form:
    x = self.part(term, 0)
    middle = _averaged(self, term, x)
    squares = _averaged(self, term, algebra.multiply(x, x))
    return algebra.add(squares, algebra.scaled(algebra.multiply(middle, middle), -1))


def _deviation(self: Any, term: Term) -> Form:
    return algebra.power(_variance(self, term), Fraction(1, 2))


def _euclidean(self: Any, term: Term) -> Form:
    if dict(own_options(REGISTRY["norm"], term))["p"] != 2:
        return self.operator(REGISTRY["norm"], term, term.axes)
    x = self.part(term, 0)
    squares = algebra.sum_over(algebra.multiply(x, x), self.indices(term.arguments[0], term.axes))
    return algebra.power(squares, Fraction(1, 2))


def _standardized(self: Any, term: Term) -> Form:
    eps = Fraction(repr(dict(own_options(REGISTRY["standardize"], term))["eps"]))
    x = self.part(term, 0)
    away = algebra.add(x, algebra.scaled(_averaged(self, term, x), -1))
    return algebra.multiply(away, algebra.power(algebra.add(_variance(self, term), number(eps)), Fraction(-1, 2)))


def _logarithm_of_sum(self: Any, term: Term) -> Form:
    x = applied("exp", (self.part(term, 0),))
    return applied("log", (algebra.sum_over(x, self.indices(term.arguments[0], term.axes)),))


def _logarithm_of_softmax(self: Any, term: Term) -> Form:
    return algebra.add(self.part(term, 0), algebra.scaled(_logarithm_of_sum(self, term), -1))


OPENED: dict[str, Callable[[Any, Term], Form]] = {
    "var": _variance, "std": _deviation, "norm": _euclidean, "standardize": _standardized,
    "logsumexp": _logarithm_of_sum, "logsoftmax": _logarithm_of_softmax,
}  # fmt: skip
