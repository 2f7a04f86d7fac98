"""The error function, for arrays whose library has none.

Near zero  erf x = x + x P(x²), P a polynomial; farther out  erf x = 1 − exp(−x²) R(x), R a quotient of two. The two meet
at √¾. Their coefficients were fitted to erf with fifty digits, so that the largest relative error of erf is as small as
it can be: 1.7e-17 near zero and 4.2e-18 beyond, less than the rounding of a double. From 6 on a double cannot tell erf
from 1. `tests/test_numbers.py` compares with `math.erf`.
"""

from __future__ import annotations

from typing import Any

from .dtypes import Kernel

BORDER, LAST = 0.8660254037844386, 6.0
# The coefficients of the polynomials, the highest power first.
NEAR = (
    1.0531668005849128e-08, -1.5646352496590225e-07, 1.639153229250772e-06, -1.492129437661704e-05, 0.00012055159076597468,
    -0.0008548322544613704, 0.00522397755328762, -0.026866170638330012, 0.11283791670922151, -0.37612638903183127,
    0.12837916709551256,
)  # fmt: skip
ABOVE = (
    0.008306519141581184, 0.08015835147310467, 0.3603700881143304, 0.9272606806379906, 1.3725681419865563, 0.9999999503855627,
)  # fmt: skip
BELOW = (
    0.014723079680761444, 0.14207212783206244, 0.6461722350332392, 1.7138959845555022, 2.749279912984935, 2.500946746585004,
    1.0,
)  # fmt: skip


def erf(xp: Any) -> Kernel:
    """The error function of a namespace."""
    name = xp.__name__
    if name.endswith("torch"):
        import torch  # type: ignore[import-not-found]

        return torch.special.erf
    if name.startswith("jax"):
        from jax.scipy.special import erf as of_jax  # type: ignore[import-not-found]

        return of_jax
    return lambda x: _erf(xp, x)


def _erf(xp: Any, x: Any) -> Any:
    """Both ways for all elements, with few temporaries: to choose some of them would cost more than it saves."""
    size = xp.minimum(xp.abs(x), LAST)
    square = size * size
    outside = polynomial(ABOVE, size)
    outside /= polynomial(BELOW, size)
    outside *= xp.exp(-square)
    inside = polynomial(NEAR, xp.minimum(square, BORDER * BORDER))
    inside *= size
    inside += size
    return xp.copysign(xp.where(size < BORDER, inside, 1.0 - outside), x)


def polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Horner's rule.

    >>> polynomial((2.0, 0.0, 1.0), 3.0)
    19.0
    """
    total = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        total *= x
        total += coefficient
    return total
