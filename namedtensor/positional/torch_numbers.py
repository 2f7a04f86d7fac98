"""Constants with a recognizable form, and numbers that depend on sizes.

A constant is one number, an arithmetic sequence, or two numbers separated by a diagonal. The form is derived from the
values at two sizes, so that it is also correct at other sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grammar import nodes
from grammar.nodes import Node
from grammar.printer import to_text
from grammar.traversal import children, rebuilt

from .axes import Axes
from .torch_records import DeclaredTensor, Varying
from .torch_tensors import TracedTensor
from .torch_trace import UnreadableModuleError
from .values import call, number, plus, size, size_of, times


@dataclass(frozen=True)
class ConstantPattern:
    """The pattern of a constant: the dimensions along which it changes, and a function from their indices to a node.

    The indices count from 1. `truth` is true for a constant of conditions.
    """

    dims: tuple[int, ...]
    node: Callable[[Sequence[Node]], Node]
    truth: bool = False


def pattern_of(first: torch.Tensor, second: torch.Tensor) -> ConstantPattern | None:
    """Return the pattern of a constant, given its values at two sizes, or None if no pattern is recognized."""
    if first.ndim != second.ndim or not first.numel() or not second.numel() or first.is_complex():
        return None
    dims = tuple(dim for dim in range(first.ndim) if changes(first, dim) or changes(second, dim))
    for form in (single, find_counting_pattern, find_diagonal_pattern):
        constant_pattern = form(first, second, dims)
        if constant_pattern is not None:
            return constant_pattern
    return None


def changes(array: torch.Tensor, dim: int) -> bool:
    return array.shape[dim] > 1 and not torch.equal(array, array.narrow(dim, 0, 1).expand_as(array))


def select_along(array: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """Return the values along these dimensions, taken at the first position of all other dimensions."""
    for dim in reversed(range(array.ndim)):
        if dim not in dims:
            array = array.select(dim, 0)
    return array


def value(element: torch.Tensor, truth: bool) -> Node:
    if truth:
        return call("=", (number(1), number(1 if element.item() else 0)))
    return number(element.item()) if not element.dtype.is_floating_point else number(float(element))


def single(first: torch.Tensor, second: torch.Tensor, dims: Sequence[int]) -> ConstantPattern | None:
    one, two = first.flatten()[0], second.flatten()[0]
    if dims or one != two or (first.dtype.is_floating_point and torch.isnan(one)):
        return None
    truth = first.dtype == torch.bool
    return ConstantPattern((), lambda _: value(lowest(one), truth), truth)


def lowest(element: torch.Tensor) -> torch.Tensor:
    """Return an element, or −∞ if it is the lowest number of its dtype, which masks use in place of −∞."""
    if element.dtype.is_floating_point and element == torch.finfo(element.dtype).min:
        return torch.tensor(-torch.inf)
    return element


def find_counting_pattern(first: torch.Tensor, second: torch.Tensor, dims: Sequence[int]) -> ConstantPattern | None:
    """Return the pattern of a constant if it is an arithmetic sequence a, a + s, a + 2 s, …, and None otherwise."""
    if len(dims) != 1 or first.dtype == torch.bool:
        return None
    rows = [select_along(tensor, dims) for tensor in (first, second)]
    if any(len(row) < 3 for row in rows):
        return None
    start, step = rows[0][0].item(), (rows[0][1] - rows[0][0]).item()
    for row in rows:
        expected = start + step * torch.arange(len(row), dtype=row.dtype)
        if not torch.equal(row, expected):
            return None

    def node(indices: Sequence[Node]) -> Node:
        return plus(times(step, indices[0]), start - step)

    return ConstantPattern(tuple(dims), node)


def find_diagonal_pattern(first: torch.Tensor, second: torch.Tensor, dims: Sequence[int]) -> ConstantPattern | None:
    """Return the pattern of a constant that has one number on, above or below a diagonal and another elsewhere.

    The result is None for other constants.
    """
    if len(dims) != 2:
        return None
    arrays = [select_along(tensor, dims) for tensor in (first, second)]
    if min(arrays[0].shape) < 3:
        return None
    values = torch.unique(arrays[0])
    if len(values) != 2 or not torch.equal(values, torch.unique(arrays[1])):
        return None
    diagonals = [torch.arange(array.shape[1]) - torch.arange(array.shape[0])[:, None] for array in arrays]
    truth = first.dtype == torch.bool
    for outside, inside in (values, values.flip(0)):
        among = diagonals[0][arrays[0] == inside]
        for operator, compare, offset in (
            ("≤", torch.le, among.max()),
            ("≥", torch.ge, among.min()),
            ("=", torch.eq, among[0]),
        ):
            if all(torch.equal(array == inside, compare(one, offset)) for array, one in zip(arrays, diagonals)):
                write = make_pattern_writer(operator, int(offset), inside, outside, truth)
                return ConstantPattern(tuple(dims), write, truth)
    return None


def make_pattern_writer(
    operator: str, offset: int, inside: torch.Tensor, outside: torch.Tensor, truth: bool
) -> Callable[[Sequence[Node]], Node]:
    def node(indices: Sequence[Node]) -> Node:
        row, column = indices
        condition = call(operator, (column, plus(row, offset)))
        if truth:
            return condition if bool(inside) else call("¬", (condition,))
        return nodes.Cases(((value(lowest(inside), False), condition), (value(lowest(outside), False), None)))

    return node


POWERS = (
    (1, lambda n: n), (-1, lambda n: call("/", (number(1), n))), (0.5, lambda n: call("sqrt", (n,))),
    (-0.5, lambda n: call("/", (number(1), call("sqrt", (n,))))),
)  # fmt: skip


class SizeNumbers:
    """A converter of numbers in the trace to expressions. It compares the numbers of two runs at different sizes."""

    def __init__(self, axes: Axes, free: Mapping[int, tuple[int, str, int]]):
        self.axes, self.free = axes, free
        self.declared: dict[str, DeclaredTensor] = {}
        self.bounds: dict[str, int] = {}  # the least size of the axes that an input indexes

    def resolve(self, node: Any) -> Any:
        """Return a node in which each number that depends on the input sizes is an expression of these sizes."""
        if isinstance(node, nodes.Number) and isinstance(node.value, Varying):
            expression = self.expression_of(node.value)
            if expression is None:
                raise UnreadableModuleError(f"the number {node.value:g} depends on the sizes")
            return expression
        return rebuilt(node, self.resolve)

    def expression_of(self, value: float) -> Node | None:
        """Return a node for a number. A number that depends on the input sizes becomes an expression of a size.

        Return None if no expression fits.
        """
        if not isinstance(value, Varying):
            return number(value)
        first, second = value.real, value.other
        lines: list[tuple[int, int, Node]] = []  # scale and offset, and the size
        for one, (two, name, dim) in self.free.items():
            axes = self.axes.expand_axes(self.declared[name].dims[dim])
            if len(axes) != 1:
                continue
            node = size(axes[0])
            for power, form in POWERS:
                if abs(first - one**power) < 1e-9 * abs(first) and abs(second - two**power) < 1e-9 * abs(second):
                    return form(node)
            slope = (first - second) / (one - two)
            offset = first - slope * one
            if slope == int(slope) and slope > 0 and offset == int(offset):
                lines.append((int(slope), int(offset), node))
        if not lines:
            return None
        slope, offset, node = min(lines, key=lambda line: (line[0], abs(line[1])))
        return plus(times(slope, node), offset)

    def scaled(self, x: TracedTensor, value: float, operator: str) -> TracedTensor | None:
        """Multiply or divide x by a number that equals the square root of a size, writing the number as this root.

        The number may also be the root's reciprocal. Return None for all other numbers. The size belongs to the axes
        just summed over, or to the last dimension.
        """
        for over, least in ((x.over, 1), (self.axes.expand_axes(x.dims[-1]) if x.dims else (), 4)):
            lengths = [axis.kind.size or 0 for axis in over]
            whole = math.prod(lengths)
            if whole <= least or any(isinstance(length, Varying) for length in (*lengths, value)):
                continue
            for sign, expected in ((operator, whole**0.5), ("mul" if operator == "div" else "div", whole**-0.5)):
                if abs(value - expected) < 1e-6 * expected:
                    root = call("sqrt", (size_of(over),))
                    written = call("/", (x.node, root)) if sign == "div" else call("⊙", (root, x.node))
                    return x.with_node(written)
        return None

    def bounded(self, index: Node, length: int) -> None:
        """Record that the values of an input are indices of an axis with this length."""
        if isinstance(index, (nodes.Name, nodes.Subscript)):
            name = to_text(index)
            self.bounds[name] = min(length, self.bounds.get(name, length))
            return
        for part in children(index):
            self.bounded(part, length)
