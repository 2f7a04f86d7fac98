"""`namedtensor exercises validate | release | grade`: files of exercises proved, released without their solutions, graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files.text import InputError, reason, write_whole
from ..teaching.exercise_files import ExerciseError
from ..teaching.sheet_files import GRADERS, faults, grades, released, write_json
from ..teaching.sheets import Sheet, exercises
from .console import Console


def exercises_command(options: Any, console: Console) -> int:
    """Do what is asked; the exit status: 1 where a file of exercises is wrong, 0 also for wrong answers."""
    try:
        return ACTS[options.act](options, console)
    except ExerciseError as problem:
        raise InputError(str(problem)) from None


def _validate(options: Any, console: Console) -> int:
    sheet = exercises(Path(options.file))
    wrong = [(exercise, fault) for exercise in sheet.values() for fault in faults(exercise)]
    for exercise, fault in wrong:
        console.print(f"{options.file}:{exercise.line}: {exercise.name}: {fault}")
    console.print(f"{_count(len(sheet), 'exercise')}: {_count(len(wrong), 'fault')}")
    return int(bool(wrong))


def _release(options: Any, console: Console) -> int:
    path = Path(options.file)
    sheet = exercises(path)
    out = Path(options.out or "student")
    target = out if out.suffix == ".nt" else out / path.name
    if target.resolve() == path.resolve():
        raise InputError(f"{target} is the file with the reference solutions; write -o student/")
    text = released(_text(path), sheet, options.seed)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)
    except OSError as problem:
        raise InputError(f"{target}: {reason(problem)}") from None
    console.note(f"{target}: {_count(len(sheet), 'exercise')}, without solutions")
    return 0


def _grade(options: Any, console: Console) -> int:
    if options.key is None:
        raise InputError("grade needs the exercises: --key week3.nt")
    sheet: Sheet = exercises(Path(options.key))
    found = grades(sheet, _text(Path(options.file)), options.seed)
    if options.to:
        text = write_json(GRADERS[options.to](found), Path(options.out) if options.out else None)
        if not options.out:
            console.print(text)
        return 0
    for each in found:
        console.print(
            f"{each.exercise}: {each.points:g} of {each.max_points:g}\n  " + each.feedback.replace("\n", "\n  ")
        )
    console.print(f"{sum(each.points for each in found):g} of {sum(each.max_points for each in found):g} points")
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: {getattr(problem, 'strerror', None) or 'not text in UTF-8'}") from None


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


ACTS = {"validate": _validate, "release": _release, "grade": _grade}
