"""Operators that an exercise forbids, under each of their names and notations."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from grammar import nodes

from ..operators.record import REGISTRY
from ..scope.names import walk

SAME_IN_ONE_STEP = {  # forbidden name: other functions that give its value in one step
    "softmax": ("logsoftmax",), "logsoftmax": ("softmax",), "σ": ("logsigmoid",), "logsigmoid": ("σ",), "norm": ("‖",), "‖": ("norm",),
    "argmax": ("argmaxk",), "max": ("maxk", "cummax"), "min": ("cummin",), "√": ("sqrt",),
}  # fmt: skip
WITHOUT_CALL: dict[type, str] = {nodes.Derivative: "∂", nodes.Differential: "∂", nodes.Indicator: "𝕀"}


def find_forbidden(tree: Any, forbidden: Collection[str], tensors: Collection[str]) -> str | None:
    """Return a forbidden operator as a tree spells it, or None if the tree uses no forbidden operator.

    If a name in `tensors` occurs between bars, the bars are an absolute value and not a size.
    """
    used = set(_operators(tree, tensors))
    for name in forbidden:
        names = _all_names(name).union(*map(_all_names, SAME_IN_ONE_STEP.get(_main_name(name), ())))
        if matches := sorted(used & {*names, *(f"nan{other}" for other in names)}):
            return matches[0]
    return None


def is_operator(name: str) -> bool:
    """Return whether a name denotes an operator that an exercise can forbid."""
    return name in REGISTRY or name in SAME_IN_ONE_STEP or name in WITHOUT_CALL.values()


def _operators(tree: Any, tensors: Collection[str]) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, nodes.Call):
            yield node.operator
        elif isinstance(node, nodes.Name):
            yield node.text
        elif isinstance(node, nodes.Size) and node.axis.name in tensors:
            yield "abs"
        elif type(node) in WITHOUT_CALL:
            yield WITHOUT_CALL[type(node)]


def _main_name(name: str) -> str:
    return REGISTRY[name].name if name in REGISTRY else name


def _all_names(name: str) -> frozenset[str]:
    """Return all names of an operator, including `name`."""
    return frozenset((name, REGISTRY[name].name, *REGISTRY[name].aliases)) if name in REGISTRY else frozenset((name,))
