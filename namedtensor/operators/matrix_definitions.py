"""Define the functions of matrices as reference definitions (see `definitions`)."""

from __future__ import annotations

import math
from typing import Any

from grammar.errors import NotationError

from .definitions import like


def matrix(x: Any, rows: str, columns: str) -> list[list[Any]]:
    """Convert a tensor to a list of rows. Raise NotationError if the matrix is not square."""
    if x.shape[rows] != x.shape[columns]:
        raise NotationError(
            308,
            f"the matrix must be square, but axis {rows} has size {x.shape[rows]} and axis {columns} has size {x.shape[columns]}",
        )
    return x.to_list((rows, columns))


def eliminate(left: list[list[Any]], right: list[list[Any]]) -> list[float]:
    """Apply Gauss-Jordan elimination: reduce `left` to the identity, and apply the same steps to `right`.

    Return the pivots, whose product is the determinant of `left`. If the determinant is 0, return only 0.
    """
    pivots: list[float] = []
    for column in range(len(left)):
        pivot = max(range(column, len(left)), key=lambda row: abs(left[row][column]))
        if left[pivot][column] == 0:
            return [0.0]
        for side in (left, right):
            side[column], side[pivot] = side[pivot], side[column]
        scale = left[column][column]
        pivots.append(scale if pivot == column else -scale)
        for side in (left, right):
            side[column] = [entry / scale for entry in side[column]]
        for row in range(len(left)):
            factor = left[row][column] if row != column else 0
            for side in (left, right):
                side[row] = [entry - factor * above for entry, above in zip(side[row], side[column])]
    return pivots


def pivots_of(square: list[list[Any]]) -> list[float]:
    """Return numbers whose product is the determinant of a matrix, which is given as a list of rows."""
    return eliminate(square, [[] for _ in square])


def det(x: Any, rows: str, columns: str, _: Any) -> Any:
    number = math.prod(pivots_of(matrix(x, rows, columns)), start=1.0)
    return like(x, {}, lambda s: number)


def logdet(x: Any, rows: str, columns: str, _: Any) -> Any:
    pivots = pivots_of(matrix(x, rows, columns))
    return like(x, {}, lambda s: sum(math.log(abs(pivot)) if pivot else -math.inf for pivot in pivots))


def inv(x: Any, rows: str, columns: str, _: Any) -> Any:
    square = matrix(x, rows, columns)
    inverse = [[float(i == j) for j in range(len(square))] for i in range(len(square))]
    if 0 in eliminate(square, inverse):
        raise NotationError(405, "the matrix is singular: it has no inverse")
    return like(x, x.shape, lambda s: inverse[s[rows] - 1][s[columns] - 1])


def solve(a: Any, b: Any, rows: str, columns: str, _: Any) -> Any:
    """Solve a linear system with matrix a and right-hand side b. Return nan for a singular matrix."""
    right = [[number] for number in b.to_list((rows,))]
    singular = 0 in eliminate(matrix(a, rows, columns), right)
    return like(a, {columns: len(right)}, lambda s: math.nan if singular else right[s[columns] - 1][0])


def cofactors(x: Any, rows: str, columns: str, _: Any) -> Any:
    """Return the cofactors of a matrix: the signed determinants after the removal of one row and one column."""
    square = matrix(x, rows, columns)

    def cofactor(s: Any) -> float:
        left = [
            [entry for j, entry in enumerate(row, 1) if j != s[columns]]
            for i, row in enumerate(square, 1)
            if i != s[rows]
        ]
        return (-1) ** (s[rows] + s[columns]) * math.prod(pivots_of(left), start=1.0)

    return like(x, x.shape, cofactor)


def diag(x: Any, rows: str, columns: str, _: Any) -> Any:
    size = x.shape[rows]
    return like(x, {rows: size, columns: size}, lambda s: x({rows: s[rows]}) if s[rows] == s[columns] else 0)
