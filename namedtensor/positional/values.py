"""A value of a positional program: a node of the notation and, for each dimension of the array, its axes.

Nodes are built before axes have names, so a key such as ⟨12⟩ represents each axis until `write_node` replaces the keys
by names. The printer adds brackets, scripts and LaTeX.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from grammar import nodes
from grammar.nodes import Node

from .axes import Axes, AxisClashError, AxisVariable, Dim, Dims, Move, axes_of


@dataclass(frozen=True)
class AxisValue:
    """A node with the axes of each dimension.

    `factors` contains the operands of a product that may still be summed. `truth` is true for conditions, whose
    elements are true or false.
    """

    node: Node
    dims: Dims = ()
    factors: tuple[AxisValue, AxisValue] | None = None
    truth: bool = False

    @property
    def axes(self) -> tuple[AxisVariable, ...]:
        return axes_of(self.dims)

    def moved(self, dims: Iterable[Dim]) -> Self:
        """Return the value with these dimensions: reordered, or with dimensions of size 1 added or removed."""
        return replace(self, dims=tuple(dims))


@dataclass(frozen=True)
class Leaf:
    """An input of the translation or one of its definitions: its name as a node, and the declared axes."""

    node: Node
    dims: Dims

    def use(self, axes: Axes) -> AxisValue:
        """Return the tensor for one use, with its axes renamed to new axes of the same kinds."""
        pairs = [(declared, axes.twin(declared)) for declared in axes_of(self.dims)]
        for declared, used in pairs:
            axes.moves.append(Move(declared, used))
        axes.apart([used for _, used in pairs])
        axes.apart([declared for declared, _ in pairs])
        variables = dict(pairs)
        return AxisValue(
            rename_axes(self.node, pairs), tuple(tuple(variables[axis] for axis in dim) for dim in self.dims)
        )


# ------------------------------------------------------------------------------------------------------------- nodes
def name(axis: AxisVariable) -> nodes.Name:
    """Return a name node for an axis, for use in a subscript."""
    return nodes.Name(axis.key)


def number(value: float) -> Node:
    """Return a node for a number. A negative number is written as the negation of a positive one, and nan as 0 / 0."""
    if value != value:
        return nodes.Call("/", (), (), (number(0), number(0)))
    if value < 0:
        return nodes.Call("negative", (), (), (number(-value),))
    if value == float("inf"):
        return nodes.Name("∞")
    return nodes.Number(int(value) if isinstance(value, float) and value.is_integer() and value < 2**53 else value)


def call(
    operator: str, arguments: Sequence[Node], axes: Iterable[AxisVariable] = (), parameters: Sequence[Node] = ()
) -> Node:
    """Return a call of an operator with these operands, over these axes."""
    return nodes.Call(operator, (), tuple(name(axis) for axis in axes), tuple(arguments), tuple(parameters))


def rename_axes(node: Node, pairs: Iterable[tuple[AxisVariable, AxisVariable]]) -> Node:
    """Return a node in which the first axis of each pair is renamed to the second.

    `write_node` omits a rename if both names are equal.
    """
    items = tuple(((nodes.Axis(old.key),), (nodes.Axis(new.key),)) for old, new in pairs)
    return nodes.Rename(node, items) if items else node


IDENTITY = "⟨I⟩"  # `write_node` replaces this name by I, unless an input is called I.


def identity(first: AxisVariable, second: AxisVariable) -> Node:
    """Return the node of the identity I_{first, second}."""
    return nodes.Subscript(nodes.Name(IDENTITY), (name(first), name(second)))


def iota(axis: AxisVariable) -> Node:
    """Return the node iota_{axis}, whose elements are 1, …, |axis|."""
    return nodes.Subscript(nodes.Name("iota"), (name(axis),))


def ones(axis: AxisVariable) -> Node:
    return nodes.Subscript(nodes.Name("ones"), (name(axis),))


def diagonal(node: Node, first: AxisVariable, second: AxisVariable) -> Node:
    """Return the diagonal of a node along two axes, as a node along the first axis.

    Other elements are ignored, even if they are infinite.
    """
    on_it = nodes.Cases(((node, call("=", (iota(first), iota(second)))), (number(0), None)))
    return call("∑", (on_it,), (second,))


def merge_axes(node: Node, old: Iterable[AxisVariable], new: Iterable[AxisVariable]) -> Node:
    """Return a node in which the `old` axes are merged or split into the `new` axes."""
    item = tuple(nodes.Axis(axis.key) for axis in old), tuple(nodes.Axis(axis.key) for axis in new)
    return nodes.Rename(node, (item,))


def merge_into_one(axes: Axes, node: Node, old: Sequence[AxisVariable]) -> tuple[Node, AxisVariable]:
    """Return a node in which several axes are merged into a single new axis, and this axis."""
    sizes = [axis.kind.size for axis in old]
    new = axes.new(size=None if None in sizes else math.prod(size or 1 for size in sizes))
    axes.facts.products.append((new, tuple(old)))
    axes.apart((*old, new))
    return merge_axes(node, old, [new]), new


def flatten_axes(axes: Axes, value: AxisValue, axis: Any) -> tuple[AxisValue, Any]:
    """Return a value and the axis of an operation. Without an axis, the value's axes are merged into one."""
    if axis is not None or len(value.dims) == 1:
        return value, 0 if axis is None else axis
    over = axes_of(value.dims)
    if len(over) < 2:
        return value.moved((over,)), 0
    node, new = merge_into_one(axes, value.node, over)
    return AxisValue(node, ((new,),)), 0


def size(axis: AxisVariable) -> Node:
    """Return the node of an axis size, |axis|."""
    return nodes.Size(nodes.Axis(axis.key))


def size_of(axes: Iterable[AxisVariable]) -> Node:
    """Return the node of a product of axis sizes, such as |a| |b|."""
    return _product([*map(size, axes)] or [number(1)])


def concatenate_nodes(parts: Iterable[tuple[Node, AxisVariable | None]], joined: AxisVariable) -> Node:
    """Return the concatenation of nodes along the new axis `joined`.

    Each entry of `parts` is a node and its axis, or None for a node that adds one element.
    """
    pieces = [
        call("stack", (node,), (joined,)) if axis is None else rename_axes(node, [(axis, joined)])
        for node, axis in parts
    ]
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = call("⊕", (whole, piece), (joined,))
    return whole


def index_node(node: Node, axis: AxisVariable, index: Node) -> Node:
    """Return node_{axis(index)}. Several indices that are numbers are combined in one subscript."""
    if isinstance(node, nodes.Index) and all(
        isinstance(item, nodes.Number) for item in (index, *dict(node.items).values())
    ):
        return nodes.Index(node.base, (*node.items, (nodes.Axis(axis.key), index)))
    return nodes.Index(node, ((nodes.Axis(axis.key), index),))


def plus(node: Node, offset: float) -> Node:
    """Return the sum of a node and an integer. Numbers are combined, so x + 1 plus 2 is x + 3."""
    if isinstance(node, nodes.Call) and node.operator in ("+", "-") and len(node.arguments) == 2:
        base, last = node.arguments
        if isinstance(last, nodes.Number):
            return plus(base, offset + last.value if node.operator == "+" else offset - last.value)
    if isinstance(node, nodes.Number) and node.value + offset >= 0:
        return number(node.value + offset)
    return call("+" if offset > 0 else "-", (node, number(abs(offset)))) if offset else node


def times(factor: float, node: Node) -> Node:
    return node if factor == 1 else call("⊙", (number(factor), node))


# ----------------------------------------------------------------------------------------------------- broadcasting
def align_values(axes: Axes, *values: AxisValue) -> Dims:
    """Align dimensions from the last, unify them, and return the dimensions of an elementwise operation's result.

    A dimension of size 1 has no axes, and receives the axes of the dimension that it is aligned with.
    Raise AxisClashError if two dimensions do not fit.
    """
    rank = max((len(value.dims) for value in values), default=0)
    result: list[Dim] = [()] * rank
    for value in values:
        offset = rank - len(value.dims)
        for position, dim in enumerate(value.dims, offset):
            if dim and result[position]:
                axes.unify_dims(result[position], dim)
            result[position] = result[position] or dim
    axes.apart(*(value.axes for value in values), axes_of(result))
    return tuple(result)


def elementwise(axes: Axes, operator: str, *values: AxisValue) -> AxisValue:
    """Apply an operator elementwise to values, after aligning their dimensions."""
    dims = align_values(axes, *values)
    factors = (values[0], values[1]) if operator == "⊙" and len(values) == 2 else None
    return AxisValue(call(operator, [value.node for value in values]), dims, factors)


def reduce_value(
    axes: Axes, operator: str, value: AxisValue, over: Sequence[AxisVariable], dims: Dims, parameters: Any = ()
) -> AxisValue:
    """Reduce a value over axes. The sum of a product becomes a contraction if both factors have all summed axes."""
    if not over:
        return value.moved(dims)
    if operator == "∑" and value.factors and not parameters:
        first, second = value.factors
        both = {axis.root for axis in axes.expand_axes(first.axes)} & {
            axis.root for axis in axes.expand_axes(second.axes)
        }
        if {axis.root for axis in axes.expand_axes(over)} <= both:
            return AxisValue(call("⊙", (first.node, second.node), over), dims)
    return AxisValue(call(operator, (value.node,), over, parameters), dims)


def contract_values(
    axes: Axes, first: AxisValue, second: AxisValue, over: Sequence[AxisVariable], dims: Dims
) -> AxisValue:
    """Return the contraction first ⊙_{over} second of two values whose shared axes are already unified."""
    axes.apart(first.axes, second.axes)
    return AxisValue(call("⊙", (first.node, second.node), over), dims, None if over else (first, second))


def matmul(axes: Axes, first: AxisValue, second: AxisValue) -> AxisValue:
    """Return the matrix product of two values, as computed by NumPy's `@`."""
    left = first.dims if len(first.dims) > 1 else ((), *first.dims)
    right = second.dims if len(second.dims) > 1 else (*second.dims, ())
    one, two = left[-1], right[-2]
    if bool(one) != bool(two):
        raise AxisClashError(*(one or two)[:1] * 2)
    axes.unify_dims(one, two)
    batch = align_values(axes, AxisValue(first.node, left[:-2]), AxisValue(second.node, right[:-2]))
    dims = [*batch]
    if len(first.dims) > 1:
        dims.append(left[-2])
    if len(second.dims) > 1:
        dims.append(right[-1])
    return contract_values(axes, first, second, one, tuple(dims))


# -------------------------------------------------------------------------------------------------------- writing
class DividedSizeError(Exception):
    """The error for an axis that was split into parts but is used as a single axis."""


Names = Mapping[str, tuple[str, ...]]


def write_node(node: Any, names: Names) -> Any:
    """Return a node with axis names in place of axis keys, leaving out renames of an axis to itself."""
    if isinstance(node, tuple):
        return tuple(part for item in node for part in _components(item, names))
    if not hasattr(type(node), "__dataclass_fields__"):
        return node
    if isinstance(node, nodes.Rename):
        return _write_rename(write_node(node.base, names), node.items, names)
    if isinstance(node, nodes.Subscript) and node.base == nodes.Name(IDENTITY):
        return _write_identity(write_node(node.components, names), IDENTITY in names)
    if isinstance(node, nodes.Size) and node.axis.name in names:
        return _product([nodes.Size(nodes.Axis(part)) for part in names[node.axis.name]])
    if isinstance(node, (nodes.Name, nodes.Axis)):
        attribute = "text" if isinstance(node, nodes.Name) else "name"
        parts = names.get(getattr(node, attribute), (getattr(node, attribute),))
        if len(parts) != 1:
            raise DividedSizeError
        return replace(node, **{attribute: parts[0]})
    if isinstance(node, nodes.Subscript) and node.base == nodes.Name("iota"):
        parts = names.get(getattr(node.components[0], "text", ""), ())
        if len(parts) > 1 and len(node.components) == 1:
            return _write_counting(parts)
    changes = {
        field.name: write_node(getattr(node, field.name), names) for field in fields(node) if field.name != "span"
    }
    return replace(node, **changes)


def _write_identity(axes: tuple[Any, ...], taken: bool) -> Node:
    """Return I_{a, b}. If an input is called I, return 𝕀[iota_{a} = iota_{b}] instead."""
    if not taken:
        return nodes.Subscript(nodes.Name("I"), axes)
    sides = tuple(nodes.Subscript(nodes.Name("iota"), (axis,)) for axis in axes)
    return nodes.Indicator(nodes.Call("=", (), (), sides))


def _write_counting(axes: Sequence[str]) -> Node:
    """Return iota_{(i,j)} for a merged axis, written as (iota_i − 1) |j| + iota_j."""
    factors = [nodes.Subscript(nodes.Name("iota"), (nodes.Name(axis),)) for axis in axes]
    total: Node = factors[0]
    for axis, last in zip(axes[1:], factors[1:]):
        rows = _product([nodes.Call("-", (), (), (total, nodes.Number(1))), nodes.Size(nodes.Axis(axis))])
        total = nodes.Call("+", (), (), (rows, last))
    return total


def _components(item: Any, names: Names) -> tuple[Any, ...]:
    """Write one item of a tuple with axis names, and return the new items. A split axis becomes one item per part."""
    if isinstance(item, nodes.Name) and item.text in names:
        return tuple(nodes.Name(part) for part in names[item.text])
    return (write_node(item, names),)


def _product(factors: list[Node]) -> Node:
    result = factors[0]
    for factor in factors[1:]:
        result = nodes.Call("⊙", (), (), (result, factor))
    return result


def _write_rename(base: Node, items: Any, names: Names) -> Node:
    spelled = [
        tuple([part for axis in side for part in names.get(axis.name, (axis.name,))] for side in item) for item in items
    ]
    pairs: list[tuple[list[str], list[str]]] = []
    for (old, new), item in zip(spelled, items):
        one_each = len(item[0]) == len(item[1]) == 1 and len(old) == len(new)
        pairs += [([a], [b]) for a, b in zip(old, new)] if one_each else [(old, new)]
    changed = [(tuple(map(nodes.Axis, old)), tuple(map(nodes.Axis, new))) for old, new in pairs if old != new]
    if not changed:
        return base
    if isinstance(base, nodes.Rename) and all(len(side) == 1 for item in (*base.items, *changed) for side in item):
        then = {old[0].name: new[0].name for old, new in changed}
        first = {old[0].name: new[0].name for old, new in base.items}
        both = {old: then.pop(new, new) for old, new in first.items()} | then
        changed = [((nodes.Axis(old),), (nodes.Axis(new),)) for old, new in both.items() if old != new]
        base = base.base
    return nodes.Rename(base, tuple(changed)) if changed else base
