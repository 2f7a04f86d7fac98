"""The command line: subcommands that evaluate, check, convert and explain formulas.

    namedtensor eval 'softmax_{key} A' A=A.json:query,key

Each command is a record of type `Command`. Its module is imported only when the command is used. Other packages can add
commands as entry points of the group `namedtensor.commands`. The exit status is 0 for success, 1 for an error in the
formula or an input, and 2 for a usage error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from grammar.errors import NotationError

from ..core.settings import recursion_headroom
from ..core.suggestions import did_you_mean, near
from ..core.version import __version__
from ..files.text import InputError
from .arguments import FormulaSource, place_of
from .console import FINE, INTERRUPTED, WRONG_FORMULA, WRONG_USE, Console, StreamError, error_record, replace_hint
from .parsers import Argument, Command, Parser, add_arguments, parser_of

GROUP = "namedtensor.commands"  # the entry points of other packages
FUNCTIONS = {  # the module and the function of each built-in command
    "eval": "formula_commands:eval_command",
    "check": "check:check_command",
    "explain": "formula_commands:explain_command",
    "derive": "derive:derive_command",
    "diagram": "formula_commands:diagram_command",
    "render": "render:render_command",
    "to-code": "formula_commands:code_command",
    "translate": "translate:translate_command",
    "read": "read:read_command",
    "exercises": "exercises:exercises_command",
    "playground": "playground:playground_command",
    "repl": "repl:repl_command",
    "devices": "devices:devices_command",
    "lsp": "servers:lsp_command",
    "mcp": "servers:mcp_command",
    "help": "help:help_command",
}
BUILT_IN = {word: EntryPoint(word, f"{__package__}.{function}", GROUP) for word, function in FUNCTIONS.items()}
REMOVED = {  # Delete this table in 0.3.
    "gradient": "eval FORMULA --gradient NAME,...",
    "cost": "explain FORMULA --cost",
    "parameters": "explain FORMULA --parameters",
    "to-python": "to-code FORMULA",
    "to-javascript": "to-code FORMULA --library javascript",
    "to-einsum": "to-code FORMULA --library einsum",
}


def find_commands() -> dict[str, EntryPoint]:
    """Return the entry points of all commands by name. Other packages cannot replace the built-in commands."""
    added = {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in BUILT_IN}
    return BUILT_IN | added


def load_command(entry: EntryPoint) -> Command:
    """Return the command of an entry point.

    If another package defines the command and it cannot be loaded, return a command that prints the error.
    """
    try:
        return entry.load()
    except Exception as problem:
        if entry.name in BUILT_IN:
            raise
        return describe_failure(entry, problem)


def describe_failure(entry: EntryPoint, problem: Exception) -> Command:
    """Return a command that reports why a command of another package cannot be loaded."""

    def run(options: Any, console: Console) -> None:
        raise InputError(f"the command {entry.name} cannot be loaded from {entry.value}: {problem}")

    words = Argument("words", "WORD", argparse.SUPPRESS, {"nargs": "*"})
    return Command(f"(cannot be loaded from {entry.value})", partial(add_arguments, (words,)), run, "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, which default to `sys.argv`, and return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            status = dispatch(words)
        except SystemExit as stop:  # argparse ends a command after help or a usage error.
            status = stop.code if isinstance(stop.code, int) else WRONG_USE
        if sys.stdout is not None:
            Console().flush()
        return status
    except BrokenPipeError:
        discard_output()
        return WRONG_FORMULA
    except StreamError as problem:
        Console().note(f"namedtensor: {problem}")
        discard_output()
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def discard_output() -> None:
    """Redirect standard output to the null device, since it no longer has a reader."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def dispatch(words: list[str]) -> int:
    """Run the command that the first word names, report any error, and return the exit status."""
    if words[:1] == ["help"] and len(words) == 2 and words[1] in find_commands():
        words = [words[1], "--help"]
    if not words or words[0][:1] == "-":
        HelpParser().parse_args(words or ["--help"])
        return FINE
    command = find_command(words[0])
    options = parser_of(words[0], command).parse_intermixed_args(guard_words(words[1:]))
    console = Console(options.ascii, getattr(options, "json", False))
    try:
        with recursion_headroom():
            return command.run(options, console) or FINE
    except (NotationError, InputError) as problem:
        return report(problem, options, console)
    except MemoryError:
        return report(NotationError(404, "the result does not fit in memory"), options, console)


def guard_words(words: list[str]) -> list[str]:
    """Remove `--`, and put a blank before each of the following words that argparse would parse as an option."""
    if "--" not in words:
        return words
    at = words.index("--")
    return words[:at] + [f" {word}" if word[:1] == "-" and word != "-" else word for word in words[at + 1 :]]


def report(problem: NotationError | InputError, options: Any, console: Console) -> int:
    """Write an error as text or JSON, and return the exit status."""
    source: FormulaSource | None = getattr(options, "source", None)
    if isinstance(problem, NotationError):
        if console.machine:
            console.json({"error": error_record(replace_hint(problem, console.hints), source.name if source else None)})
        else:
            console.note(console.error(problem, place_of(problem, source)))
        return WRONG_FORMULA
    if console.machine:
        record = dict.fromkeys(("code", "line", "column", "span", "span_text", "hint", "symbol", "axis", "reason"))
        console.json({"error": {"kind": "input", "message": str(problem), **record}})
    else:
        console.note(f"namedtensor: {problem}")
    return WRONG_USE


# --------------------------------------------------------------------------------------------------------------- parsers
def find_command(word: str) -> Command:
    """Return the command with a name, or exit with an error that suggests a command."""
    commands = BUILT_IN if word in BUILT_IN else find_commands()
    if word in commands:
        return load_command(commands[word])
    if word in REMOVED:
        return HelpParser().error(f"the command {word} was removed in 0.2; write namedtensor {REMOVED[word]}")
    meant = near(word, commands)
    choices = did_you_mean(meant) if meant else f"the commands are {', '.join(commands)}"
    return HelpParser().error(f"there is no command {word}; {choices}")


class HelpParser(Parser):
    """The parser of `namedtensor` without a command. Its help fits on one screen."""

    def __init__(self) -> None:
        super().__init__(prog="namedtensor", usage="namedtensor COMMAND ...")
        self.add_argument("--version", action="version", version=f"namedtensor {__version__}")

    def format_help(self) -> str:
        lines = [f"  {word:<11} {load_command(entry).meaning}" for word, entry in find_commands().items()]
        return "\n".join([
            "usage: namedtensor COMMAND ...      (or namedtensor --version)",
            "Run formulas in named tensor notation, as text or as LaTeX.",
            "",
            *lines,
            "",
            "namedtensor COMMAND --help shows its options and examples.",
            "exit status: 0 success, 1 error in the formula or an input, 2 usage error",
        ])  # fmt: skip
