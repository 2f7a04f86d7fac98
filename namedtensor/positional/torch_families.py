"""Translation of repeated layers: parameters become families, and values passed between layers form a recurrence.

h^0 = x
h^l = relu(h^{l-1} ⊙_{chans} W^l + b^l) for l = 1, …, 8
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from grammar import nodes
from grammar.nodes import Node
from grammar.printer import to_text

from .torch_graph import GraphReader
from .torch_names import write_parameter_name
from .torch_records import DeclaredTensor, Runs, needed_for, stamp_node
from .torch_repeats import Carried, Repeat, RepeatMember
from .torch_tensors import TracedTensor
from .torch_trace import Ref, UnreadableModuleError
from .values import call, number

INDICES = ("l", "m", "n", "k")


class ModuleFunction(NamedTuple):
    """A module that was translated to a function: its name, and tensors with the axes of its parameters and result."""

    name: str
    parameters: tuple[TracedTensor, ...]
    result: TracedTensor


class LayerReader(GraphReader):
    """A graph reader that translates repeated layers and repeated calls only once."""

    def __init__(
        self, runs: Runs, given: Mapping[str, str], free: Mapping[int, tuple[int, str, int]], repeats: Sequence[Repeat]
    ):
        super().__init__(runs, given, free)
        self.first_steps = {repeat.blocks[0][0]: repeat for repeat in repeats if not repeat.function}
        self.calls = {
            block[0]: (repeat, call)
            for repeat in repeats
            if repeat.function
            for call, block in enumerate(repeat.blocks)
        }
        self.later_steps = {number for repeat in repeats for block in repeat.blocks for number in block}
        self.functions: dict[str, ModuleFunction] = {}  # by the path of the module
        self.head: Node | None = None  # left-hand side of the function that is being defined
        self.results: dict[
            Ref, TracedTensor | None
        ] = {}  # results of the current layer that get names, each with a tensor that has its axes
        self.bases: dict[Ref, Node] = {}

    def needed(self, output: Ref) -> list[int]:
        initial = [carried.initial for repeat in self.first_steps.values() for carried in repeat.carried]
        for repeat, number_of_call in self.calls.values():
            initial += [argument.members[0] for argument in repeat.families if number_of_call == 0]
        self.uses.update(initial)
        return needed_for(self.runs.steps, self.makers, [output, *initial])

    def step(self, number: int) -> None:
        if number in self.first_steps and not self.ranges:
            self.layers(self.first_steps[number])
        elif number in self.calls and self.head is None:
            self.call(*self.calls[number])
        elif self.head is not None or self.ranges or number not in self.later_steps:
            super().step(number)

    # ------------------------------------------------------------------------------------------------------------ layers
    def layers(self, repeat: Repeat) -> None:
        """Translate a group of equal layers by translating the first layer, with an index for the layer number."""
        index, count = self.index(*INDICES), len(repeat.blocks)
        self.current = repeat.blocks[0][0]
        for carried in repeat.carried:
            self.begin(carried, index)
        for family in repeat.families:
            self.tensors[family.ref] = self.family(family, index)
        self.results.update({several[0]: self.results.get(several[0]) for several in repeat.leaving})
        self.ranges = (nodes.Range(index, nodes.Number(1), nodes.Number(count)),)
        inside = self.inside(repeat.blocks[0])
        self.ranges = ()
        for several in repeat.leaving:
            for layer, ref in enumerate(several, 1):
                self.tensors[ref] = self.member(inside[several[0]], several[0], number(layer))
        self.results, self.bases = {}, {}

    def inside(self, block: Sequence[int]) -> dict[Ref, TracedTensor]:
        """Translate a layer's steps, and return the tensors, keyed by reference. Do not keep the layer's tensors."""
        before = dict(self.tensors)
        for number_of_step in block:
            super().step(number_of_step)
        inside, self.tensors = self.tensors, before
        return inside

    def begin(self, carried: Carried, index: nodes.Name) -> None:
        """Define the input of the first layer as member 0 of the family of values that pass between layers."""
        initial = self.tensor(carried.initial).used(self.axes)
        if initial.truth:
            raise UnreadableModuleError("the value that passes between layers is a condition")
        initial = self.with_axes(initial)
        if carried.result not in self.bases:
            step = self.runs.steps[self.makers[carried.result]]
            self.bases[carried.result] = self.names.of_value(step.source, step.path, step.operator)
        elif self.results.get(carried.result) is not None:
            raise UnreadableModuleError("the first layer takes two tensors in place of one result of the layer before")
        base = self.bases[carried.result]
        self.equation(nodes.Superscript(base, (number(0),)), initial.node)
        self.results[carried.result] = initial
        self.tensors[carried.ref] = self.member(initial, carried.result, call("-", (index, number(1))))

    def member(self, like: TracedTensor, result: Ref, index: Node) -> TracedTensor:
        """Return the member of a family of values at this index, with the axes of `like`."""
        node = nodes.Superscript(self.bases[result], (index,))
        return TracedTensor(node, like.dims, named=True)

    def named_result(self, ref: Ref, tensor: TracedTensor) -> TracedTensor:
        """Return the result of a step, defined under a name if it is long or used several times.

        A result that is used outside the layer becomes a member of a family. The result of a function completes the
        function's definition.
        """
        if ref not in self.results:
            return super().named_result(ref, tensor)
        if tensor.truth:
            raise UnreadableModuleError("a condition is used after the layers")
        if self.head is not None:
            tensor = tensor.used(self.axes)
            self.equation(self.head, stamp_node(tensor.node, self.current))
            return tensor
        tensor, like = tensor.used(self.axes), self.results[ref]
        if like is not None:
            tensor = self.along(tensor, like)
        if ref not in self.bases:
            self.bases[ref] = self.names.of_value(self.step_now.source, self.step_now.path, self.step_now.operator)
        self.line(self.bases[ref], stamp_node(tensor.node, self.current))
        return self.member(tensor, ref, self.ranges[0].variable)

    # ---------------------------------------------------------------------------------------------------------- functions
    def call(self, repeat: Repeat, count: int) -> None:
        """Translate a call of a module that is a function. The first call also defines the function."""
        block = repeat.blocks[count]
        self.current = block[0]
        if count == 0:
            self.functions[repeat.function] = self.function(repeat)
        function = self.functions[repeat.function]
        arguments = []
        for argument, parameter in zip(repeat.families, function.parameters):
            arguments.append(self.along(self.tensor(argument.members[count]).used(self.axes), parameter).node)
        (results,) = repeat.leaving
        node = nodes.Call(function.name, (), (), tuple(arguments))
        self.current = block[-1]
        tensor = TracedTensor(node, function.result.dims, named=True).used(self.axes)
        self.tensors[results[count]] = super().named_result(results[count], tensor)

    def function(self, repeat: Repeat) -> ModuleFunction:
        """Define a function for equal calls of a module by translating the first call, and return the function."""
        parameters = []
        for argument in repeat.families:
            like = self.tensor(argument.members[0]).used(self.axes)
            if like.truth:
                raise UnreadableModuleError("a module is called with a condition")
            like = self.with_axes(like)
            name = self.names.fresh(nodes.Name("x"))
            parameters.append(TracedTensor(name, like.dims, named=True))
            self.tensors[argument.ref] = parameters[-1]
        name = self.names.function(repeat.function.split(".")[-1])
        self.head = nodes.Call(name, (), (), tuple(parameter.node for parameter in parameters))
        ((first, *_),) = repeat.leaving
        self.results = {first: None}
        result = self.inside(repeat.blocks[0])[first]
        self.results, self.head = {}, None
        return ModuleFunction(name, tuple(parameters), result)

    # -------------------------------------------------------------------------------------------------------- parameters
    def family(self, family: RepeatMember, index: nodes.Name) -> TracedTensor:
        """Declare a family with one parameter or buffer for each layer, and return its member at this index."""
        kind = self.runs.origins[family.members[0]][0]
        paths = [self.runs.origins[ref][1] for ref in family.members]
        pairs = [self.runs.tensors[ref.index] for ref in family.members]
        spelled = {self.given[path] for path in paths if path in self.given}
        if len(spelled) > 1:
            raise UnreadableModuleError("parameters of equal layers have different axes")
        path = next((path for path in paths if path in self.given), paths[0])
        key = common(paths)
        base = self.names.fresh(write_parameter_name(key))
        node = nodes.Superscript(base, (index,))
        dims = self.leaves.dims_of(kind, path, pairs[0].shape)
        members = tuple((path, pair.first) for path, pair in zip(paths, pairs))
        self.declared[f"{key} {to_text(base)}"] = DeclaredTensor(
            node, dims, kind, paths[0], pairs[0].first, members, index
        )
        return TracedTensor(node, dims, named=True)


def common(paths: Sequence[str]) -> str:
    """Return the words that all paths have in common, such as h.ln for h.0.ln and h.1.ln.

    If the paths have different lengths, return the first path without the numbers between its words.
    """
    split = [path.split(".") for path in paths]
    if len({len(words) for words in split}) > 1:
        return re.sub(r"\.\d+(?=\.)", "", paths[0])
    return ".".join(words[0] for words in zip(*split) if len(set(words)) == 1) or split[0][-1]
