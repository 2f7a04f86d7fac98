r"""Members of a family that no equation gives: X^{l+1} for l = 1, …, L where X^0, …, X^L are defined.

A family whose start is not defined is not looked at: running text may say what h^0 is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from grammar import nodes
from grammar.printer import to_text

from ..scope.names import Spelled, spelled
from .index_values import Affine, affine
from .lines import DocumentLines, Line, Suspicion

CODE = 210
SYMBOL_VALUE = 9  # what the ends of ranges are taken to be: no member is defined for small numbers alone


class MemberUses(NamedTuple):
    """The members of a family that equations and declarations give, by the position of the index among its scripts."""

    lines: list[Line]
    low: int
    high: int
    symbols: frozenset[str]  # of the ends of its ranges
    start: Line | None  # the equation of its first member


def missing_members(lines: DocumentLines) -> Iterator[Suspicion]:
    """Yield a suspicion for each use of a member that lies beyond its family."""
    families = _families(lines)
    for line in lines.all if families else ():
        ranges = {range_.variable.text: range_ for range_ in line.ranges}
        for node, above in line.with_ancestors:
            if any(isinstance(parent, (nodes.Cases, nodes.IndexSum, nodes.Over)) for parent in above):
                continue
            yield from _beyond(lines, line, node, ranges, families)


def _beyond(
    lines: DocumentLines, line: Line, node: Any, ranges: dict[str, nodes.Range], families: dict[Any, MemberUses]
) -> Iterator[Suspicion]:
    name = spelled(node) if isinstance(node, (nodes.Subscript, nodes.Superscript)) else None
    for key, component in _slots(name) if name is not None else ():
        family = families.get((line.section, key))
        index = affine(component)
        if family is None or index is None or not index.names <= ranges.keys() | family.symbols:
            continue
        numbers = _numbers(index, ranges, family)
        wrong = [number for number in numbers if not family.low <= number <= family.high]
        if not wrong:
            continue
        written = lines.text(line, node)
        over = lines.text(family.lines[0], family.lines[0].head)
        yield Suspicion(CODE, line, node, f"{written} is not defined for all of its range: {over} is defined {_ends(family)}", "change the index, or define the missing member")  # fmt: skip
        return


def _ends(family: MemberUses) -> str:
    over = next(line.ranges[0] for line in family.lines if line.ranges)
    return f"for {over.variable.text} = {family.low}, …, {to_text(over.high)}"


def _families(lines: DocumentLines) -> dict[Any, MemberUses]:
    """The families with a start and a range, by section and by the name with an open index."""
    ranged: dict[Any, list[Line]] = {}
    members: dict[Any, list[tuple[Line, int]]] = {}
    for line in lines.all:
        heads = getattr(line.statement, "names", ()) or ([line.head] if line.head is not None else [])
        variables = {range_.variable.text for range_ in line.ranges}
        for head in heads:
            name = spelled(head.base if isinstance(head, nodes.Index) else head)
            for key, component in _slots(name) if name is not None else ():
                if isinstance(component, nodes.Name) and component.text in variables:
                    ranged.setdefault((line.section, key), []).append(line)
                elif isinstance(component, nodes.Number) and isinstance(component.value, int):
                    members.setdefault((line.section, key), []).append((line, component.value))
    result: dict[Any, MemberUses] = {}
    for key, group in ranged.items():
        family = _family(key, group, members.get(key, []))
        if family is not None:
            result[key] = family
    return result


def _family(key: Any, group: list[Line], members: list[tuple[Line, int]]) -> MemberUses | None:
    if any(line.head is None or len(line.ranges) != 1 for line in group):
        return None
    ends = [(affine(line.ranges[0].low), affine(line.ranges[0].high)) for line in group]
    symbols = frozenset(name for pair in ends for end in pair if end is not None for name in end.names)
    values = dict.fromkeys(symbols, SYMBOL_VALUE)
    numbers = {number for _, number in members}
    for low, high in ends:
        if low is None or high is None or low.names or len(high.names) > 1:
            return None
        numbers |= set(range(low.at(values), high.at(values) + 1))
    first = min(numbers)
    is_whole = numbers == set(range(first, max(numbers) + 1))
    start = next((line for line, number in members if number == first), None)
    return MemberUses(group, first, max(numbers), symbols, start) if is_whole and start is not None else None


def _numbers(index: Affine, ranges: dict[str, nodes.Range], family: MemberUses) -> list[int]:
    """The members that an index stands for, where each end of a range is a number."""
    values = dict.fromkeys(family.symbols, SYMBOL_VALUE)
    result = [values]
    for name in index.names & ranges.keys():
        low, high = affine(ranges[name].low), affine(ranges[name].high)
        if low is None or high is None or not (low.names | high.names) <= family.symbols:
            return []
        result = [{**known, name: number} for known in result for number in range(low.at(values), high.at(values) + 1)]
    return [index.at(known) for known in result]


def _slots(name: Spelled) -> Iterator[tuple[Any, Any]]:
    """The name with one of its scripts open, and that script, for each script."""
    scripts = (*name.subscript, *name.superscript)
    texts = [to_text(component) for component in scripts]
    for at, component in enumerate(scripts):
        rest = tuple(text for index, text in enumerate(texts) if index != at)
        yield (name.base, len(name.subscript), at, rest), component


def recurrent(lines: DocumentLines) -> set[tuple[int, str, str]]:
    """Sections and ranges, their variable and end, in which some family is defined from its own members before."""
    return {
        (line.section, range_.variable.text, to_text(range_.high))
        for line in lines.all
        for range_ in line.ranges
        for node in line.body_nodes
        if isinstance(node, nodes.Superscript)
        and any(_is_before(component, range_.variable.text) for component in node.components)
    }


def _is_before(component: Any, variable: str) -> bool:
    index = affine(component)
    return index is not None and index.names == {variable} and index.coefficients[variable] == 1 and index.constant < 0
