"""The console: what the command line writes, in an encoding that can show it.

A terminal or pipe may be unable to show ⊙ (cp1252, ASCII). Then, and with --ascii, each character is written in the
notation's ASCII spelling. In an error the carets must stay where they belong, so there the source is respelled first,
its spans with it, and the error is drawn anew.

    A ⊙_{key} γ        A @_{key} gamma
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from functools import lru_cache
from typing import Any, TextIO

from grammar.errors import NotationError
from grammar.symbols import GREEK_MACROS, GREEK_VARIANTS, SUBSCRIPTS, SUPERSCRIPTS, SYMBOLS

from ..files.text import finite

FINE, WRONG_FORMULA, WRONG_USE, INTERRUPTED = 0, 1, 2, 130  # what a command exits with
SAMPLE = "⊙ℝ→─"  # what a stream must be able to show, or all is ASCII


# ------------------------------------------------------------------------------------------------------ ASCII spelling
@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    letters = {letter: name for name, letter in GREEK_MACROS.items()}
    letters |= {variant: letters[letter] for variant, letter in GREEK_VARIANTS.items()}
    signs = {}
    for symbol in SYMBOLS:
        macros = [spelling for spelling in symbol.ascii.split() if spelling.startswith("\\")]
        prefix = symbol.terminal == "OPERATOR"  # concat stands before its operands, \oplus between them
        plain = macros[0] if prefix and macros else symbol.ascii.split()[0]
        signs |= {spelling: plain for spelling in symbol.text.split() if not spelling.isascii()}
    return {**letters, **signs, **DRAWN}


DRAWN = dict.fromkeys("─━═", "-") | dict.fromkeys("│┃║", "|") | dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪", "+")
DRAWN |= {"′": "'", "’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "—": "-", "≈": "~", "±": "+-"}
DRAWN |= dict.fromkeys("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏░▒▓■", "#") | {"\N{REPLACEMENT CHARACTER}": "?", "\u00a0": " ", "▸": ">"}
SHAPE = re.compile(r"ℝ\^\{[^{}]*\}")
SMALL = re.compile(f"[{''.join(SUBSCRIPTS)}]+|[{''.join(SUPERSCRIPTS)}]+")


def ascii_pieces(text: str) -> list[str]:
    """The ASCII spelling of each character of `text`, in its surroundings."""
    table = _table()
    pieces = [character if character.isascii() else _plain(text, at, table) for at, character in enumerate(text)]
    for shape in SHAPE.finditer(text):
        for times in re.finditer(" ?× ?", text[slice(*shape.span())]):
            start, end = shape.start() + times.start(), shape.start() + times.end()
            pieces[start:end] = [""] * (end - start - 1) + [", "]
    for run in SMALL.finditer(text):
        _spell_small(pieces, *run.span(), text)
    return pieces


def to_ascii(text: str) -> str:
    """`text` in ASCII characters alone, each sign of the notation in its ASCII spelling.

    >>> to_ascii("softmax_{seq}(Q ⊙_{key} K) ∈ ℝ^{seq × val}, γ²")
    'softmax_{seq}(Q @_{key} K) in R^{seq, val}, gamma^2'
    """
    return text if text.isascii() else "".join(ascii_pieces(text))


def _plain(text: str, at: int, table: dict[str, str]) -> str:
    character, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if character in "⊙·∗⋅":
        return "@" if after == "_" else "*"
    if character not in table:
        known = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
        return known or ("" if unicodedata.combining(character) else "?")
    plain = table[character]
    if not plain[-1].isalpha():
        return plain
    small = after in SUBSCRIPTS or after in SUPERSCRIPTS
    left = " " if before.isalnum() and before.isascii() else ""
    return left + plain + (" " if after.isalnum() and not small else "")


def _spell_small(pieces: list[str], start: int, end: int, text: str) -> None:
    """x₁₂ as x_{12}, x² as x^2."""
    table, sign = (SUBSCRIPTS, "_") if text[start] in SUBSCRIPTS else (SUPERSCRIPTS, "^")
    pieces[start:end] = [to_ascii(table[character]) for character in text[start:end]]
    if end - start > 1:
        pieces[start] = "{" + pieces[start]
        pieces[end - 1] += "}"
    pieces[start] = sign + pieces[start]


def error_in_ascii(error: NotationError) -> NotationError:
    """The same error about the ASCII spelling of its source: the spans follow."""
    source, place = error.source, [0]
    if source is not None:
        pieces = ascii_pieces(source)
        for piece in pieces:
            place.append(place[-1] + len(piece))
        source = "".join(pieces)

    def moved(span: Any) -> Any:
        return None if span is None else (place[min(span[0], len(place) - 1)], place[min(span[1], len(place) - 1)])

    return type(error)(
        error.number,
        to_ascii(error.message),
        source,
        moved(error.span),
        tuple(map(to_ascii, error.notes)),
        None if error.hint is None else to_ascii(error.hint),
        tuple((moved(span), to_ascii(text)) for span, text in error.labels),
    )


# --------------------------------------------------------------------------------------------------------------- hints
# What a hint says of Python's arguments, as it is said on the command line and at the prompt.
ON_COMMAND_LINE = (
    (r"sizes=\{'(.+?)': (\d+)\}", r"--sizes \1=\2"),
    (r"values=\{'(.+?)': …\}", r"\1=FILE:axis,axis"),
    (r"raise limits\.(\w+)", r"raise the limit: --limit \1=N"),
    (r"call a function of the program from Python", r"name a function of the program: --call NAME ARGUMENT …"),
    (r"give it as a Python number", r"give it as a number: NAME=2"),
)
AT_THE_PROMPT = (
    (r"give it by name: sizes=\{'(.+?)': (\d+)\}", r"say it first: |\1| = \2, or \1 = \2 for a number"),
    (r"sizes=\{'(.+?)': (\d+)\}", r"|\1| = \2"),
    (r"give it by name: values=\{'(.+?)': …\}", r"give it first: :tensor \1=FILE:axis,axis"),
    (r"values=\{'(.+?)': …\}", r":tensor \1=FILE:axis,axis"),
    (r"(, or )?raise limits\.\w+", r"\1compute it by namedtensor eval, which has --limit"),
)


def rehinted(error: NotationError, table: tuple[tuple[str, str], ...]) -> NotationError:
    """The same error, its hint in the words of the table."""
    hint = error.hint
    for old, new in table if hint else ():
        hint = re.sub(old, new, hint or "")
    return type(error)(error.number, error.message, error.source, error.span, error.notes, hint, error.labels)


# ------------------------------------------------------------------------------------------------------------- streams
class Console:
    """Standard output and standard error, each in what it can show; `ascii` asks for ASCII in any case."""

    def __init__(self, ascii: bool = False, machine: bool = False, hints: tuple[Any, ...] = ON_COMMAND_LINE):
        self.ascii = ascii
        self.hints = hints
        self.machine = machine  # --json: what is printed is for programs

    def print(self, text: str = "") -> None:
        self._write(sys.stdout, text)

    def flush(self) -> None:
        """What was printed is out when this returns. Raises StreamProblem where it cannot be written."""
        write_to(sys.stdout, "", at_once=True)

    def note(self, text: str) -> None:
        """Something about the work that is not its result: to standard error."""
        self._write(sys.stderr, text)

    def json(self, value: Any) -> None:
        """`value` as JSON; a number that JSON cannot write is a string."""
        known = _strings(value, to_ascii) if self.ascii else value
        readable = not self.ascii and shows(sys.stdout, SAMPLE)
        write_to(sys.stdout, json.dumps(finite(known), ensure_ascii=not readable) + "\n")

    def page(self, text: str) -> None:
        """A page for browsers; a character that the stream cannot show is written as its number."""
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        write_to(sys.stdout, text.encode(encoding, "xmlcharrefreplace").decode(encoding))

    def error(self, error: NotationError, title: str = "", stream: TextIO | None = None) -> str:
        """The text of an error for a stream, standard error if none; `title` is where it is, file:line:column."""
        return (f"{title}: " if title else "") + str(self.respelled(error, stream or sys.stderr))

    def respelled(self, error: NotationError, stream: TextIO) -> NotationError:
        """An error as it is written to a stream."""
        error = rehinted(error, self.hints)
        return error_in_ascii(error) if self.ascii or not shows(stream, SAMPLE) else error

    def _write(self, stream: TextIO, text: str) -> None:
        if self.ascii or not shows(stream, SAMPLE):
            text = to_ascii(text)
        encoding = getattr(stream, "encoding", None) or "utf-8"
        write_to(stream, text.encode(encoding, "replace").decode(encoding) + "\n")


def write_to(stream: TextIO | None, text: str, at_once: bool = False) -> None:
    """Write to standard output or error, which the caller may have closed.

    Raises StreamProblem where standard output takes nothing; where standard error does not, nobody can be told.
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
            raise StreamProblem(problem) from None


class StreamProblem(Exception):
    """Standard output cannot be written: one sentence."""

    def __init__(self, problem: Exception):
        why = getattr(problem, "strerror", None) or str(problem)
        super().__init__(f"standard output cannot be written: {why[:1].lower()}{why[1:]}")


def shows(stream: Any, text: str) -> bool:
    """Whether a stream's encoding holds these characters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _strings(value: Any, change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_strings(name, change): _strings(each, change) for name, each in value.items()}
    return [_strings(each, change) for each in value] if isinstance(value, (list, tuple)) else value


def error_record(error: NotationError, file: str | None = None) -> dict[str, Any]:
    """An error for machines."""
    line, column = error.position() if error.source is not None else (None, None)
    record = {"kind": error.kind, "number": error.number, "message": error.message, "line": line, "column": column}
    record |= {"span": list(error.span) if error.span else None, "span_text": error.span_text}
    record |= {"notes": list(error.notes), "hint": error.hint}
    return {"file": file, **record} if file is not None else record
