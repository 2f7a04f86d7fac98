"""Three kinds of `lower` that most operators share: elementwise, over some axes, and a named primitive.

A *write* is an operator's own part: of numbers it takes the plan builder and its arguments, of axes the builder, one
argument and the axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.axes import Order
from .builder import Builder, Lower, Value, Write

CALLERS = ("sizes", "base")


def own_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are the operator's own, and not the caller's."""
    return {name: value for name, value in options.items() if name not in CALLERS}


def elementwise(write: Write, rule: str = "numbers") -> Lower:
    """Lower a function of numbers to one over the union of the axes (paper §3.2)."""

    def lower(b: Builder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        return write(b, *b.coerced(arguments, rule), **own_options(options))

    return lower


def of_axes(write: Write, rule: str = "numbers") -> Lower:
    """Lower a function of some axes (paper §3.3): write(b, x, axes), mapped over the others."""

    def lower(b: Builder, arguments: tuple[Any, ...], axes: Order, options: Mapping[str, Any]):
        (x,) = b.coerced(arguments, rule)
        return write(b, x, axes, **own_options(options))

    return lower


def named(primitive: str) -> Write:
    """The elementwise primitive of this name."""

    def write(b: Builder, *arguments: Any) -> Value:
        return b.elementwise(primitive, *arguments)

    return write


def countable(b: Builder, x: Any) -> Any:
    """Cast integers of a dtype that the library can neither compare nor index to 64 bits."""
    return b.cast(x, b.target.default_whole) if x.dtype in b.target.stored else x
