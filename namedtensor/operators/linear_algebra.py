"""Functions of matrices: two axes, the rows and the columns, in this order."""

from __future__ import annotations

from .lowering import floating, moved
from .record import Operator, register

SECTION = "§3.5 Vectors to vectors"


def _matrix(name: str, keeps: bool):
    """The two axes last, then the namespace's own function; `keeps` where the result has them too.

    inv_{a,b} X has its axes the other way round: it is contracted with X over either to give the identity.
    """

    def lower(xp, orders, axes, options):
        (order,) = orders
        rest = tuple(axis for axis in order if axis not in axes)
        turn = moved(xp, order, (*rest, *axes))
        function = getattr(xp.linalg, name)
        result = (*rest, *axes) if keeps else rest
        return lambda x: function(turn(floating(xp, x))), result

    return lower


def _given_square(shapes, axes, sizes):
    from ..axes import AxisProblem
    from ..sizes import agree, known

    rows, columns = axes
    if rows in shapes[0] and columns in shapes[0] and not agree(shapes[0][rows], shapes[0][columns]):
        raise AxisProblem(
            "other", rows, 0,
            f"a square matrix is due, and {rows} is {known(shapes[0][rows])} where {columns} is {known(shapes[0][columns])}",
        )  # fmt: skip
    return {}


def _record(name, signature, keeps, meaning, numpy):
    register(
        Operator(name, "matrix", signature, _matrix(name, keeps), meaning, numpy, SECTION, given=_given_square)
    )  # fmt: skip


_record("det", "rows columns ->", False, "the determinant", "np.linalg.det(X)")
_record("trace", "rows columns ->", False, "the sum of the diagonal", "np.trace(X)")
_record("inv", "rows columns -> rows columns", True, "the inverse matrix", "np.linalg.inv(X)")
