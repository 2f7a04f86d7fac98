"""Known totals: the numbers of softmax and onehot sum to 1 along their axes, those of standardize to 0."""

from __future__ import annotations

from ..operators import REGISTRY
from .forms import Factor, FormIndex
from .work import current, used


def total_of(operator: str) -> int | None:
    """What the numbers of an operator sum to along its axes, whatever its operands are."""
    return REGISTRY[operator].total if operator in REGISTRY else None


def summed_up(factors: list[Factor], summed: set[FormIndex]) -> tuple[list[Factor], bool]:
    """∑_{ax} softmax_{ax} x = 1, ∑_{ax} standardize_{ax} x = 0."""
    for factor in list(factors):
        of, named = factor.head, current().sums.get(factor.head)
        if factor.exponent != 1 or (named is None and (of.kind != "apply" or total_of(str(of.label)) is None)):
            continue
        label, places = named or (of.label, range(len(factor.indices) - len(of.slots)))
        given = {factor.indices[place] for place in places}
        others = {index for each in factors if each is not factor for index in each.indices}
        rest = {index for place, index in enumerate(factor.indices) if place not in places}
        if given <= summed and not given & others and not given & rest:
            used(f"sum of {label}")
            if not total_of(label):
                return factors, True
            factors.remove(factor)
            summed -= given
    return factors, False
