"""`namedtensor exercises validate | release | grade`: files of exercises proved, released without their solutions, graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files.text import InputError, read_text
from ..teaching.class_grades import ClassGrader
from ..teaching.course import course_file, is_course_name
from ..teaching.exercise_files import ExerciseError
from ..teaching.grade_formats import GRADERS, json_text
from ..teaching.sheet_files import faults, released, shortcuts
from ..teaching.sheets import Sheet, exercises
from ..teaching.submissions import Student, Submission, answers, text_of
from .console import Console
from .grade_class import graded_class, written


def do_act(options: Any, console: Console) -> int | None:
    """Run the command, and return 1 if the file of exercises is wrong, else 0, also for wrong answers."""
    try:
        return ACTS[options.act](options, console)
    except ExerciseError as problem:
        raise InputError(str(problem)) from None


def _path(word: str) -> Path:
    """The file that a word names: one of the course, such as `lesson 1`, or any other."""
    return course_file(word) if is_course_name(word) else Path(word)


def _validate(options: Any, console: Console) -> int:
    sheet = exercises(_path(options.file))
    wrong = [(exercise, fault) for exercise in sheet.values() for fault in faults(exercise)]
    for exercise, fault in wrong:
        console.print(f"{options.file}:{exercise.line}: {exercise.name}: {fault}")
    warnings = [(exercise, warning) for exercise in sheet.values() for warning in shortcuts(exercise)]
    for exercise, warning in warnings:
        console.print(f"{options.file}:{exercise.line}: {exercise.name}: warning: {warning}")
    more = f", {_count(len(warnings), 'warning')}" if warnings else ""
    console.print(f"{_count(len(sheet), 'exercise')}: {_count(len(wrong), 'fault')}{more}")
    return int(bool(wrong))


def _release(options: Any, console: Console) -> None:
    path = _path(options.file)
    sheet = exercises(path)
    out = Path(options.out or "student")
    target = out if out.suffix == ".nt" else out / path.name
    if target.resolve() == path.resolve():
        raise InputError(f"{target} is the file with the reference solutions; write -o student/")
    text = released(read_text(path), sheet, options.seed)
    written(target, text)
    console.note(f"{target}: {_count(len(sheet), 'exercise')}, without solutions")


def _grade(options: Any, console: Console) -> None:
    """Grade the file of one student, or a folder."""
    if options.key is None:
        raise InputError("grade needs the exercises: --key week3.nt")
    sheet = exercises(_path(options.key))
    submitted = Path(options.file)
    if submitted.is_dir():
        return graded_class(sheet, submitted, options, console)
    if options.to in ("csv", "moodle") or options.report or options.roster:
        raise InputError("--to csv, --to moodle, --report and --roster are for a folder of submissions")
    return _grade_file(sheet, submitted, options, console)


def _grade_file(sheet: Sheet, path: Path, options: Any, console: Console) -> None:
    submitted = {name: tuple(attempts) for name, attempts in answers(text_of(path)).items()}
    grades = ClassGrader(sheet, options.counts, options.seed).results(Submission(Student(path.stem), submitted)).grades
    if options.to:
        text = json_text(GRADERS[options.to](grades))
        if options.out:
            written(Path(options.out), text + "\n")
        else:
            console.print(text)
        return
    for grade in grades:
        console.print(
            f"{grade.exercise}: {grade.points:g} of {grade.max_points:g}\n  " + grade.feedback.replace("\n", "\n  ")
        )
    console.print(
        f"{sum(grade_.points for grade_ in grades):g} of {sum(grade_.max_points for grade_ in grades):g} points"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


ACTS = {"validate": _validate, "release": _release, "grade": _grade}
