"""ATen operations that are recorded as other operations, by the functions here or by PyTorch's own decompositions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from . import layer_operations as layers

F = torch.nn.functional


def nll_loss(
    self: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, reduction: int, ignore_index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss −x[class] of each example, reduced as requested, and the total weight that divides a mean.

    The losses are weighted. If no example has a weight, the second result is a placeholder.
    """
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
    """Evaluate the trilinear product x ⊙ W ⊙ y of `nn.Bilinear`, or return None for other uses of the operation."""
    if [expand1, expand2, expand3, sumdim] != [[1, 3], [0], [1, 2], [2, 3]]:
        return None
    return (torch.matmul(i1, i2).unsqueeze(-2) @ i3.unsqueeze(-1)).squeeze((-2, -1)).t()


class TorchCalls:
    """PyTorch's functions by their names in array code, used to evaluate composite operations on tensors."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return next(getattr(owner, name) for owner in (torch.Tensor, torch, F) if hasattr(owner, name))

    def every(self, x: torch.Tensor, step: int) -> torch.Tensor:
        return x[..., ::step]

    def repeat_interleave(self, x: torch.Tensor, copies: int, dim: int) -> torch.Tensor:
        shape = [*x.shape[: dim + 1], copies, *x.shape[dim + 1 :]]
        return x.unsqueeze(dim + 1).expand(shape).flatten(dim, dim + 1)


def wrap_table_function(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """Convert a function that is written in table operations to a function of PyTorch tensors."""
    return partial(function, TorchCalls(), **settings)


OWN: Mapping[str, Callable[..., Any]] = {  # operations that PyTorch would decompose at length, or not at all
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), nll_loss),
    "_trilinear": trilinear,
    "im2col": wrap_table_function(layers.im2col),
    "native_batch_norm": wrap_table_function(layers.batch_norm),
    "native_group_norm": wrap_table_function(layers.group_norm),
    **dict.fromkeys(("convolution", "_convolution", "mkldnn_convolution"), wrap_table_function(layers.convolution)),
    **{f"max_pool{rank}d_with_indices": wrap_table_function(layers.max_pool, rank=rank) for rank in (2, 3)},
    **{f"avg_pool{rank}d": wrap_table_function(layers.avg_pool, rank=rank) for rank in (2, 3)},
    **{
        f"_adaptive_avg_pool{rank}d": wrap_table_function(layers.adaptive_pool, rank=rank, most=False)
        for rank in (2, 3)
    },
    **{f"adaptive_max_pool{rank}d": wrap_table_function(layers.adaptive_pool, rank=rank, most=True) for rank in (2, 3)},
    **{f"upsample_nearest{rank}d": wrap_table_function(layers.repeat_elements) for rank in (1, 2, 3)},
    **dict.fromkeys(
        ("addmm", "addmv", "baddbmm"), lambda self, one, two, beta, alpha: beta * self + alpha * torch.matmul(one, two)
    ),
    "elu": lambda self, alpha, scale, input_scale: scale * F.elu(input_scale * self, alpha),
    "rrelu_with_noise": lambda self, noise, lower, upper, training, generator: F.leaky_relu(self, (lower + upper) / 2),
    "_cdist_forward": lambda x, y, p, mode: torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, -1),
    "lerp": lambda self, end, weight: self + weight * (end - self),
    "xlogy": lambda self, other: torch.where(self == 0, 0, self * torch.log(torch.as_tensor(other))),
}
READ_AT = {  # operations that a rule translates only if these arguments have these values
    "elu": {"scale": 1, "input_scale": 1},
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), {"beta": 1, "alpha": 1}),
}
DECOMPOSITIONS = torch.export.default_decompositions()


def decompose(func: Any, name: str, is_read: bool, args: Sequence[Any], kwargs: Mapping[str, Any], bound: Any) -> Any:
    """Evaluate an operation by other operations, or return None if a rule translates the operation itself.

    The result is also None if there is no decomposition.
    """
    if is_read and all(bound[word] == number for word, number in READ_AT.get(name, {}).items()):
        return None
    if name in OWN:
        return OWN[name](*bound.values())
    return DECOMPOSITIONS[func](*args, **kwargs) if func in DECOMPOSITIONS else None
