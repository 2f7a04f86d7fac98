"""Tensors read from standard input or from another path that is not a regular file, such as a `<(command)` path."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .formats import Found, json_tensor, read
from .text import InputError, reason

STANDARD_INPUT = ("-", "/dev/stdin")
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK": ".npz"}


def is_stream(path: str) -> bool:
    """Return whether a path names standard input, a pipe, or a character device."""
    try:
        mode = 0 if path in STANDARD_INPUT else os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not mode or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def standard_input() -> bytes:
    """Return all of standard input. Raise InputError if it cannot be read."""
    if sys.stdin is None:
        raise InputError("standard input is closed")
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        return sys.stdin.read().encode()
    try:
        return buffer.read()
    except (OSError, ValueError) as problem:
        raise InputError(f"standard input cannot be read: {reason(problem)}") from None


def read_stream(path: str, member: str | None, name: str, header: bool | None = None) -> Found:
    """Read a tensor from a pipe. The first bytes determine the format: JSON, a table, or the format of NumPy.

    Raises InputError if the contents are invalid.
    """
    called = "standard input" if path in STANDARD_INPUT else path
    try:
        data = standard_input() if path in STANDARD_INPUT else Path(path).read_bytes()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {reason(problem)}") from None
    if not data.strip():
        raise InputError(f"{called} is empty, and {name} was to come from it")
    suffix = next((suffix for beginning, suffix in BEGINNINGS.items() if data.startswith(beginning)), None)
    if suffix is None and data.lstrip()[:1] in b"[{":
        return json_tensor(decode_stream(data, called), called)
    return read_through_file(data, suffix or ".csv", member, name, called, header)


def decode_stream(data: bytes, called: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{called} is not UTF-8 text: byte {problem.start} cannot be read") from None


def read_through_file(
    data: bytes, suffix: str, member: str | None, name: str, called: str, header: bool | None = None
) -> Found:
    with TemporaryDirectory() as folder:
        copy = Path(folder, f"stream{suffix}")
        copy.write_bytes(data)
        try:
            return read(suffix, copy, member, name, header)
        except InputError as problem:
            raise InputError(str(problem).replace(str(copy), called)) from None
