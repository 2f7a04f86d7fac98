"""A module as a program, with its text, its tensors and its source lines."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from grammar import nodes
from grammar.cache import cached_property
from grammar.errors import NotationError, NotationWarning
from grammar.printer import to_text

from ..core.tensor import NamedTensor, tensor
from ..programs.evaluate import evaluate
from ..programs.program import Program
from .torch_records import Remark
from .torch_trace import NOWHERE, SourceLine


@dataclass(frozen=True)
class ModuleInputs:
    """The conversion of an array of the source to a named tensor.

    `dims` contains the axes of each dimension with their sizes. The size of a free axis is None.
    """

    name: str
    path: str
    dims: tuple[tuple[tuple[str, int | None], ...], ...]

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for dim in self.dims for axis, _ in dim)

    def named(self, array: Any) -> NamedTensor:
        if len(array.shape) != len(self.dims):
            raise NotationError(302, f"{self.path} has {len(array.shape)} dimensions; expected {len(self.dims)}")
        shape: list[int] = []
        for dim, length in zip(self.dims, array.shape):
            known = math.prod(size or 1 for _, size in dim)
            if length % known or (length != known and all(size for _, size in dim)):
                axes = ", ".join(axis for axis, _ in dim) or "no axis"
                raise NotationError(
                    302, f"{self.path} has {length} elements along {axes}, and the program is for {known}"
                )
            shape += [size or length // known for _, size in dim]
        return tensor(array.reshape(shape), list(self.axes))


@dataclass(eq=False, repr=False)
class ReadModule:
    """A PyTorch module that was converted to a program.

    Attributes
    ----------
    text : str
        The program, that is, its declarations, a line for each named value, and the final value.
    axes : tuple of str
        The axes of the value, in the order of the source's dimensions.
    inputs, parameters : dict
        The axes of each input, and the tensors of the module, by their names in the program.
    constants : tuple of str
        The names of the tensors that training does not change, such as buffers and constants of the code.
    remarks : tuple of Remark
        Views that split a named axis or regroup several axes, with their source lines.
    reading : tuple of str
        The assumptions, such as sizes that are fixed as in the example inputs, and omitted results.
    sources : dict
        The source line for each name that the program defines.
    """

    tree: nodes.Program
    text: str
    parameters: dict[str, NamedTensor]
    constants: tuple[str, ...]
    remarks: tuple[Remark, ...]
    reading: tuple[str, ...]
    types: dict[str, str]
    unused: dict[str, str]
    _given: dict[str, ModuleInputs]
    _result: Sequence[Sequence[tuple[str, int | None]]]
    _steps: Sequence[tuple[SourceLine, ...]]

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for dim in self._result for axis, _ in dim)

    @property
    def inputs(self) -> dict[str, tuple[str, ...]]:
        return {name: inputs.axes for name, inputs in self._given.items()}

    @cached_property
    def program(self) -> Program:
        return Program(self.text, "text")

    @property
    def formula(self) -> str:
        """The program without its declarations."""
        statements = [statement for statement in self.tree.statements if not isinstance(statement, nodes.Declaration)]
        return to_text(nodes.Program(tuple(statements)))

    @property
    def sources(self) -> dict[str, SourceLine]:
        equations = [statement for statement in self.tree.statements if isinstance(statement, nodes.Equation)]
        return {to_text(equation.sides[0]): self.source_of(equation.sides[1]) for equation in equations}

    def source_of(self, node: Any) -> SourceLine:
        """Return the source line that a node of the program was translated from."""
        return self.lines_of(node)[0]

    def lines_of(self, node: Any) -> tuple[SourceLine, ...]:
        """Return the source line of a node and the lines that called it, innermost first."""
        span = getattr(node, "span", (0, 0))
        return self._steps[span[0] - 1] if 0 < span[0] <= len(self._steps) else (NOWHERE,)

    def evaluate(self, **inputs: Any) -> NamedTensor:
        """Return the value of the program for named tensors."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotationWarning)  # the axes are the source's axes
            return evaluate(self.text, {**self.parameters, **inputs}, syntax="text")

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Return the value for plain arrays. The dimensions of arrays and result are in the source's order."""
        by_name = {**dict(zip(self._given, arrays)), **{self._spelled(name): array for name, array in named.items()}}
        tensors = {name: self._given[name].named(truth_free(array)) for name, array in by_name.items()}
        array = self.evaluate(**tensors).to_array(list(self.axes))
        sizes = dict(zip(self.axes, array.shape))
        return array.reshape([math.prod(sizes[axis] for axis, _ in dim) for dim in self._result])

    def _convert_to_double(self) -> ReadModule:
        """Return the program with its parameters in double precision."""
        arrays = {name: (value.to_array(list(value.axes)), list(value.axes)) for name, value in self.parameters.items()}
        doubled = {
            name: tensor(array.double() if array.is_floating_point() else array, axes)
            for name, (array, axes) in arrays.items()
        }
        return replace(self, parameters=doubled)

    def _spelled(self, name: str) -> str:
        return next((spelled for spelled, inputs in self._given.items() if inputs.path == name), name)

    def __repr__(self) -> str:
        return self.text


def truth_free(array: Any) -> Any:
    return array.to(torch.int64) if isinstance(array, torch.Tensor) and array.dtype == torch.bool else array
