"""Compiled formulas, each with its plan, its source text and a function for repeated calls.

`Formula.compile`, `Formula.to_python` and `Formula.cost` use this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grammar.cache import cached_property
from grammar.errors import NotationError
from grammar.printer import to_text

from ..backends.entry_checks import find_shared_dtypes, plain
from ..core.axes import show
from ..core.extents import symbols_of
from ..core.suggestions import Suggests
from ..planning.plan import Plan, PlanValue, axes_of, order_axes
from ..planning.target import Target
from .arguments import (
    BoundArguments,
    all_values,
    fill_shape,
    keyword_names,
    normalize_names,
    spelling_of,
    suggest_call,
    whole_sizes,
)
from .call_cache import CachedCall
from .entries import Entry, Goal, WholeProgram, argument_names
from .executable import CompiledPlan, Options
from .named_plans import plan_of, target_named, text_target
from .parameters import parameter_shapes

if TYPE_CHECKING:
    from .torch_module import NamedModule


def with_declared(
    goal: WholeProgram | Entry, given: Mapping[str, Any], sizes: Mapping[str, int] | None, with_open: bool = False
) -> dict[str, Any]:
    """Return the given arguments and the shapes of all other declared inputs.

    If `with_open` is true, include shapes with open sizes.
    """
    extent = whole_sizes(sizes)
    shapes = {
        name: fill_shape(value, name, extent) if isinstance(value, (str, Mapping)) else value
        for name, value in given.items()
    }
    declared = parameter_shapes(goal, sizes, shapes)
    known = {name: shape for name, shape in declared.items() if None not in shape.values()}
    others = {name: show(shape) for name, shape in declared.items() if name not in known} if with_open else {}
    return {**given, **known, **others}


def to_python(goal: WholeProgram | Entry, library: str, given: Mapping[str, Any], options: Options) -> str:
    """Return the source of a standalone Python function.

    Its parameters are the names in `given`, in order, except for plain numbers, which are inlined.
    """
    return Specialization(goal, text_target(library), given, options).source


def to_module(goal: WholeProgram | Entry, library: str, given: Mapping[str, Any], options: Options) -> str:
    """Return the source text of a PyTorch module class.

    Its parameters are the tensors whose sizes are all known, except for the arguments of the function.
    """
    if library != "torch":
        raise NotationError(
            408, f"modules are supported for torch only, got {library}", hint='write to_python("torch", style="module")'
        )
    from ..backends.torch_modules import module_text, order_results
    from .initialization import fans_in
    from .initializers import zeros
    from .torch_forward import order_of

    function = goal.function()
    given = with_declared(goal, given, options.sizes)
    specialization = Specialization(goal, target_named("torch"), given, options)
    if specialization._python:
        raise NotationError(408, "a module does not call functions of Python", hint='write to_python("torch")')
    named = [
        (name, value)
        for name, value in zip(specialization.names, specialization.plan.inputs)
        if isinstance(value, PlanValue)
    ]
    arguments = {spelling_of(name) for name in argument_names(goal)}
    parameters = {
        value: name.replace(".", "·") for name, value in named if name not in arguments and not symbols_of(value.shape)
    }
    if len(parameters) == len(named) > 0:
        raise NotationError(
            309,
            "the module has no input",
            hint='leave a size of the input open, as in X="ℝ^{batch × chans}"',
        )
    inputs = [axes_of(value) for _, value in named if value not in parameters]
    shapes = {name: value for name, value in given.items() if spelling_of(name) not in {*parameters.values()}}
    initializers = fans_in(goal, options.sizes, {name: to_shape(value) for name, value in shapes.items()})
    initial = {value: initializer_text(*initializers.get(name, (zeros, 1))) for value, name in parameters.items()}
    results = [result for result in specialization.plan.results if isinstance(result, PlanValue)]
    orders = [order_axes(result, order_of(axes_of(result), inputs)) for result in results]
    plan = (
        order_results(specialization.plan, orders)
        if len(orders) == len(specialization.plan.results)
        else specialization.plan
    )
    text = to_text(goal.tree()).splitlines()
    title = function.title if function is not None else getattr(goal, "name", "Formula")
    return module_text(target_named("torch").backend, plan, class_name(title), parameters, initial, text)


def to_shape(value: Any) -> Any:
    """Return an input in one of the forms that `parameter_shapes` accepts."""
    return dict(value.sizes) if hasattr(value, "sizes") else value


def initializer_text(initializer: Any, fan_in: int) -> str:
    """Return the source text for a parameter's initial value, with `{}` in place of the list of sizes."""
    from .initializers import lecun_normal, ones

    if initializer is lecun_normal:
        return "torch.randn({})" + (f" / {fan_in}**0.5" if fan_in > 1 else "")
    return "torch.ones({})" if initializer is ones else "torch.zeros({})"


def class_name(title: str) -> str:
    """Return a name for a class, made from the name of a formula."""
    words = "".join(letter if f"a{letter}".isidentifier() else "_" for letter in title).strip("_")
    return f"{words[:1].upper()}{words[1:]}" if words[:1].isalpha() else f"Formula{words}"


def to_javascript(goal: WholeProgram | Entry, given: Mapping[str, Any], standalone: bool, options: Options) -> str:
    """Return the source of a JavaScript module with a function `formula`.

    Its parameters are the names in `given`, except for plain numbers, which are inlined.
    """
    from ..backends.javascript import BACKEND, TARGET

    plan, python = plan_of(goal, TARGET, given, options)
    if python:
        raise NotationError(408, "a formula that calls a Python function has no source text")
    return BACKEND.text(plan, standalone)


class Specialization:
    """A formula compiled for one input signature: its function of positional arrays, its source text and its plan.

    A specialization is immutable. Its function raises ValueError or TypeError if the sizes or dtypes of the arrays
    differ from the signature.
    """

    def __init__(self, goal: WholeProgram | Entry, target: Target, given: Mapping[str, Any], options: Options) -> None:
        disable = plain(target.name, options.disable)
        self._target = target
        options = options._replace(disable=disable)
        self._plan, self._python = plan_of(goal, target, given, options)
        if (
            target.name == "numpy"
            and not find_shared_dtypes(self._plan)
            and any(isinstance(item, (str, Mapping)) for item in given.values())
        ):
            self._plan, self._python = plan_of(goal, target, given, options, dtype="float64")
        self._names = tuple(
            spelling_of(name) for name, value in given.items() if not isinstance(value, (bool, int, float))
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the function's arguments, in call order."""
        return self._names

    @property
    def plan(self) -> Plan:
        """The plan. Its printed form is a readable list of its steps."""
        return self._plan

    @cached_property
    def source(self) -> str:
        """Return the standalone source text of the function. Raise NotationError if it calls a Python function."""
        text = self._target.backend.whole(self._plan)
        if not self._python:
            return text
        from ..operators.array_functions import definitions_text

        further, imports = definitions_text(self._python, text)
        return "\n".join([*imports, text]) + f"\n\n{further}"

    @cached_property
    def function(self) -> Callable[..., Any]:
        """Return the function of positional arrays that the source text defines."""
        python = {f"python_{number}": item for number, item in enumerate(self._python, 1)}
        return self._target.backend.whole_function(self._plan, python)


class CompiledFormula(Suggests, CachedCall):
    """A formula for repeated calls with named tensors. It is planned once per input signature.

    `specialize` returns the formula for one signature, with its plain `function` of positional arrays, `source` and
    `plan`. The attributes `names`, `plan` and `source` describe the last call.
    """

    _goal: WholeProgram | Entry

    def __init__(self, formula: Any, library: str | None, disable: Sequence[str]):
        super().__init__(formula._goal, Options(disable=tuple(disable), is_compiled=True))
        self._formula, self._library = formula, library
        if library is not None:
            target_named(library)  # raises an error if the library is not installed

    def __reduce__(self) -> Any:  # A call rebuilds the functions.
        return CompiledFormula, (self._formula, self._library, self._options.disable)

    def specialize(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Specialization:
        """Return the formula compiled for inputs with these axes, sizes and dtypes.

        Its `function` accepts positional arrays. Raises NotationError if the formula does not fit the inputs.

        >>> import namedtensor as nt
        >>> import numpy as np
        >>> mean = nt.formula("mean_{a} x").compile("numpy").specialize(x="ℝ^{a[2]}").function
        >>> float(mean(np.array([2.0, 3.0])))
        2.5
        >>> mean(np.array([2.0, 3.0, 4.0]))
        Traceback (most recent call last):
            ...
        ValueError: axis a of x must have size 2, got 3
        """
        by_name = all_values(values, named)
        inputs = {**dict(zip(self._argument_names(arguments), arguments)), **by_name}
        arrays = {name: value for name, value in inputs.items() if hasattr(value, "layout")}
        options = self._options._replace(sizes=sizes, by_keyword=keyword_names(values, named))
        target = self._target(BoundArguments(arrays)) if arrays or self._library else target_named("numpy")
        return Specialization(self._goal, target, inputs, options)

    def _argument_names(self, arguments: tuple[Any, ...]) -> list[str]:
        """Return the names of the function's parameters, or an empty list if there are no arguments.

        Raises NotationError if there are more arguments than parameters.
        """
        names = argument_names(self._goal) if arguments else []
        if len(arguments) > len(names):
            raise NotationError(
                304, f"expected {len(names)} positional arguments, got {len(arguments)}",
                hint=suggest_call("f", self._goal.program.names.free, names),
            )  # fmt: skip
        return names

    def _goal_of(self, arguments: tuple[Any, ...], given: Mapping[str, Any]) -> Goal:
        return self._formula._goal_of(arguments, given)

    def _target(self, given: BoundArguments) -> Target:
        if self._library is None:
            return super()._target(given)
        expected = target_named(self._library)
        target = super()._target(given) if given.arrays else expected
        if target.name != expected.name:
            raise NotationError(
                317,
                f"the formula was compiled for {expected.name}, got arrays of {target.name}",
                hint="convert them, or compile without a backend",
            )
        return target

    def _get_last_used(self) -> CompiledPlan:
        if self._last_used is None:
            raise NotationError(
                309, "the sizes of the inputs are not yet known", hint="call the compiled formula first"
            )
        return self._last_used

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs of the last call, in the order of the arguments in `source`."""
        return self._get_last_used().names

    @property
    def plan(self) -> Plan:
        """The plan of the last call. Its printed form is a list of its steps."""
        return self._get_last_used().plan

    @property
    def source(self) -> str:
        """The standalone source text for inputs with the same signature as the inputs of the last call."""
        function = self._get_last_used().function
        return function.target.backend.whole(function.plan)

    def module(
        self, parameters: Mapping[str, Any], sizes: Mapping[str, int] | None = None, **inputs: Any
    ) -> NamedModule:
        """Return a `torch.nn.Module` whose parameters have the names that the formula gives them.

        The `forward` method accepts the other inputs by name or position. An input is a named tensor, or a plain tensor
        if this call declares its axes, as in `module(parameters, X="batch chans")`. A declaration such as
        "batch seq[5]" also fixes a size. If an input is a plain tensor, the result is also a plain tensor. Its axes are
        in the declared order, followed by new axes, and the module's `axes` lists them. One `forward` handles all sizes
        of the other axes. `export` and `to_onnx` export the module.

        Raises NotationError if PyTorch is not installed, the formula was compiled for another library, or a parameter
        cannot be converted to a tensor or number.
        """
        from ..tensors.values import convert_value

        target_named("torch")
        if self._library not in (None, "torch"):
            raise NotationError(
                317, f"modules are supported for torch only; the formula was compiled for {self._library}",
                hint='write compile("torch").module(…)',
            )  # fmt: skip
        from .torch_module import FormulaModule

        values = normalize_names({name: convert_value(value, name) for name, value in parameters.items()})
        text = to_text(self._goal.tree())
        return FormulaModule(self, self._goal, text, values, sizes, inputs)
