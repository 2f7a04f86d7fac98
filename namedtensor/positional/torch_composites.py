"""Recurrent layers of PyTorch as one operation of a trace, so that their steps do not depend on the length of a sequence.

`nn.RNN`, `nn.GRU` and `nn.LSTM` call a function that runs a loop. While a module is recorded, that function is replaced by
an operation that gives the same and that is dispatched as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
SCHEMA = (
    "recurrent(str kind, Tensor input, Tensor[] state, Tensor[] weights, bool biased, int layers, bool both_ways,"
    " bool batch_first) -> Tensor[]"
)
LIBRARY = torch.library.Library("namedtensor", "DEF")  # the operation is there as long as this is


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


LIBRARY.define(SCHEMA)
LIBRARY.impl("recurrent", computed, "CompositeExplicitAutograd")


class Recurrent(TorchFunctionMode):
    """Calls of recurrent layers as that operation."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        kind = getattr(func, "__name__", "")
        if kind in GATES and not kwargs and is_layer(kind, args):
            tensor, start, weights, biased, layers, _, _, both_ways, batch_first = args
            state = [*start] if kind == "lstm" else [start]
            results = torch.ops.namedtensor.recurrent(
                kind, tensor, state, [*weights], biased, layers, both_ways, batch_first
            )
            return tuple(results)
        return func(*args, **(kwargs or {}))


def is_layer(kind: str, args: Sequence[Any]) -> bool:
    """Whether a call is of sequences that are one tensor, without dropout in training, and without projections."""
    if len(args) != 9 or isinstance(args[3], torch.Tensor) or (args[5] and args[6]):
        return False
    _, _, weights, biased, layers, _, _, both_ways, _ = args
    return len(weights) == layers * (2 if both_ways else 1) * (4 if biased else 2)
