"""The ranges of families: for t = 1, …, n; which members there are."""

from __future__ import annotations

from typing import Any

from grammar.nodes import Range

from ..core.extents import Size, is_size
from ..terms.environment import Environment
from ..terms.inference import Inference
from .declarations import unknown_bound


def counted(indices: dict[Any, Any], over: Range) -> Any:
    """The number of a range's variable among these indices, where it is one."""
    found = indices.get(over.variable.text)
    return int(found) if isinstance(found, str) and found.isdecimal() else found


def of_numbers(indices: dict[Any, Any], over: Range) -> dict[Any, Any]:
    """The indices, with numbers for those that ranges count."""
    return {**indices, **{each.variable.text: counted(indices, each) for each in over.each}}


def ends(checker: Inference, over: Range, holder: Environment, env: Environment) -> tuple[int, int]:
    """The least and the greatest number of a range."""
    first, last = checker.solver.number(over.low, holder), checker.solver.number(over.high, holder)
    if not isinstance(first, int) or not isinstance(last, int):
        raise unknown_bound(checker, over, env)
    return first, last


def is_member(
    checker: Inference, over: Range, indices: dict[Any, Any], holder: Environment, env: Environment
) -> bool | None:
    """Return whether this index and those after it are in their ranges; None if one is not a number."""
    for each in over.each:
        wanted = counted(indices, each)
        if not isinstance(wanted, int):
            return None
        place = Environment(parent=holder, sizes_parent=holder, indices=indices)
        first, last = ends(checker, each, place, env)
        if not first <= wanted <= last:
            return False
        indices = {**indices, each.variable.text: wanted}
    return True


def last_indices(checker: Inference, over: Range, env: Environment) -> dict[str, Size]:
    """The last values of the variables of ranges."""
    found: dict[str, Size] = {}
    for each in over.each:
        place = Environment(parent=env, sizes_parent=env, indices=dict(found))
        last = checker.solver.number(each.last, place)
        if not is_size(last):
            raise unknown_bound(checker, each, env)
        found[each.variable.text] = last
    return found
