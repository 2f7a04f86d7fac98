"""Layers as modules of PyTorch. Imported where a module is asked for, since it needs PyTorch."""

# pyright: reportPrivateUsage=false
# of layers, by what makes them again
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from namedtensor.programs.torch_forward import Goal
from namedtensor.programs.torch_module import NamedModule, in_default_dtype


class Kind(Protocol):
    """A class of layers, made again of its parts."""

    output: str

    def _of_parts(self, parameters: Mapping[str, Any], about: Any) -> Any: ...
    def _arguments(self) -> tuple[str, ...]: ...


class Parts(Protocol):
    """A layer: its parameters, and `about`, all else of it."""

    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def _about(self) -> Any: ...


class LayerModule(NamedModule):
    """A layer whose parameters are PyTorch's, to be trained; `layer` is the layer that they now make.

    `names` are what it computes: one name of the formulas, or several.
    """

    def __init__(
        self,
        kind: Kind,
        layer: Parts,
        inputs: Mapping[str, Any],
        names: str | tuple[str, ...] = "",
    ):
        super().__init__(in_default_dtype(layer.parameters), inputs)
        self.kind = kind
        self.about = layer._about
        self.names = names or kind.output
        self._plan()

    def run(self, parameters: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return self.kind._of_parts(parameters, self.about).evaluate(self.names, *arguments, **named)

    def positional(self) -> tuple[str, ...]:
        return self.kind._arguments()

    def goal(self) -> Goal:
        layer = self.kind._of_parts(self.tensors, self.about)
        entry = layer._program(dict.fromkeys(self._shapes))[self.names]
        needed = layer.inputs or self.positional() if self.names == self.kind.output else ()
        return Goal(entry._goal, layer.sizes, self.positional(), needed)

    def formula(self) -> str:
        return str(self.layer.formula)

    def outputs(self) -> tuple[str, ...]:
        return (self.names,) if isinstance(self.names, str) else self.names

    @property
    def layer(self) -> Any:
        """The layer of the parameters as they are now, which later steps of training do not change."""
        return self.kind._of_parts(self.detached(), self.about)
