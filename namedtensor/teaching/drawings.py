"""Drawings for exercises: small inputs with the expected value, and the value of an answer to compare with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from grammar.errors import NotationError

from ..programs.plain_values import PlainTensor
from .comparison import ComparedValue, SampledInputs, laid_out, matchings
from .einsum import is_einsum, translate_answer
from .exercise_files import BY_VALUE, ExerciseText
from .references import fill_hole, reference_of
from .spelling import call_last_function, text_of

MAX_SHOWN_ELEMENTS = 1000


@dataclass(frozen=True)
class GridDrawing:
    """The inputs of an exercise, by name, and their expected value, for a drawing."""

    drawn: SampledInputs
    expected: PlainTensor

    @property
    def inputs(self) -> Mapping[str, PlainTensor]:
        return self.drawn.values


def drawing(exercise: ExerciseText, seed: int = 0) -> GridDrawing | None:
    """Return the drawing of an exercise, or None if its answers have no value to draw."""
    if exercise.kind not in BY_VALUE:
        return None
    draws = [GridDrawing(*draw) for draw in reference_of(exercise, seed).draws]
    finite = [draw for draw in draws if all(map(math.isfinite, draw.expected.numbers))]
    smallest = min(
        finite or draws, key=lambda draw: sum(len(value.numbers) for value in draw.inputs.values()), default=None
    )
    return None if smallest is None or len(smallest.expected.numbers) > MAX_SHOWN_ELEMENTS else smallest


def own_value(exercise: ExerciseText, answer: str, seen: GridDrawing) -> tuple[PlainTensor, list[int] | None] | None:
    """Return the value of an answer on the drawing's inputs, and the positions of the elements that differ.

    Return None if the answer has no value. The positions are None if the axes differ.
    """
    setting = reference_of(exercise, 0).setting
    try:
        formula = (
            translate_answer(answer, setting.sets)
            if exercise.kind == "einsum" and is_einsum(answer)
            else text_of(answer)
        )
        whole = fill_hole(exercise, formula) if exercise.kind == "fill-in" else formula
        value = setting.value(call_last_function(whole, tuple(setting.sets)), seen.drawn)
    except (NotationError, ValueError):
        return None
    if len(value.numbers) > MAX_SHOWN_ELEMENTS:
        return None
    way = next(matchings(value, seen.expected, setting.axes), None)
    if way is None or {way.get(axis, axis): size for axis, size in value.sizes.items()} != seen.expected.sizes:
        return value, None
    placed, expected = laid_out(value, seen.expected, way)
    magnitude = partial(setting.magnitude, call_last_function(whole, tuple(setting.sets)), seen.drawn)
    elements = ComparedValue(seen.drawn, value, expected, magnitude).elements(way)
    return placed, sorted([*elements.wrong, *elements.one_sided])
