"""The fast path of softmax and its guard: the largest is not taken off first, which spares two passes.

softmax_{ax}(X) is the same for X and for X − m, m the largest along ax, which is taken off lest exp should overflow. Where
the sums of exp X are found to lie far from the ends of the range of their dtype, that was not needed: no term overflowed,
and what a term too small to be told from zero would add is far below the rounding of the sum. So a plan has two versions: a
fast path, guarded by its sums, and the fallback, which is run where they were extreme. While a plan is built, a step
`select` has the values of both versions, and `guard` is the check. A plan of many steps is not worth doing twice: in it a
large softmax is one step with a guard of its own, the third value of `select`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .plan import Argument, Step

FAR = {"float32": 64, "float64": 512}  # sums between 2^−far and 2^far are far from both ends
ENDS = {"float32": 127, "float64": 1023}
FEW_STEPS = 40  # steps that are done twice rather than guarded one by one
FEW_OF_BLOCK = 120  # steps of a block that are: only the first block whose numbers are extreme is computed twice
LARGE = 2**9  # numbers from which a step with a guard of its own is faster than the fallback
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
