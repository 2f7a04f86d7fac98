"""Operations of array code that are losses and similarities, made of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import values
from .axes import Axes
from .axis_operations import along, reduced
from .code_indices import CodeIndices, only
from .elementwise_operations import binary, square, unary
from .operations import Misuse, as_value, operation
from .optional_numpy import np
from .plain_functions import sigmoid, softmax
from .values import AxisValue, at, call, number

REDUCTIONS = {"mean": "mean", "sum": "∑"}
PLAIN = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def over_all(axes: Axes, loss: AxisValue, reduction: Any) -> AxisValue:
    if reduction == "none":
        return loss
    if reduction not in REDUCTIONS:
        raise Misuse(f"reduction={reduction!r} is not supported")
    return reduced(axes, REDUCTIONS[reduction], loss, None, False)


def alike(x: Any, y: Any) -> tuple[AxisValue, AxisValue]:
    first, second = as_value(x), as_value(y)
    if len(first.dims) != len(second.dims):
        raise Misuse("a loss of tensors with different numbers of axes")
    return first, second


# -------------------------------------------------------------------------------------------------------- of classes
def picked(axes: Axes, scores: AxisValue, target: Any) -> AxisValue:
    """−scores at the class of each example, where the classes are the second dimension, or the only one."""
    classes = only(scores.dims[1 if len(scores.dims) > 1 else 0])
    rest = [dim for position, dim in enumerate(scores.dims) if position != min(1, len(scores.dims) - 1)]
    index = as_value(target)
    dims = values.aligned(axes, AxisValue(scores.node, tuple(rest)), index)
    if len(index.dims) != len(rest) or any(bool(one) != bool(two) for one, two in zip(index.dims, rest)):
        raise Misuse("the classes are not one for each example")
    node, _ = CodeIndices(axes).tensor_index(classes, index)
    axes.apart(scores.axes, index.axes)
    return AxisValue(call("negative", (at(scores.node, classes, node),)), dims)


def nll(axes: Axes, x: Any, target: Any, reduction: Any) -> AxisValue:
    return over_all(axes, picked(axes, as_value(x), target), reduction)


def cross_entropy(axes: Axes, x: Any, target: Any, reduction: Any) -> AxisValue:
    scores = as_value(x)
    return nll(axes, along("logsoftmax")(axes, scores, 1 if len(scores.dims) > 1 else 0), target, reduction)


def plain_nll(x: Any, target: Any, reduction: Any) -> Any:
    where = 1 if x.ndim > 1 else 0
    losses = -np.take_along_axis(x, np.expand_dims(target, where), where).squeeze(where)
    return PLAIN[reduction](losses)


operation("nll_loss", "x, target, *, reduction='mean'", nll, plain_nll, "torch")
operation(
    "cross_entropy",
    "x, target, *, reduction='mean'",
    cross_entropy,
    lambda x, target, reduction: plain_nll(np.log(softmax(x, 1 if x.ndim > 1 else 0)), target, reduction),
    "torch",
)


# ------------------------------------------------------------------------------------------------------- of elements
def loss(element: Callable[[Axes, AxisValue, AxisValue], AxisValue]) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any, y: Any, reduction: Any) -> AxisValue:
        return over_all(axes, element(axes, *alike(x, y)), reduction)

    return rule


def difference(axes: Axes, x: AxisValue, y: AxisValue) -> AxisValue:
    return values.elementwise(axes, "-", x, y)


def binary_entropy(axes: Axes, p: AxisValue, y: AxisValue) -> AxisValue:
    one = AxisValue(number(1))
    positive = binary("⊙")(axes, y, unary("log")(axes, p))
    negative = binary("⊙")(axes, difference(axes, one, y), unary("log")(axes, difference(axes, one, p)))
    return unary("negative")(axes, values.elementwise(axes, "+", positive, negative))


def plain_binary_entropy(p: Any, y: Any, reduction: Any) -> Any:
    return PLAIN[reduction](-(y * np.log(p) + (1 - y) * np.log(1 - p)))


LOSSES = (
    ("mse_loss", lambda axes, x, y: square(axes, difference(axes, x, y)), lambda x, y, how: PLAIN[how]((x - y) ** 2)),
    ("l1_loss", lambda axes, x, y: unary("abs")(axes, difference(axes, x, y)), lambda x, y, how: PLAIN[how](np.abs(x - y))),
    ("binary_cross_entropy", binary_entropy, plain_binary_entropy),
    (
        "binary_cross_entropy_with_logits",
        lambda axes, x, y: binary_entropy(axes, unary("σ")(axes, x), y),
        lambda x, y, how: plain_binary_entropy(sigmoid(x), y, how),
    ),
)  # fmt: skip
for name, element, array in LOSSES:
    operation(name, "x, y|target, *, reduction='mean'", loss(element), array, "torch")


# ------------------------------------------------------------------------------------------------------ similarities
def length(axes: Axes, x: AxisValue, axis: Any, eps: float) -> AxisValue:
    """The norm along an axis, at least eps."""
    return values.elementwise(axes, "max", reduced(axes, "norm", x, axis, True), AxisValue(number(eps)))


def normalize(axes: Axes, x: Any, order: Any, axis: Any, eps: Any) -> AxisValue:
    if order != 2:
        raise Misuse(f"p={order} is not supported")
    value = as_value(x)
    return values.elementwise(axes, "/", value, length(axes, value, axis, eps))


def plain_normalize(x: Any, order: Any, axis: Any, eps: Any) -> Any:
    return x / np.maximum(np.sqrt((x**2).sum(axis, keepdims=True)), eps)


def cosine(axes: Axes, x: Any, y: Any, axis: Any, eps: Any) -> AxisValue:
    first, second = normalize(axes, x, 2, axis, eps), normalize(axes, y, 2, axis, eps)
    return reduced(axes, "∑", values.elementwise(axes, "⊙", first, second), axis, False)


def plain_cosine(x: Any, y: Any, axis: Any, eps: Any) -> Any:
    return (plain_normalize(x, 2, axis, eps) * plain_normalize(y, 2, axis, eps)).sum(axis)


operation("normalize", "x, p=2, dim=1, eps=1e-12", normalize, plain_normalize, "torch")
operation("cosine_similarity", "x1, x2, dim=1, eps=1e-8", cosine, plain_cosine, "torch")
