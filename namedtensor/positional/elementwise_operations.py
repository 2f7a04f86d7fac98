"""Elementwise operations of array code: functions, arithmetic, comparisons, connectives and choices such as `where`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from . import values
from .axes import Axes, axes_of
from .operations import MisuseError, condition_of, is_condition, numeric, operation, to_value
from .values import AxisValue, call, number


# -------------------------------------------------------------------------------------------------------- elementwise
def unary(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any) -> AxisValue:
        value = to_value(x)
        return AxisValue(call(operator, (value.node,)), value.dims)

    return rule


def binary(operator: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, y: Any) -> AxisValue:
        first, second = numeric(x), numeric(y)
        if operator == "⊙" and isinstance(first.node, nodes.Number) and not isinstance(second.node, nodes.Number):
            return AxisValue(nodes.Call("juxtaposed", (), (), (first.node, second.node)), second.dims)
        return values.elementwise(axes, operator, first, second)

    return rule


def power(axes: Axes, x: Any, p: Any) -> AxisValue:
    base = to_value(x)
    if isinstance(p, (int, float)) and not isinstance(p, bool):
        if p < 0:
            return values.elementwise(axes, "/", AxisValue(number(1)), power(axes, x, -p))
        if p == 0.5:
            return AxisValue(call("sqrt", (base.node,)), base.dims)
        if p == 1:
            return base
    exponent = to_value(p)
    dims = values.align_values(axes, base, exponent)
    return AxisValue(nodes.Superscript(base.node, (exponent.node,)), dims)


def reciprocal(axes: Axes, x: Any) -> AxisValue:
    return values.elementwise(axes, "/", AxisValue(number(1)), to_value(x))


def gelu_rule(axes: Axes, x: Any, approximate: Any) -> AxisValue:
    if approximate not in ("none", "tanh"):
        raise MisuseError(f"approximate={approximate!r} is not supported")
    return unary("gelu" if approximate == "none" else "gelu_tanh")(axes, x)


def where(axes: Axes, condition: Any, x: Any, y: Any) -> AxisValue:
    parts = [condition_of(axes, condition), to_value(x), to_value(y)]
    dims = values.align_values(axes, *parts)
    return AxisValue(nodes.Cases(((parts[1].node, parts[0].node), (parts[2].node, None))), dims)


def clip(axes: Axes, x: Any, low: Any, high: Any) -> AxisValue:
    result = to_value(x)
    if low is not None:
        result = values.elementwise(axes, "max", result, to_value(low))
    return values.elementwise(axes, "min", result, to_value(high)) if high is not None else result


def connective(operator: str) -> Callable[..., AxisValue]:
    """Return the translation rule of the connective ∧, ∨ or ¬ for conditions."""

    def rule(axes: Axes, *parts: Any) -> AxisValue:
        if not all(is_condition(part) for part in parts):
            raise MisuseError("& | ~ of anything but conditions")
        conditions = [to_value(part) for part in parts]
        dims = values.align_values(axes, *conditions)
        if operator == "¬":
            return AxisValue(negate(conditions[0].node), dims, truth=True)
        return AxisValue(call(operator, [condition.node for condition in conditions]), dims, truth=True)

    return rule


NEGATED = {">": "≤", "<": "≥", "≥": "<", "≤": ">", "=": "≠", "≠": "="}


def negate(condition: Node) -> Node:
    if isinstance(condition, nodes.Call) and condition.operator in NEGATED:
        return replace(condition, operator=NEGATED[condition.operator])
    return call("¬", (condition,))


OF_INDICATOR = {  # a comparison of 𝕀[c] with a number means c ("") or its negation ("¬")
    (">", number(0)): "", ("≠", number(0)): "", ("=", number(1)): "", ("=", number(0)): "¬", ("≠", number(1)): "¬", ("<", number(1)): "¬",
}  # fmt: skip


def comparison(relation: str) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, y: Any) -> AxisValue:
        first, second = numeric(x), numeric(y)
        dims = values.align_values(axes, first, second)
        sign = OF_INDICATOR.get((relation, second.node)) if isinstance(first.node, nodes.Indicator) else None
        if sign is not None and isinstance(first.node, nodes.Indicator):
            return AxisValue(negate(first.node.condition) if sign else first.node.condition, dims, truth=True)
        return AxisValue(call(relation, (first.node, second.node)), dims, truth=True)

    return rule


def log_of(base: int) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any) -> AxisValue:
        return values.elementwise(axes, "/", unary("log")(axes, x), AxisValue(call("log", (number(base),))))

    return rule


def floor_divide(axes: Axes, x: Any, y: Any) -> AxisValue:
    return unary("floor")(axes, binary("/")(axes, x, y))


def scale_second(operator: str) -> Callable[..., AxisValue]:
    """Return the translation rule of PyTorch's add or sub, which multiplies its second operand by `alpha`."""

    def rule(axes: Axes, x: Any, y: Any, alpha: Any) -> AxisValue:
        return binary(operator)(axes, x, y if alpha == 1 else binary("⊙")(axes, alpha, y))

    return rule


def cases(axes: Axes, condition: AxisValue, x: Any, y: Any) -> AxisValue:
    return where(axes, condition, numeric(x), numeric(y))


def leaky_relu(axes: Axes, x: Any, slope: Any) -> AxisValue:
    if slope == 0.01:
        return unary("leaky_relu")(axes, x)
    return cases(axes, comparison(">")(axes, x, 0), x, binary("⊙")(axes, slope, x))


def elu(axes: Axes, x: Any, alpha: Any) -> AxisValue:
    if alpha == 1:
        return unary("elu")(axes, x)
    return cases(axes, comparison(">")(axes, x, 0), x, binary("⊙")(axes, alpha, unary("expm1")(axes, x)))


def softplus(axes: Axes, x: Any, beta: Any) -> AxisValue:
    if beta == 1:
        return unary("softplus")(axes, x)
    return binary("/")(axes, unary("softplus")(axes, binary("⊙")(axes, beta, x)), beta)


def truncate(axes: Axes, x: Any) -> AxisValue:
    return binary("⊙")(axes, unary("sign")(axes, x), unary("floor")(axes, unary("abs")(axes, x)))


def hypotenuse(axes: Axes, x: Any, y: Any) -> AxisValue:
    return unary("sqrt")(axes, binary("+")(axes, power(axes, x, 2), power(axes, y, 2)))


def copysign(axes: Axes, x: Any, y: Any) -> AxisValue:
    """Return the magnitude of x with the sign of y. The sign of -0 is negative."""
    size = unary("abs")(axes, x)
    signs = (comparison("<")(axes, part, 0) for part in (y, reciprocal(axes, y)))
    return cases(axes, connective("∨")(axes, *signs), unary("negative")(axes, size), size)


def logaddexp(axes: Axes, x: Any, y: Any) -> AxisValue:
    """Return log(eˣ + eʸ) as logsumexp over the two operands, which neither overflows nor underflows."""
    parts = [to_value(part) for part in (x, y)]
    dims = values.align_values(axes, *parts)
    pair = axes.new(size=2)
    axes.facts.pinned.append((pair, 2))
    axes.apart((*axes_of(dims), pair))
    stacked = call("stack", [part.node for part in parts], (pair,))
    return AxisValue(call("logsumexp", (stacked,), (pair,)), dims)


def isnan(axes: Axes, x: Any) -> AxisValue:
    value = numeric(x)
    return AxisValue(call("isnan", (value.node,)), value.dims, truth=True)


def extreme(operator: str) -> Callable[..., AxisValue]:
    """Return the translation rule of fmax or fmin. If one operand is nan, the value is the other operand."""

    def rule(axes: Axes, x: Any, y: Any) -> AxisValue:
        parts, largest = (numeric(x), numeric(y)), binary(operator)(axes, x, y)
        known = [(one, isnan(axes, other)) for one, other in (parts, parts[::-1]) if not isinstance(other.node, nodes.Number)]  # fmt: skip
        arms = [(one.node, condition.node) for one, condition in reversed(known)]
        return AxisValue(nodes.Cases((*arms, (largest.node, None))), largest.dims) if arms else largest

    return rule


def heaviside(axes: Axes, x: Any, y: Any) -> AxisValue:
    value, other = numeric(x), numeric(y)
    dims = values.align_values(axes, value, other)
    arms = ((other.node, call("=", (value.node, number(0)))), (number(1), call(">", (value.node, number(0)))))
    return AxisValue(nodes.Cases((*arms, (number(0), None))), dims)


def round_decimals(axes: Axes, x: Any, decimals: Any) -> AxisValue:
    if type(decimals) is not int or abs(decimals) > 15:
        raise MisuseError(f"decimals={decimals} is not supported")
    first, last = ("⊙", "/") if decimals > 0 else ("/", "⊙")
    scaled = binary(first)(axes, x, 10 ** abs(decimals)) if decimals else to_value(x)
    rounded = unary("round")(axes, scaled)
    return binary(last)(axes, rounded, 10 ** abs(decimals)) if decimals else rounded


for name in "exp log sin cos tan tanh sinh cosh sqrt abs sign erf silu relu floor ceil log1p expm1".split():
    operation(name, "x", unary(name))
operation("absolute fabs", "x", unary("abs"))
operation("lgamma", "x", unary("lgamma"), "torch")
for relation, names in (
    (">", "greater gt"), ("<", "less lt"), ("≥", "greater_equal ge"), ("≤", "less_equal le"), ("=", "equal eq"), ("≠", "not_equal ne"),
):  # fmt: skip
    operation(names, "x, y", comparison(relation))
operation("logical_and", "x, y", connective("∧"))
operation("logical_or", "x, y", connective("∨"))
operation("logical_not", "x", connective("¬"))
operation("arcsin asin", "x", unary("arcsin"))
operation("arccos acos", "x", unary("arccos"))
operation("log2", "x", log_of(2))
operation("log10", "x", log_of(10))
operation("logsigmoid", "x", unary("logsigmoid"))
operation("leaky_relu", "x, negative_slope=0.01, -inplace=False", leaky_relu)
operation("elu", "x, alpha=1.0, -inplace=False", elu)
operation("softplus", "x, beta=1", softplus)
operation("mish", "x", lambda axes, x: binary("⊙")(axes, x, unary("tanh")(axes, unary("softplus")(axes, x))))
operation("softsign", "x", lambda axes, x: binary("/")(axes, x, binary("+")(axes, 1, unary("abs")(axes, x))))
operation("relu6", "x", lambda axes, x: clip(axes, x, 0, 6))
operation("hardtanh", "x, min_val=-1.0, max_val=1.0", clip)
operation("positive", "x", lambda axes, x: to_value(x))
operation("exp2", "x", lambda axes, x: power(axes, 2, x))
operation(
    "cbrt", "x", lambda axes, x: binary("⊙")(axes, unary("sign")(axes, x), power(axes, unary("abs")(axes, x), 1 / 3))
)
operation("deg2rad radians", "x", lambda axes, x: binary("⊙")(axes, x, math.pi / 180))
operation("rad2deg degrees", "x", lambda axes, x: binary("⊙")(axes, x, 180 / math.pi))
operation("round", "x, decimals=0, -out=None", round_decimals)
operation("isnan", "x", isnan)
operation("rint", "x, -out=None", unary("round"))
operation("trunc fix", "x", truncate)
operation("frac", "x", lambda axes, x: binary("-")(axes, x, truncate(axes, x)))
operation("fmod", "x, y", lambda axes, x, y: binary("-")(axes, x, binary("⊙")(axes, y, truncate(axes, binary("/")(axes, x, y)))))  # fmt: skip
operation("hypot", "x, y", hypotenuse)
operation("fmax", "x, y", extreme("max"))
operation("fmin", "x, y", extreme("min"))
operation("copysign", "x, y", copysign)
operation("heaviside", "x, y", heaviside)
operation("logaddexp", "x, y", logaddexp)
operation("remainder mod", "x, y", binary("mod"))
operation("floor_divide", "x, y", floor_divide)
operation("arctan atan", "x", unary("arctan"))
operation("sigmoid expit", "x", unary("σ"))
operation("negative neg", "x", unary("negative"))
operation("gelu", "x, approximate='none'", gelu_rule)
operation("square", "x", lambda axes, x: power(axes, x, 2))
operation("reciprocal", "x", reciprocal)
operation("rsqrt", "x", lambda axes, x: reciprocal(axes, unary("sqrt")(axes, x)))
operation("add", "x, y", binary("+"), "numpy")
operation("subtract", "x, y", binary("-"), "numpy")
operation("add", "x, y, *, alpha=1", scale_second("+"), "torch")
operation("subtract sub", "x, y, *, alpha=1", scale_second("-"), "torch")
operation("multiply mul", "x, y", binary("⊙"))
operation("divide div true_divide", "x, y", binary("/"))
operation("power pow", "x, y", power)
operation("maximum", "x, y", binary("max"))
operation("minimum", "x, y", binary("min"))
operation("where", "condition, x, y", where)
operation("masked_fill", "x, mask, value", lambda axes, x, mask, value: where(axes, mask, value, x))
operation("clip clamp", "x, min|a_min=None, max|a_max=None, -out=None", clip)
