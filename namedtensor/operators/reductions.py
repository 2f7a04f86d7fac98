"""Define reductions (paper §3.3), which map axes to numbers and are lifted over all other axes.

The function for a reduction receives an array and the axes. It returns an array without the axes. If
`keep` is true, the result has the axes with size 1.
"""

from __future__ import annotations

import math
from typing import Any

from grammar.errors import NotationError

from ..core.arrays import HALF
from ..core.axes import Order
from . import definitions, transposes
from .builder import ArrayValue, Lower, OperatorBuilder, Write
from .record import FINITE, A, Example, Operator, elementwise, get_primitive, lower_over_axes, register

SECTION = "§3.3 Reductions"


def make_reduction(kind: str) -> Write:
    """Return the function that adds a reduction of this kind to a plan."""

    def write(b: OperatorBuilder, x: Any, axes: Order, keep: bool = False) -> ArrayValue:
        return b.reduce(kind, x, axes, keep)

    return write


def count(x: Any, axes: tuple[str, ...]) -> int:
    """Return the number of elements along the axes."""
    return math.prod(map(x.size, axes))


def mean(b: OperatorBuilder, x: Any, axes: Order, keep: bool = False):
    if b.target.name == "torch" or (
        b.target.name in ("numpy", "jax") and x.dtype == "float16"
    ):  # These operators sum in single precision.
        return b.reduce("mean", x, axes, keep)
    return b.divide(b.reduce("sum", x, axes, keep), count(x, axes))


def compute_in_single(write: Write) -> Write:
    """Extend a function so that it computes half-precision arrays in single precision, which is more accurate."""

    def of_halves(b: OperatorBuilder, x: Any, axes: Order, **options: Any):
        if x.dtype not in HALF:
            return write(b, x, axes, **options)
        return b.cast(write(b, b.cast(x, "float32"), axes, **options), x.dtype)

    return of_halves


def _away(b: OperatorBuilder, x: Any, axes: Order):
    return b.subtract(x, mean(b, x, axes, True))


def _variance(b: OperatorBuilder, x: Any, axes: Order, ddof: float = 0):
    away = _away(b, x, axes)
    squares = b.multiply(away, away)
    return b.divide(b.reduce("sum", squares, axes), remaining(x, axes, ddof)) if ddof else mean(b, squares, axes)


def remaining(x: Any, axes: Order, ddof: float) -> Any:
    """Return the number of elements along the axes minus ddof. Raise NotationError if it is not positive."""
    number = count(x, axes)
    if type(number) is int and number <= ddof:
        raise NotationError(
            405, f"the variance is undefined: {number} elements less {ddof}", hint="give a smaller ddof, or more axes"
        )
    return number - ddof


def _deviation(b: OperatorBuilder, x: Any, axes: Order, ddof: float = 0):
    """Compute the norm of the differences from the mean over √(n − ddof), without overflow or underflow of squares."""
    number, norm = remaining(x, axes, ddof), _norm(b, _away(b, x, axes), axes)
    root = math.sqrt(number) if type(number) is int else b.sqrt(b.constant(number, norm.dtype))
    return b.divide(norm, root)


def _norm(b: OperatorBuilder, x: Any, axes: Order, p: float = 2):
    """Compute (∑ |x|^p)^{1/p}, scaled by the largest entry to avoid overflow."""
    if p in (0, -math.inf):
        raise NotationError(405, f"norm is undefined for p = {p}", hint="use p = 1, 2 or ∞")
    size = b.abs(x)
    scale = b.reduce("max", size, axes, True)
    if p == math.inf:
        return drop_unit_axes(b, scale, axes)
    if p > 0:
        scale = b.where(b.logical_and(b.isfinite(scale), b.greater(scale, 0)), scale, 1.0)
        size = divide_by_largest(b, size, scale)
    powers = b.multiply(size, size) if p == 2 else b.power(size, p)
    total = b.reduce("sum", powers, axes)
    root = b.sqrt(total) if p == 2 else b.power(total, 1.0 / p)
    return b.multiply(root, drop_unit_axes(b, scale, axes)) if p > 0 else root


def divide_by_largest(b: OperatorBuilder, x: Any, largest: Any):
    """Divide numbers by the largest number.

    XLA multiplies by 1/largest instead. This factor may be denormal, which XLA treats as zero, or infinite in float16.
    For JAX, both operands are therefore scaled first.
    """
    if b.target.name != "jax":
        return b.divide(x, largest)
    is_large = b.greater(largest, 1)

    def scale(value: Any) -> Any:
        small = b.multiply(value, 1024.0) if value.dtype == "float16" else value
        return b.where(is_large, b.multiply(value, 0.25), small)

    return b.divide(scale(x), scale(largest))


def drop_unit_axes(b: OperatorBuilder, x: Any, axes: Order):
    """Remove these axes, which have size 1, from a value."""
    rest = tuple(axis for axis in x.order if axis not in axes)
    return b.reshape(x, rest, b.extents(x, rest))


def logarithm_of_sum(b: OperatorBuilder, x: Any, axes: Order):
    """Compute log ∑ exp x, shifted by the largest entry to avoid overflow."""
    top = b.reduce("max", x, axes, True)
    top = b.where(b.isfinite(top), top, 0.0)
    return drop_unit_axes(b, b.add(b.log(b.reduce("sum", b.exp(b.subtract(x, top)), axes, True)), top), axes)


def _reduction(name: str, meaning: str, numpy: str, write: Write, rule: str = "numbers", **more: Any) -> Operator:
    lower = lower_over_axes(write, rule)
    return register(Operator(name, "reduction", "ax… ->", lower, meaning, numpy, SECTION, **more))


DDOF = (("ddof", 0),)  # The number to subtract from the number of elements in var and std.
DISTANCE: dict[str, Any] = {**FINITE, "sign": "≥ 0", "analytic": True}
TRUTHS: dict[str, Any] = {"rule": "as they are", "boolean": (True, True), "differentials": ("0",), "of_nothing": True,
                          "example": Example('(A > 2, axis="width")', (A,), ("width",))}  # fmt: skip
_reduction("∑", "the sum", "X.sum(axis)", make_reduction("sum"), aliases=("sum",), ascii="sum", latex=r"\nsum", python="sum",
           differentials=("∑_{ax} ∂X",), definition=sum, complex=True, of_nothing=True,
           transpose=transposes.transpose_total, sign="≥ 0 of ≥ 0", **FINITE)  # fmt: skip
_reduction(
    "∏", "the product", "X.prod(axis)", make_reduction("prod"), aliases=("prod",), ascii="prod", latex=r"\prod", python="prod",
    differentials=("∂X ⊙_{ax} [∏_{ax} { 1 if I_{ax,i} = 1; X otherwise }]_{i→ax}",), complex=True, of_nothing=True,  # for one axis
    definition=math.prod, **FINITE,
)  # fmt: skip
_reduction("mean", "the mean", "X.mean(axis)", mean, "floats", differentials=("mean_{ax} ∂X",), complex=True,
           definition=definitions.mean, transpose=transposes.transpose_mean, sign="≥ 0 of ≥ 0", **FINITE)  # fmt: skip
_reduction("var", "the variance, ∑ (x − mean)² / (n − ddof); ddof defaults to 0",
           "X.var(axis, ddof=ddof)", compute_in_single(_variance), "floats",
           differentials=("2 mean_{ax}((X − mean_{ax} X) ⊙ ∂X)",), heavy=True, options=DDOF, **DISTANCE)  # fmt: skip
_reduction("std", "the standard deviation, the square root of var", "X.std(axis, ddof=ddof)", compute_in_single(_deviation), "floats",
           differentials=("{ 0 if max_{ax} X = min_{ax} X; mean_{ax}((X − mean_{ax} X) ⊙ ∂X) / std_{ax} X otherwise }",), heavy=True,
           definition=definitions.deviation, options=DDOF, **DISTANCE)  # fmt: skip
_reduction(
    "norm", "(∑ |x|^p)^{1/p}, the p-norm; p defaults to 2", "np.linalg.norm(X, p, axis)", _norm, "floats",
    options=(("p", 2),), complex=True, heavy=True, definition=definitions.norm, **DISTANCE, differentials=(
        "{ (sign(X) ⊙ argmax_{ax} abs(X)) ⊙_{ax} ∂X if p = ∞; sign(X) ⊙_{ax} ∂X if p = 1;"
        " { 0 if norm_{ax}(X; p) = 0; (X / norm_{ax}(X; p))^{p − 1} ⊙_{ax} ∂X otherwise } if p even;"
        " { 0 if X = 0; sign(X) ⊙ abs(X / norm_{ax}(X; p))^{p − 1} otherwise } ⊙_{ax} ∂X otherwise }",
    ),  # For even p, it is smooth at zero unless all elements are zero.
)  # fmt: skip
_reduction("logsumexp", "log ∑ exp x", "np.log(np.exp(X).sum(axis))", compute_in_single(logarithm_of_sum), "floats",
           differentials=("softmax_{ax} X ⊙_{ax} ∂X",), heavy=True, warns=True,
           definition=definitions.logsumexp, analytic=True, **FINITE)  # fmt: skip
_reduction("any", "whether any element is true", "X.any(axis)", make_reduction("any"), definition=any, **TRUTHS)
_reduction("all", "whether all elements are true", "X.all(axis)", make_reduction("all"), definition=all, **TRUTHS)


def _reduce_or_combine(over: str, between: str) -> Lower:
    """Return the rule for max or min, which reduces one argument over axes or combines two arguments."""
    of_one, of_two = lower_over_axes(make_reduction(over)), elementwise(get_primitive(between))
    return lambda b, arguments, axes, options: (of_one if axes else of_two)(b, arguments, axes, options)


EXTREMES = (
    ("max", "the largest element, or the larger of two arguments", "max", "maximum", ">", definitions.larger, definitions.largest),
    ("min", "the smallest element, or the smaller of two arguments", "min", "minimum", "<", definitions.smaller, definitions.smallest),
)  # fmt: skip
for _name, _meaning, _over, _between, _sign, _folded, _definition in EXTREMES:
    register(
        Operator(
            _name, "reduction", "ax… ->", _reduce_or_combine(_over, _between), _meaning,
            f"X.{_name}(axis), np.{_between}(X, Y)", SECTION, arity=(1, 2), folded=_folded, definition=_definition,
            sign="≥ 0 of ≥ 0, > 0 of one > 0" if _name == "max" else "≥ 0 of ≥ 0", finite="of finite",
            differentials=(f"arg{_name}_{{ax}} X ⊙_{{ax}} ∂X", f"{{ 1 if X {_sign} Y; 1/2 if X = Y; 0 otherwise }} ⊙ ∂X",
                           f"{{ 1 if Y {_sign} X; 1/2 if X = Y; 0 otherwise }} ⊙ ∂Y"),
        )
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ quantiles
def _quantile(b: OperatorBuilder, x: Any, axes: Order, q: float = 0.5):
    """Compute the q-quantile by interpolation between two sorted elements. Return nan if any element is nan."""
    (axis,) = axes
    if not 0 <= q <= 1:
        raise NotationError(405, f"q must be between 0 and 1, got {q}", hint="the median has q = 0.5")
    size = q * (x.size(axis) - 1)
    below, part = math.floor(size), size - math.floor(size)
    ascending = b.along("sort", x, axis)
    low, last = b.pick(ascending, {axis: below}), b.pick(ascending, {axis: x.size(axis) - 1})
    value = low
    if part:
        high = b.pick(ascending, {axis: below + 1})
        between = b.add(b.multiply(low, 1 - part), b.multiply(high, part))
        value = b.where(b.equal(low, high), low, between)
    return b.where(b.equal(last, last), value, last)


WEIGHTS = "[max(0, 1 − abs(iota_{ax} − 1 − q ⊙ (|ax| − 1)))]_{ax→rank}"  # The weights of the sorted elements.
QUANTILE = f"[argmaxk_{{ax,rank}}(−X) ⊙_{{ax}} ∂X] ⊙_{{rank}} {WEIGHTS}".replace("[argmaxk", "(argmaxk").replace(
    "∂X]", "∂X)"
)
register(
    Operator(
        "quantile", "reduction", "ax ->", lower_over_axes(_quantile, "floats"),
        "the q-quantile, interpolated linearly between two elements; q defaults to 0.5",
        "np.quantile(X, q, axis)", SECTION, options=(("q", 0.5),), differentials=(QUANTILE,), definition=definitions.quantile, sign="≥ 0 of ≥ 0", **FINITE, heavy=True,
    )
)  # fmt: skip
register(
    Operator(
        "median", "reduction", "ax ->", lower_over_axes(_quantile, "floats"), "the middle element, or the mean of the middle two",
        "np.median(X, axis)", SECTION, sign="≥ 0 of ≥ 0", **FINITE, heavy=True,
    )
)  # fmt: skip


# ------------------------------------------------------------------------------------------------------- missing values
# nan means a missing value. These operators skip missing values, like NumPy's functions with these names. If all values
# are missing, the sum is 0, and an operator without a value returns nan.
def isnan(b: OperatorBuilder, x: Any):
    return b.not_equal(x, x)


def present(b: OperatorBuilder, x: Any, otherwise: Any) -> Any:
    """Replace missing numbers with `otherwise`."""
    return b.where(b.equal(x, x), x, otherwise)


def present_count(b: OperatorBuilder, x: Any, axes: Order, keep: bool = False) -> Any:
    """Return the number of elements that are not missing, in the dtype of the elements."""
    return b.reduce("sum", b.cast(b.equal(x, x), x.dtype), axes, keep)


def nansum(b: OperatorBuilder, x: Any, axes: Order):
    return b.reduce("sum", present(b, x, 0), axes)


def nanmean(b: OperatorBuilder, x: Any, axes: Order, keep: bool = False):
    return b.divide(b.reduce("sum", present(b, x, 0), axes, keep), present_count(b, x, axes, keep))


def nanvar(b: OperatorBuilder, x: Any, axes: Order, ddof: float = 0):
    away = b.where(b.equal(x, x), b.subtract(x, nanmean(b, x, axes, True)), 0)  # The difference from ∞ may also be nan.
    number = b.subtract(present_count(b, x, axes), ddof)
    return b.divide(b.reduce("sum", b.multiply(away, away), axes), b.where(b.greater(number, 0), number, math.nan))


def nanstd(b: OperatorBuilder, x: Any, axes: Order, ddof: float = 0):
    return b.sqrt(nanvar(b, x, axes, ddof))


def nanmax(b: OperatorBuilder, x: Any, axes: Order):
    return present_extreme(b, x, axes, "max", -math.inf)


def nanmin(b: OperatorBuilder, x: Any, axes: Order):
    return present_extreme(b, x, axes, "min", math.inf)


def present_extreme(b: OperatorBuilder, x: Any, axes: Order, kind: str, otherwise: float):
    if b.kind(x) != "f":  # Integers are never missing.
        return b.reduce(kind, x, axes)
    extreme = b.reduce(kind, present(b, x, otherwise), axes, True)
    return drop_unit_axes(b, b.where(b.greater(present_count(b, x, axes, True), 0), extreme, math.nan), axes)


CHANGE = "where(isnan(X), 0, ∂X)"
COUNT = "∑_{ax} 𝕀[X = X]"  # The number of elements that are not missing.
SQUARES = f"∑_{{ax}}(where(isnan(X), 0, X − nanmean_{{ax}} X) ⊙ {CHANGE})"  # Half of the differential of their squares.
WITH_DDOF: dict[str, Any] = {"options": DDOF, "sign": "≥ 0"}
MISSING: tuple[tuple[Any, ...], ...] = (
    ("nansum", "the sum of the elements that are not NaN", nansum, "numbers", (), {"of_nothing": True}),
    ("nanmean", "the mean of the elements that are not NaN", nanmean, "floats", (), {}),
    ("nanmax", "the largest element that is not NaN", nanmax, "numbers",
     (f"argmax_{{ax}} where(isnan(X), −∞, X) ⊙_{{ax}} {CHANGE}",), {}),
    ("nanmin", "the smallest element that is not NaN", nanmin, "numbers",
     (f"argmin_{{ax}} where(isnan(X), ∞, X) ⊙_{{ax}} {CHANGE}",), {}),
    ("nanvar", "the variance of the elements that are not NaN; ddof defaults to 0",
     compute_in_single(nanvar), "floats", (f"2 {SQUARES} / ({COUNT} − ddof)",), WITH_DDOF),
    ("nanstd", "the square root of nanvar", compute_in_single(nanstd), "floats",
     (f"{{ 0 if nanmax_{{ax}} X = nanmin_{{ax}} X; {SQUARES} / (({COUNT} − ddof) ⊙ nanstd_{{ax}}(X; ddof)) otherwise }}",), WITH_DDOF),
)  # fmt: skip
for _name, _meaning, _write, _rule, _differentials, _more in MISSING:
    _reduction(
        _name, _meaning, f"np.{_name}(X, axis)", _write, _rule, differentials=_differentials, warns=True, **_more
    )
ELEMENTWISE: dict[str, Any] = {"kind": "elementwise", "section": "§3.2 Elementwise operations and broadcasting"}
register(
    Operator(
        "isnan", signature="->", lower=elementwise(isnan), meaning="whether an element is NaN", numpy="np.isnan(X)",
        boolean=(False, True), differentials=("0",), definition=definitions.is_nan, complex=True, **ELEMENTWISE,
    )
)  # fmt: skip
register(
    Operator(
        "fillna", signature=", ->", lower=elementwise(present), meaning="fillna(X, Y) is X, with Y in place of NaN",
        numpy="np.where(np.isnan(X), Y, X)", arity=(2, 2), finite="of finite", **ELEMENTWISE,
    )
)  # fmt: skip
