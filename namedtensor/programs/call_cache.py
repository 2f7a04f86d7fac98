"""A call like the last one, for which nothing need be looked up: what formulas, functions and compiled ones keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..backends.function import no_match
from ..operators.user_functions import USER_FUNCTIONS


class CachedCall:
    """What is called, and keeps what its last call ran: one by position alone, and one with names beside these.

    Where that gives None the call is another one, and where it fails the long way tells why. A new Python function for
    formulas makes it forget.
    """

    _again: Callable[..., Any]
    _named: tuple[tuple[str, ...], Callable[..., Any]]  # one tuple, which another thread sees whole

    def __init__(self):
        self._forget()

    def __call__(self, *arguments: Any, values: Mapping[str, Any] | None = None, sizes=None, **named: Any):
        """Its value. A function takes its arguments by position; parameters and inputs come by name.

        Raises NotationError where what is given does not fit.
        """
        if values is None and sizes is None:
            try:
                if named:
                    names, again = self._named
                    result = again((*arguments, *named.values())) if (*named,) == names else None
                else:
                    result = self._again(arguments)
                if result is not None:
                    return result
            except Exception:  # whatever it is, the long way tells it well
                pass
        return self._called(arguments, values, sizes, named)

    def _called(self, arguments: tuple[Any, ...], values: Mapping[str, Any] | None, sizes: Any, named: dict[str, Any]):
        """The same, the long way."""
        raise NotImplementedError

    def _repeat(self, names: tuple[str, ...], again: Callable[..., Any]) -> None:
        if names:
            self._named = names, again
        else:
            self._again = again
        USER_FUNCTIONS.watched_by(self)

    def _forget(self) -> None:
        self._again, self._named = no_match, ((), no_match)
