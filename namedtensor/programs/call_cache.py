"""The cache of calls: a repeated call finds its executable by the last call, by layouts, or by the types of all
arguments.

    inline cache      what the last call ran: nothing is looked up, layouts are compared by identity
    by layouts        one look-up of names and layouts, where all that is given are tensors
    by types          canonical names, numbers by their values, sizes

The last two are keys of one bounded cache, and what is in none of them is made by the slow path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from operator import attrgetter
from threading import RLock
from typing import Any

from grammar.cache import Cache
from grammar.errors import NotationError

from ..backends.function import no_match
from ..core.dimensions import has_dimensions
from ..core.layout import Layout
from ..operators.user_functions import USER_FUNCTIONS
from .arguments import Arguments, ReadsNumbers, all_values, keyword_names, layout_of, spelling_of, whole_sizes
from .executable import Executable, Typed
from .symbolic_plans import SymbolicPlans

LAYOUT, ARRAY = attrgetter("layout"), attrgetter("_array")
MOST = 2048  # keys of a cache: two for most executables
BYTES = 128 * 2**20  # of their constants, such as masks, and their plans; an allocator takes up to as much again


def bytes_of(value: Any) -> int:
    """The bytes of what is kept; asking may make what is large, or fail."""
    return getattr(value, "nbytes", 0)


def new_cache(name: str) -> Cache[Any, Any]:
    """A cache of executables: the least recently used are dropped, by their number and by their bytes."""
    return Cache(name, MOST, bytes_of, BYTES)


class CachedCall:
    """A callable with an inline cache of its last call and a bounded cache of executables.

    Where the inline cache gives None the call is another one, and where it fails the slow path raises the proper error. A
    new Python function for formulas invalidates it.
    """

    _by_position: Callable[..., Any]
    _by_name: tuple[tuple[str, ...], Callable[..., Any]]  # one tuple, which another thread sees whole
    _by_mapping: tuple[tuple[str, ...], Callable[..., Any]]  # which may hold more than the formula uses

    def __init__(self, cache: Cache[Any, Any] | None = None):
        self._executables = new_cache("executables of a callable") if cache is None else cache
        self._token = object()  # of its keys, in a cache that several share
        self._last_used: Executable | None = None
        self._symbolic = SymbolicPlans()
        self._invalidate()

    def __call__(
        self,
        *arguments: Any,
        values: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] | None = None,
        **named: Any,
    ) -> Any:
        """Its value. A function takes its arguments by position; parameters and inputs come by name.

        Raises NotationError where what is given does not fit.
        """
        if values is None and sizes is None:
            try:
                if named:
                    names, run = self._by_name
                    result = run((*arguments, *named.values())) if (*named,) == names else None
                else:
                    result = self._by_position(arguments)
                if result is not None:
                    return result
            except Exception:  # the slow path raises the proper error
                pass
        elif sizes is None and not (arguments or named):
            try:
                names, run = self._by_mapping
                result = run((*values.values(),)) if (*values,) == names else None  # type: ignore[union-attr]
                if result is not None:
                    return result
            except Exception:
                pass
        return self._called(arguments, values, sizes, named)

    def _called(self, arguments: tuple[Any, ...], values: Mapping[str, Any] | None, sizes: Any, named: dict[str, Any]):
        """A call past the inline cache: by layouts, else by the slow path."""
        version = USER_FUNCTIONS.version
        try:
            given = named if values is None else {**values, **named} if named else values
            layouts = (*map(LAYOUT, arguments), *map(LAYOUT, given.values()))
            if values is None:
                by_layout = (self._token, version, *layouts, *given)
            else:  # which may hold more than the formula uses
                by_layout = (self._token, version, type(values), *layouts, *given, *named)
            if sizes is not None:
                by_layout = (*by_layout, *sizes.items(), *map(type, sizes.values()))  # 2.0 and True are no sizes
            found = self._executables.get(
                by_layout
            )  # which makes it no younger: its other key is, when it is asked for
        except (AttributeError, TypeError):
            found = by_layout = None
        if found is not None:
            self._last_used = found
            if sizes is None:
                if values is None:
                    self._keep((*named,), found, layouts, version)
                elif type(values) is dict and not (arguments or named):
                    self._keep((*values,), found, layouts, version, mapped=True)
            return found.run(*map(ARRAY, arguments), *map(ARRAY, given.values()))
        try:
            return self._slow_path(arguments, values, sizes, named, by_layout)
        except NotationError as problem:
            raise problem.alone() from None

    def _slow_path(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any] | None, sizes: Any, named: dict[str, Any],
        by_layout: tuple[Any, ...] | None,
    ) -> Any:  # fmt: skip
        """A call whose layouts are new: found by types, or compiled."""
        bound = self._bound(arguments, all_values(values, named))
        given = bound.with_numbers(self._read)
        extent, by_keyword = {} if sizes is None else whole_sizes(sizes), keyword_names(values, named)
        by_type = (self._token, given.cache_key, given.positional, tuple(extent.items()), USER_FUNCTIONS.version)
        found = self._executables.get(by_type)
        if has_dimensions(given.abstract.values()):
            return self._run(self._fitting(given, extent, by_keyword), given)
        if found is None or not found.unused.isdisjoint(map(spelling_of, by_keyword)):  # which is an error
            found = self._fitting(given, extent, by_keyword)
        self._last_used = self._executables.store(by_type, found)  # the youngest again
        result = self._run(found, given)
        all_tensors = given is bound and len(given.arrays) == len(arguments) + len(values or ()) + len(named)
        if by_layout is not None and found.run is not None and all_tensors:
            self._executables.store(by_layout, found)
        return result

    def _fitting(self, given: Arguments, sizes: dict[str, int], by_keyword: tuple[str, ...]) -> Executable:
        """The executable for these arguments: that of a plan with symbols for sizes, or compiled for them."""
        extra = tuple(sizes.items()), USER_FUNCTIONS.version
        found = self._symbolic.executable(given, extra, lambda it: self._made(it, sizes, by_keyword))
        if found.unused.isdisjoint(map(spelling_of, by_keyword)):
            return found
        return self._made(given, sizes, by_keyword)  # which says what is wrong

    def _anew(
        self, arguments: tuple[Any, ...], values: Mapping[str, Any], sizes: Mapping[str, int], spread: Mapping[str, int]
    ) -> Any:
        """Its value by an executable made for this call alone, for arrays whose axes are spread over devices."""
        given = self._bound(arguments, dict(values)).with_numbers(self._read)
        return self._run(self._made(given, whole_sizes(sizes), (), spread), given)

    def _layout(self, value: Any, name: str) -> Layout:
        """The layout of a shape that is given as text or as sizes, or of a tensor."""
        return layout_of(value, name, {})

    def _bound(self, arguments: tuple[Any, ...], by_name: dict[str, Any]) -> Arguments:
        """Bind a call's arguments to names."""
        raise NotImplementedError

    @property
    def _read(self) -> ReadsNumbers:
        """The program that is called."""
        raise NotImplementedError

    def _typed(self, given: Arguments, sizes: dict[str, int], by_keyword: tuple[str, ...]) -> Typed:
        """The types of what is given."""
        raise NotImplementedError

    def _made(
        self,
        given: Arguments,
        sizes: dict[str, int],
        by_keyword: tuple[str, ...],
        spread: Mapping[str, int] | None = None,
    ) -> Executable:
        """Build an executable for these inputs; `spread` maps an axis to the number of devices it is sharded over."""
        raise NotImplementedError

    def _run(self, found: Executable, given: Arguments) -> Any:
        return found(*given.arrays.values())

    def _keep(
        self, names: tuple[str, ...], found: Executable, layouts: tuple[Any, ...], version: int, mapped: bool = False
    ) -> None:
        run = found.for_repeated_calls(layouts)
        if mapped:
            self._by_mapping = names, run
            self._subscribe()
        else:
            self._repeat(names, run)
        if version != USER_FUNCTIONS.version:  # a function came or went meanwhile, in another thread
            self._invalidate()

    def _repeat(self, names: tuple[str, ...], run: Callable[..., Any]) -> None:
        if names:
            self._by_name = names, run
        else:
            self._by_position = run
        self._subscribe()

    def _subscribe(self) -> None:
        if not self._subscribed:
            self._subscribed = True
            USER_FUNCTIONS.subscribe(self)

    def _invalidate(self) -> None:
        self._subscribed = False
        self._by_position, self._by_name, self._by_mapping = no_match, ((), no_match), ((), no_match)


class BoundCall:
    """A callable most of whose values are bound, such as a model's parameters while a loop changes the rest.

    What is bound is looked at where the rest has layouts that the last call's had not. Several may bind values of one
    callable, in threads of their own.
    """

    one_at_a_time = RLock()  # who asks what the callable has run last is who ran it

    @classmethod
    def _after_fork(cls) -> None:
        """In a child the thread that has the lock does not run."""
        cls.one_at_a_time = RLock()

    def __init__(self, call: CachedCall, values: Mapping[str, Any], sizes: Mapping[str, int] | None = None):
        self._call, self._values, self._sizes = call, dict(values), sizes
        tensors = all(hasattr(each, "layout") for each in self._values.values())
        self._arrays = tuple(map(ARRAY, self._values.values())) if tensors else None
        self._last: tuple[Any, Any] = ((), None)

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Its value for tensors by name. Raises NotationError where one does not fit."""
        layouts, run = self._last
        given = (USER_FUNCTIONS.version, *values, *map(LAYOUT, values.values()))
        if run is not None and given == layouts and self._arrays is not None:
            return run(*self._arrays, *map(ARRAY, values.values()))
        with self.one_at_a_time:
            found, used = self._call(values={**self._values, **values}, sizes=self._sizes), self._call._last_used
        self._last = given, used and used.run
        return found


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BoundCall._after_fork)
