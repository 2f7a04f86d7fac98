"""The number of times that each computation of a compiled function runs. In a loop, it runs once per step.

The counts are parsed from the compiler's output (HLO). It states a loop's number of steps where the loop is called, or
as the constant in the loop's condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HEAD = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
LOOP = re.compile(r" while\(.*condition=%?([\w.\-]+), body=%?([\w.\-]+)")
STATED = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
CONSTANT = re.compile(r"= s32\[\][^=]*constant\((\d+)\)")
CALLED = re.compile(r"(?:calls|to_apply)=%?([\w.\-]+)")


def lines_with_counts(text: str) -> Iterator[tuple[str, int]]:
    """Yield each line of a compiled function's text, with the number of times that the line runs."""
    parts = _computations(text)
    counts = _counts(parts)
    for name, lines in parts.items():
        for line in lines:
            yield line, counts.get(name, 1)


def _computations(text: str) -> dict[str, list[str]]:
    """Return the lines of each computation by its name. Lines that are not in a computation have an empty name."""
    parts: dict[str, list[str]] = {"": []}
    name = ""
    for line in text.splitlines():
        if head := HEAD.match(line):
            name = head[1]
        parts.setdefault(name, []).append(line)
    return parts


def _counts(parts: dict[str, list[str]]) -> dict[str, int]:
    callers: dict[str, tuple[str, int]] = {}
    for name, lines in parts.items():
        for line in lines:
            if loop := LOOP.search(line):
                callers[loop[2]] = name, _steps(line, parts.get(loop[1], []))
            for called in CALLED.findall(line):
                callers.setdefault(called, (name, 1))
    counts: dict[str, int] = {}
    for name in parts:
        count, inner = 1, name
        while inner in callers:  # the chain of callers ends at the entry, which has no caller
            inner, steps = callers[inner]
            count *= steps
        counts[name] = count
    return counts


def _steps(line: str, condition: list[str]) -> int:
    if stated := STATED.search(line):
        return int(stated[1])
    constants = [int(number) for number in CONSTANT.findall("\n".join(condition))]
    return constants[0] if len(constants) == 1 else 1
