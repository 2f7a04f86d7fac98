"""The table of rules: the operations of ATen that are read, each by a function of the reader and the arguments of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[[Any, Any], Any]  # of a Reader and Arguments: a tensor, or several, None where one has no form
RULES: dict[str, Rule] = {}
HINTS = {  # for operations that have no rule
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only"), "use nn.Embedding and a sum or mean"),
    "roll": "name the dimensions: dims=0",
}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a function for operations."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register
