"""ATen operations that are recorded as others: by the functions here, else as PyTorch decomposes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch._decomp import core_aten_decompositions

F = torch.nn.functional


def nll_loss(
    self: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, reduction: int, ignore_index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return −x at the class of each example, and the sum of the weights, the divisor of the mean."""
    dim = min(1, self.ndim - 1)
    losses = -self.gather(dim, target.unsqueeze(dim)).squeeze(dim)
    factors = [] if weight is None else [weight[target]]
    factors += [target != ignore_index] if ignore_index != -100 else []
    reduced = (lambda losses: losses, torch.mean, torch.sum)[reduction]
    if not factors:
        return reduced(losses), self
    factor = factors[0] if len(factors) == 1 else factors[0] * factors[1]
    total = torch.sum(factor)
    return torch.sum(factor * losses) / total if reduction == 1 else reduced(factor * losses), total


def trilinear(
    i1: torch.Tensor, i2: torch.Tensor, i3: torch.Tensor, expand1: Any, expand2: Any, expand3: Any, sumdim: Any,
    unroll_dim: int,
) -> torch.Tensor | None:  # fmt: skip
    """Return x ⊙ W ⊙ y, as `nn.Bilinear` calls it."""
    if [expand1, expand2, expand3, sumdim] != [[1, 3], [0], [1, 2], [2, 3]]:
        return None
    return (torch.matmul(i1, i2).unsqueeze(-2) @ i3.unsqueeze(-1)).squeeze((-2, -1)).t()


# ---------------------------------------------------------------------------------------------------------------- norms
def scale(x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None) -> torch.Tensor:
    """Return x ⊙ weight + bias, which are along the second dimension."""
    column = [-1] + [1] * (x.ndim - 2)
    x = x if weight is None else x * weight.view(column)
    return x if bias is None else x + bias.view(column)


def batch_norm(
    input: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, mean: torch.Tensor, variance: torch.Tensor,
    training: bool, momentum: float, eps: float,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    if training:
        chans = input.transpose(0, 1)
        x = F.layer_norm(chans, chans.shape[1:], None, None, eps).transpose(0, 1)
    else:
        column = [-1] + [1] * (input.ndim - 2)
        x = (input - mean.view(column)) / torch.sqrt(variance.view(column) + eps)
    return scale(x, weight, bias), input, input


def group_norm(
    input: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, n: int, c: int, hw: int, groups: int, eps: float
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    x = input.unflatten(1, (groups, -1))
    x = F.layer_norm(x, x.shape[2:], None, None, eps).flatten(1, 2)
    return scale(x, weight, bias), input, input


# -------------------------------------------------------------------------------------------------------------- windows
def slide(x: torch.Tensor, dim: int, kernel: int, stride: int, dilation: int = 1) -> torch.Tensor:
    """Return the windows along a dimension; the last dimension is within them."""
    return x.unfold(dim, dilation * (kernel - 1) + 1, stride)[..., ::dilation]


def im2col(
    self: torch.Tensor, kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> torch.Tensor:
    """Return the windows of an image as columns."""
    x = F.pad(self, (padding[1], padding[1], padding[0], padding[0]))
    for at in (0, 1):
        x = slide(x, at + 2, kernel[at], stride[at], dilation[at])
    return x.permute(0, 1, 4, 5, 2, 3).flatten(1, 3).flatten(2, 3)


def for_each(value: Any, rank: int) -> list[int]:
    """Return a setting for each of `rank` dimensions."""
    listed = [value] if isinstance(value, int) else list(value)
    return listed * rank if len(listed) == 1 else listed


class Window(NamedTuple):
    """The windows of a pool along one dimension."""

    kernel: int
    stride: int
    padding: int
    dilation: int
    beyond: int  # elements of the last window that the padded tensor lacks

    def slide(self, x: torch.Tensor, dim: int) -> torch.Tensor:
        return slide(x, dim, self.kernel, self.stride, self.dilation)


def windows_of(
    lengths: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> list[Window]:
    settings = [for_each(one, len(lengths)) for one in (kernel, stride or kernel, padding, dilation)]
    windows = list[Window]()
    for length, size, step, before, spread in zip(lengths, *settings):
        whole = length + 2 * before - spread * (size - 1) - 1
        begins = (whole // step + 1) * step < length + before  # a window beyond the last whole one
        windows.append(Window(size, step, before, spread, -whole % step if ceil and begins else 0))
    return windows


def pad_windows(x: torch.Tensor, windows: Sequence[Window], value: float) -> torch.Tensor:
    """Return a tensor padded for windows, with the windows along its last dimensions."""
    widths = [width for one in reversed(windows) for width in (one.padding, one.padding + one.beyond)]
    x = F.pad(x, widths, value=value) if any(widths) else x
    first = x.ndim - len(windows)
    for at, window in enumerate(windows):
        x = window.slide(x, first + at)
    return x


def max_pool(
    self: torch.Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, rank: int
) -> tuple[torch.Tensor, torch.Tensor]:
    windows = windows_of(self.shape[-rank:], kernel, stride, padding, dilation, ceil)
    return pad_windows(self, windows, -torch.inf).amax(tuple(range(-rank, 0))), self


def avg_pool(
    self: torch.Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil: bool,
    include: bool,
    divisor: int | None,
    rank: int,
) -> torch.Tensor:
    windows = windows_of(self.shape[-rank:], kernel, stride, padding, 1, ceil)
    inside, x = tuple(range(-rank, 0)), pad_windows(self, windows, 0)
    if divisor is not None:
        return x.sum(inside) / divisor
    if include and not any(window.beyond for window in windows):
        return x.mean(inside)
    x = x.sum(inside)
    for at, (window, length) in enumerate(zip(windows, self.shape[-rank:])):
        ones = torch.ones(length + 2 * window.padding * include)
        count = pad_windows(ones, [window._replace(padding=0) if include else window], 0).sum(-1)
        x = x / count.view([-1] + [1] * (rank - 1 - at))
    return x


def convolution(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, *settings: Any,
) -> torch.Tensor:  # fmt: skip
    """Return the products of the windows with the weight; a transposed one takes the input with zeros in between."""
    rank = weight.ndim - 2
    lengths = weight.shape[2:]
    stride, padding, dilation = (for_each(setting, rank) for setting in (stride, padding, dilation))
    if transposed:
        beyond = for_each(output_padding, rank)
        for at in range(rank):
            input = spread(input, at + 2, stride[at])
        reach = [dilation[at] * (length - 1) - padding[at] for at, length in enumerate(lengths)]
        input = F.pad(input, [width for at in reversed(range(rank)) for width in (reach[at], reach[at] + beyond[at])])
        weight = weight.flip(tuple(range(2, rank + 2))).unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1)
        stride, padding = [1] * rank, [0] * rank
    windows = [Window(*numbers, 0) for numbers in zip(lengths, stride, padding, dilation)]
    x = pad_windows(input, windows, 0)
    spatial, kernels = [at + 2 for at in range(rank)], [at + 2 + rank for at in range(rank)]
    if groups == 1:
        result = x.permute(0, *spatial, 1, *kernels).flatten(-rank - 1) @ weight.flatten(1).t()
        result = result.movedim(-1, 1)
    else:
        x = x.unflatten(1, (groups, -1)).permute(1, 0, *(at + 1 for at in spatial), 2, *(at + 1 for at in kernels))
        shape, columns = x.shape[1 : rank + 2], weight.unflatten(0, (groups, -1)).flatten(2).transpose(1, 2)
        result = x.flatten(-rank - 1).flatten(1, -2) @ columns
        result = result.unflatten(1, shape).movedim(-1, 1).transpose(1, 2).transpose(0, 1).flatten(1, 2)
    return result if bias is None else result + bias.view([-1] + [1] * rank)


def spread(x: torch.Tensor, dim: int, step: int) -> torch.Tensor:
    """Return a tensor with step − 1 zeros between the elements along a dimension."""
    if step == 1:
        return x
    widths = [0, 0] * (x.ndim - 1 - dim) + [0, step - 1]
    whole = F.pad(x.unsqueeze(dim + 1), widths).flatten(dim, dim + 1)
    return whole.narrow(dim, 0, whole.shape[dim] - step + 1)


def adaptive_pool(rank: int, most: bool) -> Callable[..., Any]:
    """Return a function for the largest elements, or the means, of as many equal windows as the output has elements."""

    def pool_windows(self: torch.Tensor, output: Sequence[int]) -> torch.Tensor | tuple[torch.Tensor, ...]:
        x, first = self, self.ndim - rank
        for at, count in enumerate(output):
            length = self.shape[first + at]
            if length % count:
                raise ValueError(f"a pool from {length} to {count}, in windows of several sizes")
            x = slide(x, first + at, length // count, length // count)
        within = tuple(range(-rank, 0))
        return (x.amax(within), self) if most else x.mean(within)

    return pool_windows


def repeat_elements(self: torch.Tensor, output: Sequence[int] | None, *scales: Any) -> torch.Tensor:
    """Return each element several times along the last dimensions."""
    factors = [] if output else [*scales[0]]
    for at in range(len(output or factors)):
        dim = self.ndim - len(output or factors) + at
        size = output[at] if output else self.shape[dim] * factors[at]
        if size % self.shape[dim]:
            raise ValueError("an interpolation by a factor that is not whole")
        copies = int(size // self.shape[dim])
        shape = [*self.shape[: dim + 1], copies, *self.shape[dim + 1 :]]
        self = self.unsqueeze(dim + 1).expand(shape).flatten(dim, dim + 1) if copies > 1 else self
    return self


OWN: Mapping[str, Callable[..., Any]] = {  # operations that PyTorch would decompose at length, or not at all
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), nll_loss),
    "_trilinear": trilinear,
    "im2col": im2col,
    "native_batch_norm": batch_norm,
    "native_group_norm": group_norm,
    **dict.fromkeys(("convolution", "_convolution", "mkldnn_convolution"), convolution),
    **{f"max_pool{rank}d_with_indices": partial(max_pool, rank=rank) for rank in (2, 3)},
    **{f"avg_pool{rank}d": partial(avg_pool, rank=rank) for rank in (2, 3)},
    **{f"_adaptive_avg_pool{rank}d": adaptive_pool(rank, False) for rank in (2, 3)},
    **{f"adaptive_max_pool{rank}d": adaptive_pool(rank, True) for rank in (2, 3)},
    **dict.fromkeys(("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"), repeat_elements),
    **dict.fromkeys(
        ("addmm", "addmv", "baddbmm"), lambda self, one, two, beta, alpha: beta * self + alpha * torch.matmul(one, two)
    ),
    "elu": lambda self, alpha, scale, input_scale: scale * F.elu(input_scale * self, alpha),
    "rrelu_with_noise": lambda self, noise, lower, upper, training, generator: F.leaky_relu(self, (lower + upper) / 2),
    "_cdist_forward": lambda x, y, p, mode: torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, -1),
    "lerp": lambda self, end, weight: self + weight * (end - self),
    "xlogy": lambda self, other: torch.where(self == 0, 0, self * torch.log(torch.as_tensor(other))),
}
READ_AT = {  # operations that are read as they are with these numbers only
    "elu": {"scale": 1, "input_scale": 1},
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), {"beta": 1, "alpha": 1}),
}
DECOMPOSITIONS = core_aten_decompositions()


def decompose(func: Any, name: str, is_read: bool, args: Sequence[Any], kwargs: Mapping[str, Any], bound: Any) -> Any:
    """Return the value of an operation by others, PyTorch's unless there are shorter ones; None if it is read as it is."""
    if is_read and all(bound[word] == number for word, number in READ_AT.get(name, {}).items()):
        return None
    if name in OWN:
        return OWN[name](*bound.values())
    return DECOMPOSITIONS[func](*args, **kwargs) if func in DECOMPOSITIONS else None
