"""Define Γ, n! and binomial coefficients, elementwise, with derivatives in terms of digamma.

Like log Γ, Γ uses Stirling's series for arguments of 8 or more. Smaller arguments use Γ(x + 1) = x Γ(x), and
arguments below 1/2 use reflection. Γ is ∞ at 0, −1, −2, …. For integer arguments, values of Γ and n! up to 10¹⁴ and
binomial coefficients up to 10¹² are rounded to integers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .builder import ArrayValue, OperatorBuilder
from .definitions import exp, total
from .elementwise import SECTION
from .gamma import lgamma_by_steps, lgamma_of, product_and_series, reflect, shift_up, widen
from .record import Operator, elementwise, register

MAX_EXACT = 1e14  # A larger Γ is not rounded to an integer, because its error may be 1.
MAX_PRODUCT = 2000  # The maximum number of factors if a binomial coefficient is computed as a product.
MAX_EXACT_BINOMIAL = 1e12  # A larger binomial coefficient is not rounded to an integer.
MAX_ARGUMENT, MAX_ARGUMENT_SINGLE = 180.0, 60.0  # For larger arguments, Γ is ∞ in double and single precision.


def _gamma(b: OperatorBuilder, x: Any) -> ArrayValue:
    wide = widen(b, x)
    return b.cast(_round_exact(b, _is_whole(b, wide), _gamma_of_doubles(b, wide)), x.dtype)


def _gamma_of_doubles(b: OperatorBuilder, wide: Any) -> ArrayValue:
    small, above, fraction = reflect(b, wide)
    near, start, far = shift_up(b, above)
    product, correction = product_and_series(b, start, far)
    half = b.power(far, b.subtract(b.multiply(far, 0.5), 0.25))  # The square of this power may overflow.
    value = b.multiply(b.multiply(half, b.exp(b.subtract(correction, far))), half)
    value = b.divide(b.multiply(value, math.sqrt(2 * math.pi)), b.where(near, product, 1.0))
    largest = MAX_ARGUMENT if b.target.canonical("float64") == "float64" else MAX_ARGUMENT_SINGLE
    value = b.where(b.less_equal(above, largest), value, b.abs(b.multiply(above, math.inf)))
    pole = b.equal(fraction, 0.0)
    sine = b.multiply(b.sin(b.multiply(fraction, math.pi)), _alternating(b, b.subtract(wide, fraction)))
    other = b.where(pole, math.inf, b.divide(math.pi, b.where(pole, 1.0, b.multiply(sine, value))))
    return b.where(small, other, value)


def _alternating(b: OperatorBuilder, whole: Any) -> ArrayValue:
    """Compute (−1)^n for an integer n."""
    return b.subtract(1.0, b.multiply(2.0, b.remainder(whole, 2.0)))


def _is_whole(b: OperatorBuilder, x: Any) -> ArrayValue:
    return b.equal(x, b.floor(x))


def _round_exact(b: OperatorBuilder, whole: Any, x: Any, limit: float = MAX_EXACT) -> ArrayValue:
    """Round each element to an integer if the operands are integers and its absolute value is below `limit`."""
    exact = b.logical_and(whole, b.less(b.abs(x), limit))
    return b.where(exact, b.floor(b.add(x, 0.5)), x)


def _factorial(b: OperatorBuilder, x: Any) -> ArrayValue:
    wide = widen(b, x)
    value = _round_exact(b, _is_whole(b, wide), _gamma_of_doubles(b, b.add(wide, 1.0)))
    return b.cast(value, x.dtype)


def _gamma_sign(b: OperatorBuilder, x: Any) -> ArrayValue:
    return b.where(b.greater(x, 0.0), 1.0, _alternating(b, b.floor(x)))


def _binomial(b: OperatorBuilder, n: Any, k: Any) -> ArrayValue:
    dtype = next((operand.dtype for operand in (n, k) if hasattr(operand, "order")), b.real)
    n, k = (float(operand) if isinstance(operand, (int, float)) else widen(b, b.array(operand)) for operand in (n, k))
    whole = b.logical_and(_is_whole(b, k), _is_whole(b, n))
    pole = b.logical_and(b.logical_and(b.less(n, 0.0), _is_whole(b, n)), b.logical_not(_is_whole(b, k)))
    below_nought = b.logical_and(whole, b.less(n, 0.0))  # C(n, k) = (−1)^k C(k − n − 1, k)
    above = b.where(below_nought, b.subtract(b.subtract(k, n), 1.0), n)
    rest = b.subtract(above, k)
    beyond = b.logical_or(b.logical_and(_is_whole(b, k), b.less(k, 0.0)), b.logical_and(whole, b.less(rest, 0.0)))
    parts = [b.where(beyond, 1.0, b.add(operand, 1.0)) for operand in (above, k, rest)]
    logarithms = [lgamma_by_steps(b, part) for part in parts]
    sign = b.multiply(b.multiply(*(_gamma_sign(b, part) for part in parts[:2])), _gamma_sign(b, parts[2]))
    value = b.exp(b.subtract(b.subtract(logarithms[0], logarithms[1]), logarithms[2]))
    value = b.multiply(value, b.where(below_nought, _alternating(b, k), sign))
    value = _round_exact(b, whole, b.where(beyond, 0.0, value), MAX_EXACT_BINOMIAL)
    value = b.where(pole, math.nan, value)
    for operand in (n, k):
        value = b.where(b.isfinite(operand), value, math.nan) if hasattr(operand, "order") else value
    return b.cast(value, dtype)  # pyright: ignore


# --------------------------------------------------------------------------------------------------- on plain numbers
def _value_at_pole(x: float) -> float:
    return math.nan if x == -math.inf else math.inf


def _infinity_of_sign(number: int | Fraction) -> float:
    return math.inf if number > 0 else -math.inf


gamma_of = total(math.gamma, _value_at_pole)
float_or_infinity = total(float, _infinity_of_sign)


def factorial_of(x: float) -> float:
    whole = math.isfinite(x) and x == int(x) and 0 <= x <= 170
    return float(math.factorial(int(x))) if whole else gamma_of(x + 1)


def binomial_of(n: float, k: float) -> float:
    """Compute the binomial coefficient of n and k. For a small integer k, return n (n − 1) … (n − k + 1) / k!."""
    if not (math.isfinite(n) and math.isfinite(k)):
        return math.nan
    if k != int(k):
        parts = [gamma_of(n + 1), gamma_of(k + 1), gamma_of(n - k + 1)]
        if all(map(math.isfinite, parts)):
            return parts[0] / parts[1] / parts[2]
        return _compute_by_logarithms(n, k) if n > k > -1 else math.nan
    if k < 0:
        return 0.0
    if n == int(n) and n < 0:  # C(n, k) = (−1)^k C(k − n − 1, k)
        return binomial_of(k - n - 1, k) * (-1 if k % 2 else 1)
    if n == int(n) and n < k:
        return 0.0
    if min(k, n - k if n == int(n) else k) > MAX_PRODUCT:
        return _compute_by_logarithms(n, k)
    if n == int(n):
        return float_or_infinity(math.comb(int(n), int(k)))
    exact, fraction = Fraction(n), Fraction(1)
    for index in range(int(k)):
        fraction = fraction * (exact - index) / (index + 1)
    return float_or_infinity(fraction)


def _compute_by_logarithms(n: float, k: float) -> float:
    """Compute Γ(n + 1) / (Γ(k + 1) Γ(n − k + 1)) from logarithms. Each factor must be finite."""
    parts = n + 1, k + 1, n - k + 1
    sign = math.prod(-1 if part < 0 and math.floor(part) % 2 else 1 for part in parts)
    return sign * exp(lgamma_of(parts[0]) - lgamma_of(parts[1]) - lgamma_of(parts[2]))


def exact_factorial(n: Any) -> Any:
    """Compute a factorial, as an integer if the argument is an integer and the result is at most 2^53."""
    if isinstance(n, int) and 0 <= n <= 170:
        factorial = math.factorial(n)
        return factorial if factorial <= 2**53 else float(factorial)
    return factorial_of(float(n))


def exact_binomial(n: Any, k: Any) -> Any:
    if isinstance(n, int) and isinstance(k, int) and 0 <= n <= 1000:
        index = math.comb(n, k) if k >= 0 else 0
        return index if index <= 2**53 else float(index)
    return binomial_of(float(n), float(k))


for _name, _python, _meaning, _numpy, _write, _definition, _folded, _differential in (
    ("Γ", "gamma", "the gamma function, (x − 1)! for integers", "scipy.special.gamma(X)", _gamma, gamma_of, gamma_of,
     "Γ(X) ⊙ digamma X ⊙ ∂X"),
    ("factorial", "", "x!, which is Γ(x + 1)", "scipy.special.factorial(X)", _factorial, factorial_of, exact_factorial,
     "factorial X ⊙ digamma(X + 1) ⊙ ∂X"),
):  # fmt: skip
    register(
        Operator(
            _name, "elementwise", "->", elementwise(_write, "floats"), _meaning, _numpy, SECTION, python=_python,
            differentials=(_differential,), definition=_definition, folded=_folded, heavy=True, warns=True,
        )
    )  # fmt: skip
register(
    Operator(
        "binom", "elementwise", ", ->", elementwise(_binomial, "floats"), "the binomial coefficient, X over Y", "scipy.special.binom(X, Y)",
        SECTION, arity=(2, 2), latex=r"\binom", definition=binomial_of, folded=exact_binomial, heavy=True, warns=True,
        differentials=(
            "binom(X, Y) ⊙ (digamma(X + 1) − digamma(X − Y + 1)) ⊙ ∂X",
            "binom(X, Y) ⊙ (digamma(X − Y + 1) − digamma(Y + 1)) ⊙ ∂Y",
        ),
    )
)  # fmt: skip
