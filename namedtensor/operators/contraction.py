"""Contraction (paper §3.4): X ⊙_{ax} Y = ∑_{ax} X ⊙ Y, lowered to products of matrices.

The axes of the two operands fall into four groups: contracted, shared and kept (they become batches), only left, only
right. Permuted and merged so, one matmul does it. Without axes, ⊙ is the elementwise product.
"""

from __future__ import annotations

from .lowering import common, elementwise, is_numpy, moved, settled
from .record import Operator, Order, register

SECTION = "§3.4 Contraction"

_product = elementwise(lambda xp: xp.multiply)


def lower(xp, orders, axes, options):
    if not axes:
        return _product(xp, orders, axes, options)
    left, right = orders
    assert left is not None and right is not None
    if is_numpy(xp):
        quick = _quick(left, right, axes)
        if quick is not None:
            return quick if options.get("settled") else (_of_one_type(xp, quick[0]), quick[1])
    return _by_matmul(xp, left, right, axes)


def _of_one_type(xp, kernel):
    def run(a, b):
        if settled(xp, (a, b)):
            return kernel(a, b)
        return kernel(*common(xp, (a, b)))

    return run


def _quick(left: Order, right: Order, axes: tuple[str, ...]):
    """One axis, at most two axes an operand, none shared besides: ndarray.dot on views."""
    if len(axes) != 1 or len(left) > 2 or len(right) > 2:
        return None
    (axis,) = axes
    rest_left = tuple(name for name in left if name != axis)
    rest_right = tuple(name for name in right if name != axis)
    if set(rest_left) & set(rest_right):
        return None
    turn_left = len(left) == 2 and left[0] == axis
    turn_right = len(right) == 2 and right[1] == axis
    order = (*rest_left, *rest_right)
    if turn_left and turn_right:
        return (lambda a, b: a.T.dot(b.T)), order
    if turn_left:
        return (lambda a, b: a.T.dot(b)), order
    if turn_right:
        return (lambda a, b: a.dot(b.T)), order
    return (lambda a, b: a.dot(b)), order


def _by_matmul(xp, left: Order, right: Order, axes: tuple[str, ...]):
    batch = tuple(axis for axis in left if axis in right and axis not in axes)
    only_left = tuple(axis for axis in left if axis not in right)
    only_right = tuple(axis for axis in right if axis not in left)
    contracted = tuple(axis for axis in left if axis in axes)
    order = (*batch, *only_left, *only_right)
    turn_left = moved(xp, left, (*batch, *only_left, *contracted))
    turn_right = moved(xp, right, (*batch, *contracted, *only_right))
    batches, lefts, inner, rights = len(batch), len(only_left), len(contracted), len(only_right)

    def run(a, b):
        if not settled(xp, (a, b)):
            a, b = common(xp, (a, b))
        a, b = turn_left(a), turn_right(b)
        shape = (*a.shape[: batches + lefts], *b.shape[batches + inner :])
        if lefts != 1 or inner != 1:
            a = xp.reshape(a, (*a.shape[:batches], _size(a.shape[batches : batches + lefts]), _size(a.shape[batches + lefts :])))
        if inner != 1 or rights != 1:
            b = xp.reshape(b, (*b.shape[:batches], _size(b.shape[batches : batches + inner]), _size(b.shape[batches + inner :])))
        product = xp.matmul(a, b)
        return product if lefts == 1 and rights == 1 else xp.reshape(product, shape)

    return run, order


def _size(extent) -> int:
    total = 1
    for size in extent:
        total *= size
    return total


register(
    Operator(
        "⊙", "contraction", "ax…, ax… ->", lower,
        "the product; with axes, its sum over them: the contraction",
        "X * Y; np.einsum over the axes", SECTION, (), "*", r"\odot", (2, 2), python="dot",
    )
)  # fmt: skip
