"""Functions and operations of PyTorch that are recorded as others which give the same.

An operation that has no rule is recorded as the operations that PyTorch decomposes it into.
`nn.RNN`, `nn.GRU` and `nn.LSTM` call a function that runs a loop. While a module is recorded, that function is replaced by
an operation that is dispatched as one, so that the steps do not depend on the length of a sequence. Functions that write in
place, or that look at values only to check them, are replaced by plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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


REPLACED: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(GATES, recurrent_layer),
    "one_hot": one_hot,
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


OWN: Mapping[str, Callable[..., Any]] = {  # operations that PyTorch would decompose at length, or not at all
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), nll_loss),
    "_trilinear": trilinear,
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
