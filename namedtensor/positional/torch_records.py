"""Parts of a reading: lines, declared tensors, remarks; and nodes that know the step that made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from grammar import nodes
from grammar.nodes import Node
from grammar.traversal import children, rebuilt

from .axes import Dim
from .torch_trace import Ref, SourceLine, Trace, TraceStep


@dataclass(frozen=True)
class Varying:
    """A number of the trace that another trace, at other sizes, has otherwise."""

    first: Any
    second: Any


@dataclass(frozen=True)
class RecordedLine:
    """A definition, the step of the trace that made it, and the ranges of its indices where it defines a family."""

    name: Node
    value: Node
    step: int
    ranges: tuple[nodes.Range, ...] = ()


@dataclass(frozen=True)
class DeclaredTensor:
    """A tensor that is given: its name, the axes of its dimensions, where it comes from.

    Of a family, `members` are the paths and tensors, from 1, and `index` is what the name's superscript counts them by.
    """

    node: Node
    dims: tuple[Dim, ...]
    kind: str
    path: str
    array: torch.Tensor
    members: tuple[tuple[str, torch.Tensor], ...] = ()
    index: nodes.Name = nodes.Name("l")


@dataclass(frozen=True)
class Remark:
    """A view that cuts a named axis, or regroups across axes: the line, and what it does."""

    source: SourceLine
    sentence: str

    def __str__(self) -> str:
        text = self.source.text
        caret = f"\n    {text}\n    {'^' * len(text)}" if text else ""
        return f"{self.source.short}: {self.sentence}{caret}"


def same(first: Any, second: Any) -> bool:
    return type(first) is type(second) and first == second


def leaves(arguments: Mapping[str, Any]) -> list[Any]:
    return pytree.tree_leaves(dict(arguments), is_leaf=is_ref)


def is_ref(argument: Any) -> bool:
    return isinstance(argument, Ref)


def refs_of(step: TraceStep) -> list[Ref]:
    """The tensors that a step takes, as often as it takes them."""
    return [leaf for leaf in leaves(step.arguments) if isinstance(leaf, Ref)]


def with_refs(arguments: Mapping[str, Any], refs: Iterable[Ref]) -> dict[str, Any]:
    """Arguments with other tensors, in the order of `refs_of`."""
    waiting = iter(refs)
    return pytree.tree_map(lambda leaf: next(waiting) if is_ref(leaf) else leaf, dict(arguments), is_leaf=is_ref)


def needed_for(trace: Trace, makers: Mapping[Ref, int], outputs: Sequence[Ref]) -> list[int]:
    """The steps that tensors are made by, in order."""
    waiting, needed = [*outputs], set[int]()
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is not None and maker not in needed:
            needed.add(maker)
            waiting += refs_of(trace.steps[maker])
    return sorted(needed)


def weight(node: Any) -> int:
    """How many parts an expression has."""
    if isinstance(node, nodes.Subscript):
        return 1
    if isinstance(node, nodes.Rename):
        return weight(node.base)
    below = (*node.arguments, *node.parameters) if isinstance(node, nodes.Call) else children(node)
    return 1 + sum(map(weight, below))


def stamped(node: Any, step: int) -> Any:
    """A node whose new parts say which step made them: (step + 1, 0) as their span."""
    if node.span != (0, 0):
        return node
    return replace(rebuilt(node, lambda part: stamped(part, step)), span=(step + 1, 0))
