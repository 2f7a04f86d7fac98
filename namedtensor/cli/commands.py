"""The command line: subcommands that evaluate, check, convert and explain formulas.

    namedtensor eval 'softmax_{key} A' A=A.json:query,key

Each command is a record of type `Command`. Its module is imported when the command is used, and other packages add
commands as entry points of the group `namedtensor.commands`. Exit status: 0 success, 1 error in the formula or an input, 2 usage error.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from grammar.errors import NotationError

from ..core.settings import recursion_headroom
from ..core.suggestions import did_you_mean, near
from ..core.version import __version__
from ..files.text import InputError
from .arguments import FormulaSource, place_of
from .console import FINE, INTERRUPTED, WRONG_FORMULA, WRONG_USE, Console, StreamProblem, error_record, rehinted
from .parsers import Argument, Command, Parser, add_arguments, parser_of

GROUP = "namedtensor.commands"  # the entry points of other packages
BUILT_IN = {  # the module and the function of each command
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
REMOVED = {  # Delete this table in 0.3.
    "gradient": "eval FORMULA --gradient NAME,...",
    "cost": "explain FORMULA --cost",
    "parameters": "explain FORMULA --parameters",
    "to-python": "to-code FORMULA",
    "to-javascript": "to-code FORMULA --library javascript",
    "to-einsum": "to-code FORMULA --library einsum",
}


class Commands(Mapping[str, Command]):
    """The built-in commands by their words, then the commands of other packages; each is imported when it runs."""

    def __getitem__(self, word: str) -> Command:
        if word in BUILT_IN:
            module, _, name = BUILT_IN[word].partition(":")
            return getattr(importlib.import_module(f".{module}", __package__), name)
        entry = find_plugins()[word]
        try:
            return entry.load()
        except Exception as problem:  # of another package, without which all other commands work
            return describe_failure(entry, problem)

    def __iter__(self) -> Iterator[str]:
        yield from BUILT_IN
        yield from (word for word in find_plugins() if word not in BUILT_IN)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, word: object) -> bool:
        return word in BUILT_IN or word in find_plugins()


def find_plugins() -> dict[str, EntryPoint]:
    """Return the commands that other installed packages add."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def describe_failure(entry: EntryPoint, problem: Exception) -> Command:
    """Return a command that reports why the command of another package cannot be loaded."""

    def run(options: Any, console: Console) -> None:
        raise InputError(f"the command {entry.name} cannot be loaded from {entry.value}: {problem}")

    words = Argument("words", "WORD", argparse.SUPPRESS, {"nargs": "*"})
    return Command(f"(cannot be loaded from {entry.value})", partial(add_arguments, (words,)), run, "")


COMMANDS = Commands()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command as from a terminal; return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _status(words)
        if sys.stdout is not None:
            Console().flush()
        return status
    except BrokenPipeError:
        _let_go()  # the reader has gone
        return WRONG_FORMULA
    except StreamProblem as problem:
        Console().note(f"namedtensor: {problem}")
        _let_go()
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def _status(words: list[str]) -> int:
    """Return the exit status, also if argparse ends the command, after help or a usage error."""
    try:
        return _dispatch(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else WRONG_USE


def _let_go() -> None:
    """What Python still holds for standard output must not be written when the process ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["help"] and len(words) == 2 and words[1] in COMMANDS:
        words = [words[1], "--help"]
    if not words or words[0][:1] == "-":
        HelpParser().parse_args(words or ["--help"])
        return FINE
    command = find_command(words[0])
    options = parser_of(words[0], command).parse_intermixed_args(_guarded(words[1:]))
    console = Console(options.ascii, getattr(options, "json", False))
    try:
        with recursion_headroom():
            return command.run(options, console) or FINE
    except NotationError as problem:
        return _failed(problem, options, console)
    except InputError as problem:
        return _misused(problem, console)
    except MemoryError:
        return _failed(NotationError(404, "the result does not fit in memory"), options, console)


def _guarded(words: list[str]) -> list[str]:
    """The words, those after -- so that none is taken for an option: one that holds a blank never is."""
    if "--" not in words:
        return words
    at = words.index("--")
    return words[:at] + [f" {word}" if word[:1] == "-" and word != "-" else word for word in words[at + 1 :]]


def _failed(problem: NotationError, options: Any, console: Console) -> int:
    source: FormulaSource | None = getattr(options, "source", None)
    if console.machine:
        console.json({"error": error_record(rehinted(problem, console.hints), source.name if source else None)})
    else:
        console.note(console.error(problem, place_of(problem, source)))
    return WRONG_FORMULA


def _misused(problem: InputError, console: Console) -> int:
    if console.machine:
        record = dict.fromkeys(("code", "line", "column", "span", "span_text", "hint", "symbol", "axis", "reason"))
        console.json({"error": {"kind": "input", "message": str(problem), **record}})
    else:
        console.note(f"namedtensor: {problem}")
    return WRONG_USE


# --------------------------------------------------------------------------------------------------------------- parsers
def find_command(word: str) -> Command:
    """Return the command of a word, or exit with an error that names a command there is."""
    if word in COMMANDS:
        return COMMANDS[word]
    if word in REMOVED:
        reason = f"removed in 0.2; write namedtensor {REMOVED[word]}"
        return HelpParser().error(f"the command {word} was {reason}")
    meant = near(word, COMMANDS)
    choices = did_you_mean(meant) if meant else f"the commands are {', '.join(COMMANDS)}"
    return HelpParser().error(f"there is no command {word}; {choices}")


class HelpParser(Parser):
    """The parser of `namedtensor` without a command, whose help is one screen."""

    def __init__(self) -> None:
        super().__init__(prog="namedtensor", usage="namedtensor COMMAND ...")
        self.add_argument("--version", action="version", version=f"namedtensor {__version__}")

    def format_help(self) -> str:
        lines = [f"  {word:<11} {COMMANDS[word].meaning}" for word in COMMANDS]
        return "\n".join([
            "usage: namedtensor COMMAND ...      (or namedtensor --version)",
            "Run formulas in named tensor notation, as text or as LaTeX.",
            "",
            *lines,
            "",
            "namedtensor COMMAND --help shows its options and examples.",
            "exit status: 0 success, 1 error in the formula or an input, 2 usage error",
        ])  # fmt: skip
