"""Calls in which most values do not change, such as calls of a model with its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from ..operators.user_functions import USER_FUNCTIONS
from .arguments import ARRAY, LAYOUT
from .call_cache import CachedCall

MAX_RUNS = 16  # compiled plans that a bound call keeps


class BoundCall:
    """A callable with some values bound. Each call examines only the layouts of the values that are not bound."""

    def __init__(self, call: CachedCall, values: Mapping[str, Any], sizes: Mapping[str, int] | None = None):
        self._call, self._values, self._sizes = call, values, sizes
        self._arrays = tuple([value._array for value in values.values() if hasattr(value, "layout")])
        self._runs: dict[Any, Any] = {}  # compiled plans by the names and layouts of the values that a call gives

    def __call__(self, values: Mapping[str, Any], *arguments: Any) -> Any:
        """Return the value for these values by name and, if the callable is a function, these positional arguments.

        Raises NotationError if an input does not fit.
        """
        given, count = (*arguments, *values.values()), len(arguments)
        try:
            key = (USER_FUNCTIONS.version, count, *values, *map(LAYOUT, given))
            run = self._runs.get(key)
        except (AttributeError, TypeError):  # Some values are not tensors.
            key = run = None
        try:
            if run is not None:
                return run(*map(ARRAY, arguments), *self._arrays, *map(ARRAY, values.values()))
            everything = {**self._values, **values}
            result, used = self._call._slow_path(arguments, everything, self._sizes, {}, None)
        except NotationError as problem:
            raise problem.alone() from None
        is_whole = len(everything) == len(self._values) + len(values)  # False if a given value replaces a bound value
        if key is not None and is_whole and used is not None:
            if len(used.names) == len(self._arrays) + len(given):
                self._runs = dict([*self._runs.items(), (key, used)][-MAX_RUNS:])
        return result
