"""Operations of array code: products, linear algebra, layer norms, concatenation, stacking, and tensors from lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar import nodes

from . import values
from .axes import Axes, AxisVariable, axes_of
from .operations import MisuseError, numeric, one_position, operation, positions, to_value
from .values import AxisValue, Leaf, call, number


# ----------------------------------------------------------------------------------------------------------- products
def matmul(axes: Axes, x: Any, y: Any) -> AxisValue:
    first, second = to_value(x), to_value(y)
    if not first.dims or not second.dims:
        raise MisuseError("@ needs tensors, got a number")
    return values.matmul(axes, first, second)


def dot(axes: Axes, x: Any, y: Any) -> AxisValue:
    first, second = to_value(x), to_value(y)
    if not first.dims or not second.dims:
        return values.elementwise(axes, "⊙", first, second)
    if len(second.dims) > 2:
        return tensordot(axes, first, second, ((-1,), (-2,)))
    return values.matmul(axes, first, second)


def inner(axes: Axes, x: Any, y: Any) -> AxisValue:
    first, second = to_value(x), to_value(y)
    if len(second.dims) > 2:
        return tensordot(axes, first, second, ((-1,), (-1,)))
    return dot(axes, first, second.moved(second.dims[::-1]))


def outer(axes: Axes, x: Any, y: Any) -> AxisValue:
    first, second = (values.flatten_axes(axes, to_value(side), None)[0] for side in (x, y))
    return values.elementwise(axes, "⊙", first.moved((*first.dims, ())), second)


def vdot(axes: Axes, x: Any, y: Any) -> AxisValue:
    first, second = to_value(x), to_value(y)
    if len(first.dims) == len(second.dims) and [*map(bool, first.dims)] == [*map(bool, second.dims)]:
        return tensordot(axes, first, second, len(first.dims))
    return dot(axes, *(values.flatten_axes(axes, side, None)[0] for side in (first, second)))


def tensordot(axes: Axes, x: Any, y: Any, over: Any) -> AxisValue:
    """Contract the last `over` axes of x with the first `over` axes of y.

    Alternatively, `over` lists the axes for each tensor.
    """
    first, second = to_value(x), to_value(y)
    if type(over) is int:
        sides = list(range(len(first.dims) - over, len(first.dims))), list(range(over))
    elif isinstance(over, tuple) and len(over) == 2:
        sides = positions(first, over[0]), positions(second, over[1])
    else:
        raise MisuseError("the axes of tensordot are a number, or a list for each tensor")
    if len(sides[0]) != len(sides[1]) or not 0 <= len(sides[0]) <= min(len(first.dims), len(second.dims)):
        raise MisuseError("the axes of tensordot are not as many in both tensors")
    for one, two in zip(*sides):
        if bool(first.dims[one]) != bool(second.dims[two]):
            raise MisuseError("an axis of size 1 is broadcast against a larger one")
        axes.unify_dims(first.dims[one], second.dims[two])
    left = [dim for index, dim in enumerate(first.dims) if index not in sides[0]]
    right = [dim for index, dim in enumerate(second.dims) if index not in sides[1]]
    axes.apart(axes_of((*left, *right)))
    return values.contract_values(
        axes, first, second, axes_of(first.dims[position] for position in sides[0]), (*left, *right)
    )


def matrix_power(axes: Axes, x: Any, exponent: Any) -> AxisValue:
    value = to_value(x)
    if type(exponent) is not int or not abs(exponent) < 10 or len(value.dims) < 2:
        raise MisuseError(f"the power {exponent} of a tensor is not supported")
    if exponent == 0 and len(value.dims) == 2:
        row, column = square_axes(axes, value, "a power")
        return AxisValue(values.identity(row, column), value.dims)
    product = value = value if exponent > 0 else make_matrix_operation("inv", True)(axes, value)
    for _ in range(abs(exponent) - 1):
        product = values.matmul(axes, product, Leaf(value.node, value.dims).use(axes))
    return product


def kron(axes: Axes, x: Any, y: Any) -> AxisValue:
    first, second = to_value(x), to_value(y)
    rank = max(len(first.dims), len(second.dims))
    padded = ((*[()] * (rank - len(side.dims)), *side.dims) for side in (first, second))
    dims = tuple((*one, *two) for one, two in zip(*padded))
    axes.apart(first.axes, second.axes)
    axes.apart(axes_of(dims))
    return AxisValue(call("⊙", (first.node, second.node)), dims)


operation("matmul mm bmm", "x, y", matmul)
operation("dot", "x, y", dot)
operation("inner", "x, y", inner)
operation("outer ger", "x, y", outer)
operation("vdot", "x, y", vdot)
operation("mv", "x, y", matmul)
operation("tensordot", "x, y, axes|dims=2", tensordot)
operation("kron", "x, y", kron)
operation("matrix_power", "x, n", matrix_power)


# ------------------------------------------------------------------------------------------------------- linear algebra
def square_axes(axes: Axes, x: AxisValue, what: str) -> tuple[AxisVariable, AxisVariable]:
    dims = x.dims[-2:]
    if len(dims) < 2 or any(len(dim) != 1 for dim in dims) or not dims[1][0].kind.fits(dims[0][0].kind):
        raise MisuseError(f"{what} needs a square matrix")
    row, column = dims[0][0], dims[1][0]
    if column.kind is not row.kind:
        axes.facts.assumed.append(f"|{row.key}| = |{column.key}|")
    column.kind.unify(row.kind)
    return row, column


def make_matrix_operation(operator: str, gives_matrix: bool) -> Callable[..., AxisValue]:
    def rule(axes: Axes, x: Any) -> AxisValue:
        value = to_value(x)
        over = square_axes(axes, value, operator)
        return AxisValue(call(operator, (value.node,), over), value.dims if gives_matrix else value.dims[:-2])

    return rule


def write_sign(axes: Axes, x: Any) -> AxisValue:
    result = make_matrix_operation("det", False)(axes, x)
    return AxisValue(call("sign", (result.node,)), result.dims)


def make_definite_operation(operator: str, gives_matrix: bool, assumption: str) -> Callable[..., AxisValue]:
    """Return the translation rule of an operation that agrees with the library only for some matrices.

    For example, the matrix must be symmetric. `assumption` states this in words.
    """

    def rule(axes: Axes, x: Any) -> AxisValue:
        result = make_matrix_operation(operator, gives_matrix)(axes, x)
        axes.facts.definite.append(square_axes(axes, to_value(x), operator)[0])
        axes.facts.assumed.append(assumption)
        return result

    return rule


def eigenvalues(axes: Axes, x: Any) -> AxisValue:
    result = make_definite_operation("eigvalsh", True, "the matrix of eigvalsh is symmetric")(axes, x)
    return result.moved(result.dims[:-1])


def solve(axes: Axes, matrix: Any, right: Any) -> AxisValue:
    first, second = to_value(matrix), to_value(right)
    row, column = square_axes(axes, first, "solve")
    if len(first.dims) > 2 or len(second.dims) > 2 or not second.dims:
        raise MisuseError("solve of more than two axes")
    axes.unify_dims((row,), second.dims[0])
    axes.apart(first.axes, second.axes)
    return AxisValue(call("solve", (first.node, second.node), (row, column)), ((column,), *second.dims[1:]))


operation("inv inverse", "x", make_matrix_operation("inv", True))
operation("det", "x", make_matrix_operation("det", False))
operation(
    "logdet", "x", make_definite_operation("logdet", False, "the matrix of logdet has a positive determinant"), "torch"
)
operation("slogdet", "x", lambda axes, x: (write_sign(axes, x), make_matrix_operation("logdet", False)(axes, x)))
operation("eigvalsh", "x, -UPLO='L'", eigenvalues)
operation("matrix_exp", "x", make_matrix_operation("expm", True))
definite = "the matrix of cholesky is symmetric"
operation("cholesky", "x, *, -upper=False", make_definite_operation("cholesky", True, definite))
operation("solve", "a, b", solve)


# ------------------------------------------------------------------------------------------------------------- layers
def layer_norm(axes: Axes, x: Any, shape: Any, weight: Any, bias: Any, eps: Any) -> AxisValue:
    value = to_value(x)
    listed = shape if isinstance(shape, (tuple, list)) else (shape,)
    if len(listed) != 1 or not isinstance(eps, (int, float)):
        raise MisuseError("layer_norm over more than one axis")
    over = value.dims[-1]
    if isinstance(listed[0], int) and len(over) == 1:
        axes.facts.pinned.append((over[0], listed[0]))
        axes.facts.assumed.append(f"{listed[0]} is read as |{over[0].key}|")
    result = AxisValue(
        nodes.Call("standardize", (), tuple(values.name(axis) for axis in over), (value.node,), (number(eps),)),
        value.dims,
    )
    if weight is not None:
        result = values.elementwise(axes, "⊙", result, to_value(weight))
    return result if bias is None else values.elementwise(axes, "+", result, to_value(bias))


operation("layer_norm", "x, normalized_shape, weight=None, bias=None, eps=1e-5", layer_norm)


def concatenate(axes: Axes, tensors: Any, axis: Any) -> AxisValue:
    """Concatenate tensors along a dimension, which gets a new axis.

    A tensor of size 1 along this dimension adds one element.
    """
    if not isinstance(tensors, (tuple, list)) or not tensors or not isinstance(axis, int | None):
        raise MisuseError("concatenate needs a list of tensors and an axis")
    parts = [numeric(part) if axis is not None else values.flatten_axes(axes, numeric(part), None)[0] for part in tensors]  # fmt: skip
    axis = axis or 0
    where = one_position(parts[0], axis)
    if any(len(part.dims) != len(parts[0].dims) or len(part.dims[where]) > 1 for part in parts):
        raise MisuseError("concatenate of tensors with different numbers of axes")
    if len(parts) == 1:
        return parts[0]
    ends = [next(iter(part.dims[where]), None) for part in parts]
    joined = axes.new(hint=next((end.kind.hint for end in ends if end is not None), ""))
    axes.facts.totals.append((joined, tuple(end or one_element(axes) for end in ends)))
    others = [part.moved((*part.dims[:where], (), *part.dims[where + 1 :])) for part in parts]
    dims = values.align_values(axes, *others)
    for part in parts:
        axes.apart(part.axes, (joined,))
    node = values.concatenate_nodes([(part.node, end) for part, end in zip(parts, ends)], joined)
    result = tuple((joined,) if position == where else dim for position, dim in enumerate(dims))
    axes.apart(axes_of(result))
    return AxisValue(node, result)


def one_element(axes: Axes) -> AxisVariable:
    """Return a new axis of size 1."""
    axis = axes.new(size=1)
    axes.facts.pinned.append((axis, 1))
    return axis


def stack(axes: Axes, tensors: Any, axis: Any) -> AxisValue:
    """Stack tensors along a new axis."""
    if not isinstance(tensors, (tuple, list)) or not tensors or not isinstance(axis, int):
        raise MisuseError("stack needs a list of tensors and an axis")
    parts = [numeric(part) for part in tensors]
    rank = len(parts[0].dims)
    if any(len(part.dims) != rank for part in parts) or not -rank - 1 <= axis <= rank:
        raise MisuseError("stack of tensors with different numbers of axes, or along an axis that there is not")
    dims = list(values.align_values(axes, *parts))
    if len(parts) == 1:
        return parts[0].moved((*dims[: axis % (rank + 1)], (), *dims[axis % (rank + 1) :]))
    if any([*map(bool, part.dims)] != [*map(bool, dims)] for part in parts):
        raise MisuseError("stack of tensors with different shapes")
    stacked = axes.new()
    axes.facts.pinned.append((stacked, len(parts)))
    dims.insert(axis % (rank + 1), (stacked,))
    axes.apart(axes_of(dims))
    return AxisValue(call("stack", [part.node for part in parts], (stacked,)), tuple(dims))


operation("stack", "tensors, axis|dim=0", stack)
operation("concatenate cat concat", "tensors, axis|dim=0", concatenate)


# ------------------------------------------------------------------------------------------------------------- literals
def numbers_of(x: Any) -> tuple[tuple[int, ...], tuple[float, ...]] | None:
    """Return the shape and the elements of nested lists of numbers, or None if there is anything else in them."""
    if isinstance(x, (int, float)):
        return (), (x,)
    parts = [numbers_of(part) for part in x] if isinstance(x, tuple) else []
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts) or len({shape for shape, _ in known}) > 1:
        return None
    return (len(parts), *known[0][0]), tuple(element for _, elements in known for element in elements)


def array(axes: Axes, x: Any) -> AxisValue:
    """Convert a list to a tensor with new axes, and return a tensor unchanged.

    A list of numbers becomes a literal, and a list of True and False becomes a condition. Other lists, and lists with
    more than two axes, are converted by stacking their elements.
    """
    if not isinstance(x, tuple):
        return to_value(x)
    shape, elements = numbers_of(x) or ((), ())
    if not elements or sum(length > 1 for length in shape) > 2:
        return stack(axes, x, 0)
    over = [axes.new(size=length) for length in shape if length > 1]
    axes.facts.pinned.extend((axis, axis.kind.size or 1) for axis in over)
    axes.apart(over)
    last = over[-1].kind.size or 1 if over else 1
    numbers = [number(+element) for element in elements]
    rows = tuple(tuple(numbers[start : start + last]) for start in range(0, len(numbers), last))
    node = nodes.Literal(rows, tuple(nodes.Axis(axis.key) for axis in over)) if over else numbers[0]
    named = iter(over)
    value = AxisValue(node, tuple((next(named),) if length > 1 else () for length in shape))
    if all(isinstance(element, bool) for element in elements):
        return AxisValue(call("≠", (value.node, number(0))), value.dims, truth=True)
    return value


operation("array tensor asarray", "x, dtype=None", lambda axes, x, dtype: array(axes, x))
