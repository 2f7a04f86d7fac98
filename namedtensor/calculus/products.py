"""Build products over a long axis whose derivatives need memory proportional to the length of the axis.

For each element, the usual differentials of `∏` and `cumprod` multiply all other elements, which needs quadratic
memory. The terms in this module do not divide, so zeros need no special case, even in second derivatives.
"""

from __future__ import annotations

from ..core.sizes import SizeVariable, resolve
from ..terms.builder import TermBuilder
from ..terms.terms import Term

SHORT = 64  # For an axis of this size, quadratic memory is acceptable.


def is_long(term: Term) -> bool:
    """Return whether a product's axis is so long that quadratic memory is too much."""
    size = resolve(term.arguments[0].shape[term.axes[0]])
    return type(size) is not SizeVariable and size > SHORT


def multiply_others(make: TermBuilder, term: Term) -> Term:
    """Return, for each element in the operand of `∏`, the product of all other elements."""
    (axis,) = term.axes
    factors = term.arguments[0]
    backwards = multiply_before(make, reverse(make, factors, axis), axis)
    return make.times(multiply_before(make, factors, axis), reverse(make, backwards, axis))


def multiply_before(make: TermBuilder, factors: Term, axis: str) -> Term:
    """Return, for each element along an axis, the product of all previous elements."""
    before = shift(make, factors, axis, 1)
    return make.term("cumprod", (before,), (axis,), (), dict(before.shape))


def multiply_up_to(make: TermBuilder, term: Term) -> Term:
    """Build `cumprod` from products of 1, 2, 4, … elements.

    The number of terms grows with the logarithm of the length.
    """
    (axis,) = term.axes
    result, step, size = term.arguments[0], 1, resolve(term.shape[axis])
    while step < size:
        result, step = make.times(result, shift(make, result, axis, step)), 2 * step
    return result


def shift(make: TermBuilder, term: Term, axis: str, by: int) -> Term:
    """Shift the elements of a term along an axis by `by` positions, with ones at the start."""
    one = make.number(1)
    position = make.between("-", make.iota(axis, 1, term.shape[axis]), make.number(by))
    is_inside = make.between("≥", position, one)
    matches = make.at(term, axis, make.between("where", is_inside, position, one))
    return make.between("where", is_inside, matches, make.number(1.0))


def reverse(make: TermBuilder, term: Term, axis: str) -> Term:
    """Reverse the elements of a term along an axis."""
    size = resolve(term.shape[axis])
    return make.at(term, axis, make.between("-", make.number(size + 1), make.iota(axis, 1, size)))
