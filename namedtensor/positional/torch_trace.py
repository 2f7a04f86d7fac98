"""One run of a PyTorch function, recorded as ATen operations in order, each with the source line that called it.

Operations are recorded at PyTorch's dispatcher, below autograd and below composite functions, on real tensors. Views
and in-place operations are recorded as functional operations.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import torch
from torch.func import functionalize
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .torch_replacements import OWN, Masks, Replacing, decompose


class Rule(NamedTuple):
    """The translation rule of an ATen operation. Its function receives a reader and the operation's arguments by name.

    The function returns one or several of the results, or None for a result that it cannot express. Arguments without a
    parameter must have their default value, unless `skipped` lists them. If `moves` is true, the rule only moves
    dimensions, so its tensors do not need separate axes.
    """

    function: Callable[..., Any]
    parameters: frozenset[str]
    skipped: tuple[str, ...]
    moves: bool


RULES: dict[str, Rule] = {}  # the ATen operations that are read
HINTS = {  # for operations that have no rule or whose arguments are not supported
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only"), "use nn.Embedding and a sum or mean"),
    "roll": "name the dimensions: dims=0",
}
Function = TypeVar("Function", bound=Callable[..., Any])
TORCH = os.path.dirname(torch.__file__) + os.sep
PYTHON = sysconfig.get_paths()["stdlib"] + os.sep
SITE = "site-packages" + os.sep


def rule(*names: str, skip: str = "", moves: bool = False) -> Callable[[Function], Function]:
    """Return a decorator that registers a function as the translation rule for the operations with these names."""

    def register(function: Function) -> Function:
        parameters = frozenset([*inspect.signature(function).parameters][1:])
        RULES.update(dict.fromkeys(names, Rule(function, parameters, tuple(skip.split()), moves)))
        return function

    return register


class SourceLine(NamedTuple):
    """A line of a source file."""

    file: str
    line: int

    @property
    def text(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    @property
    def short(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}" if self.file else "unknown line"


NOWHERE = SourceLine("", 0)


class UnreadableModuleError(Exception):
    """The error for a source that the notation cannot express: a sentence, and the source line."""

    def __init__(self, sentence: str, source: SourceLine = NOWHERE, hint: str = "", final: bool = False):
        super().__init__(sentence)
        self.sentence, self.source, self.hint, self.final = sentence, source, hint, final


class Ref(NamedTuple):
    """A reference to a tensor of a trace, by the tensor's number."""

    index: int


@dataclass(frozen=True)
class TraceStep:
    """A recorded operation with its name, its results, and its arguments by name. Each tensor is a `Ref`."""

    operator: str
    arguments: Mapping[str, Any]
    results: tuple[Ref, ...]
    source: SourceLine
    path: str = ""
    callers: tuple[SourceLine, ...] = ()  # the lines that called `source`, innermost first
    defaults: frozenset[str] = frozenset()  # arguments that have their default value

    @property
    def shape(self) -> tuple[Any, ...]:
        """The part of a step that must be the same in runs at different sizes."""
        return self.operator, self.source, pytree.tree_map(kind_of, dict(self.arguments))


def kind_of(argument: Any) -> Any:
    return argument if isinstance(argument, (str, bool, type(None), tuple)) else type(argument).__name__


@dataclass
class Trace:
    """The recorded steps of one run, the tensors, and the origin of each tensor that no step computes.

    `depends` contains the tensors that depend on inputs or parameters.
    """

    steps: list[TraceStep] = field(default_factory=list)
    tensors: list[torch.Tensor] = field(default_factory=list)
    origins: dict[Ref, tuple[str, str]] = field(
        default_factory=dict
    )  # ("input" | "parameter" | "buffer" | "constant", name)
    output: list[tuple[str, Ref]] = field(default_factory=list)
    depends: set[Ref] = field(default_factory=set)


class Recorder(TorchDispatchMode):
    """A dispatch mode that records each operation as a step of the trace."""

    def __init__(self, trace: Trace, modules: Mapping[int, str], hint: str = ""):
        super().__init__()
        self.hint = hint  # the advice of the error about random numbers
        self.trace, self.modules = trace, modules
        self.refs: dict[int, Ref] = {}

    def known(self, tensor: torch.Tensor, kind: str = "constant", name: str = "") -> Ref:
        """Return the reference to a tensor. If the tensor is new, record its origin, since no step computes it."""
        ref = self.refs.get(id(tensor))
        if ref is None:
            ref = self.new(tensor)
            self.trace.origins[ref] = kind, name
            if kind in ("input", "parameter") or name.endswith(("running_mean", "running_var")):
                self.trace.depends.add(ref)
        return ref

    def new(self, tensor: torch.Tensor) -> Ref:
        ref = Ref(len(self.trace.tensors))
        self.trace.tensors.append(tensor)
        self.refs[id(tensor)] = ref
        return ref

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = name_of(func)
        if name not in RULES and name not in OWN:
            with self:  # in inference mode, PyTorch reports a composite operation as one step
                composed = func.decompose(*args, **(kwargs or {}))
            if composed is not NotImplemented:
                return composed
        lines, path = where_called(self.modules)
        source = lines[0]
        bound = bind(func, args, kwargs or {})
        refs = [self.known(leaf) for leaf in pytree.tree_leaves(bound) if isinstance(leaf, torch.Tensor)]
        depends = any(ref in self.trace.depends for ref in refs)
        self.refuse(func, bound, depends, source)
        with self:
            result = decompose(func, name, name in RULES, args, kwargs or {}, bound)
        if result is not None and result is not NotImplemented:
            return result
        arguments = pytree.tree_map(lambda leaf: self.known(leaf) if isinstance(leaf, torch.Tensor) else leaf, bound)
        for parameter in func._schema.arguments:
            if parameter.alias_info and parameter.alias_info.is_write:  # the trace keeps the value before the change
                target = bound[parameter.name]
                self.trace.tensors[self.known(target).index] = target.clone()
        result = func(*args, **(kwargs or {}))
        outputs = tuple(self.new(leaf) for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))
        if depends:
            self.trace.depends.update(outputs)
        self.trace.steps.append(TraceStep(name, arguments, outputs, source, path, lines[1:], defaults(func, bound)))
        return result

    def refuse(self, func: Any, bound: Mapping[str, Any], depends: bool, source: SourceLine) -> None:
        name = name_of(func)
        if name in ("_local_scalar_dense", "is_nonzero") and depends:
            raise UnreadableModuleError("the control flow depends on values of tensors", source, CONTROL, True)
        quiet = bound.get("dropout_p", bound.get("p")) == 0.0 or (name == "rrelu_with_noise" and not bound["training"])
        if torch.Tag.nondeterministic_seeded in func.tags and not quiet:
            raise UnreadableModuleError(f"aten.{name} generates random numbers", source, self.hint, final=True)
        if name in ("nonzero", "masked_select", "unique", "_unique2"):
            raise UnreadableModuleError(
                f"the shape of the result of aten.{name} depends on values of tensors", source, CONTROL, True
            )


RANDOM = "of dropout, pass training=True: its mask is an input then"
CONTROL = "pass the decision as a Python value, or write the choice with torch.where"


def name_of(func: Any) -> str:
    """Return the base name of an operation, such as add for aten::add_ and view for aten::view_copy."""
    name = func._schema.name.rpartition("::")[2]
    if name.endswith("_copy") and name not in ("_to_copy", "lift_fresh_copy"):
        name = name.removesuffix("_copy")
    return name.rstrip("_") if not name.startswith("__") else name


def bind(func: Any, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by the names of its schema, with defaults for omitted arguments."""
    plain = {parameter.name: parameter.default_value for parameter in func._schema.arguments}
    return {**plain, **dict(zip(plain, args)), **kwargs}


def defaults(func: Any, bound: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the arguments that have their default values."""
    return frozenset(
        parameter.name
        for parameter in func._schema.arguments
        if parameter.name in bound
        and not isinstance(bound[parameter.name], torch.Tensor)
        and bound[parameter.name] == parameter.default_value
    )


def where_called(modules: Mapping[int, str]) -> tuple[tuple[SourceLine, ...], str]:
    """Return the source lines that called the operation, innermost first, and the path of the innermost module.

    Lines in PyTorch are left out unless the operation was called only from PyTorch.
    """
    frame = sys._getframe(2)
    lines, path, of_torch = list[SourceLine](), "", NOWHERE
    while frame is not None:
        file = frame.f_code.co_filename
        if is_of_reading(frame) and frame.f_code.co_name == "run":
            break
        if file.startswith(TORCH):
            if f"nn{os.sep}modules" in file and not of_torch.file and "_call_impl" not in frame.f_code.co_name:
                of_torch = SourceLine(file, frame.f_lineno)
        elif is_of_user(frame):
            lines.append(SourceLine(file, frame.f_lineno))
        if not path and frame.f_code.co_name == "forward" and frame.f_code.co_argcount:
            path = modules.get(id(frame.f_locals.get(frame.f_code.co_varnames[0])), "")
        frame = frame.f_back
    return tuple(lines) or (of_torch,), path


def find_raising_line(problem: BaseException) -> SourceLine:
    """Return the innermost line of user code in the traceback of an exception, or NOWHERE if there is none."""
    lines = [SourceLine(frame.f_code.co_filename, line) for frame, line in trail_of(problem) if is_of_user(frame)]
    return lines[-1] if lines else NOWHERE


def is_of_autograd(problem: BaseException) -> bool:
    """Return whether an exception was raised by a `torch.autograd.Function`."""
    return any(frame.f_code.co_filename == inspect.getfile(torch.autograd.Function) for frame, _ in trail_of(problem))


def trail_of(problem: BaseException) -> list[tuple[FrameType, int]]:
    """Return the frames and line numbers of a traceback, outermost first."""
    return [*traceback.walk_tb(problem.__traceback__)]


def is_of_reading(frame: FrameType) -> bool:
    """Return whether a frame is in a module of this package."""
    return str(frame.f_globals.get("__name__", "")).rpartition(".")[0] == __package__


def is_of_user(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    of_torch = file.startswith(TORCH) or is_of_reading(frame)
    return not of_torch and (SITE in file or not file.startswith(PYTHON))


class Subject(NamedTuple):
    """The subject of a trace: a function of named parameters and inputs, and the module paths by module id."""

    call: Callable[..., Any]
    parameters: Mapping[str, torch.Tensor]
    buffers: Mapping[str, torch.Tensor]
    modules: Mapping[int, str]
    notes: tuple[str, ...] = ()  # assumptions about the module
    masks: Masks | None = None  # the masks of dropout in training


def run(subject: Subject, call: Callable[[], Any]) -> Any:
    """Call a function with settings that keep PyTorch from fusing operations, and return its result.

    In training, dropout uses new masks.
    """
    with ExitStack() as stack:
        stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        with warnings.catch_warnings():  # oneDNN warns about settings of GPUs
            warnings.simplefilter("ignore")
            stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        stack.enter_context(torch.no_grad())
        if subject.masks is not None:
            stack.enter_context(subject.masks)
        return call()


def value_of(
    subject: Subject, inputs: Mapping[str, torch.Tensor], exact: bool = False
) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors of the function's result by name, in double precision if `exact` is true."""
    state, arguments = ({**subject.parameters, **subject.buffers}, inputs)
    return tensors_of(run(subject, lambda: subject.call(copy_all(state, exact), copy_all(arguments, exact))))


def copy_all(tensors: Mapping[str, torch.Tensor], exact: bool = False) -> dict[str, torch.Tensor]:
    """Return copies of the tensors, in double precision if `exact` is true. The originals stay unchanged."""
    copies = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    return {name: copy.double() if exact and copy.is_floating_point() else copy for name, copy in copies.items()}


def tensors_of(result: Any) -> list[tuple[str, torch.Tensor]]:
    if hasattr(result, "items") and not isinstance(result, torch.Tensor):  # the outputs of transformers
        result = dict(result.items())
    leaves = pytree.tree_flatten_with_path(result)[0]
    return [("".join(map(str, path)), leaf) for path, leaf in leaves if isinstance(leaf, torch.Tensor)]


def trace_run(subject: Subject, inputs: Mapping[str, torch.Tensor]) -> Trace:
    """Return the trace of one run."""
    buffers, inputs = copy_all(subject.buffers), copy_all(inputs)
    trace = Trace()
    recorder = Recorder(trace, subject.modules, "" if subject.masks else RANDOM)
    groups = [("parameter", subject.parameters), ("buffer", buffers), ("input", inputs)]
    for kind, tensors in groups:
        for name, tensor in tensors.items():
            recorder.known(tensor, kind, name)

    outputs: list[tuple[str, torch.Tensor]] = []

    def call(state: Any, arguments: Any) -> Any:
        outputs.extend(tensors_of(subject.call(state, arguments)))
        return [tensor for _, tensor in outputs]

    def recorded() -> Any:
        with recorder, Replacing():
            return functionalize(call, remove="mutations_and_views")({**subject.parameters, **buffers}, inputs)

    results = run(subject, recorded)
    trace.output = [(name, recorder.known(tensor)) for (name, _), tensor in zip(outputs, results)]
    return trace
