"""The error function, for arrays whose library has none.

Near zero erf x = x R(x²); farther out erf x = 1 − exp(−x²) R(x), with quotients R of polynomials due to W. J. Cody,
*Rational Chebyshev approximation for the error function* (1969). From 6 on a double cannot tell erf x from 1.
"""

from __future__ import annotations

from typing import Any

from .dtypes import Kernel

BORDER, LAST = 0.46875, 6.0
# The coefficients of each quotient, the highest power first.
NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)
FAR = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1, 2.98635138197400131e2,
     8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
     3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip


def erf(xp: Any) -> Kernel:
    """The error function of a namespace."""
    name = xp.__name__
    if name.endswith("torch"):
        import torch

        return torch.special.erf
    if name.startswith("jax"):
        from jax.scipy.special import erf as of_jax

        return of_jax
    return lambda x: _erf(xp, x)


def _erf(xp: Any, x: Any) -> Any:
    size = xp.abs(x)
    far = xp.where(size > LAST, xp.full_like(size, LAST), size)
    outside = 1.0 - xp.exp(-far * far) * _quotient(FAR, far)
    small = xp.where(size > BORDER, xp.zeros_like(x), x)
    value = xp.where(size > BORDER, xp.sign(x) * outside, small * _quotient(NEAR, small * small))
    return xp.where(xp.isnan(x), x, value)


def _quotient(of: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    above, below = (_polynomial(coefficients, x) for coefficients in of)
    return above / below


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Horner's rule."""
    total = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        total *= x
        total += coefficient
    return total
