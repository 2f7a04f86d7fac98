"""Apply rules to products in proofs. Each rule returns a form, or None if it does not apply."""

from __future__ import annotations

from fractions import Fraction

from .factors import denominators, function_of, is_function, to_factors
from .facts import FactRewrite
from .forms import DELTA, ONE_, Factor, Form, Product, opened, single
from .matching import occurrences, replace_part
from .work import count_rule


def pythagorean(product: Product) -> Form | None:
    """Replace sin² x in a product with 1 − cos² x. Return None if the rule does not apply."""
    for factor in product.factors:
        if is_function(factor, "sin") and factor.exponent >= 2 and factor.exponent.denominator == 1:
            count_rule("sine and cosine")
            left = _divide_factor(product, factor, Fraction(2))
            cosine = function_of("cos", *opened(factor))._replace(exponent=Fraction(2))
            return left, Product(-left.coefficient, (*left.factors, cosine), left.summed)
    return None


def quotient_of_sums(product: Product) -> Form | None:
    """Cancel a sum divided by the same sum, as in ∑_{ax} x / ∑_{ax} x = 1. Return None if the rule does not apply."""
    for below, inner in denominators(product):
        if len(inner) != 1 or not inner[0].summed or inner[0].coefficient != 1:
            continue
        others = tuple(factor for factor in product.factors if factor is not below)
        for rest, names, inside in occurrences(product._replace(factors=others), inner[0]):
            if all(names[index] is index for index in inner[0].indices()):
                count_rule("quotient of sums")
                left = Product(product.coefficient, (*rest, below), product.summed - inside)
                return (_divide_factor(left, below, -ONE_),)
    return None


def inverse_product(product: Product) -> Form | None:
    """Replace a matrix times its inverse with an identity matrix. Return None if the rule does not apply.

    The rules are [inv_{r,c} X]_{c→s} ⊙_{r} X = I_{s,c} and [inv_{r,c} X]_{r→s} ⊙_{c} X = I_{r,s}.
    """
    for inverse in product.factors:
        if is_function(inverse, "inv") and inverse.exponent == 1:
            for rewrite in inverse_rewrites(inverse, inverse):
                if (shorter := replace_part(product, rewrite)) is not None:
                    count_rule("inverse of a matrix")
                    return (shorter,)
    return None


def inverse_rewrites(inverse: Factor, named: Factor) -> list[FactRewrite]:
    """Return the rewrites of a matrix times its inverse, on either side, to the identity matrix.

    In the patterns, the factor `named` represents the inverse.
    """
    (matrix,), (row, column) = opened(inverse), inverse.head.bound[:2]
    factors = to_factors(matrix) or ()
    if len(factors) != 1:
        return []
    rewrites = []
    for meeting, outer, near, far in ((*inverse.indices[:2], column, row), (*inverse.indices[1::-1], row, column)):
        pattern = Product(ONE_, (factors[0].at({near: meeting}), named), frozenset((meeting,)))
        rewrites.append(FactRewrite(pattern, single(DELTA, far, outer)))
    return rewrites


def _divide_factor(product: Product, factor: Factor, exponent: Fraction) -> Product:
    """Divide a product by a power of one factor's base."""
    left = factor.exponent - exponent
    more = (factor._replace(exponent=left),) if left else ()
    rest = tuple(other for other in product.factors if other is not factor)
    return product._replace(factors=(*rest, *more))
