"""Comparison of values with their expected values, with an `Equivalence` as the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grammar.plain_text import encodable

from ..programs.closeness import ComparedElements
from ..programs.random_inputs import EXTREME
from .comparison import ComparedValue, Difference, Matching, matchings
from .differences import Words, axes_differ, find_exchanged_axes, find_relation, sizes_differ, value_differs
from .mutants import mistake
from .settings import Setting


@dataclass(frozen=True)
class Equivalence:
    """The result of a comparison: whether two formulas are equal in all random tests, and how they differ.

    `difference` is "same", "axes", "sizes", "exchanged" (two axes are exchanged), "value", "relation" (all values have
    the same relation to the expected values) or "mistake" (a known mistake). `index` is the index of the largest
    difference, from 1, and `actual` and `expected` are the values at that index. `axes` maps new axes of the first
    formula to axes of the second. `trials` is the number of random tests, and `sizes` are the axis sizes of the first
    test. `proved` is true if a proof shows that the formulas are equal wherever both are defined. `relation` describes
    the difference without the numbers at an index, or is None, and `place` describes the largest difference. `remark`
    is set if a formula is undefined at some inputs, and is otherwise empty. For a PyTorch module, `lines` are the lines
    of its source that differ from the formula.
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
    remark: str = ""

    def __bool__(self) -> bool:
        return self.difference == "same"

    @encodable
    def __str__(self) -> str:
        return self.message

    @encodable
    def __repr__(self) -> str:
        return f"<Equivalence: {self.message}>"


def is_moderate(compared: ComparedValue) -> bool:
    """Return whether the inputs of a random test are neither tiny nor huge."""
    return compared.test.drawn.kind not in ("tiny", "huge")


def judge_values(
    setting: Setting,
    state: Sequence[ComparedValue],
    words: Words,
    solution: str | None = None,
) -> Equivalence:
    """Compare values on random inputs with the expected values, and return the result.

    If `solution` is given and the values differ, search for a common mistake in it that explains the difference.
    """
    graded, expected, sizes = state[0].graded, state[0].test.expected, state[0].test.drawn.extent
    ways = list(matchings(graded, expected, setting.axes))
    if not ways:
        message = axes_differ(graded, expected, setting.axes, words)
        return Equivalence("axes", message, {}, relation=message)
    exchanged = find_exchanged_axes(state, words)
    if wrong := sizes_differ(graded, expected, words):
        return Equivalence("exchanged" if exchanged else "sizes", exchanged or wrong, {}, relation=exchanged or wrong)
    comparable = [compared for compared in state if not sizes_differ(compared.graded, compared.test.expected, words)]
    closest: tuple[int, Matching, Difference] | None = None
    for way in ways:
        tested: list[tuple[ComparedValue, ComparedElements]] = []
        for at, compared in enumerate(comparable):
            tested.append((compared, compared.elements(way)))
            difference = compared.difference(way, tested[-1][1])
            if difference is not None:
                closest = (at, way, difference) if closest is None or at > closest[0] else closest
                break
        else:
            trials = sum(compared.has_value for compared in state)
            remark = _describe_undefined(tested, words)
            message = f"equal on all {trials} random tests" + (f"; {remark}" if remark else "")
            return Equivalence("same", message, way, trials=trials, sizes=sizes, remark=remark)
    assert closest is not None
    at, way, difference = closest
    moderate = list(filter(is_moderate, state))
    kind, relation = "value", None
    if exchanged:
        kind, relation = "exchanged", exchanged
    elif solution is not None and (named := mistake(setting, solution, state, words)):
        kind, relation = "mistake", named
    elif is_moderate(comparable[at]) and (described := find_relation(moderate, way, words)):
        kind, relation = "relation", described
    location = value_differs(difference, words)
    return Equivalence(
        kind,
        f"{relation}; {location}" if relation else location,
        way,
        difference.record,
        difference.found,
        difference.due,
        len(state),
        sizes,
        relation=relation,
        place=location,
    )


def _describe_undefined(all_elements: Sequence[tuple[ComparedValue, ComparedElements]], words: Words) -> str:
    """Return a remark if some elements are defined on only one side, or "" if there are none.

    Tests with extreme numbers are ignored.
    """
    counted = [elements for compared, elements in all_elements if compared.test.drawn.kind not in EXTREME]
    names = [words.yours] * any(elements.first_undefined for elements in counted)
    names += [words.due] * any(elements.second_undefined for elements in counted)
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} undefined at special inputs, such as zeros or ties"
