"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(place: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, under a temporary name in its folder: what was there stays until all is written."""
    target = Path(os.path.realpath(place))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
