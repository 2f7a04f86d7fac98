"""Named tensors as JAX pytrees: the array is the leaf, the axis names are in the tree structure.

So `jax.jit`, `jax.grad` and `jax.tree.map` take and return named tensors. The path of a leaf is the path of its tensor:
`['W']` for the parameter W of a layer. Named tensors are registered when JAX is first used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.arrays import Layout
from ..core.hooks import when_first_seen
from ..core.tensor import NamedTensor, wrap_array, wrap_layout
from .mapped_axes import (
    is_scanned,
    name_mismatched,
    name_slice,
    name_stacked,
    names_for_tree,
    nest_jacobian,
    register_vmap,
)


class TreeClass(NamedTuple):
    """A class whose instances are trees of JAX."""

    kind: type
    children: Callable[[Any], tuple[tuple[Any, ...], Any]]  # and the other parts of the instance
    from_children: Callable[[Any, Any], Any]
    keys: Callable[[Any], tuple[Any, ...]]  # of the children in paths, given the other parts
    to_json: Callable[[Any], Any]  # the other parts, for files of jax.export
    from_json: Callable[[Any], Any]


_OTHERS: list[TreeClass] = []
_REGISTERED: set[type] = set()


def register() -> None:
    """Register named tensors and their containers as pytrees, each once."""
    if NamedTensor not in _REGISTERED:
        register_vmap()
    register_class(TreeClass(NamedTensor, _children, tensor_of_leaf, lambda names: (array_key(),), list, tuple))
    for tree_class in [*_OTHERS]:
        register_class(tree_class)


def register_class(tree_class: TreeClass) -> None:
    """Register a class once."""
    kind, children, from_children, keys, to_json, from_json = tree_class
    if kind in _REGISTERED:
        return
    from jax import export, tree_util  # type: ignore[import-not-found]

    def children_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        parts, rest = children(value)
        return [*zip(keys(rest), parts)], rest

    try:
        tree_util.register_pytree_with_keys(kind, children_with_keys, from_children, children)
    except ValueError:  # another thread has just done so, or this one was interrupted when it had
        pass
    try:
        export.register_pytree_node_serialization(
            kind,
            serialized_name=f"{kind.__module__}.{kind.__qualname__}",
            serialize_auxdata=lambda rest: json.dumps(to_json(rest)).encode(),
            deserialize_auxdata=lambda data: from_json(json.loads(bytes(data))),
        )
    except ValueError:  # as above; or a class of this name was registered before
        pass
    _REGISTERED.add(kind)


def where_imported() -> None:
    """Register when JAX is imported, before any of its arrays is met."""
    if NamedTensor not in _REGISTERED and "jax" in sys.modules:
        register()


def also(tree_class: TreeClass) -> None:
    """Register a class that holds named tensors, when these are."""
    _OTHERS.append(tree_class)
    if NamedTensor in _REGISTERED:
        register_class(tree_class)


@cache
def array_key() -> Any:
    """Return the key of a tensor's array in a path. The text of the path does not show it."""
    from jax.tree_util import GetAttrKey  # type: ignore[import-not-found]

    class ArrayKey(GetAttrKey):
        def __str__(self) -> str:
            return ""

    return ArrayKey("array")


def name_key(name: str) -> Any:
    """Return the key of a child that has a name: ['W']."""
    from jax.tree_util import DictKey  # type: ignore[import-not-found]

    return DictKey(name)


def _children(tensor: NamedTensor) -> tuple[tuple[Any], Any]:
    return (tensor._array,), names_for_tree(tensor)


def tensor_of_leaf(names: tuple[str, ...], leaves: tuple[Any]) -> Any:
    """Return the tensor of a leaf, which is a slice of it in a scan; JAX also builds trees with other leaves."""
    (leaf,) = leaves
    axes = names if type(names) is tuple else tuple(names)
    if isinstance(leaf, NamedTensor):
        return nest_jacobian(leaf, axes)
    shape = getattr(leaf, "shape", None)
    if shape is None:
        return wrap_layout(leaf, Layout(axes, (), None, None))
    rank = len(shape)
    if rank != len(axes):
        tensor = None
        if rank == len(axes) - 1 and is_scanned(leaf):
            tensor = name_slice(leaf, axes)
        elif rank == len(axes) + 1:
            tensor = name_stacked(leaf, names)
        return name_mismatched(leaf, axes) if tensor is None else tensor
    try:
        return wrap_array(leaf, axes)
    except TypeError:  # a shape and a dtype, of jax.eval_shape or of a lowered function, and no array
        return wrap_layout(leaf, Layout(axes, tuple(shape), leaf.dtype, None))


def jax_module() -> Any:
    """Return JAX after registering named tensors. Raises NotationError if it is not installed."""
    try:
        import jax  # type: ignore[import-not-found]
    except ImportError:
        raise NotationError(408, "jax is not installed", hint="pip install '.[jax]'") from None
    register()
    return jax


@contextmanager
def keep_language_errors() -> Iterator[None]:
    """Keep errors of a formula as they were raised, without JAX's additions to errors that pass through it."""
    try:
        yield
    except NotationError as problem:
        plain = problem.replace()
        vars(plain).pop("__notes__", None)
        raise plain from None


when_first_seen("jax", register)
