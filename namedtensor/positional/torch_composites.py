"""Functions and operations of PyTorch that are recorded as others which give the same.

An activation or a loss is recorded as the elementwise operations that it consists of: `DECOMPOSED`, by the names of ATen.
`nn.RNN`, `nn.GRU` and `nn.LSTM` call a function that runs a loop. While a module is recorded, that function is replaced by
an operation that is dispatched as one, so that the steps do not depend on the length of a sequence. Functions that write in
place, or that look at values only to check them, are replaced by plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
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


REPLACED: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(GATES, recurrent_layer),
    "one_hot": one_hot,
    "pad": pad,
    "instance_norm": lambda func, *args, **kwargs: instance_norm(*args, **kwargs) if func is F.instance_norm else None,
}


# ----------------------------------------------------------------------------------------------------- operations of ATen
REDUCTIONS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (lambda losses: losses, torch.mean, torch.sum)


def leaky(x: torch.Tensor, slope: float | torch.Tensor) -> torch.Tensor:
    return torch.clamp_min(x, 0) + slope * torch.clamp_max(x, 0)


def scaled_elu(self: torch.Tensor, alpha: float, scale: float, input_scale: float) -> torch.Tensor | None:
    if (alpha, scale, input_scale) == (1, 1, 1):
        return None
    return scale * (torch.clamp_min(self, 0) + alpha * torch.expm1(input_scale * torch.clamp_max(self, 0)))


def gated_linear_unit(self: torch.Tensor, dim: int) -> torch.Tensor:
    half = self.shape[dim] // 2
    return self.narrow(dim, 0, half) * torch.sigmoid(self.narrow(dim, half, half))


def scaled_product(self: torch.Tensor, one: torch.Tensor, two: torch.Tensor, beta: float, alpha: float) -> Any:
    """beta self + alpha one @ two, where that is not a plain sum."""
    if alpha == beta == 1:
        return None
    product = torch.mul(torch.matmul(one, two), alpha)
    return product if beta == 0 else product + beta * self


def rolled(self: torch.Tensor, shifts: Sequence[int], dims: Sequence[int]) -> torch.Tensor | None:
    if not dims:
        return None
    for shift, dim in zip(shifts, dims):
        if last := shift % self.shape[dim]:
            first = self.shape[dim] - last
            self = torch.cat([self.narrow(dim, first, last), self.narrow(dim, 0, first)], dim)
    return self


def pixel_shuffle(self: torch.Tensor, upscale_factor: int) -> torch.Tensor:
    split = self.unflatten(-3, (-1, upscale_factor, upscale_factor)).transpose(-4, -2)
    return split.transpose(-3, -2).transpose(-2, -1).flatten(-4, -3).flatten(-2, -1)


def pixel_unshuffle(self: torch.Tensor, downscale_factor: int) -> torch.Tensor:
    split = self.unflatten(-1, (-1, downscale_factor)).unflatten(-3, (-1, downscale_factor))
    return split.transpose(-4, -3).transpose(-2, -1).transpose(-3, -2).flatten(-5, -3)


def smooth_loss(difference: torch.Tensor, reduction: int, bound: float, divisor: float, factor: float) -> torch.Tensor:
    """d² / divisor up to the bound, factor · (d − bound / 2) beyond."""
    distance = torch.abs(difference)
    beyond = factor * (distance - bound / 2)
    return REDUCTIONS[reduction](torch.where(distance < bound, distance**2 / divisor, beyond))


def binary_cross_entropy(
    self: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, reduction: int
) -> torch.Tensor:
    """−(y log x + (1 − y) log(1 − x)), each logarithm at least −100"""
    one, other = (torch.clamp_min(torch.log(x), -100) for x in (self, 1 - self))
    losses = -(target * one + (1 - target) * other)
    return REDUCTIONS[reduction](losses if weight is None else weight * losses)


def nll_loss(
    self: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, reduction: int, ignore_index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """−x at the class of each example, and the sum of the weights, by which the mean divides."""
    dim = min(1, self.ndim - 1)
    losses = -self.gather(dim, target.unsqueeze(dim)).squeeze(dim)
    factors = [] if weight is None else [weight[target]]
    factors += [target != ignore_index] if ignore_index != -100 else []
    if not factors:
        return REDUCTIONS[reduction](losses), self
    factor = factors[0] if len(factors) == 1 else factors[0] * factors[1]
    total = torch.sum(factor)
    return torch.sum(factor * losses) / total if reduction == 1 else REDUCTIONS[reduction](factor * losses), total


def multi_margin_loss(
    self: torch.Tensor, target: torch.Tensor, p: int, margin: float, weight: torch.Tensor | None, reduction: int
) -> torch.Tensor | None:
    """For each class but the right one max(0, m − x_y + x_i)^p; for the right one that would be m^p."""
    if weight is not None or self.ndim != 2:
        return None
    right = self.gather(1, target.unsqueeze(1))
    beyond = torch.clamp_min(self + margin - right, 0)
    return REDUCTIONS[reduction]((torch.sum(beyond**p if p > 1 else beyond, 1) - margin**p) / self.shape[1])


def trilinear(
    i1: torch.Tensor, i2: torch.Tensor, i3: torch.Tensor, expand1: Any, expand2: Any, expand3: Any, sumdim: Any,
    unroll_dim: int,
) -> torch.Tensor | None:  # fmt: skip
    """x ⊙ W ⊙ y, as `nn.Bilinear` calls it."""
    if [expand1, expand2, expand3, sumdim] != [[1, 3], [0], [1, 2], [2, 3]]:
        return None
    return (torch.matmul(i1, i2).unsqueeze(-2) @ i3.unsqueeze(-1)).squeeze((-2, -1)).t()


DECOMPOSED: Mapping[str, Callable[..., Any]] = {  # None where the operation is recorded as it is
    "hardsigmoid": lambda self: torch.clamp(self / 6 + 0.5, 0, 1),
    "hardswish": lambda self: self * torch.clamp(self + 3, 0, 6) / 6,
    "mish": lambda self: self * torch.tanh(F.softplus(self)),
    "softplus": lambda self, beta, threshold: None if (beta, threshold) == (1, 20) else F.softplus(self * beta) / beta,
    "leaky_relu": lambda self, negative_slope: None if negative_slope == 0.01 else leaky(self, negative_slope),
    "rrelu_with_noise": lambda self, noise, lower, upper, training, generator: leaky(self, (lower + upper) / 2),
    "_prelu_kernel": lambda self, weight: leaky(self, weight),
    "elu": scaled_elu,
    "celu": lambda self, alpha: torch.clamp_min(self, 0) + alpha * torch.expm1(torch.clamp_max(self, 0) / alpha),
    "hardshrink": lambda self, lambd: torch.where(torch.abs(self) > lambd, self, 0),
    "softshrink": lambda self, lambd: torch.sign(self) * torch.clamp_min(torch.abs(self) - lambd, 0),
    "threshold": lambda self, threshold, value: torch.where(self > threshold, self, value),
    "glu": gated_linear_unit,
    "xlogy": lambda self, other: torch.where(self == 0, 0, self * torch.log(torch.as_tensor(other))),
    "addmm": lambda self, mat1, mat2, beta, alpha: scaled_product(self, mat1, mat2, beta, alpha),
    "addmv": lambda self, mat, vec, beta, alpha: scaled_product(self, mat, vec, beta, alpha),
    "baddbmm": lambda self, batch1, batch2, beta, alpha: scaled_product(self, batch1, batch2, beta, alpha),
    "rsqrt": lambda self: torch.reciprocal(torch.sqrt(self)),
    "addcmul": lambda self, tensor1, tensor2, value: self + value * (tensor1 * tensor2),
    "addcdiv": lambda self, tensor1, tensor2, value: self + value * (tensor1 / tensor2),
    "lerp": lambda self, end, weight: self + weight * (end - self),
    "roll": rolled,
    "pixel_shuffle": pixel_shuffle,
    "pixel_unshuffle": pixel_unshuffle,
    "channel_shuffle": lambda self, groups: self.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2),
    "mse_loss": lambda self, target, reduction: REDUCTIONS[reduction]((self - target) ** 2),
    "huber_loss": lambda self, target, reduction, delta: smooth_loss(self - target, reduction, delta, 2, delta),
    "smooth_l1_loss": lambda self, target, reduction, beta: smooth_loss(self - target, reduction, beta, 2 * beta, 1),
    "binary_cross_entropy": binary_cross_entropy,
    "soft_margin_loss": lambda self, target, reduction: REDUCTIONS[reduction](F.softplus(-(target * self))),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), nll_loss),
    "multi_margin_loss": multi_margin_loss,
    "_trilinear": trilinear,
}
