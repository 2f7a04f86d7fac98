"""A Python warning, told of the line outside this package that is to be looked at."""

from __future__ import annotations

import sys
import warnings

from grammar.errors import NotationWarning


def warn(message: str) -> None:
    """Give a NotationWarning."""
    warnings.warn(message, NotationWarning, stacklevel=_outside())


def _outside() -> int:
    """How many frames above `warn`'s the first stands that is not of this package: of whom a warning speaks."""
    package, level = __name__.partition(".")[0], 1
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level
