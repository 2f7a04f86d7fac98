"""Composite operations of array code: attention, losses, similarities, stacking of vectors and averages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .axes import Axes
from .operations import MisuseError, Operation, SizeArgument, find_operation, operation, to_value
from .values import AxisValue


class Calls:
    """The operations that composite operations can call. Each operation is an attribute, such as `o.softmax`."""

    def __init__(self, apply: Callable[[Operation, list[Any]], Any]):
        self._apply = apply

    def __getattr__(self, name: str) -> Callable[..., Any]:
        record = find_operation(name, "torch") or find_operation(name, "numpy")
        if record is None:
            raise MisuseError(f"{name} is not supported here")
        return lambda *arguments, **keywords: self._apply(record, record.bound(arguments, keywords))


def composite(names: str, parameters: str, function: Callable[..., Any], library: str = "") -> None:
    """Register a composite operation, defined by a function that receives a `Calls` object and the arguments."""

    def rule(axes: Any, *arguments: Any) -> Any:
        return function(Calls(lambda record, bound: record.rule(axes, *bound)), *arguments)

    operation(names, parameters, rule, library)


def rank_of(x: Any) -> int:
    return x.ndim if hasattr(x, "ndim") else len(to_value(x).dims)


# ------------------------------------------------------------------------------------------------------------- layers
def linear(o: Calls, x: Any, weight: Any, bias: Any) -> Any:
    product = o.matmul(x, o.t(weight))
    return product if bias is None else o.add(product, bias)


def attention(o: Calls, query: Any, key: Any, value: Any, scale: Any) -> Any:
    scores = o.matmul(query, o.swapaxes(key, -1, -2))
    if scale is None:
        length = SizeArgument(key.dims[-1]) if isinstance(key, AxisValue) else key.shape[-1]
        scores = o.divide(scores, o.sqrt(length))
    else:
        scores = o.multiply(scores, scale)
    return o.matmul(o.softmax(scores, -1), value)


def dropout(axes: Axes, x: Any, p: Any, training: Any, inplace: Any) -> AxisValue:
    axes.facts.assumed.append("dropout is left out")
    return to_value(x)


operation("dropout", "x, p=0.5, training=True, inplace=False", dropout)
composite("linear", "x, weight, bias=None", linear)
settings = "-attn_mask=None, -dropout_p=0.0, -is_causal=False"
composite("scaled_dot_product_attention", f"query, key, value, {settings}, *, scale=None", attention)


# ------------------------------------------------------------------------------------------------------------- losses
def reduce_losses(o: Calls, losses: Any, reduction: Any) -> Any:
    if reduction not in ("mean", "sum", "none"):
        raise MisuseError(f"reduction={reduction!r} is not supported")
    return losses if reduction == "none" else getattr(o, reduction)(losses)


def nll(o: Calls, x: Any, target: Any, reduction: Any) -> Any:
    """Return the negative log-likelihood loss, which reduces −x at the target class of each example.

    The classes lie along the second dimension, or along the only dimension.
    """
    where = min(1, rank_of(x) - 1)
    return reduce_losses(o, o.negative(o.squeeze(o.gather(x, where, o.unsqueeze(target, where)), where)), reduction)


def cross_entropy(o: Calls, x: Any, target: Any, reduction: Any) -> Any:
    return nll(o, o.log_softmax(x, min(1, rank_of(x) - 1)), target, reduction)


def binary_entropy(o: Calls, p: Any, y: Any) -> Any:
    """Return the binary cross-entropy. PyTorch limits its logarithms to at least −100, so p may be 0 or 1."""
    first, second = (o.maximum(o.log(side), -100) for side in (p, o.subtract(1, p)))
    return o.negative(o.add(o.multiply(y, first), o.multiply(o.subtract(1, y), second)))


def logit_entropy(o: Calls, x: Any, y: Any) -> Any:
    """Return the binary cross-entropy of a logit, which stays finite for large logits."""
    first, second = o.logsigmoid(x), o.logsigmoid(o.negative(x))
    return o.negative(o.add(o.multiply(y, first), o.multiply(o.subtract(1, y), second)))


def reduce_elements(o: Calls, x: Any, y: Any, reduction: Any, element: Callable[..., Any]) -> Any:
    if rank_of(x) != rank_of(y):
        raise MisuseError("a loss of tensors with different numbers of axes")
    return reduce_losses(o, element(o, x, y), reduction)


OLD = "-size_average=None, "  # settings that PyTorch still accepts by position
CLASSES = f"x, target, -weight=None, {OLD}-ignore_index=-100, -reduce=None, reduction='mean'"
composite("nll_loss", CLASSES, nll, "torch")
composite("cross_entropy", f"{CLASSES}, -label_smoothing=0.0", cross_entropy, "torch")
for name, element in {
    "mse_loss": lambda o, x, y: o.square(o.subtract(x, y)),
    "l1_loss": lambda o, x, y: o.abs(o.subtract(x, y)),
    "binary_cross_entropy": binary_entropy,
    "binary_cross_entropy_with_logits": logit_entropy,
}.items():
    weight = "-weight=None, " if "binary" in name else ""
    rule = partial(reduce_elements, element=element)
    composite(name, f"x, y|target, {weight}{OLD}-reduce=None, reduction='mean'", rule, "torch")


# ------------------------------------------------------------------------------------------------------ similarities
def normalize(o: Calls, x: Any, order: Any, axis: Any, eps: Any) -> Any:
    return o.divide(x, o.maximum(o.norm(x, p=order, dim=axis, keepdim=True), eps))


def cosine(o: Calls, x: Any, y: Any, axis: Any, eps: Any) -> Any:
    return o.sum(o.multiply(normalize(o, x, 2, axis, eps), normalize(o, y, 2, axis, eps)), axis)


def multi_dot(o: Calls, tensors: Any) -> Any:
    if not isinstance(tensors, tuple):
        raise MisuseError("multi_dot of anything but a list")
    product = tensors[0]
    for tensor in tensors[1:]:
        product = o.matmul(product, tensor)
    return product


def distances(o: Calls, x: Any, y: Any) -> Any:
    difference = o.subtract(o.unsqueeze(x, -2), o.unsqueeze(y, -3))
    return o.sqrt(o.sum(o.square(difference), -1))


def stack_vectors(o: Calls, tensors: Any, axis: int, of_vectors: str) -> Any:
    """Stack vectors along an axis if `of_vectors` is "stack", and otherwise concatenate the vectors.

    Other tensors are concatenated along the axis.
    """
    if not isinstance(tensors, tuple) or not tensors:
        raise MisuseError("stacking of anything but a list")
    tensors = tuple(o.unsqueeze(tensor, 0) if rank_of(tensor) == 0 else tensor for tensor in tensors)
    if all(rank_of(tensor) == 1 for tensor in tensors):
        return o.stack(tensors, axis) if of_vectors == "stack" else o.concatenate(tensors, 0)
    return o.concatenate(tensors, axis)


composite("vstack", "tensors", partial(stack_vectors, axis=0, of_vectors="stack"))
composite("column_stack", "tensors", partial(stack_vectors, axis=1, of_vectors="stack"))
composite("hstack", "tensors", partial(stack_vectors, axis=1, of_vectors="join"))
composite("multi_dot", "tensors", multi_dot)
composite("cdist", "x, y, -p=2.0", distances)
composite("vecdot", "x, y, *, axis|dim=-1, -keepdims=False", lambda o, x, y, axis: o.sum(o.multiply(x, y), axis))
composite("addmm addmv baddbmm", "b, x, y", lambda o, b, x, y: o.add(b, o.matmul(x, y)))
composite("softmin", "x, dim, -dtype=None", lambda o, x, dim: o.softmax(o.negative(x), dim))


def average(o: Calls, x: Any, axis: Any, weights: Any, keep: Any) -> Any:
    if weights is None:
        return o.mean(x, axis, keep)
    if rank_of(x) != rank_of(weights):
        raise MisuseError("the weights of an average have the axes of the tensor")
    return o.divide(o.sum(o.multiply(x, weights), axis, keep), o.sum(weights, axis, keep))


composite("normalize", "x, p=2, dim=1, eps=1e-12", normalize, "torch")
composite("cosine_similarity", "x1, x2, dim=1, eps=1e-8", cosine, "torch")
composite("average", "x, axis=None, weights=None, -returned=False, *, keepdims=False", average, "numpy")
composite("dist", "x, y, p=2", lambda o, x, y, p: o.vector_norm(o.subtract(x, y), p))
composite("index_select", "x, dim, index", lambda o, x, dim, index: o.take(x, index, dim))
