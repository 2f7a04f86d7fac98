"""One version of a file: a file that is opened once, and files that must not change while they are read."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from grammar.errors import NotationError

Version = tuple[int, int, int, int]


def version_of(file: str | os.PathLike[str] | int) -> Version | None:
    """Return the identity, the size and the time of the last change of a file, or None if there is no such file."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class OpenedVersion:
    """The version of an open file, which stays open as long as this object lives."""

    def __init__(self, path: Path, file: IO[bytes]):
        self.path = path
        self._handle = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._handle)
        self._version = version_of(self._handle)

    def check(self) -> None:
        """Raise NotationError if the file was changed in place, for its bytes may belong to two versions."""
        if version_of(self._handle) != self._version:
            raise NotationError(
                409, f"{self.path} was changed in place after it was opened",
                hint="open it again; to replace a file that is open, write a new file and rename it (save_tensors does so)",
            )  # fmt: skip


@contextmanager
def one_version(path: Path, files: Callable[[], Iterable[Path]]) -> Generator[None]:
    """Raise NotationError if any of the files of a folder changes while the block runs."""
    before = {file: version_of(file) for file in files()}
    yield
    after = {file: version_of(file) for file in files()}
    changed = sorted(file for file in before.keys() | after.keys() if before.get(file) != after.get(file))
    if changed:
        text = f"{path} was changed while it was read: {changed[0].relative_to(path)} is new or different"
        raise NotationError(409, text, hint="read it again when it is complete")


def files_below(folder: Path) -> list[Path]:
    """Return all files in a folder and its subfolders."""
    return [Path(parent, name) for parent, _, names in os.walk(folder) for name in names]
