"""Independent answers: a tensor read record by record, a function applied by plain loops over records.

No axis is ever looked up by position here, and nothing of the package is used but the tensors themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import namedtensor as nt


def records(sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    """Every record of a shape."""
    for places in itertools.product(*(range(size) for size in sizes.values())):
        yield dict(zip(sizes, places))


def entry(tensor: nt.NamedTensor, record: dict[str, int]) -> Any:
    """The element of a tensor at a record, which may have extra axes."""
    array = np.asarray(tensor.array)
    return array[tuple(record[axis] for axis in tensor.axes)].item()


def stored(tensor: nt.NamedTensor, order: tuple[str, ...]) -> nt.NamedTensor:
    """The same tensor, its array copied into another order."""
    return nt.tensor(np.array(tensor.to_array(order), order="C"), order)


def every_storage(tensor: nt.NamedTensor) -> list[nt.NamedTensor]:
    return [stored(tensor, order) for order in itertools.permutations(tensor.axes)]


def sizes_without(tensor: nt.NamedTensor, axes: tuple[str, ...]) -> dict[str, int]:
    return {axis: size for axis, size in tensor.sizes.items() if axis not in axes}


def parts(tensor: nt.NamedTensor, axes: tuple[str, ...]) -> Iterator[tuple[dict[str, int], list]]:
    """For each record of the other axes, the elements along `axes`, which go in the order written."""
    along = {axis: tensor.sizes[axis] for axis in axes}
    for outer in records(sizes_without(tensor, axes)):
        yield outer, [entry(tensor, {**outer, **inner}) for inner in records(along)]


def assert_equal(
    tensor: nt.NamedTensor, sizes: dict[str, int], want: Callable[[dict[str, int]], Any], rel=1e-12
) -> None:
    """`found` has these axes, and at each record the number that `want` gives."""
    assert tensor.sizes == sizes
    for record in records(sizes):
        got, expected = entry(tensor, record), want(record)
        np.testing.assert_allclose(got, expected, rtol=rel, atol=rel, err_msg=str(record))
