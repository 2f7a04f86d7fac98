"""Formulas as `torch.nn.Module`s. Imported where one is asked for; without PyTorch none can be made.

A module has parameters under the names of the formulas, which optimisers, checkpoints and `state_dict` know; it runs what
its `made_of` says. Plain tensors go in and come out in an order of axes that is said once, named ones as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch.nn import Module
else:
    try:
        import torch
        from torch.nn import Module
    except ImportError:  # what lists the modules of this package imports this one, too
        Module = object

from grammar.errors import NotationError

from ..core.axes import names_of
from ..core.tensor import NamedTensor, concrete, tensor

DOT = "·"  # in a name for PyTorch, which parts names at points


class NamedModule(Module):
    """Parameters by the names of formulas; `inputs` says the axes of plain tensors, by the name of the input."""

    def __init__(self, parameters: Mapping[str, Any], inputs: Mapping[str, Any]):
        super().__init__()
        self._inputs = {name: names_of(axes) for name, axes in inputs.items()}
        self._axes_of = {name: value.axes for name, value in parameters.items() if isinstance(value, NamedTensor)}
        self._numbers = {name: value for name, value in parameters.items() if name not in self._axes_of}
        self._axes: tuple[str, ...] | None = None
        for name in self._axes_of:
            array = own_copy(parameters[name].array)
            self._keep(name.replace(".", DOT), torch.nn.Parameter(array, array.is_floating_point()))

    def _keep(self, name: str, parameter: torch.nn.Parameter) -> None:
        if hasattr(self, name):  # as `type`, which is a method too: it is a parameter by its name alone
            self._parameters[name] = parameter
        else:
            self.register_parameter(name, parameter)

    # --------------------------------------------------------------------------------------------------- to be filled in
    def run(self, parameters: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The value, of named tensors."""
        raise NotImplementedError

    def positional(self) -> tuple[str, ...]:
        """The names of the arguments that come by position."""
        raise NotImplementedError

    def formula(self) -> str:
        """What it computes, as text."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------- what it does
    @property
    def tensors(self) -> dict[str, Any]:
        """The parameters as named tensors, which share their arrays; numbers as they are."""
        found = {}
        for name, axes in self._axes_of.items():
            key = name.replace(".", DOT)
            array = self._parameters.get(key)
            found[name] = tensor(getattr(self, key) if array is None else array, axes)
        return {**found, **self._numbers}

    def detached(self) -> dict[str, Any]:
        """The same as they are now, apart from the module: later steps of training do not change them."""
        return {
            name: tensor(own_copy(value.array), value.axes) if name in self._axes_of else value
            for name, value in self.tensors.items()
        }

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the last result, in the order of its array: those of the inputs as said, then new ones."""
        if self._axes is None:
            raise NotationError(309, "the axes of the result are not known yet", hint="call the module first")
        return self._axes

    def forward(self, *arguments: Any, **named: Any) -> Any:
        """The value: an array of PyTorch where an input is one, and a named tensor where all are named."""
        names = self.positional()
        plain = any(isinstance(each, torch.Tensor) for each in (*arguments, *named.values()))
        given = tuple(self._named(each, name) for each, name in zip(arguments, (*names, *[""] * len(arguments))))
        by_name = {name: self._named(each, name) for name, each in named.items()}
        result = self.run(self.tensors, given, by_name)
        said = [axis for name in self._inputs for axis in self._inputs[name]]
        self._axes = tuple(dict.fromkeys([axis for axis in said if axis in result.axes] + list(result.axes)))
        return result.to_array(self._axes) if plain else result

    def _named(self, given: Any, name: str) -> Any:
        """An argument as a named tensor, where it is none and the order of its axes was said."""
        if not isinstance(given, torch.Tensor) or not given.shape:
            return given
        if name not in self._inputs:
            what = f"{name} is" if name else "an argument is"
            raise NotationError(
                317, f"{what} given as an array of {given.ndim} axes, whose order nobody said",
                hint=f'say it when the module is made: .module({name or "X"}="batch seq chans")',
            )  # fmt: skip
        axes = self._inputs[name]
        if given.ndim != len(axes):
            raise NotationError(
                316, f"{name} has the axes {', '.join(axes)}, as the module was told, and this array has {given.ndim}",
                hint="give a named tensor, which may have any extra axes, or make another module",
            )  # fmt: skip
        return tensor(given, axes)

    def extra_repr(self) -> str:
        shapes = [f"{name} : {value.shape}" for name, value in self.tensors.items() if name in self._axes_of]
        inputs = [f"{name} by the axes {' '.join(axes) or 'none'}" for name, axes in self._inputs.items()]
        return "\n".join([*self.formula().splitlines(), *shapes, *inputs])


class FormulaModule(NamedModule):
    """A compiled formula with its parameters."""

    def __init__(
        self,
        compiled: Callable[..., Any],
        arguments: tuple[str, ...],
        text: str,
        parameters: Mapping[str, Any],
        sizes: Mapping[str, int] | None,
        inputs: Mapping[str, Any],
    ):
        super().__init__(parameters, inputs)
        self.compiled, self.arguments, self.text, self.sizes = compiled, arguments, text, sizes

    def run(self, parameters: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return self.compiled(*arguments, values=parameters, sizes=self.sizes, **named)

    def positional(self) -> tuple[str, ...]:
        return self.arguments

    def formula(self) -> str:
        return self.text


def own_copy(array: Any) -> torch.Tensor:
    """An array of any library as one of PyTorch, whose numbers are its own: training changes them in place."""
    if isinstance(array, torch.Tensor):
        return array.detach().clone()
    return torch.tensor(concrete(array))
