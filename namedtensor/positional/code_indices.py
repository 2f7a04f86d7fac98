"""Indices of array code, such as x[None], x[..., 0], x[:, 1:], x[::-1], E[I - 1], P[np.arange(n), I] and x[x > 0].

Code counts from 0, and formulas count from 1. For each input that is an index, the reader records the
indexed axis and the first index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar import nodes
from grammar.nodes import Node

from .axes import Axes, AxisVariable, Dim, axes_of
from .operations import Masked, MisuseError, PartArgument, SizeArgument, is_condition, name_of_input, to_value
from .values import AxisValue, Leaf, call, index_node, iota, number, plus, size


class CodeIndices:
    """Translation of indexing operations on values with axes."""

    def __init__(self, axes: Axes):
        self.axes, self.inputs = axes, axes.inputs

    def index(self, x: AxisValue, items: Sequence[Any]) -> Any:
        """Translate x[items]. Raise MisuseError if these indices cannot be expressed as a formula."""
        if len(items) == 1 and is_condition(items[0]):
            return self.select_by_condition(x, items[0])
        items = self.complete_items(x, items)
        tensors = [position for position, item in enumerate(items) if isinstance(item, AxisValue)]
        if tensors and any(isinstance(item, int) and not isinstance(item, bool) for item in items):
            raise MisuseError("numbers and tensors together are not supported as indices")
        if len(tensors) > 1:
            return self.paired(x, items, tensors)
        node, dims, position = x.node, list[Dim](), 0
        for item in items:
            if item is None:
                dims.append(())
                continue
            dim = x.dims[position]
            position += 1
            if isinstance(item, slice) and item == slice(None):
                dims.append(dim)
            elif not dim:
                dims.extend(one_element(item))
            else:
                node, result = self.picked(node, only(dim), item)
                dims.extend(result)
        self.axes.apart(axes_of(dims))
        return AxisValue(node, tuple(dims))

    def along(self, x: AxisValue, positions: Sequence[int], item: Any) -> Any:
        """Index several dimensions of x with the same item."""
        return self.index(x, [item if position in positions else slice(None) for position in range(len(x.dims))])

    def complete_items(self, x: AxisValue, items: Sequence[Any]) -> list[Any]:
        """Return the items of an index, with a full slice for each dimension that they do not mention.

        The slices replace an ellipsis or, without one, follow the items.
        """
        count = sum(item is not None and item is not Ellipsis for item in items)
        if count > len(x.dims):
            raise MisuseError(f"{count} indices for {len(x.dims)} axes")
        dots = [position for position, item in enumerate(items) if item is Ellipsis] or [len(items)]
        return [*items[: dots[0]], *[slice(None)] * (len(x.dims) - count), *items[dots[0] + 1 :]]

    # ------------------------------------------------------------------------------------------------- one dimension
    def picked(self, node: Node, axis: AxisVariable, item: Any) -> tuple[Node, tuple[Dim, ...]]:
        """Return a node indexed by an item along one axis, and the dimensions that replace this axis."""
        if isinstance(item, int) and not isinstance(item, bool):
            return index_node(node, axis, self.position(axis, item)), ()
        if isinstance(item, slice):
            return self.slice_axis(node, axis, item)
        if isinstance(item, AxisValue):
            index, dims = self.tensor_index(axis, item)
            return index_node(node, axis, index), dims
        if isinstance(item, tuple):
            return self.listed(node, axis, item)
        raise MisuseError("only numbers, slices and integer inputs are supported as indices")

    def listed(self, node: Node, axis: AxisVariable, item: tuple[Any, ...]) -> tuple[Node, tuple[Dim, ...]]:
        """Return a node indexed by a list, as in x[[0, 2]], and the dimensions that replace the indexed axis."""
        if len(item) < 2 or not all(type(index) is int and index >= 0 for index in item):
            raise MisuseError("only a list of numbers from 0 on is supported as an index")
        self.needs(axis, max(item) + 1)
        part = self.axes.new()
        self.axes.facts.pinned.append((part, len(item)))
        self.axes.apart((axis, part))
        literal = nodes.Literal((tuple(number(index + 1) for index in item),), (nodes.Axis(part.key),))
        return index_node(node, axis, literal), ((part,),)

    def tensor_index(self, axis: AxisVariable, item: AxisValue) -> tuple[Node, tuple[Dim, ...]]:
        """Return an integer tensor converted to an index that counts from 1, and the dimensions of the tensor.

        Raise MisuseError if the tensor is not an input, or an input plus or minus a number.
        """
        if is_condition(item):
            raise MisuseError("a condition is only supported as an index of all axes")
        base, offset = split_offset(item.node)
        name = name_of_input(self.axes, base)
        if not name:
            raise MisuseError("only numbers, slices and integer inputs are supported as indices")
        self.counts(name, axis, -offset)
        return plus(item.node, 1), item.dims

    def counts(self, name: str, axis: AxisVariable, first: int) -> None:
        """Record that an input contains indices of an axis, and that these indices count from `first`.

        Raise MisuseError if the input has an axis of the same kind.
        """
        leaf: Leaf = self.inputs[name].leaf
        if any(counted.kind is axis.kind for counted in axes_of(leaf.dims)):
            raise MisuseError(f"{name} would index its own axis")
        self.axes.facts.indices.setdefault(name, []).append((axis, first))

    def position(self, axis: AxisVariable, index: int) -> Node:
        """Return an index counted from 1, given an index counted from 0 or, if negative, from the end."""
        self.needs(axis, index + 1 if index >= 0 else -index)
        if index >= 0:
            return number(index + 1)
        return size(axis) if index == -1 else call("-", (size(axis), number(-index - 1)))

    def needs(self, axis: AxisVariable, least: int, more: int = 0) -> None:
        """Record that an axis has at least `least` + `more` elements in the comparison.

        Raise MisuseError if the axis is known to have fewer than `least` elements.
        """
        if axis.kind.size is not None and axis.kind.size < least:
            raise MisuseError(f"the index is out of range: {axis.key} has {axis.kind.size} elements")
        self.axes.facts.least.append((axis, least + more))

    # --------------------------------------------------------------------------------------------------------- slices
    def slice_axis(self, node: Node, axis: AxisVariable, item: slice) -> tuple[Node, tuple[Dim, ...]]:
        if item.step == -1 and item.start is None and item.stop is None:
            return self.reversed(node, axis)
        if isinstance(item.step, int) and item.step > 1:
            return self.translate_stride(node, axis, item)
        if item.step not in (None, 1):
            raise MisuseError("this step of a slice is not supported")
        if item.stop == 0:
            raise MisuseError("an empty slice")
        first = number(1) if item.start in (None, 0) else plus(self.bound(axis, item.start), 1)
        last = size(axis) if item.stop is None else self.bound(axis, item.stop)
        part = self.axes.new(hint=axis.kind.hint)
        self.bounded(axis, part, item)
        cut = nodes.Index(node, ((nodes.Axis(axis.key), nodes.Slice(first, last)),))
        self.axes.apart((axis, part))
        return nodes.Rename(cut, (((nodes.Axis(axis.key),), (nodes.Axis(part.key),)),)), ((part,),)

    def bounded(self, axis: AxisVariable, part: AxisVariable, item: slice) -> None:
        """Record the size of a slice or, if its bounds do not determine it, the smallest possible size of the axis."""
        start, stop = item.start or 0, item.stop
        if isinstance(stop, PartArgument) and start == 0:
            self.axes.facts.multiples.append((axis, part, stop.divisor))
        elif isinstance(start, PartArgument) and stop is None and start.divisor == 2:
            self.axes.facts.multiples.append((axis, part, 2))
        elif isinstance(start, int) and stop is None and start < 0:
            self.axes.facts.pinned.append((part, -start))
        elif isinstance(start, int) and isinstance(stop, int) and (start < 0) == (stop < 0):
            if stop <= start:
                raise MisuseError("an empty slice")
            self.axes.facts.pinned.append((part, stop - start))
        elif isinstance(start, int) and isinstance(stop, int) and start >= 0:
            self.axes.facts.least.append((axis, start - stop + 1))

    def bound(self, axis: AxisVariable, bound: Any) -> Node:
        """Return a node for the number of elements that precede a bound of a slice."""
        if isinstance(bound, PartArgument):
            for whole in bound.whole.dim:
                self.axes.facts.divisors.append((whole, bound.divisor))
            return call("/", (to_value(bound.whole).node, number(bound.divisor)))
        if isinstance(bound, SizeArgument):
            return to_value(bound).node
        if not isinstance(bound, int) or isinstance(bound, bool):
            raise MisuseError("only numbers and lengths are supported in slices")
        self.needs(axis, abs(bound), 1)
        return number(bound) if bound >= 0 else call("-", (size(axis), number(-bound)))

    def reversed(self, node: Node, axis: AxisVariable) -> tuple[Node, tuple[Dim, ...]]:
        turned = self.axes.twin(axis)
        self.axes.facts.same.append((turned, axis))
        self.axes.apart((axis, turned))
        return index_node(node, axis, plus(call("-", (size(axis), iota(turned))), 1)), ((turned,),)

    def translate_stride(self, node: Node, axis: AxisVariable, item: slice) -> tuple[Node, tuple[Dim, ...]]:
        """Translate a slice with a step, such as x[1::2].

        The axis is split, and one element of its inner part is taken.
        """
        start = item.start or 0
        if not isinstance(start, int) or not 0 <= start < item.step or item.stop is not None:
            raise MisuseError("these bounds of a slice with a step are not supported")
        outer, inner = self.axes.new(), self.axes.new()
        self.axes.facts.stated.append((inner, item.step))
        self.axes.facts.assumed.append(f"|{axis.key}| is a multiple of {item.step}")
        self.axes.facts.products.append((axis, (outer, inner)))
        old, new = (nodes.Axis(axis.key),), (nodes.Axis(outer.key), nodes.Axis(inner.key))
        self.axes.apart((axis, outer, inner))
        return index_node(nodes.Rename(node, ((old, new),)), inner, number(start + 1)), ((outer,),)

    # ------------------------------------------------------------------------------------------- several, and conditions
    def paired(self, x: AxisValue, items: Sequence[Any], tensors: Sequence[int]) -> AxisValue:
        """Translate P[np.arange(n), I], in which adjacent tensors index P. All but one must be ranges of whole axes."""
        if None in items or any(isinstance(item, slice) and item != slice(None) for item in items):
            raise MisuseError("these indices together are not supported")
        if [*tensors] != list(range(tensors[0], tensors[-1] + 1)):
            raise MisuseError("indices that are not side by side are not supported")
        ranges = [position for position in tensors if range_of(items[position]) is not None]
        others = [position for position in tensors if position not in ranges]
        if len(others) != 1 or any(len(items[position].dims) != 1 for position in tensors):
            raise MisuseError("of several indices all but one must be np.arange of a whole axis")
        (picked,) = others
        index = items[picked]
        for position in ranges:
            axis = only(x.dims[position])
            self.axes.unify_dims(x.dims[position], items[position].dims[0])
            self.axes.unify_dims((axis,), index.dims[0])
        axis = only(x.dims[picked])
        node, _ = self.tensor_index(axis, index)
        dims = [dim for position, dim in enumerate(x.dims) if position not in tensors]
        dims.insert(tensors[0], index.dims[0])
        self.axes.apart(x.axes, index.axes)
        self.axes.apart(axes_of(dims))
        return AxisValue(index_node(x.node, axis, node), tuple(dims))

    def select_by_condition(self, x: AxisValue, condition: AxisValue) -> Masked:
        if len(condition.dims) != len(x.dims):
            raise MisuseError("a condition is only supported as an index of all axes")
        for one, two in zip(x.dims, condition.dims):
            if bool(one) != bool(two):
                raise MisuseError("the condition has another shape than the tensor")
            self.axes.unify_dims(one, two)
        self.axes.apart(x.axes, condition.axes)
        return Masked(x, condition)


# ------------------------------------------------------------------------------------------------------------- nodes
def split_offset(node: Node) -> tuple[Node, int]:
    """Return the node of the tensor and the offset in an index such as I, I + 1 or I − 1."""
    if isinstance(node, nodes.Call) and node.operator in "+-" and len(node.arguments) == 2:
        base, offset = node.arguments
        if isinstance(offset, nodes.Number) and isinstance(offset.value, int):
            tensor, before = split_offset(base)
            return tensor, before + (offset.value if node.operator == "+" else -offset.value)
    return node, 0


def range_of(value: AxisValue) -> AxisVariable | None:
    """Return the axis along which a value is a range such as np.arange(n), or None if the value is not a range."""
    match value.node:
        case nodes.Call(operator="-", arguments=(nodes.Subscript(base=nodes.Name(text="iota")), nodes.Number(value=1))):
            return only(value.dims[0])
    return None


def only(dim: Dim) -> AxisVariable:
    if len(dim) != 1:
        raise MisuseError("an index of an axis of size 1, or of a merged one")
    return dim[0]


def one_element(item: Any) -> tuple[Dim, ...]:
    """Check that a size-1 dimension is indexed by 0 or -1, and return (), since no dimension remains.

    Raise MisuseError for any other index.
    """
    if isinstance(item, int) and not isinstance(item, bool) and item in (0, -1):
        return ()
    raise MisuseError("an index of an axis of size 1, or of a merged one")
