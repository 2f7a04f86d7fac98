"""The functions of NumPy and PyTorch that the comparison of array code may call, and functions that NumPy lacks.

The comparison may call a function or method if the table of operations contains its name. NumPy is None if it is not
installed.
"""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, Any

from .operations import OPERATIONS


class UnsupportedError(Exception):
    """The error for code whose value cannot be computed by its library."""


class UnknownFunctionError(UnsupportedError):
    """The error for a function of a known module that the comparison may not call."""


if TYPE_CHECKING:
    import numpy as np
else:
    try:
        import numpy as np
    except ImportError:
        np = None

HAS_VALUES = bool(np)

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


OWN: dict[str, Any] = {  # functions of other libraries, which we define with NumPy
    **dict.fromkeys(("rearrange", "reduce", "repeat"), arrange), **dict.fromkeys(("sigmoid", "expit"), sigmoid), "gelu": gelu, "erf": erf,
    "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x * sigmoid(x), "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x), "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))), "softplus": lambda x: np.log1p(np.exp(x)),
    "softmax": lambda x, axis=None: softmax(x, axis), "log_softmax": lambda x, axis=None: np.log(softmax(x, axis)),
    "logsumexp": lambda x, axis=None, keepdims=False: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
    "one_hot": lambda x, size: np.eye(size)[x],
}  # fmt: skip
OF_JAX: dict[str, Any] = {  # functions whose defaults differ in JAX
    "gelu": lambda x, approximate=True: gelu_tanh(x) if approximate else gelu(x),
    "softmax": lambda x, axis=-1: softmax(x, axis),
    "log_softmax": lambda x, axis=-1: np.log(softmax(x, axis)),
}
OF_NUMPY = {*"inv det norm solve kron log1p expm1 exp2 cbrt round tanh".split()}  # functions of SciPy and JAX, too
OF_SYNTAX = {"einsum", "embedding", "pinv"}  # functions that the reader translates without the table
SUBMODULES = {"", "linalg", "special", "lib.stride_tricks"}
NUMPY_METHODS = {*"""sum mean prod max min std var any all argmax argmin cumsum cumprod argsort transpose swapaxes squeeze reshape ravel
    flatten clip dot take repeat trace diagonal copy astype round""".split()}  # fmt: skip
ATTRIBUTES = {"T", "mT", "shape", "ndim", "size", "values"}
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}
MATH = {*"sqrt exp log log2 log10 sin cos tan tanh sinh cosh floor ceil log1p expm1 erf pow hypot".split()}
OF_SIZES = {
    *"ones zeros full eye tri identity arange linspace one_hot tile repeat pad broadcast_to expand repeat_interleave interpolate".split()
}


def is_listed(name: str) -> bool:
    """Return whether a name without a module is the name of a function that the comparison may call."""
    return name in OPERATIONS or name in OF_SYNTAX


def find_function(module: Any, name: str) -> Any:
    """Return the function called `name`, such as exp or linalg.norm, in a module, or None if it is not listed."""
    owner, _, last = name.rpartition(".")
    return reach(module, name) if owner in SUBMODULES and is_listed(last) else None


def reach(module: Any, name: str) -> Any:
    return functools.reduce(lambda owner, part: getattr(owner, part, None), name.split("."), module)
