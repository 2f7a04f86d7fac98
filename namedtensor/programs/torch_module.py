"""Formulas as `torch.nn.Module` objects. This module is imported on first use and requires PyTorch.

Optimizers, checkpoints and `state_dict` use the formula's names for the parameters of a module. Plain tensors have
their axes in a declared order. The generated `forward` method supports all their sizes (see `torch_forward.py`). Other
arguments, such as named tensors, are evaluated by an ordinary call of the formula.
"""

from __future__ import annotations

import os
import traceback
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import torch
    from torch.nn import Module
else:
    try:
        import torch
        from torch.nn import Module
    except ImportError:  # tools that list the package's modules import this one, too
        Module = object

from grammar.errors import NotationError

from ..core.array_data import concrete
from ..core.tensor import NamedTensor, tensor
from . import torch_export
from .arguments import spelling_of
from .entries import Entry, WholeProgram, argument_names
from .torch_forward import Forward, Goal, forward_for, order_of, shape_of

DOT = "·"  # replaces the dots in a parameter's name, because PyTorch splits names at dots


class NamedModule(Module):
    """A module whose parameters have the names in the formulas. `inputs` maps each plain tensor's name to its axes."""

    def __init__(self, parameters: Mapping[str, Any], inputs: Mapping[str, Any]):
        super().__init__()
        self._shapes = {spelling_of(name): shape_of(axes) for name, axes in inputs.items()}
        self._axes_of = {name: value.axes for name, value in parameters.items() if isinstance(value, NamedTensor)}
        self._keys = {name.replace(".", DOT): name for name in self._axes_of}  # PyTorch's names of the parameters
        self._numbers = {name: value for name, value in parameters.items() if name not in self._axes_of}
        self._axes: tuple[tuple[str, ...], ...] | None = None
        self._planned: Forward | None = None
        self._problem: NotationError | None = None  # the reason why `forward` could not be generated
        self._constants: tuple[str, ...] = ()  # the names of buffers that `forward` uses
        self._own = frozenset(dir(self))
        for key, name in self._keys.items():
            array = own_copy(parameters[name].array)
            self._keep(key, torch.nn.Parameter(array, array.is_floating_point()))

    def _keep(self, name: str, parameter: torch.nn.Parameter) -> None:
        if hasattr(self, name):  # PyTorch does not register a parameter with the name of a method, such as `type`.
            self._parameters[name] = parameter
        else:
            self.register_parameter(name, parameter)

    # -------------------------------------------------------------------------------------------------- abstract methods
    @abstractmethod
    def run(self, parameters: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return the value for parameters and inputs that are named tensors."""

    @abstractmethod
    def positional(self) -> tuple[str, ...]:
        """Return the names of the inputs that a call may pass by position."""

    @abstractmethod
    def goal(self) -> Goal:
        """Return the description of the module's value that the planner needs to generate `forward`."""

    @abstractmethod
    def formula(self) -> str:
        """Return the source text of the formula that the module computes."""

    @abstractmethod
    def outputs(self) -> tuple[str, ...]:
        """Return the names of the module's results."""

    # --------------------------------------------------------------------------------------------------------- its forward
    def _plan(self) -> None:
        """Generate `forward` for the current parameters if this is possible."""
        self.__dict__.pop("forward", None)
        self._planned = self._problem = None
        for name in self._constants:
            delattr(self, name)
        self._constants = ()
        if not self._shapes:
            return
        keys = {name: key for key, name in self._keys.items()}
        try:
            self._planned = forward_for(self.goal(), self.tensors, self._shapes, keys, self._own.__contains__)
        except NotationError as problem:
            self._problem = problem
        else:
            self._axes = self._planned.axes
            self.__dict__["forward"] = MethodType(self._planned.function, self)
            device, _ = self._where()
            for name, constant in self._planned.buffers.items():
                self.register_buffer(name, constant.to(device), persistent=False)
            self._constants = tuple(self._planned.buffers)

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        dtypes = self._dtypes()
        super()._apply(fn, recurse)
        if dtypes != self._dtypes():
            self._plan()
        return self

    def _dtypes(self) -> list[torch.dtype]:
        return [parameter.dtype for parameter in self._parameters.values() if parameter is not None]

    def __getstate__(self) -> dict[str, Any]:  # `forward` is generated again
        without = {"forward": None, "_planned": None, "_problem": None}
        return {name: value for name, value in self.__dict__.items() if name not in without}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._plan()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the value, which is a named tensor if all inputs are named, and otherwise a PyTorch tensor."""
        arrays = self._arrays(arguments, named)
        if arrays is None:
            return super().__call__(*arguments, **named) if self._planned is None else self.named(*arguments, **named)
        if torch.compiler.is_compiling():
            return super().__call__(*arrays)
        try:
            return super().__call__(*arrays)
        except ValueError as problem:
            if not self._is_from_forward(problem):
                raise
            return self.named(*arguments, **named)  # `forward` rejects the sizes

    def _is_from_forward(self, problem: Exception) -> bool:
        """Return whether an error comes from the generated `forward`, and not from a hook."""
        frames = traceback.walk_tb(problem.__traceback__)
        return self._planned is not None and any(frame.f_code is self._planned.function.__code__ for frame, _ in frames)

    def _arrays(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...] | None:
        """Return the arguments to pass to `forward`, or None if `forward` does not accept them."""
        planned = self._planned
        if planned is None or len(arguments) + len(named) != len(planned.inputs):
            return None
        if named:
            try:
                arguments += tuple([named[name] for name in planned.inputs[len(arguments) :]])
            except KeyError:
                return None
        if not all(isinstance(argument, torch.Tensor) for argument in arguments):
            return None
        if torch.compiler.is_compiling():
            return arguments
        return arguments if planned.accepts(arguments, self._arrays_of_parameters()) else None

    def _arrays_of_parameters(self) -> list[Any]:
        parameters = self._parameters
        return [getattr(self, key) if parameters.get(key) is None else parameters[key] for key in self._keys]

    # -------------------------------------------------------------------------------------------- parameters and results
    @property
    def tensors(self) -> dict[str, Any]:
        """The parameters: named tensors that share the module's arrays, and numbers."""
        return {
            **{
                name: tensor(array, axes)
                for (name, axes), array in zip(self._axes_of.items(), self._arrays_of_parameters())
            },
            **self._numbers,
        }

    def detach_parameters(self) -> dict[str, Any]:
        """Return a copy of the module's parameters that later training steps do not change."""
        return {
            name: tensor(own_copy(value.array), value.axes) if name in self._axes_of else value
            for name, value in self.tensors.items()
        }

    @property
    def axes(self) -> Any:
        """The axes of the result in array order: the axes of the inputs as declared, and then new axes.

        A module with several results has a tuple with the axes of each result.
        """
        if self._axes is None:
            raise NotationError(309, "the axes of the result are not yet known", hint="call the module first")
        return self._axes if len(self.outputs()) > 1 else self._axes[0]

    def named(self, *arguments: Any, **named: Any) -> Any:
        """Return the value for arguments that the generated `forward` does not accept.

        Such arguments are named tensors and tensors of other ranks, dtypes or sizes.
        """
        names = (*self.positional(), *[""] * len(arguments))
        plain = any(isinstance(argument, torch.Tensor) for argument in (*arguments, *named.values()))
        by_position = tuple(self._named(argument, name) for argument, name in zip(arguments, names))
        by_name = {name: self._named(argument, name) for name, argument in named.items()}
        value = self.run(self.tensors, by_position, by_name)
        results = value if isinstance(value, tuple) else (value,)
        if self._planned is None:
            self._axes = tuple(order_of(result.axes, self._shapes.values()) for result in results)
        if not plain:
            return value
        arrays = tuple(result.to_array(axes) for result, axes in zip(results, self._orders(results)))
        return arrays if isinstance(value, tuple) else arrays[0]

    def _orders(self, results: Sequence[NamedTensor]) -> list[tuple[str, ...]]:
        """Return the axis order of each result: the planned order or, for other axes, the order in the inputs."""
        orders = self._axes or ((),) * len(results)
        return [
            order if set(order) == set(result.axes) else order_of(result.axes, self._shapes.values())
            for result, order in zip(results, orders)
        ]

    forward = named

    # ------------------------------------------------------------------------------------------------------------ export
    def export(self) -> torch.export.ExportedProgram:
        """Export the module with `torch.export`. Every axis without a declared number has a dynamic size.

        Returns
        -------
        torch.export.ExportedProgram
            The exported program. It rejects the same sizes as `forward`.

        Raises
        ------
        NotationError
            If the axes of an input are not declared, or the size of an axis must be fixed.
        """
        return torch_export.export_module(self, self._forward_to_export(), *self._where())

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs, in the order in which `forward` accepts them."""
        return self._forward_to_export().inputs

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the module's results."""
        return self.outputs()

    @property
    def dynamic_shapes(self) -> tuple[dict[int, Any], ...]:
        """The open axes of each input by position, for `dynamic_shapes=` of `torch.export` and `torch.onnx`."""
        return torch_export.dynamic_shapes(self._forward_to_export())

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        """Return arrays of ones for tracing the module. Different open axes have different sizes if possible."""
        return torch_export.arrays_of(self._forward_to_export(), *self._where())

    def _forward_to_export(self) -> Forward:
        return torch_export.forward_of(self._planned, self._problem)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the module to an ONNX file whose inputs, outputs and dynamic axes have the formula's names.

        Parameters
        ----------
        path : str or os.PathLike
            Path of the file.

        Raises
        ------
        NotationError
            If `export` would raise it, or onnx or onnxscript is not installed.
        """
        torch_export.to_onnx(self, self._forward_to_export(), path, self.outputs(), *self._where())

    def _where(self) -> tuple[Any, torch.dtype]:
        """Return the device and the dtype of the first floating parameter, or the CPU and float32 if there is none."""
        floating = [parameter for parameter in self.parameters() if parameter.is_floating_point()]
        return (floating[0].device, floating[0].dtype) if floating else (torch.device("cpu"), torch.float32)

    def zeros(self, shape: Sequence[int]) -> torch.Tensor:
        """Return a tensor of zeros, with the dtype and on the device of the module's parameters."""
        device, dtype = self._where()
        return torch.zeros(tuple(shape), dtype=dtype, device=device)

    def _named(self, given: Any, name: str) -> Any:
        """Convert a PyTorch tensor to a named tensor. Return any other argument, or a tensor without axes, unchanged.

        Raises NotationError if the input's axes are not declared, or their number differs.
        """
        if not isinstance(given, torch.Tensor) or not given.shape:
            return given
        if not name or spelling_of(name) not in self._shapes:
            what = f"{name} is" if name else "an argument is"
            raise NotationError(
                317, f"{what} an array of {given.ndim} axes without names",
                hint=f'pass the axes by name when you create the module: .module({name or "X"}="batch seq chans")',
            )  # fmt: skip
        axes = tuple(self._shapes[spelling_of(name)])
        if given.ndim != len(axes):
            raise NotationError(
                316, f"the module expects {name} with axes {', '.join(axes)}, got an array of {given.ndim} axes",
                hint="pass a named tensor, which may have extra axes, or create another module",
            )  # fmt: skip
        return tensor(given, axes)

    def extra_repr(self) -> str:
        shapes = [f"{name} : {value.shape}" for name, value in self.tensors.items() if name in self._axes_of]
        inputs = [f"{name} by the axes {' '.join(axes) or 'none'}" for name, axes in self._shapes.items()]
        problem = [f"planned again for other sizes, since {self._problem.message}"] if self._problem else []
        return "\n".join([*self.formula().splitlines(), *shapes, *inputs, *problem])


class FormulaModule(NamedModule):
    """A module that computes a compiled formula and has the formula's parameters."""

    def __init__(
        self,
        compiled: Callable[..., Any],
        entry: WholeProgram | Entry,
        text: str,
        parameters: Mapping[str, Any],
        sizes: Mapping[str, int] | None,
        inputs: Mapping[str, Any],
    ):
        super().__init__(parameters, inputs)
        self.compiled, self.entry, self.text, self.sizes = compiled, entry, text, sizes
        self._plan()

    def run(self, parameters: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return self.compiled(*arguments, values=parameters, sizes=self.sizes, **named)

    def positional(self) -> tuple[str, ...]:
        return tuple(argument_names(self.entry))

    def goal(self) -> Goal:
        return Goal(self.entry, self.sizes or {}, self.positional(), self.positional())

    def formula(self) -> str:
        return self.text

    def outputs(self) -> tuple[str, ...]:
        function = self.entry.function()
        return (getattr(self.entry, "name", "value") if function is None else function.title,)


def own_copy(array: Any) -> torch.Tensor:
    """Copy an array of any library to a PyTorch tensor, which training can then change in place."""
    if isinstance(array, torch.Tensor):
        return array.detach().clone()
    return torch.tensor(concrete(array))


def to_default_dtype(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as PyTorch tensors. Arrays that are PyTorch tensors keep their dtype.

    Double-precision arrays of other libraries, such as the arrays that `init` returns, are converted to PyTorch's
    default dtype.
    """
    converted: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, NamedTensor) and not isinstance(value.array, torch.Tensor):
            array = own_copy(value.array)
            array = array.to(torch.get_default_dtype()) if array.dtype == torch.float64 else array
            value = tensor(array, value.axes)
        converted[name] = value
    return converted
