"""Operations of ATen that change dimensions, pad them or make new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammar import nodes

from .axes import Dim, axes_of
from .torch_graph import GraphReader
from .torch_operations import as_tensor, numeric
from .torch_records import varies
from .torch_replacements import mask_name
from .torch_tensors import TracedTensor, plain
from .torch_trace import UnreadableModule, rule
from .values import AxisValue, aligned, call, concatenated, iota, number, ones, plus, renamed, times


@rule("view", "_unsafe_view", "_reshape_alias", skip="size stride", moves=True)
def view(r: GraphReader, self: TracedTensor) -> TracedTensor:
    return r.views.regrouped(self, r.shapes_now[0])


@rule("expand", skip="size implicit", moves=True)
def expand(r: GraphReader, self: TracedTensor) -> TracedTensor:
    return self.led(r.shapes_now[0])


@rule("squeeze", moves=True)
def squeeze(r: GraphReader, self: TracedTensor, dim: int | Sequence[int] | None = None) -> TracedTensor:
    rank = len(self.shape)
    listed = range(rank) if dim is None else [dim] if isinstance(dim, int) else dim
    gone = {at % rank for at in listed if self.shape[at] == 1} if rank else set()
    return self.permuted([at for at in range(rank) if at not in gone])


@rule("select")
def select(r: GraphReader, self: TracedTensor, dim: int, index: int) -> TracedTensor:
    return r.views.picked(self, dim % len(self.shape), index)


@rule("slice", skip="end", moves=True)
def slice_(r: GraphReader, self: TracedTensor, dim: int, start: int | None, step: int) -> TracedTensor:
    x, start = self, start or 0
    dim %= len(x.shape)
    length = r.shapes_now[0][dim]
    if length == x.shape[dim]:
        return x
    if step > 1 and length * step == x.shape[dim] and start < step and not varies(length) and is_divisible(r, x, dim):
        split = r.views.regrouped(x, [*x.shape[:dim], length, step, *x.shape[dim + 1 :]])
        return r.views.picked(split.used(r.axes), dim + 1, start)
    return r.cut(x.used(r.axes), dim, start + x.shape[dim] if start < 0 else start, length, step)


def is_divisible(r: GraphReader, x: TracedTensor, dim: int) -> bool:
    """Return whether a dimension has an axis without a name, which can fall into parts."""
    inside = r.axes.expanded(x.dims[dim])
    return len(inside) != 1 or r.views.is_divisible(inside[0])


@rule("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", skip="split_size split_sizes", moves=True)
def split(r: GraphReader, self: TracedTensor, dim: int) -> tuple[TracedTensor | None, ...]:
    x, dim = self, dim % len(self.shape)
    lengths = [shape[dim] for shape in r.shapes_now]
    whole = r.axes.expanded(x.dims[dim])
    if (
        len(whole) == 1
        and len(set(lengths)) == 1
        and r.views.is_divisible(whole[0])
        and len(lengths) > 1
        and not varies(lengths[0])
    ):
        return parts(r, x, dim, len(lengths), lengths[0])
    if len(whole) > 1 and len(set(lengths)) == 1 and r.views.size(whole[0]) == len(lengths):
        return parts(r, x, dim, len(lengths), lengths[0])
    x = r.shared(x)
    starts = [sum(lengths[:part]) for part in range(len(lengths))]
    return tuple(r.cut(x.used(r.axes), dim, start, length) for start, length in zip(starts, lengths))


def parts(r: GraphReader, x: TracedTensor, dim: int, count: int, length: int) -> tuple[TracedTensor | None, ...]:
    """Equal parts: the axis falls into (part, rest), and each is an element along part."""
    shape = [*x.shape[:dim], count, length, *x.shape[dim + 1 :]]
    whole = r.axes.expanded(x.dims[dim])
    if len(whole) == 1 and r.views.is_divisible(whole[0]):
        r.views.cut(x, whole[0], (count, length), ("part", r.views.base(whole[0])))
    x = r.shared(r.views.regrouped(x, shape))
    return tuple(r.views.picked(x.used(r.axes), dim, part) for part in range(count))


@rule("unbind", moves=True)
def unbind(r: GraphReader, self: TracedTensor, dim: int) -> tuple[TracedTensor | None, ...]:
    x, dim = r.shared(self), dim % len(self.shape)
    return tuple(r.views.picked(x.used(r.axes), dim, at) for at in range(x.shape[dim]))


@rule("cat")
def cat(r: GraphReader, tensors: Sequence[TracedTensor], dim: int) -> TracedTensor:
    parts = [*map(numeric, tensors)]
    return join_tensors(r, parts, dim % len(parts[0].shape)) if len(parts) > 1 else parts[0]


def join_tensors(r: GraphReader, tensors: Sequence[TracedTensor], dim: int) -> TracedTensor:
    """Return tensors one after the other along a dimension."""
    total = sum(tensor.shape[dim] for tensor in tensors)
    single: list[TracedTensor] = []
    for operand in tensors:
        operand = operand if operand.shape[dim] == 1 else r.with_axis(operand, dim)
        single.append(operand if not operand.dims[dim] else r.views.joined(operand, dim)[0])
    hint = next((r.views.base(tensor.dims[dim][0]) for tensor in single if tensor.dims[dim]), "ax")
    new = r.axes.new(size=total, hint=hint)
    r.views.joined_kinds.append(new.kind)
    others = aligned(r.axes, *(AxisValue(tensor.node, drop_dimension(tensor.dims, dim)) for tensor in single))
    result: list[Dim] = [*others[:dim], (new,), *others[dim:]]
    for operand in single:
        rest = axes_of(drop_dimension(operand.dims, dim))
        r.axes.apart([*rest, new], [*rest, *operand.dims[dim]])
    node = concatenated([(operand.node, next(iter(operand.dims[dim]), None)) for operand in single], new)
    r.axes.apart(axes_of(result))
    return TracedTensor(node, tuple(result), shape=(*tensors[0].shape[:dim], total, *tensors[0].shape[dim + 1 :]))


def drop_dimension(dims: Sequence[Dim], at: int) -> tuple[Dim, ...]:
    return (*dims[:at], *dims[at + 1 :])


@rule("stack")
def stack(r: GraphReader, tensors: Sequence[TracedTensor], dim: int) -> TracedTensor:
    return stack_tensors(r, [*map(numeric, tensors)], dim % (len(tensors[0].shape) + 1))


def stack_tensors(r: GraphReader, tensors: Sequence[TracedTensor], at: int) -> TracedTensor:
    """Return tensors side by side along a new dimension."""
    dims = aligned(r.axes, *tensors)
    shape = [*tensors[0].shape[:at], len(tensors), *tensors[0].shape[at:]]
    if len(tensors) == 1:
        return tensors[0].inserted(at)
    new = r.axes.new(size=len(tensors), hint="item")
    result: list[Dim] = [*dims[:at], (new,), *dims[at:]]
    r.axes.apart(axes_of(result))
    node = call("stack", [tensor.node for tensor in tensors], (new,))
    return TracedTensor(node, tuple(result), shape=tuple(shape))


@rule("repeat")
def repeat(r: GraphReader, self: TracedTensor, repeats: Sequence[int]) -> TracedTensor:
    """Read repetitions: nothing along a dimension of size 1, else an axis before the other."""
    x = self.led([*[1] * (len(repeats) - len(self.shape)), *self.shape])
    for dim, (count, length) in enumerate(zip(repeats, x.shape)):
        if count > 1 and length > 1:
            x, copy = r.views.repeated(r.with_axis(x, dim), count)
            x = x.with_dim(dim, (copy, *x.dims[dim]), count * length)
    return x.led(r.shapes_now[0])


@rule("copy", skip="self")
def copy(r: GraphReader, src: TracedTensor) -> TracedTensor:
    return numeric(src).led(r.shapes_now[0])


@rule("select_scatter")
def select_scatter(r: GraphReader, self: TracedTensor, src: TracedTensor, dim: int, index: int) -> TracedTensor:
    dim %= len(self.shape)
    if index < 0 and varies(self.shape[dim]):
        raise UnreadableModule("an assignment to an element counted from the end of a free axis")
    start = index % self.shape[dim]
    return assign(r, numeric(self), numeric(src).inserted(dim), dim, start, start + 1)


@rule("slice_scatter", skip="end")
def slice_scatter(
    r: GraphReader, self: TracedTensor, src: TracedTensor, dim: int, step: int, start: int | None = None
) -> TracedTensor:
    x, source, dim, start = numeric(self), numeric(src), dim % len(self.shape), start or 0
    length = source.shape[dim]
    if length == x.shape[dim]:
        return source
    if source.dims[dim]:
        raise UnreadableModule("an assignment of several elements to a slice")
    if step != 1 or varies(start) or start < 0:
        raise UnreadableModule("an assignment to a slice with steps")
    return assign(r, x, source, dim, start, start + length if start + length < x.shape[dim] else None)


def assign(
    r: GraphReader, x: TracedTensor, source: TracedTensor, dim: int, start: int, until: int | None
) -> TracedTensor:
    """Return a tensor with the source from `start` to `until` along a dimension, and the old values elsewhere."""
    x = r.with_axis(x, dim)
    x, axis = r.views.joined(x, dim)
    bounds = [call("≥", (iota(axis), number(start + 1)))] if start or until is None else []
    if until is not None:
        above = call("≤", (iota(axis), number(until)))
        bounds = [call("=", (iota(axis), number(until)))] if until == start + 1 else [*bounds, above]
    truth = bounds[0] if len(bounds) == 1 else call("∧", bounds)
    source = source.with_dim(dim, (), 1)
    result = aligned(r.axes, x, source)
    node = nodes.Cases(((source.node, truth), (x.node, None)))
    return x.with_node(node, result)


# ------------------------------------------------------------------------------------------------------ windows and padding
@rule("constant_pad_nd")
def pad_constant(r: GraphReader, self: TracedTensor, pad: Sequence[int], value: float = 0) -> TracedTensor:
    x = numeric(self)
    for count in range(len(pad) // 2):
        x = pad_dimension(r, x, len(x.shape) - 1 - count, pad[2 * count], pad[2 * count + 1], value)
    return x


def pad_dimension(r: GraphReader, x: TracedTensor, dim: int, before: int, after: int, value: float) -> TracedTensor:
    """Return a tensor with `value` before and after it along a dimension; negative widths cut."""
    if before < 0 or after < 0:
        x = r.cut(x, dim, max(-before, 0), x.shape[dim] + min(before, 0) + min(after, 0))
        before, after = max(before, 0), max(after, 0)
    pieces = [constant_like(r, x, dim, before, value), x, constant_like(r, x, dim, after, value)]
    pieces = [piece for piece in pieces if piece is not None]
    return join_tensors(r, pieces, dim) if len(pieces) > 1 else x


def constant_like(r: GraphReader, x: TracedTensor, dim: int, length: int, value: float) -> TracedTensor | None:
    """Return a constant of a length along `dim`."""
    if not length:
        return None
    new = r.axes.new(size=length, hint="edge")
    node = times(value, ones(new))
    r.axes.apart([*axes_of(x.dims), new])
    return TracedTensor(node, ((),) * len(x.dims), shape=x.shape).with_dim(dim, (new,), length)


@rule("unfold")
def unfold(r: GraphReader, self: TracedTensor, dimension: int, size: int, step: int) -> TracedTensor:
    """Read the windows along a dimension; the last dimension is within them."""
    x, length = self, size
    dim, shape = dimension % len(x.shape), r.shapes_now[0]
    count, rest = shape[dim], axes_of(drop_dimension(x.dims, dim))
    if length == step == 1:
        return x.with_node(x.node, [*x.dims, ()], shape)
    x, axis = r.views.joined(r.with_axis(x, dim), dim)
    base = r.views.base(axis)
    new, kernel = r.axes.new(size=count, hint=base), r.axes.new(size=length, hint=f"k{base}" if base.isalpha() else "k")
    if step == 1:
        node = renamed(call("unroll", (x.node,), (axis, kernel)), [(axis, new)])
    elif step == length and x.shape[dim] == count * length:
        node = renamed(call("pool", (x.node,), (axis, kernel)), [(axis, new)])
    else:
        index, offset = times(step, iota(new)), 1 - step
        if length > 1:
            index, offset = call("+", (index, iota(kernel))), offset - 1
        node = nodes.Index(x.node, ((nodes.Axis(axis.key), plus(index, offset)),))
    r.axes.apart([*rest, axis], [*rest, new, kernel], [axis, kernel])
    if count == 1:
        node = nodes.Index(node, ((nodes.Axis(new.key), number(1)),))
    x = x.with_dim(dim, (new,) if count > 1 else (), count)
    return x.with_node(node, [*x.dims, (kernel,) if length > 1 else ()], shape)


# -------------------------------------------------------------------------------------------------------- numbers alone
@rule("arange", skip="end")
def arange(r: GraphReader, start: float = 0, step: float = 1) -> TracedTensor:
    (length,) = r.shapes_now[0]
    axis = r.axes.new(size=length, hint="position")
    return TracedTensor(plus(times(step, iota(axis)), start - step), ((axis,),), shape=(length,))


@rule("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", skip="self size")
def zeros_or_ones(r: GraphReader) -> TracedTensor:
    return plain(number(1 if "ones" in r.step_now.operator else 0)).led(r.shapes_now[0])


@rule("full", "full_like", "new_full", "fill", "scalar_tensor", skip="self size")
def full(r: GraphReader, fill_value: Any) -> TracedTensor:
    return as_tensor(fill_value).led(r.shapes_now[0])


@rule("mask", skip="like p")
def mask(r: GraphReader, number: int) -> TracedTensor:
    """Read the mask of a dropout, which is an input."""
    return r.leaf("mask", mask_name(number), r.runs.tensors[r.step_now.results[0].index])


@rule("empty", "empty_like", "new_empty", skip="self size")
def empty(r: GraphReader) -> tuple[TracedTensor | None, ...]:
    """Read a tensor without values, which an operation fills."""
    return (None,)
