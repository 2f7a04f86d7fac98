"""Submitted files, with their answers and students.

    #: student Ada Lovelace
    #: exercise total
    ∑_{m} X
    #: exercise total
    ∑_{n} X

If an exercise occurs several times, each occurrence is an attempt. A folder of submissions may come from Moodle or
nbgrader, which write a folder or a prefix for each student. Otherwise, the line `#: student` or the name of a file
identifies the student.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..files.text import InputError, read_text
from .exercise_files import DIRECTIVE, ExerciseText

MAX_FILE_BYTES = 1_000_000
SUFFIXES = (".nt", ".txt")
MOODLE = re.compile(r"(?P<name>.+?)_(?P<participant>\d+)_assignsubmission_\w+?(?:_|$)")  # names in Moodle's download
COPY = re.compile(r"\s*\((\d+)\)$")  # the suffix that browsers add to a second file
UNNAMED = "answers"  # the file that the playground saves for a student without a name


@dataclass(frozen=True)
class Student:
    """A student. `id` is from the roster or, for students who are not listed, from the submitted files.

    `participant` is the number in the names of Moodle's folders. The other fields are from the roster.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    username: str = ""
    id_number: str = ""
    participant: str = ""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.id


@dataclass(frozen=True)
class Submission:
    """A student with all submitted answers by exercise, oldest first."""

    student: Student
    answers: Mapping[str, tuple[str, ...]]
    files: tuple[Path, ...] = ()


# ----------------------------------------------------------------------------------------------------------------- files
def answers(text: str) -> dict[str, list[str]]:
    """Return all answers in a submitted file, grouped by exercise. Each exercise header begins another attempt.

    Comments, and attempts without text, are left out.
    """
    result: dict[str, list[list[str]]] = {}
    lines: list[str] | None = None
    for line in text.splitlines():
        directive = DIRECTIVE.match(line.strip())
        if directive:
            if directive[1] == "exercise":
                lines = []
                result.setdefault((directive[2].split() or [""])[0], []).append(lines)
        elif lines is not None and line.strip() and not line.strip().startswith("#"):
            lines.append(line)
    return {name: ["\n".join(attempt) for attempt in attempts if attempt] for name, attempts in result.items()}


def own_part(answer: str, exercise: ExerciseText) -> str:
    """Return an answer without lines that repeat the statements given in the exercise."""
    texts = [" ".join(line.split()) for line in exercise.given.splitlines()]
    names: list[str] = []
    for line in answer.splitlines():
        plain = " ".join(line.split())
        if plain in texts:
            texts.remove(plain)
        else:
            names.append(line)
    return "\n".join(names)


def find_student(text: str) -> str:
    """Return the name in the line `#: student` of a file, or an empty string."""
    for line in text.splitlines():
        directive = DIRECTIVE.match(line.strip())
        if directive and directive[1] == "student":
            return directive[2].strip()
    return ""


def refuse_link(path: Path) -> None:
    """Raise InputError if a submitted file is a symbolic link, because it may lead to the solutions."""
    if path.is_symlink():
        raise InputError(f"{path} is a link, and links are not followed: submit the file itself")


def text_of(path: Path) -> str:
    """Return the text of a submitted file. Raise InputError if it is a link, is too large, or cannot be read."""
    refuse_link(path)
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # `read_text` reports the error
    if size > MAX_FILE_BYTES:
        raise InputError(f"{path} has {size} bytes, and at most {MAX_FILE_BYTES} are read")
    return read_text(path)


# --------------------------------------------------------------------------------------------------------------- folders
def files_in(folder: Path) -> list[Path]:
    """Return the files in a folder and its subfolders, oldest first.

    Files and folders whose names begin with `.` or `__` are left out. Symbolic links are included but
    not followed, because a student's link may lead to the solutions.
    """
    paths = [
        Path(above, name)
        for above, folders, files in os.walk(folder)
        for name in (*files, *(name for name in folders if Path(above, name).is_symlink()))
    ]
    shown = [
        path for path in paths if (path.is_symlink() or path.is_file()) and not _is_hidden(path.relative_to(folder))
    ]
    return sorted(shown, key=_age)


def _age(path: Path) -> tuple[Any, ...]:
    """Return a sort key that is larger for later files.

    If several files are from the same second, as in an unpacked archive, copies such as `a (1).nt` follow the original.
    """
    stem = path.stem
    copy = COPY.search(stem)
    return int(path.lstat().st_mtime), path.parent, COPY.sub("", stem), int(copy[1]) if copy else 0, path.as_posix()


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.parts)


def student_of(path: Path, folder: Path, text: str) -> Student:
    """Return the student who submitted a file.

    The folder or prefix of a learning platform names the student. Otherwise, the line `#: student` or the file name does.
    """
    first, *rest = path.relative_to(folder).parts
    if match := MOODLE.match(first):
        return Student(match["name"], participant=match["participant"])
    if rest:
        return Student(first)
    name = COPY.sub("", path.stem)
    return Student(find_student(text) or (path.stem if name in ("", UNNAMED) else name))


def submissions(texts: Mapping[Path, str], folder: Path, roster: list[Student]) -> list[Submission]:
    """Return the submissions of a class, in the order of the roster, followed by other students' submissions.

    A student without a submission has no answers.
    """
    exact = {name.casefold(): student for student in roster for name in _names(student) if name}
    known = {_key(name): student for name, student in exact.items()}
    students: dict[str, Student] = {student.id: student for student in roster}
    result: dict[str, dict[str, list[str]]] = {student.id: {} for student in roster}
    files: dict[str, list[Path]] = {}
    for path, text in texts.items():
        student = student_of(path, folder, text)
        listed = exact.get(student.id.casefold()) or known.get(_key(student.id))
        student = student if listed is None else replace(listed, participant=student.participant)
        students[student.id] = student
        files.setdefault(student.id, []).append(path)
        submitted = result.setdefault(student.id, {})
        for name, attempts in answers(text).items():
            submitted.setdefault(name, []).extend(attempts)
    return [
        Submission(
            students[name],
            {exercise: tuple(attempts) for exercise, attempts in submitted.items()},
            tuple(files.get(name, ())),
        )
        for name, submitted in result.items()
    ]


def _names(student: Student) -> Iterator[str]:
    """Yield the names that a student's files can have."""
    yield from (student.id, student.username, student.email, student.email.partition("@")[0], student.id_number)
    yield f"{student.first_name} {student.last_name}".strip()
    yield f"{student.last_name} {student.first_name}".strip()


def _key(name: str) -> str:
    """Return a name normalized for comparison: case is ignored, and _, - and . are treated as blanks."""
    return re.sub(r"[_.-]", " ", name).casefold()


# ---------------------------------------------------------------------------------------------------------------- roster
COLUMNS: Mapping[str, tuple[str, ...]] = {  # as Moodle, Gradescope, nbgrader and Canvas call them
    "id": ("student", "student_id", "id", "sis user id"),
    "first_name": ("first_name", "first name", "firstname", "given name"),
    "last_name": ("last_name", "last name", "lastname", "surname", "family name"),
    "email": ("email", "email address", "e-mail", "mail"),
    "username": ("username", "login", "netid", "sis login id"),
    "id_number": ("id number", "idnumber", "sid", "student id"),
}
NAME = ("name", "full name")


def roster_of(path: Path) -> list[Student]:
    """Return the students in a roster, a table whose first row has column names. Raise InputError if it is invalid."""
    lines = read_text(path).splitlines()
    separator = max(",;\t", key=lambda name: lines[0].count(name)) if lines else ","
    header, *rows = list(csv.reader(lines, delimiter=separator)) or [[]]
    plain = [name.strip().casefold() for name in header]
    columns = {field: at for field, names in COLUMNS.items() for at, name in enumerate(plain) if name in names}
    named = next((at for at, name in enumerate(plain) if name in NAME), None)
    if named is None and not columns:
        known = ", ".join(names[0] for names in COLUMNS.values())
        raise InputError(f"{path}: expected a first row with names of columns such as {known}")
    students = [_student(row, columns, named) for row in rows if any(name.strip() for name in row)]
    for student in students:
        if sum(other.id == student.id for other in students) > 1:
            raise InputError(f"{path}: {student.id} is in two rows")
    return students


def _student(row: list[str], columns: Mapping[str, int], named: int | None) -> Student:
    texts = {field: row[at].strip() for field, at in columns.items() if at < len(row)}
    if named is not None and named < len(row) and not (texts.get("first_name") or texts.get("last_name")):
        texts["first_name"], _, texts["last_name"] = row[named].strip().rpartition(" ")
    name = f"{texts.get('first_name', '')} {texts.get('last_name', '')}".strip()
    texts["id"] = (
        texts.get("id")
        or texts.get("username")
        or texts.get("email", "").partition("@")[0]
        or texts.get("id_number")
        or name
    )
    return Student(**texts)
