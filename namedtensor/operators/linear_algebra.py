"""Linear algebra (paper §3.5): functions of a square matrix, whose two axes are rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.axes import Order
from .builder import Builder, Lower
from .record import Operator, register
from .sizes_given import square

SECTION = "§3.5 Vectors to vectors"


def _of_matrix(primitive: str, rule: str, gives_matrix: bool) -> Lower:
    """Lower a function of the last two axes of an array."""

    def lower(b: Builder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        (x,) = b.coerced(arguments, rule)
        if primitive == "trace":
            (x,) = b.summable((x,), primitive, x.size(axes[0]))
        rest = tuple(axis for axis in x.order if axis not in axes)
        order = (*rest, *axes) if gives_matrix else rest
        return b.step(primitive, (b.reorder(x, (*rest, *axes)),), order, b.extents(x, order))

    return lower


MATRIX: dict[str, Any] = {"section": SECTION, "given": square, "complex": True}
register(
    Operator(
        "det", "matrix", "row column ->", _of_matrix("det", "floats", False), "the determinant",
        "np.linalg.det(X)",
        differentials=("cofactors_{row,column} X ⊙_{row,column} ∂X",), **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "cofactors", "matrix", "row column -> row column", _of_matrix("cofactors", "floats", True),
        "how fast the determinant grows with each number of the matrix", "np.linalg.det(X) * np.linalg.inv(X).T",
        differentials=(  # of a small matrix also where there is no inverse: the determinants with one row replaced
            "{ [cofactors_{row,column} { I_{column,j} if I_{row,i} = 1; X otherwise }"
            " ⊙_{row,column} { 0 if I_{row,i} = 1; ∂X otherwise }]_{i→row, j→column} if |row| ≤ 8;"
            " ((cofactors_{row,column} X ⊙_{row,column} ∂X) ⊙ cofactors_{row,column} X"
            " − [cofactors_{row,column} X]_{column→i} ⊙_{i} [∂X]_{row→j, column→i} ⊙_{j} [cofactors_{row,column} X]_{row→j})"
            " / det_{row,column} X otherwise }",
        ), **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "inv", "matrix", "row column -> row column", _of_matrix("inv", "floats", True), "the inverse matrix",
        "np.linalg.inv(X)",
        differentials=("−[inv_{row,column} X]_{column→i} ⊙_{i} [∂X]_{row→i, column→j} ⊙_{j} [inv_{row,column} X]_{row→j}",),
        **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "trace", "matrix", "row column ->", _of_matrix("trace", "numbers", False), "the sum of the diagonal",
        "np.trace(X)", differentials=("trace_{row,column} ∂X",), **MATRIX,
    )
)  # fmt: skip
