"""Whole numbers needed before planning: L in X^L, n in `for t = 1, …, n` or in seq[n].

They are given as Python numbers; one that comes as np.int64(3), or as an array or a tensor without axes, is read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Axis, Call, IndexSum, Name, Node, Range, Size

from .names import spelled, walk
from .symbols import Scope


def as_numbers(
    values: Mapping[str, Any], possible: Callable[[frozenset[str]], frozenset[str]], scope: Callable[[], Scope]
) -> Mapping[str, Any]:
    """The values, those without axes that the formula needs as whole numbers as such.

    `possible` tells quickly, of the names that are given, which may be needed so.
    """
    single: list[str] = []
    for name, value in values.items():
        layout = getattr(value, "layout", None)
        if isinstance(value, float) or layout is not None and not layout.axes and NUMBERS.search(str(layout.dtype)):
            single.append(name)
    if not single or possible(frozenset(values)).isdisjoint(single):
        return values
    needed = set(numbers_in(scope())).intersection(single)
    found = {name: as_number(value) if name in needed else value for name, value in values.items()}
    for name in needed.intersection(ends_in(scope())):
        check_whole(name, found[name])
    return found


NUMBERS = re.compile("int|float")


def as_number(value: Any) -> Any:
    """A tensor without axes, or 3.0, as a whole number; as it is, where it is none or has no value yet, as while JAX traces."""
    try:
        number = float(value if isinstance(value, float) else value.array)
        return int(value if isinstance(value, float) else value.array) if number.is_integer() else value
    except Exception:
        return value


def check_whole(name: str, value: Any) -> None:
    """Raise where a number that says how far something goes is no whole one."""
    try:
        number = float(value if isinstance(value, (int, float)) else value.array)
    except Exception:
        return
    if not number.is_integer():
        raise NotationError(
            402,
            f"{name} is the end of a range, so it must be an integer, got {number:g}",
            hint=f"pass an integer for {name}",
        )


def ends_in(scope: Scope) -> set[str]:
    """The names in the ends of ranges and sums."""
    ends = (
        end for node in walk(scope.program) if isinstance(node, (Range, IndexSum)) for end in (node.first, node.last)
    )
    return {each.text for end in ends for each in walk(end) if isinstance(each, Name)}


def numbers_in(scope: Scope) -> Iterator[str]:
    """The names that stand where a formula needs a whole number."""
    ranged = [family.name.base for family in scope.families]
    ranged += [family.name.base for function in scope.all_functions() for family in function.families]
    ranged += [name.base for _, name, _, over in scope.declarations if over is not None]
    for node in walk(scope.program):
        for part in whole_parts(node, frozenset(ranged)):
            yield from (inner.text for inner in walk(part) if isinstance(inner, Name))


def possible_numbers(program: nodes.Program) -> frozenset[str]:
    """The names that may stand so, were each name with scripts that of a member."""
    parts = (part for node in walk(program) for part in whole_parts(node, None))
    return frozenset(inner.text for part in parts for inner in walk(part) if isinstance(inner, Name))


def whole_parts(node: Any, ranged: frozenset[str] | None) -> tuple[Node, ...]:
    """Of a node the parts that are whole numbers: components of a member's name, ends of ranges, sizes.

    `ranged` are the names that have members; None where each may.
    """
    if isinstance(node, (Range, IndexSum)):
        return (node.first, node.last)
    if isinstance(node, nodes.Expectation):
        return (Name("draws"),)
    if isinstance(node, nodes.Set):
        return tuple(size for _, size in node.axes if size is not None)
    if isinstance(node, nodes.Equation):
        return node.sides if any(isinstance(side, Size) for side in node.sides) else ()
    if isinstance(node, Call):
        return (*node.superscript, *node.subscript)
    name = None if isinstance(node, Axis) else spelled(node)
    if name is None or (ranged is not None and name.base not in ranged):
        return ()
    return (*name.subscript, *name.superscript)
