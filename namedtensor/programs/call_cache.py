"""Calls of a goal. A repeated call finds its compiled plan by its input signature or by the types of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

from grammar.cache import Cache
from grammar.errors import NotationError

from ..backends.function import target_of
from ..checking.checker import Checker
from ..core.arrays import Layout, has_dimensions
from ..core.warned import warn_of_text
from ..operators.user_functions import USER_FUNCTIONS
from ..planning.target import Placement, Target
from .arguments import (
    ARRAY,
    LAYOUT,
    BoundArguments,
    all_values,
    arrays_and_keys,
    keyword_names,
    layout_of,
    spelling_of,
    whole_sizes,
)
from .entries import Entry, Goal, WholeProgram, name_argument
from .executable import PLAIN, CompiledPlan, Options, TypedValues, compile_plan, type_goal
from .symbolic_plans import find_plan, find_plan_of_dimensions

MOST = 2048  # keys of a cache: two for most compiled plans
BYTES = 128 * 2**20  # the limit on plans and their constants, such as masks; an allocator may use twice as much memory


def bytes_of(value: Any) -> int:
    """Return the size of a cached value in bytes, or 0 if the value does not have `nbytes`.

    Access to `nbytes` can compute its value, which can build large objects and raise an error.
    """
    return getattr(value, "nbytes", 0)


def new_cache(name: str) -> Cache[Any, Any]:
    """Return a cache of compiled plans that limits its keys and bytes by dropping the oldest entries first."""
    return Cache(name, MOST, bytes_of, BYTES)


class CachedCall:
    """A callable that evaluates a goal. Each call finds its compiled plan by the input signature."""

    def __init__(self, goal: Goal, options: Options = PLAIN, cache: Cache[Any, Any] | None = None, token: Any = None):
        """Create a callable. Callables with the same cache and equal tokens share their plans."""
        self._goal, self._options, self._token = goal, options, token
        self._last_used: CompiledPlan | None = None
        self._plans = new_cache("compiled plans of a callable") if cache is None else cache

    def __call__(
        self,
        /,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Return the value of the formula.

        Pass the arguments of a function by position. Pass parameters and inputs by name.

        Raises NotationError if an input does not fit.
        """
        try:
            inputs = named if values is None else {**values, **named} if named else values
            given = (*arguments, *inputs.values())
            try:
                arrays, layouts = [*map(ARRAY, given)], map(LAYOUT, given)
            except AttributeError:  # Some inputs are not tensors.
                arrays, layouts = arrays_and_keys(given)
            key = (self._token, USER_FUNCTIONS.version, *inputs, *layouts)
            if values is not None:  # Names in `values` may be unused; names in `named` must be used.
                key = (*key, type(values), *named)
            if sizes is not None:
                key = (*key, *sizes.items(), *map(type, sizes.values()))  # 2.0 and True are not sizes
            known = self._plans.get(key)  # This does not make the entry newer.
        except (AttributeError, TypeError):
            known = key = None
        try:
            if known is None:
                return self._slow_path(arguments, values, sizes, named, key)[0]
            self._last_used = known
            return known(*arrays)
        except NotationError as problem:
            raise problem.alone() from None

    def _slow_path(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any] | None, sizes: Any, named: dict[str, Any],
        by_layout: tuple[Any, ...] | None,
    ) -> tuple[Any, CompiledPlan | None]:  # fmt: skip
        """Return the value of a call whose layouts are new, and the compiled plan for later calls with these layouts.

        If other values with these layouts may need a different plan, return None in place of the plan. Otherwise, store
        the plan under the key `by_layout`, unless the key is None.
        """
        by_name = all_values(values, named)
        goal = self._goal_of(arguments, by_name)
        bound = self._bound(goal, arguments, by_name) if arguments else BoundArguments(by_name)
        if bound.labeled:
            bound = bound.with_labels()
        numbers = bound.with_numbers(goal.program)
        extent = {} if sizes is None else whole_sizes(sizes)
        by_keyword = keyword_names(values, named)
        make = partial(self._made, goal, self._options._replace(sizes=extent, by_keyword=by_keyword))
        extra = (self._token, numbers.positional, tuple(extent.items()), by_keyword, USER_FUNCTIONS.version)
        if has_dimensions(numbers.abstract.values()):
            return find_plan_of_dimensions(self._plans, numbers, extra, make)(*numbers.arrays.values()), None
        self._last_used = compiled = find_plan(self._plans, numbers, extra, make)
        result = compiled(*numbers.arrays.values())
        if numbers is not bound:
            return result, None
        if by_layout is not None:
            self._plans.store(by_layout, compiled)
        return result, compiled

    def _goal_of(self, arguments: tuple[Any, ...], given: Mapping[str, Any]) -> Goal:
        """Return the goal of a call. A program overrides this method, because its inputs can select another goal."""
        return self._goal

    def _run_placed(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any], sizes: Mapping[str, int], placement: Placement
    ) -> Any:
        """Return the value of a call whose arrays are on several devices. Its plan is used only for this call."""
        goal = self._goal_of(arguments, values)
        numbers = self._bound(goal, arguments, dict(values)).with_numbers(goal.program)
        options = self._options._replace(sizes=whole_sizes(sizes), by_keyword=())
        return self._made(goal, options, numbers, placement)(*numbers.arrays.values())

    def _align(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any], sizes: Mapping[str, int] | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments aligned by their labels, for functions that do not accept labels."""
        goal = self._goal_of(arguments, values)
        bound = self._bound(goal, arguments, dict(values))
        if not bound.labeled:
            return arguments, dict(values)
        from .labeled_calls import align_inputs

        numbers = bound.with_labels().with_numbers(goal.program)
        options = self._options._replace(sizes=whole_sizes(sizes))
        aligned, _, _ = align_inputs(numbers, lambda it: self._typed(goal, it, options))
        result = dict(aligned.values)
        return tuple([result.pop(name) for name in bound.positional]), result

    def _layout(self, value: Any, name: str) -> Layout:
        """Return the layout of a tensor, or of a shape given as source text or sizes."""
        return layout_of(value, name, {})

    def _bound(self, goal: Goal, arguments: tuple[Any, ...], by_name: dict[str, Any]) -> BoundArguments:
        """Return the bound arguments of a call, in which the arguments of a function are bound to names."""
        if not arguments:
            return BoundArguments(by_name)
        assert isinstance(goal, Entry)
        return bind_arguments(goal, arguments, by_name)

    def _target(self, given: BoundArguments) -> Target:
        """Return the target, a library with its devices, that runs the goal on these arguments."""
        from ..core.arrays import namespace_of

        return target_of(namespace_of(given.arrays))

    def _typed(self, goal: Goal, given: BoundArguments, options: Options) -> TypedValues:
        """Return the goal's typed terms for these inputs, and warn about possible mistakes."""
        result = type_goal(goal, given, options)
        warn_of_checks(result.checker, whole=isinstance(goal, WholeProgram) and not options.is_compiled)
        return result._replace(claims=()) if options.is_compiled else result

    def _made(
        self, goal: Goal, options: Options, given: BoundArguments, placement: Placement | None = None
    ) -> CompiledPlan:
        """Compile a plan for these inputs. `placement` places values on several devices."""
        target = self._target(given).over(placement)
        if not given.labeled:
            return compile_plan(self._typed(goal, given, options), given.abstract, target, options)
        from .labeled_calls import compile_labeled

        return compile_labeled(given, lambda it: self._typed(goal, it, options), target, options)


FormulaLike: TypeAlias = str | CachedCall  # a text, a formula, a program or an entry point; `help` shows this name


def bind_arguments(entry: Entry, arguments: tuple[Any, ...], named: dict[str, Any]) -> BoundArguments:
    """Return the bound arguments of a function. Each positional argument gets the name of its parameter.

    If another input has this name, the argument is called `argument_1`, for example.
    """
    from ..tensors.values import NamedTensor, convert_value

    values: dict[str, Any] = {}
    taken = {*map(spelling_of, named)}
    for position, argument in enumerate(arguments):
        parameter = name_argument(entry, position)
        name = parameter if " " not in parameter and parameter not in taken else f"argument_{position + 1}"
        values[name] = argument if type(argument) is NamedTensor else convert_value(argument, parameter)
    return BoundArguments({**values, **named}, tuple(values))


WARNED = (
    107,
    209,
    211,
    319,
)  # the codes of further `check` warnings that the evaluation of a whole program also gives


def warn_of_checks(checker: Checker | None, whole: bool = True) -> None:
    """Warn, at the first call with a signature, about axes that may be misspelled and sums of unrelated tensors.

    If `whole` is true, also warn about lines that continue an equation, replaced built-in functions, unused definitions
    after the program's value, axes that differ only in a star, and assertions whose values are not compared.
    """
    if checker is None:
        return
    for warning in checker.warnings:
        if warning.evaluating or (whole and warning.code in WARNED):
            warn_of_text(f"{warning.message}: {checker.text(warning.span)} ({warning.hint})")
    for span, (reason, hint) in checker.only_typed.items() if whole else ():
        warn_of_text(f"this assertion was not checked: {reason}: {checker.text(span)} ({hint})")
