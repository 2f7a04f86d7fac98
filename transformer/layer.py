"""What a layer is: its formulas, and a tensor for each parameter that they declare.

A layer is written by its notation alone. Its names, its shapes and its errors come from there:

    class Linear(Layer):
        \"""A linear map and a shift.\"""

        source = "…"
        notation = \"""
            Linear : ℝ^{chans} → ℝ^{out}
            Linear(X) = X ⊙_{chans} W + b
            W ∈ ℝ^{chans × out}
            b ∈ ℝ^{out}
        \"""
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import namedtensor as nt
from namedtensor import jax_trees
from namedtensor.initial import Schemes

from .parameters import checked, expected, spelled


class _Formula:
    """The formulas of a layer, parsed when they are first asked for; of its class as of its instances."""

    def __get__(self, layer: Layer | None, owner: type[Layer]) -> nt.Program:
        if "_formula" not in owner.__dict__:
            owner._formula = nt.program(owner.notation, syntax="text")
        return owner._formula


class Layer:
    """Formulas, and a tensor for each parameter that they declare; immutable.

    `parameters` are the tensors by name; `sizes` the numbers that no parameter shows, such as how many layers there are.
    Numbers among the parameters are constants of the formulas, such as ε. Raises NotationError where a parameter is
    missing, is not in the formulas, or has another shape than they declare.
    """

    notation: ClassVar[str] = ""
    source: ClassVar[str] = ""
    value: ClassVar[str] = ""  # the name that a call computes; else the one that the class has
    inputs: ClassVar[tuple[str, ...]] = ()  # declared names that a call gives by position, where `value` is a tensor
    schemes: ClassVar[Schemes] = {}
    formula: ClassVar[Any] = _Formula()
    _formula: ClassVar[nt.Program]

    def __init_subclass__(cls) -> None:
        cls.notation = inspect.cleandoc(cls.notation)
        cls.value = cls.__dict__.get("value", cls.__name__)
        shown = "\n".join("    " + line for line in cls.notation.splitlines())
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{shown}\n\nSource: {cls.source}."
        jax_trees.also(cls, _leaves, _of_leaves)

    def __init__(self, parameters: Mapping[str, Any], sizes: Mapping[str, int] | None = None):
        self._set(checked(self, spelled(parameters), dict(sizes or {})), dict(sizes or {}))

    def _set(self, parameters: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(parameters)))
        object.__setattr__(self, "sizes", MappingProxyType(dict(sizes)))

    parameters: Mapping[str, Any]
    sizes: Mapping[str, int]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a layer does not change; write layer.replace({name}=…) for a new one")

    # ---------------------------------------------------------------------------------------------------- making one
    @classmethod
    def init(
        cls,
        seed: int = 0,
        sizes: Mapping[str, int] | None = None,
        dtype: str = "float64",
        schemes: Schemes | None = None,
        constants: Mapping[str, float] | None = None,
    ) -> Self:
        """A layer with the published initialisation: `sizes` are those of the axes, and how many layers there are.

        `schemes` initialises otherwise, by name (see `namedtensor.initial`); `constants` gives numbers such as ε. Raises
        NotationError where a size that a parameter needs is not known.
        """
        names = expected(cls, sizes or {})
        found = cls.formula.init(seed, sizes, dtype, {**cls.schemes, **(schemes or {})}, only=names)
        axes = {axis for tensor in found.values() for axis in tensor.axes}
        left = {name: size for name, size in (sizes or {}).items() if name not in axes}
        return cls({**found, **(constants or {})}, left)

    def replace(self, parameters: Mapping[str, Any] | None = None, /, **named: Any) -> Self:
        """A layer with other values for some parameters. Raises NotationError where one does not fit."""
        return type(self)({**self.parameters, **spelled({**(parameters or {}), **named})}, self.sizes)

    # ------------------------------------------------------------------------------------------------------ using it
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The layer's value. Arguments may carry any further axes; the layer is mapped over those."""
        return self.at(self.value, *arguments, **named)

    def at(self, name: str | tuple[str, ...], *arguments: Any, **named: Any) -> Any:
        """The value of any name of the formulas, such as the attention of a layer; of several names, a tuple."""
        if self.inputs and arguments:
            if len(arguments) > len(self.inputs):
                raise nt.NotationError(
                    304, f"{type(self).__name__} takes {', '.join(self.inputs)}, and was given {len(arguments)} arguments"
                )
            named, arguments = {**dict(zip(self.inputs, arguments)), **named}, ()
        return self.formula[name](*arguments, values={**self.parameters, **named}, sizes=self.sizes)

    def explain(self, *arguments: Any, **named: Any) -> Any:
        """Every step of the layer in order: sub-formula, type, value."""
        if self.inputs and arguments:
            named, arguments = {**dict(zip(self.inputs, arguments)), **named}, ()
        return self.formula[self.value].explain(*arguments, values={**self.parameters, **named}, sizes=self.sizes)

    # ---------------------------------------------------------------------------------------------------- keeping it
    def save(self, place: str | os.PathLike[str]) -> None:
        """Write the parameters to a safetensors file, with the names of their axes."""
        tensors = {name: value for name, value in self.parameters.items() if isinstance(value, nt.NamedTensor)}
        numbers = {name: value for name, value in self.parameters.items() if name not in tensors}
        about = {"layer": type(self).__name__, "sizes": json.dumps(dict(self.sizes)), "numbers": json.dumps(numbers)}
        nt.save_tensors(place, tensors, about)

    @classmethod
    def load(cls, place: str | os.PathLike[str]) -> Self:
        """A layer from the file that `save` wrote. Raises NotationError where the file holds another, or is no such file."""
        from namedtensor.tensor_files import TensorFile

        about = TensorFile(place).metadata
        kept = about.get("layer")
        if kept != cls.__name__:
            holds = f"holds {kept}" if kept else "does not say which layer it holds"
            raise nt.NotationError(409, f"{place} {holds}, and is to be read as {cls.__name__}")
        numbers, sizes = json.loads(about.get("numbers", "{}")), json.loads(about.get("sizes", "{}"))
        return cls({**nt.load_tensors(place), **numbers}, sizes)

    # ------------------------------------------------------------------------------------------------- how it looks
    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}:"] + ["    " + line for line in str(self.formula).splitlines()]
        for name, value in self.parameters.items():
            lines.append(f"    {name} = {value.shape if isinstance(value, nt.NamedTensor) else value}")
        return "\n".join(lines + [f"    {name} = {size}" for name, size in self.sizes.items()])

    def _repr_latex_(self) -> str:
        return self.formula._repr_latex_()


def _leaves(layer: Layer) -> tuple[tuple[Any, ...], Any]:
    return tuple(layer.parameters.values()), (type(layer), tuple(layer.parameters), tuple(layer.sizes.items()))


def _of_leaves(about: Any, values: Any) -> Layer:
    """JAX makes layers of what is no tensor too, so nothing is checked here."""
    kind, names, sizes = about
    layer = object.__new__(kind)
    layer._set(dict(zip(names, values)), dict(sizes))
    return layer
