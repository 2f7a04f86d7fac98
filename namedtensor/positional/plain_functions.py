"""Functions of plain arrays that NumPy lacks, as the source's own value needs them."""

from __future__ import annotations

import math
from typing import Any

from .optional_numpy import np

Array = Any
MAX_CONDITION = 1e8


def inverse(x: Array) -> Array:
    """The inverse. Raises LinAlgError also where rounding would be all that is left of it."""
    if np.max(np.linalg.cond(x)) > MAX_CONDITION:
        raise np.linalg.LinAlgError
    return np.linalg.inv(x)


def solution(a: Array, b: Array) -> Array:
    """The solution x of a x = b, of a vector or a matrix b."""
    return inverse(a) @ b


def erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[float])(x)


def softmax(x: Array, axis: Any) -> Array:
    weights = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ELEMENTWISE = {
    **{name: getattr(np, name) for name in "exp log sin cos tan tanh sinh cosh sqrt abs sign arctan floor ceil log1p expm1".split()},
    "σ": sigmoid, "gelu": gelu, "erf": erf, "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x * sigmoid(x),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x), "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "softplus": lambda x: np.log1p(np.exp(x)),
}  # fmt: skip
