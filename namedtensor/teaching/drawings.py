"""Drawings for exercises: small inputs, the expected value, and the value of an answer for comparison."""

from __future__ import annotations

import math
from functools import partial

from grammar.errors import NotationError

from ..programs.plain_values import PlainTensor
from .comparison import ComparedValue, RandomTest, find_matching, lay_out
from .einsum import is_einsum, translate_answer
from .exercise_files import BY_VALUE, ExerciseText
from .references import fill_hole, reference_of
from .spelling import call_last_function, text_of

MAX_SHOWN_ELEMENTS = 1000


def drawing(exercise: ExerciseText, seed: int = 0) -> RandomTest | None:
    """Return the inputs and the expected value to draw.

    Return None if the answers of an exercise have no value, or the value has too many elements.
    """
    if exercise.kind not in BY_VALUE:
        return None
    tests = reference_of(exercise, seed).draws
    finite = [test for test in tests if all(map(math.isfinite, test.expected.numbers))]
    smallest = min(finite or tests, key=_count_elements, default=None)
    return None if smallest is None or len(smallest.expected.numbers) > MAX_SHOWN_ELEMENTS else smallest


def _count_elements(test: RandomTest) -> int:
    return sum(len(value.numbers) for value in test.drawn.values.values())


def own_value(exercise: ExerciseText, answer: str, seen: RandomTest) -> tuple[PlainTensor, list[int] | None] | None:
    """Return the value of an answer on the drawing's inputs, and the positions of the elements that differ.

    Return None if the answer has no value, or too many elements. The positions are None if the axes or sizes differ.
    """
    setting = reference_of(exercise, 0).setting
    drawn, expected, _ = seen
    try:
        formula = (
            translate_answer(answer, setting.sets)
            if exercise.kind == "einsum" and is_einsum(answer)
            else text_of(answer)
        )
        formula = fill_hole(exercise, formula) if exercise.kind == "fill-in" else formula
        formula = call_last_function(formula, tuple(setting.sets))
        value = setting.value(formula, drawn)
    except (NotationError, ValueError):
        return None
    if len(value.numbers) > MAX_SHOWN_ELEMENTS:
        return None
    way = find_matching(value, expected, setting.axes)
    if way is None:
        return value, None
    elements = ComparedValue(seen, value, partial(setting.magnitude, formula, drawn)).elements(way)
    return lay_out(value, expected, way), sorted([*elements.wrong, *elements.one_sided])
