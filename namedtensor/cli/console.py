"""Output of the command line, in an encoding that the stream supports.

If the encoding lacks a character, or with --ascii, the output uses the ASCII form of the notation
(`grammar.plain_text`).
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TextIO

from grammar.errors import NotationError
from grammar.plain_text import SAMPLE, error_in_ascii, shows, to_ascii

from ..core.extents import format_size
from ..files.text import finite

FINE, WRONG_FORMULA, WRONG_USE, INTERRUPTED = 0, 1, 2, 130  # exit statuses of a command


# Replacements for words in hints that mention Python's arguments, on the command line and at the prompt.
ON_COMMAND_LINE = (
    (r"remove it, or pass the inputs in a mapping, which may have more entries", "remove it from the command"),
    (r"sizes=\{'(.+?)': (\d+)\}", r"--sizes \1=\2"),
    (r"values=\{'(.+?)': …\}", r"\1=FILE:axis,axis"),
    (r"raise limits\.(\w+)", r"raise the limit: --limit \1=N"),
    (r"call a function of the program from Python", r"name a function of the program: --call NAME ARGUMENT …"),
    (r"pass it as a Python number", r"pass it as a number: NAME=2"),
    (r'write wrt="(.+?)"', r"write --wrt \1"),
)
AT_THE_PROMPT = (
    (r"pass it: sizes=\{'(.+?)': (\d+)\}", r"state it first: |\1| = \2, or \1 = \2 for a number"),
    (r"sizes=\{'(.+?)': (\d+)\}", r"|\1| = \2"),
    (r"pass it by name: values=\{'(.+?)': …\}", r"define it first, or start with namedtensor repl \1=FILE:axis,axis"),
    (r"values=\{'(.+?)': …\}", r"namedtensor repl \1=FILE:axis,axis"),
    (r"(, or )?raise limits\.\w+", r"\1compute it by namedtensor eval, which has --limit"),
)


def replace_hint(error: NotationError, table: tuple[tuple[str, str], ...]) -> NotationError:
    """Return the error with its hint changed by a table of regular expressions and their replacements."""
    hint = error.hint
    for old, new in table if hint else ():
        hint = re.sub(old, new, hint or "")
    return error.replace(hint=hint)


# ------------------------------------------------------------------------------------------------------------- streams
class Console:
    """The output of the command line: standard output and standard error, each in its encoding.

    `ascii` forces ASCII. If `machine` is true, other programs read the output. `hints` contains replacements for error
    hints.
    """

    def __init__(self, ascii: bool = False, machine: bool = False, hints: tuple[Any, ...] = ON_COMMAND_LINE):
        self.ascii = ascii
        self.hints = hints
        self.machine = machine  # --json: programs read the output

    def print(self, text: str = "") -> None:
        self._write(sys.stdout, text)

    def flush(self) -> None:
        """Write all buffered output. Raise StreamError if it cannot be written."""
        write_to(sys.stdout, "", at_once=True)

    def note(self, text: str) -> None:
        """Write a remark, which is not part of the result, to standard error."""
        self._write(sys.stderr, text)

    def json(self, value: Any) -> None:
        """Write a value as JSON. Unknown sizes, and numbers that JSON does not have, are written as strings."""
        known = _strings(value, to_ascii) if self.ascii else value
        readable = not self.ascii and shows(sys.stdout, SAMPLE)
        write_to(sys.stdout, json.dumps(finite(known), ensure_ascii=not readable, default=format_size) + "\n")

    def page(self, text: str) -> None:
        """Write an HTML page. Characters that the stream cannot encode become numeric character references."""
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        write_to(sys.stdout, text.encode(encoding, "xmlcharrefreplace").decode(encoding))

    def error(self, error: NotationError, title: str = "", stream: TextIO | None = None) -> str:
        """Return the text of an error as it is shown on a stream. `title` is its position as file:line:column."""
        return (f"{title}: " if title else "") + self.respell_error(error, stream or sys.stderr).to_text()

    def respell_error(self, error: NotationError, stream: TextIO) -> NotationError:
        """Return the error with its hint reworded for the command line. Use ASCII if the stream needs it."""
        error = replace_hint(error, self.hints)
        return error_in_ascii(error) if self.ascii or not shows(stream, SAMPLE) else error

    def _write(self, stream: TextIO, text: str) -> None:
        if self.ascii or not shows(stream, SAMPLE):
            text = to_ascii(text)
        encoding = getattr(stream, "encoding", None) or "utf-8"
        write_to(stream, text.encode(encoding, "replace").decode(encoding) + "\n")


def write_to(stream: TextIO | None, text: str, at_once: bool = False) -> None:
    """Write text to standard output or standard error. The caller may have closed the stream.

    Raise StreamError if standard output cannot be written, but BrokenPipeError if its reader has ended. If standard
    error cannot be written, ignore the failure.
    """
    try:
        if stream is None:
            raise OSError("it is closed")
        stream.write(text)
        if at_once:
            stream.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as problem:
        if stream is not sys.stderr:
            raise StreamError(problem) from None


class StreamError(Exception):
    """The error raised when standard output cannot be written, with a one-sentence message."""

    def __init__(self, problem: Exception):
        why = getattr(problem, "strerror", None) or str(problem)
        super().__init__(f"cannot write to standard output: {why[:1].lower()}{why[1:]}")


def _strings(value: Any, change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_strings(name, change): _strings(entry, change) for name, entry in value.items()}
    return [_strings(item, change) for item in value] if isinstance(value, (list, tuple)) else value


def error_record(error: NotationError, file: str | None = None) -> dict[str, Any]:
    """Return an error as a JSON record."""
    line, column = error.position() if error.source is not None else (None, None)
    record = {"kind": error.kind, "code": error.code, "message": error.message, "line": line, "column": column}
    record |= {"span": list(error.span) if error.span else None, "span_text": error.span_text}
    record |= {"notes": list(error.notes), "hint": error.hint}
    record |= {"symbol": error.symbol, "axis": error.axis, "reason": error.reason}
    file = error.file or file
    return {"file": file, **record} if file is not None else record
