"""Windows (paper §3.5 and §4), which split an axis into overlapping or adjacent pieces.

unroll_{seq,kernel} X    overlapping windows: seq[n - |kernel| + 1], kernel     (convolution)
pool_{seq,kernel} X      adjacent windows: seq[n / |kernel|], kernel            (pooling)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.axes import Order
from . import definitions, transposes
from .builder import OperatorBuilder
from .new_sizes import pool, window
from .record import MOVES, Operator, register

SECTION = "§3.5 Vectors to vectors"


def _unroll(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    """Return overlapping windows as a view, so that windows share their elements."""
    (x,), (seq, kernel) = arguments, axes
    at, size = x.order.index(seq), options["sizes"][kernel]
    shape = (*x.shape[:at], x.shape[at] - size + 1, *x.shape[at + 1 :], size)
    return b.step("unfold", (x,), (*x.order, kernel), shape, x.dtype, at=at, size=size)


def _pool(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    (x,), (seq, kernel) = arguments, axes
    size = options["sizes"][kernel]
    return b.split(x, seq, ((seq, x.size(seq) // size), (kernel, size)))


SIGNATURE = "seq -> seq kernel"
register(
    Operator(
        "unroll", "window", SIGNATURE, _unroll, "sliding windows: at each position, the window that begins there",
        "np.lib.stride_tricks.sliding_window_view(X, k, axis)", SECTION, new_sizes=window,
        differentials=("unroll_{seq,kernel} ∂X",), complex=True, definition=definitions.unroll,
        transpose=transposes.transpose_windows, **MOVES,
    )
)  # fmt: skip
register(
    Operator(
        "pool", "window", SIGNATURE, _pool, "consecutive windows without overlap", "X.reshape(n // k, k)", SECTION, new_sizes=pool,
        differentials=("pool_{seq,kernel} ∂X",), complex=True, definition=definitions.pool,
        transpose=transposes.transpose_pooling, **MOVES,
    )
)  # fmt: skip
