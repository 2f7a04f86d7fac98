"""Calls of a goal: a repeated call finds its executable by its input signature or by the types of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from .executable import PLAIN, Executable, Options, TypedValues, executable, type_goal
from .symbolic_plans import SymbolicPlans

MOST = 2048  # keys of a cache: two for most executables
BYTES = 128 * 2**20  # of their constants, such as masks, and their plans; an allocator takes up to as much again


def bytes_of(value: Any) -> int:
    """Return the size of a cached value in bytes. Determining the size may build something large, or fail."""
    return getattr(value, "nbytes", 0)


def new_cache(name: str) -> Cache[Any, Any]:
    """Return a cache of executables, limited in number and bytes, that drops the least recently used executable."""
    return Cache(name, MOST, bytes_of, BYTES)


class CachedCall:
    """A goal that is called with tensors. Each call finds its executable by the input signature."""

    def __init__(self, goal: Goal, options: Options = PLAIN, cache: Cache[Any, Any] | None = None):
        self._goal, self._options = goal, options
        self._executables = new_cache("executables of a callable") if cache is None else cache
        self._token = object()  # of its keys, in a cache that several share
        self._last_used: Executable | None = None
        self._symbolic = SymbolicPlans()

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
            except AttributeError:  # not all are tensors
                arrays, layouts = arrays_and_keys(given)
            key = (self._token, USER_FUNCTIONS.version, *inputs, *layouts)
            if values is not None:  # which may hold more than the formula uses
                key = (*key, type(values), *named)
            if sizes is not None:
                key = (*key, *sizes.items(), *map(type, sizes.values()))  # 2.0 and True are not sizes
            known = self._executables.get(key)  # which makes it no younger
        except (AttributeError, TypeError):
            known = key = None
        try:
            if known is None:
                return self._slow_path(arguments, values, sizes, named, key)[0]
            self._last_used = known
            return (known.run or known)(*arrays)
        except NotationError as problem:
            raise problem.alone() from None

    def _slow_path(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any] | None, sizes: Any, named: dict[str, Any],
        by_layout: tuple[Any, ...] | None,
    ) -> tuple[Any, Executable | None]:  # fmt: skip
        """Return the value of a call whose layouts are new, and the executable for all later calls with these layouts.

        If other values with these layouts may need a different executable, return None for it. Otherwise, store the
        executable under the key `by_layout`.
        """
        by_name = all_values(values, named)
        bound = self._bound(arguments, by_name) if arguments else BoundArguments(by_name)
        if bound.labeled:
            bound = bound.with_labels()
        numbers = bound.with_numbers(self._goal.program)
        extent, by_keyword = {} if sizes is None else whole_sizes(sizes), keyword_names(values, named)
        by_type = (self._token, numbers.cache_key, numbers.positional, tuple(extent.items()), USER_FUNCTIONS.version)
        element = self._executables.get(by_type)
        if has_dimensions(numbers.abstract.values()):
            return self._fitting(numbers, extent, by_keyword)(*numbers.arrays.values()), None
        # an unused keyword raises an error
        if element is None or not element.unused.isdisjoint(map(spelling_of, by_keyword)):
            element = self._executables.store(by_type, self._fitting(numbers, extent, by_keyword))
        elif element is not self._last_used:
            self._executables.store(by_type, element)  # the youngest again
        self._last_used = element
        result = element(*numbers.arrays.values())
        if not element.steady or numbers is not bound:
            return result, None
        if by_layout is not None:
            self._executables.store(by_layout, element)
        return result, element

    def _fitting(self, given: BoundArguments, sizes: dict[str, int], by_keyword: tuple[str, ...]) -> Executable:
        """Return the executable for these arguments: a known one for symbolic sizes if it fits, or else a new one."""
        if given.labeled:
            return self._made(given, sizes, by_keyword)
        extra = tuple(sizes.items()), USER_FUNCTIONS.version
        fitting = self._symbolic.executable(given, extra, lambda it: self._made(it, sizes, by_keyword))
        if fitting.unused.isdisjoint(map(spelling_of, by_keyword)):
            return fitting
        return self._made(given, sizes, by_keyword)  # which specifies what is wrong

    def _anew(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any], sizes: Mapping[str, int], placement: Placement
    ) -> Any:
        """Return the value of a call whose arrays are on several devices. Its executable is used only for this call."""
        bound = self._bound(arguments, dict(values)) if arguments else BoundArguments(values)
        numbers = bound.with_numbers(self._goal.program)
        return self._made(numbers, whole_sizes(sizes), (), placement)(*numbers.arrays.values())

    def _align(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any], sizes: Mapping[str, int] | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a call, aligned by their labels, for functions that do not accept labels."""
        bound = self._bound(arguments, dict(values)) if arguments else BoundArguments(values)
        if not bound.labeled:
            return arguments, dict(values)
        from .labeled_calls import align, moves_of

        numbers = bound.with_labels().with_numbers(self._goal.program)
        typed = self._typed(numbers, self._options._replace(sizes=whole_sizes(sizes)))
        moves = moves_of(typed, numbers, self._names_of(bound.positional))
        result = dict(align(numbers, moves).values)
        return tuple([result.pop(name) for name in bound.positional]), result

    def _layout(self, value: Any, name: str) -> Layout:
        """Return the layout of a tensor, or of a shape given as source text or sizes."""
        return layout_of(value, name, {})

    def _bound(self, arguments: tuple[Any, ...], by_name: dict[str, Any]) -> BoundArguments:
        """Return the bound arguments of a call, in which the arguments of a function are bound to names."""
        assert isinstance(self._goal, Entry)
        return bound(self._goal, arguments, by_name)

    def _target(self, given: BoundArguments) -> Target:
        """Return the library, with its devices, that runs the goal on these arguments."""
        from ..core.arrays import namespace_of

        return target_of(namespace_of(given.arrays))

    def _typed(self, given: BoundArguments, options: Options) -> TypedValues:
        """Return the goal's typed terms for inputs of these types, after warnings about possible mistakes."""
        result = type_goal(self._goal, given, options)
        warn_of_checks(result.checker, whole=isinstance(self._goal, WholeProgram))
        return result

    def _made(
        self,
        given: BoundArguments,
        sizes: dict[str, int],
        by_keyword: tuple[str, ...],
        placement: Placement | None = None,
    ) -> Executable:
        """Build an executable for these inputs. `placement` places values on several devices."""
        options = self._options._replace(sizes=sizes, by_keyword=by_keyword)
        target = self._target(given).over(placement)
        if not given.labeled:
            return executable(self._typed(given, options), given.abstract, target, options)
        from .labeled_calls import compile_labeled

        names = self._names_of(given.positional)
        return compile_labeled(given, lambda it: self._typed(it, options), names, target, options)

    def _names_of(self, positional: Sequence[str]) -> list[str]:
        """Return the names of the function's parameters for these positional arguments."""
        goal = self._goal
        return [name_argument(goal, index) for index in range(len(positional))] if isinstance(goal, Entry) else []


FormulaLike: TypeAlias = str | CachedCall  # a text, a formula, a program or an entry point; `help` shows this name


def bound(entry: Entry, arguments: tuple[Any, ...], named: dict[str, Any]) -> BoundArguments:
    """Return the bound arguments of a function, in which a positional argument gets a name such as `argument_1`.

    In errors, an argument that is not a tensor has the name of the function's parameter.
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
)  # the warnings of `check` that evaluation also gives, beside axes that may be misspelled


def warn_of_checks(checker: Checker | None, whole: bool = True) -> None:
    """Warn, at the first call of a signature, about possibly misspelled axes and sums of unrelated axes.

    If `whole` is true, also warn about lines that continue an equation, replaced built-in functions, axes that differ
    only in a star, and assertions whose values are not compared.
    """
    if checker is None:
        return
    for warning in checker.warnings:
        if warning.evaluating or (whole and warning.code in WARNED):
            warn_of_text(f"{warning.message}: {checker.text(warning.span)} ({warning.hint})")
    for span, (reason, hint) in checker.only_typed.items() if whole else ():
        warn_of_text(f"this assertion was not checked: {reason}: {checker.text(span)} ({hint})")
