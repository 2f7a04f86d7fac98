"""Contraction (paper §3.4): X ⊙_{ax} Y multiplies, and sums over the axes; without axes it is the elementwise product.

The axes of two operands fall into four groups: `batch` in both and kept, `rows` only in the left, `columns` only in the
right, `summed`. So every contraction is a stack of matrix products

    (batch…, rows, summed) · (batch…, summed, columns)  =  (batch…, rows, columns)

where a group of several axes is merged, and a group of none left out. Operands become matrices by views wherever their
storage allows it, for a transposed view costs a matrix product nothing and a copy does.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .dtypes import Kernel, coerced, is_numpy
from .elementwise import named
from .lowering import elementwise, permuted
from .record import Lowered, Operator, Order, register

SECTION = "§3.4 Contraction"


class Groups(NamedTuple):
    batch: Order
    rows: Order
    columns: Order
    summed: Order


def groups(left: Order, right: Order, axes: Order) -> Groups:
    """The four groups of axes, each in an order that the storage of an operand has where it can.

    >>> groups(("batch", "query", "key"), ("batch", "seq", "key"), ("key",))
    Groups(batch=('batch',), rows=('query',), columns=('seq',), summed=('key',))
    """
    in_left = tuple(axis for axis in left if axis in axes)
    in_right = tuple(axis for axis in right if axis in axes)
    summed = in_left if _adjacent(in_left, left) else in_right
    batch = tuple(axis for axis in left if axis in right and axis not in axes)
    rows = tuple(axis for axis in left if axis not in right)
    columns = tuple(axis for axis in right if axis not in left)
    return Groups(batch, rows, columns, summed)


def _adjacent(group: Order, order: Order) -> bool:
    start = order.index(group[0])
    return order[start : start + len(group)] == group


def contract(xp: Any, left: Order, right: Order, axes: Order) -> Lowered:
    """The function and the axes of left ⊙_{axes} right."""
    found = groups(left, right, axes)
    order = (*found.batch, *found.rows, *found.columns)
    if found.batch:
        return _stacked(xp, left, right, found), order
    if not found.rows and not found.columns:
        return _vectors(xp, left, right, found), order
    if max(map(len, (found.rows, found.columns, found.summed))) == 1:
        return _plain(xp, left, right, found)
    return _merged(xp, left, right, found), order


def _vectors(xp: Any, left: Order, right: Order, found: Groups) -> Kernel:
    """All axes summed: one number."""
    if len(found.summed) == 1:
        return xp.ndarray.dot if is_numpy(xp) else xp.vecdot
    turn_left, turn_right = permuted(left, found.summed), permuted(right, found.summed)
    dot = xp.ndarray.dot if is_numpy(xp) else xp.vecdot
    return lambda x, y: dot(xp.reshape(turn_left(x), (-1,)), xp.reshape(turn_right(y), (-1,)))


def _plain(xp: Any, left: Order, right: Order, found: Groups) -> Lowered:
    """Two matrices, or a matrix and a vector, taken as they lie; a vector meets a matrix from either side."""
    dot = xp.ndarray.dot if is_numpy(xp) else xp.matmul
    (summed,) = found.summed
    left_last, right_first = left[-1] == summed, right[0] == summed
    if left_last and right_first:
        return dot, found.rows + found.columns
    if not left_last and right[-1] == summed:
        return lambda x, y: dot(y, x), found.columns + found.rows
    if left_last:
        return lambda x, y: dot(x, y.T), found.rows + found.columns
    return lambda x, y: dot(x.T, y), found.rows + found.columns


def _merged(xp: Any, left: Order, right: Order, found: Groups) -> Kernel:
    """One matrix product, of groups merged."""
    first = _matrix(xp, left, found.rows, found.summed)
    second = _matrix(xp, right, found.summed, found.columns)
    dot = xp.ndarray.dot if is_numpy(xp) else xp.matmul
    if len(found.rows) < 2 and len(found.columns) < 2:
        return lambda x, y: dot(first(x), second(y))
    rows_at = tuple(left.index(axis) for axis in found.rows)
    columns_at = tuple(right.index(axis) for axis in found.columns)

    def run(x, y):
        shape = (*[x.shape[place] for place in rows_at], *[y.shape[place] for place in columns_at])
        return xp.reshape(dot(first(x), second(y)), shape)

    return run


def _matrix(xp: Any, order: Order, above: Order, beside: Order) -> Kernel:
    """What makes a matrix of two groups of axes, or a vector where one group has none."""
    if order == (*beside, *above) and above and beside:
        transposed = _matrix(xp, order, beside, above)
        return lambda array: transposed(array).T
    turn = permuted(order, (*above, *beside))
    if len(above) < 2 and len(beside) < 2:
        return turn
    split = len(above)

    def run(array):
        array = turn(array)
        sizes = (math.prod(array.shape[:split]), math.prod(array.shape[split:]))
        return xp.reshape(array, sizes if above and beside else (-1,))

    return run


# ---------------------------------------------------------------------------------------------- with axes in both
def _stacked(xp: Any, left: Order, right: Order, found: Groups) -> Kernel:
    """A stack of matrix products, one for each record of the batch axes."""
    if not found.rows and not found.columns:
        return _stacked_vectors(xp, left, right, found)
    first = _stack(xp, left, found.batch, found.rows, found.summed)
    second = _stack(xp, right, found.batch, found.summed, found.columns)
    matmul, finish = xp.matmul, _unmerge(xp, left, right, found)
    if finish is None:
        return lambda x, y: matmul(first(x), second(y))
    return lambda x, y: finish(matmul(first(x), second(y)), x, y)


def _stacked_vectors(xp: Any, left: Order, right: Order, found: Groups) -> Kernel:
    turn_left = _stack(xp, left, found.batch, (), found.summed, vector=True)
    turn_right = _stack(xp, right, found.batch, (), found.summed, vector=True)
    vecdot = xp.vecdot
    return lambda x, y: vecdot(turn_left(x), turn_right(y))


def _stack(xp: Any, order: Order, batch: Order, above: Order, beside: Order, vector: bool = False) -> Kernel:
    """What makes a stack of matrices (or vectors) of two groups of axes."""
    turn = permuted(order, (*batch, *above, *beside))
    steady = is_numpy(xp) and order[-1] in batch  # no matrix axis is dense: a copy is faster than NumPy's slow path
    if len(above) == len(beside) == 1 or (vector and len(beside) == 1):
        return (lambda array: xp.ascontiguousarray(turn(array))) if steady and not vector else turn
    kept, split = len(batch), len(batch) + len(above)

    def run(array):
        array = turn(array)
        shape = array.shape
        sizes = (math.prod(shape[kept:split]), math.prod(shape[split:]))
        return xp.reshape(array, (*shape[:kept], *(sizes[1:] if vector else sizes)))

    return run


def _unmerge(xp: Any, left: Order, right: Order, found: Groups) -> Kernel | None:
    """What gives the result of a stack its own axes back; None where it has them."""
    if len(found.rows) == len(found.columns) == 1:
        return None
    batch_at = tuple(left.index(axis) for axis in found.batch)
    rows_at = tuple(left.index(axis) for axis in found.rows)
    columns_at = tuple(right.index(axis) for axis in found.columns)

    def finish(array, x, y):
        kept = [x.shape[place] for place in (*batch_at, *rows_at)]
        return xp.reshape(array, (*kept, *[y.shape[place] for place in columns_at]))

    return finish


# ------------------------------------------------------------------------------------------------------------ record
_product = elementwise(named("multiply"))


def _lower(xp, orders, axes, options) -> Lowered:
    if not axes:
        return _product(xp, orders, axes, options)
    left, right = orders
    function, order = contract(xp, left, right, axes)
    return coerced(xp, function, "sums", (False, False), options.get("dtypes")), order


register(
    Operator(
        "⊙", "contraction", "ax…, ax… ->", _lower,
        "the sum over axes of the products; without axes the elementwise product", "(X * Y).sum(axis), X * Y", SECTION,
        aliases=("dot",), ascii="@", latex=r"\ndot", arity=(2, 2), python="dot",
    )
)  # fmt: skip
