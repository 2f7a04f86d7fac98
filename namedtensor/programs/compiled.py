"""Compiled formulas: the plan, the source text, and a function for repeated calls.

`Formula.compile`, `Formula.to_python` and `Formula.cost` are made of this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError
from grammar.printer import to_text

from ..backends.absent import Absent, Tabled
from ..backends.function import PlanFunction
from ..backends.jax import must_see
from ..backends.libraries import target_of
from ..checking.checker import Checker
from ..core.limits import DEFAULT, recursion_headroom
from ..core.suggestions import Suggests
from ..planning.plan import Plan
from ..planning.target import Target
from ..scope.names import key
from ..terms.terms import Term
from .arguments import Abstract, Arguments, filled, layout_of, spelling_of, types_of, whole_sizes
from .call_cache import CachedCall
from .entries import Entry, WholeProgram, argument_names
from .executable import PLAIN, Executable, Options, Typed, checked, executable, planned
from .parameters import parameter_shapes
from .parsed import ParsedProgram

if TYPE_CHECKING:
    from .torch_module import NamedModule

LIBRARIES = {"numpy": "numpy", "torch": "array_api_compat.torch", "jax": "jax.numpy"}


def target_named(library: str) -> Target:
    """The target of a library by its name. Raises NotationError where it is none, or not installed."""
    found = printed_target(library)
    if isinstance(found, (Absent, Tabled)):
        raise NotationError(408, f"{library} is not installed", hint=f"pip install {library}")
    return found


def printed_target(library: str) -> Target:
    """The same for text that is not run here: the library need not be installed."""
    if not isinstance(library, str) or library not in LIBRARIES:
        raise NotationError(408, f"{library!r} is no backend", hint=f"there are: {', '.join(LIBRARIES)}")
    try:
        import_module(library)
        return target_of(import_module(LIBRARIES[library]))
    except ImportError:
        return Tabled() if library == "numpy" else Absent(library)


def text_target(library: str) -> Target:
    """The same without an import of it: text needs none, and PyTorch takes seconds."""
    known = isinstance(library, str) and library in LIBRARIES and library != "numpy"
    return Absent(library) if known and library not in sys.modules else printed_target(library)


def checked_by_name(
    goal: WholeProgram | Entry, abstract: Abstract, options: Options
) -> tuple[Checker, tuple[Term, ...]]:
    """The terms of what is asked for, where the arguments of a function come by their own names."""
    inputs = types_of(abstract)
    scope = goal.program.scope_given(inputs)
    entry = goal.entry(scope)
    if entry is None:
        return checked(goal, inputs, [], options, scope)
    arguments = [(name, inputs.pop(key(name))) for name in argument_names(goal, scope) if key(name) in inputs]
    return checked(entry, inputs, arguments, options, scope)


def plan_of(
    goal: WholeProgram | Entry, target: Target, given: Mapping[str, Any], options: Options = PLAIN
) -> tuple[Plan, list[Any]]:
    """The plan of a formula for tensors, shapes and numbers by name, and the Python functions that it calls.

    Raises NotationError where the formula does not fit them, or does not mention one that was given by keyword.
    """
    sizes = whole_sizes(options.sizes)
    abstract = {spelling_of(name): layout_of(value, name, sizes) for name, value in given.items()}
    with recursion_headroom(goal.program.source):
        checker, terms = checked_by_name(goal, abstract, options._replace(sizes=sizes))
        return planned(checker.scope.source, terms, abstract, target, without=options.without)


def with_declared(
    goal: WholeProgram | Entry, given: Mapping[str, Any], sizes: Mapping[str, int] | None
) -> dict[str, Any]:
    """The arguments, and the shapes of what the program declares beside them, where their sizes follow."""
    extent = whole_sizes(sizes)
    shapes = {
        name: filled(value, name, extent) if isinstance(value, (str, Mapping)) else value
        for name, value in given.items()
    }
    declared = parameter_shapes(goal, sizes, shapes)
    return {
        **given,
        **{name: each for name, each in declared.items() if all(size is not None for size in each.values())},
    }


def to_python(goal: WholeProgram | Entry, library: str, given: Mapping[str, Any], options: Options) -> str:
    """The source text of a function that runs without this project; its parameters are `given`, in their order."""
    target = text_target(library)
    plan, python = plan_of(goal, target, given, options)
    if python:
        raise NotationError(408, "a formula that calls a Python function has no source text of its own")
    return target.backend.whole(plan)


def to_javascript(goal: WholeProgram | Entry, given: Mapping[str, Any], standalone: bool, options: Options) -> str:
    """The text of a module of JavaScript that exports the function `formula`; its parameters are `given`, in their order."""
    from ..backends.javascript import BACKEND, TARGET

    plan, python = plan_of(goal, TARGET, given, options)
    if python:
        raise NotationError(408, "a formula that calls a Python function has no source text of its own")
    return BACKEND.text(plan, standalone)


class CompiledFormula(Suggests, CachedCall):
    """A formula for repeated calls: takes and gives named tensors, planned once for each kind of them.

    `function` is the plain function of positional arrays, `source` its text and `plan` its steps, as they were last used;
    the order of the arrays is `names`.
    """

    def __init__(self, goal: WholeProgram | Entry, library: str | None, without: Sequence[str]):
        super().__init__()
        self._goal, self._library, self._without = goal, library, tuple(without)
        self._target = None if library is None else target_named(library)

    def __reduce__(self) -> Any:  # its functions are made anew when it is called
        return CompiledFormula, (self._goal, self._library, self._without)

    def _called(self, arguments: tuple[Any, ...], values: Mapping[str, Any] | None, sizes: Any, named: dict[str, Any]):
        self._invalidate()  # so that the inline cache always holds what was used last
        return super()._called(arguments, values, sizes, named)

    def _bound(self, arguments: tuple[Any, ...], by_name: dict[str, Any]) -> Arguments:
        names = argument_names(self._goal) if arguments else []
        if len(arguments) > len(names):
            raise NotationError(
                304, f"this takes {len(names)} arguments by position, and was given {len(arguments)}",
                hint="give its tensors by name: f(X=X)",
            )  # fmt: skip
        return Arguments({**dict(zip(names, arguments)), **by_name})

    @property
    def _read(self) -> ParsedProgram:
        return self._goal.program

    def _made(
        self,
        given: Arguments,
        sizes: dict[str, int],
        by_keyword: tuple[str, ...],
        spread: Mapping[str, int] | None = None,
    ) -> Executable:
        target = self._target_of(given).over(spread)
        found = executable(self._types(given, sizes, by_keyword), given.abstract, target, self._without)
        found.instead = jitted(found.function)
        return found

    def _typed(self, given: Arguments, sizes: dict[str, int], by_keyword: tuple[str, ...]) -> Typed:
        with recursion_headroom(self._goal.program.source):
            checker, terms = checked_by_name(self._goal, given.abstract, Options(sizes, by_keyword))
        return Typed(checker.scope.source, DEFAULT, terms, (), checker.given_names.unused, checker)

    def _target_of(self, given: Arguments) -> Target:
        from ..tensors.values import namespace_of

        if self._target is None or given.arrays:
            target = target_of(namespace_of(given.arrays))
            if self._target is not None and target.name != self._target.name:
                raise NotationError(
                    317,
                    f"the formula was compiled for {self._target.name}, and was given arrays of {target.name}",
                    hint="convert them, or compile without a backend",
                )
            return target
        return self._target

    def _used(self) -> Executable:
        if self._last_used is None:
            raise NotationError(
                309, "the sizes of the inputs are not known yet", hint="call the compiled formula first"
            )
        return self._last_used

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays that the function takes, in order."""
        return self._used().names

    @property
    def function(self) -> Callable[..., Any]:
        """The plain function of positional arrays."""
        return self._used().function.run

    @property
    def plan(self) -> Plan:
        """Its steps, which print."""
        return self._used().plan

    @property
    def source(self) -> str:
        """The text of the function, which runs by itself."""
        function = self._used().function
        return function.target.backend.whole(function.plan)

    def module(
        self, parameters: Mapping[str, Any], sizes: Mapping[str, int] | None = None, **inputs: Any
    ) -> NamedModule:
        """A `torch.nn.Module` with these parameters, under the names that the formula has for them.

        Its `forward` takes the other inputs by name or position: named tensors, and plain ones of those inputs whose axes
        are said here, as in `module(parameters, X="batch chans")`. The result is plain where an input is; its axes are then in
        the order said, new ones last, and the module's `axes` tells them.

        Raises NotationError where PyTorch is not installed, or a parameter is no tensor.
        """
        from ..tensors.values import as_value

        target_named("torch")
        if self._library not in (None, "torch"):
            raise NotationError(
                317, f"the formula was compiled for {self._library}, and a module is PyTorch's",
                hint='write compile("torch").module(…)',
            )  # fmt: skip
        from .torch_module import FormulaModule

        values = {spelling_of(name): as_value(value, name) for name, value in parameters.items()}
        text = to_text(self._goal.tree())
        return FormulaModule(self, tuple(argument_names(self._goal)), text, values, sizes, inputs)


def jitted(function: PlanFunction) -> Callable[..., Any] | None:
    """The function compiled by JAX, where the plan has nothing that fails on data, which it must see."""
    if function.target.name != "jax" or must_see(function.plan):
        return None
    from jax import jit  # type: ignore[import-not-found]

    return jit(function.run)
