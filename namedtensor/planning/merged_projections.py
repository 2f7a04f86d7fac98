"""Merged projections: X ⊙_{ax} W₁ and X ⊙_{ax} W₂ become one product with the concatenation of W₁ and W₂.

Queries, keys and values are such projections. Each call concatenates the matrices, which reads and writes them once. If
X has many rows, a wider product makes up for this cost. In measurements with 64 to 4,096 rows, it saved 3 to 10 %, but
it did not save time on PyTorch. If X has few rows, the matrices are not concatenated. Matrices that are adjacent in
memory, such as matrices of a loaded model, are used as one matrix without a copy. Projections with an axis that is
sharded over devices are not merged, because parts of the product would have to be sent to other devices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.axes import Order
from ..core.extents import typical
from ..operators import REGISTRY
from ..operators.contraction import name_merged_axis
from ..terms.terms import Term, number_of_elements
from .lowering import Lowering
from .plan import Argument, PlanValue
from .regions import is_product, sizes_of

MIN_MERGED_ROWS = 2**12  # the fewest rows of X for which the matrices are concatenated
MAX_ADJACENT_ROWS = 2**8  # the most rows of X for which adjacency is checked
LARGE = 2**16  # the smallest matrix, in elements, for which adjacency is checked
MIN_BYTES = 2 * MIN_MERGED_ROWS  # in a plan without an array of this many bytes, neither case is possible
STACK = "(projections)"  # the axis that several projections share


def find_groups(lowering: Lowering, terms: Sequence[Term], counts: Sequence[int]) -> None:
    """Find the groups of projections that share X. Each member of a group consists of the product, X and the matrix.

    A projection is skipped if an operator that works along axes uses it, since `contraction_order` may reorder a chain.
    """
    result: dict[tuple[Any, ...], list[tuple[Term, Term, Term]]] = {}
    for term in terms:
        projection = _projection(term, lowering) if term.axes else None
        if projection is None:
            continue
        chained = any(getattr(user, "axes", ()) and user.operator != "rename" for user in lowering.uses[id(term)])
        if not chained:
            x, matrix = projection
            result.setdefault((id(x), term.axes), []).append((term, x, matrix))
    lowering.projections = {
        id(term): members for members in result.values() if len(members) > 1 for term, *_ in members
    }


def _projection(term: Term, lowering: Lowering) -> tuple[Term, Term] | None:
    """Return X and W if a term is the projection X ⊙_{ax} W; otherwise return None.

    W must be an input that shares only the summed axes with X. Its other axes must not be sharded. X must have enough
    rows for a concatenation, or so few rows that adjacent matrices are used in place.
    """
    if not is_product(term):
        return None
    for x, matrix in (term.arguments, term.arguments[::-1]):
        if matrix.operator == "input":
            sizes = sizes_of(x)
            shared, shape = set(x.shape) & set(matrix.shape), set(matrix.shape) - set(term.axes)
            if sizes is None or shared != set(term.axes) or not shape or shape & set(lowering.target.spread):
                continue
            rows = typical(math.prod(size for axis, size in sizes.items() if axis not in term.axes))
            if (rows >= MIN_MERGED_ROWS or _may_be_neighbours(lowering, rows, matrix)) and len(x.shape) > len(
                term.axes
            ):
                return x, matrix
    return None


def _may_be_neighbours(lowering: Lowering, rows: int, matrix: Term) -> bool:
    """Return whether it is worth checking that a matrix lies next to another matrix in memory."""
    return (
        lowering.target.name == "numpy" and rows <= MAX_ADJACENT_ROWS and typical(number_of_elements(matrix)) >= LARGE
    )


def project(lowering: Lowering, term: Term) -> Argument | None:
    """Return a projection, computed as part of one product for its whole group, or None if this is not possible."""
    members = lowering.projections.get(id(term))
    return lowering.value(term) if members is not None and _project(lowering, members) else None


def _project(lowering: Lowering, members: list[tuple[Term, Term, Term]]) -> bool:
    b, (term, x_term, _) = lowering.builder, members[0]
    x = lowering.known(x_term)
    matrices = [lowering.known(matrix) or lowering.lower(matrix) for *_, matrix in members]
    if not isinstance(x, PlanValue) or b.kind(x) != "f":
        return False
    if any(not isinstance(matrix, PlanValue) or matrix.dtype != x.dtype for matrix in matrices):
        return False
    axes, whole = term.axes, "(" + ",".join(term.axes) + ")"
    count = math.prod(x.size(axis) for axis in axes)
    rows = tuple(axis for axis in x.order if axis not in axes)
    flat, owns = [], []
    for matrix in matrices:
        remaining = tuple(axis for axis in matrix.order if axis not in axes)
        extents = tuple(matrix.size(axis) for axis in remaining)
        owns.append((remaining, extents))
        flat.append(b.reshape(b.reorder(matrix, (*axes, *remaining)), (whole, STACK), (count, math.prod(extents))))
    x = b.reorder(x, (*rows, *axes))
    x = b.reshape(x, (*rows, whole), (*x.shape[: len(rows)], count))
    product = _product(lowering, x, flat, rows, whole)
    start = 0
    for (remaining, extents), (member, *_) in zip(owns, members):
        size = math.prod(extents)
        part = b.part(product, start, size)
        lowering.values[id(member)] = b.reshape(part, (*rows, *remaining), (*x.shape[: len(rows)], *extents))
        start += size
    return True


def _product(lowering: Lowering, x: PlanValue, matrices: list[PlanValue], rows: Order, whole: str) -> PlanValue:
    """Return the product of X with several matrices, which are either concatenated first or used in place."""
    b, count = lowering.builder, x.count // x.shape[-1]
    if typical(count) >= MIN_MERGED_ROWS:
        return b.reorder(REGISTRY["⊙"].lower(b, (x, b.concat(matrices, STACK)), (whole,), {}), (*rows, STACK))
    flat = b.reshape(x, (name_merged_axis(rows), whole), (count, x.shape[-1]))
    wide = sum(matrix.shape[-1] for matrix in matrices)
    product = b.step("projected", (flat, *matrices), (name_merged_axis(rows), STACK), (count, wide), x.dtype)
    return b.reshape(product, (*rows, STACK), (*x.shape[:-1], wide))
