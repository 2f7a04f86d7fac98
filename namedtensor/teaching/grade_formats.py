"""Grades in the formats of learning platforms.

The grades of one submission are written as JSON: plain, as the `results.json` of a Gradescope autograder, or by
exercise for nbgrader. The grades of a class are written as JSON, as a `results.json` for each student, or as a table. A
table has a row for each student and exercise, or it has the format that Moodle imports or nbgrader exports.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .class_grades import StudentResult, StudentResults
from .grading import Grade

Row = Sequence[Any]
Rows = Iterable[Row]


# -------------------------------------------------------------------------------------------------------- one submission
def plain(grades: list[Grade]) -> Any:
    return {
        "points": sum(grade.points for grade in grades),
        "max_points": sum(grade.max_points for grade in grades),
        "grades": [grade.json() for grade in grades],
    }


def gradescope(grades: list[Grade]) -> Any:
    return {
        "score": sum(grade.points for grade in grades),
        "tests": [
            {
                "name": grade.exercise,
                "score": grade.points,
                "max_score": grade.max_points,
                "status": "passed" if grade.correct else "failed",
                "output": grade.feedback,
                "output_format": "text",
                "visibility": "visible",
            }
            for grade in grades
        ],
    }


def nbgrader(grades: list[Grade]) -> Any:
    return {
        grade.exercise: {"score": grade.points, "max_score": grade.max_points, "comment": grade.feedback}
        for grade in grades
    }


GRADERS: Mapping[str, Callable[[list[Grade]], Any]] = {"json": plain, "gradescope": gradescope, "nbgrader": nbgrader}


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


# --------------------------------------------------------------------------------------------------------------- a class
def class_json(results: Sequence[StudentResults], skipped: Sequence[str] = ()) -> str:
    """Return the grades of a class as JSON. `skipped` lists the files that were not graded."""
    return json_text({"students": [_student_json(student) for student in results], "skipped": [*skipped]})


def _student_json(of: StudentResults) -> Any:
    grades = [
        {**result.grade.json(), "answer": result.counted.answer, "attempts": len(result.attempts)}
        for result in of.results
    ]
    student = {"student": of.student.id, "name": of.student.name, "email": of.student.email}
    return {**student, "points": of.points, "max_points": of.max_points, "grades": grades}


LONG = ("student", "name", "email", "exercise", "points", "max_points", "correct", "attempts", "answer", "feedback")


def long_rows(results: Iterable[StudentResults], sheet: str) -> Rows:
    """Yield a row for each exercise of each student, followed by a row for the student's total."""
    for of in results:
        who = (of.student.id, of.student.name, of.student.email)
        yield from ((*who, *_exercise_row(result)) for result in of.results)
        attempts = sum(len(result.attempts) for result in of.results)
        right = sum(result.grade.correct for result in of.results)
        yield (*who, "all exercises", of.points, of.max_points, right, attempts, "", "")


def _exercise_row(of: StudentResult) -> Row:
    grade = of.grade
    correct = int(grade.correct)
    return (
        grade.exercise,
        grade.points,
        grade.max_points,
        correct,
        len(of.attempts),
        of.counted.answer,
        grade.feedback,
    )


MOODLE = (
    "Identifier", "Full name", "First name", "Last name", "Email address", "Username", "ID number", "Grade", "Maximum grade",
    "Last modified (grade)", "Feedback comments",
)  # fmt: skip


def moodle_rows(results: Iterable[StudentResults], sheet: str) -> Rows:
    """Yield a row for each student in Moodle's format, with the feedback as HTML."""
    for of in results:
        student = of.student
        number = f"Participant {student.participant}" if student.participant else ""
        who = (number, student.name, student.first_name, student.last_name, student.email, student.username)
        yield (*who, student.id_number, of.points, of.max_points, "-", _feedback_html(of))


def _feedback_html(of: StudentResults) -> str:
    lines = (f"{grade.exercise}: {grade.points:g} of {grade.max_points:g}. {grade.feedback}" for grade in of.grades)
    return "<br>".join(html.escape(line, quote=False).replace("\n", "<br>") for line in lines)


NBGRADER = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def nbgrader_rows(results: Iterable[StudentResults], sheet: str) -> Rows:
    for of in results:
        student = of.student
        who = (student.id, student.last_name, student.first_name, student.email)
        yield (sheet, "", "", *who, of.points, 0.0, of.points, of.max_points)


TABLES: Mapping[str, tuple[Row, Callable[[Iterable[StudentResults], str], Rows]]] = {
    "csv": (LONG, long_rows), "moodle": (MOODLE, moodle_rows), "nbgrader": (NBGRADER, nbgrader_rows),
}  # fmt: skip


def table(results: Sequence[StudentResults], to: str, sheet: str) -> str:
    """Return the grades of a class as CSV. The format `to` determines the columns."""
    header, rows = TABLES[to]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(cell) for cell in row] for row in rows(results, sheet))
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return a value for a cell, with a quote in front if a spreadsheet would interpret it as a formula."""
    begins_formula = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") and value != "-"
    return f"'{value}" if begins_formula else value


def gradescope_files(results: Iterable[StudentResults]) -> dict[str, str]:
    """Return the content of a `results.json` file for each student, keyed by the file's path in a folder."""
    result: dict[str, str] = {}
    for of in results:
        name = re.sub(r"[^\w.@ -]", "_", of.student.id).strip(". ") or "student"
        while f"{name}/results.json" in result:
            name += "_"
        result[f"{name}/results.json"] = json_text(gradescope(of.grades))
    return result
