"""Layers in `flax.nnx` modules. A layer is a node with one `nnx.Param` for each parameter that is a tensor.

Flax updates variables in place. When Flax first requests the variables of a layer, the layer creates them, and from
then on reads its parameters from them. A layer outside of Flax modules does not have variables.
"""

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ..core.arrays import library
from ..core.hooks import WATCHER, when_first_seen
from ..tensors.pytrees import tensor_of_leaf
from .families import move_parameters

Layer: TypeAlias = Any  # of `layer.py`, which imports this file
_CLASSES: list[type] = []
_REGISTERED: set[type] = set()


Axes = tuple[tuple[str, tuple[str, ...]], ...]


class Variables(Mapping[str, Any]):
    """The parameters of a layer in a Flax module: named tensors that read the values of Flax variables, and numbers."""

    def __init__(self, axes: Axes, variables: dict[str, Any], numbers: Mapping[str, Any]):
        self.axes: Axes = axes  # of the parameters by name, in their order; numbers have none
        self.names: dict[str, tuple[str, ...]] = dict(axes)
        self.variables: dict[str, Any] = variables
        self.numbers: Mapping[str, Any] = numbers

    def __getitem__(self, name: str) -> Any:
        if name in self.numbers:
            return self.numbers[name]
        variable = self.variables[name]
        array = variable.get_value() if hasattr(variable, "get_value") else variable
        return tensor_of_leaf(self.names[name], (array,))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return repr(dict(self))


def also(layer_class: Any) -> None:
    """Register a layer class with Flax as soon as Flax is imported."""
    _CLASSES.append(layer_class)
    WATCHER.watch("flax.nnx")


def register() -> None:
    """Register the layer classes as Flax nodes, unless they are already registered."""
    from flax import nnx  # type: ignore[import-not-found]

    for layer_class in [*_CLASSES]:
        if layer_class not in _REGISTERED:
            if layer_class not in nnx.graphlib.GRAPH_REGISTRY:
                nnx.graphlib.register_graph_node_type(
                    layer_class, children, set_child, pop_child, empty_of(layer_class), clear, fill
                )
            _REGISTERED.add(layer_class)


def variables_of(layer: Layer) -> Variables:
    """Return the parameters of a layer as Flax variables. The first call creates the variables."""
    parameters = layer._kept
    if not isinstance(parameters, Variables):
        from flax import nnx  # type: ignore[import-not-found]

        numbers = {name: value for name, value in parameters.items() if isinstance(value, (int, float))}
        axes = tuple((name, () if name in numbers else value.axes) for name, value in parameters.items())
        tensors = {name: value for name, value in parameters.items() if name not in numbers}
        others = {name: value for name, value in tensors.items() if library(value.array) != "jax"}
        tensors |= move_parameters(others, "jax", None, None)
        variables = {name: nnx.Param(value.array, axes=value.axes) for name, value in tensors.items()}
        parameters = Variables(axes, variables, numbers)
        layer._read_from(parameters)
    return parameters


def children(layer: Layer) -> tuple[list[tuple[str, Any]], Any]:
    """Return the Flax variables of a layer by name, and the remaining parts of the layer."""
    variables = variables_of(layer)
    return sorted(variables.variables.items()), (variables.axes, tuple(variables.numbers.items()), layer._about)


def set_child(layer: Layer, name: Any, value: Any) -> None:
    variables_of(layer).variables[name] = value


def pop_child(layer: Layer, name: Any) -> Any:
    return variables_of(layer).variables.pop(name)


def empty_of(layer_class: Any) -> Any:
    def empty(rest: Any) -> Layer:
        axes, numbers, about = rest
        return layer_class._build_from_parts(Variables(axes, {}, dict(numbers)), about)

    return empty


def clear(layer: Layer) -> None:
    variables_of(layer).variables.clear()


def fill(layer: Layer, items: Iterable[tuple[Any, Any]]) -> None:
    variables_of(layer).variables.update(items)


when_first_seen("flax.nnx", register)
