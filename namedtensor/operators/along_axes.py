"""Functions along axes (paper §3.5): from axes to the same axes, mapped over all others.

A kernel takes an array and the positions of the axes, and gives an array of the same shape. Those that subtract the
largest entry first do not overflow; where every entry is −∞ there is no answer, and that is nan.
"""

from __future__ import annotations

from typing import Any

from .dtypes import Kernel, is_numpy
from .lowering import Make, along
from .record import Operator, register
from .reductions import largest, mean, smallest, total

SECTION = "§3.5 Vectors to vectors"


def _softmax(xp: Any) -> Kernel:
    most, add = largest(xp), total(xp)
    if not is_numpy(xp):

        def softmax(x, at):
            powers = xp.exp(x - most(x, at, True))
            return powers / add(powers, at, True)

        return softmax

    subtract, exp, divide = xp.subtract, xp.exp, xp.divide

    def softmax_in_place(x, at):
        powers = subtract(x, most(x, at, True))
        exp(powers, powers)
        return divide(powers, add(powers, at, True), powers)

    return softmax_in_place


def _logarithm_of_softmax(xp: Any) -> Kernel:
    most, add = largest(xp), total(xp)

    def logsoftmax(x, at):
        shifted = x - most(x, at, True)
        return shifted - xp.log(add(xp.exp(shifted), at, True))

    return logsoftmax


def _standardize(xp: Any) -> Kernel:
    average = mean(xp)
    if not is_numpy(xp):

        def standardize(x, at, eps=1e-5):
            away = x - average(x, at, True)
            return away / xp.sqrt(average(away * away, at, True) + eps)

        return standardize

    def standardize_in_place(x, at, eps=1e-5):
        away = x - average(x, at, True)
        spread = average(away * away, at, True)
        spread += eps
        away /= xp.sqrt(spread)
        return away

    return standardize_in_place


def _where_extreme(extreme: Make) -> Make:
    """One where the extreme stands, shared between those that tie: the limit of softmax."""

    def make(xp: Any) -> Kernel:
        pick, add = extreme(xp), total(xp)

        def onehot(x, at):
            ties = xp.astype(x == pick(x, at, True), x.dtype)
            return ties / add(ties, at, True)

        return onehot

    return make


def _cumulative(standard: str, short: str) -> Make:
    def make(xp: Any) -> Kernel:
        function = getattr(xp, standard, None)
        if is_numpy(xp) or function is None:
            function = getattr(xp, short)
        return lambda x, at: function(x, axis=at)

    return make


def _sort(xp: Any) -> Kernel:
    return lambda x, at: xp.sort(x, axis=at)


def _along(name: str, meaning: str, numpy: str, make: Make, rule: str = "floats", **more: Any) -> Operator:
    signature = more.pop("signature", "ax… -> ax…")
    return register(Operator(name, "along", signature, along(make, rule), meaning, numpy, SECTION, **more))


_along("softmax", "exp x / ∑ exp x", "np.exp(X) / np.exp(X).sum(axis, keepdims=True)", _softmax)
_along(
    "logsoftmax", "the logarithm of softmax", "X - np.log(np.exp(X).sum(axis, keepdims=True))", _logarithm_of_softmax
)
_along("argmax", "one where the largest stands, shared by ties", "M / M.sum(axis, keepdims=True) "
       "where M = X == X.max(axis, keepdims=True)", _where_extreme(largest))  # fmt: skip
_along("argmin", "one where the smallest stands, shared by ties", "M / M.sum(axis, keepdims=True) "
       "where M = X == X.min(axis, keepdims=True)", _where_extreme(smallest))  # fmt: skip
_along(
    "standardize", "(x − mean) / √(var + eps); eps is 1e-5 where it is not given",
    "(X - X.mean(axis, keepdims=True)) / np.sqrt(X.var(axis, keepdims=True) + eps)", _standardize,
    options=(("eps", 1e-5),),
)  # fmt: skip

OF_ONE_AXIS = (
    ("cumsum", "the sums up to each element", "X.cumsum(axis)", _cumulative("cumulative_sum", "cumsum")),
    ("cumprod", "the products up to each element", "X.cumprod(axis)", _cumulative("cumulative_prod", "cumprod")),
    ("sort", "the elements, ascending", "np.sort(X, axis)", _sort),
)
for _name, _meaning, _numpy, _make in OF_ONE_AXIS:
    _along(_name, _meaning, _numpy, _make, "numbers", signature="ax -> ax")
