"""Named tensors as JAX pytrees. The array is the leaf, and the tree structure contains the axis names.

As pytrees, named tensors can be passed to `jax.jit`, `jax.grad` and `jax.tree.map`, which also return named tensors.
The path of a leaf is the path of its tensor, such as `['W']` for the parameter W of a layer. The first use of JAX
registers named tensors.
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
    """A class to register as a JAX pytree, and the functions that flatten and rebuild its instances."""

    kind: type
    children: Callable[[Any], tuple[tuple[Any, ...], Any]]  # and the other parts of the instance
    from_children: Callable[[Any, Any], Any]
    keys: Callable[[Any], tuple[Any, ...]]  # of the children in paths, given the other parts
    to_json: Callable[[Any], Any]  # the other parts, for files of jax.export
    from_json: Callable[[Any], Any]


_OTHERS: list[TreeClass] = []
_REGISTERED: set[type] = set()


def register() -> None:
    """Register named tensors and the classes that contain them as pytrees, unless they are already registered."""
    if NamedTensor not in _REGISTERED:
        register_vmap()
    register_class(TreeClass(NamedTensor, _children, tensor_of_leaf, lambda names: (array_key(),), list, tuple))
    for tree_class in [*_OTHERS]:
        register_class(tree_class)


def register_class(tree_class: TreeClass) -> None:
    """Register a class as a pytree, unless it is already registered."""
    kind, children, from_children, keys, to_json, from_json = tree_class
    if kind in _REGISTERED:
        return
    from jax import export, tree_util  # type: ignore[import-not-found]

    def children_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        parts, rest = children(value)
        return [*zip(keys(rest), parts)], rest

    try:
        tree_util.register_pytree_with_keys(kind, children_with_keys, from_children, children)
    except ValueError:  # another thread has just registered it, or an interrupted call had
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
    """Register named tensors as pytrees if JAX is already imported."""
    if NamedTensor not in _REGISTERED and "jax" in sys.modules:
        register()


def also(tree_class: TreeClass) -> None:
    """Register a class that contains named tensors as a pytree as soon as named tensors are registered."""
    _OTHERS.append(tree_class)
    if NamedTensor in _REGISTERED:
        register_class(tree_class)


@cache
def array_key() -> Any:
    """Return the JAX path key of a tensor's array, which is not shown in printed paths."""
    from jax.tree_util import GetAttrKey  # type: ignore[import-not-found]

    class ArrayKey(GetAttrKey):
        def __str__(self) -> str:
            return ""

    return ArrayKey("array")


def name_key(name: str) -> Any:
    """Return the JAX path key of a child with this name. It is printed as ['W'] for W."""
    from jax.tree_util import DictKey  # type: ignore[import-not-found]

    return DictKey(name)


def _children(tensor: NamedTensor) -> tuple[tuple[Any], Any]:
    return (tensor._array,), names_for_tree(tensor)


def tensor_of_leaf(names: tuple[str, ...], leaves: tuple[Any]) -> Any:
    """Rebuild a tensor with these axis names from its leaf: an array, a slice of it, a tensor, or another object.

    JAX passes slices inside of scans, and other objects as placeholders for arrays.
    """
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
    """Import JAX, register named tensors, and return the module. Raise NotationError if JAX is not installed."""
    try:
        import jax  # type: ignore[import-not-found]
    except ImportError:
        raise NotationError(408, "jax is not installed", hint="pip install '.[jax]'") from None
    register()
    return jax


@contextmanager
def keep_language_errors() -> Iterator[None]:
    """Re-raise each NotationError without the notes that JAX adds to errors from traced functions."""
    try:
        yield
    except NotationError as problem:
        plain = problem.replace()
        vars(plain).pop("__notes__", None)
        raise plain from None


when_first_seen("jax", register)
