"""Functions and operations of PyTorch that are recorded as others which give the same.

An operation that has no rule is recorded as the operations that PyTorch decomposes it into.
`nn.RNN`, `nn.GRU` and `nn.LSTM` call a function that runs a loop. While a module is recorded, that function is replaced by
an operation that is dispatched as one, so that the steps do not depend on the length of a sequence. Functions that write in
place, or that look at values only to check them, are replaced by plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch._decomp import core_aten_decompositions
from torch.overrides import TorchFunctionMode

F = torch.nn.functional
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
RECURRENT = (
    "recurrent(str kind, Tensor input, Tensor[] state, Tensor[] weights, bool biased, int layers, bool both_ways,"
    " bool batch_first) -> Tensor[]"
)
MASK = "mask(Tensor like, float p, int number) -> Tensor"


def computed(
    kind: str,
    input: torch.Tensor,
    state: list[torch.Tensor],
    weights: list[torch.Tensor],
    biased: bool,
    layers: int,
    both_ways: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    function: Callable[..., Any] = getattr(torch, kind)
    start = state if kind == "lstm" else state[0]
    return [*function(input, start, weights, biased, layers, 0.0, False, both_ways, batch_first)]


def mask_of(shape: Sequence[int], p: float, number: int) -> torch.Tensor:
    """Zeros where dropout drops an element, ones elsewhere: for a number and a shape always the same."""
    generator = torch.Generator().manual_seed(number)
    return (torch.rand([*shape], generator=generator) >= p).float()


def registered(schema: str, function: Callable[..., Any]) -> None:
    """Register an operation, unless an import that was interrupted did."""
    name = schema.partition("(")[0]
    if not hasattr(torch.ops.namedtensor, name):
        torch.library.define(f"namedtensor::{name}", schema.removeprefix(name))
    operation = getattr(torch.ops.namedtensor, name).default
    if not operation.has_kernel_for_dispatch_key("CompositeExplicitAutograd"):
        torch.library.impl(f"namedtensor::{name}", "default", function)


registered(RECURRENT, computed)
registered(MASK, lambda like, p, number: mask_of(like.shape, p, number))


class Masks(TorchFunctionMode):
    """Dropout in training by masks; `drawn` are shape, probability and number of each of the latest run."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[tuple[Sequence[int], float, int]] = []

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The masks of the latest run, by name."""
        return {mask_name(number): mask_of(shape, p, number) for shape, p, number in self.drawn}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        if func is torch.nn.functional.dropout:
            return self.dropout(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def dropout(
        self, input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> torch.Tensor:
        if not training or p == 0:
            return input
        number = len(self.drawn) + 1
        mask = torch.ops.namedtensor.mask(input, p, number)
        self.drawn.append((tuple(input.shape), p, number))
        return input * mask / (1 - p)


def mask_name(number: int) -> str:
    return f"mask_{number}"


class Replacing(TorchFunctionMode):
    """Calls of these functions as those that replace them."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        replacement = REPLACED.get(getattr(func, "__name__", ""))
        if replacement is not None:
            result = replacement(func, *args, **(kwargs or {}))
            if result is not None:
                return result
        return func(*args, **(kwargs or {}))


def recurrent_layer(func: Any, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...] | None:
    """A recurrent layer as one operation."""
    kind = func.__name__
    if kwargs or not is_layer(args):
        return None
    tensor, start, weights, biased, layers, _, _, both_ways, batch_first = args
    state = [*start] if kind == "lstm" else [start]
    recurrent = torch.ops.namedtensor.recurrent
    return tuple(recurrent(kind, tensor, state, [*weights], biased, layers, both_ways, batch_first))


def is_layer(args: Sequence[Any]) -> bool:
    """Whether a call is of sequences that are one tensor, without dropout in training, and without projections."""
    if len(args) != 9 or isinstance(args[3], torch.Tensor) or (args[5] and args[6]):
        return False
    _, _, weights, biased, layers, _, _, both_ways, _ = args
    return len(weights) == layers * (2 if both_ways else 1) * (4 if biased else 2)


def one_hot(func: Any, tensor: torch.Tensor, num_classes: int = -1) -> torch.Tensor | None:
    """One where the index is that of the class; PyTorch also looks whether all are in range."""
    if num_classes < 0:
        return None
    return (tensor.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


def pad(
    func: Any, input: torch.Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> torch.Tensor | None:
    """Circular padding as a concatenation of slices; PyTorch copies them into an empty tensor."""
    if mode != "circular" or min(pad) < 0:
        return None
    for count in range(len(pad) // 2):
        before, after, dim = pad[2 * count], pad[2 * count + 1], input.ndim - 1 - count
        length = input.shape[dim]
        pieces = [input.narrow(dim, length - before, before)] if before else []
        pieces += [input] + ([input.narrow(dim, 0, after)] if after else [])
        input = torch.cat(pieces, dim)
    return input


def instance_norm(
    input: torch.Tensor,
    running_mean: torch.Tensor | None = None,
    running_var: torch.Tensor | None = None,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> torch.Tensor:
    """A group norm with a group for each channel; with running statistics a batch norm."""
    if use_input_stats:
        return torch.group_norm(input, input.shape[1], weight, bias, eps)
    return torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)


def attention(
    func: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> torch.Tensor | None:  # fmt: skip
    """Return attention by products and a softmax; several heads of the queries may share one of the keys."""
    if dropout_p:
        return None
    groups = (key.shape[-3], -1) if enable_gqa else ()
    if groups:  # the rows of several heads are those of one
        heads, rows = query.shape[-3:-1]
        query = query.unflatten(-3, groups).flatten(-3, -2)
        if attn_mask is not None and attn_mask.ndim > 2:
            one = attn_mask.shape[-3] == 1
            attn_mask = attn_mask.unsqueeze(-3) if one else attn_mask.unflatten(-3, groups)
    scores = query @ key.transpose(-2, -1)
    scores = scores / query.shape[-1] ** 0.5 if scale is None else scores * scale
    scores = scores.unflatten(-2, (heads // groups[0], rows)) if groups else scores
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None:
        masked = attn_mask.dtype == torch.bool
        scores = torch.where(attn_mask, scores, -torch.inf) if masked else scores + attn_mask
    weights = torch.softmax(scores, -1)
    if not groups:
        return weights @ value
    return (weights.flatten(-3, -2) @ value).unflatten(-2, (heads // groups[0], rows)).flatten(-4, -3)


REPLACED: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(GATES, recurrent_layer),
    "one_hot": one_hot,
    "scaled_dot_product_attention": attention,
    "pad": pad,
    "instance_norm": lambda func, *args, **kwargs: instance_norm(*args, **kwargs) if func is F.instance_norm else None,
}


# ------------------------------------------------------------------------------------------------------------- operations of ATen
def nll_loss(
    self: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, reduction: int, ignore_index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return −x at the class of each example, and the sum of the weights, by which the mean divides."""
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
    """Return the products of the windows with the weight; a transposed one is that of the input with zeros in between."""
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

    def of_windows(self: torch.Tensor, output: Sequence[int]) -> torch.Tensor | tuple[torch.Tensor, ...]:
        x, first = self, self.ndim - rank
        for at, count in enumerate(output):
            length = self.shape[first + at]
            if length % count:
                raise ValueError(f"a pool from {length} to {count}, in windows of several sizes")
            x = slide(x, first + at, length // count, length // count)
        within = tuple(range(-rank, 0))
        return (x.amax(within), self) if most else x.mean(within)

    return of_windows


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
    "lerp": lambda self, end, weight: self + weight * (end - self),
    "xlogy": lambda self, other: torch.where(self == 0, 0, self * torch.log(torch.as_tensor(other))),
}
READ_AT = {  # operations that are read as they are with these numbers only
    "elu": {"scale": 1, "input_scale": 1},
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), {"beta": 1, "alpha": 1}),
}
DECOMPOSITIONS = core_aten_decompositions()


def decomposed(func: Any, name: str, is_read: bool, args: Sequence[Any], kwargs: Mapping[str, Any], bound: Any) -> Any:
    """Return the value of an operation by others, PyTorch's unless there are shorter ones; None if it is read as it is."""
    if is_read and all(bound[word] == number for word, number in READ_AT.get(name, {}).items()):
        return None
    if name in OWN:
        return OWN[name](*bound.values())
    return DECOMPOSITIONS[func](*args, **kwargs) if func in DECOMPOSITIONS else None
