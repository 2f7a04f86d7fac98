"""Define functions along axes (paper §3.5). They map axes to the same axes and are lifted over all other axes.

Softmax and logsoftmax first subtract the maximum, so they do not overflow. If every element is −∞, they return NaN.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from ..core.axes import Order
from . import definitions, transposes
from .builder import OfAxes, OperatorBuilder, Write
from .record import FINITE, Operator, countable, lower_over_axes, register
from .reductions import compute_in_single, divide_by_largest, mean

SECTION = "§3.5 Vectors to vectors"


def softmax(b: OperatorBuilder, x: Any, axes: Order):
    return use_native_operation(b, "softmax", x, axes, lambda: _softmax(b, x, axes))


@compute_in_single
def _softmax(b: OperatorBuilder, x: Any, axes: Order):
    return b.divide(*b.exponentials(x, axes, True))


def use_native_operation(b: OperatorBuilder, name: str, x: Any, axes: Order, write: Callable[[], Any]):
    """Call the target's native operation if it exists and there is only one axis. Otherwise, call `write`."""
    return b.native_or(name, (x,), write, at=x.order.index(axes[0])) if len(axes) == 1 else write()


def logsoftmax(b: OperatorBuilder, x: Any, axes: Order):
    return use_native_operation(b, "logsoftmax", x, axes, lambda: _logsoftmax(b, x, axes))


@compute_in_single
def _logsoftmax(b: OperatorBuilder, x: Any, axes: Order):
    shifted = b.subtract(x, b.reduce("max", x, axes, True))
    return b.subtract(shifted, b.log(b.reduce("sum", b.exp(shifted), axes, True)))


@compute_in_single
def _standardize(b: OperatorBuilder, x: Any, axes: Order, eps: Any):
    away = b.subtract(x, mean(b, x, axes, True))
    if _least(eps) == 1 and isinstance(eps, float) and b.has_fast_path(away):
        return b.divide_by_root_mean_square(away, axes, eps)
    return _scale_distances(b, away, axes, eps)


def _least(eps: Any):
    """Return the threshold, based on eps, above which distances are scaled before they are squared."""
    return math.sqrt(eps) if isinstance(eps, (int, float)) and 0 <= eps < 1e-20 else 1


def _scale_distances(b: OperatorBuilder, away: Any, axes: Order, eps: Any):
    """Divide distances from the mean by √(mean square + eps). Scale them first to avoid overflow."""
    largest = b.reduce("max", b.abs(away), axes, True)
    scale = b.where(b.logical_and(b.isfinite(largest), b.greater(largest, _least(eps))), largest, 1.0)
    small = divide_by_largest(b, away, scale)
    spread = b.add(mean(b, b.multiply(small, small), axes, True), b.divide(b.divide(eps, scale), scale))
    return b.divide(small, b.sqrt(spread))


def standardize(b: OperatorBuilder, x: Any, axes: Order, eps: float = 1e-5):
    def write():
        return _standardize(b, x, axes, eps=eps)

    if set(x.order[len(x.order) - len(axes) :]) == set(axes):
        return b.native_or("layer_norm", (x,), write, sizes=x.shape[len(x.order) - len(axes) :], eps=eps)
    return write()


def _where_extreme(extreme: str) -> Write:
    """Return a function that computes 1 at the extreme element and 0 elsewhere. Ties share the 1 equally."""

    def write(b: OperatorBuilder, x: Any, axes: Order):
        ties = b.cast(b.equal(x, b.reduce(extreme, x, axes, True)), x.dtype)
        return b.divide(ties, b.reduce("sum", ties, axes, True))

    return write


def _lower_one_axis(primitive: str) -> OfAxes:
    return lambda b, x, axes: b.along(primitive, x, axes[0])


def _define_along(name: str, meaning: str, numpy: str, write: Write, rule: str = "floats", **more: Any) -> Operator:
    signature = more.pop("signature", "ax… -> ax…")
    return register(
        Operator(name, "axis_map", signature, lower_over_axes(write, rule), meaning, numpy, SECTION, **more)
    )


def _up_to(join: Callable[[Any, Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda numbers: [*itertools.accumulate(numbers, join)]


_define_along("softmax", "exp x / ∑ exp x", "np.exp(X) / np.exp(X).sum(axis, keepdims=True)", softmax,
       differentials=("softmax_{ax} X ⊙ (∂X − softmax_{ax} X ⊙_{ax} ∂X)",), heavy=True, warns=True,
       definition=definitions.softmax, sign="≥ 0", analytic=True, finite="X of finite or −∞", total=1)  # fmt: skip
_define_along(
    "logsoftmax", "the logarithm of softmax", "X - np.log(np.exp(X).sum(axis, keepdims=True))", logsoftmax,
    differentials=("∂X − softmax_{ax} X ⊙_{ax} ∂X",), heavy=True, warns=True, definition=definitions.logsoftmax, analytic=True, **FINITE,
)  # fmt: skip
_define_along("argmax", "1 at the largest element, 0 elsewhere; ties share the 1", "M / M.sum(axis, keepdims=True) "
       "where M = X == X.max(axis, keepdims=True)", _where_extreme("max"), differentials=("0",), warns=True, sign="≥ 0", total=1, picks=True, **FINITE)  # fmt: skip
_define_along("argmin", "1 at the smallest element, 0 elsewhere; ties share the 1", "M / M.sum(axis, keepdims=True) "
       "where M = X == X.min(axis, keepdims=True)", _where_extreme("min"), differentials=("0",), warns=True, sign="≥ 0", total=1, picks=True, **FINITE)  # fmt: skip
_define_along(
    "standardize", "(x − mean) / √(var + eps); eps defaults to 1e-5",
    "(X - X.mean(axis, keepdims=True)) / np.sqrt(X.var(axis, keepdims=True) + eps)", standardize,
    options=(("eps", 1e-5),), heavy=True, warns=True, definition=definitions.standardize, analytic=True, total=0, **FINITE,
    differentials=("(∂X − mean_{ax} ∂X − standardize_{ax}(X; eps) ⊙ mean_{ax}(standardize_{ax}(X; eps) ⊙ ∂X)) "
                   "/ √(var_{ax} X + eps)",),
)  # fmt: skip

ONE_BY_ONE = (
    "{ cumprod_{ax} { 1 if I_{ax,i} = 1; X otherwise } if iota_{i} ≤ iota_{ax}; 0 otherwise } ⊙_{i} [∂X]_{ax→i}"
)
OF_ONE_AXIS = (
    ("cumsum", "the cumulative sum", "X.cumsum(axis)", "cumsum_{ax} ∂X", _up_to(operator.add),
     {"transpose": transposes.transpose_running_sum, "sign": "≥ 0 of ≥ 0", "complex": True}),
    ("cumprod", "the cumulative product", "X.cumprod(axis)", ONE_BY_ONE, _up_to(operator.mul),
     {"sign": "≥ 0 of ≥ 0", "complex": True}),
    ("sort", "the elements in ascending order", "np.sort(X, axis)", "[argmaxk_{ax,rank}(−X) ⊙_{ax} ∂X]_{rank→ax}", definitions.ascending,
     {"sign": "of operands", "moves": True}),
)  # fmt: skip
for _name, _meaning, _numpy, _differential, _definition, _more in OF_ONE_AXIS:
    _define_along(_name, _meaning, _numpy, _lower_one_axis(_name), "numbers", signature="ax -> ax", differentials=(_differential,),
           definition=_definition, of_nothing=True, **FINITE, **_more)  # fmt: skip


def _running(primitive: str) -> OfAxes:
    """Return a function that computes a cumulative maximum or minimum.

    The number of combined elements doubles in each step: 1, 2, 4, …
    """

    def write(b: OperatorBuilder, x: Any, axes: Order):
        (axis,) = axes
        value, size, step = b.reorder(x, (*(name for name in x.order if name != axis), axis)), x.size(axis), 1
        while step < size:
            more = b.elementwise(primitive, b.part(value, step, size - step), b.part(value, 0, size - step))
            value, step = b.concat((b.part(value, 0, step), more), axis), 2 * step
        return value

    return write


for _name, _meaning, _primitive, _best, _where, _never in (
    ("cummax", "the cumulative maximum", "maximum", definitions.largest, "argmax", "−∞"),
    ("cummin", "the cumulative minimum", "minimum", definitions.smallest, "argmin", "∞"),
):
    _define_along(
        _name, _meaning, f"np.{_primitive}.accumulate(X, axis)", _running(_primitive), "numbers", signature="ax -> ax",
        definition=_up_to(lambda x, y, best=_best: best([x, y])), of_nothing=True, sign="of operands", **FINITE,
        differentials=(f"[{_where}_{{ax}} {{ X if iota_{{ax}} ≤ iota_{{i}}; {_never} otherwise }} ⊙_{{ax}} ∂X]_{{i→ax}}",),
    )  # fmt: skip


NAN_FIRST = (("nan_first", True),)  # argmin_i and argmax_i are an argsort in which nan is the smallest.


def _argsort(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    """Compute a stable argsort: the positions of the elements in ascending order.

    NaN comes last, or first if the option `nan_first` is true. Positions start at the option `base`, which is 1 by
    default.
    """
    x = countable(b, move_last(b, arguments, axes[0]))
    dtype = b.target.default_whole
    nan_first = options.get("nan_first", False)
    primitive, keys = ("descending", b.negative(x)) if nan_first else ("ascending", x)
    places = b.step(primitive, (keys,), x.order, x.shape, dtype)
    return b.add(places, options.get("base", 1))


def move_last(b: OperatorBuilder, arguments: tuple[Any, ...], axis: str) -> Any:
    """Convert the operand to numbers, and move `axis` to the end."""
    (x,) = b.coerced(arguments, "numbers")
    return b.reorder(x, (*(name for name in x.order if name != axis), axis))


def place_of_largest(b: OperatorBuilder, arguments: tuple[Any, ...], axis: str, nan_first: bool) -> Any:
    """Return the 1-based position of the largest element along an axis.

    Among equal elements, the first one counts. A NaN is the largest element if `nan_first` is true, and the smallest
    element otherwise.
    """
    x = move_last(b, arguments, axis)
    if b.kind(x) == "f" and not nan_first:
        x = b.where(b.equal(x, x), x, -math.inf)
    return b.add(b.step("argmax", (x,), x.order[:-1], x.shape[:-1], b.target.default_whole), 1)


register(
    Operator(
        "argsort", "axis_map", "ax -> ax", _argsort, "the indices, from 1, that sort the axis",
        "np.argsort(X, axis, kind='stable')", SECTION, differentials=("0",), counts_from_zero=True, definition=definitions.places_ascending,
        of_nothing=True, moves=True,
    )
)  # fmt: skip
