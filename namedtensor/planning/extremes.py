"""Softmax without taking the largest off first: two passes less, where the numbers are such that it makes no difference.

softmax_{ax}(X) is the same for X and for X − m, m the largest along ax, which is taken off lest exp should overflow. Where
the sums of exp X are found to lie far from the ends of what numbers there are, that was not needed: no term overflowed,
and what a term too small to be told from zero would add is far below the rounding of the sum. So a plan has two forms: a
hasty one, which finds out by its sums, and the careful one, which is run where they were extreme. While a plan is written,
a step `either` has both values, and `moderate` is the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .plan import Argument, Step

FAR = {"float32": 64, "float64": 512}  # sums between 2^−far and 2^far are far from both ends
ENDS = {"float32": 127, "float64": 1023}
SHORT = 40  # steps that are done twice rather than looked after one by one
HASTY, CAREFUL = 0, 1


def form(which: int, steps: Iterable[Step], results: Sequence[Argument]) -> tuple[list[Step], tuple[Argument, ...]]:
    """The steps and the results of one form."""
    instead: dict[Any, Any] = {}
    found = []
    for step in steps:
        arguments = tuple([instead.get(each, each) for each in step.arguments]) if instead else step.arguments
        if step.primitive == "either":
            instead[step.value] = arguments[which]
        elif step.primitive != "moderate" or which == HASTY:
            found.append(step._replace(arguments=arguments) if instead else step)
    return found, tuple([instead.get(each, each) for each in results])
