"""Common denominators: whether a sum of fractions is 0."""

from __future__ import annotations

from . import algebra
from .forms import Factor, Form
from .work import used

MAX_TERMS = 4000  # of a numerator


def vanishes(form: Form) -> bool:
    """Whether a form is 0 wherever it has a value: its products are multiplied by what they are divided by, until none is."""
    while form and (below := _denominator(form)) is not None:
        used("common denominator")
        form = algebra.add(*(algebra.settled(part.coefficient, (*part.factors, below), part.summed) for part in form))
        if len(form) > MAX_TERMS:
            return False
    return not form


def _denominator(form: Form) -> Factor | None:
    """A factor that some product is divided by, to the power that clears it; not one that depends on what is summed."""
    for product in form:
        for factor in product.factors:
            if factor.exponent < 0 and not product.summed.intersection(factor.indices):
                exponents = [
                    other.exponent for part in form for other in part.factors
                    if (other.head, other.indices) == (factor.head, factor.indices)
                ]  # fmt: skip
                return factor._replace(exponent=-min(exponents))
    return None
