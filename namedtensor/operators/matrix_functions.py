"""Define functions of a symmetric matrix, and the exponential of a square matrix (paper §3.5).

`cholesky`, `eigvalsh` and `eigh` apply to (X + Xᵀ) / 2, so that their values and derivatives treat X and its transpose
alike. In every eigenvector of `eigh`, the element with the largest magnitude is positive. In a tie, the first of these
elements is positive. The result is therefore the same in all libraries. If two eigenvalues are equal, the eigenvectors
are not unique and have no derivative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..core.axes import Order
from .builder import ArrayValue, Lower, OperatorBuilder
from .definitions import like
from .linear_algebra import SECTION, to_single
from .new_sizes import square
from .record import MANY, Operator, register


def _with_last(b: OperatorBuilder, x: Any, axes: Order) -> ArrayValue:
    return b.reorder(x, (*(axis for axis in x.order if axis not in axes), *axes))


def _symmetric(primitive: str, position: int) -> Lower:
    """Return the rule that lowers a function of the symmetric part of a matrix.

    The result has the first `position` axes of the matrix.
    """

    def lower(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        (x,) = b.coerced(arguments, "floats")
        x = _with_last(b, x, axes)
        turned = _with_last(b, b.renamed(x, (*x.order[:-2], *axes[::-1])), axes)
        whole = b.multiply(b.add(x, turned), 0.5)
        order = (*x.order[:-2], *axes[:position])
        return b.step(primitive, (whole,), order, b.extents(x, order))

    return lower


SYMMETRIC = "[∂X]_{row→i, column→j} + [∂X]_{row→j, column→i}"  # Twice the symmetric part of ∂X.
INVERSE = "[inv_{row,column} cholesky_{row,column} X]"
VECTORS = "[eigh_{row,column} X]"
VALUES = "[eigvalsh_{row,column} X]"
OF_CHOLESKY = (  # ∂L = L Φ(L⁻¹ ∂S L⁻ᵀ), where Φ keeps the lower triangle and half of the diagonal.
    "[cholesky_{row,column} X]_{column→rank} ⊙_{rank}"
    " [{ 1/2 if iota_{row} > iota_{column}; 1/4 if I_{row,column} = 1; 0 otherwise } ⊙"
    f" ({INVERSE}_{{column→i}} ⊙_{{i}} ({SYMMETRIC}) ⊙_{{j}} {INVERSE}_{{row→column, column→j}})]_{{row→rank}}"
)
OF_VALUES = f"{VECTORS}_{{row→i, column→row}} ⊙_{{i}} [∂X]_{{row→i, column→j}} ⊙_{{j}} {VECTORS}_{{row→j, column→row}}"
OF_VECTORS = (  # The k-th eigenvector moves toward the l-th by (v_l ∂S v_k) / (λ_k − λ_l).
    f"{VECTORS}_{{column→rank}} ⊙_{{rank}} ({{ 0 if I_{{rank,column}} = 1; 1/2 / ({VALUES}_{{row→column}} − {VALUES}_{{row→rank}}) otherwise }} ⊙"
    f" ({VECTORS}_{{row→i, column→rank}} ⊙_{{i}} ({SYMMETRIC}) ⊙_{{j}} {VECTORS}_{{row→j}}))"
)


# --------------------------------------------------------------------------------------------------- on plain numbers
def _rows(x: Any, row: str, column: str) -> list[list[float]]:
    """Return the symmetric part of a matrix as a list of rows."""
    places = range(1, x.shape[row] + 1)
    return [[(x({row: i, column: j}) + x({row: j, column: i})) / 2 for j in places] for i in places]


def triangle_of(x: Any, row: str, column: str, sizes: Any) -> Any:
    """Compute the lower triangular L with L Lᵀ = (X + Xᵀ) / 2, row by row. Use nan if there is no such matrix."""
    rows = _rows(x, row, column)
    counts = [[0.0] * len(rows) for _ in rows]
    for i in range(len(rows)):
        for j in range(i + 1):
            rest = rows[i][j] - sum(counts[i][k] * counts[j][k] for k in range(j))
            if i == j:
                counts[i][i] = math.sqrt(rest) if rest > 0 else math.nan
            else:
                counts[i][j] = rest / counts[j][j]

    return like(x, x.shape, lambda s: counts[s[row] - 1][s[column] - 1])


def _jacobi(rows: list[list[float]]) -> list[tuple[float, list[float]]]:
    """Compute eigenvalues in ascending order, with their eigenvectors, by Jacobi's method."""
    size = len(rows)
    vectors = [[float(i == j) for j in range(size)] for i in range(size)]
    for _ in range(60):
        for p in range(size):
            for q in range(p + 1, size):
                if rows[p][q] == 0:
                    continue
                slope = (rows[q][q] - rows[p][p]) / (2 * rows[p][q])
                t = math.copysign(1, slope) / (abs(slope) + math.hypot(1, slope))
                c = 1 / math.hypot(1, t)
                for lines in (rows, vectors):
                    for line in lines:
                        line[p], line[q] = c * (line[p] - t * line[q]), c * (t * line[p] + line[q])
                rows[p], rows[q] = (
                    [c * (x - t * y) for x, y in zip(rows[p], rows[q])],
                    [c * (t * x + y) for x, y in zip(rows[p], rows[q])],
                )
    return sorted((rows[k][k], [line[k] for line in vectors]) for k in range(size))


def values_of(x: Any, row: str, column: str, sizes: Any) -> Any:
    result = _jacobi(_rows(x, row, column))
    return like(x, {row: len(result)}, lambda s: result[s[row] - 1][0])


def vectors_of(x: Any, row: str, column: str, sizes: Any) -> Any:
    vectors = [vector for _, vector in _jacobi(_rows(x, row, column))]
    signs = [math.copysign(1, max(vector, key=lambda number: round(abs(number), 12))) for vector in vectors]
    return like(x, x.shape, lambda s: signs[s[column] - 1] * vectors[s[column] - 1][s[row] - 1])


# ------------------------------------------------------------------------------------------ the exponential of a matrix
def _exponential(b: OperatorBuilder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
    """Compute the matrix exponential e^X.

    If there are directions E, F, …, compute the Fréchet derivative from the block matrix B = X ⊗ I + E ⊗ N₁ + F ⊗ N₂ +
    …
    """
    x, *along = b.coerced(arguments, "floats")
    if not along:
        x = _with_last(b, x, axes)
        return b.step("expm", (x,), x.order, x.shape)
    inputs = (x, *along)
    extra = tuple(dict.fromkeys(axis for input_ in inputs for axis in input_.order if axis not in axes))
    order, size = (*extra, *axes), x.size(axes[0])
    sizes = {axis: input_.size(axis) for input_ in inputs for axis in input_.order}
    shape = tuple(sizes[axis] for axis in order)
    block = b.broadcast(x, order, shape)
    for direction in along:
        corner = _diagonal(b, b.broadcast(direction, order, shape), axes, block.size(axes[0]) // size)
        block = _build_block_matrix(b, block, corner, axes)
    whole = b.step("expm", (block,), block.order, block.shape)
    right = b.part(whole, whole.size(axes[1]) - size, size)
    return _with_last(b, b.part(_with_last(b, right, axes[::-1]), 0, size), axes)


def _build_block_matrix(b: OperatorBuilder, block: ArrayValue, corner: ArrayValue, axes: Order) -> ArrayValue:
    """Build the block matrix [[B, E], [0, B]] from a block B and a corner E."""
    row, column = axes
    nothing = b.multiply(block, 0.0)
    return b.concat((b.concat((block, corner), column), b.concat((nothing, block), column)), row)


def _diagonal(b: OperatorBuilder, side: ArrayValue, axes: Order, count: int) -> ArrayValue:
    """Build E ⊗ I, a block-diagonal matrix with `count` copies of E."""
    if count == 1:
        return side
    row, column = axes
    nothing = b.multiply(side, 0.0)
    lines = [b.concat([side if i == j else nothing for j in range(count)], column) for i in range(count)]
    return b.concat(lines, row)


def exponential_of(*given: Any) -> Any:
    """Compute the matrix exponential as ∑ Xⁿ / n! for X / 2ˢ, squared s times.

    If there are directions, compute the derivative along them, which is the corner of a block matrix's exponential.
    """
    x, *along, row, column, _ = given
    size: int = x.shape[row]
    parts: int = 2 ** len(along)
    whole = [[0.0] * (size * parts) for _ in range(size * parts)]
    for above in range(parts):
        _put(whole, x.to_list((row, column)), above, above)
        for bit, axis in enumerate(along):
            if not above >> bit & 1:
                _put(whole, axis.to_list((row, column)), above, above | 1 << bit)
    exponential = _exponential_of_rows(whole)
    before = (parts - 1) * size - 1
    return like(x, {row: size, column: size}, lambda s: exponential[s[row] - 1][before + s[column]])


def _put(whole: list[list[float]], rows: list[list[float]], above: int, along: int) -> None:
    for i, line in enumerate(rows):
        whole[above * len(rows) + i][along * len(rows) : (along + 1) * len(rows)] = line


def _exponential_of_rows(rows: list[list[float]]) -> list[list[float]]:
    size = len(rows)
    halvings = max(0, math.ceil(math.log2(max((sum(map(abs, line)) for line in rows), default=0) or 1)) + 2)
    small = [[number / 2**halvings for number in line] for line in rows]
    product = term = [[float(i == j) for j in range(size)] for i in range(size)]
    for n in range(1, 20):
        term = [[number / n for number in line] for line in _product(term, small)]
        product = [[x + y for x, y in zip(one, other)] for one, other in zip(product, term)]
    for _ in range(halvings):
        product = _product(product, product)
    return product


def _product(left: list[list[float]], right: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*right))
    return [[sum(x * y for x, y in zip(line, column)) for column in columns] for line in left]


MATRIX: dict[str, Any] = {"section": SECTION, "new_sizes": square, "heavy": True}
register(
    Operator(
        "cholesky", "matrix", "row column -> row column", to_single(_symmetric("cholesky", 2)),
        "the lower triangular L with L ⊙_{column} L_{row→row'} = X, for a symmetric positive definite X",
        "np.linalg.cholesky(X)", differentials=(OF_CHOLESKY,), definition=triangle_of, **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "eigvalsh", "matrix", "row column -> row", to_single(_symmetric("eigvalsh", 1)),
        "the eigenvalues of a symmetric matrix, in ascending order", "np.linalg.eigvalsh(X)",
        differentials=(OF_VALUES,), definition=values_of, **MATRIX,
    )
)  # fmt: skip
register(
    Operator(
        "eigh", "matrix", "row column -> row column", to_single(_symmetric("eigh", 2)),
        "the eigenvectors of a symmetric matrix, one for each column, in the order of eigvalsh", "np.linalg.eigh(X)[1]",
        differentials=(OF_VECTORS,), definition=vectors_of, **MATRIX,
    )
)  # fmt: skip


def _all_square(shapes: Any, axes: Order, sizes: Any):
    return [square((shape,), axes, sizes) for shape in shapes][0]


register(
    Operator(
        "expm", "matrix", "row column -> row column", to_single(_exponential),
        "the matrix exponential, ∑ Xⁿ/n!; expm(X, E) is its derivative at X in direction E", "scipy.linalg.expm(X)",
        arity=(1, MANY), differentials=("expm_{row,column}(X, ∂X)",), definition=exponential_of,
        section=SECTION, new_sizes=_all_square, heavy=True,
    )
)  # fmt: skip
