"""Reductions (paper §3.3): functions from the elements along axes to a number, lifted over all other axes."""

from __future__ import annotations

import math

from .lowering import floating, is_numpy, reduction
from .record import Operator, register

SECTION = "§3.3 Reductions"


def _sum(xp):
    if is_numpy(xp):
        add = xp.add.reduce
        return lambda x, axis: add(x, axis)
    return lambda x, axis: xp.sum(x, axis=axis)


def _product(xp):
    if is_numpy(xp):
        return lambda x, axis: xp.multiply.reduce(x, axis)

    def product(x, axis):
        for position in sorted(axis, reverse=True):
            x = xp.prod(x, axis=position)
        return x

    return product


def _mean(xp):
    total = _sum(xp)

    def mean(x, axis):
        return total(floating(xp, x), axis) / math.prod(x.shape[position] for position in axis)

    return mean


def _variance(xp):
    def variance(x, axis):
        x = floating(xp, x)
        count = math.prod(x.shape[position] for position in axis)
        centred = x - xp.sum(x, axis=axis, keepdims=True) / count
        return xp.sum(centred * centred, axis=axis) / count

    return variance


def _deviation(xp):
    variance = _variance(xp)
    return lambda x, axis: xp.sqrt(variance(x, axis))


def _norm(xp):
    """Scaled by the largest element, so that squares neither overflow nor vanish."""

    def norm(x, axis, p=2):
        size = xp.abs(floating(xp, x))
        if p == math.inf:
            return xp.max(size, axis=axis)
        if p == 1:
            return xp.sum(size, axis=axis)
        largest = xp.max(size, axis=axis, keepdims=True)
        usable = xp.isfinite(largest) & (largest > 0)
        scale = xp.where(usable, largest, xp.ones_like(largest))
        scaled = size / scale
        total = xp.sum(scaled * scaled if p == 2 else scaled**p, axis=axis, keepdims=True)
        root = xp.sqrt(total) if p == 2 else total ** (1.0 / p)
        return squeezed(xp, scale * root, axis)

    return norm


def squeezed(xp, array, axis):
    return xp.squeeze(array, axis=tuple(axis))


def finite_maximum(xp, x, axis):
    """The largest element along axes, kept as axes of size 1; 0 where that is infinite, so that x − m is no nan."""
    largest = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))


def _logsumexp(xp):
    def logsumexp(x, axis):
        x = floating(xp, x)
        largest = finite_maximum(xp, x, axis)
        return squeezed(xp, xp.log(xp.sum(xp.exp(x - largest), axis=axis, keepdims=True)) + largest, axis)

    return logsumexp


def _truth(name):
    return lambda xp: lambda x, axis: getattr(xp, name)(x, axis=axis)


def _reduce(name, meaning, numpy, make, aliases=(), latex="", ascii="", options=(), boolean=(False, False), python=""):
    register(
        Operator(
            name, "reduction", "ax… ->", reduction(make), meaning, numpy, SECTION, aliases, ascii, latex, options=options,
            boolean=boolean, python=python,
        )
    )  # fmt: skip


_reduce("∑", "the sum over axes", "np.sum(X, axis)", _sum, ("sum",), r"\sum", "sum", python="sum")
_reduce("∏", "the product over axes", "np.prod(X, axis)", _product, ("prod",), r"\prod", "prod", python="prod")
_reduce("mean", "the mean over axes", "np.mean(X, axis)", _mean)
_reduce("var", "the variance over axes; divides by |ax|", "np.var(X, axis)", _variance)
_reduce("std", "the root of the variance", "np.std(X, axis)", _deviation)
_reduce(
    "norm", "the p-norm over axes; p is 2 where not given", "np.linalg.norm(X, p, axis)", _norm, options=(("p", 2),)
)
_reduce("logsumexp", "log ∑ exp, without overflow", "scipy.special.logsumexp(X, axis)", _logsumexp)
_reduce("any", "whether any element is true", "np.any(X, axis)", _truth("any"), boolean=(True, True))
_reduce("all", "whether all elements are true", "np.all(X, axis)", _truth("all"), boolean=(True, True))
