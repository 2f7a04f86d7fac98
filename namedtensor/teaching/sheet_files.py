"""Validation of exercise files, and their release without reference solutions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from grammar import nodes
from grammar.errors import NotationError
from grammar.parser import parse

from ..operators.usage import tensors
from ..scope.names import walk
from .exercise_files import BY_VALUE, DIRECTIVE, LONGEST_HINT, MIN_LINES, ExerciseError, ExerciseText, Line, blocks
from .forbidden import is_operator
from .grading import grade
from .references import Solution, kept_of
from .settings import Setting
from .sheets import Sheet
from .spelling import is_whole_formula


# ----------------------------------------------------------------------------------------------------------------- check
def faults(exercise: ExerciseText) -> Iterator[str]:
    """Yield descriptions of the faults of an exercise.

    A hint is faulty if it is too long. The solution is faulty if it is graded as incorrect, or is 0 on every random
    test. An expected mistake is faulty if it is graded as correct, or gets feedback other than its sentence.
    """
    for hint in exercise.hints:
        if len(hint) > LONGEST_HINT:
            yield f"a hint has {len(hint)} characters, and at most {LONGEST_HINT} are read: {hint[:40]} …"
    answer = reference_answer(exercise)
    if answer is None:
        return
    if exercise.kind == "fill-in" and is_whole_formula(exercise.hole or "?", answer):
        yield f"the reference solution is the whole formula; write only the part for the ? of {exercise.hole}"
        return
    result = grade(exercise, answer)
    if not result:
        yield f"the reference solution is graded as incorrect: {result.feedback}"
        return
    if exercise.kind in BY_VALUE and _vanishes(exercise):
        yield "the reference solution is 0 on every random test"
    for mistake in exercise.mistakes:
        graded = grade(dataclasses.replace(exercise, forbidden=()), mistake.formula)
        if graded.correct:
            yield f"the mistake {mistake.formula} is graded as correct"
        elif graded.feedback != mistake.sentence:
            yield f"the mistake {mistake.formula} gets other feedback: {graded.feedback}"


def shortcuts(exercise: ExerciseText) -> Iterator[str]:
    """Yield descriptions of ways to answer an exercise correctly without the intended work.

    Also yield a description of each line `#: forbid` that has no effect.
    """
    if exercise.solution is None:
        return
    solution = parse(exercise.solution, "text").statements[-1]
    has_derivative = any(isinstance(node, (nodes.Derivative, nodes.Differential)) for node in walk(solution))
    if exercise.kind == "gradient" and "∂" not in exercise.forbidden and not has_derivative:
        yield "the question itself, written with ∂, is a correct answer; add #: forbid ∂"
    names = {node.text for node in walk(Setting(exercise.given).tree) if isinstance(node, nodes.Name)}
    for name in exercise.forbidden:
        if not is_operator(name) and name not in names:
            yield f"#: forbid {name} has no effect: it is no operator and no name of the exercise"
    if exercise.kind == "derivation" and exercise.lines == MIN_LINES < len(Solution(exercise).derivation()):
        yield "the first and the last line alone are a correct answer; add #: lines 3, or more"


def _vanishes(exercise: ExerciseText) -> bool:
    values = [value.numbers for _, value, _ in Solution(exercise).draws]
    return any(map(len, values)) and all(abs(float(number)) < 1e-12 for numbers in values for number in numbers)


def reference_answer(exercise: ExerciseText) -> str | None:
    """Return the solution in the form of an answer, or None if the file was released without solutions."""
    if exercise.solution is None:
        return None
    solution = Solution(exercise)
    try:
        if exercise.kind == "types":
            return "\n".join(map(tensors, solution.shapes().values()))
        if exercise.kind == "derivation":
            return "\n".join(solution.derivation())
    except NotationError as problem:
        return f"{exercise.solution}\n{problem.message}"
    return exercise.solution


# --------------------------------------------------------------------------------------------------------------- release
def release_sheet(text: str, sheet: Sheet, seed: int = 0) -> str:
    """Return an exercise file for students, in which obfuscated data replaces the solutions and expected mistakes."""
    hidden: set[int] = set()
    ends: dict[int, ExerciseText] = {}
    for exercise, block in zip(sheet.values(), blocks(text)[1:]):
        hidden.update(_lines_of_solution(block, exercise))
        if exercise.expected is None:
            ends[block[-1][0]] = exercise
    names: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        directive = DIRECTIVE.match(line.strip())
        if number not in hidden and (directive is None or directive[1] not in ("mistake", "show", "draw")):
            names.append(line)
        if number in ends:
            while names and not names[-1].strip():
                names.pop()
            names += [f"#: expected {piece}" for piece in _pieces(kept_of(ends[number], seed))] + [""]
    return "\n".join(names).rstrip() + "\n"


def select_exercises(text: str, sheet: Sheet, names: Sequence[str]) -> str:
    """Return the text of an exercise file with only the named exercises, in the order of the file.

    Raise ExerciseError if there is no exercise with one of the names.
    """
    try:
        _ = [sheet[name] for name in names]
    except KeyError as problem:
        raise ExerciseError(problem.args[0]) from None
    head, *bodies = blocks(text)
    chosen = [head, *(body for exercise, body in zip(sheet, bodies) if exercise in names)]
    return "\n".join(line for block in chosen for _, line in block) + "\n"


def _pieces(text: str, width: int = 100) -> list[str]:
    return [text[start : start + width] for start in range(0, len(text), width)]


def _lines_of_solution(block: list[Line], exercise: ExerciseText) -> list[int]:
    """Return the line numbers of an exercise's solution, including comments and empty lines inside the solution."""
    indices = [number for number, line in block if line.strip() and not line.strip().startswith("#")]
    count = len([line for line in (exercise.solution or "").splitlines() if line.strip()])
    lines = indices[len(indices) - count :]
    return [
        number
        for number, line in block
        if lines and lines[0] <= number <= lines[-1] and not DIRECTIVE.match(line.strip())
    ]
