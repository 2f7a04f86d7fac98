"""Vectors to vectors (paper §3.5): functions that work along axes and keep them."""

from __future__ import annotations

import math

from .lowering import along, floating, is_numpy
from .record import Operator, register
from .reductions import finite_maximum

SECTION = "§3.5 Vectors to vectors"


def _softmax(xp):
    if is_numpy(xp):
        maximum, add = xp.maximum.reduce, xp.add.reduce

        def softmax_numpy(x, axis):
            scores = xp.exp(floating(xp, x) - maximum(x, axis, None, None, True))
            scores /= add(scores, axis, None, None, True)
            return scores

        return softmax_numpy

    def softmax(x, axis):
        x = floating(xp, x)
        scores = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
        return scores / xp.sum(scores, axis=axis, keepdims=True)

    return softmax


def _logsoftmax(xp):
    def logsoftmax(x, axis):
        x = floating(xp, x)
        shifted = x - finite_maximum(xp, x, axis)
        return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))

    return logsoftmax


def _one_hot_of(extreme):
    """One at the extreme element; where several are, each has its share: the limit of softmax."""

    def make(xp):
        reduce = getattr(xp, extreme)

        def one_hot(x, axis):
            floats = floating(xp, x)
            hit = xp.astype(x == reduce(x, axis=axis, keepdims=True), floats.dtype)
            return hit / xp.sum(hit, axis=axis, keepdims=True)

        return one_hot

    return make


def _standardize(xp):
    def standardize(x, axis, eps=1e-5):
        x = floating(xp, x)
        count = math.prod(x.shape[position] for position in axis)
        centred = x - xp.sum(x, axis=axis, keepdims=True) / count
        variance = xp.sum(centred * centred, axis=axis, keepdims=True) / count
        return centred / xp.sqrt(variance + eps)

    return standardize


def _cumulative(numpy_name, name):
    def make(xp):
        if is_numpy(xp):
            accumulate = getattr(xp, numpy_name).accumulate
            return lambda x, axis: accumulate(x, axis[0])
        return lambda x, axis: getattr(xp, name)(x, axis=axis[0])

    return make


def _sort(xp):
    return lambda x, axis: xp.sort(x, axis=axis[0])


def _along(name, signature, meaning, numpy, make, options=()):
    register(Operator(name, "along", signature, along(make), meaning, numpy, SECTION, options=options))


SEVERAL, ONE = "ax… -> ax…", "ax -> ax"
_along("softmax", SEVERAL, "exp X / ∑ exp X, without overflow", "scipy.special.softmax(X, axis)", _softmax)
_along("logsoftmax", SEVERAL, "the logarithm of softmax", "scipy.special.log_softmax(X, axis)", _logsoftmax)
_along("argmax", SEVERAL, "one at the largest element, ties shared", "X == X.max(axis, keepdims=True)", _one_hot_of("max"))
_along("argmin", SEVERAL, "one at the smallest element, ties shared", "X == X.min(axis, keepdims=True)", _one_hot_of("min"))
_along(
    "standardize", SEVERAL, "(X − mean X) / √(var X + ε); ε is 1e-5 where not given",
    "(X - X.mean(axis, keepdims=True)) / np.sqrt(X.var(axis, keepdims=True) + 1e-5)", _standardize, (("eps", 1e-5),),
)  # fmt: skip
_along("cumsum", ONE, "the sums of the elements so far", "np.cumsum(X, axis)", _cumulative("add", "cumulative_sum"))
_along("cumprod", ONE, "the products of the elements so far", "np.cumprod(X, axis)", _cumulative("multiply", "cumulative_prod"))
_along("sort", ONE, "the elements in ascending order", "np.sort(X, axis)", _sort)
