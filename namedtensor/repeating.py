"""A call like the last one, for which nothing need be looked up: what formulas, functions and compiled ones keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .registered import PYTHON
from .running import never


class Repeating:
    """What keeps what its last call ran: the last by position alone, and the last with names, beside these.

    A call tries it first. Where it gives None the call is another one, and where it fails the long way tells why. A new
    Python function for formulas makes it forget.
    """

    _again: Callable[..., Any]
    _named: tuple[tuple[str, ...], Callable[..., Any]]  # one tuple, which another thread sees whole

    def __init__(self):
        self._forget()

    def _repeat(self, names: tuple[str, ...], again: Callable[..., Any]) -> None:
        if names:
            self._named = names, again
        else:
            self._again = again
        PYTHON.watched_by(self)

    def _forget(self) -> None:
        self._again, self._named = never, ((), never)
