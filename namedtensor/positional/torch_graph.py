"""A trace of PyTorch translated to nodes of the notation, with a rule for each step and a name for each reused value.

Axes are variables (see `axes`). A view regroups axes, a permutation does not produce a node, and aligned axes are
unified. After all steps are translated, the axes are named, and the nodes are written with these names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from grammar import nodes
from grammar.nodes import Node

from .axes import Axes, AxisClashError, AxisVariable, Dim, Move, axes_of
from .operations import MisuseError
from .torch_names import ModuleLeaves, TensorNames, write_input_name, write_parameter_name
from .torch_numbers import ConstantPattern, SizeNumbers, pattern_of
from .torch_records import (
    DeclaredTensor,
    RecordedLine,
    Remark,
    Runs,
    TensorPair,
    is_statistics,
    makers_in,
    needed_for,
    refs_of,
    stamp_node,
    weight,
)
from .torch_tensors import TensorViews, TracedTensor, fill_lengths
from .torch_trace import HINTS, RULES, Ref, Rule, TraceStep, UnreadableModuleError
from .values import call, iota, number, rename_axes

IGNORED = ("dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking", "generator", "training")
ALIASES = {  # parameter names in the rules for operands of products and for fill values
    **dict.fromkeys(("mat1", "batch1", "mat"), "first"),
    **dict.fromkeys(("mat2", "batch2", "vec", "tensor"), "other"),
    **dict.fromkeys(("value", "s", "src"), "fill_value"),
}
SHAPING = (("tril", "triu"), ("lt", "le", "gt", "ge"))
INDICES = ("i", "j", "m", "n")
GIVEN = ("input", "mask")
LONG = 28  # an expression with more nodes gets a name at the end of a source line
LONGEST = 90  # an expression with more nodes always gets a name


class GraphReader(SizeNumbers):
    """A reader that translates a module to nodes. It compares two traces of the same steps at different sizes."""

    def __init__(self, runs: Runs, given: Mapping[str, str], free: Mapping[int, tuple[int, str, int]]):
        super().__init__(Axes(), free)
        self.runs, self.depends, self.given = runs, runs.depends, given
        self.leaves = ModuleLeaves(self.axes, given)
        self.views = TensorViews(self.axes, self.remark)
        self.tensors: dict[Ref, TracedTensor] = {}
        self.lines: list[RecordedLine] = []
        self.remarks: dict[Remark, None] = {}
        self.names = TensorNames(set())
        self.makers = makers_in(runs.steps)
        self.current = -1
        self.uses: Counter[Ref] = Counter()
        self.ranges: tuple[nodes.Range, ...] = ()  # index ranges of the families that are being translated

    # ------------------------------------------------------------------------------------------------------------ the walk
    def read(self, output: Ref) -> TracedTensor:
        """Translate the trace, and return the value of its `output` tensor."""
        for ref, (kind, name) in sorted(self.runs.origins.items()):
            if kind == "input":
                self.tensors[ref] = self.leaf(kind, name, self.runs.tensors[ref.index])
        self.uses[output] += 1
        needed = self.needed(output)
        for number_of_step in needed:
            self.uses.update(refs_of(self.runs.steps[number_of_step]))
        for number_of_step in needed:
            if any(ref in self.depends for ref in self.runs.steps[number_of_step].results):
                self.step(number_of_step)
        return self.tensor(output)

    def needed(self, output: Ref) -> list[int]:
        """Return the numbers of the steps that compute a tensor of the trace, in the order in which they run."""
        return needed_for(self.runs.steps, self.makers, [output])

    def step(self, number_of_step: int) -> None:
        """Translate one step by the rule for its operation."""
        before, self.current = self.current, number_of_step
        step = self.runs.steps[number_of_step]
        rule = RULES.get(step.operator)
        try:
            if rule is None:
                hint = HINTS.get(step.operator, "")
                raise UnreadableModuleError(
                    f"aten.{step.operator} has no form in the notation yet", hint=hint, final=True
                )
            result = rule.function(self, **self.bind(rule, step))
        except UnreadableModuleError as problem:
            problem.source = problem.source if problem.source.file else step.source
            raise
        except MisuseError as misuse:
            sentence = f"aten.{step.operator}: {misuse}"
            raise UnreadableModuleError(sentence, step.source, HINTS.get(step.operator, "")) from None
        except AxisClashError as clash:
            first, second = (self.views.word(axis) for axis in (clash.first, clash.second))
            raise UnreadableModuleError(f"{first} meets {second} in aten.{step.operator}", step.source) from None
        results = result if isinstance(result, tuple) else (result,)
        for ref, tensor in zip(step.results, results):
            if tensor is not None:
                self.tensors[ref] = self.named_result(ref, tensor)
        self.current = before

    def bind(self, rule: Rule, step: TraceStep) -> dict[str, Any]:
        """Return a step's arguments for the rule.

        Raise UnreadableModuleError if an argument that the rule neither accepts nor skips differs from its default.
        """
        known = (*rule.skipped, *IGNORED, *step.defaults)
        arguments = {
            name if name in rule.parameters else ALIASES.get(name, name): value
            for name, value in step.arguments.items()
        }
        for name, value in arguments.items():
            if name not in rule.parameters and name not in known and value is not None:
                sentence = f"aten.{step.operator} with {name}={value} has no form in the notation yet"
                raise UnreadableModuleError(sentence, final=True)
        return {name: self.take(value, rule.moves) for name, value in arguments.items() if name in rule.parameters}

    def take(self, value: Any, moves: bool) -> Any:
        """Return an argument with each reference replaced by its tensor.

        Each tensor gets separate axes for this use, unless the rule only moves dimensions. Empty tensors are removed
        from lists.
        """
        if isinstance(value, Ref):
            return self.tensor(value) if moves else self.tensor(value).used(self.axes)
        if isinstance(value, (list, tuple)):
            return [self.take(part, moves) for part in value if not self.is_empty(part)]
        return value

    def is_empty(self, value: Any) -> bool:
        """Return whether an argument is a tensor without elements, which `cat` accepts among its arguments."""
        return isinstance(value, Ref) and not self.runs.tensors[value.index].first.numel()

    def named_result(self, ref: Ref, tensor: TracedTensor) -> TracedTensor:
        """Return the result of a step. A long result, or one used several times, becomes a line."""
        shape = self.runs.tensors[ref.index].shape
        rank, tensor = len(tensor.dims), tensor.moved(fill_lengths(tensor.dims, shape))
        if rank != len(shape) or tensor.shape != shape:
            raise UnreadableModuleError(
                f"aten.{self.step_now.operator}: {tensor.shape} in place of {shape}", self.step_now.source
            )
        if tensor.named:
            return tensor
        tensor = replace(tensor, node=stamp_node(tensor.node, self.current))
        length = weight(tensor.node)
        again = self.uses[ref] > 1 and length > 1
        return self.shared(tensor) if again or length > LONGEST or (length > LONG and self.ends_line()) else tensor

    def ends_line(self) -> bool:
        """Return whether the next step comes from a different source line than the current step."""
        steps = self.runs.steps
        return self.current + 1 < len(steps) and steps[self.current + 1].source != steps[self.current].source

    @property
    def step_now(self) -> TraceStep:
        return self.runs.steps[self.current]

    def dtype_of(self, argument: str) -> torch.dtype:
        """Return the dtype of the current step's argument with this name, or float32 if it is not a tensor."""
        ref = self.step_now.arguments[argument]
        return self.runs.tensors[ref.index].first.dtype if isinstance(ref, Ref) else torch.float32

    @property
    def shapes_now(self) -> list[tuple[int, ...]]:
        """The shapes of the results of the current step."""
        return [self.runs.tensors[ref.index].shape for ref in self.step_now.results]

    def shared(self, tensor: TracedTensor) -> TracedTensor:
        """Return the tensor as a name, so that it can be used several times. Define the name if the tensor has none.

        A single number or name is returned unchanged.
        """
        if tensor.named or not (tensor.axes or weight(tensor.node) > 1):
            return tensor
        truth = tensor.truth
        node = nodes.Indicator(tensor.node) if truth else tensor.node
        step = self.step_now
        named = self.line(self.names.of_value(step.source, step.path, step.operator), node)
        result = replace(tensor, node=named, named=True, truth=False)
        if truth:
            return replace(result, node=call("=", (named, number(1))), truth=True)
        return result

    def line(self, name: Node, node: Node, spans: Sequence[nodes.Range] = ()) -> Node:
        """Define a name as a node for all indices in `spans` and open ranges, and return the name with its indices."""
        spans = (*self.ranges, *spans)
        if spans:
            name = nodes.Superscript(name, tuple(span.variable for span in spans))
        return self.equation(name, node, spans)

    def equation(self, name: Node, node: Node, spans: Sequence[nodes.Range] = ()) -> Node:
        """Record an equation that defines `name` as `node` for all indices in `spans`.

        `name` must already contain its indices. Return the name.
        """
        self.lines.append(RecordedLine(name, node, tuple(spans)))
        return stamp_node(name, self.current)

    def index(self, *letters: str) -> nodes.Name:
        """Return the first letter that no tensor, given axis or open range uses, and reserve it for indices."""
        taken = self.names.taken | {name.rstrip("'") for name in self.axes.given}
        taken |= {span.variable.text for span in self.ranges}
        letter = next((letter for letter in (*letters, *INDICES) if letter not in taken), None)
        if letter is None:
            raise UnreadableModuleError("no letter is left for an index")
        self.names.indices.add(letter)
        return nodes.Name(letter)

    def along(self, tensor: TracedTensor, like: TracedTensor, twins: bool = False) -> TracedTensor:
        """Return a tensor with its axes unified with the axes of `like`.

        If `twins` is true, the names of the axes may differ in primes.
        """
        pairs: list[tuple[AxisVariable, AxisVariable]] = []
        for dim, length in enumerate(tensor.shape):
            if length == 1:
                continue
            tensor, same = self.views.fit_dimensions(self.with_axis(tensor, dim), dim, like, dim)
            one, two = self.axes.expand_axes(tensor.dims[dim]), self.axes.expand_axes(like.dims[dim])
            if same is not like or [axis.kind.size for axis in one] != [axis.kind.size for axis in two]:
                raise UnreadableModuleError("a value has other axes than the one before it in a recurrence")
            pairs += zip(one, two)
        for before, after in pairs:
            if twins:
                after.kind.unify(before.kind)
            self.axes.moves.append(Move(after, before))
        self.axes.apart([after for _, after in pairs])
        self.axes.apart([before for before, _ in pairs])
        dims: list[Dim] = [() if length == 1 else like.dims[dim] for dim, length in enumerate(tensor.shape)]
        return tensor.with_node(rename_axes(tensor.node, pairs), dims)

    # ---------------------------------------------------------------------------------------------------------- given values
    def tensor(self, ref: Ref) -> TracedTensor:
        if ref not in self.tensors:
            if ref in self.depends and ref in self.makers:
                raise UnreadableModuleError(
                    f"aten.{self.runs.steps[self.makers[ref]].operator} gives a second result that has no form"
                )
            self.tensors[ref] = self.constant(ref)
        return self.tensors[ref]

    def leaf(self, kind: str, path: str, pair: TensorPair, node: Node | None = None) -> TracedTensor:
        """Return the declared tensor for an input, parameter or buffer, declaring it on first use."""
        if path in self.declared:
            known = self.declared[path]
        else:
            if node is None:
                node = write_input_name(path) if kind in GIVEN else write_parameter_name(path)
            node = self.names.fresh(node)
            known = self.declared[path] = DeclaredTensor(
                node, self.leaves.dims_of(kind, path, pair.shape), kind, path, pair.first
            )
        tensor = TracedTensor(known.node, known.dims, named=True)
        if pair.first.dtype == torch.bool:
            return replace(tensor, node=call("=", (known.node, number(1))), truth=True)
        return tensor

    # ------------------------------------------------------------------------------------------------------------ constants
    def constant(self, ref: Ref) -> TracedTensor:
        """Return the tensor for a parameter, a buffer, or another tensor that does not depend on the inputs."""
        pair = self.runs.tensors[ref.index]
        origin = self.runs.origins.get(ref)
        if origin is not None and origin[0] == "parameter":
            return self.leaf(*origin, pair)
        statistics = origin is not None and origin[0] == "buffer" and is_statistics(pair.first)
        pattern = None if statistics else pattern_of(*pair)
        if pattern is not None:
            return self.write_pattern(pattern, pair.shape, ref)
        if pair.is_one:
            kind, path = origin or ("constant", "")
            path = path or f"constant {ref.index}"
            node = None if kind == "buffer" else nodes.Name("C")
            return self.leaf(kind, path, pair, node)
        maker = self.makers.get(ref)
        if maker is None:
            raise UnreadableModuleError("a constant changes with the sizes")
        self.step(maker)
        return self.tensors[ref]

    def shaping_step(self, ref: Ref) -> int:
        """Return the number of the step that gives a constant its pattern, such as a triangle or a comparison."""
        for operators in SHAPING:
            shaping = [
                maker
                for maker in needed_for(self.runs.steps, self.makers, [ref])
                if self.runs.steps[maker].operator in operators
            ]
            if shaping:
                return max(shaping)
        return self.makers[ref]

    def write_pattern(self, pattern: ConstantPattern, shape: tuple[int, ...], ref: Ref) -> TracedTensor:
        """Return a constant that has a pattern: one number, an arithmetic sequence, or numbers split by a diagonal."""
        dims: list[Dim] = [()] * len(shape)
        for dim in pattern.dims:
            dims[dim] = (self.axes.new(size=shape[dim], hint="position"),)
        self.axes.apart(axes_of(dims))
        node = pattern.node([iota(dims[dim][0]) for dim in pattern.dims])
        if ref in self.makers:
            node = stamp_node(node, self.shaping_step(ref))
        return TracedTensor(node, fill_lengths(dims, shape), truth=pattern.truth)

    # ------------------------------------------------------------------------------------------------- methods for the rules
    def remark(self, sentence: str) -> None:
        step = self.step_now
        self.remarks.setdefault(Remark(step.source, f"{step.operator} {sentence}"))

    def with_axis(self, x: TracedTensor, dim: int, hint: str = "copy") -> TracedTensor:
        """Return the tensor with an axis along this dimension.

        If the dimension has no axis, the tensor is repeated along a new axis.
        """
        if x.dims[dim]:
            return x
        length = x.shape[dim]
        x, axis = self.views.repeated(x, length, hint)
        return x.with_dim(dim, (axis,))

    def with_one_axis(self, x: TracedTensor, dim: int) -> TracedTensor:
        """Return the tensor, with exactly one axis along the dimension unless the dimension has size 1."""
        return x if x.shape[dim] == 1 else self.views.joined(self.with_axis(x, dim), dim)[0]

    def with_axes(self, x: TracedTensor) -> TracedTensor:
        """Return the tensor, with an axis along each dimension unless the dimension has size 1."""
        for dim, length in enumerate(x.shape):
            x = self.with_axis(x, dim) if length != 1 else x
        return x
