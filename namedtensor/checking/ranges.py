"""Compute the ranges of families, such as t = 1, …, n, and their members."""

from __future__ import annotations

from typing import Any

from grammar.nodes import Range

from ..core.extents import Size, is_size
from ..terms.environment import Environment
from ..terms.inference import Inference
from .declarations import unknown_bound
from .filled_positions import Positions, numbers_to


def get_range_index(indices: dict[Any, Any], over: Range) -> Any:
    """Return the index for a range's variable, as a number if possible."""
    index = indices.get(over.variable.text)
    return int(index) if isinstance(index, str) and index.isdecimal() else index


def number_indices(indices: dict[Any, Any], over: Range) -> dict[Any, Any]:
    """Convert the indices for range variables to numbers if possible."""
    return {**indices, **{range_.variable.text: get_range_index(indices, range_) for range_ in over.each}}


def ends(checker: Inference, over: Range, holder: Environment, env: Environment) -> tuple[int, int]:
    """Return the first and last number of a range in ascending order."""
    first, last = checker.solver.number(over.low, holder), checker.solver.number(over.high, holder)
    if not isinstance(first, int) or not isinstance(last, int):
        raise unknown_bound(checker, over, env)
    return first, last


def numbers_of(checker: Inference, over: Range, env: Environment) -> range | Positions:
    """Return the numbers of a range in ascending order."""
    first, last = checker.solver.number(over.low, env), checker.solver.number(over.high, env)
    if not is_size(first) or not is_size(last):
        raise unknown_bound(checker, over, env)
    numbers = numbers_to(first, last)
    if isinstance(numbers, range) and last - first >= checker.limits.max_steps:
        raise checker.error(404, "the range is too long", over, hint="raise limits.max_steps")
    return numbers


def is_member(
    checker: Inference, over: Range, indices: dict[Any, Any], holder: Environment, env: Environment
) -> bool | None:
    """Return whether the indices are in their ranges, or None if an index is not a number."""
    for range_ in over.each:
        expected = get_range_index(indices, range_)
        if not isinstance(expected, int):
            return None
        environment = Environment(parent=holder, sizes_parent=holder, indices=indices)
        first, last = ends(checker, range_, environment, env)
        if not first <= expected <= last:
            return False
        indices = {**indices, range_.variable.text: expected}
    return True


def last_indices(checker: Inference, over: Range, env: Environment) -> dict[str, Size]:
    """Return the last value of each range's variable."""
    sizes: dict[str, Size] = {}
    for range_ in over.each:
        environment = Environment(parent=env, sizes_parent=env, indices=dict(sizes))
        last = checker.solver.number(range_.last, environment)
        if not is_size(last):
            raise unknown_bound(checker, range_, env)
        sizes[range_.variable.text] = last
    return sizes
