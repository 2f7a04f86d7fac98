"""Rules of products that only proofs use: each gives the products that a product becomes, or None if it does not apply."""

from __future__ import annotations

from fractions import Fraction

from .factors import denominators, function_of, is_function
from .forms import DELTA, ONE_, Factor, Form, Product, opened, renamed
from .matching import occurrences
from .work import used


def pythagorean(product: Product) -> Form | None:
    """sin² x = 1 − cos² x."""
    for factor in product.factors:
        if is_function(factor, "sin") and factor.exponent >= 2 and factor.exponent.denominator == 1:
            used("sine and cosine")
            left = _without(product, factor, Fraction(2))
            cosine = function_of("cos", *opened(factor))._replace(exponent=Fraction(2))
            return left, Product(-left.coefficient, (*left.factors, cosine), left.summed)
    return None


def sign_powers(product: Product) -> Form | None:
    """sign³ x = sign x, and sign² x ⊙ x = x."""
    for factor in product.factors:
        if not is_function(factor, "sign") or factor.exponent < 2 or factor.exponent.denominator > 1:
            continue
        (x,) = opened(factor)
        of_x = x[0].factors[0] if len(x) == 1 and len(x[0].factors) == 1 and not x[0].summed else None
        beside = [
            other for other in product.factors
            if (of_x is not None and (other.head, other.indices) == (of_x.head, of_x.indices))
            or (is_function(other, "abs") and opened(other) == (x,))
        ]  # fmt: skip
        if factor.exponent > 2 or any(other.exponent > 0 for other in beside):
            used("power of a sign")
            return (_without(product, factor, Fraction(2)),)
    return None


def quotient_of_sums(product: Product) -> Form | None:
    """∑_{ax} x / ∑_{ax} x = 1."""
    for below, inner in denominators(product):
        if len(inner) != 1 or not inner[0].summed or inner[0].coefficient != 1:
            continue
        others = tuple(factor for factor in product.factors if factor is not below)
        for rest, names, inside in occurrences(product._replace(factors=others), inner[0]):
            if all(names[index] is index for index in inner[0].indices()):
                used("quotient of sums")
                left = Product(product.coefficient, (*rest, below), product.summed - inside)
                return (_without(left, below, -ONE_),)
    return None


def inverse_product(product: Product) -> Form | None:
    """[inv_{r,c} X]_{c→s} ⊙_{r} X = I_{s,c}, and [inv_{r,c} X]_{r→s} ⊙_{c} X = I_{r,s}: a matrix times its inverse."""
    for inverse in product.factors:
        if not is_function(inverse, "inv") or inverse.exponent != 1:
            continue
        (matrix,) = opened(inverse)
        row, column = inverse.head.bound
        if len(matrix) != 1 or len(matrix[0].factors) != 1 or matrix[0].coefficient != 1:
            continue
        for order in inverse.head.symmetries:
            left, right = (inverse.indices[position] for position in order[:2])
            for meeting, outer, near, far in ((right, left, row, column), (left, right, column, row)):
                if meeting not in product.summed or meeting is outer:
                    continue
                beside = [other for other in product.factors if other is not inverse and meeting in other.indices]
                if len(beside) != 1 or beside[0].exponent != 1:
                    continue
                ((expected,),) = (part.factors for part in renamed(matrix, {near: meeting}))
                for index in beside[0].indices:
                    if index is meeting or not _is_same(expected.at({far: index}), beside[0]):
                        continue
                    used("inverse of a matrix")
                    rest = [factor for factor in product.factors if factor is not inverse and factor is not beside[0]]
                    identity = Factor(DELTA, (outer, index), ONE_)
                    return (Product(product.coefficient, (*rest, identity), product.summed - {meeting}),)
    return None


def _is_same(one: Factor, other: Factor) -> bool:
    return (one.head, one.exponent) == (other.head, other.exponent) and other.indices in {
        tuple(one.indices[position] for position in order) for order in one.head.symmetries
    }


def _without(product: Product, factor: Factor, exponent: Fraction) -> Product:
    """The product with one factor divided by its base to an exponent."""
    left = factor.exponent - exponent
    more = (factor._replace(exponent=left),) if left else ()
    rest = tuple(other for other in product.factors if other is not factor)
    return product._replace(factors=(*rest, *more))
