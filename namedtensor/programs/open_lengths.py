"""Types for open ranges: `for t = 1, …, n` has the same types for each n, where only prose says what n is.

Such a program is checked for several n. What differs between them is no error and no size; a size that follows n is written so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import SIZE_NEEDED

from ..checking.report import CheckResult
from ..core.sizes import SizeVariable, is_ground, resolve
from ..scope.names import walk
from .parsed import ParsedProgram

TRIED = (3, 5), (1, 2)  # what the first end is, and what it is in another program that is the same but for this

Checks = Callable[[dict[str, int]], CheckResult]


def for_any_length(program: ParsedProgram, check: Checks, known: Mapping[str, Any]) -> CheckResult:
    """The result that holds whatever the open ends are; `check` is given them as sizes."""
    ends: list[str] = []
    found = latest = check({})
    if found.ok or any(each.kind == "syntax" for each in found.errors):
        return found
    while open := [name for name in open_ends(program.tree, latest) if name not in known and name not in ends]:
        ends += dict.fromkeys(open)
        latest = check(numbers(ends, TRIED[0][0]))
    if not ends:
        return found
    results = {first: latest if first == TRIED[0][0] else check(numbers(ends, first)) for first in TRIED[0]}
    one, other = results.values()
    errors = common(one, other)
    for first in TRIED[1] if errors else ():
        errors = common(replace(one, errors=errors), check(numbers(ends, first)))
    if errors and any(is_open(each, ends, found.source) for each in errors):
        return found  # what an end is decides what is right
    sizes = Named(
        [numbers(ends, first) for first in TRIED[0]], {axis for shape in one.shapes.values() for axis in shape}
    )
    return replace(
        one,
        shape=None if one.shape is None or other.shape is None else sizes.shape(one.shape, other.shape),
        shapes={name: sizes.shape(shape, other.shapes[name]) for name, shape in one.shapes.items() if name in other.shapes},
        steps=tuple(each for each in one.steps if each in set(other.steps)),
        errors=errors,
    )  # fmt: skip


def numbers(ends: list[str], first: int) -> dict[str, int]:
    """Distinct numbers, which grow with the first, each by another difference: so that a size tells which it follows."""
    return {name: first * (place + 1) + place for place, name in enumerate(ends)}


def open_ends(tree: nodes.Program, found: CheckResult) -> Iterator[str]:
    """The names and the axes whose number an end of a range or a sum lacks."""
    blamed = {each.span for each in found.errors if each.code in (201, 309)}
    for error in found.errors:
        if error.code == 201 and error.reason == SIZE_NEEDED and error.symbol is not None:  # n of h^n
            yield error.symbol
    for node in walk(tree):
        for end in ends_of(node):
            for part in walk(end):
                if {part.span, end.span, node.span} & blamed and isinstance(part, (nodes.Name, nodes.Size)):
                    yield part.text if isinstance(part, nodes.Name) else part.axis.name


def ends_of(node: Any) -> tuple[Any, ...]:
    if isinstance(node, (nodes.Range, nodes.IndexSum, nodes.Slice)):
        return node.first, node.last
    if isinstance(node, nodes.Over) and isinstance(node.over, nodes.Set) and node.over.domain == "count":
        return node.over.elements
    return ()


def common(one: CheckResult, other: CheckResult) -> tuple[Any, ...]:
    """The errors that both have."""
    found = {(each.code, each.span) for each in other.errors}
    return tuple(each for each in one.errors if (each.code, each.span) in found)


def is_open(problem: Any, ends: list[str], source: str) -> bool:
    return problem.code == 309 and source[slice(*problem.span)] in ends


class Named:
    """Sizes that follow an end, by its name: n of ℝ^{time[n]}, where they were 3 for n = 3 and 5 for n = 5."""

    def __init__(self, tried: list[dict[str, int]], axes: set[str]):
        self.one, self.other = ({name: n for name, n in each.items() if name not in axes} for each in tried)

    def shape(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any]:
        return {axis: self.size(axis, size, other.get(axis)) for axis, size in one.items()}

    def size(self, axis: str, one: Any, other: Any) -> Any:
        if not (is_ground(one) and is_ground(other)) or resolve(one) == resolve(other):
            return one
        for name in self.one:
            more = resolve(one) - self.one[name]
            if resolve(other) - self.other[name] == more:
                return SizeVariable(f"{name}{more:+}" if more else name)
        return SizeVariable(f"|{axis}|")
