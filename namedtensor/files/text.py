"""Reading, parsing and atomic writing of text files.

A target that is not a regular file, such as a pipe, is written directly.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from grammar.errors import NotationError
from grammar.locks import call_with_lock

MAX_PREFIX = 50  # characters of a file's name that its temporary file keeps


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Generator[IO[bytes]]:
    """Open a temporary file in the target's folder. When it is complete, it replaces the target.

    If several writers run concurrently, one of their files remains. The target keeps its permissions. If the target is
    a symbolic link, the link is kept and leads to the new file. Pipes and character devices, such as /dev/null, are
    written to directly. Raises OSError if the target is another special file or a folder.
    """
    if is_written_in_place(path):
        yield (whole := io.BytesIO())
        with open(path, "wb") as pipe:
            pipe.write(whole.getvalue())
        return
    target = Path(os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:MAX_PREFIX]}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(PermissionError):  # of a file system without permissions
            os.chmod(temporary, mode_of(target))
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_whole(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write data to a file atomically, encoding a string as UTF-8. Raise OSError if this fails."""
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def save(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write data to a file atomically. Raise NotationError, the error for Python callers, if this fails."""
    try:
        write_whole(path, data)
    except OSError as problem:
        raise NotationError(409, f"cannot write {path}: {reason(problem)}") from None


def mode_of(target: Path) -> int:
    """Return the permissions of the existing file at this path, or the default permissions of a new file."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """Return the permission bits that the process removes from new files.

    The value is read from Linux's process status. On other systems, the only way to read the value is to change it
    briefly.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("\nUmask:")[2].split(maxsplit=1)[0], 8)
    except (OSError, ValueError, IndexError):
        return call_with_lock(_umask_by_change)


def _umask_by_change() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def is_written_in_place(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a pipe or a character device. Raise OSError for a folder or other special file."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        raise OSError(f"it is a {'folder' if stat.S_ISDIR(mode) else 'device or socket'}, and no file")
    return not stat.S_ISREG(mode)


class InputError(Exception):
    """The error for a file that cannot be read or written, or for an invalid argument of a command."""


def read_text(path: str | Path) -> str:
    """Read a text file. Raise InputError if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        raise InputError(f"{path} is not a text file in UTF-8: byte {problem.start} cannot be read") from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{path} cannot be read: {reason(problem)}") from None


def save_text(path: str | Path, text: str | bytes) -> None:
    """Write a string or bytes atomically. Raise InputError if this fails."""
    try:
        write_whole(path, text)
    except OSError as problem:
        raise InputError(f"cannot write {path}: {reason(problem)}") from None


def reason(problem: Exception) -> str:
    """Return the reason why a system call failed, without the error number."""
    message = getattr(problem, "strerror", None) or str(problem)
    return message[:1].lower() + message[1:]


def finite_float(text: str) -> float:
    """Parse a JSON number. Raise InputError if it is too large for a float."""
    number = float(text)
    if math.isinf(number):
        raise InputError(f'{text} is too large for a number; write "Infinity" where ∞ is meant')
    return number


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object from its pairs of names and values. Raise InputError if a name occurs more than once."""
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        raise InputError(f"{next(name for name in names if names.count(name) > 1)!r} occurs twice in one object")
    return result


def parse_json(text: str, what: str, unique: bool = False) -> Any:
    """Parse JSON.

    Raises InputError with the position of the mistake. If `unique` is true, a repeated name in an object is also a
    mistake.
    """
    try:
        return json.loads(text, parse_float=finite_float, object_pairs_hook=unique_object if unique else None)
    except json.JSONDecodeError as problem:
        message = problem.msg[:1].lower() + problem.msg[1:]
        raise InputError(
            f"{what} is not valid JSON: {message} at line {problem.lineno}, column {problem.colno}"
        ) from None
    except RecursionError:
        raise InputError(f"{what} is not valid JSON: it is nested too deep") from None
    except ValueError as problem:
        raise InputError(f"{what} is not valid JSON: {str(problem)[:80]}") from None


def parse_number(text: str) -> int | float | None:
    """Return the number that `text` represents, or None if it is not a number."""
    for read in (int, float):
        try:
            return read(text.replace("−", "-").replace("∞", "inf"))
        except ValueError:
            continue
    return None


def to_list_or_none(value: Any) -> list[Any] | None:
    """Return a value from JSON if it is a list, or None otherwise."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def to_object_or_none(value: Any) -> dict[str, Any] | None:
    """Return a value from JSON as a dictionary if it is an object, or None otherwise."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def is_names(value: Any) -> bool:
    """Return whether a value is a list of strings."""
    entries = to_list_or_none(value)
    return entries is not None and all(isinstance(entry, str) for entry in entries)


def finite(value: Any) -> Any:
    """Return `value` with NaN and infinities replaced by "NaN", "Infinity" and "-Infinity", because JSON lacks them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if (named := to_object_or_none(value)) is not None:
        return {name: finite(entry) for name, entry in named.items()}
    return [finite(item) for item in cast("list[Any]", value)] if isinstance(value, (list, tuple)) else value


def decode(data: bytes, file: str) -> tuple[str, str | None]:
    """Decode UTF-16 with a byte order mark, UTF-8, or else Latin-1. Return the text, and a note if it is Latin-1."""
    note = None
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            text = data.decode("utf-16")
        else:
            text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        text, note = data.decode("latin-1"), f"read as Latin-1: byte {problem.start} is not UTF-8"
    if "\0" in text:
        raise InputError(f"{file} is not text: it contains the character NUL")
    return text.replace("\r\n", "\n").replace("\r", "\n"), note
