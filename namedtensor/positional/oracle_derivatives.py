"""The source's own value of derivatives, by differences; and of block matrices."""

from __future__ import annotations

from typing import Any

from .indices import canonical, spelled
from .optional_numpy import Unsupported, np
from .oracle import RULES, Oracle, PlainValues
from .source_tree import Tree

STEP = 1e-2


def gradient(oracle: Oracle, tree: Tree) -> PlainValues:
    """Central differences, extrapolated twice; first the axes of the value, then those of the input."""
    body, by = tree.parts
    pair = oracle.letters.index_of(by, oracle.arrays) if oracle.letters.active else None
    name = pair[0] if pair else canonical(spelled(by))
    whole = np.asarray(oracle.inputs[name], dtype=float)
    before, value = oracle.arrays, oracle.value(body)

    def moved(indices: tuple[int, ...], step: float) -> Any:
        array = whole.copy()
        array[indices] += step
        oracle.arrays = oracle.again({**oracle.inputs, name: array})
        return oracle.value(body).array

    def difference(indices: tuple[int, ...], step: float) -> Any:
        return (moved(indices, step) - moved(indices, -step)) / (2 * step)

    result = np.zeros((*whole.shape, *value.array.shape))
    for index in np.ndindex(whole.shape):
        first, second, third = (difference(index, STEP / 2**power) for power in range(3))
        one, two = (4 * second - first) / 3, (4 * third - second) / 3
        result[index] = (16 * two - one) / 15
    oracle.arrays = before
    if not np.all(np.isfinite(result)):  # log det X where det X < 0
        raise np.linalg.LinAlgError
    if pair:
        letters = range(whole.ndim, whole.ndim + len(value.letters))
        order = (*letters, *range(whole.ndim), result.ndim - 2, result.ndim - 1)
        return PlainValues(np.transpose(result, order), (*value.letters, *pair[1]))
    if max(value.shape) > 1:  # of a vector with respect to a vector
        array = result.reshape(whole.size, -1)
        return PlainValues(array if oracle.decided(tree) == 1 else array.T)
    array = result.reshape(whole.shape)
    return PlainValues(array.reshape(array.shape + (1,) * (2 - array.ndim)), (), array.ndim == 1)


def block(oracle: Oracle, tree: Tree) -> PlainValues:
    rows: list[list[Any]] = []
    for row in tree.parts:
        cells = [oracle.value(cell) for cell in row.parts]
        if any(cell.special or cell.letters for cell in cells):
            raise Unsupported("a block")
        rows.append([cell.array for cell in cells])
    return PlainValues(np.block(rows))


RULES.update(gradient=gradient, block=block)
