"""Formulas made ready to run: values sorted, plans kept by the types of what is given."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from grammar.errors import NotationError
from grammar.parser import parse
from grammar.symbols import FUNCTIONS

from ..backends.function import PlanFunction
from ..backends.libraries import target_of
from ..checking.checker import Checker
from ..core.arrays import at_once
from ..core.kinds import as_mapping
from ..core.layout import Layout, remember
from ..core.limits import DEFAULT, Limits, recursion_headroom
from ..operators.user_functions import USER_FUNCTIONS
from ..planning.plan import Plan, Value
from ..planning.planner import make_plan
from ..planning.target import Target
from ..scope.binder import bind
from ..scope.names import Key, key
from ..scope.numbers_given import as_numbers
from ..scope.symbols import Scope
from ..terms.environment import source_name
from ..terms.inference import InputType
from ..terms.terms import Term

Values = Mapping[str, Any]


class Arguments:
    """The values of one call by their names: the arrays of the tensors, and what makes one plan serve two calls.

    This runs at each call, and so does no more than look up; what a plan is made of is derived when there is none yet.
    """

    __slots__ = ("arrays", "mark", "values")

    def __init__(self, source: str, values: Mapping[str, Any]):
        from ..tensors.values import NamedTensor, as_value

        self.arrays: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        mark: list[Any] = []
        for name, value in values.items():
            text = spelling_of(name)
            if type(value) is not NamedTensor:
                value = as_value(value, text)
            self.values[text] = value
            if type(value) is NamedTensor:
                self.arrays[text] = value._array
                mark += (text, value.layout)
            else:
                mark += (text, type(value), value)
        self.mark = tuple(mark)

    def __reduce__(self):  # layouts hold modules, which cannot be pickled
        return Arguments, ("", self.values)

    def with_numbers(self, source: str, scope: Callable[[Mapping[Key, InputType]], Scope]) -> Arguments:
        """The same, with plain numbers for the values without axes that the formula needs as such before it is planned."""
        found = as_numbers(self.values, lambda: scope(self.inputs))
        return self if found is self.values else Arguments(source, found)

    @property
    def inputs(self) -> dict[Key, InputType]:
        """What the checker is to know of each value."""
        found = {}
        for text, value in self.values.items():
            layout = getattr(value, "layout", None)
            found[key(text)] = (
                InputType({}, value) if layout is None else InputType(layout.sizes, None, layout.is_truth)
            )
        return found

    @property
    def layouts(self) -> dict[str, Layout]:
        """The layout of each tensor."""
        return {text: self.values[text].layout for text in self.arrays}


@lru_cache(maxsize=4096)
def spelling_of(name: str) -> str:
    """The one spelling of a name, whichever way it was written: gamma is γ."""
    return str(key(name))


class Executable:
    """A plan made a function, with the claims that it must meet; the first `count` results are what is asked for.

    It is called with arrays by position, in the order of the plan's inputs, and gives a named tensor.
    """

    __slots__ = ("function", "count", "claims", "terms", "checker", "known", "layout", "again", "unused")

    def __init__(self, function: PlanFunction, terms: tuple[Term, ...], checker: Checker):
        self.function, self.terms, self.checker = function, terms, checker
        self.count = len(terms)
        self.claims = tuple(checker.claim_terms)
        self.known: Any = None  # what a later call runs
        self.layout: Any = None  # of its result
        self.again: Callable[..., Any] | None = None  # what a repeated call runs
        self.unused = checker.speaks.unused  # of its inputs

    @property
    def plan(self) -> Plan:
        return self.function.plan

    def __call__(self, *arrays: Any):
        if self.known is not None:
            return self.known(*arrays)
        (result,) = self.several(*arrays)
        value = self.plan.results[0]
        if not self.claims and isinstance(value, Value) and not value.dynamic:
            self.layout, self.known = result.layout, self.function.prepared(result.layout)
        return result

    def repeated(self, tensors: tuple[Any, ...], named: Mapping[str, Any]) -> Callable[..., Any]:
        """What serves the next call with such tensors, those by position and then those by name; see `Function.repeated`."""
        if self.again is None:
            count, both = len(tensors), len(tensors) + len(named)
            layouts = [*map(LAYOUT, named.values()), *map(LAYOUT, tensors)]
            self.again = self.function.repeated((*range(count, both), *range(count)), layouts, self.layout)
        return self.again

    def several(self, *arrays: Any) -> tuple:
        """All results, where there are several."""
        from ..tensors.values import wrap

        found = self.function(*arrays)
        found = found if len(self.plan.results) > 1 else (found,)
        if self.claims:
            from .claims import judge

            judge(self, found[self.count :])
        xp = self.function.target.xp
        return tuple(wrap(array, axes_of(value), xp) for array, value in zip(found[: self.count], self.plan.results))


def axes_of(result: Any) -> tuple[str, ...]:
    """The axes of a plan's result, as the user has them."""
    return tuple(map(source_name, result.order)) if isinstance(result, Value) else ()


class LruCache(OrderedDict):
    """The last plans that were used."""

    def fetch(self, mark):
        found = self.get(mark)
        if found is not None:
            self.move_to_end(mark)
        return found

    def store(self, mark, value):
        self[mark] = value
        if len(self) > 1024:
            self.popitem(last=False)
        return value


PLANS = LruCache()
LAYOUT, ARRAY = attrgetter("layout"), attrgetter("_array")
KNOWN: dict[tuple, Executable] = {}  # formula, names, layouts -> what a later call runs


class Again(dict[Any, tuple[tuple[str, ...], Callable[..., Any]]]):
    """Formula -> the names, and what a call like the last one runs; see `repeating`."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def repeat(self, formula: Any, names: tuple[str, ...], again: Callable[..., Any]) -> None:
        remember(self, formula, (names, again))
        USER_FUNCTIONS.watched_by(self)

    _forget = dict.clear


AGAIN = Again()


def store(table: dict[tuple, Executable], key: tuple | None, compiled: Executable) -> None:
    """Keep what a later call runs."""
    if key is not None and compiled.known is not None:
        remember(table, key, compiled)


def shadowed_by(names: Iterable[str], functions: Collection[str] | None = None) -> frozenset[str]:
    """Names that stand for tensors here, because a value was given for them: those of built-in functions, and those with
    labels; of these only such as one of `functions` might take for its own, where these are known."""
    labelled = (name for name in names if key(name).base != name)
    return frozenset(name for name in names if name in FUNCTIONS) | frozenset(
        name for name in labelled if functions is None or key(name).base in functions
    )


def scope_of(formula: str, syntax: str, inputs: Mapping[Key, InputType], limits: Limits = DEFAULT) -> Scope:
    """What a formula says, where these inputs are given."""
    shadowed = shadowed_by([*map(str, inputs)])
    tree = parse(formula, syntax, shadowed, limits.nesting, frozenset(USER_FUNCTIONS), limits.literal, limits.text)
    return bind(formula, tree, axes_given(inputs))


def axes_given(inputs: Mapping[Key, InputType]) -> dict[Key, frozenset[str]]:
    return {
        name: frozenset(each.shape) if isinstance(each.shape, Mapping) else frozenset() for name, each in inputs.items()
    }


def serving(compiled: Executable | None, told: tuple[str, ...]) -> Executable | None:
    """A plan for a call that is told of these names: none where the plan leaves one of them unused, which is an error."""
    if compiled is None or not compiled.unused or compiled.unused.isdisjoint(map(spelling_of, told)):
        return compiled
    return None


def all_values(values: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    if values is None:
        return dict(named)
    if not isinstance(values, Mapping):
        raise NotationError(
            208,
            f"values are a mapping from names to tensors, not {type(values).__name__}",
            hint='write {"X": X} or X=X',
        )
    return {**values, **named}


def whole_sizes(sizes: Mapping[str, int] | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, size in as_mapping(sizes, "sizes=", 'write sizes={"a": 3}').items():
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise NotationError(
                310, f"the size of {name} is a whole number, not {size!r}", hint=f"write sizes={{{name!r}: 2}}"
            )
        if size < 0:
            raise NotationError(310, f"the size of {name} cannot be {size}")
        found[str(name)] = int(size)
    return found


def compile_formula(
    formula, syntax, bundle: Arguments, sizes, strict: bool, limits: Limits, without: Sequence[str] = (), told=()
) -> Executable:
    scope = scope_of(formula, syntax, bundle.inputs, limits)
    checker = Checker(scope, bundle.inputs, sizes, strict=strict, python=USER_FUNCTIONS, limits=limits, told=told)
    with recursion_headroom(formula):
        term = checker.whole()
        return planned(checker, (term,), bundle, limits, without=without)


def planned(
    checker: Checker,
    terms: tuple[Term, ...],
    bundle: Arguments,
    limits: Limits,
    names: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
) -> Executable:
    from ..tensors.values import namespace_of

    target = target_of(namespace_of(bundle.arrays))
    roots = list(terms)
    for left, right, _ in checker.claim_terms:
        roots += [left] + ([right] if isinstance(right, Term) else [])
    function = function_of(checker.scope.source, tuple(roots), bundle, target, limits, names, without)
    return Executable(function, terms, checker)


def function_of(
    source: str, roots: tuple[Term, ...], bundle: Arguments, target: Target, limits: Limits,
    names: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
) -> PlanFunction:  # fmt: skip
    """The function that computes terms from the arrays of a bundle."""
    with at_once(target.xp):
        plan, python = make_plan(source, roots, bundle.layouts, target, limits, names, without)
        return PlanFunction(plan, target, python)
