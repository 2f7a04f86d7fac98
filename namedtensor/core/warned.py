"""Issue Python warnings at the caller's line outside this package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from grammar.errors import NotationWarning

PACKAGES = ("grammar", "namedtensor")
_SILENT = ContextVar("silent", default=False)


def warn(message: str) -> None:
    """Issue a NotationWarning."""
    warnings.warn(message, NotationWarning, stacklevel=_outside())


def warn_of_text(message: str) -> None:
    """Issue a NotationWarning about the text of a formula, except inside a `silent` block."""
    if not _SILENT.get():
        warn(message)


@contextmanager
def silent() -> Generator[None]:
    """Silence `warn_of_text` in the current thread inside the block.

    The package uses this for formulas that it generates.
    """
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


def _outside() -> int:
    """Find the innermost stack frame outside this package and the grammar. Return its level for `warnings.warn`."""
    level = 1
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PACKAGES:
        frame, level = frame.f_back, level + 1
    return level
