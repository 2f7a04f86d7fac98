"""Calls most of whose values stay the same, such as those of a model with its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar.errors import NotationError

from ..operators.user_functions import USER_FUNCTIONS
from .arguments import ARRAY, LAYOUT
from .call_cache import CachedCall

MAX_RUNS = 16  # kinds of calls


class BoundCall:
    """A callable, some of whose values are bound: a call looks at the layouts of the others alone."""

    def __init__(self, call: CachedCall, values: Mapping[str, Any], sizes: Mapping[str, int] | None = None):
        self._call, self._values, self._sizes = call, values, sizes
        self._arrays = tuple([value._array for value in values.values() if hasattr(value, "layout")])
        self._runs: dict[Any, Any] = {}  # by the names and layouts of what is not bound

    def __call__(self, values: Mapping[str, Any], *arguments: Any) -> Any:
        """Its value for values by name, and for arguments of a function. Raises NotationError if one does not fit."""
        given = (*arguments, *values.values())
        try:
            key = (USER_FUNCTIONS.version, len(arguments), *values, *map(LAYOUT, given))
            run = self._runs.get(key)
        except (AttributeError, TypeError):  # not all are tensors
            key = run = None
        if run is not None:
            arrays = (*map(ARRAY, given),)
            try:
                return run(*arrays[: len(arguments)], *self._arrays, *arrays[len(arguments) :])
            except NotationError as problem:
                raise problem.alone() from None
        everything = {**self._values, **values}
        result, used = self._call._called(arguments, everything, self._sizes, {})
        if (
            key is not None
            and used is not None
            and used.run is not None
            and len(everything) == len(self._values) + len(values)
        ):
            if len(used.names) == len(self._arrays) + len(given):
                self._runs = dict([*self._runs.items(), (key, used.run)][-MAX_RUNS:])
        return result
