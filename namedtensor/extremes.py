"""Softmax without taking the largest off first: two passes less, where the numbers are such that it makes no difference.

softmax_{ax}(X) is the same for X and for X − m, m the largest along ax, which is taken off lest exp should overflow. Where
the sums of exp X are found to lie far from the ends of what numbers there are, that was not needed: no term overflowed,
and what a term too small to be told from zero would add is far below the rounding of the sum. So a plan has two forms: a
hasty one, which finds out by its sums, and the careful one, which is run where they were extreme.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .plan import Step, Value

FAR = {"float32": 64, "float64": 512}  # sums between 2^−far and 2^far are far from both ends
ENDS = {"float32": 127, "float64": 1023}
SHORT = 40  # steps that are done twice rather than looked after one by one


def are_in(steps: Iterable[Step]) -> bool:
    return any("shift" in step.options for step in steps)


def careful(steps: Iterable[Step]) -> list[Step]:
    """The steps with the largest taken off, which need no check."""
    return [step for step in steps if step.primitive != "moderate"]


def hasty(steps: Iterable[Step]) -> list[Step]:
    """The steps without taking the largest off; `moderate` fails where it was needed."""
    instead: dict[Any, Value] = {}
    found = []
    for step in steps:
        if "shift" in step.options:
            instead[step.value] = step.arguments[0]
        else:
            found.append(
                step._replace(
                    arguments=tuple(
                        [instead.get(each, each) if isinstance(each, Value) else each for each in step.arguments]
                    )
                )
            )
    return found
