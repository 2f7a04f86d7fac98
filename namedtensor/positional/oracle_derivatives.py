"""The source's own value of derivatives, by differences; and of block matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .indices import canonical, spelled
from .oracle import RULES, Oracle, Plain, Unsupported
from .source_tree import Tree

STEP = 1e-2


def gradient(oracle: Oracle, tree: Tree) -> Plain:
    """Central differences, extrapolated twice."""
    body, by = tree.parts
    pair = oracle.letters.index_of(by, oracle.arrays) if oracle.letters.active else None
    name = pair[0] if pair else canonical(spelled(by))
    whole = np.asarray(oracle.inputs[name], dtype=float)

    def value(place: tuple[int, ...], step: float) -> float:
        array = whole.copy()
        array[place] += step
        oracle.arrays = oracle.again({**oracle.inputs, name: array})
        return float(oracle.value(body).array.item())

    def slope(place: tuple[int, ...], step: float) -> float:
        return (value(place, step) - value(place, -step)) / (2 * step)

    before, result = oracle.arrays, np.zeros(whole.shape)
    for place in np.ndindex(whole.shape):
        first, second, third = (slope(place, STEP / 2**power) for power in range(3))
        one, two = (4 * second - first) / 3, (4 * third - second) / 3
        result[place] = (16 * two - one) / 15
    oracle.arrays = before
    if not np.all(np.isfinite(result)):  # log det X where det X < 0
        raise np.linalg.LinAlgError
    if pair:
        return Plain(result[..., None, None], pair[1])
    return Plain(result.reshape(result.shape + (1,) * (2 - result.ndim)), (), result.ndim == 1)


def block(oracle: Oracle, tree: Tree) -> Plain:
    rows: list[list[Any]] = []
    for row in tree.parts:
        cells = [oracle.value(cell) for cell in row.parts]
        if any(cell.special or cell.letters for cell in cells):
            raise Unsupported("a block")
        rows.append([cell.array for cell in cells])
    return Plain(np.block(rows))


RULES.update(gradient=gradient, block=block)
