"""The fast path of softmax and its guard: it does not subtract the maximum first, which saves two passes.

softmax_{ax}(X) is the same for X and for X − m, m the maximum along ax; subtracting m avoids overflow of exp. If the
sums of exp X are far from the limits of their dtype, subtraction was not needed: no term overflowed, and terms that
underflow are far below the rounding error of the sum. So a plan has two versions: a fast path, guarded by its sums, and
a fallback for extreme sums. While a plan is built, a step `select` has the values of both versions, and `guard` is the
check. A plan of many steps is too expensive to run twice: in it, a large softmax is one step with a separate guard, the
third value of `select`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .plan import Argument, Step

FAR = {"float32": 64, "float64": 512}  # sums between 2^−far and 2^far are far from both ends
ENDS = {"float32": 127, "float64": 1023}
MAX_REPEATED_STEPS = 40  # steps that are done twice rather than guarded one by one
MAX_REPEATED_BLOCK_STEPS = 120  # the same of a block: only the first with extreme numbers is computed twice
MIN_GUARDED_NUMBERS = 2**9  # numbers from which a step with a guard of its own is faster than the fallback
FAST, FALLBACK, GUARDED = 0, 1, 2


def version(which: int, steps: Iterable[Step], results: Sequence[Argument]) -> tuple[list[Step], tuple[Argument, ...]]:
    """The steps and results of one version, its selects resolved."""
    instead: dict[Any, Any] = {}
    found: list[Step] = []
    for step in steps:
        arguments = tuple([instead.get(each, each) for each in step.arguments]) if instead else step.arguments
        if step.primitive == "select":
            instead[step.value] = arguments[which if which < len(arguments) else FALLBACK]
        elif step.primitive != "guard" or which == FAST:
            found.append(step._replace(arguments=arguments) if instead else step)
    return found, tuple([instead.get(each, each) for each in results])
