"""Records used during a translation, such as lines, declared tensors and remarks, and the source step of each node."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from grammar import nodes
from grammar.nodes import Node
from grammar.traversal import children, rebuilt

from ..scope.uses import reach
from .axes import Dim
from .torch_trace import Ref, SourceLine, Trace, TraceStep, UnreadableModuleError


# -------------------------------------------------------------------------------------------------- runs at two sizes
class Varying:
    """A number in the first run, paired with the corresponding number in the second run. Arithmetic applies to both."""

    other: Any


class VaryingInteger(Varying, int):
    """An integer that depends on the input sizes."""


class VaryingFloat(Varying, float):
    """A real number that depends on the input sizes."""


def varies(value: Any) -> bool:
    return isinstance(value, Varying)


def vary(first: Any, second: Any) -> Any:
    """Return the common value if both runs agree, or else a varying number that contains both values."""
    if isinstance(first, (Ref, torch.Tensor, str)) or first == second:
        return first
    result = (VaryingInteger if isinstance(first, int) else VaryingFloat)(first)
    result.other = second
    return result


def compute_twice(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(*operands: Any) -> Any:
        first = [getattr(operand, "real", operand) for operand in operands]
        second = [getattr(operand, "other", operand) for operand in operands]
        return vary(function(*first), function(*second))

    return method


for name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "neg", "abs"):
    function = getattr(operator, name)
    setattr(Varying, f"__{name}__", compute_twice(function))
    if name not in ("neg", "abs"):
        reflected = compute_twice(lambda right, left, function=function: function(left, right))
        setattr(Varying, f"__r{name}__", reflected)


class TensorPair(NamedTuple):
    """A tensor of the first run, with the corresponding tensor of the second run."""

    first: torch.Tensor
    second: torch.Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(vary, self.first.shape, self.second.shape))

    @property
    def is_one(self) -> bool:
        return self.first.shape == self.second.shape and torch.equal(self.first, self.second)


@dataclass(frozen=True)
class Runs:
    """Two merged runs of one module at different sizes, with the numbers of the required steps.

    `depends` contains the tensors that depend on inputs or parameters.
    """

    steps: Sequence[TraceStep]
    tensors: Mapping[int, TensorPair]  # by the index of their reference
    origins: Mapping[Ref, tuple[str, str]]
    depends: frozenset[Ref]
    needed: tuple[int, ...]
    unused: Iterator[int]  # indices for new references


def makers_in(steps: Sequence[TraceStep]) -> dict[Ref, int]:
    """Return a map from each tensor to the number of the step that computes it."""
    return {ref: number for number, step in enumerate(steps) for ref in step.results}


def runs_for(first: Trace, second: Trace, output: Ref) -> Runs:
    """Merge two runs, and mark the steps that compute `output`. Raise UnreadableModuleError if their steps differ."""
    if [step.shape for step in first.steps] != [step.shape for step in second.steps]:
        raise UnreadableModuleError("the steps of the module depend on the sizes of its inputs")
    steps = [
        replace(one, arguments=pytree.tree_map(vary, dict(one.arguments), dict(two.arguments), is_leaf=is_ref))
        for one, two in zip(first.steps, second.steps)
    ]
    tensors = dict(enumerate(map(TensorPair, first.tensors, second.tensors)))
    depends = frozenset(first.depends)
    needed = (number for number in needed_for(steps, makers_in(steps), [output]) if depends & {*steps[number].results})
    return Runs(steps, tensors, first.origins, depends, tuple(needed), itertools.count(len(tensors)))


# ---------------------------------------------------------------------------------------------------------- the reading
@dataclass(frozen=True)
class RecordedLine:
    """A definition, and the ranges of a family's indices."""

    name: Node
    value: Node
    ranges: tuple[nodes.Range, ...] = ()


@dataclass(frozen=True)
class DeclaredTensor:
    """A given tensor: its name, the axes of its dimensions, and its origin.

    For a family, `members` contains the path and the tensor of each member, counted from 1. `index` is the index in the
    name's superscript.
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
    """A remark on a view that splits a named axis or regroups several axes, with its source line and its effect."""

    source: SourceLine
    sentence: str

    def __str__(self) -> str:
        text = self.source.text
        caret = f"\n    {text}\n    {'^' * len(text)}" if text else ""
        return f"{self.source.short}: {self.sentence}{caret}"


def is_statistics(array: torch.Tensor) -> bool:
    return array.ndim == 1 and array.dtype.is_floating_point


def leaves(arguments: Mapping[str, Any]) -> list[Any]:
    return pytree.tree_leaves(dict(arguments), is_leaf=is_ref)


def is_ref(argument: Any) -> bool:
    return isinstance(argument, Ref)


def refs_of(step: TraceStep) -> list[Ref]:
    """Return the references of the tensors that a step uses. A tensor that is used twice occurs twice."""
    return [leaf for leaf in leaves(step.arguments) if isinstance(leaf, Ref)]


def with_refs(arguments: Mapping[str, Any], refs: Iterable[Ref]) -> dict[str, Any]:
    """Return the arguments with each reference replaced by the next of `refs`, in the order of `refs_of`."""
    waiting = iter(refs)
    return pytree.tree_map(lambda leaf: next(waiting) if is_ref(leaf) else leaf, dict(arguments), is_leaf=is_ref)


def needed_for(steps: Sequence[TraceStep], makers: Mapping[Ref, int], outputs: Sequence[Ref]) -> list[int]:
    """Return the numbers of the steps that compute the given tensors, in the order in which they run."""

    def made_by(refs: Sequence[Ref]) -> list[int]:
        return [makers[ref] for ref in refs if ref in makers]

    return sorted(reach(made_by(outputs), lambda number: made_by(refs_of(steps[number]))))


def weight(node: Any) -> int:
    """Return the number of nodes of an expression. A subscripted name counts as one node, and renames do not count."""
    if isinstance(node, nodes.Subscript):
        return 1
    if isinstance(node, nodes.Rename):
        return weight(node.base)
    below = (*node.arguments, *node.parameters) if isinstance(node, nodes.Call) else children(node)
    return 1 + sum(map(weight, below))


def stamp_node(node: Any, step: int) -> Any:
    """Return a node whose unstamped parts store the number of the step that created them, as the span (step + 1, 0)."""
    if node.span != (0, 0):
        return node
    return replace(rebuilt(node, lambda part: stamp_node(part, step)), span=(step + 1, 0))
