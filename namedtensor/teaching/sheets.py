"""`nt.exercises`, which loads the exercises of a file. The exercises grade answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grammar.plain_text import encodable

from ..core.kinds import wrong
from ..core.suggestions import did_you_mean, near
from .course import course_file, is_course_name
from .exercise_files import ExerciseError, ExerciseText, read
from .grading import Grade, grade


@dataclasses.dataclass(frozen=True, repr=False)
class Exercise(ExerciseText):
    """An exercise that grades answers, with its task and its given names."""

    def grade(self, answer: Any, seed: int = 0) -> Grade:
        """Grade an answer. The method never raises an exception, and stops after two seconds.

        >>> import namedtensor as nt
        >>> sheet = nt.exercises("#: exercise total\\nX ∈ ℝ^{n × m}\\nanswer = ∑_{n} X")
        >>> sheet["total"].grade("∑_{m} X").correct
        False
        """
        return grade(self, answer, seed)


class Sheet(Mapping[str, Exercise]):
    """The exercises of a file by name, in the order of the file."""

    def __init__(self, exercises: list[Exercise], name: str = ""):
        self._exercises = {exercise.name: exercise for exercise in exercises}
        self.name = name

    def __getitem__(self, name: str) -> Exercise:
        if name not in self._exercises:
            meant = near(name, self._exercises)
            hint = did_you_mean(meant) if meant else f"they are {', '.join(self._exercises)}"
            raise KeyError(f"there is no exercise {name}; {hint}")
        return self._exercises[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._exercises)

    def __len__(self) -> int:
        return len(self._exercises)

    @encodable
    def __repr__(self) -> str:
        return f"<{len(self)} {'exercise' if len(self) == 1 else 'exercises'}: {', '.join(self)}>"


def _check_source(source: Any) -> str | Path:
    if isinstance(source, (str, Path)):
        return source
    raise wrong(source, "exercises", "a file, or the text of one", 'write nt.exercises("week3.nt")')


def exercises(source: str | Path) -> Sheet:
    r"""Load the exercises of a file or a lesson.

    Parameters
    ----------
    source : str or path
        The path of a file, its text, or a part of the course, such as "lesson 1", "lesson axes" or "puzzles".

    Returns
    -------
    Sheet
        The exercises by name; `sheet["name"].grade(answer)` grades an answer.

    Raises
    ------
    ExerciseError
        If a line is invalid, the file cannot be read, or there is no such lesson.

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.exercises("#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X")
    <1 exercise: one>
    >>> nt.exercises("lesson 1")["column-sums"].grade("∑_{height} A").correct
    True
    """
    text = str(_check_source(source))
    if isinstance(source, str) and is_course_name(text):
        source = course_file(text)
    if isinstance(source, Path) or ("\n" not in text and not text.lstrip().startswith("#:")):
        try:
            return sheet_of(Path(source).read_text(encoding="utf-8-sig"), str(source))
        except (OSError, ValueError) as problem:
            raise ExerciseError(f"{source}: {getattr(problem, 'strerror', None) or problem}") from None
    return sheet_of(text)


def sheet_of(text: str, name: str = "") -> Sheet:
    """Parse the text of an exercise file."""
    return Sheet([Exercise(**vars(exercise)) for exercise in read(text, name)], name)
