"""The named values of array code, that is, inputs and definitions. Definitions become lines of the formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grammar import nodes

from .axes import Axes, AxisVariable
from .code_indices import CodeIndices
from .formula_writing import FormulaLine
from .inputs import SourceInput, inputs_of
from .matrix_leaves import node_of
from .operations import Masked, MisuseError, Operation, SizeArgument, is_condition, shape_of, to_value
from .values import AxisValue, Leaf


class CodeValues:
    """A table of values by name. A definition of a tensor becomes a line of the formula, unless it is a mere view."""

    def __init__(self, shapes: Mapping[str, Any]):
        self.axes = Axes()
        self.inputs: dict[str, SourceInput] = inputs_of(self.axes, shapes, node_of)
        self.axes.inputs = self.inputs
        self.indices = CodeIndices(self.axes)
        self.lines: list[FormulaLine] = []
        self.remarks: list[str] = []
        self.used: set[str] = set()
        self.names: dict[str, Any] = {}
        self.lengths: dict[str, AxisVariable] = {}  # names that are read as the length of an axis
        self.summed: Any = None

    def length(self, name: str, axis: AxisVariable, why: str) -> SizeArgument:
        """Interpret an undeclared name as the length of an axis. Record this assumption, and return the length."""
        self.remarks.append(f"{name} is read as |{axis.key}|{why}")
        self.lengths[name] = axis
        return SizeArgument((axis,))

    def has(self, name: str) -> bool:
        """Return whether a name is an input or is already defined."""
        return name in self.names or name in self.inputs

    def look(self, name: str) -> Any:
        """Return the value of a name. Record the use of an input."""
        if name in self.names:
            bound = self.names[name]
            if isinstance(bound, Leaf):
                return bound.use(self.axes)
            return bound() if callable(bound) else bound
        source: SourceInput = self.inputs[name]
        self.used.add(name)
        if source.literal is not None:
            return source.literal
        return source.leaf.use(self.axes)

    def define(self, name: str, value: Any, again: Callable[[], Any]) -> None:
        """Define a name. A tensor becomes a line of the formula.

        A view of a tensor or a condition gets no line. Instead, each use of the name calls `again` to evaluate
        the value. A value that is not a tensor is only stored.
        """
        if not isinstance(value, AxisValue):
            self.names[name] = value
            return
        if is_condition(value) or is_view(value):
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
        while spelled in self.inputs or any(line.head == node_of(spelled) for line in self.lines):
            spelled, count = f"{name}_{count}", count + 1
        if spelled != name:
            self.remarks.append(f"the new {name} is called {spelled}")
        self.lines.append(FormulaLine(node_of(spelled), value.node, tuple(dim for dim in value.dims if dim)))
        self.names[name] = Leaf(node_of(spelled), value.dims)

    def apply(self, record: Operation, arguments: list[Any]) -> Any:
        result = record.rule(self.axes, *arguments)
        match getattr(result, "node", None):
            case nodes.Call(operator="⊙", subscript=(nodes.Name(text=key),)):
                self.summed = self.axes.all.get(key)
        return result

    def element(self, value: Any, items: list[Any]) -> Any:
        """Return an element or slice of a value, as value[items] does."""
        if isinstance(value, Masked):
            raise MisuseError("an index of elements whose number depends on the data")
        return self.indices.index(to_value(value), items)


def attribute_of(value: Any, name: str) -> Any:
    """Return an attribute of an array: `T`, `mT`, `shape` or `ndim`. Raise MisuseError for any other attribute."""
    if not isinstance(value, AxisValue):
        raise MisuseError(f".{name} is not supported here")
    if name == "T":
        return value.moved(value.dims[::-1])
    if name == "mT" and len(value.dims) > 1:
        return value.moved((*value.dims[:-2], value.dims[-1], value.dims[-2]))
    if name == "shape":
        return shape_of(value)
    if name == "ndim":
        return len(value.dims)
    if name == "size":
        return SizeArgument(value.axes)
    raise MisuseError(f".{name} is not supported")


def is_view(value: AxisValue) -> bool:
    """Return whether a value is a named tensor, possibly with renamed axes or reordered dimensions."""
    node = value.node
    return isinstance(node, (nodes.Name, nodes.Subscript)) or (
        isinstance(node, nodes.Rename)
        and isinstance(node.base, (nodes.Name, nodes.Subscript))
        and all(len(side) == 1 for item in node.items for side in item)
    )
