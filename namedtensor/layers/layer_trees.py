"""Layers as JAX pytrees, in which the tensors are the leaves and the metadata is the structure."""

# pyright: reportPrivateUsage=false
# This module uses private members of layers to rebuild layers.
from __future__ import annotations

from functools import partial
from typing import Any

from grammar.errors import NotationError

from ..core.families import FamilyName
from ..tensors import pytrees as jax_trees
from . import flax_nodes
from .about import LayerMetadata


def tree_class(kind: type) -> jax_trees.TreeClass:
    """Return the `TreeClass` that JAX uses to flatten and rebuild layers of one class."""
    return jax_trees.TreeClass(kind, leaves, layer_from_leaves, keys, to_json, partial(from_json, kind))


def leaves(layer: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the leaves and the structure of a layer's JAX tree. The leaves are the layer's tensors.

    Layers whose parameters are Flax variables are also pytrees.
    """
    parameters = layer._kept
    if isinstance(parameters, flax_nodes.Variables):
        variables = tuple(parameters.variables[name] for name in parameters if name not in parameters.numbers)
        return variables, (
            type(layer),
            tuple(parameters),
            tuple(parameters.numbers.items()),
            layer._about,
            parameters.axes,
        )
    numbers = {name: value for name, value in parameters.items() if isinstance(value, (int, float))}
    tensors = tuple(value for name, value in parameters.items() if name not in numbers)
    return tensors, (type(layer), tuple(parameters), tuple(numbers.items()), layer._about, None)


def layer_from_leaves(tree: Any, values: Any) -> Any:
    """Build a layer without checks, because JAX also builds layers from objects that are not tensors."""
    kind, names, numbers, about, axes = tree
    constants = dict(numbers)
    tensors = iter(values)
    if axes is not None:
        variables = {name: next(tensors) for name in names if name not in constants}
        return kind._build_from_parts(flax_nodes.Variables(axes, variables, constants), about)
    return kind._build_from_parts(
        {name: constants[name] if name in constants else next(tensors) for name in names}, about
    )


def keys(tree: Any) -> tuple[Any, ...]:
    """Return the JAX path keys of a layer's tensors, which are their names in the formulas, as in ['W^{1,Q}']."""
    _, names, numbers, *_ = tree
    constants = dict(numbers)
    return tuple(jax_trees.name_key(name) for name in names if name not in constants)


def to_json(tree: Any) -> Any:
    """Return everything in a layer except its tensors, in the JSON form that a `jax.export` file stores."""
    _, names, numbers, about, axes = tree
    if about.sharding is not None or axes is not None:
        raise NotationError(
            409, "a layer over several devices, or in a module of Flax, cannot be an argument of an exported function that is saved",
            hint="export a function of the layer alone, on one device",
        )  # fmt: skip
    written = [[*name.members] if isinstance(name, FamilyName) else name for name in names]
    return [
        written,
        numbers,
        about.sizes,
        about.definitions,
        about.config,
        sorted(about.removed),
        about.stacked,
        about.strict,
    ]


def from_json(kind: type, written: Any) -> Any:
    names, numbers, sizes, definitions, config, removed, stacked, strict = written
    about = LayerMetadata(pairs(sizes), definitions, config, frozenset(removed), None, tuple(stacked), strict)
    names = tuple(name if isinstance(name, str) else FamilyName(tuple(name)) for name in names)
    return kind, names, pairs(numbers), about, None


def pairs(written: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in written)
