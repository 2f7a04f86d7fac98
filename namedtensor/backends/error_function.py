"""Coefficients of the error function, for arrays of libraries that do not provide this function.

Near zero, erf x = x + x P(x²), where P is a polynomial. Farther out, erf x = 1 − exp(−x²) R(x), where R is a quotient
of two polynomials. The two approximations are joined at √¾. Their coefficients were fitted to erf with fifty digits to
minimize the largest relative error. This error is 1.7e-17 near zero and 4.2e-18 farther out, which is less than the
rounding error of a double. From 6 on, a double cannot distinguish erf from 1. `tests/test_operators_numbers.py`
compares the results with `math.erf`.

For 32-bit numbers, erf x = tanh(x P(x²)), with a polynomial P of degree 7. This formula is fast, and an error in the
argument of tanh hardly changes a result near 1. P minimizes the relative error of erf on [0, 3.9]; it was found by
linear programming on 600 points with thirty digits. The error is 7.1e-8. With all rounding errors, it is at most 3.1
units in the last place, and half a unit on average. The first coefficient is positive, so that the result stays 1
beyond 3.9.
"""

from __future__ import annotations

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
SINGLE = (
    5.4201874e-09, 2.7609094e-08, -4.794887e-06, 8.4597705e-05, -0.0006148404, -0.00019528621, 0.10276987, 1.1283792,
)  # fmt: skip
