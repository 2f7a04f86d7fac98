"""What an exercise is seen on: one set of small inputs with the expected value, and the value of an answer beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from grammar.errors import NotationError

from .comparison import is_close, laid_out, largest, matchings
from .einsum import as_formula, is_einsum
from .exercise_files import ExerciseText
from .grading import in_hole
from .references import reference_of
from .settings import SampledInputs
from .spelling import called, text_of
from .values import GradedValue

DRAWN_KINDS = ("formula", "fix", "gradient", "einsum", "fill-in")
MAX_SHOWN_ELEMENTS = 1000


@dataclass(frozen=True)
class GridDrawing:
    """Inputs by name and the value that is expected of them."""

    drawn: SampledInputs
    expected: GradedValue

    @property
    def inputs(self) -> Mapping[str, GradedValue]:
        return self.drawn.values


def drawing(exercise: ExerciseText, seed: int = 0) -> GridDrawing | None:
    """What an exercise is seen on; None for kinds whose answer has none."""
    if exercise.kind not in DRAWN_KINDS:
        return None
    draws = [GridDrawing(*each) for each in reference_of(exercise, seed).draws()]
    finite = [each for each in draws if all(map(math.isfinite, each.expected.numbers))]
    smallest = min(
        finite or draws, key=lambda each: sum(len(value.numbers) for value in each.inputs.values()), default=None
    )
    return None if smallest is None or len(smallest.expected.numbers) > MAX_SHOWN_ELEMENTS else smallest


def own_value(exercise: ExerciseText, answer: str, seen: GridDrawing) -> tuple[GradedValue, list[int] | None] | None:
    """The value of an answer on the inputs, and the elements that differ from the expected ones; None for the elements where
    the axes do. None where the answer has no value."""
    setting = reference_of(exercise, 0).setting
    try:
        formula = (
            as_formula(answer, setting.sets) if exercise.kind == "einsum" and is_einsum(answer) else text_of(answer)
        )
        whole = in_hole(exercise, formula) if exercise.kind == "fill-in" else formula
        own = setting.value(called(whole, tuple(setting.sets)), seen.drawn)
    except (NotationError, ValueError):
        return None
    if len(own.numbers) > MAX_SHOWN_ELEMENTS:
        return None
    way = next(matchings(own, seen.expected, setting.axes), None)
    if way is None or {way.get(axis, axis): size for axis, size in own.sizes.items()} != seen.expected.sizes:
        return own, None
    placed, due = laid_out(own, seen.expected, way)
    scale = largest((*seen.inputs.values(), due))
    return placed, [at for at, pair in enumerate(zip(placed.numbers, due.numbers)) if not is_close(*pair, scale)]
