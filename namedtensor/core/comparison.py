"""Compare two tensors within a tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array_data import concrete
from .kinds import require_number
from .label_alignment import can_align, positions_like, take
from .labels import labels_of
from .tensor import tensor


def allclose(left: Any, right: Any, rtol: float = 1e-6, atol: float = 1e-9) -> bool:
    """Return whether two tensors have the same axes and, within a tolerance, the same elements.

    Parameters
    ----------
    left, right : tensor or number
        The operands. The order of their axes does not matter. Labeled axes are aligned by their labels.
    rtol, atol : float
        Relative and absolute tolerance, as in `numpy.allclose` (default: 1e-6 and 1e-9). NaN equals NaN.

    Returns
    -------
    bool

    Raises
    ------
    NotationError
        If a tolerance is negative or not a number.

    Examples
    --------
    >>> A = tensor([[1, 2], [3, 4]], "a b")
    >>> allclose(A, tensor([[1, 3], [2, 4]], "b a"))
    True
    """
    left, right = tensor(left), tensor(right)
    rtol = require_number(rtol, "rtol=", 0, "write rtol=1e-6")
    atol = require_number(atol, "atol=", 0, "write atol=1e-9")
    if left.sizes != right.sizes:
        return False
    moves = moves_of(left, right)
    if moves is None:
        return False
    first, second = concrete(left.array), take(concrete(right.to_array(left.axes)), left.axes, moves)
    return bool(np.allclose(first, second, rtol=rtol, atol=atol, equal_nan=True))


def moves_of(left: Any, right: Any) -> dict[str, Any] | None:
    """Return a map from axes to the positions that align the second tensor's labels with the first tensor's labels.

    The map leaves out axes with equal labels. Return None if the tensors cannot be aligned.
    """
    moves: dict[str, Any] = {}
    for axis, labels in labels_of(right.layout).items():
        expected = labels_of(left.layout).get(axis, labels)
        if not can_align(labels, expected):
            return None
        if not labels.equals(expected):
            moves[axis] = positions_like(labels, expected)
    return moves
