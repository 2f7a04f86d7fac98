"""Symbols for the sizes that a function reads from its arrays when it runs, and the size conditions that it checks."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from grammar.errors import NotationError

from ..core.arrays import Layout
from ..core.extents import Extent, SizeSymbol, UndecidedSizeError, extent
from ..core.size_conditions import SizeCondition, conditions
from ..core.sizes import is_ground, resolve
from ..planning.plan import safe
from .arguments import DTYPE, fill_shape

Result = TypeVar("Result")
RESERVED = frozenset((*keyword.kwlist, *dir(builtins), "out", "x", "xp", "np", "jnp", "torch", "jax", "math", "self"))
GENERATED = re.compile(r"[tcx]\d+|c\d+|function\w*|buffer_\d+|block\w*|loop\w*|slice\w*|scores\w*")  # names of plans


class SizeSymbols:
    """The symbols for the sizes of open axes. Each symbol has a unique name in the source text."""

    def __init__(self, taken: Collection[str]):
        self.taken = {*taken, *RESERVED}
        self.by_axis: dict[str, Extent] = {}

    def of(self, axis: str) -> Extent:
        if axis not in self.by_axis:
            self.by_axis[axis] = extent(SizeSymbol(self.name(axis), axis))
        return self.by_axis[axis]

    def name(self, axis: str) -> str:
        """Return an identifier for the size of an axis: seq, seq_prime, or size_of_n if the text already uses n."""
        text = re.sub(r"\W", "_", axis.replace("'", "_prime").replace("*", "_star").replace("†", "_dagger"))
        if not text.isidentifier() or text in self.taken or GENERATED.fullmatch(text):
            text = f"size_of_{text}"
        while text in self.taken:
            text += "_"
        self.taken.add(text)
        return text

    def layout(self, value: Any, name: str, sizes: Mapping[str, int], dtype: str = DTYPE) -> Any:
        """Return the layout of an input, with a symbol for each open size. Return a plain number unchanged."""
        layout = getattr(value, "layout", None)
        if isinstance(layout, Layout):
            return layout
        if isinstance(value, (int, float)):
            return value
        shape = fill_shape(value, name, sizes)
        extents = tuple(resolve(size) if is_ground(size) else self.of(axis) for axis, size in shape.items())
        return Layout(tuple(shape), extents, dtype, None)  # type: ignore[arg-type]


def names_in(values: Collection[str]) -> set[str]:
    """Return these names of inputs, together with the identifiers that stand for them in source text."""
    return {text for name in values for text in (safe(name), name)}


def with_conditions(make: Callable[[], Result]) -> tuple[Result, tuple[SizeCondition, ...]]:
    """Return the result of `make`, and the conditions on sizes under which it is valid.

    Raises NotationError (309) if `make` needs an open size as a number.
    """
    try:
        with conditions() as collected:
            return make(), tuple(collected.found)
    except UndecidedSizeError as problem:
        axis = next(iter(problem.size.symbols)).axis
        raise NotationError(
            309, f"the formula needs the size of {axis} as a number", hint=f"declare it, as in ℝ^{{{axis}[3]}}",
            axis=axis,
        ) from None  # fmt: skip
