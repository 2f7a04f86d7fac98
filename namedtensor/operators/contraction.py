"""Define contraction (paper §3.4). X ⊙_{ax} Y multiplies and sums over axes. Without axes, it multiplies elementwise.

The axes of two operands form four groups. `batch` axes are in both operands and in the result. `rows` are only in the
left operand, and `columns` are only in the right operand. `summed` axes are summed. Every contraction is therefore a
stack of matrix products:

    (batch…, rows, summed) · (batch…, summed, columns)  =  (batch…, rows, columns)

A group of several axes is merged, and an empty group is left out. If the storage order allows it, an operand becomes a
matrix through a view. A transposed view of a matrix is free, but a copy is expensive.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..core.axes import Order
from ..core.extents import typical
from .builder import OperatorBuilder
from .plain_numbers import product
from .record import Operator, elementwise, get_primitive, register

SECTION = "§3.4 Contraction"


class Groups(NamedTuple):
    batch: Order
    rows: Order
    columns: Order
    summed: Order


def groups(left: Order, right: Order, axes: Order) -> Groups:
    """Return the batch axes, rows, columns and summed axes of a product.

    The summed axes have the left operand's order if they are adjacent there. Otherwise, they have the right operand's
    order.

    >>> groups(("batch", "query", "key"), ("batch", "seq", "key"), ("key",))
    Groups(batch=('batch',), rows=('query',), columns=('seq',), summed=('key',))
    """
    in_left = tuple(axis for axis in left if axis in axes)
    in_right = tuple(axis for axis in right if axis in axes)
    start = left.index(in_left[0])
    summed = in_left if left[start : start + len(in_left)] == in_left else in_right
    batch = tuple(axis for axis in left if axis in right and axis not in axes)
    rows = tuple(axis for axis in left if axis not in right)
    columns = tuple(axis for axis in right if axis not in left)
    return Groups(batch, rows, columns, summed)


def contract(b: OperatorBuilder, x: Any, y: Any, axes: Order, in_order: bool = False):
    """Compute the contraction x ⊙_{axes} y. If `in_order` is true, the axes of y come last in the result."""
    result = groups(x.order, y.order, axes)
    if not in_order and result.rows and result.columns and _is_faster_exchanged(b, x, y, axes, result):
        x, y, result = y, x, groups(y.order, x.order, axes)
    if result.batch:
        return _multiply_stacked(b, x, y, result)
    if not result.rows and not result.columns:
        return _vectors(b, x, y, result)
    if max(map(len, (result.rows, result.columns, result.summed))) == 1:  # for matrices and vectors
        x, y = b.reorder(x, (*result.rows, *result.summed)), b.reorder(y, (*result.summed, *result.columns))
        return _dot(b, x, y, result.rows + result.columns)
    return _multiply_merged(b, x, y, result)


def _is_faster_exchanged(b: OperatorBuilder, x: Any, y: Any, axes: Order, groups: Groups) -> bool:
    """Return whether y ⊙ x is faster than x ⊙ y.

    The exchange is faster if x ⊙ y must transpose x, and must also transpose or copy y. If neither order needs fewer
    transpositions, NumPy computes a large product faster with the larger matrix on the left. Inside a block, the
    operand whose rows are cut should be on the left, so that the rows come first in all values of the block.
    """
    orders = [[axis for axis in operand.order if axis not in groups.batch] for operand in (x, y)]
    first = [{*order[: len(axes)]} == {*axes} for order in orders]
    last = [{*order[-len(axes) :]} == {*axes} or not first[at] for at, order in enumerate(orders)]
    if last == [True, True] and b.in_block:
        return b.is_cut(y) and not b.is_cut(x)
    if last == [True, True] and b.target.name == "numpy":
        rows, columns = (typical(math.prod(b.extents(*pair))) for pair in ((x, groups.rows), (y, groups.columns)))
        return columns > rows and rows * columns * typical(math.prod(b.extents(x, groups.summed))) >= MIN_EXCHANGED
    return first == [True, False]


MIN_EXCHANGED = 2**18  # For fewer multiply-adds, the operands determine the axis order.
MIN_TRANSPOSED = 2**20  # From this size on, avoid transposing a matrix in JAX, which copies it outside `jax.jit`.
SHORT = 8  # If the last axis has fewer elements, a copy in another order is slow.


def _vectors(b: OperatorBuilder, x: Any, y: Any, groups: Groups):
    """Compute the product of two operands over all of their axes, which is one number."""
    x, y = b.reorder(x, groups.summed), b.reorder(y, groups.summed)
    if len(groups.summed) > 1:
        x, y = (b.reshape(operand, (name_merged_axis(groups.summed),), (operand.count,)) for operand in (x, y))
    return b.step("dot" if b.target.name == "numpy" else "vecdot", (x, y), (), ())


def name_merged_axis(axes: Order) -> str:
    """Return a name for the single axis that results from merging several axes."""
    return axes[0] if len(axes) == 1 else f"({','.join(axes)})"


def _dot(b: OperatorBuilder, x: Any, y: Any, order: Order):
    """Compute the product of two matrices, two vectors, or a matrix and a vector."""
    sizes = dict(zip(x.order, x.shape)) | dict(zip(y.order, y.shape))
    shape = tuple(sizes[axis] for axis in order)
    if b.target.name == "jax" and typical(y.count) >= MIN_TRANSPOSED and b.kind(y) == "f" and x.dtype == y.dtype:
        step = b.written(b.unnamed(y))
        if step is not None and step.primitive == "transpose" and len(y.order) == 2:
            return b.step("multiply_transposed", (x, step.arguments[0]), order, shape, x.dtype)
    return b.step("dot", (x, y), order, shape)


def _multiply_merged(b: OperatorBuilder, x: Any, y: Any, groups: Groups):
    """Compute a product as one matrix product by merging each group of axes into one axis."""
    rows, columns = (name_merged_axis(group) if group else "" for group in (groups.rows, groups.columns))
    product = _dot(
        b, _matrix(b, x, groups.rows, groups.summed), _matrix(b, y, groups.summed, groups.columns),
        tuple(filter(None, (rows, columns))),
    )  # fmt: skip
    return b.reshape(
        product, (*groups.rows, *groups.columns), (*b.extents(x, groups.rows), *b.extents(y, groups.columns))
    )


def _matrix(b: OperatorBuilder, x: Any, above: Order, beside: Order):
    """Convert an operand to a matrix over two groups of axes, or to a vector if one group is empty.

    If the matrix is a copy, reuse it in later products.
    """
    if x.order == (*beside, *above) and above and beside or _copies_short_rows(b, x, above, beside):
        return b.reorder(_matrix(b, x, beside, above), (name_merged_axis(above), name_merged_axis(beside)))
    order = tuple(name_merged_axis(group) for group in (above, beside) if group)
    copied = x.order not in ((*above, *beside), (*beside, *above)) and len(order) == 2
    if copied and (other := b.matrices.get((x, beside, above))) is not None:
        return b.reorder(other, order)
    value = b.reorder(x, (*above, *beside))
    value = b.reshape(value, order, tuple(math.prod(b.extents(value, group)) for group in (above, beside) if group))
    if copied:
        b.matrices[x, above, beside] = value
    return value


def _copies_short_rows(b: OperatorBuilder, x: Any, above: Order, beside: Order) -> bool:
    """Return whether a copy to a matrix moves short rows, while a copy to the transposed matrix does not."""
    if b.target.name != "numpy" or not above or not beside or x.order == (*above, *beside):
        return False
    return typical(x.size(beside[-1])) < SHORT <= typical(x.size(above[-1])) // 2


# ---------------------------------------------------------------------------------------------- with axes in both
SCATTERED = 2**14  # With more noncontiguous elements, multiply and sum.


def _multiply_stacked(b: OperatorBuilder, x: Any, y: Any, groups: Groups):
    """Compute the product of two stacks of matrices, with one matrix per position along the batch axes."""
    batched, batch = groups.batch, b.extents(x, groups.batch)
    if not groups.rows and not groups.columns:
        if (
            b.target.name == "numpy"
            and typical(x.count) >= SCATTERED
            and x.order[-1] in batched
            and y.order[-1] in batched
        ):
            return b.reduce("sum", b.multiply(x, y), groups.summed)
        first, second = (_vectors_of(b, operand, groups.batch, groups.summed) for operand in (x, y))
        return b.step("vecdot", (first, second), groups.batch, batch)
    first = _stack(b, x, groups.batch, groups.rows, groups.summed)
    second = _stack(b, y, groups.batch, groups.summed, groups.columns)
    order = (
        *groups.batch,
        name_merged_axis(groups.rows) if groups.rows else "1",
        name_merged_axis(groups.columns) if groups.columns else "1'",
    )
    product = b.step("matmul", (first, second), order, (*batch, first.shape[-2], second.shape[-1]))
    indices = (*batch, *b.extents(x, groups.rows), *b.extents(y, groups.columns))
    return b.reshape(product, (*groups.batch, *groups.rows, *groups.columns), indices)


def _vectors_of(b: OperatorBuilder, x: Any, batch: Order, summed: Order):
    """Convert an operand of a product to a stack of vectors along the summed axes."""
    x = b.reorder(x, (*batch, *summed))
    return b.reshape(x, (*batch, name_merged_axis(summed)), (*b.extents(x, batch), math.prod(b.extents(x, summed))))


def _stack(b: OperatorBuilder, x: Any, batch: Order, above: Order, beside: Order):
    """Convert an operand of a product to a stack of matrices over two groups of axes."""
    dense = x.order[-1] not in batch
    x = b.reorder(x, (*batch, *above, *beside))
    if len(above) == len(beside) == 1:  # If no matrix axis is dense, a copy is faster than NumPy's slow path.
        steady = b.target.name == "numpy" and not dense
        return b.step("contiguous", (x,), x.order, x.shape, x.dtype) if steady else x
    order = (*batch, name_merged_axis(above) if above else "1", name_merged_axis(beside) if beside else "1'")
    sizes = (math.prod(b.extents(x, above)), math.prod(b.extents(x, beside)))
    return b.reshape(x, order, (*b.extents(x, batch), *sizes))


def _lower(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    if not axes:
        return elementwise(get_primitive("multiply"))(b, arguments, axes, options)
    x, y = b.coerced(arguments, "numbers")
    count = math.prod((x if axis in x.order else y).size(axis) for axis in axes)
    x, y = b.summable((x, y), "dot", count)
    return contract(b, x, y, axes, options.get("in_order", False))


register(
    Operator(
        "⊙", "contraction", "ax…, ax… ->", _lower,
        "the sum of products over the axes, or the elementwise product if there are no axes", "(X * Y).sum(axis), X * Y", SECTION,
        aliases=("dot",), ascii="@", latex=r"\ndot", arity=(2, 2), python="dot",
        differentials=("∂X ⊙_{ax} Y", "X ⊙_{ax} ∂Y"), complex=True, folded=product,
        definition=operator.mul, finite="of finite", sign="of factors",
    )
)  # fmt: skip
