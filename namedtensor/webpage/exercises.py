"""Exercises for the page, graded answers, and the comparison of two formulas."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Declaration, Program
from grammar.parser import parse
from grammar.printer import to_text

from ..core.axes import show
from ..programs.plain_values import PlainTensor
from ..teaching.drawings import drawing, own_value
from ..teaching.equivalence import equivalent as same_of
from ..teaching.grading import PROCESS
from ..teaching.settings import Setting
from ..teaching.sheet_files import release_sheet, select_exercises
from ..teaching.sheets import Exercise, Sheet, sheet_of
from .replies import Reply, error_data, shape_data
from .requests import Request
from .sizes import choices

LONGEST = 60_000  # characters of a file


def exercises(request: Request) -> Reply:
    """Return the reply to a request `exercises`, and start the process that grades answers, if possible."""
    sheet = sheet_of(request.word("file", None, LONGEST))
    with suppress(OSError):  # A page cannot start processes.
        PROCESS.begin()
    return {"exercises": [exercise_data(exercise) for exercise in sheet.values()]}


def release(request: Request) -> Reply:
    """Return the reply to a request `release`: the file without its solutions, for use in a link.

    If the file is too long, only the named exercise is released.
    """
    text = request.word("file", None, LONGEST)
    sheet = sheet_of(text)
    exercise = find_exercise(request, sheet)
    whole = release_sheet(text, sheet)
    if len(whole) <= LONGEST:
        return {"file": whole}
    only = select_exercises(text, sheet, [exercise.name])
    return {"file": release_sheet(only, sheet_of(only))}


def exercise_data(exercise: Exercise) -> Reply:
    """Return the data of an exercise without its solution."""
    return {
        "name": exercise.name,
        "kind": exercise.kind,
        "points": exercise.points,
        "prose": exercise.prose,
        "given": exercise.given,
        "hints": list(exercise.hints),
        "forbidden": list(exercise.forbidden),
        "parts": list(exercise.parts),
        "hole": exercise.hole,
        "inputs": inputs_of(exercise.given),
        "has_solution": exercise.solution is not None,
    }


def inputs_of(given: str) -> list[Reply]:
    """Return the data of an exercise's inputs, which are declared but not defined, with small sizes."""
    try:
        sets = Setting(given).sets
    except NotationError:
        return []
    sizes = next(choices(dict.fromkeys(axis.name for set_ in sets.values() for axis, _ in set_.axes)))
    shapes = {name: {axis.name: sizes[axis.name] for axis, _ in set_.axes} for name, set_ in sets.items()}
    return [{"name": name, "type": show(shape), "axes": shape_data(shape)} for name, shape in shapes.items()]


def find_exercise(request: Request, sheet: Sheet) -> Exercise:
    """Return the exercise that a request names. Raise NotationError if it does not exist."""
    name = request.word("name", None)
    if name not in sheet:
        raise NotationError(201, f"there is no exercise {name}", hint=f"there are {', '.join(sheet)}")
    return sheet[name]


def seen(request: Request) -> Reply:
    """Return the reply to a request `drawing`."""
    result = drawing(find_exercise(request, sheet_of(request.word("file", None, LONGEST))))
    if result is None:
        return {"inputs": [], "expected": None}
    inputs = [{"name": name, **value_data(value)} for name, value in result.drawn.values.items()]
    return {"inputs": inputs, "expected": value_data(result.expected)}


def value_data(value: PlainTensor) -> Reply:
    axes = [[axis, value.sizes[axis]] for axis in value.axes]
    return {"axes": axes, "data": list(map(float, value.numbers))}


def own_data(exercise: Exercise, answer: str) -> Reply | None:
    """Return an answer's value on the drawing's inputs and the positions that differ.

    Return None if the answer has no value, or the exercise has no drawing.
    """
    result = drawing(exercise)
    value = result and own_value(exercise, answer, result)
    return None if value is None else {**value_data(value[0]), "differs": value[1]}


def grade(request: Request) -> Reply:
    """Return the reply to a request `grade`."""
    exercise = find_exercise(request, sheet_of(request.word("file", None, LONGEST)))
    answer = request.word("answer", None)
    result = exercise.grade(answer)
    was_evaluated = result.correct or (result.counts_as_attempt and result.mistake is not None)  # false if time ran out
    return {
        "own": own_data(exercise, answer) if was_evaluated else None,
        "correct": result.correct, "points": result.points, "max_points": result.max_points,
        "counts_as_attempt": result.counts_as_attempt, "feedback": result.feedback,
        "hints": list(result.hints), "solution": result.solution, "error": None if result.error is None else error_data(result.error),
    }  # fmt: skip


def same(request: Request) -> Reply:
    """Return the reply to a request `same`.

    Declarations in either text apply to both texts. The first text takes precedence.
    """
    first, second = request.word("first", None), request.word("second", None)
    lines, first = split_declarations(first)
    others, second = split_declarations(second)
    types = request.inputs()
    named = {to_text(name) for line in lines for name in line.names}
    lines += [declaration for declaration in others if named.isdisjoint(map(to_text, declaration.names))]
    named |= {to_text(name) for line in lines for name in line.names}
    texts = [to_text(line) for line in lines]
    texts += [f"{name} = {type_}" for name, type_ in types.items() if not isinstance(type_, str)]
    sets: dict[str, Any] = {
        name: type_ for name, type_ in types.items() if isinstance(type_, str) and name not in named
    }
    equivalence = same_of(first, second, given="\n".join(texts), **sets)
    return {
        "same": bool(equivalence), "difference": equivalence.difference, "message": str(equivalence),
        "summary": drop_numbers(str(equivalence)), "proved": equivalence.proved,
        "index": None if equivalence.index is None else dict(equivalence.index),
        "actual": equivalence.actual, "expected": equivalence.expected, "axes": dict(equivalence.axes),
    }  # fmt: skip


def drop_numbers(message: str) -> str:
    """Return a description of a difference without the two values in it, since the page shows other values."""
    parts = [part for part in message.split("; ") if ", the second is " not in part]
    return "; ".join(parts) or "the values differ"


def split_declarations(text: str) -> tuple[list[Declaration], str]:
    """Return the declarations that apply to a whole text, and the text without them."""
    tree = parse(text)
    lines = [
        statement for statement in tree.statements if isinstance(statement, Declaration) and statement.range is None
    ]
    return lines, to_text(Program(tuple(statement for statement in tree.statements if statement not in lines)))
