"""A compiled formula as a `torch.nn.Module`: what it declares are parameters, which optimisers and checkpoints know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

if TYPE_CHECKING:
    from .compiled import CompiledFormula


def module(
    compiled: CompiledFormula, parameters: Mapping[str, Any], sizes: Mapping[str, int] | None, inputs: Mapping[str, Any]
) -> Any:
    """A module whose parameters are these tensors, by the names of the formula; see `torch_modules`.

    Raises NotationError where PyTorch is not installed, where the formula was compiled for another library, or where a
    parameter is no tensor.
    """
    from ..tensors.values import as_value
    from .compiled import target_named
    from .executable import spelling_of

    target_named("torch")
    if compiled.library not in (None, "torch"):
        raise NotationError(
            317, f"the formula was compiled for {compiled.library}, and a module is PyTorch's",
            hint='write compile("torch").module(…)',
        )  # fmt: skip
    from .named_module import FormulaModule

    values = {spelling_of(name): as_value(value, name) for name, value in parameters.items()}
    return FormulaModule(compiled, values, sizes, inputs)
