"""A call like the last one, for which nothing need be looked up: what formulas, functions and compiled ones keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .registered import PYTHON
from .running import never


class Repeating:
    """What keeps in `_again` how it was called last; a new Python function for formulas makes it forget.

    A call tries it first. Where it gives None the call is another one, and where it fails the long way tells why.
    """

    _again: Callable[..., Any]

    def __init__(self):
        self._again = never

    def _repeat(self, again: Callable[..., Any]) -> None:
        if self._again is not again:
            self._again = again
            PYTHON.watched_by(self)

    def _forget(self) -> None:
        self._again = never
