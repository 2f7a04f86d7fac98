"""The course exercises that come with the package. A part has a name such as `lesson 1`, `lesson axes` or `puzzles`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from ..core.suggestions import did_you_mean, near
from .exercise_files import ExerciseError

FOLDER = "lessons"
NAME = re.compile(r"lesson(?:\s+(?P<which>.*))?|puzzles", re.IGNORECASE)
STEM = re.compile(r"(?P<number>\d+)_(?P<topic>\w+)")
PUZZLES = "puzzles"


def course() -> Mapping[str, Path]:
    """Return the files of the course by title, such as `lesson 1 axes`: the lessons in order, then the puzzles."""
    folder = Path(str(files(__name__.rpartition(".")[0]) / FOLDER))
    paths = {path.stem: path for path in folder.glob("*.nt")}
    lessons = sorted((stem for stem in paths if STEM.fullmatch(stem)), key=lambda stem: int(stem.partition("_")[0]))
    return {title_of(stem): paths[stem] for stem in [*lessons, PUZZLES]}


def title_of(stem: str) -> str:
    """Return the title of a course file, such as `lesson 1 axes` for `1_axes`."""
    return f"lesson {stem.replace('_', ' ')}" if STEM.fullmatch(stem) else stem


def is_course_name(text: str) -> bool:
    """Return whether a string names a lesson or the puzzles, rather than a file."""
    return NAME.fullmatch(text.strip()) is not None


def course_file(name: str) -> Path:
    """Return the file of `lesson 1`, `lesson axes`, `lesson 1 axes` or `puzzles`.

    Raise ExerciseError if the course has no such file.
    """
    known = course()
    words = " ".join(name.lower().split())
    for title, path in known.items():
        _, *rest = title.split()
        if words in (title, *(f"lesson {word}" for word in rest)):
            return path
    topics = {title.split()[-1]: title for title in known if title != PUZZLES}
    name_or_number = words.removeprefix("lesson").strip()
    meant = near(name_or_number, topics) if name_or_number else None
    listed = ", ".join(f"{title.split()[1]} {title.split()[-1]}" for title in topics.values())
    hint = f"; {did_you_mean(meant)}" if meant else f"; the lessons are {listed}"
    raise ExerciseError(f"unknown lesson {name_or_number or '(no number)'}{hint}")
