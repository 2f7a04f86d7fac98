"""Reductions (paper §3.3): functions from axes to numbers, mapped over all other axes.

A kernel takes an array and the positions of the axes, and gives an array without them.
"""

from __future__ import annotations

import math
from typing import Any

from grammar.errors import NotationError

from .dtypes import Kernel, is_numpy
from .elementwise import named
from .lowering import Make, Places, elementwise, reduction
from .record import Lower, Operator, register

SECTION = "§3.3 Reductions"


def folded(ufunc: str, otherwise: str) -> Make:
    """A reduction by a NumPy ufunc, called without detours; elsewhere by the namespace's function."""

    def make(xp: Any) -> Kernel:
        if is_numpy(xp):
            reduce = getattr(xp, ufunc).reduce
            return lambda x, at, keep=False: reduce(x, at, None, None, keep)
        function = getattr(xp, otherwise)
        return lambda x, at, keep=False: function(x, axis=at, keepdims=keep)

    return make


total = folded("add", "sum")
product = folded("multiply", "prod")
largest = folded("maximum", "max")
smallest = folded("minimum", "min")


def count(x: Any, at: Places) -> int:
    """How many numbers are reduced to one."""
    if isinstance(at, int):
        return x.shape[at]
    return math.prod(x.shape if at is None else [x.shape[place] for place in at])


def mean(xp: Any) -> Kernel:
    add = total(xp)

    def mean(x, at, keep=False):
        if is_numpy(xp) and x.dtype.char == "e":  # NumPy sums half precision in single
            return x.mean(at, keepdims=keep)
        return add(x, at, keep) / count(x, at)

    return mean


def _variance(xp: Any) -> Kernel:
    average = mean(xp)

    def variance(x, at):
        away = x - average(x, at, True)
        if is_numpy(xp):
            xp.multiply(away, away, away)
            return average(away, at)
        return average(away * away, at)

    return variance


def _deviation(xp: Any) -> Kernel:
    variance = _variance(xp)
    return lambda x, at: xp.sqrt(variance(x, at))


def _norm(xp: Any) -> Kernel:
    """(∑ |x|^p)^{1/p}, each x first divided by the largest, so that no power overflows."""
    most, add = largest(xp), total(xp)

    def norm(x, at, p=2):
        if p in (0, -math.inf):
            raise NotationError(405, f"norm has no value for p = {p}", hint="give another p: 1, 2, ∞")
        size = xp.abs(x)
        scale = most(size, at, True)
        if p == math.inf:
            return xp.reshape(scale, _without(x.shape, at))
        fine = xp.isfinite(scale) & (scale > 0)
        scale = xp.where(fine, scale, xp.ones_like(scale)) if p > 0 else xp.ones_like(scale)
        size = size / scale
        powers = size * size if p == 2 else size**p
        root = xp.sqrt(add(powers, at)) if p == 2 else add(powers, at) ** (1.0 / p)
        return root * xp.reshape(scale, root.shape)

    return norm


def _without(shape: tuple[int, ...], at: Places) -> tuple[int, ...]:
    places = (at,) if isinstance(at, int) else range(len(shape)) if at is None else at
    return tuple(size for place, size in enumerate(shape) if place not in places)


def logarithm_of_sum(xp: Any) -> Kernel:
    """log ∑ exp x, the largest x taken out so that nothing overflows."""
    most, add = largest(xp), total(xp)

    def logsumexp(x, at, keep=False):
        top = most(x, at, True)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        found = xp.log(add(xp.exp(x - top), at, True)) + top
        return found if keep else xp.reshape(found, _without(x.shape, at))

    return logsumexp


def _reduction(name: str, meaning: str, numpy: str, make: Make, rule: str = "numbers", **more: Any) -> Operator:
    lower = reduction(make, rule)
    return register(Operator(name, "reduction", "ax… ->", lower, meaning, numpy, SECTION, **more))


TRUTHS: dict[str, Any] = {"rule": "as they are", "boolean": (True, True)}
_reduction("∑", "the sum", "X.sum(axis)", total, aliases=("sum",), ascii="sum", latex=r"\nsum", python="sum")
_reduction("∏", "the product", "X.prod(axis)", product, aliases=("prod",), ascii="prod", latex=r"\prod", python="prod")
_reduction("mean", "the mean", "X.mean(axis)", mean, "floats")
_reduction("var", "the mean square of the distances from the mean", "X.var(axis)", _variance, "floats")
_reduction("std", "the root of the variance", "X.std(axis)", _deviation, "floats")
_reduction(
    "norm", "(∑ |x|^p)^{1/p}, the p-norm; p is 2 where it is not given", "np.linalg.norm(X, p, axis)", _norm, "floats",
    options=(("p", 2),),
)  # fmt: skip
_reduction("logsumexp", "log ∑ exp x", "np.log(np.exp(X).sum(axis))", logarithm_of_sum, "floats")
_reduction("any", "whether one holds", "X.any(axis)", folded("logical_or", "any"), **TRUTHS)
_reduction("all", "whether all hold", "X.all(axis)", folded("logical_and", "all"), **TRUTHS)


def _over_or_between(over: Make, between: str) -> Lower:
    """max and min: over axes of one argument, or between two arguments."""
    of_one, of_two = reduction(over), elementwise(named(between))
    return lambda xp, orders, axes, options: (of_one if axes else of_two)(xp, orders, axes, options)


EXTREMES = (
    ("max", "the largest over axes, or the larger of two arguments", largest, "maximum"),
    ("min", "the smallest over axes, or the smaller of two arguments", smallest, "minimum"),
)
for _name, _meaning, _over, _between in EXTREMES:
    register(
        Operator(
            _name, "reduction", "ax… ->", _over_or_between(_over, _between), _meaning,
            f"X.{_name}(axis), np.{_between}(X, Y)", SECTION, arity=(1, 2),
        )
    )  # fmt: skip
