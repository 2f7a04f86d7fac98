"""JAX's pytrees: a named tensor's array is the leaf, the names of its axes are the tree.

So `jax.jit`, `jax.grad` and `jax.tree.map` take and give named tensors. JAX is told when the first of its arrays is met.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from grammar.errors import NotationError

from ..core.hooks import when_first_seen
from ..core.layout import Layout
from ..core.tensor import NamedTensor, made, made_as

_OTHERS: list[tuple[type, Callable[..., Any], Callable[..., Any]]] = []
_REGISTERED: set[type] = set()


def register() -> None:
    """Register named tensors as pytrees, and what holds them; each once."""
    register_class(NamedTensor, lambda tensor: ((tensor._array,), tensor.axes), _tree)
    for each in [*_OTHERS]:
        register_class(*each)


def register_class(kind: type, leaves: Callable[..., Any], made_of: Callable[..., Any]) -> None:
    """Register a class, where that was not done."""
    if kind in _REGISTERED:
        return
    from jax import tree_util  # type: ignore[import-not-found]

    try:
        tree_util.register_pytree_node(kind, leaves, made_of)
    except ValueError:  # another thread has just done so, or this one was interrupted when it had
        pass
    _REGISTERED.add(kind)


def where_imported() -> None:
    """Register when JAX is imported, before any of its arrays is met."""
    if NamedTensor not in _REGISTERED and "jax" in sys.modules:
        register()


def also(kind: type, leaves: Callable[..., Any], made_of: Callable[..., Any]) -> None:
    """Register a class that holds named tensors, when these are: its leaves, and what it is made of."""
    _OTHERS.append((kind, leaves, made_of))
    if NamedTensor in _REGISTERED:
        register_class(kind, leaves, made_of)


def _tree(axes: tuple[str, ...], leaves: tuple[Any]) -> Any:
    """The tensor of a leaf; JAX also makes trees of leaves that are no arrays."""
    (leaf,) = leaves
    if len(getattr(leaf, "shape", "?" * (len(axes) + 1))) != len(axes):
        return made_as(leaf, Layout(axes, (), None, None))
    try:
        return made(leaf, axes)
    except TypeError:  # a shape and a dtype, of jax.eval_shape or of a lowered function, and no array
        return made_as(leaf, Layout(axes, tuple(leaf.shape), leaf.dtype, None))


def jax_module() -> Any:
    """JAX, told of named tensors. Raises NotationError where it is not installed."""
    try:
        import jax  # type: ignore[import-not-found]
    except ImportError:
        raise NotationError(408, "jax is not installed", hint="pip install '.[jax]'") from None
    register()
    return jax


@contextmanager
def of_the_language() -> Iterator[None]:
    """Errors of a formula as they were raised, without what JAX writes below those that pass through it."""
    try:
        yield
    except NotationError as problem:
        raise problem.replace() from None


when_first_seen("jax", register)
