"""Layers, such as convolutions, pooling and norms, which are composed of other operations.

Each function has a parameter `o` that calls operations by name. For array code, these operations act on values with
axes. For PyTorch modules, they act on tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from .composite_operations import Calls, composite, rank_of
from .operations import MisuseError


# ---------------------------------------------------------------------------------------------------------------- norms
def scale(o: Calls, x: Any, weight: Any, bias: Any) -> Any:
    """Return x ⊙ weight + bias. The weight and bias lie along the second dimension, and may be None."""
    x = x if weight is None else o.multiply(x, column(o, weight, rank_of(x)))
    return x if bias is None else o.add(x, column(o, bias, rank_of(x)))


def column(o: Calls, vector: Any, rank: int) -> Any:
    """Return a vector in the shape (n, 1, …, 1), in which it is aligned with a tensor's second dimension.

    `rank` is the number of dimensions of this tensor.
    """
    for _ in range(rank - 2):
        vector = o.unsqueeze(vector, -1)
    return vector


def batch_norm(
    o: Calls, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, momentum: float, eps: float
) -> tuple[Any, ...]:
    result, rank = x, rank_of(x)
    if training:
        chans = o.swapaxes(x, 0, 1)
        result = o.swapaxes(o.layer_norm(chans, o.size(chans)[1:], None, None, eps), 0, 1)
    else:
        centered = o.subtract(x, column(o, mean, rank))
        result = o.divide(centered, o.sqrt(o.add(column(o, variance, rank), eps)))
    return scale(o, result, weight, bias), x, x


def group_norm(
    o: Calls, x: Any, weight: Any, bias: Any, n: int, c: int, hw: int, groups: int, eps: float
) -> tuple[Any, ...]:
    parts = o.unflatten(x, 1, (groups, -1))
    parts = o.flatten(o.layer_norm(parts, o.size(parts)[2:], None, None, eps), 1, 2)
    return scale(o, parts, weight, bias), x, x


# -------------------------------------------------------------------------------------------------------------- windows
def for_each(value: Any, rank: int) -> list[Any]:
    """Return a setting, such as a stride, as a list with one value for each of `rank` dimensions."""
    listed = [value] if isinstance(value, int) else list(value)
    return listed * rank if len(listed) == 1 else listed


class Window(NamedTuple):
    """The kernel size, stride, padding and dilation of a layer's windows along one dimension."""

    kernel: Any
    stride: int
    padding: int
    dilation: int
    beyond: int = 0  # elements of the last window that the padded tensor lacks

    def slide(self, o: Calls, x: Any, dim: int) -> Any:
        """Return the windows along a dimension. A new last dimension contains the positions within each window."""
        if self.dilation == 1:
            return o.unfold(x, dim, self.kernel, self.stride)
        return o.every(o.unfold(x, dim, self.dilation * (self.kernel - 1) + 1, self.stride), self.dilation)


def windows_of(
    lengths: Sequence[Any], kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> list[Window]:
    settings = [for_each(one, len(lengths)) for one in (kernel, stride or kernel, padding, dilation)]
    return [
        Window(size, step, before, spread, elements_beyond(length, size, step, before, spread) if ceil else 0)
        for length, size, step, before, spread in zip(lengths, *settings)
    ]


def elements_beyond(length: Any, size: int, step: int, before: int, spread: int) -> int:
    """Return how far the last window extends beyond the padded input, or 0 if PyTorch omits this window.

    Raise MisuseError if the length is not known.
    """
    if not isinstance(length, int):
        raise MisuseError("ceil_mode=True is not supported")
    whole = length + 2 * before - spread * (size - 1) - 1
    return -whole % step if (whole // step + 1) * step < length + before else 0


def pad_windows(o: Calls, x: Any, windows: Sequence[Window], value: float) -> Any:
    """Pad a tensor, and return its windows along the last dimensions.

    For each of these dimensions, a new dimension at the end contains the positions within a window.
    """
    widths = tuple(width for one in reversed(windows) for width in (one.padding, one.padding + one.beyond))
    x = o.pad(x, widths, value=value) if any(widths) else x
    first = rank_of(x) - len(windows)
    for at, window in enumerate(windows):
        x = window.slide(o, x, first + at)
    return x


def im2col(o: Calls, x: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Return, for each example, a matrix whose columns are the windows of the image."""
    windows = [Window(*numbers) for numbers in zip(kernel, stride, padding, dilation)]
    columns = o.permute(pad_windows(o, x, windows, 0), (0, 1, 4, 5, 2, 3))
    return o.flatten(o.flatten(columns, 1, 3), 2, 3)


def max_pool(
    o: Calls, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, rank: int
) -> tuple[Any, Any]:
    windows = windows_of(o.size(x)[-rank:], kernel, stride, padding, dilation, ceil)
    return o.amax(pad_windows(o, x, windows, -math.inf), tuple(range(-rank, 0))), x


def avg_pool(
    o: Calls,
    x: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil: bool,
    include: bool,
    divisor: Any = None,
    *,
    rank: int,
) -> Any:
    lengths, inside = o.size(x)[-rank:], tuple(range(-rank, 0))
    windows = windows_of(lengths, kernel, stride, padding, 1, ceil)
    x = pad_windows(o, x, windows, 0)
    if divisor is not None:
        return o.divide(o.sum(x, inside), divisor)
    if not any(window.beyond or (window.padding and not include) for window in windows):
        return o.mean(x, inside)
    x = o.sum(x, inside)
    for at, (window, length) in enumerate(zip(windows, lengths)):
        if not isinstance(length, int):
            raise MisuseError("count_include_pad=False is not supported")
        ones = o.ones(length + 2 * window.padding * include)
        counted = pad_windows(o, ones, [window._replace(padding=0) if include else window], 0)
        x = o.divide(x, column(o, o.sum(counted, -1), rank - at + 1))
    return x


def adaptive_pool(o: Calls, x: Any, output: Sequence[int], rank: int, most: bool) -> Any:
    """Return the maximum or mean of each window.

    Windows are of equal length, and `output` gives their number per axis.
    """
    first, within = rank_of(x) - rank, tuple(range(-rank, 0))
    windows = x
    for at, count in enumerate(output):
        length = o.size(x)[first + at]
        if length % count:
            raise ValueError(f"a pool from {length} to {count}, in windows of several sizes")
        windows = o.unfold(windows, first + at, length // count, length // count)
    return (o.amax(windows, within), x) if most else o.mean(windows, within)


def convolution(
    o: Calls, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool = False,
    output_padding: Any = 0, groups: int = 1, *settings: Any,
) -> Any:  # fmt: skip
    """Return the convolution of the input with the weight.

    For a transposed layer, zeros are first inserted in the input.
    """
    lengths = o.size(weight)[2:]
    rank = len(lengths)
    stride, padding, dilation = (for_each(setting, rank) for setting in (stride, padding, dilation))
    if transposed:
        beyond = for_each(output_padding, rank)
        for at in range(rank):
            x = spread_elements(o, x, at + 2, stride[at])
        reach = [dilation[at] * (length - 1) - padding[at] for at, length in enumerate(lengths)]
        x = o.pad(x, [width for at in reversed(range(rank)) for width in (reach[at], reach[at] + beyond[at])])
        weight = o.unflatten(o.flip(weight, tuple(range(2, rank + 2))), 0, (groups, -1))
        weight = o.flatten(o.swapaxes(weight, 1, 2), 0, 1)
        stride, padding = [1] * rank, [0] * rank
    x = pad_windows(o, x, [Window(*numbers) for numbers in zip(lengths, stride, padding, dilation)], 0)
    spatial, kernels = [at + 2 for at in range(rank)], [at + 2 + rank for at in range(rank)]
    if groups == 1:
        columns = o.flatten(o.permute(x, (0, *spatial, 1, *kernels)), -rank - 1, -1)
        result = o.movedim(o.matmul(columns, o.t(o.flatten(weight, 1, -1))), -1, 1)
    else:
        x = o.unflatten(x, 1, (groups, -1))
        x = o.permute(x, (1, 0, *(at + 1 for at in spatial), 2, *(at + 1 for at in kernels)))
        shape = o.size(x)[1 : rank + 2]
        columns = o.swapaxes(o.flatten(o.unflatten(weight, 0, (groups, -1)), 2, -1), 1, 2)
        result = o.matmul(o.flatten(o.flatten(x, -rank - 1, -1), 1, -2), columns)
        result = o.swapaxes(o.movedim(o.unflatten(result, 1, shape), -1, 1), 1, 2)
        result = o.flatten(o.swapaxes(result, 0, 1), 1, 2)
    return result if bias is None else o.add(result, column(o, bias, rank + 2))


def spread_elements(o: Calls, x: Any, dim: int, step: int) -> Any:
    """Return a tensor with step − 1 zeros between the elements along a dimension."""
    if step == 1:
        return x
    widths = [0, 0] * (rank_of(x) - 1 - dim) + [0, step - 1]
    whole = o.flatten(o.pad(o.unsqueeze(x, dim + 1), widths), dim, dim + 1)
    return o.narrow(whole, dim, 0, o.size(whole)[dim] - step + 1)


def repeat_elements(o: Calls, x: Any, output: Sequence[int] | None, *scales: Any) -> Any:
    """Repeat each element along the last dimensions until they have the sizes in `output`.

    Without `output`, `scales` contains the numbers of repetitions.
    """
    factors = [] if output else for_each(scales[0], 1)
    for at in range(len(output or factors)):
        dim = rank_of(x) - len(output or factors) + at
        length = o.size(x)[dim]
        size = output[at] if output else length * factors[at]
        if size % length:
            raise ValueError("an interpolation by a factor that is not whole")
        copies = int(size // length)
        x = o.repeat_interleave(x, copies, dim) if copies > 1 else x
    return x


# ------------------------------------------------------------------------------------------------------------- array code
def convolve(
    o: Calls, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any, rank: int
) -> Any:
    if rank_of(x) != rank + 2 or rank_of(weight) != rank + 2:
        raise MisuseError(f"conv{rank}d needs {rank + 2} axes of its input and of its weight")
    if groups != 1 or dilation not in (1, (1,) * rank) or isinstance(padding, str):
        raise MisuseError("a convolution with dilation, groups or a padding in words is not supported")
    return convolution(o, x, weight, bias, stride, padding, dilation, groups=groups)


def pool(o: Calls, x: Any, *settings: Any, rank: int, most: bool) -> Any:
    """Return the maximum or the mean of each window along the last `rank` dimensions."""
    if rank_of(x) <= rank:
        raise MisuseError(f"a pool needs {rank + 1} axes at least")
    return max_pool(o, x, *settings, rank=rank)[0] if most else avg_pool(o, x, *settings, rank=rank)


def interpolate(o: Calls, x: Any, factor: Any, mode: Any) -> Any:
    if mode != "nearest" or not isinstance(factor, int):
        raise MisuseError("an interpolation by anything but a whole factor, with mode='nearest'")
    for dim in range(2, rank_of(x)):
        x = o.repeat_interleave(x, factor, dim)
    return x


composite(
    "batch_norm", "x, running_mean, running_var, weight=None, bias=None, -training=False, -momentum=0.1, eps=1e-5",
    lambda o, x, mean, variance, weight, bias, eps: batch_norm(o, x, weight, bias, mean, variance, False, 0.1, eps)[0],
    "torch",
)  # fmt: skip
composite("interpolate", "x, -size=None, scale_factor=None, mode='nearest'", interpolate, "torch")
for count in (1, 2, 3):
    CONVOLUTION = "x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1"
    composite(f"conv{count}d", CONVOLUTION, partial(convolve, rank=count), "torch")
    WINDOWS = "x, kernel_size, stride=None, padding=0, "
    most = partial(pool, rank=count, most=True)
    composite(f"max_pool{count}d", f"{WINDOWS}dilation=1, ceil_mode=False, -return_indices=False", most, "torch")
    mean = partial(pool, rank=count, most=False)
    AVERAGE = "ceil_mode=False, count_include_pad=True" + (", divisor_override=None" if count > 1 else "")
    composite(f"avg_pool{count}d", WINDOWS + AVERAGE, mean, "torch")
