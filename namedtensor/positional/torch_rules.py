"""The rules of ATen's operations by their names; `torch_operations`, `torch_shapes`, `torch_layers` and `torch_losses` add them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .torch_tensors import Tensor

Rule = Callable[[Any, Any], "Tensor | tuple[Tensor | None, ...]"]  # of a reader and the arguments of a step
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register
