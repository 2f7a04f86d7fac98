"""Attention and the block on a GPU in bfloat16, beside PyTorch written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import namedtensor as nt

from . import attention, block
from .work import OURS, Bar, LeftOut, Ready, Work, side

TORCH = "PyTorch by hand"


def device() -> str:
    """Where the work is done. Raises LeftOut where there is no GPU."""
    import torch

    if not torch.cuda.is_available():
        raise LeftOut("no GPU that PyTorch can use")
    return "cuda"


def moved(array: Any) -> Any:
    import torch

    return torch.from_numpy(array).to(device(), torch.bfloat16)


def ended(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call with all that the GPU has to do for it."""
    import torch

    def whole():
        value = call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return value

    return torch.no_grad()(whole)


def numbers(tensor: Any) -> Any:
    return tensor.float().cpu().numpy()


@side(OURS, needs=("torch",))
def attention_ours(q, k, v) -> Ready:
    Q, K, V = attention.named(q, k, v, moved)
    function = attention.attention()
    order = attention.axes(q, "queries", "val")
    return Ready(ended(lambda: function(Q, K, V)), lambda result: numbers(result.to_array(order)))


@side(TORCH, needs=("torch",))
def attention_torch(q, k, v) -> Ready:
    import torch

    arrays = [moved(item) for item in (q, k, v)]
    return Ready(ended(lambda: torch.nn.functional.scaled_dot_product_attention(*arrays)), numbers)


@side(OURS, needs=("torch",))
def block_ours(arrays) -> Ready:
    entry = nt.program(block.BLOCK)["Y"]
    values = block.named({name: moved(array) for name, array in arrays.items()})
    return Ready(ended(lambda: entry(values=values)), lambda value: numbers(block.result(value)))


@side(TORCH, needs=("torch",))
def block_torch(arrays) -> Ready:
    function = block.function_of_torch({name: moved(array) for name, array in arrays.items()})
    return Ready(ended(function), numbers)


def work(name: str, title: str, inputs, sides, sizes, small) -> Work:
    bars = (Bar(OURS, 1.03, TORCH),)
    return Work(name, f"{title}, bfloat16 on a GPU", inputs, sides, sizes, small, TORCH, bars, close=0.03)


WORKS = (
    work(
        "gpu-attention", "attention, batch 4, heads 16, key 64, seq 4096", attention.inputs,
        (attention_ours, attention_torch), {"batch": 4, "heads": 16, "seq": 4096, "key": 64}, attention.BATCHED,
    ),
    work(
        "gpu-block", "pre-LN block, batch 4, seq 4096, chans 1024, heads 16, hidden 4096", block.inputs,
        (block_ours, block_torch), {"batch": 4, "seq": 4096, "chans": 1024, "heads": 16, "hidden": 4096},
        {"batch": 2, "seq": 16, "chans": 32, "heads": 2, "hidden": 24},
    ),
)  # fmt: skip
