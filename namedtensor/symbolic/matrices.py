"""Apply det and inv to products, multiples, transposes and inverses of square matrices, in proofs.

A matrix is a form with an index for its rows and an index for its columns. As in the notation, the axis r of inv_{r,c}
X corresponds to the columns of X.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from ..operators import REGISTRY
from ..terms.terms import Term
from . import algebra, canonical
from .applying import apply_operator
from .factors import components, is_function, sole, touches
from .forms import (
    DELTA,
    ONE,
    ONE_,
    Factor,
    Form,
    FormIndex,
    Product,
    indices_of,
    number,
    opened,
    rename_indices,
    size,
    split_parts,
)
from .work import count_rule

Matrix = tuple[Form, FormIndex, FormIndex]


def determinant(matrix: Form, row: FormIndex, column: FormIndex) -> Form:
    """Return the determinant of a matrix, simplified by rules such as det(A B) = det A det B and det I = 1.

    Other rules are det(c X) = cⁿ det X and det inv X = 1 / det X.
    """
    scalar, factors = chain(matrix, row, column)
    result = ONE
    if scalar != ONE:
        count_rule("determinant of a multiple")
        result = apply_operator("^", (scalar, size(row.size)))
    if len(factors) > 1:
        count_rule("determinant of a product")
        return reduce(algebra.multiply, (determinant(*factor) for factor in factors), result)
    ((form, row, column),) = factors
    alone = sole(form)
    if alone is not None and alone.head is DELTA:
        return result
    if alone is not None and is_function(alone, "inv") and set(alone.indices[:2]) == {row, column}:
        count_rule("determinant of an inverse")
        (inner,), (rows, columns) = opened(alone), alone.head.bound[:2]
        return algebra.multiply(result, algebra.power(determinant(inner, rows, columns), -ONE_))
    bound = orient_matrix(form, row, column)
    return algebra.multiply(result, apply_operator("det", (form,), bound, (), (), ((0, 1), ())))


def inverse(matrix: Form, row: FormIndex, column: FormIndex, out: tuple[FormIndex, FormIndex]) -> Form:
    """Return the inverse of a matrix, simplified by rules such as inv(A B) = inv B inv A and inv inv X = X."""
    scalar, factors = chain(matrix, row, column)
    result = ONE
    if scalar != ONE:
        count_rule("inverse of a multiple")
        result = algebra.power(scalar, -ONE_)
    if len(factors) > 1:
        count_rule("inverse of a product")
        links = [out[1], *(out[0].fresh() for _ in factors[1:]), out[0]]
        for (form, start, end), right, left in zip(factors, links, links[1:]):
            result = algebra.multiply(result, inverse(form, start, end, (left, right)))
        return algebra.sum_over(result, links[1:-1])
    ((form, row, column),) = factors
    alone = sole(form)
    if alone is not None and alone.head is DELTA:
        return algebra.multiply(result, rename_indices(form, {row: out[1], column: out[0]}))
    if alone is not None and is_function(alone, "inv") and set(alone.indices[:2]) == {row, column}:
        count_rule("inverse of an inverse")
        (inner,) = opened(alone)
        # An axis of an inverse is the other axis of its matrix.
        ends = dict(zip(alone.indices, alone.head.bound[::-1]))
        return algebra.multiply(result, rename_indices(inner, {ends[row]: out[1], ends[column]: out[0]}))
    first, second = orient_matrix(form, row, column)
    given = out if first is row else out[::-1]
    return algebra.multiply(result, apply_operator("inv", (form,), (first, second), given, (), ((0, 1), (0, 1))))


def orient_matrix(form: Form, row: FormIndex, column: FormIndex) -> tuple[FormIndex, FormIndex]:
    """Return the row index and the column index, in an order that is the same for a matrix and its transpose."""
    outside = indices_of(form) - {row, column}
    keys = [canonical.make_closed_key((form,), bound, outside)[0] for bound in ((row, column), (column, row))]
    if keys[1] < keys[0]:
        count_rule("transpose")
        return column, row
    return row, column


def chain(matrix: Form, row: FormIndex, column: FormIndex) -> tuple[Form, list[Matrix]]:
    """Factor a matrix into a number and a list of square matrices. A sum counts as one matrix."""
    if len(matrix) != 1:
        shared, rest = canonical.content(matrix)
        outer, rest = algebra.monomial(rest)
        inside, apart = split_parts(outer.factors, {row, column})
        rest = algebra.multiply((Product(ONE_, tuple(inside)),), rest)
        return algebra.multiply(number(shared), (Product(ONE_, tuple(apart)),)), [(rest, row, column)]
    (product,) = matrix
    for link in sorted(product.summed, key=lambda index: index.number):
        groups = components(product.factors, product.summed - {link} | {row, column})
        of_row, of_column = ([group for group in groups if touches(group, end)] for end in (row, column))
        at_link = [group for group in groups if touches(group, link)]
        if len(of_row) != 1 or len(of_column) != 1 or of_row == of_column or link.size != row.size:
            continue
        if len(at_link) != 2 or of_row[0] not in at_link or of_column[0] not in at_link:
            continue
        rest = [factor for group in groups if group not in at_link for factor in group]
        before, after = (multiply_factors(group, product.summed - {link}) for group in (of_row[0], of_column[0]))
        fresh = link.fresh()
        one, left = chain(before, row, link)
        two, right = chain(rename_indices(after, {link: fresh}), fresh, column)
        outer = multiply_factors(rest, product.summed)
        scalar = reduce(algebra.multiply, (number(product.coefficient), outer, one, two))
        return scalar, [*left, *right]
    groups = components(product.factors, product.summed | {row, column})
    inside = [factor for group in groups if touches(group, row) or touches(group, column) for factor in group]
    rest = [factor for group in groups if not (touches(group, row) or touches(group, column)) for factor in group]
    scalar = algebra.multiply(number(product.coefficient), multiply_factors(rest, product.summed))
    return scalar, [(multiply_factors(inside, product.summed), row, column)]


def multiply_factors(factors: list[Factor], summed: frozenset[FormIndex] | set[FormIndex]) -> Form:
    """Multiply factors, and sum over the given indices that occur in the product."""
    return algebra.normalize_product(
        ONE_, tuple(factors), frozenset(index for index in summed if touches(factors, index))
    )


def bound_matrix(forms: Any, term: Term) -> Matrix:
    """Return a term's matrix operand with new indices, then its row index and its column index."""
    row, column = forms.indices(term.arguments[0], term.axes)
    ends = {row: row.fresh(), column: column.fresh()}
    return rename_indices(forms.part(term, 0), ends), ends[row], ends[column]


def _det(forms: Any, term: Term) -> Form:
    return determinant(*bound_matrix(forms, term))


def _logdet(forms: Any, term: Term) -> Form:
    return apply_operator("log", (apply_operator("abs", (_det(forms, term),)),))


def _inv(forms: Any, term: Term) -> Form:
    row, column = forms.indices(term, term.axes)
    return inverse(*bound_matrix(forms, term), (row, column))


def _solve(forms: Any, term: Term) -> Form:
    matrix, row, column = bound_matrix(forms, term)
    (rows, columns), of_b = forms.indices(term.arguments[0], term.axes), forms.part(term, 1)
    meeting = rows.fresh()
    of_inverse = inverse(matrix, row, column, (columns, meeting))
    return algebra.sum_over(algebra.multiply(of_inverse, rename_indices(of_b, {rows: meeting})), [meeting])


def _cofactors(forms: Any, term: Term) -> Form:
    """Return the cofactors of X as det X ⊙ (inv X)ᵀ if X is known to be invertible, or as an opaque factor."""
    if canonical.key(forms.part(term, 0)) not in forms.nonzero:
        return forms.operator(REGISTRY["cofactors"], term, term.axes)
    count_rule("cofactors")
    row, column = forms.indices(term, term.axes)
    of_inverse = inverse(*bound_matrix(forms, term), (column, row))
    return algebra.multiply(_det(forms, term), of_inverse)


MATRICES: dict[str, Callable[[Any, Term], Form]] = {
    "det": _det, "logdet": _logdet, "inv": _inv, "solve": _solve, "cofactors": _cofactors,
}  # fmt: skip
