"""Arguments of the `exercises` command. Its actions are in `exercise_acts`, because they need arrays."""

from __future__ import annotations

from typing import Any

from .console import Console
from .parsers import Argument, command

FORMATS = ("csv", "moodle", "gradescope", "nbgrader", "json")


@command(
    Argument("act", ("validate", "release", "grade"), "validate a file, release a copy for students, or grade answers"),
    Argument("file", "FILE.nt", "exercises, or 'lesson 1'; for grade, a submission or a folder of submissions"),
    Argument("-o --out", "PATH", "output path of the released file or of the grades"),
    Argument("--only", "NAMES", "release or grade only these exercises: column-sums,revenue"),
    Argument("--key", "FILE.nt", "the exercises with reference solutions, or 'lesson 1'"),
    Argument("--to", FORMATS, "format of the grades (default: text); csv and moodle are for a folder"),
    Argument("--roster", "FILE.csv", "names and e-mail addresses of the students, for a folder"),
    Argument("--report", "PATH", "write a report of the most common mistakes in a folder: .html or .txt"),
    Argument("--counts", ("last", "best", "first"), "the attempt that counts (default: the file's setting, or last)"),
    Argument("--seed", "N", "seed of the random tests (default: 0)", {"type": int, "default": 0}),
)
def exercises_command(options: Any, console: Console) -> int | None:
    """Validate, release and grade files of exercises.

    namedtensor exercises validate week3.nt               validate reference solutions and common mistakes
    namedtensor exercises release 'lesson 1' -o student/
    namedtensor exercises release 'lesson 1' --only column-sums,revenue -o student/
    namedtensor exercises release week3.nt -o student/    write a self-grading copy without solutions
    namedtensor exercises grade ada.nt --key week3.nt     grade each answer and print the feedback
    namedtensor exercises grade ada.nt --key week3.nt --to gradescope
    namedtensor exercises grade handed-in/ --key week3.nt --to csv -o grades.csv --report report.html
    namedtensor exercises grade handed-in/ --key week3.nt --to moodle --roster students.csv -o grades.csv
    """
    from .exercise_acts import do_act  # The help of all commands needs no arrays.

    return do_act(options, console)
