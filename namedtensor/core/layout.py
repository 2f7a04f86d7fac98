"""Layouts: the names, sizes, dtype and library of a tensor, apart from its numbers; interned.

Equal layouts are one object, so that a prepared call is found by identity, and names and shapes are read once, when a
tensor is made, and not at each use.
"""

from __future__ import annotations

from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError
from grammar.plain_text import encodable

from .arrays import dtype_name, namespace, wide
from .axes import show

MOST = 4096  # layouts, and calls of one operator, that are kept


class Layout:
    """Axes in storage order, their sizes, the dtype and the namespace of an array; `wide`, where it may change, says
    whether the library's numbers may have 64 bits: a plan for one is not one for the other."""

    __slots__ = ("axes", "extent", "dtype", "xp", "wide")

    def __init__(self, axes: tuple[str, ...], extent: tuple[int, ...], dtype: Any, xp: Any, wide: bool | None = None):
        self.axes: tuple[str, ...] = axes
        self.extent: tuple[int, ...] = extent
        self.dtype: Any = dtype
        self.xp: Any = xp
        self.wide: bool | None = wide

    @property
    def sizes(self) -> dict[str, int]:
        """Axis name to size, in storage order."""
        return dict(zip(self.axes, self.extent))

    @property
    def is_truth(self) -> bool:
        """Whether the dtype is boolean."""
        return dtype_name(self.dtype) == "bool"

    @encodable
    def __repr__(self) -> str:
        return f"Layout({show(self.sizes)}, {self.dtype})"


class UnnamedAxes(Layout):
    """The layout of an array that JAX put in the place of one of another rank: its axes are unknown.

    `names` are those of the replaced array, which the pytree still has.
    """

    __slots__ = ("array_shape", "names", "problem")

    def __init__(self, names: tuple[str, ...], array_shape: tuple[Any, ...], dtype: Any, problem: NotationError):
        self.names: tuple[str, ...] = names
        self.array_shape: tuple[Any, ...] = array_shape
        self.dtype = dtype
        self.problem: NotationError = problem

    def _fail(self) -> Any:
        raise self.problem.replace()

    axes = extent = xp = wide = property(_fail)  # type: ignore[assignment]

    @encodable
    def __repr__(self) -> str:
        return f"UnnamedAxes({' × '.join(map(str, self.array_shape))} for {', '.join(self.names) or 'no axes'})"


def is_dimension(size: Any) -> bool:
    """Whether a size is a symbolic dimension of JAX's, which arrays have while `jax.export` traces."""
    return type(size).__name__ == "_DimExpr" and type(size).__module__.startswith("jax.")


_INTERNED: Cache[tuple[tuple[str, ...], tuple[int, ...], Any, Any, bool | None], Layout] = Cache("layouts", MOST)


def layout_of(array: Any, axes: tuple[str, ...]) -> Layout:
    """The layout of an array with these axes.

    >>> import numpy as np
    >>> layout_of(np.zeros(3), ("seq",)) is layout_of(np.ones(3), ("seq",))
    True
    """
    xp = namespace(array)
    key = (axes, tuple(array.shape), array.dtype, xp, wide(xp))
    found = _INTERNED.get(key)
    return _new(*key) if found is None else found


def _new(axes: tuple[str, ...], extent: tuple[Any, ...], dtype: Any, xp: Any, wide: bool | None) -> Layout:
    """An interned layout; one of its own where a size is a symbolic dimension of JAX's, whose comparisons have a scope."""
    if any(type(size) is not int and is_dimension(size) for size in extent):
        return Layout(axes, extent, dtype, xp, wide)
    key = (axes, extent, dtype, xp, wide)
    return _INTERNED.get_or_build(key, lambda: Layout(*key))


def renamed(layout: Layout, axes: tuple[str, ...]) -> Layout:
    """The same layout under other names."""
    key = (axes, layout.extent, layout.dtype, layout.xp, layout.wide)
    found = _INTERNED.get(key)
    return _new(*key) if found is None else found
