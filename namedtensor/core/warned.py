"""Python warnings, attributed to the caller's line outside this package."""

from __future__ import annotations

import sys
import warnings

from grammar.errors import NotationWarning

PACKAGES = ("grammar", "namedtensor")


def warn(message: str) -> None:
    """Give a NotationWarning."""
    warnings.warn(message, NotationWarning, stacklevel=_outside())


def _outside() -> int:
    """The stack level of the first frame outside this package and the grammar, counted from `warn`."""
    level = 1
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PACKAGES:
        frame, level = frame.f_back, level + 1
    return level
