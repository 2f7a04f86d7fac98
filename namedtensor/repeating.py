"""A call like the last one, for which nothing need be looked up: what formulas, functions and compiled ones keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .registered import PYTHON
from .running import never


class Repeating:
    """What keeps how it was called last, in one tuple, which another thread sees whole: what was given by name, after what
    was given by position, and what such a call runs. A new Python function for formulas makes it forget.

    A call tries it first. Where it gives None the call is another one, and where it fails the long way tells why.
    """

    _latest: tuple[tuple[str, ...], Callable[..., Any]]

    def __init__(self):
        self._forget()

    def _repeat(self, latest: tuple[tuple[str, ...], Callable[..., Any]]) -> None:
        if self._latest != latest:
            self._latest = latest
            PYTHON.watched_by(self)

    def _forget(self) -> None:
        self._latest = (), never
