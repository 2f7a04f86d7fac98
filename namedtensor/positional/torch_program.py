"""The program that a PyTorch module is converted to, with its text, tensors and source lines."""

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
from grammar.nodes import Node
from grammar.printer import to_text

from ..core.tensor import NamedTensor, tensor
from ..programs.evaluate import evaluate
from ..programs.program import Program
from ..scope.names import walk
from .axes import AxisVariable, Move, axes_of
from .naming import RepeatedAxisError, names_of
from .torch_graph import GIVEN, GraphReader
from .torch_names import axis_words, write_parameter_name
from .torch_records import DeclaredTensor, RecordedLine, Remark, Varying
from .torch_tensors import TracedTensor
from .torch_trace import NOWHERE, SourceLine, Subject, UnreadableModuleError
from .values import DividedSizeError, Names, number, write_node


@dataclass(frozen=True)
class ModuleInputs:
    """The axes of one input or parameter of a module, used to convert its arrays to named tensors.

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
        by_name = {**dict(zip(self._given, arrays)), **{self._find_name(name): array for name, array in named.items()}}
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

    def _find_name(self, name: str) -> str:
        return next((spelled for spelled, inputs in self._given.items() if inputs.path == name), name)

    def __repr__(self) -> str:
        return self.text


def truth_free(array: Any) -> Any:
    return array.to(torch.int64) if isinstance(array, torch.Tensor) and array.dtype == torch.bool else array


DRAWN = 8  # a random index is less than this number


class ProgramWriter:
    """A writer that names all axes and builds the program from the translated nodes."""

    def __init__(self, reader: GraphReader, value: TracedTensor, subject: Subject):
        self.reader, self.value, self.subject = reader, reader.with_axes(value), subject
        reader.axes.apart(self.value.axes)
        self.prefer_given(reader.axes.expand_axes(self.value.axes))
        tensors = [declared.node for declared in reader.declared.values()] + [line.name for line in reader.lines]
        taken = {to_text(base_of(name)) for name in tensors} | reader.names.indices
        try:
            self.names: Names = names_of(reader.axes, taken)
        except RepeatedAxisError:
            raise UnreadableModuleError("a value would have one axis twice") from None

    def prefer_given(self, result: Sequence[AxisVariable]) -> None:
        """Prefer the given names, without primes, as the names of the result's axes."""
        axes = self.reader.axes
        kinds = [axis.kind for axis in result]
        for axis in result:
            if axis.kind.name in axes.given and kinds.count(axis.kind) == 1:
                axes.moves.insert(0, Move(axes.given[axis.kind.name], axis))

    def find_unused_parameters(self) -> dict[str, str]:
        """Return the parameters that the module does not use, as a map from their names to their sets.

        The axes come from the given names of the parameter or its weight, or else from matching sizes. A parameter is
        left out if neither determines its axes.
        """
        sets = {}
        read = {path for declared in self.reader.declared.values() for path, _ in members_of(declared)}
        for path, array in self.subject.parameters.items():
            if path not in read:
                axes = self.axes_for(path, array)
                if axes is not None:
                    node = self.reader.names.fresh(write_parameter_name(path))
                    sets[to_text(node)] = to_text(
                        nodes.Set("reals", (), tuple((nodes.Axis(axis), None) for axis in axes))
                    )
        return sets

    def axes_for(self, path: str, array: torch.Tensor) -> list[str] | None:
        if path in self.reader.given:
            return [name for word in axis_words(self.reader.given[path]) for name, _ in word]
        weight = f"{path.removesuffix('bias')}weight"
        if path.endswith("bias") and weight in self.reader.given:
            return [name for name, _ in axis_words(self.reader.given[weight])[0]]
        sizes = {
            name: size
            for declared in self.reader.declared.values()
            for axis in axes_of(declared.dims)
            for name, size in self.list_parts(axis)
        }
        names = [[name for name, size in sizes.items() if size == length] for length in array.shape]
        return [fitting[0] for fitting in names] if all(names) else None

    def program(self, notes: Sequence[str]) -> ReadModule:
        try:
            return self.read_module(notes)
        except DividedSizeError:
            raise UnreadableModuleError("an axis is indexed and falls into parts, too") from None

    def read_module(self, notes: Sequence[str]) -> ReadModule:
        reader = self.reader
        stated: set[str] = set()
        declarations = [self.declaration(tensor, stated) for tensor in reader.declared.values()]
        equations = [self.equation(line) for line in reader.lines]
        node = reader.resolve(self.value.node)
        body = write_node(nodes.Indicator(node) if self.value.truth else node, self.names)
        sizes = self.state_open_sizes(stated, equations, body)
        last = self.last(body)
        tree = nodes.Program((*declarations, *sizes, *equations, *last))
        inputs: dict[str, ModuleInputs] = {}
        parameters: dict[str, NamedTensor] = {}
        constants: list[str] = []
        sets: dict[str, str] = {}
        for declared, declaration in zip(reader.declared.values(), declarations):
            dims = tuple(tuple(pair for axis in dim for pair in self.list_parts(axis)) for dim in declared.dims)
            for number_of_member, (path, array) in enumerate(members_of(declared), 1):
                name = to_text(number_member(declared, number_of_member))
                sets[name] = self.find_sampling_set(declaration)
                module_inputs = ModuleInputs(name, path, dims)
                if declared.kind in GIVEN:
                    inputs[name] = module_inputs
                else:
                    parameters[name] = module_inputs.named(truth_free(array))
                    if declared.kind != "parameter" and "running_" not in path:  # statistics change in training
                        constants.append(name)
        result = [tuple((name, None) for axis in dim for name in self.names[axis.key]) for dim in self.value.dims]
        steps = [(step.source, *step.callers) for step in reader.runs.steps]
        remarks, unused = tuple(reader.remarks), self.find_unused_parameters()
        return ReadModule(
            tree,
            to_text(tree),
            parameters,
            tuple(constants),
            remarks,
            tuple(notes),
            sets,
            unused,
            inputs,
            result,
            steps,
        )

    def last(self, body: Node) -> list[nodes.Statement]:
        text = to_text(body)
        defined = [to_text(line.name) for line in self.reader.lines]
        if defined and text == defined[-1]:
            return []
        if text[:1] in "−-+" or text in defined:
            return [nodes.Equation((self.reader.names.fresh(nodes.Name("Y")), body))]
        return [nodes.Value(body)]

    def equation(self, line: RecordedLine) -> nodes.Equation:
        spans = write_node(merge_ranges(line.ranges), self.names) if line.ranges else None
        return nodes.Equation(
            (write_node(line.name, self.names), write_node(self.reader.resolve(line.value), self.names)), (), spans
        )

    def list_parts(self, axis: AxisVariable) -> list[tuple[str, int | None]]:
        """Return the name and size of each part of an axis. A free size is None."""
        parts = self.reader.axes.parts(axis)
        sizes = [part.kind.size for part in parts]
        return [(name, None if isinstance(size, Varying) else size) for name, size in zip(self.names[axis.key], sizes)]

    def declaration(self, declared: DeclaredTensor, stated: set[str]) -> nodes.Declaration:
        items = []
        for axis in axes_of(declared.dims):
            for name, size in self.list_parts(axis):
                node = number(size) if size is not None and name not in stated else None
                stated.add(name)
                items.append((nodes.Axis(name), node))
        whole = (
            not declared.array.dtype.is_floating_point
            and bool(declared.array.numel())
            and int(declared.array.min()) >= 0
        )
        binary = declared.array.dtype == torch.bool or declared.kind == "mask"
        domain = "elements" if binary else "naturals" if whole else "reals"
        elements = (number(0), number(1)) if domain == "elements" else ()
        count = number(len(declared.members))
        span = nodes.Range(declared.index, number(1), count) if declared.members else None
        return nodes.Declaration((declared.node,), (nodes.Set(domain, elements, tuple(items)),), span)

    def find_sampling_set(self, declaration: nodes.Declaration) -> str:
        """Return the set of the random values for a declared tensor, as text.

        Natural numbers are limited to 0, …, 7, and to the indices of the shortest axis that they index.
        """
        (domain,) = declaration.sets
        if domain.domain == "naturals":
            count = min(self.reader.bounds.get(to_text(declaration.names[0]), DRAWN), DRAWN)
            domain = nodes.Set("elements", tuple(map(number, range(count))), domain.axes)
        return to_text(domain)

    def state_open_sizes(
        self, stated: set[str], equations: Sequence[nodes.Equation], body: Node
    ) -> list[nodes.Statement]:
        """Return equations such as |heads| = 8 for used axes whose sizes no declaration states."""
        used = {name for part in (*equations, body) for node in walk(part) for name in made_axes(node)}
        result: list[nodes.Statement] = []
        by_name = {
            name: part
            for key, axis in self.reader.axes.all.items()
            for name, part in zip(self.names[key], self.reader.axes.parts(axis))
        }
        for name in sorted(used & set(by_name)):
            if name in stated:
                continue
            size = by_name[name].kind.size
            value = None if size is None else self.reader.expression_of(size)
            if value is not None:
                result.append(nodes.Equation((nodes.Size(nodes.Axis(name)), write_node(value, self.names))))
        return result


def base_of(name: Node) -> Node:
    """Return a name without its indices or arguments."""
    if isinstance(name, nodes.Call):
        return nodes.Name(name.operator)
    return base_of(name.base) if isinstance(name, (nodes.Superscript, nodes.Index)) else name


def members_of(declared: DeclaredTensor) -> tuple[tuple[str, torch.Tensor], ...]:
    """Return the path and the tensor of each member of a family or, for a single declared tensor, of this tensor."""
    return declared.members or ((declared.path, declared.array),)


def number_member(declared: DeclaredTensor, member: int) -> Node:
    """Return the name of a family's member, with its number as the index."""
    return nodes.Superscript(base_of(declared.node), (number(member),)) if declared.members else declared.node


def merge_ranges(ranges: Sequence[nodes.Range]) -> nodes.Range:
    """Return several ranges as one chain of ranges, as in for l = 1, …, 8 for t = 1, …, |seq|."""
    first, *rest = ranges
    return replace(first, further=merge_ranges(rest)) if rest else first


def made_axes(node: Any) -> set[str]:
    """Return the names of axes that a node such as iota, a split or a merge uses without stating their sizes."""
    if isinstance(node, nodes.Subscript) and isinstance(node.base, nodes.Name) and node.base.text in ("iota", "ones"):
        return set(map(to_text, node.components))
    if isinstance(node, nodes.Call) and node.operator in ("unroll", "pool", "maxk", "argmaxk"):
        return set(map(to_text, node.subscript))
    if isinstance(node, nodes.Rename):
        return {axis.name for old, new in node.items if len(old) != len(new) for axis in new}
    return {node.axis.name} if isinstance(node, nodes.Size) else set()
