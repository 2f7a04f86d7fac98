"""`nt.from_torch`: a module or function of PyTorch as a program of the notation, checked against it at other sizes."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch.func import functional_call
from torch.utils import _pytree as pytree

from grammar import nodes
from grammar.errors import NotationError
from grammar.nodes import Node
from grammar.printer import to_text

from ..core.tensor import NamedTensor, tensor
from ..programs.evaluate import evaluate
from ..programs.program import Program
from . import torch_layers, torch_losses, torch_operations, torch_shapes  # noqa: F401  they register rules
from .axes import Axis, Move
from .naming import TwiceInOneValue, names_of
from .torch_graph import Declared, Reader, Remark
from .torch_names import axis_words, of_parameter
from .torch_sizes import Group, free_groups, resized
from .torch_tensors import Tensor
from .torch_trace import NOWHERE, Ref, Source, Subject, Trace, Unreadable, traced, value_of
from .values import Names, number, written

TOLERANCE = 1e-5
CODE = 405
DRAWN = 8  # whole numbers that an index is drawn from


@dataclass(frozen=True)
class Given:
    """How an array of the source becomes a named tensor: for each dimension, its axes with their sizes, or None where free."""

    name: str
    path: str
    dims: tuple[tuple[tuple[str, int | None], ...], ...]

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for dim in self.dims for axis, _ in dim)

    def named(self, array: Any) -> NamedTensor:
        if len(array.shape) != len(self.dims):
            raise NotationError(302, f"{self.path} has {len(array.shape)} dimensions, expected {len(self.dims)}")
        shape: list[int] = []
        for dim, length in zip(self.dims, array.shape):
            known = 1
            for _, size in dim:
                known *= size or 1
            shape += [size or length // known for _, size in dim]
        return tensor(array.reshape(shape), list(self.axes))


class ReadModule:
    """A module of PyTorch as a program.

    Attributes
    ----------
    text : str
        The program: what is declared, a line for each value with a name, the value.
    axes : tuple of str
        The axes of the value, in the order of the source's dimensions.
    inputs, parameters : dict
        The axes of each input; the tensors of the module, by their names in the program.
    remarks : tuple of Remark
        Views that cut a named axis or regroup across axes, with their lines.
    reading : tuple of str
        What was assumed: sizes that are those of the example, results that were left out.
    sources : dict
        The line of the source for each name that the program defines.
    """

    def __init__(
        self, tree: nodes.Program, given: Mapping[str, Given], parameters: Mapping[str, NamedTensor],
        result: Sequence[Sequence[tuple[str, int | None]]], shape: Sequence[int], remarks: Sequence[Remark],
        reading: Sequence[str], steps: Sequence[tuple[Source, ...]], sets: Mapping[str, str], free: Mapping[str, int],
    ):  # fmt: skip
        self.tree, self.text = tree, to_text(tree)
        self._given, self.parameters, self._result, self._shape = dict(given), dict(parameters), result, tuple(shape)
        self.remarks, self.reading, self._steps, self.types = tuple(remarks), tuple(reading), tuple(steps), dict(sets)
        self.sizes = dict(free)
        self.unused: dict[str, str] = {}

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for dim in self._result for axis, _ in dim)

    @property
    def inputs(self) -> dict[str, tuple[str, ...]]:
        return {name: each.axes for name, each in self._given.items()}

    @cached_property
    def program(self) -> Program:
        return Program(self.text, "text")

    @property
    def formula(self) -> str:
        """The program without its declarations."""
        kept = [each for each in self.tree.statements if not isinstance(each, nodes.Declaration)]
        return to_text(nodes.Program(tuple(kept)))

    @property
    def sources(self) -> dict[str, Source]:
        equations = [each for each in self.tree.statements if isinstance(each, nodes.Equation)]
        return {to_text(each.sides[0]): self.source_of(each.sides[1]) for each in equations}

    def source_of(self, node: Any) -> Source:
        """The line of the source that a node of the tree came from."""
        return self.lines_of(node)[0]

    def lines_of(self, node: Any) -> tuple[Source, ...]:
        """The same with the lines that called it, from the inside out."""
        span = getattr(node, "span", (0, 0))
        return self._steps[span[0] - 1] if 0 < span[0] <= len(self._steps) else (NOWHERE,)

    def evaluate(self, **inputs: Any) -> NamedTensor:
        """The value for named tensors."""
        return evaluate(self.text, {**self.parameters, **inputs}, syntax="text")

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """The value for arrays in the source's order of dimensions, as an array in that order."""
        by_name = {**dict(zip(self._given, arrays)), **{self._spelled(name): array for name, array in named.items()}}
        tensors = {name: self._given[name].named(truth_free(array)) for name, array in by_name.items()}
        found = evaluate(self.text, {**self.parameters, **tensors}, syntax="text")
        array = found.to_array(list(self.axes)) if self.axes else found.to_array([])
        shape = []
        sizes = dict(zip(self.axes, array.shape))
        for dim, length in zip(self._result, self._shape):
            size = 1
            for axis, _ in dim:
                size *= sizes[axis]
            shape.append(size if dim else 1)
            assert dim or length == 1
        return array.reshape(shape)

    def _spelled(self, name: str) -> str:
        return next((spelled for spelled, each in self._given.items() if each.path == name), name)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def truth_free(array: Any) -> Any:
    return array.to(torch.int64) if isinstance(array, torch.Tensor) and array.dtype == torch.bool else array


def read(
    module: Any, inputs: Sequence[Any], named: Mapping[str, Any], names: Mapping[str, str], output: int | str
) -> ReadModule:
    subject, tensors = subject_of(module, inputs, named)
    unknown = [
        name for name in names if name not in tensors and name not in subject.parameters and name not in subject.buffers
    ]
    if unknown:
        known = ", ".join([*tensors, *subject.parameters, *subject.buffers])
        raise NotationError(CODE, f"unknown name {unknown[0]} in names=; the module has {known}")
    try:
        value_of(subject, tensors)
    except Exception as problem:
        raise NotationError(CODE, f"the module does not run on these inputs: {first_line(problem)}") from None
    try:
        return first_reading(subject, tensors, names, output)
    except Unreadable as problem:
        raise refusal(problem) from None


def first_line(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem).strip() else ''}"


def refusal(problem: Unreadable) -> NotationError:
    place = f"{problem.source.short}: " if problem.source.file else ""
    text = problem.source.text
    shown = f"\n  {text}\n  {'^' * len(text)}" if text else ""
    return NotationError(CODE, f"{place}{problem.sentence}{shown}", hint=problem.hint)


# ------------------------------------------------------------------------------------------------------------ the subject
def subject_of(module: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> tuple[Subject, dict[str, torch.Tensor]]:
    """What is run, and its tensors by the names of its parameters."""
    if not callable(module):
        raise NotationError(208, f"from_torch takes a module or a function, not {type(module).__name__}")
    function = module.forward if isinstance(module, torch.nn.Module) else module
    listed = arguments_of(function, inputs, named)
    leaves, tree = pytree.tree_flatten_with_path(listed)
    tensors = {spelled(path): each for path, each in leaves if isinstance(each, torch.Tensor)}

    def arguments(values: Mapping[str, torch.Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        filled = [values.get(spelled(path), each) for path, each in leaves]
        again = pytree.tree_unflatten(filled, tree)
        return tuple(again[name] for name in list(listed)[: len(inputs)]), {
            name: again[name] for name in list(listed)[len(inputs) :]
        }

    if not isinstance(module, torch.nn.Module):

        def call(_: Any, values: Mapping[str, torch.Tensor]) -> Any:
            positional, keywords = arguments(values)
            return module(*positional, **keywords)

        return Subject(call, {}, {}, {}), tensors
    own = copy.deepcopy(module).eval()

    def forward(state: Any, values: Mapping[str, torch.Tensor]) -> Any:
        positional, keywords = arguments(values)
        return functional_call(own, state, positional, keywords)

    paths = {id(each): name for name, each in own.named_modules()}
    return Subject(
        forward, {n: p.detach() for n, p in own.named_parameters()}, dict(own.named_buffers()), paths
    ), tensors


def arguments_of(function: Callable[..., Any], inputs: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs by the names of the function's parameters."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    spelled_names = [plain[place] if place < len(plain) else f"x_{place + 1}" for place in range(len(inputs))]
    return {**dict(zip(spelled_names, inputs)), **named}


def spelled(path: Any) -> str:
    """The name of a tensor in a tree: x, state_1."""
    words = re.findall(r"\w+", "".join(map(str, path)))
    return "_".join(str(int(word) + 1) if word.isdigit() else word for word in words)


# ------------------------------------------------------------------------------------------------------------ the reading
def first_reading(
    subject: Subject, tensors: Mapping[str, torch.Tensor], names: Mapping[str, str], output: int | str
) -> ReadModule:
    """The reading with the most sizes free; where one cannot be read so, it is that of the example."""
    groups = free_groups(subject, tensors, names)
    problem: Unreadable | None = None
    for chosen in choices(groups):
        try:
            fixed = [group for group, sizes in groups if (group, sizes) not in chosen]
            return Reading(subject, tensors, names, output, chosen, fixed).result()
        except Unreadable as failed:
            if failed.final:
                raise
            problem = problem or failed
    assert problem is not None
    raise problem


Free = list[tuple[Group, list[int]]]


def choices(groups: Free) -> list[Free]:
    """All groups free; all but one; the first alone; none."""
    without_one = (
        [[each for each in groups if each is not left_out] for left_out in reversed(groups)] if len(groups) > 1 else []
    )
    listed = [groups, *without_one, groups[:1], []]
    return [each for place, each in enumerate(listed) if each not in listed[:place]]


class Reading:
    """One attempt to read: with these groups of sizes free."""

    def __init__(
        self,
        subject: Subject,
        tensors: Mapping[str, torch.Tensor],
        names: Mapping[str, str],
        output: int | str,
        groups: Free,
        fixed: Sequence[Group] = (),
    ):
        self.subject, self.tensors, self.names, self.output, self.groups = subject, tensors, names, output, groups
        self.fixed = fixed

    def traced(self, which: int) -> tuple[Trace, set[Ref]]:
        sizes = {group: sizes[which] for group, sizes in self.groups}
        inputs = resized(self.tensors, sizes, 10 + which)
        try:
            return traced(self.subject, inputs)
        except Unreadable:
            raise
        except Exception as problem:
            raise Unreadable(f"the module does not run at these sizes: {first_line(problem)}") from None

    def result(self) -> ReadModule:
        first, depends = self.traced(0)
        second, _ = self.traced(1)
        if first.structure() != second.structure():
            raise Unreadable("the steps of the module depend on the sizes of its inputs")
        free = {sizes[0]: (sizes[1], *group.places[0]) for group, sizes in self.groups}
        back = {sizes[1]: (sizes[0], *group.places[0]) for group, sizes in self.groups}
        name, ref = self.chosen(first)
        reader = Reader((first, depends), second, self.names, free)
        value = reader.read(ref)
        reader.current = len(first.steps) - 1
        twin = Reader((second, depends), first, self.names, back)
        twin.read(ref)
        lengths = {key: axis.kind.size for key, axis in twin.axes.all.items()}
        found = Writing(reader, value, tuple(first.tensors[ref.index].shape), lengths, self.subject).program(
            self.notes(first, name)
        )
        self.check(found, name)
        return found

    def chosen(self, trace: Trace) -> tuple[str, Ref]:
        if not trace.output:
            raise Unreadable("it gives no tensor", final=True)
        if isinstance(self.output, int) and self.output < len(trace.output):
            return trace.output[self.output]
        for name, ref in trace.output:
            if re.findall(r"\w+", name)[:1] == [self.output]:
                return name, ref
        raise Unreadable(
            f"there is no result {self.output!r} among {', '.join(name for name, _ in trace.output)}", final=True
        )

    def notes(self, trace: Trace, name: str) -> list[str]:
        notes = []
        if len(trace.output) > 1:
            notes.append(f"of {len(trace.output)} results the one read is {name or 'the first'}")
        for group in self.fixed:
            listed = ", ".join(f"dimension {dim + 1} of {each}" for each, dim in group.places)
            notes.append(f"{listed}: the size is {group.size}, as in the example")
        return notes

    def check(self, found: ReadModule, name: str) -> None:
        """Compare with the module on other inputs, at other sizes."""
        for which, seed in ((0, 101), (2, 102)):
            inputs = resized(self.tensors, {group: sizes[which] for group, sizes in self.groups}, seed)
            due = dict(value_of(self.subject, inputs))[name]
            try:
                value = found(*[inputs[each.path] for each in found._given.values()])
            except NotationError as problem:
                raise Unreadable(f"the formula that was read has no value: {str(problem)}") from None
            difference(value, due)


def difference(value: Any, due: torch.Tensor) -> None:
    """Refuse a value that is not the module's."""
    value, due = torch.as_tensor(value).double(), due.double()
    if value.shape != due.shape:
        raise Unreadable(f"what was read has the shape {tuple(value.shape)}, the module {tuple(due.shape)}")
    scale = max(float(due[torch.isfinite(due)].abs().max()) if torch.isfinite(due).any() else 1.0, 1e-30)
    if not torch.allclose(value, due, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True):
        raise Unreadable(f"what was read differs from the module by {float((value - due).abs().max()):.2g}")


class Writing:
    """What was read with the names of its axes, as a program."""

    def __init__(
        self, reader: Reader, value: Tensor, shape: tuple[int, ...], lengths: Mapping[str, int | None], subject: Subject
    ):
        self.reader, self.value, self.shape, self.lengths, self.subject = reader, value, shape, lengths, subject
        for dim, length in enumerate(shape):
            if not value.dims[dim] and length != 1:
                self.value = reader.with_axis(self.value, dim)
        reader.axes.apart(self.value.value.axes)
        self.prefer_given(reader.axes.expanded(self.value.value.axes))
        taken = {to_text(each.node) for each in reader.declared.values()} | {
            to_text(line.name) for line in reader.lines
        }
        try:
            self.names: Names = names_of(reader.axes, taken)
        except TwiceInOneValue:
            raise Unreadable("a value would have one axis twice") from None

    def prefer_given(self, result: Sequence[Axis]) -> None:
        """Let the axes of the result have the given names, rather than primed ones."""
        axes = self.reader.axes
        kinds = [axis.kind for axis in result]
        for axis in result:
            if axis.kind.name in axes.given and kinds.count(axis.kind) == 1:
                axes.moves.insert(0, Move(axes.given[axis.kind.name], axis))

    def unused(self) -> dict[str, str]:
        """The sets of parameters that the code does not use: with the axes of their layer, or those of their sizes."""
        found = {}
        for path, array in self.subject.parameters.items():
            if path not in self.reader.declared:
                axes = self.axes_for(path, array)
                if axes is not None:
                    node = self.reader.names.fresh(of_parameter(path))
                    found[to_text(node)] = to_text(
                        nodes.Set("reals", (), tuple((nodes.Axis(each), None) for each in axes))
                    )
        return found

    def axes_for(self, path: str, array: torch.Tensor) -> list[str] | None:
        if path in self.reader.given:
            return [name for word in axis_words(self.reader.given[path]) for name, _ in word]
        weight = f"{path.removesuffix('bias')}weight"
        if path.endswith("bias") and weight in self.reader.given:
            return [name for name, _ in axis_words(self.reader.given[weight])[0]]
        sizes = {
            name: size
            for each in self.reader.declared.values()
            for name, size in [pair for dim in each.dims for axis in dim for pair in self.sized(axis)]
        }
        names = [[name for name, size in sizes.items() if size == length] for length in array.shape]
        return [each[0] for each in names] if all(names) else None

    def program(self, notes: Sequence[str]) -> ReadModule:
        reader = self.reader
        stated: set[str] = set()
        declarations = [self.declaration(each, stated) for each in reader.declared.values()]
        equations = [nodes.Equation((line.name, written(line.value, self.names))) for line in reader.lines]
        body = written(nodes.Indicator(self.value.node) if self.value.truth else self.value.node, self.names)
        sizes = self.stated_sizes(stated, equations, body)
        last = self.last(body)
        tree = nodes.Program((*declarations, *sizes, *equations, *last))
        given = {to_text(each.node): self.given(each) for each in reader.declared.values()}
        inputs = {name: each for name, each in given.items() if reader.declared[each.path].kind == "input"}
        parameters = {
            name: each.named(truth_free(reader.declared[each.path].array))
            for name, each in given.items()
            if name not in inputs
        }
        order = list(inputs)
        result = [tuple((name, None) for axis in dim for name in self.names[axis.key]) for dim in self.value.dims]
        sets = {to_text(each.names[0]): self.drawn_from(each) for each in declarations}
        free = dict.fromkeys(order, 0)
        steps = [(step.source, *step.callers) for step in reader.trace.steps]
        found = ReadModule(
            tree, inputs, parameters, result, self.shape_of_one(), tuple(reader.remarks), notes, steps, sets, free
        )
        found.unused = self.unused()
        return found

    def shape_of_one(self) -> tuple[int, ...]:
        return tuple(1 if not dim else 0 for dim in self.value.dims)

    def last(self, body: Node) -> list[nodes.Statement]:
        text = to_text(body)
        defined = [to_text(line.name) for line in self.reader.lines]
        if defined and text == defined[-1]:
            return []
        if text[:1] in "−-+" or text in defined:
            return [nodes.Equation((self.reader.names.fresh(nodes.Name("Y")), body))]
        return [nodes.Value(body)]

    def given(self, each: Declared) -> Given:
        dims = tuple(tuple(pair for axis in dim for pair in self.sized(axis)) for dim in each.dims)
        return Given(to_text(each.node), each.path, dims)

    def sized(self, axis: Axis) -> list[tuple[str, int | None]]:
        """The names of the parts of an axis, each with its size, or None where that is free."""
        parts = self.reader.axes.parts(axis)
        return [(name, self.fixed(part)) for name, part in zip(self.names[axis.key], parts)]

    def fixed(self, axis: Axis) -> int | None:
        size = axis.kind.size
        return None if self.other(axis) != size else size

    def other(self, axis: Axis) -> int | None:
        """The size of an axis in the second trace."""
        keys = [key for key, each in self.reader.axes.all.items() if each.root is axis.root or each.kind is axis.kind]
        return next((self.lengths[key] for key in keys if self.lengths.get(key) is not None), axis.kind.size)

    def declaration(self, each: Declared, stated: set[str]) -> nodes.Declaration:
        items = []
        for dim in each.dims:
            for axis in dim:
                for name, size in self.sized(axis):
                    said = number(size) if size is not None and name not in stated else None
                    stated.add(name)
                    items.append((nodes.Axis(name), said))
        whole = not each.array.dtype.is_floating_point and bool(each.array.numel()) and int(each.array.min()) >= 0
        domain = "elements" if each.array.dtype == torch.bool else "naturals" if whole else "reals"
        elements = (number(0), number(1)) if domain == "elements" else ()
        return nodes.Declaration((each.node,), (nodes.Set(domain, elements, tuple(items)),))

    def drawn_from(self, each: nodes.Declaration) -> str:
        """The set to draw values from: that of a declaration, for indices no more than there are elements."""
        (found,) = each.sets
        if found.domain == "naturals":
            count = min(self.reader.bounds.get(to_text(each.names[0]), DRAWN), DRAWN)
            found = nodes.Set("elements", tuple(map(number, range(count))), found.axes)
        return to_text(found)

    def stated_sizes(self, stated: set[str], equations: Sequence[nodes.Equation], body: Node) -> list[nodes.Statement]:
        """|heads| = 8 for each axis that nothing declared has."""
        used = made_axes((tuple(equations), body))
        result: list[nodes.Statement] = []
        by_name = {
            name: part
            for key, axis in self.reader.axes.all.items()
            for name, part in zip(self.names[key], self.reader.axes.parts(axis))
        }
        for name in sorted(used & set(by_name)):
            if name in stated:
                continue
            axis = by_name[name]
            size, other = axis.kind.size, self.other(axis)
            if size is None or other is None:
                continue
            node = self.reader.size_of(size, other)
            if node is None:
                continue
            result.append(nodes.Equation((nodes.Size(nodes.Axis(name)), written(node, self.names))))
        return result


def made_axes(node: Any) -> set[str]:
    """The names of axes that nothing else gives a size: of iota and ones, of windows, of what splits."""
    if isinstance(node, tuple):
        return set().union(*map(made_axes, node))
    if not hasattr(type(node), "__dataclass_fields__"):
        return set()
    found: set[str] = set()
    if isinstance(node, nodes.Subscript) and isinstance(node.base, nodes.Name) and node.base.text in ("iota", "ones"):
        found = set(map(to_text, node.components))
    elif isinstance(node, nodes.Call) and node.operator in ("unroll", "pool"):
        found = set(map(to_text, node.subscript))
    elif isinstance(node, nodes.Rename):
        found = {axis.name for old, new in node.items if len(old) != len(new) for axis in new}
    elif isinstance(node, nodes.Size):
        found = {node.axis.name}
    parts = (getattr(node, name) for name in type(node).__dataclass_fields__ if name not in ("span", "operator_span"))
    return found.union(*map(made_axes, parts))
