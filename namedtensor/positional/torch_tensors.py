"""Tensors of a trace as values of the notation, and views, permutations and cuts of their dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grammar import nodes
from grammar.nodes import Node

from .axes import Axes, AxisKind, AxisVariable, Dim, axes_of
from .torch_records import varies
from .torch_trace import UnreadableModuleError
from .values import AxisValue, Leaf, call, iota, merge_axes, number, ones, plus, rename_axes, times


class RepeatedDim(tuple[AxisVariable, ...]):
    """A dimension without axes, along which a tensor repeats `length` times."""

    length: int


def fill_lengths(dims: Sequence[Dim], shape: Sequence[int]) -> tuple[Dim, ...]:
    """Return the dimensions of a tensor of this shape.

    The tensor repeats along each dimension that has no axes and whose size is not 1.
    """
    return tuple(dim if dim or length == 1 else repeat_dim(length) for dim, length in zip(dims, shape))


def repeat_dim(length: int) -> Dim:
    dim = RepeatedDim()
    dim.length = length
    return dim


def length_of(dim: Dim) -> int:
    return dim.length if isinstance(dim, RepeatedDim) else math.prod(axis.kind.size or 0 for axis in dim)


@dataclass(frozen=True)
class TracedTensor(AxisValue):
    """A value whose axes have known sizes.

    `named` is true if the value has a name, so that each use gets separate axes. `over` contains the axes just summed
    over.
    """

    named: bool = False
    over: tuple[AxisVariable, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(length_of, self.dims))

    def used(self, axes: Axes) -> TracedTensor:
        """Return the tensor with separate axes for one use, if it has a name."""
        if not self.named:
            return self
        use = Leaf(self.node, self.dims).use(axes)
        return replace(self, node=use.node, dims=fill_lengths(use.dims, self.shape), named=False)

    def with_dim(self, dim: int, axes: Dim) -> TracedTensor:
        """Return the tensor with the given axes along one dimension."""
        dims = [*self.dims]
        dims[dim] = axes
        return self.moved(dims)

    def repeat_dimensions(self, shape: Sequence[int]) -> TracedTensor:
        """Return the tensor repeated to this shape. New dimensions, along which the tensor repeats, have no axes."""
        return self.moved(fill_lengths([*[()] * (len(shape) - len(self.dims)), *self.dims], shape))

    def permute_dimensions(self, order: Sequence[int]) -> TracedTensor:
        """Return the tensor with its dimensions in this order, like permute."""
        return self.moved(self.dims[dim] for dim in order)

    def with_node(self, node: Node, dims: Sequence[Dim] | None = None) -> TracedTensor:
        return replace(self, node=node, dims=self.dims if dims is None else tuple(dims), over=())


def plain(node: Node, truth: bool = False) -> TracedTensor:
    """Return a scalar tensor for the node, which is a condition if `truth` is true."""
    return TracedTensor(node, truth=truth)


@dataclass(frozen=True)
class Cut:
    """A record of how a view split a named axis into parts."""

    whole: AxisKind
    parts: tuple[AxisKind, ...]


class TensorViews:
    """Views of tensors, which regroup dimensions.

    Free axes are split into parts, and named axes are split by a rename.
    """

    def __init__(self, axes: Axes, remark: Callable[[str], None]):
        self.axes, self.remark = axes, remark
        self.cuts: dict[tuple[AxisKind, tuple[int, ...]], Cut] = {}

    def size(self, axis: AxisVariable) -> int:
        size = axis.kind.size
        assert size is not None
        return size

    def is_divisible(self, axis: AxisVariable) -> bool:
        """Return whether an axis can be split into parts: it has no name, and it is not a concatenation of tensors."""
        return not axis.kind.name and not any(axis.kind is whole.kind for whole, _ in self.axes.facts.totals)

    def regroup_dimensions(self, tensor: TracedTensor, shape: Sequence[int]) -> TracedTensor:
        """Return the tensor reshaped to `shape`. The order of its elements does not change."""
        if tensor.shape == tuple(shape):
            return tensor
        tokens: list[AxisVariable | int] = []
        for dim, length in zip(tensor.dims, tensor.shape):
            tokens += self.axes.expand_axes(dim) if dim else [length] if length > 1 else []
        dims: list[Dim] = []
        position = 0
        while position < len(shape):
            if shape[position] == 1:
                dims.append(())
                position += 1
                continue
            taken = self.taken(tensor, tokens, shape[position])
            if taken is not None:
                tensor, dim = taken
                tensor, dim = self.rejoin_axis(tensor, dim)
                dims.append(dim)
                position += 1
                continue
            tensor, several, count = self.merge_and_split(tensor, tokens, shape[position:])
            dims += several
            position += count
        return tensor.moved(fill_lengths(dims, shape))

    def taken(
        self, tensor: TracedTensor, tokens: list[AxisVariable | int], size: int
    ) -> tuple[TracedTensor, Dim] | None:
        """Remove the leading tokens whose sizes have the product `size`, and return the tensor with these axes.

        A token is an axis, or the size of a repeated dimension. The last token is split if it is too large. Return None
        if no leading tokens fit.
        """
        left, count = size, 0
        while left > 1:
            if count == len(tokens):
                return None
            token = tokens[count]
            length = token if isinstance(token, int) else self.size(token)
            if left % length == 0:
                left //= length
                count += 1
            elif length % left == 0 and not isinstance(token, int):
                tensor, parts = self.cut(tensor, token, (left, length // left))
                tokens[count : count + 1] = parts
            else:
                return None
        taken, tokens[:] = tokens[:count], tokens[count:]
        repeats = [token for token in taken if isinstance(token, int)]
        if len(repeats) < len(taken):
            for at, length in enumerate(taken):
                if isinstance(length, int):
                    tensor, taken[at] = self.repeated(tensor, length)
        return tensor, tuple(token for token in taken if not isinstance(token, int))

    def repeated(self, tensor: TracedTensor, size: int, hint: str = "copy") -> tuple[TracedTensor, AxisVariable]:
        """Return the tensor repeated along a new axis of this size, and the new axis."""
        axis = self.axes.new(size=size, hint=hint)
        self.axes.apart([*tensor.axes, axis])
        return tensor.with_node(call("⊙", (tensor.node, ones(axis)))), axis

    def cut(
        self, tensor: TracedTensor, axis: AxisVariable, sizes: tuple[int, ...], hints: tuple[str, ...] = ()
    ) -> tuple[TracedTensor, list[AxisVariable]]:
        """Split an axis into parts of these sizes. Return the tensor and the parts."""
        kind = axis.kind
        base = kind.name or kind.hint or "ax"
        if self.is_divisible(axis):
            hints = hints or tuple(f"{base}_{count}" for count in range(1, len(sizes) + 1))
            parts = [AxisKind(size=size, hint=hint) for size, hint in zip(sizes, hints)]
            self.axes.split(axis, parts)
            return tensor, list(self.axes.parts(axis))
        known = self.cuts.get((kind, sizes))
        if known is None:
            parts = [AxisKind(size=size, hint=f"{base}_{count}") for count, size in enumerate(sizes, 1)]
            known = self.cuts[kind, sizes] = Cut(kind, tuple(parts))
        fresh = [self.axes.new(part) for part in known.parts]
        if kind.name:
            self.remark(f"cuts the axis {self.sized(axis)} into {' × '.join(map(str, sizes))}")
        tensor = replace(tensor, node=merge_axes(tensor.node, [axis], fresh), over=())
        dims = [dim and self.replaced(dim, axis, fresh) for dim in tensor.dims]
        self.axes.apart(axes_of(dims))
        return tensor.moved(dims), fresh

    def replaced(self, dim: Dim, axis: AxisVariable, parts: Sequence[AxisVariable]) -> Dim:
        return tuple(
            new for inside in self.axes.expand_axes(dim) for new in (parts if inside.root is axis.root else [inside])
        )

    def rejoin_axis(self, tensor: TracedTensor, dim: Dim) -> tuple[TracedTensor, Dim]:
        """Merge the parts of a split axis into the original axis if they are adjacent and in their original order."""
        kinds = tuple(axis.kind for axis in dim)
        for cut in self.cuts.values():
            if kinds == tuple(part.root for part in cut.parts):
                whole = self.axes.new(cut.whole)
                node = merge_axes(tensor.node, dim, [whole])
                return replace(tensor, node=node), (whole,)
        return tensor, dim

    def merge_and_split(
        self, tensor: TracedTensor, tokens: list[AxisVariable | int], shape: Sequence[int]
    ) -> tuple[TracedTensor, list[Dim], int]:
        """Merge the fewest leading tokens that match leading sizes of the shape, and split the result into these sizes.

        Return the tensor, the new dimensions, and the number of merged tokens.
        """
        source, target, taken, count = 1, 1, 0, 0
        while taken == 0 or source != target:
            if source <= target and taken < len(tokens):
                token = tokens[taken]
                if isinstance(token, int):
                    raise UnreadableModuleError("view merges a repeated dimension with another")
                source *= self.size(token)
                taken += 1
            elif count < len(shape):
                target *= shape[count]
                count += 1
            else:
                break
        while count < len(shape) and target < source:
            target *= shape[count]
            count += 1
        old = [token for token in tokens[:taken] if not isinstance(token, int)]
        del tokens[:taken]
        sizes = list(shape[:count])
        new = [self.axes.new(size=size, hint="ax") for size in sizes if size > 1]
        whole = self.axes.new(size=math.prod(sizes), hint="all")
        listed = " × ".join(map(self.sized, old))
        words = {self.size(axis): self.word(axis) for axis in old if varies(self.size(axis))}
        shown = " × ".join(f"|{words[size]}|" if size in words else str(size) for size in sizes)
        self.remark(f"regroups {listed} as {shown}, across the borders of these axes")
        node = merge_axes(merge_axes(tensor.node, old, [whole]), [whole], new)
        waiting = iter(new)
        dims: list[Dim] = [(next(waiting),) if size > 1 else () for size in sizes]
        rest = [axis for dim in tensor.dims for axis in self.axes.expand_axes(dim) if axis not in old]
        self.axes.apart([*rest, *new], [*rest, whole])
        return replace(tensor, node=node, over=()), dims, count

    def sized(self, axis: AxisVariable) -> str:
        """Return the name of an axis as text, followed by its size in brackets if the size is fixed."""
        return self.word(axis) if varies(self.size(axis)) else f"{self.word(axis)}[{self.size(axis)}]"

    def word(self, axis: AxisVariable) -> str:
        return axis.root.fixed or axis.kind.name or axis.kind.hint or "an axis"

    # ------------------------------------------------------------------------------------------------- operands that meet
    def fit_dimensions(
        self, first: TracedTensor, one: int, second: TracedTensor, two: int
    ) -> tuple[TracedTensor, TracedTensor]:
        """Give both tensors the same number of axes along two dimensions that are aligned with each other.

        A free axis is split into parts. If the larger axis is not free, the other tensor's axes are merged.
        """
        while True:
            left, right = self.axes.expand_axes(first.dims[one]), self.axes.expand_axes(second.dims[two])
            pairs = list(zip(left, right))
            if not left or not right:
                return first, second
            position = next((at for at, (a, b) in enumerate(pairs) if self.size(a) != self.size(b)), len(pairs))
            if position == len(pairs):
                return first, second
            longer, other = (left, right) if self.size(left[position]) > self.size(right[position]) else (right, left)
            sizes = self.sizes_within(longer[position], other[position:])
            if not sizes:
                return first, second
            if self.is_divisible(longer[position]):
                self.cut(first, longer[position], sizes)
            elif longer is left:
                second = self.merged(second, two, position, len(sizes), self.axes.twin(longer[position]))
            else:
                first = self.merged(first, one, position, len(sizes), self.axes.twin(longer[position]))

    def sizes_within(self, whole: AxisVariable, axes: Sequence[AxisVariable]) -> tuple[int, ...]:
        """Return the sizes of the leading axes whose product is the size of `whole`, or () if no product matches."""
        product, sizes = 1, list[int]()
        for axis in axes:
            product *= self.size(axis)
            sizes.append(self.size(axis))
            if product == self.size(whole):
                return tuple(sizes)
        return ()

    def merged(self, tensor: TracedTensor, dim: int, position: int, count: int, whole: AxisVariable) -> TracedTensor:
        """Return the tensor with `count` axes of a dimension, starting at a position, merged into one axis."""
        inside = self.axes.expand_axes(tensor.dims[dim])
        node = merge_axes(tensor.node, inside[position : position + count], [whole])
        tensor = tensor.with_dim(dim, (*inside[:position], whole, *inside[position + count :]))
        self.axes.apart(tensor.axes)
        return tensor.with_node(node)

    # ------------------------------------------------------------------------------------------------- parts of a dimension
    def picked(self, tensor: TracedTensor, dim: int, index: int) -> TracedTensor:
        """Return the elements at an index, counted from 0, along a dimension."""
        index %= tensor.shape[dim]
        inside = self.axes.expand_axes(tensor.dims[dim])
        items = []
        for axis in reversed(inside):
            items.append((nodes.Axis(axis.key), number(index % self.size(axis) + 1)))
            index //= self.size(axis)
        node = nodes.Index(tensor.node, tuple(reversed(items))) if items else tensor.node
        return tensor.with_node(node, (*tensor.dims[:dim], *tensor.dims[dim + 1 :]))

    def slice_dimension(self, tensor: TracedTensor, dim: int, start: int, length: int, step: int = 1) -> TracedTensor:
        """Return `length` elements along a dimension, from `start`, counted from 0, at intervals of `step`."""
        if tensor.shape[dim] == length:
            return tensor
        if not tensor.dims[dim]:
            return tensor.with_dim(dim, () if length == 1 else repeat_dim(length))
        tensor, axis = self.joined(tensor, dim)
        first = number(start + 1)
        if length == 1:
            return self.take_index(tensor, dim, first, [()])
        new = self.axes.new(size=length, hint=self.base(axis))
        if step != 1:
            return self.take_index(tensor, dim, call("+", (times(step, plus(iota(new), -1)), first)), [(new,)])
        result = self.take_index(tensor, dim, nodes.Slice(first, number(start + length)), [(new,)])
        return result.with_node(rename_axes(result.node, [(axis, new)]))

    def take_index(self, tensor: TracedTensor, dim: int, index: Node, dims: Sequence[Dim]) -> TracedTensor:
        """Return the elements that an index selects along a dimension. The index's dimensions replace the dimension."""
        (axis,) = tensor.dims[dim]
        rest = axes_of((*tensor.dims[:dim], *tensor.dims[dim + 1 :]))
        self.axes.apart([*rest, axis], [*rest, *axes_of(dims)])
        node = nodes.Index(tensor.node, ((nodes.Axis(axis.key), index),))
        return tensor.with_node(node, (*tensor.dims[:dim], *dims, *tensor.dims[dim + 1 :]))

    def joined(self, tensor: TracedTensor, dim: int) -> tuple[TracedTensor, AxisVariable]:
        """Return the tensor with all axes of a dimension merged into one axis, and this axis."""
        inside = self.axes.expand_axes(tensor.dims[dim])
        if len(inside) == 1:
            return tensor, inside[0]
        hint = f"{self.base(inside[0])}All".replace("_", "")
        whole = self.axes.new(size=math.prod(map(self.size, inside)), hint=hint)
        return self.merged(tensor, dim, 0, len(inside), whole), whole

    def base(self, axis: AxisVariable) -> str:
        return (axis.kind.name or axis.kind.hint or "ax").rstrip("'")
