"""How much a formula makes of its text, counted while it is typed: calls write out bodies, recurrences their steps.

What is typed grows with the text alone, but for calls of functions that call others twice, sums and recurrences over long
ranges, and derivatives of derivatives; these are what `limits.pieces` bounds, so that an answer or a refusal comes in time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checker import Checker


def made(checker: Checker) -> int:
    """The pieces that were typed so far, and the terms that were made of them."""
    typed = len(checker.trace) + (len(checker.rules.trace) if checker.rules is not None else 0)
    return typed + len(checker.graph)


def spend(checker: Checker, place: Any) -> None:
    """Raise where more is made than the limit allows; `place` is the call, sum, range or derivative that makes more."""
    limit = checker.limits.pieces
    if made(checker) > limit + len(checker.scope.source):
        raise checker.error(
            404, f"this formula, with all that it calls and repeats, has more than {limit} pieces", place,
            notes=("a call writes out the body of its function, a recurrence its steps, a sum of members its terms",),
            hint="raise limits.pieces",
        )  # fmt: skip
