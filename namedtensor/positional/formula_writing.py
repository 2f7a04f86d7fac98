"""The translated program that a reader returns, and its text: size statements, definitions and the final value."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from grammar import nodes
from grammar.nodes import Node
from grammar.printer import to_text

from ..scope.names import walk
from .axes import Axes, AxisVariable, Dims, axes_of
from .values import IDENTITY, Leaf, call, number, plus, write_node


class SourceText(Protocol):
    """Array code that its library can evaluate.

    `compared_with` describes the library's last value in messages. `integral` states whether this value has an integer
    dtype.
    """

    compared_with: str
    integral: bool

    def value(self, arrays: Mapping[str, Any], size_of: Any) -> Any:
        """Evaluate the source on plain arrays, and return the result."""
        ...


@dataclass(frozen=True)
class FormulaLine:
    """A line `head = node`, or a line that is only a value.

    `dims` contains the value's axes in the order of the source's dimensions.
    """

    head: Node | None
    node: Node
    dims: Dims


@dataclass(frozen=True)
class TranslatedProgram:
    """The translated lines of a source, with its axes, inputs and assumptions (`remarks`).

    The last line contains the value. `source` is None if no library can compute this value.
    """

    kind: str
    axes: Axes
    lines: tuple[FormulaLine, ...]
    inputs: Mapping[str, Leaf]
    remarks: tuple[str, ...]
    source: SourceText | None


Names = Mapping[str, tuple[str, ...]]


def statements_of(program: TranslatedProgram, names: Names) -> tuple[list[nodes.Statement], tuple[str, ...]]:
    """Return the statements of the formula, and the axis names of the formula's value.

    A value that begins with a minus sign is given a name if other lines precede it.
    """
    names = {**names, **{f"{key}*": tuple(f"{name}*" for name in spelled) for key, spelled in names.items()}}
    if "I" in program.inputs:
        names = {**names, IDENTITY: ("I",)}
    statements: list[nodes.Statement] = []
    last = program.lines[-1]
    body, result = last.node, list[str]()
    for dim in filter(None, last.dims):
        parts = [name for axis in dim for name in names[axis.key]]
        if len(parts) == 1:
            result.append(parts[0])
        else:
            result.append(make_merged_name(parts, names, result))
            old = tuple(nodes.Axis(part) for part in parts)
            body = nodes.Rename(body, ((old, (nodes.Axis(result[-1]),)),))
    for line in program.lines[:-1]:
        assert line.head is not None
        statements.append(nodes.Equation((line.head, write_node(line.node, names))))
    value: Node = write_node(body, names)
    sizes = size_statements(program, names, [*statements, nodes.Value(value)])
    head = last.head
    if head is None and (statements or sizes) and to_text(value).startswith(("-", "−")):
        head = nodes.Name(name_value(program.inputs))
    statements.append(nodes.Value(value) if head is None else nodes.Equation((head, value)))
    return [*sizes, *statements], tuple(result)


def name_value(inputs: Collection[str]) -> str:
    """Return an unused name for a value that begins with a minus sign.

    Without a name, the minus sign would continue the previous line.
    """
    return next(name for name in ("y", "Y", "out", "result") if name not in inputs)


def size_statements(
    program: TranslatedProgram, names: Mapping[str, tuple[str, ...]], statements: Sequence[nodes.Statement]
) -> list[nodes.Statement]:
    """Return the statements about sizes that a formula needs, such as |k| = 3, or |n'| = |n| if no tensor has n'.

    `statements` are the other statements of the formula, whose renames determine further sizes.
    """
    facts = program.axes.facts
    known = {name for leaf in program.inputs.values() for axis in axes_of(leaf.dims) for name in names[axis.key]}
    for statement in statements:
        renames = [node for node in walk(statement) if isinstance(node, nodes.Rename)]
        known |= {new.name for node in renames for _, side in node.items for new in side}
    stated = [(nodes.Size(nodes.Axis(names[axis.key][0])), nodes.Number(size)) for axis, size in facts.stated]
    same = [
        tuple(nodes.Size(nodes.Axis(names[axis.key][0])) for axis in pair)
        for pair in facts.same
        if not {names[axis.key][0] for axis in pair} <= known
    ]
    totals = {whole.root: parts for whole, parts in facts.totals}
    counted = [
        (size_of_axis(windows, names, {}), window_count(axis, kernel, step, names, totals))
        for windows, axis, kernel, step in facts.steps
    ]
    both = {frozenset(sides): sides for sides in (*stated, *same, *counted) if sides[0] != sides[1]}
    return [nodes.Equation(sides) for sides in both.values()]


def size_of_axis(axis: AxisVariable, names: Names, totals: Mapping[AxisVariable, Sequence[AxisVariable]]) -> Node:
    """Return |axis|, or the sum of the sizes of its parts if the axis is a concatenation."""
    parts = totals.get(axis.root)
    if parts is None:
        return nodes.Size(nodes.Axis(names[axis.key][0]))
    sizes = [size_of_axis(part, names, totals) for part in parts]
    return functools.reduce(lambda total, size: call("+", (total, size)), sizes)


def window_count(
    axis: AxisVariable,
    kernel: AxisVariable,
    step: int,
    names: Names,
    totals: Mapping[AxisVariable, Sequence[AxisVariable]],
) -> Node:
    """Return a node for the number of windows of size |kernel| along an axis. They begin `step` elements apart."""
    room = call("-", (size_of_axis(axis, names, totals), size_of_axis(kernel, names, {})))
    return plus(call("floor", (call("/", (room, number(step))),)), 1)


def make_merged_name(parts: Sequence[str], names: Names, others: Sequence[str]) -> str:
    taken = {name for spelled in names.values() for name in spelled} | {*others}
    base = "".join(part.rstrip("'") for part in parts) or "merged"
    while base in taken:
        base += "'"
    return base
