"""Calls most of whose values stay the same, such as those of a model with its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..operators.user_functions import USER_FUNCTIONS
from .arguments import ARRAY, LAYOUT
from .call_cache import CachedCall
from .executable import Run


class LastCall(NamedTuple):
    """What a call with the same layouts runs."""

    names: tuple[str, ...]  # of what was given by name
    layouts: tuple[Any, ...]  # of all that was given, after the version of the functions of formulas
    run: Run
    arrays: tuple[Any, ...]  # that are bound
    positional: int  # how many of its arrays come before these


class BoundCall:
    """A callable, some of whose values are bound, which threads may share.

    What is bound is looked at only where the rest has layouts that the last call's had not.
    """

    def __init__(self, call: CachedCall, values: Mapping[str, Any], sizes: Mapping[str, int] | None = None):
        self._call, self._values, self._sizes = call, values, sizes
        self._last: LastCall | None = None

    def __call__(self, values: Mapping[str, Any], *arguments: Any) -> Any:
        """Its value for values by name, and for arguments of a function. Raises NotationError if one does not fit."""
        given = (*arguments, *values.values())
        if self._last is not None and self._last.names == (*values,):
            result = self.repeated(given)
            if result is not None:
                return result
        everything = {**self._values, **values}
        result, used = self._call._called(arguments, everything, self._sizes, {})
        if used is not None and used.run is not None and len(everything) == len(self._values) + len(values):
            arrays = tuple([value._array for value in self._values.values() if hasattr(value, "layout")])
            if len(used.names) == len(arrays) + len(given):
                layouts = (USER_FUNCTIONS.version, *map(LAYOUT, given))
                self._last = LastCall((*values,), layouts, used.run, arrays, len(arguments))
        return result

    def repeated(self, given: Sequence[Any]) -> Any:
        """The value where all that is given, in the order of the last call, has the layouts of the last call; else None."""
        last = self._last
        try:
            if last is None or (USER_FUNCTIONS.version, *map(LAYOUT, given)) != last.layouts:
                return None
        except AttributeError:  # not all are tensors
            return None
        try:
            if not last.positional:
                return last.run(*last.arrays, *map(ARRAY, given))
            arrays = (*map(ARRAY, given),)
            return last.run(*arrays[: last.positional], *last.arrays, *arrays[last.positional :])
        except NotationError as problem:
            raise problem.alone() from None
