"""What a reading is made of: lines, declared tensors, remarks; and nodes that know the step that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from grammar import nodes
from grammar.nodes import Node

from .axes import Dim
from .torch_trace import Ref, Source


@dataclass(frozen=True)
class Varying:
    """A number of the trace that another trace, at other sizes, has otherwise."""

    first: Any
    second: Any


@dataclass(frozen=True)
class Line:
    """A definition, and the step of the trace that made it."""

    name: Node
    value: Node
    step: int


@dataclass(frozen=True)
class Declared:
    """A tensor that is given: its name, the axes of its dimensions, where it comes from."""

    node: Node
    dims: tuple[Dim, ...]
    kind: str
    path: str
    array: torch.Tensor


@dataclass(frozen=True)
class Remark:
    """A view that cuts a named axis, or regroups across axes: the line, and what it does."""

    source: Source
    sentence: str

    def __str__(self) -> str:
        text = self.source.text
        caret = f"\n    {text}\n    {'^' * len(text)}" if text else ""
        return f"{self.source.short}: {self.sentence}{caret}"


def same(first: Any, second: Any) -> bool:
    return type(first) is type(second) and first == second


def leaves(arguments: Mapping[str, Any]) -> list[Any]:
    return pytree.tree_leaves(dict(arguments), is_leaf=lambda each: isinstance(each, Ref))


def weight(node: Any) -> int:
    """How many parts an expression has."""
    if isinstance(node, tuple):
        return sum(map(weight, node))
    if not hasattr(type(node), "__dataclass_fields__"):
        return 0
    if isinstance(node, (nodes.Name, nodes.Number, nodes.Axis)):
        return 1
    if isinstance(node, nodes.Subscript):
        return 1
    if isinstance(node, nodes.Rename):
        return weight(node.base)
    return 1 + sum(
        weight(getattr(node, field.name))
        for field in fields(node)
        if field.name not in ("span", "operator_span", "subscript")
    )


def stamped(node: Any, step: int) -> Any:
    """A node whose new parts say which step made them: (step + 1, 0) as their span."""
    if isinstance(node, tuple):
        return tuple(stamped(each, step) for each in node)
    if not hasattr(type(node), "__dataclass_fields__"):
        return node
    if getattr(node, "span", (0, 0)) != (0, 0):
        return node
    changes = {
        field.name: stamped(getattr(node, field.name), step)
        for field in fields(node)
        if field.name not in ("span", "operator_span")
    }
    return replace(node, **changes, span=(step + 1, 0))
