"""The prompt: lines from a person, a pipe or a file go to a session; what it gives is printed, errors with carets.

a terminal, prompt_toolkit installed     menus of completions, history, arrow keys
a terminal without it                    Python's own line editing, Tab, history
a pipe or a file                         lines, no prompt
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grammar.completion import complete
from grammar.errors import UNFINISHED, NotationError

from ..files.text import InputError
from .console import AT_THE_PROMPT, Console
from .parsers import Command
from .session import Session
from .session_commands import GREETING, command, enter

PROMPT, CONTINUED = "> ", "  "


def run(files: list[str], inputs: list[str], plain: bool, console: Console) -> int:
    """Read and answer until the input ends; 1 where a line of a pipe or file was wrong, else 0."""
    session = Session()
    for line in [*(f":tensor {word}" for word in inputs), *(f":load {file}" for file in files)]:
        command(session, line)
        _notes(session, console)
    if sys.stdin is None:
        raise InputError("standard input is closed")
    interactive = sys.stdin.isatty()
    if interactive:
        console.print(GREETING + "\n:help lists the commands, :quit ends.\n")
    while True:
        try:
            return _converse(session, console, plain, interactive)
        except KeyboardInterrupt:
            if not interactive:
                raise
            console.print()


def _converse(session: Session, console: Console, plain: bool, interactive: bool) -> int:
    failed = False
    pending: list[str] = []
    for entry in entries(_lines(session, plain, pending) if interactive else _piped(), pending):
        failed |= not answer(session, entry, console)
        if session.over:
            break
    return int(failed and not interactive)


def answer(session: Session, entry: str, console: Console) -> bool:
    """Enter a line and print what comes of it; whether it was right."""
    try:
        text = enter(session, entry)
    except NotationError as problem:
        console.note(console.error(problem))
    except InputError as problem:
        console.note(str(problem))
    except MemoryError:
        console.note("the result does not fit in memory")
    else:
        _notes(session, console)
        if text:
            console.print(text)
        console.flush()
        return True
    return False


def _notes(session: Session, console: Console) -> None:
    for note in session.notes:
        console.note(note)
    session.notes.clear()


# ---------------------------------------------------------------------------------------------------------------- lines
def entries(lines: Iterator[str], pending: list[str]) -> Iterator[str]:
    """Lines put together to whole statements: one that ends early goes on in the next, and an empty line ends it.

    `pending` holds the lines of a statement that is not over, for the prompt to show.

    >>> list(entries(iter(["A +", "B", "", "2"]), []))
    ['A +\\nB', '2']
    """
    for line in lines:
        if line is INTERRUPT:
            pending.clear()
            continue
        if line.lstrip().startswith(":"):
            yield from _over(pending)
        if line.strip():
            pending.append(line)
        if not (line.strip() and goes_on("\n".join(pending))):
            yield from _over(pending)
    yield from _over(pending)


def _over(pending: list[str]) -> Iterator[str]:
    """The lines so far as one statement, unless there is nothing in them but blanks and comments."""
    text, has_text = "\n".join(pending), any(line.split("#")[0].strip() for line in pending)
    pending.clear()
    if has_text:
        yield text


def goes_on(text: str) -> bool:
    """Whether a statement is not over yet: a bracket is open, or it ends with an operator."""
    from grammar.parser import parse

    if text.lstrip().startswith(":"):
        return False
    try:
        parse(text)
    except NotationError as problem:
        at_end = problem.span is not None and not text[problem.span[1] :].strip(" \t)}]")
        return problem.code == 102 or (problem.reason == UNFINISHED and at_end)
    return False


INTERRUPT = "\x03"  # what a reader gives where the user wants to restart the line


def _piped() -> Iterator[str]:
    """Lines of a pipe, in UTF-8 whatever the encoding of the terminal."""
    stream: Any = getattr(sys.stdin, "buffer", sys.stdin)
    for line in stream:
        if isinstance(line, bytes):
            line = line.decode("utf-8", "replace")
        yield line.rstrip("\r\n")


def _lines(session: Session, plain: bool, pending: list[str]) -> Iterator[str]:
    use_menus = not plain and find_spec("prompt_toolkit") is not None
    return (prompted if use_menus else typed)(session, pending)


def history_file() -> Path | None:
    """The file of the lines of earlier sessions; None where nothing can be kept."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    folder = Path(state) / "namedtensor"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "history"
        path.touch()
    except OSError:
        return None
    return path


# ----------------------------------------------------------------------------------------------- Python's own line editing
def typed(session: Session, pending: list[str]) -> Iterator[str]:
    """Lines from `input`, with Tab and a history where Python has the module readline."""
    history = history_file()
    try:
        import readline
    except ImportError:
        readline = None
    if readline is not None:
        _prepare(readline, session, history)
    while True:
        try:
            yield input(CONTINUED if pending else PROMPT)
        except EOFError:
            print()
            break
        except KeyboardInterrupt:
            print()
            yield INTERRUPT
        finally:
            if readline is not None and history is not None:
                with suppress(OSError):
                    readline.write_history_file(history)


def _prepare(readline: Any, session: Session, history: Path | None) -> None:
    if history is not None:
        with suppress(OSError):
            readline.read_history_file(history)
    readline.set_completer(tabulator(readline, session))
    readline.set_completer_delims("")
    readline.parse_and_bind("tab: complete")


def tabulator(readline: Any, session: Session) -> Any:
    """The completer that readline calls for the n-th completion of the line so far."""

    def completer(text: str, state: int) -> str | None:
        names = whole_lines(text, session)
        return names[state] if state < len(names) else None

    return completer


def whole_lines(text: str, session: Session) -> list[str]:
    """The line with each completion made; a macro that is spelled out whole leaves no choice."""
    completions = complete(text, session.known())
    exact = [completion for completion in completions if completion.meaning == text[len(text) - completion.length :]]
    return [text[: len(text) - completion.length] + completion.text for completion in exact[:1] or completions]


# --------------------------------------------------------------------------------------------------------- prompt_toolkit
def prompted(session: Session, pending: list[str], **settings: Any) -> Iterator[str]:
    """Lines from prompt_toolkit; `settings` are those of its PromptSession (tests give an input and an output)."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    history = history_file()
    prompt: Any = PromptSession(
        history=FileHistory(str(history)) if history else InMemoryHistory(),
        completer=_completer(session),
        complete_while_typing=False,
        enable_history_search=True,
        **settings,
    )
    while True:
        try:
            yield prompt.prompt(CONTINUED if pending else PROMPT)
        except EOFError:
            break
        except KeyboardInterrupt:
            yield INTERRUPT


def _completer(session: Session) -> Any:
    from prompt_toolkit.completion import Completer, Completion

    class Offered(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Iterator[Any]:
            for completion in complete(document.text_before_cursor, session.known()):
                yield Completion(completion.text, start_position=-completion.length, display_meta=completion.meaning)

    return Offered()


def repl_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a program to load first, as :load FILE does")
    parser.add_argument("inputs", metavar="NAME=...", nargs="*", help="tensors and numbers to load first")
    parser.add_argument("--plain", action="store_true", help="plain input, even if prompt_toolkit is installed")


def repl_command(options: Any, console: Console) -> int:
    console.hints = AT_THE_PROMPT
    words = [*([options.file] if options.file else []), *options.inputs]
    files = [word for word in words if "=" not in word]
    return run(files, [word for word in words if "=" in word], options.plain, console)


REPL_EXAMPLES = r"""
  namedtensor repl
  namedtensor repl layers.nt X=x.npy:seq,chans
  namedtensor repl < session.txt

  At the prompt, \odot and Tab give ⊙, and :help lists the commands.
"""
COMMAND = Command(
    "evaluate formulas at a prompt; names and values persist", repl_arguments, repl_command, REPL_EXAMPLES
)
