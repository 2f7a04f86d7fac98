"""Parsers of commands, and the arguments that several commands share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..documents.suffixes import EXPECTED
from .console import WRONG_USE, Console


class Command(NamedTuple):
    """One word after `namedtensor`; `run` returns the exit status, or None for 0.

    An entry point of the group `namedtensor.commands` gives one, too: its name is the word.
    """

    meaning: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Any, Console], int | None]
    examples: str


class Parser(argparse.ArgumentParser):
    """Help and complaints go through a console: a terminal may be unable to show ⊙."""

    def _print_message(self, message: str, file: Any = None) -> None:
        console = Console()
        (console.note if file is sys.stderr else console.print)(message.rstrip("\n"))

    def format_help(self) -> str:
        """Return the help, with the notes on the arguments that this command takes."""
        usage = self.format_usage()
        return "\n".join([super().format_help(), *(note for argument, note in NOTES if argument in usage)])

    def error(self, message: str) -> Any:
        if message.startswith("unrecognized arguments: -"):
            message += "; put -- before a formula that begins with -"
        self.exit(WRONG_USE, f"{self.prog}: {message}\n{self.format_usage()}See {self.prog} --help.\n")


INPUTS = """\
inputs:
  NAME=FILE:axis,axis           .json .npy .npz .csv .tsv .parquet .nc .zarr .safetensors, the axes in the order of the file
  NAME=FILE[MEMBER]:axis,axis   one array of an .npz or .safetensors file, one column of a table, one variable of an .nc file
  NAME=-:axis,axis              standard input: JSON, a table, .npy, .npz
  NAME='[[1,2],[3,4]]:a,b'      a literal tensor;  NAME=2.5  a number
  Write names in text syntax: W^Q, b_1, gamma.
"""
NOTES = (  # an argument in the usage, and the note that the help of such a command has
    ("NAME=...", INPUTS),
    ("FORMULA|FILE|-", "Put -- before a formula that begins with -.\n"),
    ("", "exit status: 0 success, 1 error in the formula or an input, 2 usage error"),
)


def formula_arguments(
    parser: argparse.ArgumentParser, inputs: str = "tensors and numbers that the formula needs"
) -> None:
    parser.add_argument(
        "formula", metavar="FORMULA|FILE|-", help="a formula, a file (.nt text, .tex LaTeX), or - for standard input"
    )
    if inputs:
        parser.add_argument("inputs", metavar="NAME=...", nargs="*", default=[], help=inputs)
        parser.add_argument(
            "--header", metavar="NAME=yes|no|auto", action="append", default=[],
            help="whether the first row of a table is its header (default: auto)",
        )  # fmt: skip
        parser.add_argument(
            "--sizes", metavar="NAME=N,...", action="append", default=[], help="sizes that cannot be inferred: heads=8"
        )
    parser.add_argument(
        "--syntax",
        choices=("auto", "text", "latex"),
        default="auto",
        help="the syntax of the formula (default: auto, which detects it)",
    )
    parser.add_argument("--json", action="store_true", help="print results and errors as JSON")


def digits_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--digits", metavar="N", type=_digits, help="significant digits to print (default: 4 in tables)"
    )


def _count(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) < 7):
        raise argparse.ArgumentTypeError(f"{text} is not an integer below a million")
    return int(text)


def _digits(text: str) -> int:
    from ..tensors.digits import checked

    try:
        return checked(int(text) if text.isdecimal() else text)
    except NotationError as problem:
        raise argparse.ArgumentTypeError(problem.message) from None


def name_argument(parser: argparse.ArgumentParser, meaning: str = "a name of the program (default: its value)") -> None:
    parser.add_argument("--of", metavar="NAME", help=meaning)


def call_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--call",
        metavar=("NAME", "ARGUMENT"),
        nargs="+",
        help="call a function of the program; an argument is a name, or as after NAME=",
    )


def check_arguments(parser: argparse.ArgumentParser) -> None:
    formula_arguments(parser, "shapes, A='ℝ^{height[3] × width}', or tensors; or further documents")
    parser.add_argument(
        "--strict", action="store_true", help="also fail on warnings and on formulas that were not checked"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "github", "sarif", "html"),
        default="text",
        help="output format: text, JSON, GitHub annotations, SARIF 2.1.0, or a document as an HTML page (default: text)",
    )
    parser.add_argument(
        "--ignore",
        metavar="N,...",
        action="append",
        default=[],
        help="error codes that are not reported: 301,307",
    )
    parser.add_argument(
        "--random",
        action="store_true",
        help="prove each assertion if possible, and test it on random tensors",
    )
    parser.add_argument(
        "--trials", metavar="N", type=_count, default=8, help="number of random tests per assertion (default: 8)"
    )
    parser.add_argument("--seed", metavar="N", type=_count, default=0, help="seed of the random tensors (default: 0)")
    documents = parser.add_argument_group(f"documents: {EXPECTED}")
    documents.add_argument("--page", metavar="FILE.html", help="also write the page of --format html to this file")
    documents.add_argument(
        "--all", action="store_true", help="also check formulas without a named axis, and list what was skipped"
    )
    documents.add_argument("--types", action="store_true", help="print the types of all names")
    documents.add_argument(
        "--assumptions", metavar="FILE.nt", help="statements that apply at the start of each section (default: none)"
    )
    documents.add_argument("--baseline", metavar="FILE", help="suppress the findings listed in the file")
    documents.add_argument("--write-baseline", action="store_true", help="write the findings to the baseline, and exit")
