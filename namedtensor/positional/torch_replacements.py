"""PyTorch functions and operations that are replaced by others while a module is recorded.

`nn.RNN`, `nn.GRU` and `nn.LSTM` call a function that runs a loop. That function is replaced by a single operation, so
that the steps do not depend on the sequence length. Functions that write in place, and functions that inspect values
only to validate them, are replaced by functions without these effects. Composite operations are recorded as other
operations, by the functions here or by the decompositions of PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import layer_operations as layers

F = torch.nn.functional
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
RECURRENT = (
    "recurrent(str kind, Tensor input, Tensor[] state, Tensor[] weights, bool biased, int layers, bool both_ways,"
    " bool batch_first) -> Tensor[]"
)
MASK = "mask(Tensor like, float p, int number) -> Tensor"


def compute_layer(
    kind: str, input: torch.Tensor, state: list[torch.Tensor], weights: list[torch.Tensor], biased: bool, layers: int,
    *settings: bool,
) -> list[torch.Tensor]:  # fmt: skip
    function: Callable[..., Any] = getattr(torch, kind)
    start = state if kind == "lstm" else state[0]
    return [*function(input, start, weights, biased, layers, 0.0, False, *settings)]


def mask_of(shape: Sequence[int], p: float, number: int) -> torch.Tensor:
    """Return a mask that is 0 where dropout drops an element, and 1 elsewhere. Equal arguments give equal masks."""
    generator = torch.Generator().manual_seed(number)
    return (torch.rand([*shape], generator=generator) >= p).float()


def register_operation(schema: str, function: Callable[..., Any]) -> None:
    """Register an operation, unless an interrupted import already registered it."""
    name = schema.partition("(")[0]
    if not hasattr(torch.ops.namedtensor, name):
        torch.library.define(f"namedtensor::{name}", schema.removeprefix(name))
    operation = getattr(torch.ops.namedtensor, name).default
    if not operation.has_kernel_for_dispatch_key("CompositeExplicitAutograd"):
        torch.library.impl(f"namedtensor::{name}", "default", function)


register_operation(RECURRENT, compute_layer)
register_operation(MASK, lambda like, p, number: mask_of(like.shape, p, number))


class Masks(TorchFunctionMode):
    """A mode in which dropout multiplies by new masks. `drawn` lists each mask's shape, drop probability and seed."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[tuple[Sequence[int], float, int]] = []

    def __enter__(self) -> Masks:
        self.drawn.clear()
        return super().__enter__()

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
    """A context in which calls of certain PyTorch functions are replaced."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        replacement = REPLACED.get(getattr(func, "__name__", ""))
        if replacement is not None:
            result = replacement(func, *args, **(kwargs or {}))
            if result is not None:
                return result
        return func(*args, **(kwargs or {}))


def recurrent_layer(func: Any, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...] | None:
    """Evaluate a recurrent layer as one recorded operation, or return None if the layer is not supported."""
    kind = func.__name__
    if kwargs or not is_layer(args):
        return None
    tensor, start, weights, biased, layers, _, _, both_ways, batch_first = args
    state = [*start] if kind == "lstm" else [start]
    recurrent = torch.ops.namedtensor.recurrent
    return tuple(recurrent(kind, tensor, state, [*weights], biased, layers, both_ways, batch_first))


def is_layer(args: Sequence[Any]) -> bool:
    """Return whether a call is a supported recurrent layer.

    Its input must be a single tensor, and it must not have projections or, in training, dropout.
    """
    if len(args) != 9 or isinstance(args[3], torch.Tensor) or (args[5] and args[6]):
        return False
    _, _, weights, biased, layers, _, _, both_ways, _ = args
    return len(weights) == layers * (2 if both_ways else 1) * (4 if biased else 2)


def one_hot(func: Any, tensor: torch.Tensor, num_classes: int = -1) -> torch.Tensor | None:
    """Return a one-hot tensor without inspecting the indices, or None if the number of classes is not given."""
    if num_classes < 0:
        return None
    return (tensor.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


def pad(
    func: Any, input: torch.Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> torch.Tensor | None:
    """Return a tensor with circular padding, computed from slices, or None for other modes.

    PyTorch would copy into an empty tensor, which cannot be translated.
    """
    if mode != "circular":
        return None
    for count in range(len(pad) // 2):
        before, after, dim = pad[2 * count], pad[2 * count + 1], input.ndim - 1 - count
        length = input.shape[dim]
        input = input.narrow(dim, max(-before, 0), length + min(before, 0) + min(after, 0))
        before, after, length = max(before, 0), max(after, 0), input.shape[dim]
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
    """Compute an instance norm as a group norm of one-channel groups or, with running statistics, as a batch norm."""
    if use_input_stats:
        return torch.group_norm(input, input.shape[1], weight, bias, eps)
    return torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)


def attention(
    func: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> torch.Tensor | None:  # fmt: skip
    """Compute attention by matrix products and a softmax. Several query heads can share one key head.

    The result is None if there is dropout.
    """
    if dropout_p:
        return None
    groups = (key.shape[-3], -1) if enable_gqa else ()
    if groups:  # The query heads that share a key head become rows of one head.
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


def nll_loss(
    self: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None, reduction: int, ignore_index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the negative log-likelihood loss, and the total weight of the examples.

    The loss of each example is −x[class], multiplied by the weight of its class. The losses are reduced as `reduction`
    states, and a mean is divided by the total weight. If there are no weights, the second result is a placeholder.
    """
    dim = min(1, self.ndim - 1)
    reduced = (lambda losses: losses, torch.mean, torch.sum)[reduction]
    if weight is None and ignore_index == -100:
        return reduced(-self.gather(dim, target.unsqueeze(dim)).squeeze(dim)), self
    is_counted = target != ignore_index
    classes = target if ignore_index == -100 else torch.where(is_counted, target, 0)
    losses = -self.gather(dim, classes.unsqueeze(dim)).squeeze(dim)
    factor = is_counted if weight is None else weight[classes]
    if ignore_index != -100:
        losses = torch.where(is_counted, losses, 0)
        factor = factor if weight is None else is_counted * factor
    losses = losses if weight is None else factor * losses
    total = torch.sum(factor)
    return torch.sum(losses) / total if reduction == 1 else reduced(losses), total


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
    "unbind": lambda self, dim: [self.select(dim, at) for at in range(self.shape[dim])],
    "index_select": lambda self, dim, index: self[(slice(None),) * (dim % self.ndim) + (index,)],
    "select_scatter": lambda self, src, dim, index: torch.slice_scatter(
        self, src.unsqueeze(dim), dim, index % self.shape[dim], index % self.shape[dim] + 1
    ),
    "full_like": lambda self, fill_value, dtype, *settings: torch.full(
        self.shape, fill_value, dtype=self.dtype if dtype is None else dtype
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
