"""Commands, the parsers of their arguments, and the arguments that several commands share."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from grammar.errors import NotationError

from .console import WRONG_USE, Console

Run = Callable[[Any, Console], "int | None"]


class Command(NamedTuple):
    """A command of `namedtensor`. Its function `run` returns the exit status, or None for 0.

    An entry point of the group `namedtensor.commands` provides a command, which has the same name.
    """

    meaning: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Run
    examples: str


class Argument(NamedTuple):
    """An argument of a command: its name, its value, its help, and further settings of argparse.

    A tuple of values lists the choices. An option without a value is a switch.
    """

    name: str
    value: str | tuple[str, ...]
    help: str
    settings: dict[str, Any] = {}


def add_arguments(rows: tuple[Argument, ...], parser: argparse.ArgumentParser) -> None:
    """Add an argument to a parser for each row of a table."""
    for name, value, message, settings in rows:
        if not value:
            shape: dict[str, Any] = {"action": "store_true"}
        else:
            shape = {"choices" if isinstance(value, tuple) and "nargs" not in settings else "metavar": value}
            if settings.get("action") == "append" or settings.get("nargs") == "*":
                shape["default"] = []
        parser.add_argument(*name.split(), help=message, **{**shape, **settings})


def command(*rows: Argument) -> Callable[[Run], Command]:
    """Return a decorator that makes a function a command with these arguments.

    The docstring of the function contains the help text, followed by examples.
    """

    def describe(run: Run) -> Command:
        sentence, _, examples = (inspect.getdoc(run) or "").partition("\n\n")
        return Command(sentence[:1].lower() + sentence[1:].rstrip("."), partial(add_arguments, rows), run, examples)

    return describe


class Parser(argparse.ArgumentParser):
    """A parser that prints through a `Console`, since the terminal may not be able to show characters such as ⊙."""

    def _print_message(self, message: str, file: Any = None) -> None:
        console = Console()
        (console.note if file is sys.stderr else console.print)(message.rstrip("\n"))

    def format_help(self) -> str:
        """Return the help text, followed by notes on arguments that the command accepts."""
        usage = self.format_usage()
        return "\n".join([super().format_help(), *(note for argument, note in NOTES if argument in usage)])

    def error(self, message: str) -> Any:
        if message.startswith("unrecognized arguments: -"):
            message += "; put -- before a formula that begins with -"
        if message.startswith("the following arguments are required: FORMULA"):
            message = f"missing FORMULA; write {self.prog} '1 + 1/2', or {self.prog} --help for examples"
        self.exit(WRONG_USE, f"{self.prog}: {message}\n{self.format_usage()}See {self.prog} --help.\n")


def parser_of(name: str, command: Command) -> Parser:
    """Return the argument parser of a command."""
    parser = Parser(
        prog=f"namedtensor {name}",
        description=command.meaning[:1].upper() + command.meaning[1:] + ".",
        epilog="examples:\n" + textwrap.indent(textwrap.dedent(command.examples).strip("\n"), "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.arguments(parser)
    parser.add_argument("--ascii", action="store_true", help="write only ASCII: A @_{key} B, R^{a, b}")
    return parser


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


def read_count(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) < 7):
        raise argparse.ArgumentTypeError(f"{text} is not an integer below a million")
    return int(text)


def read_digits(text: str) -> int:
    from ..tensors.digits import check_digits

    try:
        return check_digits(int(text) if text.isdecimal() else text)
    except NotationError as problem:
        raise argparse.ArgumentTypeError(problem.message) from None


LIST: dict[str, Any] = {"action": "append"}
ANY: dict[str, Any] = {"nargs": "*"}
FORMULA = Argument("formula", "FORMULA|FILE|-", "a formula, a file (.nt text, .tex LaTeX), or - for standard input")
JSON = Argument("--json", "", "print results and errors as JSON")
SYNTAX = Argument(
    "--syntax", ("auto", "text", "latex"), "the syntax of the formula (default: auto)", {"default": "auto"}
)
OF = Argument("--of", "NAME", "a name of the program (default: its value)")
ARGUMENT = "call a function of the program; an argument is a name, or as after NAME="
CALL = Argument("--call", ("NAME", "ARGUMENT"), ARGUMENT, {"nargs": "+"})
DIGITS = Argument("--digits", "N", "significant digits to print (default: 4 in tables)", {"type": read_digits})
MEGABYTES = "memory limit in megabytes, where the system supports it; 0 for no limit (default: 4096)"
MEMORY = Argument("--memory", "N", MEGABYTES, {"type": int, "default": 4096})


def formula_with(inputs: str) -> tuple[Argument, ...]:
    """Return the arguments of a command that takes a formula. `inputs` is the help text for its inputs."""
    header = "whether the first row of a table is its header (default: auto)"
    return (
        FORMULA,
        Argument("inputs", "NAME=...", inputs, ANY),
        Argument("--header", "NAME=yes|no|auto", header, LIST),
        Argument("--sizes", "NAME=N,...", "sizes that cannot be inferred: heads=8", LIST),
        SYNTAX,
        JSON,
    )
