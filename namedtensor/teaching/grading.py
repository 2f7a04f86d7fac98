"""Validate a file of exercises, release it without reference solutions, grade submitted files.

Grades are written as JSON for Gradescope or nbgrader, or plain.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from grammar.errors import NotationError

from ..files.text import write_whole
from .exercise_files import DIRECTIVE, LONGEST_HINT, ExerciseText
from .marking import Mark, mark
from .references import Model, kept_of
from .sheets import Sheet

BY_VALUE = ("formula", "fix", "gradient", "einsum", "hole")  # kinds of exercises


# ----------------------------------------------------------------------------------------------------------------- check
def faults(exercise: ExerciseText) -> Iterator[str]:
    """The faults of an exercise: its model must be marked right, each slip wrong with its own sentence."""
    for hint in exercise.hints:
        if len(hint) > LONGEST_HINT:
            yield f"a hint has {len(hint)} characters, and at most {LONGEST_HINT} are read: {hint[:40]} …"
    answer = model_answer(exercise)
    if answer is None:
        return
    found = mark(exercise, answer)
    if not found:
        yield f"its own model is not marked right: {found.feedback}"
        return
    if exercise.kind in BY_VALUE and _vanishes(exercise):
        yield "its model is 0 on every draw: does it say what it is to say?"
    for slip in exercise.slips:
        said = mark(dataclasses.replace(exercise, without=()), slip.formula)
        if said.right:
            yield f"the slip {slip.formula} is right"
        elif said.feedback != slip.sentence:
            yield f"the slip {slip.formula} gets other feedback: {said.feedback}"


def _vanishes(exercise: ExerciseText) -> bool:
    values = [value.numbers for _, value in Model(exercise).draws()]
    return any(map(len, values)) and all(abs(float(each)) < 1e-12 for numbers in values for each in numbers)


def model_answer(exercise: ExerciseText) -> str | None:
    """The answer that the model is; None in a released file."""
    if exercise.model is None:
        return None
    model = Model(exercise)
    try:
        if exercise.kind == "types":
            shapes: list[Mapping[str, Any]] = [
                model.setting.check(part or model.model).shape or {} for part in exercise.parts or ("",)
            ]
            return "\n".join("ℝ^{" + " × ".join(shape) + "}" if shape else "ℝ" for shape in shapes)
        if exercise.kind == "order":
            return "\n".join(model.derivation())
    except NotationError as problem:
        return f"{exercise.model}\n{problem.message}"
    return exercise.model


# --------------------------------------------------------------------------------------------------------------- release
def released(text: str, sheet: Sheet, seed: int = 0) -> str:
    """Return the file for students: prose, given names, hints; stored values replace solutions and mistakes."""
    lines = text.splitlines()
    hidden: set[int] = set()
    ends: dict[int, list[ExerciseText]] = {}
    for exercise in sheet.values():
        hidden |= set(_lines_of_model(lines, exercise))
        if exercise.due is None:
            ends.setdefault(
                max((number for number, _ in _own_lines(lines, exercise.line)), default=exercise.line), []
            ).append(exercise)
    made: list[str] = []
    for number, line in enumerate(lines, 1):
        directive = DIRECTIVE.match(line.strip())
        if number not in hidden and (directive is None or directive[1] not in ("slip", "show", "draw")):
            made.append(line)
        for exercise in ends.get(number, ()):
            while made and not made[-1].strip():
                made.pop()
            made += [f"#: due {piece}" for piece in _pieces(kept_of(exercise, seed))] + [""]
    return "\n".join(made).rstrip() + "\n"


def _pieces(text: str, width: int = 100) -> list[str]:
    return [text[start : start + width] for start in range(0, len(text), width)]


def _lines_of_model(lines: list[str], exercise: ExerciseText) -> Iterator[int]:
    """The lines, from 1, on which the model stands: as many lines of the language as it has, the last of the exercise."""
    own = [
        number for number, line in _own_lines(lines, exercise.line) if line.strip() and not line.strip().startswith("#")
    ]
    count = len([line for line in (exercise.model or "").splitlines() if line.strip()])
    yield from own[len(own) - count :] if count else ()


def _own_lines(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    for number in range(first + 1, len(lines) + 1):
        directive = DIRECTIVE.match(lines[number - 1].strip())
        if directive and directive[1] == "exercise":
            return
        yield number, lines[number - 1]


# ------------------------------------------------------------------------------------------------------------------ mark
def answers(text: str) -> dict[str, str]:
    """Return the submitted answers by exercise: the formula lines below each header, without the given lines."""
    found: dict[str, list[str]] = {}
    name = None
    for line in text.splitlines():
        directive = DIRECTIVE.match(line.strip())
        if directive:
            if directive[1] == "exercise":
                name = (directive[2].split() or [""])[0]
                found.setdefault(name, [])
        elif name is not None and line.strip() and not line.strip().startswith("#"):
            found[name].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def own_part(answer: str, exercise: ExerciseText) -> str:
    """An answer without the lines that the exercise gives."""
    given = [" ".join(line.split()) for line in exercise.given.splitlines()]
    kept: list[str] = []
    for line in answer.splitlines():
        plain = " ".join(line.split())
        if plain in given:
            given.remove(plain)
        else:
            kept.append(line)
    return "\n".join(kept)


def marks(sheet: Sheet, text: str, seed: int = 0) -> list[Mark]:
    """A mark for each exercise of the sheet, of what a student's file holds."""
    handed = answers(text)
    return [mark(exercise, own_part(handed.get(name, ""), exercise), seed) for name, exercise in sheet.items()]


def plain(found: list[Mark]) -> Any:
    return {
        "points": sum(each.points for each in found),
        "of": sum(each.of for each in found),
        "marks": [each.json() for each in found],
    }


def gradescope(found: list[Mark]) -> Any:
    return {
        "tests": [
            {
                "name": each.exercise,
                "score": each.points,
                "max_score": each.of,
                "output": each.feedback,
                "visibility": "visible",
            }
            for each in found
        ]
    }


def nbgrader(found: list[Mark]) -> Any:
    return {each.exercise: {"score": each.points, "max_score": each.of, "comment": each.feedback} for each in found}


GRADERS: Mapping[str, Callable[[list[Mark]], Any]] = {"json": plain, "gradescope": gradescope, "nbgrader": nbgrader}


def write_json(value: Any, path: Path | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if path is not None:
        write_whole(path, text + "\n")
    return text
