"""Files that appear whole or not at all; what is no regular file, such as a pipe, is written to where it is."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(place: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
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
