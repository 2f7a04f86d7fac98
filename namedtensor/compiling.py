"""A formula made ready for a library: its plan, its source text, and a function for repeated calls.

`Formula.compile`, `Formula.to_python` and `Formula.cost` are made of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from .check import Checker
from .checked import Input
from .compiled import shadowed_by, whole_sizes
from .layouts import Layout
from .limits import DEFAULT, deep
from .names import key
from .plan import Plan
from .planner import make_plan
from .registered import PYTHON
from .running import Function
from .scope import analyse
from .sizes import is_known, known
from .targets import Target, target_of

if TYPE_CHECKING:
    from .programs import Program

LIBRARIES = {"numpy": "numpy", "torch": "array_api_compat.torch", "jax": "jax.numpy"}
DTYPE = "float32"  # of inputs that are given by their shape


def target_named(library: str) -> Target:
    """The target of a library by its name. Raises NotationError where it is none, or not installed."""
    if library not in LIBRARIES:
        raise NotationError(408, f"{library!r} is no backend", hint=f"there are: {', '.join(LIBRARIES)}")
    try:
        import_module(library)
    except ImportError:
        raise NotationError(408, f"{library} is not installed", hint=f"pip install 'namedtensor[{library}]'") from None
    return target_of(import_module(LIBRARIES[library]))


def layout_of(value: Any, name: str, sizes: Mapping[str, int]) -> Any:
    """The layout of what is given for a name: a tensor, or a shape with all its sizes; a plain number as it is."""
    from .tensors import NamedTensor

    if isinstance(value, NamedTensor):
        return value.layout
    if isinstance(value, (int, float)):
        return value
    import numpy as np

    shape = filled(value, name, sizes)
    unknown = next((axis for axis, size in shape.items() if not is_known(known(size))), None)
    if unknown is not None:
        raise NotationError(309, f"the size of {unknown} in {name} is not known", hint=f"write ℝ^{{{unknown}[3]}}")
    return Layout(tuple(shape), tuple(known(size) for size in shape.values()), np.dtype(DTYPE), np)


def filled(value: Any, name: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    """A shape, with those of the sizes that it leaves out."""
    from .programs import shape_of

    return {
        axis: size if is_known(known(size)) else sizes.get(axis, size) for axis, size in shape_of(value, name).items()
    }


def with_declared(program: Program, given: Mapping[str, Any], sizes: Mapping[str, int] | None) -> dict[str, Any]:
    """What is given, and the shapes of what the program declares besides, where their sizes follow."""
    extent = whole_sizes(sizes)
    shapes = {
        name: filled(value, name, extent) if isinstance(value, (str, Mapping)) else value
        for name, value in given.items()
    }
    declared = program.parameter_shapes(sizes, **shapes)
    return {
        **given,
        **{name: each for name, each in declared.items() if all(size is not None for size in each.values())},
    }


def plan_of(
    program: Program, target: Target, given: Mapping[str, Any], sizes: Mapping[str, int] | None = None,
    without: Sequence[str] = (),
) -> tuple[Plan, list[Any]]:  # fmt: skip
    """The plan of a formula, or of the function that a program ends with, for inputs of these layouts.

    Raises NotationError where the formula does not fit them.
    """
    extent = whole_sizes(sizes)
    found = {str(key(name)): layout_of(value, name, extent) for name, value in given.items()}
    layouts = {name: each for name, each in found.items() if isinstance(each, Layout)}
    inputs = {
        key(name): Input(each.sizes, None, each.is_truth) if isinstance(each, Layout) else Input({}, each)
        for name, each in found.items()
    }
    scope = program.scope
    if shadowed_by(found) or PYTHON:
        from grammar.parser import parse

        tree = parse(program.source, program.syntax, shadowed_by(found), functions=frozenset(PYTHON))
        scope = analyse(program.source, tree)
    entry = program._last
    with deep(program.source):
        if entry is None:
            checker = Checker(scope, inputs, extent, python=PYTHON)
            term = checker.whole()
        else:
            names = [str(name.key()) for name in program.last_function().parameters]  # type: ignore[union-attr]
            arguments = [(name, inputs.pop(key(name))) for name in names if key(name) in inputs]
            checker = Checker(scope, inputs, extent, python=PYTHON)
            term = entry.term(checker, arguments)
        return make_plan(checker.scope.source, (term,), layouts, target, DEFAULT, without=without)


def to_python(program: Program, library: str, given: Mapping[str, Any], sizes=None, without: Sequence[str] = ()) -> str:
    """The source text of a function that runs without this project; its parameters are `given`, in their order."""
    plan, python = plan_of(program, target_named(library), given, sizes, without)
    if python:
        raise NotationError(408, "a formula that calls a Python function has no source text of its own")
    return target_named(library).backend.whole(plan)


class Compiled:
    """A formula for repeated calls: takes and gives named tensors, planned once for each kind of them.

    `function` is the plain function of positional arrays, `source` its text and `plan` its steps, as they were last used;
    the order of the arrays is `names`.
    """

    def __init__(self, program: Program, library: str | None, without: Sequence[str]):
        self.program, self.library, self.without = program, library, tuple(without)
        self.target = None if library is None else target_named(library)
        self._made: dict[tuple, tuple[Function, Callable[..., Any], Any]] = {}
        self._last: tuple[Function, Callable[..., Any], Any] | None = None
        self.names: tuple[str, ...] = ()

    def __call__(self, *arguments: Any, values: Mapping[str, Any] | None = None, sizes=None, **named: Any):
        """The formula's value. Raises NotationError where what is given does not fit."""
        from .tensors import NamedTensor
        from .values import as_value

        given = {**self.by_name(arguments), **(values or {}), **named}
        given = {name: each if type(each) is NamedTensor else as_value(each, name) for name, each in given.items()}
        kinds = tuple(getattr(each, "layout", each) for each in given.values())
        mark = (tuple(given), kinds, tuple((sizes or {}).items()), PYTHON.version)
        found = self._made.get(mark)
        if found is None:
            found = self._made[mark] = self.make(given, sizes)
        self._last = found
        self.names = tuple(name for name, each in given.items() if isinstance(each, NamedTensor))
        return found[1](*[each._array for each in given.values() if isinstance(each, NamedTensor)])

    def by_name(self, arguments: tuple) -> dict[str, Any]:
        function = self.program.last_function()
        names = [] if function is None else [str(name.key()) for name in function.parameters]
        if len(arguments) > len(names):
            raise NotationError(
                304, f"this takes {len(names)} arguments by position, and was given {len(arguments)}",
                hint="give its tensors by name: f(X=X)",
            )  # fmt: skip
        return dict(zip(names, arguments))

    def make(self, given: dict[str, Any], sizes) -> tuple[Function, Callable[..., Any], Any]:
        from .compiled import axes_of
        from .values import namespace_of, wrap

        arrays = {name: each._array for name, each in given.items() if hasattr(each, "layout")}
        target = target_of(namespace_of(arrays)) if arrays or self.target is None else self.target
        if self.target is not None and arrays and target.name != self.target.name:
            raise NotationError(
                317, f"the formula was compiled for {self.target.name}, and was given arrays of {target.name}",
                hint="convert them, or compile without a backend",
            )  # fmt: skip
        plan, python = plan_of(self.program, target, given, sizes, self.without)
        function = Function(plan, target, python)
        axes = axes_of(plan.results[0])
        run: Callable[..., Any] = function
        if target.name == "jax":
            from jax import jit  # type: ignore[import-not-found]

            run = checked_first(function, jit(function.run))
        return function, lambda *values: wrap(run(*values), axes, target.xp), plan

    def _used(self) -> tuple[Function, Callable[..., Any], Any]:
        if self._last is None:
            raise NotationError(
                309, "the sizes of the inputs are not known yet", hint="call the compiled formula first"
            )
        return self._last

    @property
    def function(self) -> Callable[..., Any]:
        """The plain function of positional arrays."""
        return self._used()[0].run

    @property
    def plan(self) -> Plan:
        return self._used()[0].plan

    @property
    def source(self) -> str:
        """The text of the function, which runs by itself."""
        function = self._used()[0]
        return function.target.backend.whole(function.plan)

    def module(self, parameters: Mapping[str, Any], **more: Any):
        """A `torch.nn.Module` with these parameters, whose `forward` takes the other inputs by name or position."""
        from .modules import module

        return module(self, parameters, **more)


def checked_first(function: Function, fast: Callable[..., Any]) -> Callable[..., Any]:
    """`fast`, where the plan has nothing that fails on data; else the function step by step, which sees the numbers."""
    fails = {"positions", "whole_positions", "covered", "inv", "python", "whole_power"}
    return function if any(step.primitive in fails for step in function.plan.steps) else fast
