"""Functions of plain arrays that NumPy lacks, used to evaluate array code."""

from __future__ import annotations

import math
import re
from typing import Any

from .optional_numpy import np

Array = Any


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


def arrange(x: Array, pattern: str, how: str = "sum", **lengths: int) -> Array:
    """Evaluate einops' rearrange, reduce or repeat on a plain array without calling einops."""
    pattern = re.sub(r"\(([^()]*)\.\.\.", r"(\1…", pattern)
    sides = [[item.strip("()").split() for item in re.findall(r"\([^()]*\)|\S+", side)] for side in pattern.split("->")]
    dots = [f".{number}" for number in range(x.ndim - len(sides[0]) + 1)]
    before = [group for one in sides[0] for group in ([[dot] for dot in dots] if one == ["..."] else [one])]
    after = [group for one in sides[1] for group in ([[dot] for dot in dots] if one == ["..."] else [one])]
    after = [[word for one in group for word in (dots if one == "…" else [one]) if word != "1"] for group in after]
    sizes: dict[str, Any] = dict(lengths)
    for group, total in zip(before, x.shape, strict=True):
        known = math.prod(lengths.get(word, 1) for word in group)
        sizes |= {word: lengths.get(word, total // known) for word in group}
    left, right = ([word for group in groups for word in group] for groups in (before, after))
    x = x.reshape([sizes[word] for word in left])
    gone = tuple(position for position, word in enumerate(left) if word not in right)
    x = getattr(np, how)(x, axis=gone) if gone else x
    left = [word for word in left if word in right]
    for word in right:
        if word not in left:
            sizes[word] = int(word) if word.isdigit() else lengths[word]
            x = np.repeat(x[..., None], sizes[word], -1)
            left.append(word)
    x = np.transpose(x, [left.index(word) for word in right])
    return x.reshape([math.prod(sizes[word] for word in group) for group in after])


ELEMENTWISE = {
    "erf": erf, "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x * sigmoid(x), "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "softplus": lambda x: np.log1p(np.exp(x)),
}  # fmt: skip
