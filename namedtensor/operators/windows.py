"""Windows (paper §4.4, §4.5): unroll for convolutions, pool for pooling.

    unroll_{seq,kernel} : ℝ^{seq[n]} → ℝ^{seq[n−|kernel|+1], kernel}     overlapping windows
    pool_{seq,kernel}   : ℝ^{seq[n]} → ℝ^{seq[n/|kernel|], kernel}       windows side by side
"""

from __future__ import annotations

from ..axes import AxisProblem
from .lowering import is_numpy
from .record import Operator, register


def _lower_unroll(xp, orders, axes, options):
    (order,) = orders
    axis, window = axes
    at, width = order.index(axis), options["sizes"][window]
    if is_numpy(xp):
        return (lambda x: xp.lib.stride_tricks.sliding_window_view(x, width, axis=at)), (*order, window)

    def run(x):
        count = x.shape[at] - width + 1
        starts = xp.reshape(xp.arange(count), (count, 1)) + xp.reshape(xp.arange(width), (1, width))
        taken = xp.take(x, xp.reshape(starts, (-1,)), axis=at)
        return xp.reshape(taken, (*x.shape[:at], count, width, *x.shape[at + 1 :]))

    return run, (*order[: at + 1], window, *order[at + 1 :])


def _lower_pool(xp, orders, axes, options):
    (order,) = orders
    axis, window = axes
    at, width = order.index(axis), options["sizes"][window]

    def run(x):
        return xp.reshape(x, (*x.shape[:at], x.shape[at] // width, width, *x.shape[at + 1 :]))

    return run, (*order[: at + 1], window, *order[at + 1 :])


def _given_unroll(shapes, axes, sizes):
    axis, window = axes
    if axis not in shapes[0]:
        return {window: sizes[window]}
    count = shapes[0][axis] - sizes[window] + 1
    if isinstance(count, int) and count < 1:
        raise AxisProblem("whole", axis, 0, f"{axis} is {shapes[0][axis]}, shorter than the window {window}, {sizes[window]}")
    return {axis: count, window: sizes[window]}


def _given_pool(shapes, axes, sizes):
    axis, window = axes
    if axis not in shapes[0]:
        return {window: sizes[window]}
    whole, width = shapes[0][axis], sizes[window]
    if isinstance(whole, int) and isinstance(width, int) and (width < 1 or whole % width):
        raise AxisProblem("whole", axis, 0, f"{axis} is {whole}, and windows of {width} do not fill it")
    return {axis: whole // width, window: width}


register(
    Operator(
        "unroll", "window", "seq -> seq kernel", _lower_unroll, "overlapping windows of |kernel| elements",
        "np.lib.stride_tricks.sliding_window_view(X, k, axis)", "§4.4 Convolution", given=_given_unroll,
    )
)  # fmt: skip
register(
    Operator(
        "pool", "window", "seq -> seq kernel", _lower_pool, "windows of |kernel| elements side by side",
        "X.reshape(n // k, k)", "§4.5 Pooling", given=_given_pool,
    )
)  # fmt: skip
