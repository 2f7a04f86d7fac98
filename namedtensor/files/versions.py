"""Reading of consistent versions of files: a file is opened only once, or it is read again if it changed meanwhile."""

from __future__ import annotations

import os
import stat
import weakref
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TypeVar, cast

from grammar.errors import NotationError

Version = tuple[int, int, int, int]
MAX_READS = 3  # attempts to read a file that changes during each of them


def version_of(file: str | os.PathLike[str] | int) -> Version | None:
    """Return the version of a file or folder, or None if it does not exist.

    The version of a file is its identity, size and modification time. For a folder, the time of its last status change
    replaces the modification time, because a copy keeps modification times, and a rename does not change them.
    """
    try:
        status = os.stat(file)
    except OSError:
        return None
    time = status.st_ctime_ns if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
    return status.st_dev, status.st_ino, status.st_size, time


class OpenedVersion:
    """An open file with its version. The file remains open as long as this object exists."""

    def __init__(self, path: Path, file: IO[bytes]):
        self.path = path
        self._handle = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._handle)
        self._version = version_of(self._handle)

    def check(self) -> None:
        """Raise NotationError if the file was changed in place since it was opened. Its data could mix two versions."""
        if version_of(self._handle) != self._version:
            raise NotationError(
                409, f"{self.path} was changed in place after it was opened",
                hint="open it again; to replace a file that is open, write a new file and rename it (save_tensors does so)",
            )  # fmt: skip


Result = TypeVar("Result")


def read_one_version(path: Path, read: Callable[[], Result]) -> Result:
    """Call `read`, repeatedly if necessary, until the file or folder does not change during a call. Return the result.

    A reader opens the file once, so another file may replace it by a rename at the same time. For a folder, all files
    in the folder are checked. A change in place cannot be detected if the writer pauses during the entire call.

    Raises
    ------
    NotationError
        If the file or folder changes during each call (409).
    """
    changed = path
    for _ in range(MAX_READS):
        with hold_open(path) as file:
            before = versions_of(path, file)
            result, problem = None, None
            try:
                result = read()
            except Exception as failure:  # each library raises its own exception for a truncated file
                problem = failure
            after = versions_of(path, file if problem is None else None)
        differing = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        if not differing and problem is not None:
            raise problem
        existed = None not in before.values()  # A folder can be missing before and after, between two renames.
        if not differing and existed:
            return cast("Result", result)
        changed = min(differing or before)
    which = "it" if changed == path else str(changed.relative_to(path))
    text = f"{path} was changed while it was read: {which} is new or different"
    raise NotationError(
        409, text, hint="read it again when it is complete; to replace it, write a new one and rename it"
    )


@contextmanager
def hold_open(path: Path) -> Generator[int | None]:
    """Hold a file open while it is read, so that no other file can get the same identity. Yield the file descriptor.

    A folder is also held open if the system permits this. Yield None for a folder or an unreadable file.
    """
    with ExitStack() as stack:
        try:
            if path.is_dir():
                stack.callback(os.close, os.open(path, os.O_RDONLY))
                file = None
            else:
                file = stack.enter_context(path.open("rb")).fileno()
        except OSError:  # which the reader reports
            file = None
        yield file


def versions_of(path: Path, file: int | None) -> dict[Path, Version | None]:
    """Return the version of the open file by path. For a folder, return the versions of the folder and its contents."""
    if file is not None:
        return {path: version_of(file)}
    inside = [Path(parent, name) for parent, folders, files in os.walk(path) for name in (*folders, *files)]
    return {name: version_of(name) for name in (path, *inside)}
