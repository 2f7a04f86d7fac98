"""Define log Γ and its derivatives (digamma, polygamma), elementwise (paper §3.2).

The functions use primitives that every library has. Stirling's series is exact to the last digits for arguments of 8
or more. The recurrence Γ(x + 1) = x Γ(x) shifts smaller arguments up by 8, and arguments below 1/2 use reflection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from typing import Any

from grammar.errors import NotationError

from ..core.kinds import to_integer
from .builder import ArrayValue, OperatorBuilder
from .definitions import infinity, total
from .elementwise import SECTION
from .record import Operator, elementwise, register

FAR = 8  # The number of recurrence steps.
BERNOULLI = [
    Fraction(*pair) for pair in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))
]  # B₂, B₄, …


def widen(b: OperatorBuilder, x: Any) -> Any:
    """Convert x to double precision if the library supports it, because the recurrence may cancel digits."""
    return b.cast(x, b.target.canonical("float64"))


def reflect(b: OperatorBuilder, x: Any) -> tuple[ArrayValue, ArrayValue, ArrayValue]:
    """Reflect arguments below 1/2.

    Return whether x is below 1/2, the new argument (1 − x or x), and the difference between x and the nearest integer.
    """
    small = b.less(x, 0.5)
    return small, b.where(small, b.subtract(1.0, x), x), b.subtract(x, b.floor(b.add(x, 0.5)))


def horner(b: OperatorBuilder, coefficients: Sequence[float], x: Any) -> Any:
    """Evaluate a polynomial with coefficients from the highest degree down."""
    total: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        product = b.multiply(total, x)
        total = b.add(product, coefficient) if coefficient else product
    return total


def shift_up(b: OperatorBuilder, x: Any) -> tuple[ArrayValue, ArrayValue, ArrayValue]:
    """Shift small arguments up by the recurrence.

    Return whether x is small, the first factor of the recurrence's product, and an argument that is large enough for
    the asymptotic series.
    """
    near = b.less(x, float(FAR))
    return near, b.where(near, x, 1.0), b.where(near, b.add(x, float(FAR)), x)


def product_and_series(b: OperatorBuilder, start: Any, far: Any) -> tuple[ArrayValue, ArrayValue]:
    """Return the divisor from the recurrence and the summand from Stirling's series."""
    product = start
    for index in range(1, FAR):
        product = b.multiply(product, b.add(start, float(index)))
    series = [float(number / (2 * n * (2 * n - 1))) for n, number in enumerate(BERNOULLI, 1)]
    inverse = b.divide(1.0, far)
    return product, b.multiply(horner(b, series[::-1], b.multiply(inverse, inverse)), inverse)


def _lgamma(b: OperatorBuilder, x: Any) -> ArrayValue:
    return b.native_or("lgamma", (x,), lambda: lgamma_by_steps(b, x))


def lgamma_by_steps(b: OperatorBuilder, x: Any) -> ArrayValue:
    dtype, wide = x.dtype, widen(b, x)
    small, above, fraction = reflect(b, wide)
    near, start, far = shift_up(b, above)
    product, subtract = product_and_series(b, start, far)
    subtract = b.add(b.add(subtract, 0.5 * math.log(2 * math.pi)), b.multiply(b.subtract(far, 0.5), b.log(far)))
    subtract = b.subtract(b.subtract(subtract, far), b.where(near, b.log(product), 0.0))
    sine = b.abs(b.sin(b.multiply(fraction, math.pi)))
    subtract = b.where(small, b.subtract(b.log(b.divide(math.pi, sine)), subtract), subtract)
    return b.cast(b.where(b.isfinite(wide), subtract, b.abs(wide)), dtype)


def _hurwitz(b: OperatorBuilder, order: int, x: Any) -> ArrayValue:
    """Compute (−1)^{n+1} ψ^{(n)} for x ≥ 1/2: n! ∑_{k≥0} 1/(x + k)^{n+1} for n ≥ 1, and −ψ for n = 0."""
    near, start, far = shift_up(b, x)
    terms = [b.power(b.add(start, float(index)), -(order + 1.0)) for index in range(FAR)]
    total = terms[0]
    for term in terms[1:]:
        total = b.add(total, term)
    inverse = b.divide(1.0, far)
    lead = math.factorial(order)
    series = [
        float(number * math.factorial(2 * n + order - 1) / math.factorial(2 * n))
        for n, number in enumerate(BERNOULLI, 1)
    ]
    tail = _tail(b, series, lead, inverse)
    powers = b.power(inverse, float(order)) if order else 1.0
    tail = b.multiply(tail, powers)
    first = b.multiply(math.factorial(order - 1) * 1.0, powers) if order else b.negative(b.log(far))
    return b.add(b.add(tail, first), b.where(near, b.multiply(total, float(lead)), 0.0))


def _tail(b: OperatorBuilder, series: Sequence[float], lead: float, inverse: Any) -> ArrayValue:
    """Compute n!/(2 w) + ∑_j B_{2j} (2j + n − 1)! / (2j)! / w^{2j}."""
    square = b.multiply(inverse, inverse)
    return b.add(b.multiply(horner(b, series[::-1], square), square), b.multiply(inverse, lead / 2))


def cotangent_slopes(order: int) -> list[int]:
    """Return the n-th derivative of cot(πx) / πⁿ as a polynomial in cot(πx), from the highest degree down.

    >>> cotangent_slopes(1), cotangent_slopes(2)
    ([-1, 0, -1], [2, 0, 2, 0])
    """
    indices = [0, 1]  # From the lowest degree up.
    for _ in range(order):
        slope = [index * position for index, position in enumerate(indices)][1:]
        indices = [-(index + other) for index, other in zip([*slope, 0, 0], [0, 0, *slope])]
    return indices[::-1]


def _polygamma(b: OperatorBuilder, order: int, x: Any) -> ArrayValue:
    """Compute ψ^{(n)}, the n-th derivative of digamma, for a fixed n."""
    dtype, wide = x.dtype, widen(b, x)
    small, above, fraction = reflect(b, wide)
    negative = _hurwitz(b, order, above)
    negative = negative if order % 2 else b.negative(negative)
    cotangent = b.divide(1.0, b.tan(b.multiply(fraction, math.pi)))
    slopes = [float(cotangent_slope) * math.pi ** (order + 1) for cotangent_slope in cotangent_slopes(order)]
    other = b.subtract(b.negative(negative) if order % 2 else negative, horner(b, slopes, cotangent))
    negative = b.where(small, other, negative)
    return b.cast(b.where(b.logical_and(small, b.equal(fraction, 0)), math.nan, negative), dtype)


def _digamma(b: OperatorBuilder, x: Any) -> ArrayValue:
    return _polygamma(b, 0, x)


HIGHEST = 30  # At higher orders, n! (n + 1)^{…} leaves no accurate digits.


def _compute_of_order(b: OperatorBuilder, x: Any, n: float = 1) -> ArrayValue:
    order = to_integer(n)
    if order is None or not 0 <= order <= HIGHEST:
        raise NotationError(
            405, f"the order of polygamma must be an integer from 0 to {HIGHEST}, got {n}", hint="polygamma(X; 1)"
        )
    return _polygamma(b, order, x)


# --------------------------------------------------------------------------------------------------- on plain numbers
lgamma_of = total(math.lgamma, infinity)


def polygamma_of(x: float, order: float = 1) -> float:
    """Compute polygamma by its series. The Euler-Maclaurin formula replaces all terms after the thirtieth."""
    n = int(order)
    if x != x or (x <= 0 and (math.isinf(x) or x == int(x))):
        return math.nan
    if x < 0.5:
        cotangent = 1 / math.tan(math.pi * x)
        slope = 0.0
        for coefficient in cotangent_slopes(n):
            slope = slope * cotangent + coefficient
        return (-1) ** n * polygamma_of(1 - x, n) - math.pi ** (n + 1) * slope
    far = x + 30
    near = 1 / far
    factorial = -math.log(far) if n == 0 else math.factorial(n - 1) * near**n
    factorial += math.factorial(n) / 2 * near ** (n + 1)
    for j, bernoulli in zip(count(1), BERNOULLI):
        factorial += float(bernoulli) * math.factorial(2 * j + n - 1) / math.factorial(2 * j) * near ** (2 * j + n)
    factorial += math.factorial(n) * sum((x + k) ** -(n + 1.0) for k in range(30))
    return factorial if n % 2 else -factorial


def digamma_of(x: float) -> float:
    return polygamma_of(x, 0)


for _name, _meaning, _numpy, _write, _definition, _differential in (
    (
        "lgamma",
        "log |Γ(x)|, of factorials log (x − 1)!",
        "scipy.special.gammaln(X)",
        _lgamma,
        lgamma_of,
        "digamma X ⊙ ∂X",
    ),
    ("digamma", "the derivative of lgamma", "scipy.special.digamma(X)", _digamma, digamma_of, "polygamma(X; 1) ⊙ ∂X"),
):
    register(
        Operator(
            _name, "elementwise", "->", elementwise(_write, "floats"), _meaning, _numpy, SECTION,
            differentials=(_differential,), definition=_definition, heavy=True, warns=True,
        )
    )  # fmt: skip
register(
    Operator(
        "polygamma", "elementwise", "->", elementwise(_compute_of_order, "floats"), "the n-th derivative of digamma; n defaults to 1",
        "scipy.special.polygamma(n, X)", SECTION, options=(("n", 1),),
        differentials=("polygamma(X; n + 1) ⊙ ∂X",), definition=polygamma_of, heavy=True, warns=True,
    )
)  # fmt: skip
