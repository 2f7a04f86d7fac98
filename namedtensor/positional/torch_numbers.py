"""Numbers in a trace that depend on the sizes of its inputs, and the sizes of the axes that inputs index."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from grammar import nodes
from grammar.nodes import Node
from grammar.printer import to_text
from grammar.traversal import children, rebuilt

from .axes import Axes
from .torch_records import DeclaredTensor, Varying
from .torch_tensors import TracedTensor
from .torch_trace import UnreadableModuleError
from .values import call, number, plus, size, size_of, times

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
        """Return a node for a number, in terms of a size if the number depends on one, or None if nothing fits."""
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
