"""Layers as PyTorch modules. This file imports PyTorch, so it is imported only on request."""

# pyright: reportPrivateUsage=false
# This module uses private members of layers to rebuild layers.
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.kinds import wrong
from ..programs.named_plans import target_named
from ..programs.torch_forward import Goal
from ..programs.torch_module import NamedModule, to_default_dtype

if TYPE_CHECKING:
    from ..programs.program import Program


class LayerModule(NamedModule):
    """A layer as a `torch.nn.Module`. The property `layer` returns a layer with the current parameter values.

    `layer.module(…)` returns an instance. Subclasses may compute other formulas.

    Parameters
    ----------
    layer : Layer
        The layer.
    inputs : mapping of str to (str or iterable of str)
        The axes of each input, in order, such as {"X": "batch seq chans"}.
    names : str or tuple of str, optional
        The name or names that the module computes (default: the value of a call).
    formulas : Program, optional
        Formulas to compute instead of the layer's formulas. In this case, `forward` accepts all `inputs`, in order.
    orders : tuple of tuple of str, optional
        The axes of each result, in order (default: the axes of the inputs, followed by new axes).

    Raises
    ------
    NotationError
        If PyTorch is not installed (408), or an input is not declared.
    """

    def __init__(
        self,
        layer: Any,
        inputs: Mapping[str, Any],
        names: str | tuple[str, ...] = "",
        formulas: Program | None = None,
        orders: tuple[tuple[str, ...], ...] = (),
    ):
        target_named("torch")
        if not hasattr(layer, "_about"):
            raise wrong(layer, "the first argument of LayerModule", "a layer", "write LayerModule(FFN.init(…), …)")
        super().__init__(to_default_dtype(layer.parameters), inputs)
        self.kind: Any = type(layer)
        self.about = layer._about
        self.names = names or self.kind.output
        self.formulas, self.orders = formulas, orders
        self._plan()

    def run(self, parameters: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if self.formulas is None:
            return self.kind._build_from_parts(parameters, self.about).evaluate(self.names, *arguments, **named)
        inputs = {**dict(zip(self.positional(), arguments)), **named}
        replaced = [name for name in named if name in self.formulas.names]  # definitions that this call replaces
        formulas = self.formulas.replace_definitions(remove=replaced) if replaced else self.formulas
        return formulas[self.names](values={**parameters, **inputs}, sizes=self._sizes() or None)

    def _sizes(self) -> dict[str, int]:
        return dict(self.about.sizes)

    def positional(self) -> tuple[str, ...]:
        return self.kind._arguments() if self.formulas is None else tuple(self._shapes)

    def goal(self) -> Goal:
        if self.formulas is not None:
            goal: Any = self.formulas[self.names]._goal
            return Goal(goal, self._sizes(), self.positional(), self.positional(), self.orders)
        layer = self.kind._build_from_parts(self.tensors, self.about)
        entry = layer._program(dict.fromkeys(self._shapes))[self.names]
        needed = layer.inputs or self.positional() if self.names == self.kind.output else ()
        return Goal(entry._goal, layer.sizes, self.positional(), needed, self.orders)

    def formula(self) -> str:
        return str(self.layer.formula)

    def outputs(self) -> tuple[str, ...]:
        return (self.names,) if isinstance(self.names, str) else self.names

    @property
    def layer(self) -> Any:
        """A layer with a copy of the current parameter values, which further training does not change."""
        return self.kind._build_from_parts(self.detach_parameters(), self.about)
