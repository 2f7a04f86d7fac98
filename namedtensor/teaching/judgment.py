"""The comparison of values with expected values: an `Equivalence`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grammar.plain_text import encodable

from .comparison import Difference, Matching, difference, largest, matchings
from .differences import Words, axes_differ, exchanged_axes, related, sizes_differ, value_differs
from .mutants import mistake
from .settings import ComparedValue, Setting
from .values import GradedValue


@dataclass(frozen=True)
class Equivalence:
    """Whether two formulas are equal on all random tensors, and how they differ.

    `difference` is "same", "axes", "sizes", "exchanged" if two axes are, "value", "relation" if all values have one relation to the
    expected ones, or "mistake".
    `index` is that of the largest difference, from 1, with the values `actual` and `expected` there. `axes` maps new axes of
    the first to those of the second. `sizes` are the random sizes. `proved` is true if the formulas are equal for all tensors,
    not only for random ones. `relation` describes the difference without the numbers of one index, if it has a description, and
    `place` the largest difference. For a module of PyTorch, `lines` are the lines of its source that differ from the formula.
    """

    difference: str
    message: str
    axes: Mapping[str, str]
    index: Mapping[str, int] | None = None
    actual: Any = None
    expected: Any = None
    trials: int = 0
    sizes: Mapping[str, int] | None = None
    proved: bool = False
    lines: tuple[Any, ...] = ()
    relation: str | None = None
    place: str | None = None

    def __bool__(self) -> bool:
        return self.difference == "same"

    @encodable
    def __str__(self) -> str:
        return self.message

    @encodable
    def __repr__(self) -> str:
        return f"<Equivalence: {self.message}>"


def judged(
    setting: Setting,
    state: Sequence[ComparedValue],
    words: Words,
    solution: str | None = None,
) -> Equivalence:
    """Values beside those due, each with its random inputs."""
    pairs = [(graded, value) for _, graded, value in state]
    graded, expected = pairs[0]
    ways = list(matchings(graded, expected, setting.axes))
    extents = [drawn.extent for drawn, _, _ in state]
    if not ways:
        wrong = sizes_differ(graded, expected, words) if set(graded.axes) == set(expected.axes) else None
        message = wrong or axes_differ(graded, expected, setting.axes, words)
        return Equivalence("sizes" if wrong else "axes", message, {}, relation=message)
    scales = [largest((*drawn.values.values(), value)) for drawn, _, value in state]
    exchanged = exchanged_axes(pairs, scales, words)
    if wrong := sizes_differ(graded, expected, words):
        return Equivalence("exchanged" if exchanged else "sizes", exchanged or wrong, {}, relation=exchanged or wrong)
    closest: tuple[int, Matching, Difference] | None = None
    for way in ways:
        differing = _first_difference(pairs, way, scales)
        if differing is None:
            return Equivalence(
                "same", f"equal on all {len(pairs)} random tests", way, trials=len(pairs), sizes=extents[0]
            )
        if closest is None or differing[0] > closest[0]:
            closest = (differing[0], way, differing[1])
    assert closest is not None
    _, way, where = closest
    named = mistake(setting, solution, state, scales, words) if solution is not None and not exchanged else None
    text = value_differs(where, words)
    relation = exchanged or named or related([(*pair, sizes) for pair, sizes in zip(pairs, extents)], way, words)
    text = f"{relation}; {text}" if relation else text
    return Equivalence(
        "exchanged" if exchanged else "mistake" if named else "relation" if relation else "value",
        text,
        way,
        where.record,
        where.found,
        where.due,
        len(pairs),
        extents[0],
        relation=relation,
        place=value_differs(where, words),
    )


def _first_difference(
    pairs: Sequence[tuple[GradedValue, GradedValue]], way: Matching, scales: Sequence[float]
) -> tuple[int, Difference] | None:
    for at, ((graded, expected), scale) in enumerate(zip(pairs, scales)):
        if sizes_differ(graded, expected, Words()):
            continue
        if where := difference(graded, expected, way, scale):
            return at, where
    return None
