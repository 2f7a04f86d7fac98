"""Size symbols for the open ends of ranges, such as the n of `for t = 1, …, n` if no input or statement specifies it.

If a check reports unspecified ends, it is repeated with a size symbol for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from grammar.errors import SIZE_NEEDED, NotationError

from ..core.extents import Extent, SizeSymbol, UndecidedSizeError, extent
from ..core.size_conditions import SizeCondition, conditions

Found = TypeVar("Found")
Errors = Callable[[Found], tuple[NotationError, ...]]


def with_open_ends(
    check: Callable[[Mapping[str, Extent]], Found], errors: Errors[Found]
) -> tuple[Found, tuple[SizeCondition, ...]]:
    """Run a check in which each unspecified range end is a size symbol.

    Return the result of the check and the conditions on these symbols. If the program's meaning depends on the value of
    a symbol, return the result of the check without symbols, and no conditions.
    """
    ends: dict[str, Extent] = {}
    first = result = check(ends)
    assumed: tuple[SizeCondition, ...] = ()
    while needed := {name: end_ for name, end_ in ends_needed(errors(result)).items() if name not in ends}:
        ends |= needed
        try:
            with conditions() as collected:
                result, assumed = check(ends), collected.taken_to_hold
        except UndecidedSizeError:  # the meaning of the program depends on the number
            return first, ()
    return result, assumed


def ends_needed(errors: tuple[NotationError, ...]) -> dict[str, Extent]:
    """Return a size symbol for each name or axis that the errors report as having no size."""
    needed = (error for error in errors if error.code in (201, 309) and error.reason == SIZE_NEEDED)
    return {
        error.symbol: extent(SizeSymbol(error.symbol, error.axis or "")) for error in needed if error.symbol is not None
    }
