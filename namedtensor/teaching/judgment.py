"""Comparison of values with their expected values, with an `Equivalence` as the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grammar.plain_text import encodable

from ..programs.closeness import ComparedElements
from ..programs.random_inputs import EXTREME
from .comparison import ComparedValue, Difference, Matching, largest, matchings
from .differences import Words, axes_differ, find_exchanged_axes, find_relation, sizes_differ, value_differs
from .mutants import mistake
from .settings import Setting


@dataclass(frozen=True)
class Equivalence:
    """The result of a comparison: whether two formulas are equal in all random tests, and how they differ.

    `difference` is "same", "axes", "sizes", "exchanged" (two axes are exchanged), "value", "relation" (all values have
    the same relation to the expected values) or "mistake" (a known mistake). `index` is the index of the largest
    difference, from 1, and `actual` and `expected` are the values at that index. `axes` maps new axes of the first
    formula to axes of the second. `sizes` are the random sizes. `proved` is true if a proof shows that the formulas are
    equal for all tensors. `relation` describes the difference without the numbers at an index, or is None, and `place`
    describes the largest difference. `remark` is set if only one of two equal formulas is defined at some inputs. For a
    PyTorch module, `lines` are the lines of its source that differ from the formula.
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


def judge_values(
    setting: Setting,
    state: Sequence[ComparedValue],
    words: Words,
    solution: str | None = None,
) -> Equivalence:
    """Compare values on random inputs with the expected values, and return the result."""
    pairs = [(compared.graded, compared.expected) for compared in state]
    graded, expected = pairs[0]
    ways = list(matchings(graded, expected, setting.axes))
    extents = [compared.drawn.extent for compared in state]
    if not ways:
        wrong = sizes_differ(graded, expected, words) if set(graded.axes) == set(expected.axes) else None
        message = wrong or axes_differ(graded, expected, setting.axes, words)
        return Equivalence("sizes" if wrong else "axes", message, {}, relation=message)
    scales = [largest((*compared.drawn.values.values(), compared.expected)) for compared in state]
    exchanged = find_exchanged_axes(pairs, scales, words)
    if wrong := sizes_differ(graded, expected, words):
        return Equivalence("exchanged" if exchanged else "sizes", exchanged or wrong, {}, relation=exchanged or wrong)
    closest: tuple[int, Matching, Difference] | None = None
    for way in ways:
        differing: tuple[int, Difference] | None = None
        all_elements: list[tuple[ComparedValue, ComparedElements]] = []
        same_sizes = [compared for compared in state if not sizes_differ(compared.graded, compared.expected, words)]
        for at, compared in enumerate(same_sizes):
            elements = compared.elements(way)
            all_elements.append((compared, elements))
            where = compared.difference(way, elements)
            if where is not None:
                differing = at, where
                break
        if differing is None:
            trials = sum(compared.has_value for compared in state)
            remark = _describe_undefined(all_elements, words)
            message = f"equal on all {trials} random tests" + (f"; {remark}" if remark else "")
            return Equivalence("same", message, way, trials=trials, sizes=extents[0], remark=remark)
        if closest is None or differing[0] > closest[0]:
            closest = (differing[0], way, differing[1])
    assert closest is not None
    at, way, where = closest
    named = mistake(setting, solution, state, words) if solution is not None and not exchanged else None
    text = value_differs(where, words)
    moderate = [compared.drawn.kind not in ("tiny", "huge") for compared in state]
    relation = exchanged or named
    if not relation and moderate[at]:
        relation = find_relation(
            [(*pair, sizes) for pair, sizes, is_moderate in zip(pairs, extents, moderate) if is_moderate], way, words
        )
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


def _describe_undefined(all_elements: Sequence[tuple[ComparedValue, ComparedElements]], words: Words) -> str:
    """Return a remark if elements are defined on one side only, or "". Inputs that cause overflow do not count."""
    counted = [elements for compared, elements in all_elements if compared.drawn.kind not in EXTREME]
    names = [words.yours] * any(elements.first_undefined for elements in counted)
    names += [words.due] * any(elements.second_undefined for elements in counted)
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} undefined at special inputs, such as zeros or ties"
