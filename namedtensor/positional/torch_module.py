"""The implementation of `nt.from_torch`, which converts a PyTorch module and compares its values with the program's."""

from __future__ import annotations

import copy
import inspect
import linecache
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.func import functional_call
from torch.utils import _pytree as pytree

from grammar.errors import NotationError

from ..core.suggestions import did_you_mean, near
from . import torch_operations, torch_recurrences, torch_shapes  # noqa: F401 — they register their rules
from .torch_families import LayerReader
from .torch_program import ProgramWriter, ReadModule
from .torch_records import Runs, runs_for
from .torch_repeats import Repeat, find_repeats, with_repeats
from .torch_replacements import Masks
from .torch_sizes import Group, find_fixed_sizes, free_groups, groups_of, resize_inputs
from .torch_trace import (
    Ref,
    Subject,
    Trace,
    UnreadableModuleError,
    copy_all,
    find_raising_line,
    is_of_autograd,
    trace_run,
    value_of,
)

NN = torch.nn
DROPOUT = (NN.Dropout, NN.Dropout1d, NN.Dropout2d, NN.Dropout3d, NN.AlphaDropout, NN.FeatureAlphaDropout)
OF_TRAINING = (*DROPOUT, NN.BatchNorm1d, NN.BatchNorm2d, NN.BatchNorm3d, NN.SyncBatchNorm)


def subject_of(
    module: Any, inputs: Sequence[Any], named: Mapping[str, Any], training: bool = False
) -> tuple[Subject, dict[str, torch.Tensor]]:
    """Return the module or function as a `Subject`, and its input tensors by parameter name."""
    if not callable(module):
        raise NotationError(208, f"from_torch takes a module or a function, not {type(module).__name__}")
    function = module.forward if isinstance(module, torch.nn.Module) else module
    listed = arguments_of(function, inputs, named)
    if missing := find_missing(function, listed):
        inputs_shown = ", ".join(f"{name}=torch.randn(2, 3)" for name in missing)
        raise NotationError(
            405,
            f"no example input for {', '.join(missing)}",
            hint=f"pass one, such as nt.from_torch(…, {inputs_shown})",
        )
    leaves, tree = pytree.tree_flatten_with_path(listed)
    tensors = {name_tree_path(path): leaf for path, leaf in leaves if isinstance(leaf, torch.Tensor)}

    def arguments(values: Mapping[str, torch.Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        again = pytree.tree_unflatten([values.get(name_tree_path(path), leaf) for path, leaf in leaves], tree)
        words = list(listed)
        positional = tuple(again[word] for word in words[: len(inputs)])
        return positional, {word: again[word] for word in words[len(inputs) :]}

    if not isinstance(module, torch.nn.Module):

        def call(_: Any, values: Mapping[str, torch.Tensor]) -> Any:
            positional, keywords = arguments(values)
            return module(*positional, **keywords)

        return Subject(call, {}, {}, {}, masks=Masks() if training else None), tensors
    copied = copy.deepcopy(module).train(training)

    def forward(state: Any, values: Mapping[str, torch.Tensor]) -> Any:
        return functional_call(copied, state, *arguments(values))

    paths = {id(part): name for name, part in copied.named_modules()}
    parameters = {name: parameter.detach() for name, parameter in copied.named_parameters()}
    notes, masks = (notes_on_training(copied), Masks()) if training else (notes_on(module), None)
    return Subject(forward, parameters, dict(copied.named_buffers()), paths, notes, masks), tensors


def notes_on_training(module: torch.nn.Module) -> tuple[str, ...]:
    """Return notes on the layers that act differently in training."""
    kinds = {
        isinstance(part, DROPOUT): type(part).__name__
        for part in module.modules()
        if isinstance(part, OF_TRAINING) and getattr(part, "p", 1)
    }
    notes = {
        False: "read in training mode; {} takes the statistics of the batch, and its running statistics are left as they are",
        True: "read in training mode; {} multiplies by a mask of 0 and 1, which is an input, and divides by 1 - p",
    }
    return tuple(notes[random].format(kind) for random, kind in sorted(kinds.items()))


def notes_on(module: torch.nn.Module) -> tuple[str, ...]:
    """Return a note for a module in training mode if some of its layers act differently in evaluation mode."""
    kinds = [type(part).__name__ for part in module.modules() if part.training and isinstance(part, OF_TRAINING)]
    text = f"read in evaluation mode; in training {', '.join(dict.fromkeys(kinds))} would act differently"
    return (text,) if kinds else ()


def find_missing(function: Callable[..., Any], listed: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that have no default and for which no input was given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.name not in listed
    ]


def arguments_of(function: Callable[..., Any], inputs: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping from the names of the function's parameters to the inputs."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    spelled_names = [plain[at] if at < len(plain) else f"x_{at + 1}" for at in range(len(inputs))]
    return {**dict(zip(spelled_names, inputs)), **named}


def name_tree_path(path: Any) -> str:
    """Convert the path of a tensor in nested inputs to a name such as x or state_1."""
    words = re.findall(r"\w+", "".join(map(str, path)))
    return "_".join(str(int(word) + 1) if word.isdigit() else word for word in words)


TOLERANCE = 1e-5
CODE = 405
OWN_DERIVATIVE = "the module has a torch.autograd.Function, which cannot be recorded"


def read(
    module: Any,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    names: Mapping[str, str],
    output: int | str,
    training: bool,
) -> ReadModule:
    if len(inputs) == 1 and isinstance(inputs[0], tuple):  # all inputs in one tuple, as torch.export accepts them
        inputs = inputs[0]
    subject, tensors = subject_of(module, inputs, named, training)
    unknown = [
        name for name in names if name not in tensors and name not in subject.parameters and name not in subject.buffers
    ]
    if unknown:
        known = [*tensors, *subject.parameters, *subject.buffers]
        hint = did_you_mean(near(unknown[0], known))
        if hint is None and len(tensors) == 1 and not {*tensors} & {*names}:
            hint = f"rename {unknown[0]!r} to {next(iter(tensors))!r}"
        raise NotationError(CODE, f"unknown key {unknown[0]!r} in names=; the module has {', '.join(known)}", hint=hint)
    try:
        value_of(subject, tensors)
    except Exception as problem:
        raise NotationError(CODE, f"the module does not run on these inputs: {first_line(problem)}") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the module's warnings about sizes that the caller did not pass
        try:
            return first_reading(subject, tensors, names, output)
        except UnreadableModuleError as problem:
            raise refusal(problem) from None


def first_line(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem).strip() else ''}"


def refusal(problem: UnreadableModuleError) -> NotationError:
    """Return the error for a source that cannot be translated, with the source line if it is known."""
    source, text = problem.source, problem.source.text
    if not text:
        where = f"{source.short}: " if source.file else ""
        return NotationError(CODE, f"{where}{problem.sentence}", hint=problem.hint)
    lines = linecache.getlines(source.file)
    start = sum(map(len, lines[: source.line - 1])) + lines[source.line - 1].index(text)
    sentence = f"{source.short}: {problem.sentence}"
    return NotationError(CODE, sentence, "".join(lines), (start, start + len(text)), hint=problem.hint)


def first_reading(
    subject: Subject, tensors: Mapping[str, torch.Tensor], names: Mapping[str, str], output: int | str
) -> ReadModule:
    """Return the first successful translation, trying to leave as many sizes free as possible.

    The other sizes are fixed to the sizes of the example.
    """
    groups = free_groups(subject, tensors, names)
    known = find_fixed_sizes(subject)
    free = {dimension for group, _ in groups for dimension in group.places}
    never = [group for group in groups_of(tensors, names) if not free & {*group.places} and group.size not in known]
    problem: UnreadableModuleError | None = None
    for chosen in choices(groups):
        try:
            fixed = [*(group for group, sizes in groups if (group, sizes) not in chosen), *never]
            return ModuleReading(subject, tensors, names, output, chosen, fixed).result()
        except UnreadableModuleError as failed:
            if failed.final:
                raise
            problem = problem or failed
    assert problem is not None
    raise problem


Free = list[tuple[Group, list[int]]]
Sizes = Mapping[
    int, tuple[int, str, int]
]  # by size in the first run: the size in the second run, an input, and its dimension of this size


def choices(groups: Free) -> list[Free]:
    """Return the choices of free groups to try, in this order: all, all but one, only the first, and none."""
    without_one = [[group for group in groups if group is not left_out] for left_out in reversed(groups)]
    listed = [groups, *without_one, groups[:1], []]
    return [choice for at, choice in enumerate(listed) if choice not in listed[:at]]


@dataclass(frozen=True)
class ModuleReading:
    """An attempt to translate a module in which only the sizes of these groups are free."""

    subject: Subject
    tensors: Mapping[str, torch.Tensor]
    names: Mapping[str, str]
    output: int | str
    groups: Free
    fixed: Sequence[Group]

    def get_trace(self, which: int) -> Trace:
        sizes = {group: sizes[which] for group, sizes in self.groups}
        inputs = resize_inputs(self.tensors, sizes, 10 + which)
        try:
            return trace_run(self.subject, inputs)
        except UnreadableModuleError:
            raise
        except Exception as problem:
            if is_of_autograd(problem):
                hint = "call what its forward calls"
                raise UnreadableModuleError(OWN_DERIVATIVE, find_raising_line(problem), hint, final=True) from None
            sentence = f"the module does not run at these sizes: {first_line(problem)}"
            raise UnreadableModuleError(sentence, find_raising_line(problem)) from None

    def result(self) -> ReadModule:
        first, second = self.get_trace(0), self.get_trace(1)
        free = {sizes[0]: (sizes[1], *group.places[0]) for group, sizes in self.groups}
        name, ref = self.chosen(first)
        runs = runs_for(first, second, ref)
        repeats = find_repeats(runs, ref)
        layers = [repeat for repeat in repeats if not repeat.function]
        for chosen in [repeats] * (repeats != layers) + [layers] * bool(layers) + [list[Repeat]()]:
            try:
                program = self.program(with_repeats(runs, chosen), chosen, ref, free, self.notes(first, name))
                self.check(program, name)
            except UnreadableModuleError as problem:
                if problem.final or not chosen:
                    raise
            else:
                return program
        raise AssertionError

    def program(
        self, runs: Runs, repeats: Sequence[Repeat], output: Ref, free: Sizes, notes: Sequence[str]
    ) -> ReadModule:
        """Return the program, in which repeated layers and repeated calls are translated once."""
        reader = LayerReader(runs, self.names, free, repeats)
        value = reader.read(output)
        reader.current = len(runs.steps) - 1
        return ProgramWriter(reader, value, self.subject).program(notes)

    def chosen(self, trace: Trace) -> tuple[str, Ref]:
        if not trace.output:
            raise UnreadableModuleError("it gives no tensor", final=True)
        if isinstance(self.output, int) and self.output < len(trace.output):
            return trace.output[self.output]
        for name, ref in trace.output:
            if re.findall(r"\w+", name)[:1] == [self.output]:
                return name, ref
        raise UnreadableModuleError(
            f"the module gives no output {self.output!r}; it gives {', '.join(name for name, _ in trace.output)}",
            final=True,
        )

    def notes(self, trace: Trace, name: str) -> list[str]:
        notes = [*self.subject.notes]
        if len(trace.output) > 1:
            notes.append(f"of {len(trace.output)} results the one read is {name or 'the first'}")
        for group in self.fixed:
            listed = ", ".join(f"dimension {dim + 1} of {name_of_input}" for name_of_input, dim in group.places)
            notes.append(f"{listed}: the size is {group.size}, as in the example")
        return notes

    def check(self, program: ReadModule, name: str) -> None:
        """Compare the program with the module on the example and on other inputs of different sizes."""
        others = [
            resize_inputs(self.tensors, {group: sizes[which] for group, sizes in self.groups}, seed)
            for which, seed in ((0, 101), (2, 102))
        ]
        for inputs in (*others, dict(self.tensors)):
            try:
                self.compare(program, name, inputs)
            except UnreadableModuleError:
                self.compare(program, name, inputs, exact=True)

    def compare(self, program: ReadModule, name: str, inputs: dict[str, torch.Tensor], exact: bool = False) -> None:
        """Raise UnreadableModuleError if the values of program and module differ. If `exact`, use double precision."""
        try:
            expected = dict(value_of(self.subject, inputs, exact))[name]
        except Exception:  # a module with numbers in single precision
            expected = dict(value_of(self.subject, inputs))[name]
        taken = copy_all(inputs | (self.subject.masks.tensors if self.subject.masks is not None else {}), exact)
        try:
            program = program._convert_to_double() if exact else program
            value = program(*[taken[given.path] for given in program._given.values()])
        except NotationError as problem:
            raise UnreadableModuleError(f"the formula that was read has no value: {str(problem)}") from None
        difference(value, expected)


def difference(value: Any, expected: torch.Tensor) -> None:
    """Raise UnreadableModuleError if a value differs from the module's value in shape or by more than the tolerance."""
    value, expected = torch.as_tensor(value).double(), expected.double()
    if value.shape != expected.shape:
        raise UnreadableModuleError(
            f"the formula gives the shape {tuple(value.shape)}, the module {tuple(expected.shape)}"
        )
    scale = max(float(expected[torch.isfinite(expected)].abs().max()) if torch.isfinite(expected).any() else 1.0, 1e-30)
    if not torch.allclose(value, expected, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True):
        raise UnreadableModuleError(
            f"the formula differs from the module by {float((value - expected).abs().max()):.2g}"
        )
