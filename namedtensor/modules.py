"""A compiled formula as a `torch.nn.Module`: what it declares are parameters, which optimisers and checkpoints know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

if TYPE_CHECKING:
    from .compiling import Compiled


def module(compiled: Compiled, parameters: Mapping[str, Any], sizes: Mapping[str, int] | None = None) -> Any:
    """A module whose parameters are these tensors of PyTorch, by the names of the formula.

    Raises NotationError where PyTorch is not installed, or a tensor is not one of its.
    """
    from .compiling import target_named

    target_named("torch")
    import torch  # type: ignore[import-not-found]

    from .plan import safe
    from .tensors import NamedTensor, tensor

    class FormulaModule(torch.nn.Module):
        """A formula with its parameters; named tensors go in and come out."""

        def __init__(self):
            super().__init__()
            self.axes: dict[str, tuple[str, ...]] = {}
            for name, value in parameters.items():
                if not isinstance(value, NamedTensor) or not isinstance(value.array, torch.Tensor):
                    raise NotationError(
                        317,
                        f"the parameter {name} is no tensor of PyTorch",
                        hint="convert it: nt.tensor(torch.asarray(…), axes)",
                    )
                self.axes[name] = value.axes
                array = value.array.detach()
                self.register_parameter(attribute(name), torch.nn.Parameter(array, array.is_floating_point()))

        def forward(self, *arguments: Any, **named: Any) -> Any:
            own = {name: tensor(getattr(self, attribute(name)), axes) for name, axes in self.axes.items()}
            return compiled(*arguments, values=own, sizes=sizes, **named)

    def attribute(name: str) -> str:
        return f"{safe(name)}"

    return FormulaModule()
