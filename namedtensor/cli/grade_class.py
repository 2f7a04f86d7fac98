"""`namedtensor exercises grade FOLDER`: a class at once, its grades for a learning platform, a report of its mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..files.text import InputError, reason, write_whole
from ..teaching.class_grades import ClassGrader, StudentResults
from ..teaching.class_report import html_report, text_report
from ..teaching.grade_formats import class_json, gradescope_files, table
from ..teaching.sheets import Sheet
from ..teaching.submissions import SUFFIXES, Student, Submission, files_in, roster_of, submissions, text_of
from .console import Console


def graded_class(sheet: Sheet, folder: Path, options: Any, console: Console) -> None:
    """Grade all that is in a folder; a file that cannot be read is reported, and the others are graded."""
    if options.to == "gradescope" and not options.out:
        raise InputError("--to gradescope writes a results.json for each student: add -o FOLDER")
    roster = [] if options.roster is None else roster_of(Path(options.roster))
    texts, skipped = _texts(folder, console)
    submitted = submissions(texts, folder, roster)
    _warn_of_strangers(submitted, roster, console)
    _warn_of_unknown_exercises(submitted, sheet, console)
    results = _results(ClassGrader(sheet, options.counts, options.seed), submitted, console)
    name = Path(options.key).stem
    if options.report:
        report = text_report if Path(options.report).suffix == ".txt" else html_report
        written(Path(options.report), report(results, f"{name}: results of the class", skipped))
    if options.to == "gradescope":
        for path, text in gradescope_files(results).items():
            written(Path(options.out) / path, text + "\n")
        return
    text = _as_text(results, options.to, name, skipped)
    if options.out:
        written(Path(options.out), text + "\n")
    else:
        console.print(text)


def _texts(folder: Path, console: Console) -> tuple[dict[Path, str], list[str]]:
    """Return the texts of the readable files of a folder, and the reason for each skipped file, also on standard error."""
    result: dict[Path, str] = {}
    skipped: list[str] = []
    for path in files_in(folder):
        try:
            if path.is_symlink():
                raise InputError(f"{path} is a link, and links are not followed: submit the file itself")
            if path.suffix.lower() not in SUFFIXES:
                raise InputError(f"{path} is not a {' or '.join(SUFFIXES)} file")
            result[path] = text_of(path)
        except InputError as problem:
            skipped.append(str(problem))
            console.note(f"skipped: {problem}")
    if not result:
        raise InputError(f"{folder} has no submission that can be read: files that end in {' or '.join(SUFFIXES)}")
    return result, skipped


def _warn_of_strangers(submitted: list[Submission], roster: list[Student], console: Console) -> None:
    names = {student.id for student in roster}
    for submission in submitted:
        if roster and submission.student.id not in names:
            console.note(f"not on the roster: {submission.student.id}")


def _warn_of_unknown_exercises(submitted: list[Submission], sheet: Sheet, console: Console) -> None:
    for submission in submitted:
        if unknown := [name for name in submission.answers if name not in sheet]:
            console.note(f"{submission.student.id}: not an exercise of the key: {', '.join(unknown)}")


def _results(grader: ClassGrader, submitted: list[Submission], console: Console) -> list[StudentResults]:
    results: list[StudentResults] = []
    for number, submission in enumerate(submitted, 1):
        result = grader.results(submission)
        results.append(result)
        console.note(
            f"{number}/{len(submitted)} {submission.student.name}: {result.points:g} of {result.max_points:g} points"
        )
    return results


def _as_text(results: Sequence[StudentResults], to: str | None, sheet: str, skipped: Sequence[str]) -> str:
    """The grades in a format, without a line break at the end."""
    if to == "json":
        return class_json(results, skipped)
    if to is not None:
        return table(results, to, sheet).rstrip("\n")
    return "\n".join(_line(student) for student in results)


def _line(of: StudentResults) -> str:
    wrong = ", ".join(result.grade.exercise for result in of.results if not result.grade.correct)
    return f"{of.student.name}: {of.points:g} of {of.max_points:g} points{f'; not solved: {wrong}' if wrong else ''}"


def written(target: Path, text: str) -> None:
    """Write a file, and the folders that it needs. Raises InputError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)
    except OSError as problem:
        raise InputError(f"{target}: {reason(problem)}") from None
