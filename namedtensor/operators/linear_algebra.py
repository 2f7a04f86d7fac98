"""Linear algebra (paper §3.5): functions of a square matrix, whose two axes are rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar.errors import NotationError

from .dtypes import Kernel, coerced
from .lowering import permuted
from .record import Lower, Operator, register
from .sizes_given import square

SECTION = "§3.5 Vectors to vectors"


def _of_matrix(make: Callable[[Any], Kernel], rule: str, gives_matrix: bool) -> Lower:
    """Lower a function of the last two axes of an array."""

    def lower(xp, orders, axes, options):
        (order,) = orders
        rest = tuple(axis for axis in order if axis not in axes)
        turn, kernel = permuted(order, (*rest, *axes)), make(xp)
        run = coerced(xp, lambda array: kernel(turn(array)), rule, (False,), options.get("dtypes"))
        return run, (*rest, *axes) if gives_matrix else rest

    return lower


def _determinant(xp: Any) -> Kernel:
    return xp.linalg.det


def _inverse(xp: Any) -> Kernel:
    def inverse(array):
        try:
            return xp.linalg.inv(array)
        except Exception as problem:  # each library has its own error for it
            if "ingular" not in str(problem):
                raise
            raise NotationError(405, "this matrix has no inverse: its determinant is zero") from None

    return inverse


def _trace(xp: Any) -> Kernel:
    return lambda array: xp.linalg.trace(array)


MATRIX: dict[str, Any] = {"section": SECTION, "given": square}
register(
    Operator(
        "det", "matrix", "row column ->", _of_matrix(_determinant, "floats", False), "the determinant",
        "np.linalg.det(X)", **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "inv", "matrix", "row column -> row column", _of_matrix(_inverse, "floats", True), "the inverse matrix",
        "np.linalg.inv(X)", **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "trace", "matrix", "row column ->", _of_matrix(_trace, "numbers", False), "the sum of the diagonal",
        "np.trace(X)", **MATRIX,
    )
)  # fmt: skip
