"""Calls of a goal. A repeated call finds its compiled plan by its input signature or by the types of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from .symbolic_plans import MAX_SIGNATURES, find_plan

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

    def __init__(self, goal: Goal, options: Options = PLAIN, cache: Cache[Any, Any] | None = None):
        self._goal, self._options = goal, options
        self._plans = new_cache("compiled plans of a callable") if cache is None else cache
        self._token = object()  # the first part of this goal's keys, because several goals can share a cache
        self._last_used: CompiledPlan | None = None
        self._signatures: Cache[Any, Any] = Cache("signatures of a callable", MAX_SIGNATURES)

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
        options = self._options._replace(sizes=extent, by_keyword=keyword_names(values, named))
        by_type = (self._token, numbers.cache_key, numbers.positional, tuple(extent.items()), USER_FUNCTIONS.version)
        if has_dimensions(numbers.abstract.values()):
            return self._fitting(goal, numbers, options)(*numbers.arrays.values()), None
        compiled = self._plans.get(by_type)
        if compiled is None or not uses_keywords(compiled, options):
            compiled = self._plans.store(by_type, self._fitting(goal, numbers, options))
        elif compiled is not self._last_used:
            self._plans.store(by_type, compiled)  # This makes the entry the newest.
        self._last_used = compiled
        result = compiled(*numbers.arrays.values())
        if numbers is not bound:
            return result, None
        if by_layout is not None:
            self._plans.store(by_layout, compiled)
        return result, compiled

    def _goal_of(self, arguments: tuple[Any, ...], given: Mapping[str, Any]) -> Goal:
        """Return the goal of a call. A program overrides this method, because its inputs can select another goal."""
        return self._goal

    def _fitting(self, goal: Goal, given: BoundArguments, options: Options) -> CompiledPlan:
        """Return the compiled plan for these arguments: a known plan for symbolic sizes if one fits, or a new plan."""
        if given.labeled:
            return self._made(goal, options, given)
        assert options.sizes is not None
        extra = tuple(options.sizes.items()), USER_FUNCTIONS.version
        fitting = find_plan(self._signatures, given, extra, partial(self._made, goal, options))
        if uses_keywords(fitting, options):
            return fitting
        return self._made(goal, options, given)  # The check of this call raises an error for the unused keyword.

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
        names = parameter_names(goal, bound.positional)
        aligned, _, _ = align_inputs(numbers, lambda it: self._typed(goal, it, options), names)
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
        return bound(goal, arguments, by_name)

    def _target(self, given: BoundArguments) -> Target:
        """Return the target, a library with its devices, that runs the goal on these arguments."""
        from ..core.arrays import namespace_of

        return target_of(namespace_of(given.arrays))

    def _typed(self, goal: Goal, given: BoundArguments, options: Options) -> TypedValues:
        """Return the goal's typed terms for these inputs, and warn about possible mistakes."""
        result = type_goal(goal, given, options)
        warn_of_checks(result.checker, whole=isinstance(goal, WholeProgram))
        return result

    def _made(
        self, goal: Goal, options: Options, given: BoundArguments, placement: Placement | None = None
    ) -> CompiledPlan:
        """Compile a plan for these inputs. `placement` places values on several devices."""
        target = self._target(given).over(placement)
        if not given.labeled:
            return compile_plan(self._typed(goal, given, options), given.abstract, target, options)
        from .labeled_calls import compile_labeled

        names = parameter_names(goal, given.positional)
        return compile_labeled(given, lambda it: self._typed(goal, it, options), names, target, options)


def uses_keywords(compiled: CompiledPlan, options: Options) -> bool:
    """Return whether a compiled plan uses every input that the call passes by keyword."""
    return compiled.unused.isdisjoint(map(spelling_of, options.by_keyword or ()))


def parameter_names(goal: Goal, positional: Sequence[str]) -> list[str]:
    """Return the names of the function's parameters that these positional arguments are assigned to."""
    return [name_argument(goal, index) for index in range(len(positional))] if isinstance(goal, Entry) else []


FormulaLike: TypeAlias = str | CachedCall  # a text, a formula, a program or an entry point; `help` shows this name


def bound(entry: Entry, arguments: tuple[Any, ...], named: dict[str, Any]) -> BoundArguments:
    """Return the bound arguments of a function. Each positional argument gets a name, such as `argument_1`.

    Errors refer to an argument that is not a tensor by the name of the function's parameter.
    """
    from ..tensors.values import NamedTensor, convert_value

    values = {
        f"argument_{index}": argument
        if type(argument) is NamedTensor
        else convert_value(argument, name_argument(entry, index - 1))
        for index, argument in enumerate(arguments, 1)
    }
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
