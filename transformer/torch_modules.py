"""Layers as modules of PyTorch. Imported where a module is asked for, since it needs PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from namedtensor.programs.torch_module import NamedModule

from .layer import About, Layer, _of_parts


class LayerModule(NamedModule):
    """A layer whose parameters are PyTorch's, to be trained; `layer` is the layer that they now make."""

    def __init__(self, layer: Layer, inputs: Mapping[str, Any]):
        super().__init__(layer.parameters, inputs)
        self.kind: type[Layer] = type(layer)
        self.about: About = layer.about

    def run(self, parameters: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return _of_parts(self.kind, parameters, self.about)(*arguments, **named)

    def positional(self) -> tuple[str, ...]:
        return self.kind._arguments()

    def formula(self) -> str:
        return str(self.layer.formula)

    @property
    def layer(self) -> Layer:
        """The layer of the parameters as they are now, which later steps of training do not change."""
        return _of_parts(self.kind, self.detached(), self.about)
