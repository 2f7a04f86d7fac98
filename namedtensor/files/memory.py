"""The tensors of a file in one piece of memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.tensor import NamedTensor

LINE = 64  # bytes of the processor's cache that are fetched at once


def in_one_piece(tensors: Mapping[str, NamedTensor]) -> dict[str, NamedTensor]:
    """The tensors side by side in one piece of memory, each dense.

    A file that is mapped, and many small pieces, lie in pages of 4 KiB, and products with matrix after matrix then wait for
    the addresses of their pages, a hundred thousand for a model; large memory has pages of 2 MiB.
    """
    import numpy as np

    from ..core.tensor import tensor

    starts = [0]
    for each in tensors.values():
        starts.append(starts[-1] + -(-each.array.nbytes // LINE) * LINE)
    whole = np.empty(starts[-1], np.uint8)
    found: dict[str, NamedTensor] = {}
    for (name, each), start in zip(tensors.items(), starts):
        part = whole[start : start + each.array.nbytes].view(each.array.dtype).reshape(each.array.shape)
        part[...] = each.array
        found[name] = tensor(part, each.axes)
    return found
