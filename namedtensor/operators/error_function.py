"""The error function for arrays whose library lacks it.

erf(x) = 2/√π ∑ (−1)^n x^{2n+1} / (n! (2n+1)) near zero; beyond, 1 − exp(−x²) times a continued fraction. Both are cut
where a double cannot tell the rest.
"""

from __future__ import annotations

import math
from typing import Any, Callable

BORDER = 2.5
TERMS = 48
FRACTIONS = 50


def erf(xp: Any) -> Callable[[Any], Any]:
    """The error function of a namespace."""
    from .lowering import floating

    name = xp.__name__
    if name.endswith("torch"):
        import torch

        return lambda x: torch.special.erf(floating(xp, x))
    if name.startswith("jax"):
        from jax.scipy.special import erf as of_jax

        return lambda x: of_jax(floating(xp, x))
    return lambda x: _erf(xp, floating(xp, x))


def _erf(xp: Any, x: Any) -> Any:
    size = xp.abs(x)
    near = xp.where(size < BORDER, size, xp.zeros_like(size))
    far = xp.where(size < BORDER, xp.full_like(size, BORDER), size)
    value = xp.where(size < BORDER, _series(xp, near), 1.0 - _fraction(xp, xp.where(far > 27.0, xp.full_like(far, 27.0), far)))
    return xp.where(xp.isnan(x), x, xp.sign(x) * value)


def _series(xp: Any, x: Any) -> Any:
    """2/√π exp(−x²) ∑ 2^n x^{2n+1} / (1·3·…·(2n+1)): all terms of one sign, so nothing cancels."""
    square = 2.0 * x * x
    total = xp.ones_like(x)
    for n in range(TERMS, 0, -1):
        total = 1.0 + total * square / (2 * n + 1)
    return 2.0 / math.sqrt(math.pi) * x * xp.exp(-x * x) * total


def _fraction(xp: Any, x: Any) -> Any:
    """erfc(x) = exp(−x²)/√π · 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …))))."""
    below = x
    for n in range(FRACTIONS, 0, -1):
        below = x + (n / 2.0) / below
    return xp.exp(-x * x) / (math.sqrt(math.pi) * below)
