"""Sums that an operator's meaning says: those of softmax and onehot are 1, that of standardize is 0."""

from __future__ import annotations

from .forms import Factor, Index
from .work import used

SUMS = {"softmax": 1, "onehot": 1, "argmax": 1, "argmin": 1, "standardize": 0}


def summed_up(factors: list[Factor], summed: set[Index]) -> tuple[list[Factor], bool]:
    """∑_{ax} softmax_{ax} x = 1, ∑_{ax} standardize_{ax} x = 0."""
    for factor in list(factors):
        of = factor.head
        if of.kind != "apply" or of.label not in SUMS or factor.exponent != 1:
            continue
        given = set(factor.indices[: len(factor.indices) - len(of.slots)])
        others = {index for each in factors if each is not factor for index in each.indices}
        if given <= summed and not given & others and not given & set(factor.indices[len(given) :]):
            used(f"sum of {of.label}")
            if not SUMS[of.label]:
                return factors, True
            factors.remove(factor)
            summed -= given
    return factors, False
