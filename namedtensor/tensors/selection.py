"""Methods that select elements along an axis, such as `A.take([0, 2], axis="seq")` and `A.topk(2, axis="seq")`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from grammar.errors import NotationError

from ..core.kinds import to_count, to_integer
from ..core.tensor import NamedTensor
from .elements import alone, need_one
from .functions import FUNCTIONS
from .reshaping import is_truth

TAKE_HINT = 'write take([0, 2], axis="seq"), or pass a named tensor of positions'


@alone
def take(self: NamedTensor, indices: Any, axis: str) -> NamedTensor:
    """Return the elements at the given positions along an axis. Positions count from 0.

    Parameters
    ----------
    indices : int, sequence of int or NamedTensor
        The positions. A negative position raises an error. To count from the end, write `A[{"seq": -1}]`.
    axis : str
        The axis to select along.

    Returns
    -------
    NamedTensor
        The selected elements. For one position, the result does not have the axis. For a sequence, the result has the
        axis with the labels of the selected elements. For a tensor, the result has the tensor's axes instead. Axes that
        the tensor shares with `A` are aligned by name.

    Raises
    ------
    NotationError
        If the axis is missing (301), or a position is not an integer (402) or is out of range (401).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([3, 1, 4], "seq").take([2, 0, 2], axis="seq")
    NamedTensor([4, 3, 4], "seq")
    """
    (axis,) = need_one(self, axis, "take")
    if isinstance(indices, NamedTensor):
        return self[{axis: indices}]
    size = self.layout.sizes[axis]
    if not hasattr(indices, "__iter__") or getattr(indices, "shape", None) == ():
        return self[{axis: position_of(indices, axis, size)}]
    return self[{axis: [position_of(index, axis, size) for index in cast("Iterable[Any]", indices)]}]


def position_of(index: Any, axis: str, size: int) -> int:
    """Convert an index to a position along an axis. Raise NotationError if the index is not a valid position."""
    position = to_integer(index) if hasattr(index, "__index__") else None
    if position is None:
        keep = f'; to keep elements by a condition, write A[{{"{axis}": keep}}]' if is_truth(index) else ""
        raise NotationError(
            402, f"take expects positions along {axis}, which are integers, got {index!r}", hint=TAKE_HINT + keep
        )
    if not 0 <= position < size:
        hint = f'to count from the end, write A[{{"{axis}": {position}}}]' if -size <= position < 0 else None
        raise NotationError(
            401, f"position {position} is out of range for axis {axis} (0 to {size - 1})", hint=hint or TAKE_HINT
        )
    return position


@alone
def topk(self: NamedTensor, k: int, axis: str) -> tuple[NamedTensor, NamedTensor]:
    """Return the k largest elements along an axis in descending order, and their positions, which count from 0.

    Parameters
    ----------
    k : int
        The number of elements.
    axis : str
        The axis to search along. Its size in the results is k.

    Returns
    -------
    tuple of NamedTensor
        The elements and their positions.

    Raises
    ------
    NotationError
        If the axis is missing (301), or has fewer than k elements (308).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([3, 1, 4], "seq").topk(2, "seq")
    (NamedTensor([4, 3], "seq"), NamedTensor([2, 0], "seq"))
    """
    (axis,) = need_one(self, axis, "topk")
    count, size = to_count(k, "the k of topk", 'write topk(2, "seq")'), self.layout.sizes[axis]
    if count > size:
        raise NotationError(308, f"axis {axis} has {size} elements, fewer than {count}", hint="give a smaller k")
    order = FUNCTIONS["argsort"](self, axis=axis)[{axis: [size - 1 - at for at in range(count)]}]
    places = order.with_labels({axis: None}) if axis in order.labels else order
    return FUNCTIONS["index"](self, places, axis=axis), places
