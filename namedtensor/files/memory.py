"""The tensors of a file in one piece of memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from grammar.locks import LOADING, all_or_none

if TYPE_CHECKING:
    from ..core.tensor import NamedTensor

LINE = 64  # bytes of the processor's cache that are fetched at once


def in_one_piece(tensors: Mapping[str, NamedTensor], last: Mapping[str, Collection[str]]) -> dict[str, NamedTensor]:
    """The tensors side by side in one piece of memory, each dense, those of its axes that are named in `last` at its end.

    A file that is mapped, and many small pieces, lie in pages of 4 KiB, and products with matrix after matrix then wait for
    the addresses of their pages, a hundred thousand for a model; large memory has pages of 2 MiB. A matrix whose rows are
    what a product sums over is read by each core in a piece of its own: with one vector a fifth faster.
    """
    import numpy as np

    with LOADING, all_or_none():
        from ..core.tensor import tensor

    orders = {name: sorted(value.axes, key=last[name].__contains__) for name, value in tensors.items()}
    starts = [0]
    for value in tensors.values():
        starts.append(starts[-1] + -(-value.array.nbytes // LINE) * LINE)
    whole = np.empty(starts[-1] + LINE, np.uint8)
    whole = whole[-whole.__array_interface__["data"][0] % LINE :]
    result: dict[str, NamedTensor] = {}
    for (name, value), start in zip(tensors.items(), starts):
        array = value.to_array(orders[name])
        part = whole[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        part[...] = array
        result[name] = tensor(part, orders[name])
    return result
