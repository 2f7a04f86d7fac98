"""Commands `namedtensor exercises validate`, `release` and `grade`, which check, release and grade exercise files.

When a class is graded, a file that cannot be read is reported, and the other files are graded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files.text import InputError, read_text, reason, save_text
from ..teaching.class_grades import ClassGrader, StudentResults
from ..teaching.class_report import html_report, text_report
from ..teaching.exercise_files import ExerciseError
from ..teaching.grade_formats import GRADERS, class_json, gradescope_files, json_text, table
from ..teaching.sheet_files import faults, release_sheet, select_exercises, shortcuts
from ..teaching.sheets import Sheet, exercises, sheet_of
from ..teaching.submissions import (
    SUFFIXES,
    Student,
    Submission,
    answers,
    files_in,
    refuse_link,
    roster_of,
    submissions,
    text_of,
)
from .arguments import find_exercises
from .console import Console


def do_act(options: Any, console: Console) -> int | None:
    """Run the action that the options name. Return 1 if it finds a fault in an exercise file.

    Wrong answers do not change the exit status. Raise InputError if an exercise file cannot be read.
    """
    try:
        return ACTS[options.act](options, console)
    except ExerciseError as problem:
        raise InputError(str(problem)) from None


def validate(options: Any, console: Console) -> int:
    """Print the faults and warnings of an exercise file, and return 1 if it has a fault."""
    sheet = exercises(find_exercises(options.file))
    wrong = [(exercise, fault) for exercise in sheet.values() for fault in faults(exercise)]
    warnings = [(exercise, f"warning: {text}") for exercise in sheet.values() for text in shortcuts(exercise)]
    for exercise, text in wrong + warnings:
        console.print(f"{options.file}:{exercise.line}: {exercise.name}: {text}")
    more = f", {count(len(warnings), 'warning')}" if warnings else ""
    console.print(f"{count(len(sheet), 'exercise')}: {count(len(wrong), 'fault')}{more}")
    return int(bool(wrong))


def release(options: Any, console: Console) -> None:
    """Write a copy of an exercise file without its solutions."""
    path = find_exercises(options.file)
    text, sheet = read_chosen(path, options)
    out = Path(options.out or "student")
    target = out if out.suffix == ".nt" else out / path.name
    if target.resolve() == path.resolve():
        raise InputError(f"{target} is the file with the reference solutions; write -o student/")
    write_file(target, release_sheet(text, sheet, options.seed))
    console.note(f"{target}: {count(len(sheet), 'exercise')}, without solutions")


def read_chosen(path: Path, options: Any) -> tuple[str, Sheet]:
    """Return the text of a file and its exercises. With `--only`, both contain only the exercises that it names."""
    text = read_text(path)
    if options.only:
        text = select_exercises(text, exercises(path), [name.strip() for name in options.only.split(",")])
    return text, sheet_of(text, str(path))


def grade(options: Any, console: Console) -> None:
    """Grade the file of one student, or a folder of submissions."""
    if options.key is None:
        raise InputError("grade needs the exercises: --key week3.nt")
    _, sheet = read_chosen(find_exercises(options.key), options)
    path = Path(options.file)
    if path.is_dir():
        return grade_class(sheet, path, options, console)
    if options.to in ("csv", "moodle") or options.report or options.roster:
        raise InputError("--to csv, --to moodle, --report and --roster are for a folder of submissions")
    submission = Submission(Student(path.stem), {name: tuple(tries) for name, tries in answers(text_of(path)).items()})
    grades = ClassGrader(sheet, options.counts, options.seed).results(submission).grades
    if options.to:
        return write_or_print(json_text(GRADERS[options.to](grades)), options, console)
    for item in grades:
        feedback = item.feedback.replace("\n", "\n  ")
        console.print(f"{item.exercise}: {item.points:g} of {item.max_points:g}\n  {feedback}")
    points, most = sum(item.points for item in grades), sum(item.max_points for item in grades)
    console.print(f"{points:g} of {most:g} points")


def grade_class(sheet: Sheet, folder: Path, options: Any, console: Console) -> None:
    """Grade the submissions in a folder, and write the grades and, with --report, a report.

    Print notes about unknown students and exercises, and about students with several files.
    """
    if options.to == "gradescope" and not options.out:
        raise InputError("--to gradescope writes a results.json for each student: add -o FOLDER")
    roster = [] if options.roster is None else roster_of(Path(options.roster))
    texts, skipped = read_submissions(folder, console)
    submitted = submissions(texts, folder, roster)
    names = {student.id for student in roster}
    for submission in submitted:
        if roster and submission.student.id not in names:
            console.note(f"not on the roster: {submission.student.id}")
        if len(submission.files) > 1:
            listed = ", ".join(str(path) for path in submission.files)
            console.note(
                f"{submission.student.id}: attempts from {len(submission.files)} files, oldest first: {listed}"
            )
        if unknown := [name for name in submission.answers if name not in sheet]:
            console.note(f"{submission.student.id}: not an exercise of the key: {', '.join(unknown)}")
    grader = ClassGrader(sheet, options.counts, options.seed)
    results: list[StudentResults] = []
    for number, submission in enumerate(submitted, 1):
        result = grader.results(submission)
        results.append(result)
        console.note(f"{number}/{len(submitted)} {points_line(result)}")
    name = Path(options.key).stem
    if options.report:
        report = text_report if Path(options.report).suffix == ".txt" else html_report
        write_file(Path(options.report), report(results, f"{name}: results of the class", skipped))
    if options.to == "gradescope":
        for path, text in gradescope_files(results).items():
            write_file(Path(options.out) / path, text + "\n")
        return
    if options.to == "json":
        text = class_json(results, skipped)
    elif options.to:
        text = table(results, options.to, name).rstrip("\n")
    else:
        text = "\n".join(map(result_line, results))
    write_or_print(text, options, console)


def read_submissions(folder: Path, console: Console) -> tuple[dict[Path, str], list[str]]:
    """Return the texts of the readable files in a folder, and the reason why each other file is skipped.

    The reasons are also printed. Raise InputError if no file can be read.
    """
    result: dict[Path, str] = {}
    skipped: list[str] = []
    for path in files_in(folder):
        try:
            refuse_link(path)
            if path.suffix.lower() not in SUFFIXES:
                raise InputError(f"{path} is not a {' or '.join(SUFFIXES)} file")
            result[path] = text_of(path)
            if not answers(result[path]):
                console.note(f"{path} has no line #: exercise NAME, so it has no answers")
        except InputError as problem:
            skipped.append(str(problem))
            console.note(f"skipped: {problem}")
    if not result:
        raise InputError(f"{folder} has no submission that can be read: files that end in {' or '.join(SUFFIXES)}")
    return result, skipped


def points_line(student: StudentResults) -> str:
    return f"{student.student.name}: {student.points:g} of {student.max_points:g} points"


def result_line(student: StudentResults) -> str:
    wrong = ", ".join(result.grade.exercise for result in student.results if not result.grade.correct)
    return points_line(student) + (f"; not solved: {wrong}" if wrong else "")


def write_or_print(text: str, options: Any, console: Console) -> None:
    if options.out:
        write_file(Path(options.out), text + "\n")
    else:
        console.print(text)


def write_file(target: Path, text: str) -> None:
    """Write text to a file, creating its parent folders if needed. Raise InputError if this fails."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{target}: {reason(problem)}") from None
    save_text(target, text)


def count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


ACTS = {"validate": validate, "release": release, "grade": grade}
