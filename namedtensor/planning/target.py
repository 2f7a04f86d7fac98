"""Targets: libraries that plans run on, with their native operations and dtype rules.

In a plan, a dtype is represented by its name, such as "float32", so that plans can be printed and compared. A target
maps these names to the library's dtype objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Protocol

from grammar.cache import Cache
from grammar.errors import NotationError

from ..core.arrays import dtype_name, dtype_object, kind_of

MAX_ASKED = 4096  # the limit on cached result dtypes


class Placement(Protocol):
    """A rule that places a plan's values on several devices.

    `spread` maps each sharded axis to its number of devices. `kernels` contains functions, by name, that replace
    functions which the generated source calls.

    `of_input` and `of_value` return the function that places an input or the value of a term. They return None if the
    value is not moved.
    """

    spread: Mapping[str, int]
    kernels: Mapping[str, Any]

    def of_input(self, name: str, sizes: Mapping[str, Any]) -> Callable[[Any], Any] | None: ...
    def of_value(self, term: Any, sizes: Mapping[str, Any]) -> Callable[[Any], Any] | None: ...


class Target:
    """A library that plans run on, with its native operations and dtype rules. Its `backend` generates source text."""

    def __init__(self, backend: Any, xp: Any):
        self.backend: Any = backend
        self.xp: Any = xp
        self.name: str = backend.name
        self.natives: frozenset[str] = backend.natives
        self.numbers: frozenset[str] = backend.numbers
        self.stored: frozenset[str] = backend.stored
        self.spread: Mapping[str, int] = {}  # maps each sharded axis to its number of devices
        self.placement: Placement | None = None  # the placement on these devices
        self._asked: Cache[tuple[Any, ...], str] = Cache(f"dtypes of {backend.name}", MAX_ASKED)

    def over(self, placement: Placement | None) -> Target:
        """Return a copy of the target that places values on devices, or the target itself if `placement` is None."""
        if placement is None:
            return self
        result = copy(self)
        result.spread, result.placement = placement.spread, placement
        return result

    def share(self, axes: Iterable[str]) -> int:
        """Return the number of devices that share a tensor with these axes."""
        return math.prod(self.spread.get(axis, 1) for axis in axes)

    @property
    def default_float(self) -> str:
        return self.backend.default_float(self.xp)

    @property
    def default_whole(self) -> str:
        return self.canonical("int64")

    @property
    def wide_float(self) -> str:
        """The library's widest float dtype, which is used if integer arithmetic may overflow."""
        return self.canonical("float64")

    @property
    def is_narrow(self) -> bool:
        """Whether the widest dtypes have 32 bits, as in JAX without `jax_enable_x64`."""
        return self.wide_float == "float32"

    def canonical(self, dtype: str) -> str:
        """Return the dtype that the library uses for a requested dtype. JAX has 64-bit dtypes only if enabled."""
        return self.backend.canonical(self.xp, dtype)

    def kind(self, dtype: str) -> str:
        """Return the kind of a dtype: b, i, u, f or c."""
        return kind_of(dtype)

    def is_native(self, dtype: str) -> bool:
        """Return whether a dtype is the library's own. NumPy arrays may also have dtypes of the package `ml_dtypes`."""
        if self.name != "numpy":
            return True
        import numpy as np

        return hasattr(np, dtype)

    def object_of(self, dtype: str) -> Any:
        """Return the library's dtype object for a dtype name."""
        return dtype_object(self.xp, dtype)

    def result_type(self, dtypes: Sequence[str]) -> str:
        """Return the library's common dtype for these dtypes. Raise NotationError if no such dtype exists."""
        different = tuple(dict.fromkeys(dtypes))
        if len(different) == 1:
            return different[0]
        try:
            return self._asked.get_or_build(
                different, lambda: dtype_name(self.xp.result_type(*map(self.object_of, different)))
            )
        except TypeError:  # NumPy has no common dtype for float16 and bfloat16.
            text = " and ".join(different)
            raise NotationError(405, f"{text} have no common dtype", hint='convert one: X.astype("float32")') from None

    def ask(self, primitive: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
        """Return the dtype of a primitive's result, as determined by running the library once on single elements."""
        kinds = tuple(
            [
                (argument.dtype, len(argument.shape)) if hasattr(argument, "order") else (argument, type(argument))
                for argument in arguments
            ]
        )
        key = (primitive, kinds, repr(options), self.default_float)
        return self._asked.get_or_build(key, lambda: self.backend.ask(self, primitive, arguments, options))
