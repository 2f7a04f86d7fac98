"""Functions along axes (paper §3.5): from axes to the same axes, mapped over all others.

Those that subtract the largest entry first do not overflow; where every entry is −∞ there is no answer, and that is nan.
"""

from __future__ import annotations

import math
from typing import Any

from .lowering import Write, of_axes
from .record import Operator, register
from .reductions import in_single, mean

SECTION = "§3.5 Vectors to vectors"


def softmax(w, x, axes):
    def write():
        powers, total = w.exponentials(x, axes, True)
        return w.divide(powers, total)

    return of_one_axis(w, "softmax", x, axes, write)


def of_one_axis(w, name, x, axes, write):
    """The target's own operation, where it has one and there is one axis; else what `write` writes."""
    return w.composite(name, (x,), write, at=x.order.index(axes[0])) if len(axes) == 1 else write()


def _logarithm_of_softmax(w, x, axes):
    def write():
        shifted = w.subtract(x, w.reduce("max", x, axes, True))
        return w.subtract(shifted, w.log(w.reduce("sum", w.exp(shifted), axes, True)))

    return of_one_axis(w, "logsoftmax", x, axes, write)


@in_single
def _standardized(w, x, axes, eps):
    away = w.subtract(x, mean(w, x, axes, True))
    if _least(eps) < 1 or not w.has_two_forms(away):
        return _scaled(w, away, axes, eps)
    squares = mean(w, w.multiply(away, away), axes, True)
    w.finite(squares)
    return w.either(w.divide(away, w.sqrt(w.add(squares, eps))), _scaled(w, away, axes, eps))


def _least(eps):
    """The distance from which on squares beside eps may overflow or vanish."""
    return math.sqrt(eps) if isinstance(eps, (int, float)) and 0 <= eps < 1e-20 else 1


def _scaled(w, away, axes, eps):
    """Distances from the mean over their root mean square, the largest taken out where its square might pass all floats."""
    largest = w.reduce("max", w.abs(away), axes, True)
    scale = w.where(w.logical_and(w.isfinite(largest), w.greater(largest, _least(eps))), largest, 1.0)
    small = w.divide(away, scale)
    spread = w.add(mean(w, w.multiply(small, small), axes, True), w.divide(w.divide(eps, scale), scale))
    return w.divide(small, w.sqrt(spread))


def standardize(w, x, axes, eps=1e-5):
    def write():
        return _standardized(w, x, axes, eps=eps)

    if set(x.order[len(x.order) - len(axes) :]) == set(axes):
        return w.composite("layer_norm", (x,), write, sizes=x.shape[len(x.order) - len(axes) :], eps=eps)
    return write()


def _where_extreme(extreme: str) -> Write:
    """One where the extreme stands, shared between those that tie: the limit of softmax."""

    def write(w, x, axes):
        ties = w.cast(w.equal(x, w.reduce(extreme, x, axes, True)), x.dtype)
        return w.divide(ties, w.reduce("sum", ties, axes, True))

    return write


def _of_one(primitive: str) -> Write:
    return lambda w, x, axes: w.along(primitive, x, axes[0])


def _along(name: str, meaning: str, numpy: str, write: Write, rule: str = "floats", **more: Any) -> Operator:
    signature = more.pop("signature", "ax… -> ax…")
    return register(Operator(name, "along", signature, of_axes(write, rule), meaning, numpy, SECTION, **more))


_along("softmax", "exp x / ∑ exp x", "np.exp(X) / np.exp(X).sum(axis, keepdims=True)", softmax,
       differentials=("softmax_{ax} X ⊙ (∂X − softmax_{ax} X ⊙_{ax} ∂X)",))  # fmt: skip
_along(
    "logsoftmax", "the logarithm of softmax", "X - np.log(np.exp(X).sum(axis, keepdims=True))", _logarithm_of_softmax,
    differentials=("∂X − softmax_{ax} X ⊙_{ax} ∂X",),
)  # fmt: skip
_along("argmax", "one where the largest stands, shared by ties", "M / M.sum(axis, keepdims=True) "
       "where M = X == X.max(axis, keepdims=True)", _where_extreme("max"), differentials=("0",))  # fmt: skip
_along("argmin", "one where the smallest stands, shared by ties", "M / M.sum(axis, keepdims=True) "
       "where M = X == X.min(axis, keepdims=True)", _where_extreme("min"), differentials=("0",))  # fmt: skip
_along(
    "standardize", "(x − mean) / √(var + eps); eps is 1e-5 where it is not given",
    "(X - X.mean(axis, keepdims=True)) / np.sqrt(X.var(axis, keepdims=True) + eps)", standardize,
    options=(("eps", 1e-5),),
    differentials=("(∂X − mean_{ax} ∂X − standardize_{ax}(X; eps) ⊙ mean_{ax}(standardize_{ax}(X; eps) ⊙ ∂X)) "
                   "/ √(var_{ax} X + eps)",),
)  # fmt: skip

OF_ONE_AXIS = (
    ("cumsum", "the sums up to each element", "X.cumsum(axis)", _of_one("cumsum"), ("cumsum_{ax} ∂X",), True),
    (
        "cumprod",
        "the products up to each element",
        "X.cumprod(axis)",
        _of_one("cumprod"),
        ("{ cumprod_{ax} { 1 if I_{ax,i} = 1; X otherwise } if iota_{i} ≤ iota_{ax}; 0 otherwise } ⊙_{i} [∂X]_{ax→i}",),
        True,
    ),
    (
        "sort",
        "the elements, ascending",
        "np.sort(X, axis)",
        _of_one("sort"),
        ("[argmaxk_{ax,rank}(−X) ⊙_{ax} ∂X]_{rank→ax}",),
        False,
    ),
)
for _name, _meaning, _numpy, _make, _differentials, _complex in OF_ONE_AXIS:
    _along(_name, _meaning, _numpy, _make, "numbers", signature="ax -> ax", differentials=_differentials,
           complex=_complex)  # fmt: skip
