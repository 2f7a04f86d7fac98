"""Define functions of a square matrix, whose two axes are the rows and the columns (paper §3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.arrays import HALF
from ..core.axes import Order
from . import matrix_definitions as definitions
from .builder import Lower, OperatorBuilder
from .contraction import contract
from .new_sizes import size_in, square
from .record import Example, Operator, register

SECTION = "§3.5 Vectors to vectors"


def _lower_matrix_function(primitive: str, rule: str, gives_matrix: bool) -> Lower:
    """Return the rule that lowers a function of a matrix to a primitive on the last two axes of an array."""

    def lower(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        (x,) = b.coerced(arguments, rule)
        if primitive == "trace":
            (x,) = b.summable((x,), primitive, x.size(axes[0]))
        rest = tuple(axis for axis in x.order if axis not in axes)
        order = (*rest, *axes) if gives_matrix else rest
        return b.step(primitive, (b.reorder(x, (*rest, *axes)),), order, b.extents(x, order))

    return lower


def to_single(lower: Lower) -> Lower:
    """Extend a rule so that it computes half-precision matrices in single precision."""

    def lower_halves(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        arguments = tuple(b.coerced(arguments, "floats"))
        dtype = next((x.dtype for x in arguments if x.dtype in HALF), None)
        if dtype is None:
            return lower(b, arguments, axes, options)
        return b.cast(lower(b, tuple(b.cast(x, "float32") for x in arguments), axes, options), dtype)

    return lower_halves


MATRIX: dict[str, Any] = {"section": SECTION, "new_sizes": square, "complex": True}
register(
    Operator(
        "det", "matrix", "row column ->", to_single(_lower_matrix_function("det", "floats", False)), "the determinant",
        "np.linalg.det(X)",
        differentials=("cofactors_{row,column} X ⊙_{row,column} ∂X",), definition=definitions.det, finite="of finite", analytic=True, **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "cofactors", "matrix", "row column -> row column", to_single(_lower_matrix_function("cofactors", "floats", True)),
        "the derivative of the determinant with respect to each element of the matrix", "np.linalg.det(X) * np.linalg.inv(X).T",
        differentials=(  # For a small matrix without an inverse, use determinants with one row replaced.
            "{ [cofactors_{row,column} { I_{column,j} if I_{row,i} = 1; X otherwise }"
            " ⊙_{row,column} { 0 if I_{row,i} = 1; ∂X otherwise }]_{i→row, j→column} if |row| ≤ 8;"
            " ((cofactors_{row,column} X ⊙_{row,column} ∂X) ⊙ cofactors_{row,column} X"
            " − [cofactors_{row,column} X]_{column→i} ⊙_{i} [∂X]_{row→j, column→i} ⊙_{j} [cofactors_{row,column} X]_{row→j})"
            " / det_{row,column} X otherwise }",
        ), definition=definitions.cofactors, finite="of finite", analytic=True, **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "inv", "matrix", "row column -> row column", to_single(_lower_matrix_function("inv", "floats", True)), "the inverse matrix",
        "np.linalg.inv(X)",
        differentials=("−[inv_{row,column} X]_{column→i} ⊙_{i} [∂X]_{row→i, column→j} ⊙_{j} [inv_{row,column} X]_{row→j}",),
        definition=definitions.inv, analytic=True, **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "trace", "matrix", "row column ->", _lower_matrix_function("trace", "numbers", False), "the sum of the diagonal",
        "np.trace(X)", differentials=("trace_{row,column} ∂X",), finite="of finite", **MATRIX,
    )
)  # fmt: skip


# ---------------------------------------------------------------------------------------------- derived functions
TRANSPOSED = "[inv_{row,column} X]_{row→column, column→row}"  # In the inverse's order of rows and columns.


def _solve(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    """Solve a linear system: return ∑_r (A⁻¹)_{c,r} b_r. The rows of the inverse correspond to the columns of A."""
    A, y = b.coerced(arguments, "floats")
    row, column = axes
    inverse = _lower_matrix_function("inv", "floats", True)(b, (A,), axes, {})
    order: tuple[str, ...] = inverse.order
    other: dict[str, str] = {row: column, column: row}
    turned = b.renamed(inverse, tuple(other[axis] if axis in other else axis for axis in order))
    return contract(b, turned, y, (row,))


def _shape_of_rows(shapes: Any, axes: Order, sizes: Any):
    return square(shapes[:1], axes, sizes)


register(
    Operator(
        "solve", "matrix", "row column, row -> column", to_single(_solve), "the x over columns with A ⊙_{column} x = b, where b is over rows",
        "np.linalg.solve(A, b)", arity=(2, 2), section=SECTION, new_sizes=_shape_of_rows, definition=definitions.solve,
        differentials=(
            f"−{TRANSPOSED} ⊙_{{row}} (∂X ⊙_{{column}} solve_{{row,column}}(X, Y))", f"{TRANSPOSED} ⊙_{{row}} ∂Y",
        ),
    )
)  # fmt: skip
register(
    Operator(
        "logdet", "matrix", "row column ->", to_single(_lower_matrix_function("logdet", "floats", False)),
        "the logarithm of the absolute value of the determinant", "np.linalg.slogdet(X)[1]", section=SECTION, new_sizes=square,
        differentials=(f"{TRANSPOSED} ⊙_{{row,column}} ∂X",), definition=definitions.logdet, analytic=True,
    )
)  # fmt: skip


def _diagonal(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    (x,), (row, column) = b.coerced(arguments, "numbers"), axes
    return b.where(b.equal(b.identity(x.size(row), (row, column)), 1), x, 0)


def _shape_of_vector(shapes: Any, axes: Order, sizes: Any):
    return dict.fromkeys(axes, size_in(shapes, axes[0]))


register(
    Operator(
        "diag", "structure", "row -> row column", _diagonal, "the matrix with these elements on its diagonal, and zeros elsewhere",
        "np.diag(x)", section=SECTION, new_sizes=_shape_of_vector, definition=definitions.diag,
        finite="of finite", sign="≥ 0 of ≥ 0",
        example=Example('(nt.tensor([3, 1], "row"), axis=("row", "column"))', ({"row": 2},), ("row", "column")),
    )
)  # fmt: skip
