"""The command `exercises`: its arguments, for the acts need arrays."""

from __future__ import annotations

import argparse
from typing import Any

from .console import Console
from .parsers import Command


def exercises_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "act",
        choices=("validate", "release", "grade"),
        help="validate a file, release a copy for students, or grade answers",
    )
    parser.add_argument(
        "file",
        metavar="FILE.nt",
        help="a file of exercises, or 'lesson 1'; for grade, a submission or a folder of submissions",
    )
    parser.add_argument("-o", "--out", metavar="PATH", help="output path of the released file or of the grades")
    parser.add_argument("--key", metavar="FILE.nt", help="the exercises with reference solutions, or 'lesson 1'")
    parser.add_argument(
        "--to",
        choices=("csv", "moodle", "gradescope", "nbgrader", "json"),
        help="format of the grades (default: text); csv and moodle are for a folder",
    )
    parser.add_argument("--roster", metavar="FILE.csv", help="names and e-mail addresses of the students, for a folder")
    parser.add_argument(
        "--report", metavar="PATH", help="write a report of the most common mistakes in a folder: .html or .txt"
    )
    parser.add_argument(
        "--counts", choices=("last", "best", "first"),
        help="the attempt that counts (default: as the file of exercises says, else last)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random tests (default: 0)")


def exercises_command(options: Any, console: Console) -> int | None:
    from .exercise_acts import do_act  # The help of all commands needs no arrays.

    return do_act(options, console)


EXERCISES_EXAMPLES = """
  namedtensor exercises validate week3.nt               validate reference solutions and common mistakes
  namedtensor exercises release 'lesson 1' -o student/
  namedtensor exercises release week3.nt -o student/    write a self-grading copy without solutions
  namedtensor exercises grade ada.nt --key week3.nt     grade each answer and print the feedback
  namedtensor exercises grade ada.nt --key week3.nt --to gradescope
  namedtensor exercises grade handed-in/ --key week3.nt --to csv -o grades.csv --report report.html
  namedtensor exercises grade handed-in/ --key week3.nt --to moodle --roster students.csv -o grades.csv"""
COMMAND = Command(
    "validate, release and grade files of exercises", exercises_arguments, exercises_command, EXERCISES_EXAMPLES
)
