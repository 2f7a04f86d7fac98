"""A formula made ready for a library: its plan, its source text, and a function for repeated calls.

`Formula.compile`, `Formula.to_python` and `Formula.cost` are made of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar.errors import NotationError

from ..backends.absent import Absent
from ..backends.function import PlanFunction
from ..backends.jax import must_see
from ..checking.checker import Checker
from ..checking.report import InputType
from ..core.layout import Layout, remember
from ..core.limits import DEFAULT, recursion_headroom
from ..core.sizes import is_ground, resolve
from ..operators.user_functions import USER_FUNCTIONS
from ..planning.plan import Plan, Value
from ..planning.planner import make_plan
from ..planning.target import Target, target_of
from ..scope.names import key
from ..scope.numbers_given import as_numbers
from .arguments import shape_of
from .call_cache import CachedCall
from .executable import ARRAY, LAYOUT, all_values, spelling_of, whole_sizes
from .given_names import told_names

if TYPE_CHECKING:
    from .program import Program

LIBRARIES = {"numpy": "numpy", "torch": "array_api_compat.torch", "jax": "jax.numpy"}
DTYPE = "float32"  # of inputs that are given by their shape


def target_named(library: str) -> Target:
    """The target of a library by its name. Raises NotationError where it is none, or not installed."""
    found = printed_target(library)
    if isinstance(found, Absent):
        raise NotationError(408, f"{library} is not installed", hint=f"pip install {library}")
    return found


def printed_target(library: str) -> Target:
    """The same for text that is not run here: the library need not be installed."""
    if not isinstance(library, str) or library not in LIBRARIES:
        raise NotationError(408, f"{library!r} is no backend", hint=f"there are: {', '.join(LIBRARIES)}")
    try:
        import_module(library)
    except ImportError:
        return Absent(library)
    return target_of(import_module(LIBRARIES[library]))


def layout_of(value: Any, name: str, sizes: Mapping[str, int]) -> Any:
    """The layout of what is given for a name: a tensor, or a shape with all its sizes; a plain number as it is."""
    layout = getattr(value, "layout", None)
    if isinstance(layout, Layout):
        return layout
    if isinstance(value, (int, float)):
        return value
    shape = filled(value, name, sizes)
    unknown = next((axis for axis, size in shape.items() if not is_ground(resolve(size))), None)
    if unknown is not None:
        raise NotationError(309, f"the size of {unknown} in {name} is not known", hint=f"write ℝ^{{{unknown}[3]}}")
    return Layout(tuple(shape), tuple(resolve(size) for size in shape.values()), DTYPE, None)


def filled(value: Any, name: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    """A shape, with those of the sizes that it leaves out."""
    return {
        axis: size if is_ground(resolve(size)) else sizes.get(axis, size)
        for axis, size in shape_of(value, name).items()
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
    without: Sequence[str] = (), told: Sequence[str] | None = None,
) -> tuple[Plan, list[Any]]:  # fmt: skip
    """The plan of a formula for inputs of these layouts, with the Python functions that it calls; see `checked_plan`."""
    return checked_plan(program, target, given, sizes, without, told)[:2]


def checked_plan(
    program: Program, target: Target, given: Mapping[str, Any], sizes: Mapping[str, int] | None = None,
    without: Sequence[str] = (), told: Sequence[str] | None = None,
) -> tuple[Plan, list[Any], Checker]:  # fmt: skip
    """The plan of a formula, or of the function that a program ends with, for inputs of these layouts.

    Raises NotationError where the formula does not fit them, or one of those that are `told` of it is not in it.
    """
    extent = whole_sizes(sizes)
    found = {str(key(name)): layout_of(value, name, extent) for name, value in given.items()}
    layouts = {name: each for name, each in found.items() if isinstance(each, Layout)}
    inputs = {
        key(name): InputType(each.sizes, None, each.is_truth) if isinstance(each, Layout) else InputType({}, each)
        for name, each in found.items()
    }
    scope = program.scope_given(inputs)
    entry = program.function_of(scope)
    with recursion_headroom(program.source):
        if entry is None:
            checker = Checker(scope, inputs, extent, python=USER_FUNCTIONS, told=told)
            term = checker.whole()
        else:
            function = program.last_function(scope)
            names = [] if function is None else [str(name.key()) for name in function.parameters]
            arguments = [(name, inputs.pop(key(name))) for name in names if key(name) in inputs]
            shapes = {axis for _, each in arguments for axis in each.shape}
            checker = Checker(scope, inputs, extent, python=USER_FUNCTIONS, told=told, besides=shapes)
            term = entry.term(checker, arguments)
        plan, python = make_plan(checker.scope.source, (term,), layouts, target, DEFAULT, without=without)
        return plan, python, checker


def inputs_of(given: Mapping[str, Any]) -> dict[Any, InputType]:
    """What the checker is to know of tensors and numbers."""
    return {
        key(name): InputType(each.layout.sizes) if hasattr(each, "layout") else InputType({}, each)
        for name, each in given.items()
    }


def to_python(
    program: Program, library: str, given: Mapping[str, Any], sizes=None, without: Sequence[str] = (),
    told: Sequence[str] = (),
) -> str:  # fmt: skip
    """The source text of a function that runs without this project; its parameters are `given`, in their order."""
    target = printed_target(library)
    plan, python = plan_of(program, target, given, sizes, without, told)
    if python:
        raise NotationError(408, "a formula that calls a Python function has no source text of its own")
    return target.backend.whole(plan)


def to_javascript(
    program: Program, given: Mapping[str, Any], sizes=None, standalone: bool = False, told: Sequence[str] = ()
) -> str:
    """The text of a module of JavaScript that exports the function `formula`; its parameters are `given`, in their order."""
    from ..backends.javascript import BACKEND, TARGET

    plan, python = plan_of(program, TARGET, given, sizes, (), told)
    if python:
        raise NotationError(408, "a formula that calls a Python function has no source text of its own")
    return BACKEND.text(plan, standalone)


class Made(NamedTuple):
    """What serves calls with tensors of one kind: its function, what is run of it, what gives a named tensor, and the names
    of its arrays in order."""

    function: PlanFunction
    fast: Callable[..., Any]
    run: Callable[..., Any]
    names: tuple[str, ...]
    unused: frozenset[str]  # of what is given
    layout: Any = None

    def prepared(self, layout: Any) -> Made:
        """The same for calls whose result has always this layout."""
        fast = None if self.fast is self.function else self.fast
        return self._replace(run=self.function.prepared(layout, fast), layout=layout)

    def repeated(self, tensors: tuple[Any, ...], named: Mapping[str, Any]) -> Callable[..., Any]:
        """What serves the next call with such tensors, those by position and then those by name; see `Function.repeated`."""
        layouts = [*map(LAYOUT, tensors), *map(LAYOUT, named.values())]
        fast = None if self.fast is self.function else self.fast
        return self.function.repeated(range(len(layouts)), layouts, self.layout, fast)


class CompiledFormula(CachedCall):
    """A formula for repeated calls: takes and gives named tensors, planned once for each kind of them.

    `function` is the plain function of positional arrays, `source` its text and `plan` its steps, as they were last used;
    the order of the arrays is `names`.
    """

    def __init__(self, program: Program, library: str | None, without: Sequence[str]):
        super().__init__()
        self.program, self.library, self.without = program, library, tuple(without)
        self.target = None if library is None else target_named(library)
        self._made: dict[tuple, Made] = {}
        self._known: dict[tuple, Made] = {}  # names and layouts -> what a repeated call runs
        self._last: Made | None = None

    def __reduce__(self):  # its functions are made anew when it is called
        return CompiledFormula, (self.program, self.library, self.without)

    def _called(self, arguments: tuple[Any, ...], values: Mapping[str, Any] | None, sizes: Any, named: dict[str, Any]):
        self._forget()  # so that what is repeated is always what was used last
        known = None
        if sizes is None:  # what is known needs no more than this
            try:
                if values is None:
                    given = named
                    known = (USER_FUNCTIONS.version, *map(LAYOUT, arguments), *given, *map(LAYOUT, given.values()))
                else:  # which may hold more than the formula uses
                    given = {**values, **named} if named else values
                    layouts = (*map(LAYOUT, arguments), *given, *map(LAYOUT, given.values()))
                    known = (USER_FUNCTIONS.version, *layouts, (type(values), *named))
                found = self._known.get(known)
            except (AttributeError, TypeError):
                found = known = None
            if found is not None:
                self._last = found
                if values is None:
                    self._repeat((*named,), found.repeated(arguments, named))
                return found.run(*map(ARRAY, arguments), *map(ARRAY, given.values()))
        names = told_names(values, named)
        found, result = self.first(arguments, all_values(values, named), whole_sizes(sizes), known, names)
        self._last = found
        return result

    def first(
        self,
        arguments: tuple,
        by_name: dict[str, Any],
        sizes: dict[str, int],
        known: tuple | None,
        told: tuple[str, ...],
    ) -> tuple[Made, Any]:
        """What serves a call, made where there is none yet, and its result; `resolve` is what it is kept by."""
        from ..core.tensor import NamedTensor
        from ..tensors.values import as_value

        given = {**self.by_name(arguments), **by_name}
        given = {name: each if type(each) is NamedTensor else as_value(each, name) for name, each in given.items()}
        given = dict(as_numbers(given, lambda: self.program.scope_given(inputs_of(given))))
        kinds = tuple(getattr(each, "layout", (type(each), each)) for each in given.values())
        mark = (tuple(given), kinds, tuple(sizes.items()), USER_FUNCTIONS.version)
        found = self._made.get(mark)
        if found is None or not found.unused.isdisjoint(map(spelling_of, told)):
            found = remember(self._made, mark, self.make(given, sizes, told))
        result = found.run(*[each._array for each in given.values() if isinstance(each, NamedTensor)])
        value = found.function.plan.results[0]
        whole = len(found.names) == len(arguments) + len(by_name)  # all are tensors, and none is given twice
        if known is not None and whole and isinstance(value, Value) and not value.dynamic:
            remember(self._known, known, found.prepared(result.layout))
        return found, result

    def by_name(self, arguments: tuple) -> dict[str, Any]:
        function = self.program.last_function()
        names = [] if function is None else [str(name.key()) for name in function.parameters]
        if len(arguments) > len(names):
            raise NotationError(
                304, f"this takes {len(names)} arguments by position, and was given {len(arguments)}",
                hint="give its tensors by name: f(X=X)",
            )  # fmt: skip
        return dict(zip(names, arguments))

    def make(self, given: dict[str, Any], sizes: dict[str, int], told: tuple[str, ...]) -> Made:
        from ..tensors.values import namespace_of, wrap
        from .executable import axes_of

        arrays = {name: each._array for name, each in given.items() if hasattr(each, "layout")}
        target = target_of(namespace_of(arrays)) if arrays or self.target is None else self.target
        if self.target is not None and arrays and target.name != self.target.name:
            raise NotationError(
                317, f"the formula was compiled for {self.target.name}, and was given arrays of {target.name}",
                hint="convert them, or compile without a backend",
            )  # fmt: skip
        plan, python, checker = checked_plan(self.program, target, given, sizes, self.without, told)
        function = PlanFunction(plan, target, python)
        axes, fast = axes_of(plan.results[0]), jitted(function)
        return Made(
            function, fast, lambda *values: wrap(fast(*values), axes, target.xp), tuple(arrays), checker.speaks.unused
        )

    def _used(self) -> Made:
        if self._last is None:
            raise NotationError(
                309, "the sizes of the inputs are not known yet", hint="call the compiled formula first"
            )
        return self._last

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
        return self._used().function.plan

    @property
    def source(self) -> str:
        """The text of the function, which runs by itself."""
        function = self._used().function
        return function.target.backend.whole(function.plan)

    def module(self, parameters: Mapping[str, Any], sizes: Mapping[str, int] | None = None, **inputs: Any):
        """A `torch.nn.Module` with these parameters, under the names that the formula has for them.

        Its `forward` takes the other inputs by name or position: named tensors, and plain ones of those inputs whose axes
        are said here, as in `module(parameters, X="batch chans")`. The result is plain where an input is; its axes are then in
        the order said, new ones last, and the module's `axes` tells them.

        Raises NotationError where PyTorch is not installed, or a parameter is no tensor.
        """
        from .torch_module import module

        return module(self, parameters, sizes, inputs)


def jitted(function: PlanFunction) -> Callable[..., Any]:
    """The function as it is run: for JAX compiled, where the plan has nothing that fails on data, which it must see."""
    if function.target.name != "jax" or must_see(function.plan):
        return function
    from jax import jit  # type: ignore[import-not-found]

    return jit(function.run)
