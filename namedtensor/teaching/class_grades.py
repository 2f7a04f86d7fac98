"""Grades of a class: every answer of every student, and the answer that determines the grade of each exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .grading import Grade, grade
from .sheets import Exercise, Sheet
from .submissions import Student, Submission, own_part

NO_ANSWER = ""
SECONDS = 10.0  # the time limit for an answer; above `grading.SECONDS`, so that a busy computer costs no points


@dataclass(frozen=True)
class Attempt:
    """A student's answer to an exercise, with its grade."""

    answer: str
    grade: Grade


@dataclass(frozen=True)
class StudentResult:
    """A student's result for an exercise: the different attempts, oldest first, and the attempt that determines the grade."""

    exercise: Exercise
    attempts: tuple[Attempt, ...]
    counted: Attempt

    @property
    def grade(self) -> Grade:
        return self.counted.grade


@dataclass(frozen=True)
class StudentResults:
    """A student, with one result for each exercise of the sheet."""

    student: Student
    results: tuple[StudentResult, ...]

    @property
    def points(self) -> float:
        return sum(result.grade.points for result in self.results)

    @property
    def max_points(self) -> float:
        return sum(result.grade.max_points for result in self.results)

    @property
    def grades(self) -> list[Grade]:
        return [result.grade for result in self.results]


class ClassGrader:
    """A grader of submissions. If several students give the same answer, it is graded only once."""

    def __init__(self, sheet: Sheet, counts: str | None = None, seed: int = 0):
        self.sheet, self.counts, self.seed = sheet, counts, seed
        self._grades: dict[tuple[str, str], Grade] = {}

    def results(self, submission: Submission) -> StudentResults:
        graded = (self._result(exercise, submission.answers) for exercise in self.sheet.values())
        return StudentResults(submission.student, tuple(graded))

    def _result(self, exercise: Exercise, answers: Mapping[str, tuple[str, ...]]) -> StudentResult:
        texts = (own_part(answer, exercise).strip() for answer in answers.get(exercise.name, ()))
        attempts = tuple(self._attempt(exercise, text) for text in texts if text)
        counted = (
            choose_attempt(attempts, self.counts or exercise.counts) if attempts else self._attempt(exercise, NO_ANSWER)
        )
        return StudentResult(exercise, tuple({attempt.answer: attempt for attempt in attempts}.values()), counted)

    def _attempt(self, exercise: Exercise, answer: str) -> Attempt:
        key = exercise.name, answer
        if key not in self._grades:
            self._grades[key] = grade(exercise, answer, self.seed, SECONDS)
        return Attempt(answer, self._grades[key])


def choose_attempt(attempts: tuple[Attempt, ...], counts: str) -> Attempt:
    """Return the attempt that determines the grade: the "last", "best" or "first" one, as `counts` states.

    Attempts that do not count, such as invalid formulas, are considered only if there are no others.
    """
    valid = [attempt for attempt in attempts if attempt.grade.counts_as_attempt] or [*attempts]
    if counts == "best":
        return max(valid, key=lambda attempt: attempt.grade.points)  # the first of several with equal points
    return valid[0] if counts == "first" else valid[-1]
