"""The domain that array code is walked over: values with axes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from grammar import nodes
from grammar.errors import AXES_NEEDED

from .code_indices import CodeIndices
from .inputs import SourceInput
from .matrix_leaves import node_of
from .operations import Masked, Misuse, Operation, SizeArgument, Truth, as_value, shape_of
from .program import FormulaLine
from .values import AxisValue, Leaf

LENGTH_NAMES = re.compile(r"d|d_\w+|dk|head_dim|dim|n_embd")


class NamedDomain:
    """Values with axes. A definition that is used is a line of the formula; a mere view of an input is none."""

    def __init__(self, code: Any):
        self.code, self.axes = code, code.axes
        self.indices = CodeIndices(code.axes)
        self.lines: list[FormulaLine] = []
        self.remarks: list[str] = []
        self.used: set[str] = set()
        self.names: dict[str, Any] = {}
        self.summed: Any = None

    def remark(self, line: str) -> None:
        if line not in self.remarks:
            self.remarks.append(line)

    def name(self, node: ast.Name) -> Any:
        """Return the length of an undefined name's axis. Raises NotationError if there is no such axis."""
        if node.id in self.axes.given:
            return self.length(node.id, self.axes.given[node.id], "")
        if LENGTH_NAMES.fullmatch(node.id) and self.summed is not None:
            return self.length(node.id, self.summed, ", the axis summed before")
        problem = self.code.refuse(node, f"the shape of {node.id} is not known", f'give its axes: {node.id}="…"')
        raise problem.replace(symbol=node.id, reason=AXES_NEEDED)

    def length(self, name: str, axis: Any, why: str) -> SizeArgument:
        """Return the length of an axis for a name that was not given."""
        self.remark(f"{name} is read as |{axis.key}|{why}")
        self.code.lengths[name] = axis
        return SizeArgument((axis,))

    def look(self, name: str) -> Any:
        """Return the value of a name, and record its use."""
        if name in self.names:
            bound = self.names[name]
            if isinstance(bound, Leaf):
                return bound.use(self.axes)
            return bound() if callable(bound) else bound
        source: SourceInput = self.code.inputs[name]
        self.used.add(name)
        if source.literal is not None:
            return source.literal
        return source.leaf.use(self.axes)

    def define(self, name: str, value: Any, again: Callable[[], Any]) -> None:
        """Define a name: a line, or, if it is only a view of an input or no tensor, the same again at each use."""
        if not isinstance(value, AxisValue):
            self.names[name] = value
            return
        if isinstance(value, Truth) or is_view(value):
            before = dict(self.names)

            def reread() -> Any:
                now, self.names = self.names, before
                try:
                    return again()
                finally:
                    self.names = now

            self.names[name] = reread
            return
        spelled, count = name, 2
        while spelled in self.code.inputs or any(line.head == node_of(spelled) for line in self.lines):
            spelled, count = f"{name}_{count}", count + 1
        if spelled != name:
            self.remark(f"the new {name} is called {spelled}")
        self.lines.append(FormulaLine(node_of(spelled), value.node, tuple(dim for dim in value.dims if dim)))
        self.names[name] = Leaf(node_of(spelled), value.dims)

    def apply(self, record: Operation, arguments: list[Any]) -> Any:
        result = record.rule(self.axes, *arguments)
        match getattr(result, "node", None):
            case nodes.Call(operator="⊙", subscript=(nodes.Name(text=key),)):
                self.summed = self.axes.all.get(key)
        return result

    def attribute(self, value: Any, name: str) -> Any:
        if not isinstance(value, AxisValue):
            raise Misuse(f".{name} is not supported here")
        if name == "T":
            return value.moved(value.dims[::-1])
        if name == "mT" and len(value.dims) > 1:
            return value.moved((*value.dims[:-2], value.dims[-1], value.dims[-2]))
        if name == "shape":
            return shape_of(value)
        if name == "ndim":
            return len(value.dims)
        raise Misuse(f".{name} is not supported")

    def index(self, value: Any, items: list[Any]) -> Any:
        if isinstance(value, Masked):
            raise Misuse("an index of elements whose number depends on the data")
        return self.indices.index(as_value(value), items)


def is_view(value: AxisValue) -> bool:
    """Return whether a value is an input, whatever the order of its dimensions."""
    node = value.node
    return isinstance(node, (nodes.Name, nodes.Subscript)) or (
        isinstance(node, nodes.Rename)
        and isinstance(node.base, (nodes.Name, nodes.Subscript))
        and all(len(side) == 1 for item in node.items for side in item)
    )
