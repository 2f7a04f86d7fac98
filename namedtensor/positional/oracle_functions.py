"""The source's own value of norms, and of functions of matrix notation by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .optional_numpy import Unsupported, np
from .oracle import RULES, Oracle, PlainValues, part
from .plain_functions import ELEMENTWISE, softmax
from .source_tree import Tree

Array = Any


def norm(oracle: Oracle, tree: Tree) -> PlainValues:
    x = part(oracle, tree)
    size, order = np.abs(x.array), tree.text
    if order in ("", "2") and min(x.shape) > 1 and oracle.decided(tree) == 1:
        return PlainValues(np.linalg.norm(x.array, 2, axis=(-2, -1), keepdims=True), x.letters)
    if order == "∞":
        return PlainValues(size.max((-1, -2), keepdims=True), x.letters)
    p = float(order) if order.replace(".", "", 1).isdigit() else 2.0
    return PlainValues((size**p).sum((-1, -2), keepdims=True) ** (1 / p), x.letters)


def bars(oracle: Oracle, tree: Tree) -> PlainValues:
    x = part(oracle, tree)
    if min(x.shape) > 1 and oracle.decided(tree) == 0:
        return PlainValues(np.linalg.det(x.array)[..., None, None], x.letters)
    if min(x.shape) == 1 < max(x.shape) and oracle.decided(tree) == 1:
        return PlainValues(np.sqrt((x.array**2).sum((-1, -2), keepdims=True)), x.letters)
    return oracle.elementwise(np.abs, x)


def function(oracle: Oracle, tree: Tree) -> PlainValues:
    word = tree.text
    values = [oracle.value(piece) for piece in tree.parts]
    x = values[0]
    if word in ("max", "min") and len(values) == 2:
        return oracle.elementwise(np.maximum if word == "max" else np.minimum, *values)
    if word in ("softmax", "logsoftmax"):
        axis = along(tree, x)
        result = softmax(x.array, axis)
        return PlainValues(np.log(result) if word == "logsoftmax" else result, x.letters, x.vector)
    if word == "exp" and min(x.shape) > 1 and oracle.decided(tree) == 1:
        raise Unsupported("the exponential of a matrix")
    if word in ELEMENTWISE:
        return oracle.elementwise(ELEMENTWISE[word], x)
    if word == "diag":
        return diagonal(x)
    if word == "vec":
        return PlainValues(np.swapaxes(x.array, -1, -2).reshape(*x.array.shape[:-2], -1, 1), x.letters)
    if word in MATRIX_FUNCTIONS:
        return PlainValues(np.asarray(MATRIX_FUNCTIONS[word](x.array))[..., None, None], x.letters)
    raise Unsupported(word)


def along(tree: Tree, x: PlainValues) -> int:
    if tree.upper in x.letters:
        return x.letters.index(tree.upper)
    if tree.upper in ("columns", "cols", "col", "column"):
        return -2
    if x.shape == (1, 1):
        return 0
    return -1 if x.shape[1] > 1 else -2


def diagonal(x: PlainValues) -> PlainValues:
    if min(x.shape) > 1:
        return PlainValues(np.diagonal(x.array, axis1=-2, axis2=-1)[..., None].copy(), x.letters)
    if x.letters:
        raise Unsupported("diag with indices")
    return PlainValues(np.diag(x.array.reshape(-1)))


MATRIX_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "trace": lambda a: np.trace(a, axis1=-2, axis2=-1), "det": np.linalg.det, "logdet": lambda a: np.linalg.slogdet(a)[1],
    "max": lambda a: a.max((-1, -2)), "min": lambda a: a.min((-1, -2)), "mean": lambda a: a.mean((-1, -2)), "expectation": lambda a: a.mean(), "var": lambda a: a.var((-1, -2)),
    "std": lambda a: a.std((-1, -2)), "norm": lambda a: np.sqrt((a**2).sum((-1, -2))), "logsumexp": lambda a: np.log(np.exp(a).sum((-1, -2))),
}  # fmt: skip


RULES.update(call=function, norm=norm, bars=bars)
