"""Files as text and as a whole: how one is read and parsed, and how one is written that appears whole or not at all.

What is no regular file, such as a pipe, is written to where it is.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast


@contextmanager
def whole_file(place: str | os.PathLike[str]) -> Generator[IO[bytes]]:
    """A file to write to, under a temporary name in its folder: what was there stays until all is written.

    Pipes and devices of characters, such as /dev/null, get all at once. Raises OSError for what else is no file.
    """
    if written_in_place(place):
        yield (whole := io.BytesIO())
        with open(place, "wb") as pipe:
            pipe.write(whole.getvalue())
        return
    target = Path(os.path.realpath(place))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def written_in_place(place: str | os.PathLike[str]) -> bool:
    """Whether a place is a pipe or a device of characters. Raises OSError where it is neither these nor a file."""
    try:
        mode = os.stat(place).st_mode
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        raise OSError(f"it is a {'folder' if stat.S_ISDIR(mode) else 'device or socket'}, and no file")
    return not stat.S_ISREG(mode)


class InputError(Exception):
    """A file that cannot be read or written, or a word of the command that is no input: one sentence."""


def read_text(place: str | Path) -> str:
    """The text of a file. Raises InputError."""
    try:
        return Path(place).read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        raise InputError(f"{place} is no text in UTF-8: byte {problem.start} cannot be read") from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{place} cannot be read: {reason(problem)}") from None


def reason(problem: Exception) -> str:
    """Why a system call failed, without its number."""
    message = getattr(problem, "strerror", None) or str(problem)
    return message[:1].lower() + message[1:]


def finite_float(text: str) -> float:
    """A number of JSON. Raises InputError where it is too large for one, and would be ∞ without a word."""
    number = float(text)
    if math.isinf(number):
        raise InputError(f'{text} is too large for a number; write "Infinity" where ∞ is meant')
    return number


def parse_json(text: str, what: str) -> Any:
    """Parsed JSON. Raises InputError that says where it is wrong."""
    try:
        return json.loads(text, parse_float=finite_float)
    except json.JSONDecodeError as problem:
        message = problem.msg[:1].lower() + problem.msg[1:]
        raise InputError(f"{what} is no JSON: {message} at line {problem.lineno}, column {problem.colno}") from None
    except RecursionError:
        raise InputError(f"{what} is no JSON: it nests too deep") from None
    except ValueError as problem:
        raise InputError(f"{what} is no JSON: {str(problem)[:80]}") from None


def as_number(text: str) -> int | float | None:
    """The number that `text` spells, or None."""
    for read in (int, float):
        try:
            return read(text.replace("−", "-").replace("∞", "inf"))
        except ValueError:
            continue
    return None


def as_list(value: Any) -> list[Any] | None:
    """A list that was read from JSON; None for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def as_object(value: Any) -> dict[str, Any] | None:
    """An object that was read from JSON, by its names; None for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def is_names(value: Any) -> bool:
    """Whether it is a list of texts."""
    entries = as_list(value)
    return entries is not None and all(isinstance(each, str) for each in entries)


def finite(value: Any) -> Any:
    """`value` with nan and the infinities as the strings "NaN", "Infinity", "-Infinity", which JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if (named := as_object(value)) is not None:
        return {name: finite(each) for name, each in named.items()}
    return [finite(each) for each in cast("list[Any]", value)] if isinstance(value, (list, tuple)) else value
