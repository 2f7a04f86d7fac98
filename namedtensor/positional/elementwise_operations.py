"""Operations of array code element by element: functions, arithmetic, choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grammar import nodes

from . import values
from .axes import Axes
from .operations import Misuse, Truth, as_value, numeric, operation
from .plain_functions import ELEMENTWISE, gelu, gelu_tanh
from .values import Value, call, number


# -------------------------------------------------------------------------------------------------------- elementwise
def unary(operator: str) -> Callable[..., Value]:
    def rule(axes: Axes, x: Any) -> Value:
        value = as_value(x)
        return Value(call(operator, (value.node,)), value.dims)

    return rule


def binary(operator: str) -> Callable[..., Value]:
    def rule(axes: Axes, x: Any, y: Any) -> Value:
        first, second = numeric(x), numeric(y)
        if operator == "⊙" and isinstance(first.node, nodes.Number) and not isinstance(second.node, nodes.Number):
            return Value(nodes.Call("juxtaposed", (), (), (first.node, second.node)), second.dims)
        return values.elementwise(axes, operator, first, second)

    return rule


def power(axes: Axes, x: Any, p: Any) -> Value:
    base = as_value(x)
    if isinstance(p, (int, float)) and not isinstance(p, bool):
        if p < 0:
            return values.elementwise(axes, "/", Value(number(1)), power(axes, x, -p))
        if p == 0.5:
            return Value(call("sqrt", (base.node,)), base.dims)
        if p == 1:
            return base
    exponent = as_value(p)
    dims = values.aligned(axes, base, exponent)
    return Value(nodes.Superscript(base.node, (exponent.node,)), dims)


def reciprocal(axes: Axes, x: Any) -> Value:
    return values.elementwise(axes, "/", Value(number(1)), as_value(x))


def rsqrt(axes: Axes, x: Any) -> Value:
    return reciprocal(axes, unary("sqrt")(axes, x))


def square(axes: Axes, x: Any) -> Value:
    return power(axes, x, 2)


def gelu_rule(axes: Axes, x: Any, approximate: Any) -> Value:
    if approximate not in ("none", "tanh"):
        raise Misuse(f"approximate={approximate!r} is not supported")
    return unary("gelu" if approximate == "none" else "gelu_tanh")(axes, x)


def where(axes: Axes, condition: Any, x: Any, y: Any) -> Value:
    parts = [as_value(each) for each in (condition, x, y)]
    dims = values.aligned(axes, *parts)
    if not isinstance(condition, Truth):
        raise Misuse("the condition is not a comparison")
    return Value(nodes.Cases(((parts[1].node, parts[0].node), (parts[2].node, None))), dims)


def masked_fill(axes: Axes, x: Any, mask: Any, value: Any) -> Value:
    return where(axes, mask, value, x)


def clip(axes: Axes, x: Any, low: Any, high: Any) -> Value:
    result = as_value(x)
    if low is not None:
        result = values.elementwise(axes, "max", result, as_value(low))
    return values.elementwise(axes, "min", result, as_value(high)) if high is not None else result


for name in "exp log sin cos tan tanh sinh cosh sqrt abs sign erf silu softplus relu".split():
    operation(name, "x", unary(name), ELEMENTWISE[name])
operation("absolute fabs", "x", unary("abs"), np.abs)
operation("arctan atan", "x", unary("arctan"), np.arctan)
operation("sigmoid expit", "x", unary("σ"), ELEMENTWISE["σ"])
operation("log1p", "x", unary("log1p"), np.log1p)
operation("expm1", "x", unary("expm1"), np.expm1)
operation("negative neg", "x", unary("negative"), np.negative)
operation("gelu", "x, approximate='none'", gelu_rule, lambda x, kind: gelu(x) if kind == "none" else gelu_tanh(x))
operation("square", "x", square, np.square)
operation("reciprocal", "x", reciprocal, np.reciprocal)
operation("rsqrt", "x", rsqrt, lambda x: 1 / np.sqrt(x))
operation("add", "x, y", binary("+"), np.add)
operation("subtract sub", "x, y", binary("-"), np.subtract)
operation("multiply mul", "x, y", binary("⊙"), np.multiply)
operation("divide div true_divide", "x, y", binary("/"), np.divide)
operation("power pow", "x, y", power, np.power)
operation("maximum", "x, y", binary("max"), np.maximum)
operation("minimum", "x, y", binary("min"), np.minimum)
operation("where", "condition, x, y", where, np.where)
operation("masked_fill", "x, mask, value", masked_fill, lambda x, mask, value: np.where(mask, value, x))
operation("clip clamp", "x, min|a_min|low=None, max|a_max|high=None", clip, lambda x, low, high: np.clip(x, low, high))
