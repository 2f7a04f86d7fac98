"""The compilation pipeline, one function per stage.

The stages parse and bind the text, check the goal, plan its terms, and compile the plan to a function.

    program.scope_given(inputs)      text → tree → names        parsed.py
    checked(goal, …)                 → terms                    entries.py selects the terms
    typed(goal, …)                   → terms and assertions
    executable(typed, …)             → a plan, and its function with the assertions

The module `call_cache.py` finds executables that are already compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar.errors import NotationError

from ..backends.function import PlanFunction
from ..checking.checker import Checker
from ..core.arrays import Layout, evaluate_eagerly
from ..core.settings import DEFAULT, Limits, guard_broadcast, recursion_headroom, refuse
from ..planning.plan import Plan, PlanValue
from ..planning.planner import make_plan
from ..planning.target import Target
from ..scope.names import Key
from ..scope.symbols import Scope
from ..terms.environment import source_name
from ..terms.inference import InputType
from ..terms.terms import Term
from .arguments import Abstract, BoundArguments
from .claims import PlannedClaim, judge
from .entries import Arguments as Positional
from .entries import Goal, Several

if TYPE_CHECKING:
    from ..core.labels import AxisLabels

Run = Callable[..., Any]


class Options(NamedTuple):
    """Options of the pipeline. They do not include the types of the inputs."""

    sizes: Mapping[str, int] | None = None
    by_keyword: tuple[str, ...] | None = None  # the names that were given by keyword: each has to be used
    strict: bool = False
    disable: tuple[str, ...] = ()  # optimizations
    donated: frozenset[str] = frozenset()  # tensors in whose arrays the result may be written
    unrolled: bool = False  # whether all steps of recurrences are written out
    jit: bool = False  # whether JAX compiles the function
    by_element: bool = False  # whether assertions compare elements one by one, as random tests do


PLAIN = Options()


class TypedValues(NamedTuple):
    """The checker's result: terms, and assertions about their values with one or two terms each."""

    source: str
    limits: Limits
    terms: tuple[Term, ...]
    claims: tuple[tuple[Term, Any, PlannedClaim], ...] = ()
    unused: frozenset[str] = frozenset()  # inputs that the program does not use
    checker: Checker | None = None  # None if other executables share these types
    outer: NotationError | None = None  # the error of the first outer broadcast, if they are forbidden
    several: bool = False  # whether the value is a tuple

    @classmethod
    def of(cls, checker: Checker, terms: tuple[Term, ...]) -> TypedValues:
        scope = checker.scope
        claims = tuple(
            (
                left,
                right,
                PlannedClaim(isinstance(right, Term), right, span, span in scope.calls, span in scope.facts, step),
            )
            for left, right, span, step in checker.claim_terms
        )
        return cls(scope.source, checker.limits, terms, claims, checker.given_names.unused, checker, checker.outer)

    @property
    def roots(self) -> tuple[Term, ...]:
        """All terms that are computed: the requested terms, and the sides of assertions."""
        sides = ((left, right) if isinstance(right, Term) else (left,) for left, right, _ in self.claims)
        return (*self.terms, *(term for pair in sides for term in pair))


def check_goal(
    goal: Goal, inputs: Mapping[Key, InputType], arguments: Positional, options: Options, scope: Scope | None = None
) -> tuple[Checker, tuple[Term, ...]]:
    """Type the requested terms for inputs and arguments of these types. Return the checker and the terms."""
    checker = goal.program.checker(
        inputs, options.sizes, scope=scope, arguments=[type_ for _, type_ in arguments], by_keyword=options.by_keyword,
        strict=options.strict,
    )  # fmt: skip
    checker.rolls = not options.unrolled
    checker.labels |= {name: dict(given.labels) for name, given in arguments if given.labels}
    return checker, goal.terms(checker, arguments)


def plan_terms(
    source: str, terms: Sequence[Term], abstract: Abstract, target: Target, limits: Limits = DEFAULT,
    disable: Sequence[str] = (), donated: Collection[str] = (),
) -> tuple[Plan, list[Any]]:  # fmt: skip
    """Plan terms for tensors of these layouts. Return the plan and the Python functions that it calls."""
    layouts = {name: value for name, value in abstract.items() if isinstance(value, Layout)}
    return make_plan(source, tuple(terms), layouts, target, limits, disable=disable, donated=donated)


def function_of(
    source: str, terms: Sequence[Term], abstract: Abstract, target: Target, limits: Limits = DEFAULT,
    disable: Sequence[str] = (), donated: Collection[str] = (),
) -> PlanFunction:  # fmt: skip
    """Return a function that computes these terms for tensors of these layouts."""
    with evaluate_eagerly(target.xp):
        plan, python = plan_terms(source, terms, abstract, target, limits, disable, donated)
        return PlanFunction(plan, target, python)


def type_goal(goal: Goal, given: BoundArguments, options: Options) -> TypedValues:
    """Type the requested terms and the assertions of a goal. This is the first half of the pipeline."""
    with recursion_headroom(goal.program.source):
        result = TypedValues.of(*check_goal(goal, given.inputs, given.arguments, options))
    return result._replace(several=True) if isinstance(goal, Several) else result


def executable(typed: TypedValues, abstract: Abstract, target: Target, options: Options = PLAIN) -> Executable:
    """Compile typed terms and their program's assertions to an executable: the second half of the pipeline."""
    with recursion_headroom(typed.source):
        function = function_of(
            typed.source, typed.roots, abstract, target, typed.limits, options.disable, options.donated
        )
    names = tuple([name for name, value in abstract.items() if isinstance(value, Layout)])
    claims = tuple([claim._replace(by_element=options.by_element) for *_, claim in typed.claims])
    instead = compile_with_jax(function) if options.jit else None
    result = Executable(function, names, typed.unused, len(typed.terms), claims, typed.outer, instead, typed.several)
    if any(claim.is_equation for claim in claims):
        result.magnitudes = partial(magnitudes, typed, abstract, target)
    return result


def magnitudes(typed: TypedValues, abstract: Abstract, target: Target, index: int, arrays: Sequence[Any]) -> list[Any]:
    """Return the magnitudes behind both sides of an assertion: for each side, an array and its axes."""
    from .magnitudes import magnitudes_of

    with recursion_headroom(typed.source):
        sides = magnitudes_of(typed.claims[index][:2])
        if not sides:
            return []
        function = function_of(typed.source, sides, abstract, target, typed.limits)
        return list(zip(function(*arrays), [getattr(result, "order", None) for result in function.plan.results]))


def compile_with_jax(function: PlanFunction) -> Run | None:
    """Return the function compiled by JAX.

    Return None for other libraries, and if the plan has a step that may fail depending on its data.
    """
    if function.target.name != "jax":
        return None
    from jax import jit  # type: ignore[import-not-found]

    from ..backends.jax import must_see

    return None if must_see(function.plan) else jit(function.run)


SHARED = 2000  # bytes of an executable whose function others have, too


class Executable:
    """A compiled plan and the assertions about its results. The first `count` results are the requested values.

    A call accepts arrays by position, in the order of the plan's inputs. It returns a named tensor, or a tuple of named
    tensors if `several` is true. If a library has compiled the function, `instead` is the compiled function.
    """

    __slots__ = (
        "__weakref__",
        "claims",
        "count",
        "exact",
        "function",
        "instead",
        "labels",
        "layout",
        "magnitudes",
        "moves",
        "names",
        "outer",
        "run",
        "several",
        "steady",
        "unused",
    )

    def __init__(
        self, function: PlanFunction, names: tuple[str, ...], unused: frozenset[str], count: int = 1,
        claims: tuple[PlannedClaim, ...] = (), outer: NotationError | None = None, instead: Run | None = None,
        several: bool = False,
    ):  # fmt: skip
        self.outer = outer  # raised if outer broadcasts are forbidden
        self.function, self.count, self.claims, self.instead = function, count, claims, instead
        self.several = several
        self.names = names  # of the arrays that it takes, in order
        self.unused = unused  # inputs that nothing in the program uses
        self.steady = False  # whether a call has shown that the layouts of the results are known
        self.run: Run | None = None  # what a later call runs, if nothing is left to check
        self.layout: Any = None  # of the first result
        self.labels: tuple[AxisLabels, ...] = ()  # of the results, if an input has labels
        self.moves: Mapping[int, tuple[tuple[str, ...], Mapping[str, Any]]] = {}  # of inputs aligned by their labels
        self.magnitudes: Callable[[int, Sequence[Any]], list[Any]] | None = None  # of the sides of an assertion
        self.exact: Callable[[], Executable] | None = (
            None  # of a plan with symbols: one for these sizes, which says errors
        )

    @property
    def plan(self) -> Plan:
        return self.function.plan

    @property
    def nbytes(self) -> int:
        """The memory that the executable occupies, in bytes. A function for many sizes counts with its first sizes."""
        labels = sum(axis_labels.nbytes for axes in self.labels for axis_labels in axes.values())
        return labels + (self.function.nbytes if self.exact is None else SHARED)

    def __call__(self, *arrays: Any) -> Any:
        if self.run is not None:
            return self.run(*arrays)
        result = self.call_many(*arrays)
        results = self.function.like.results[: self.count]  # Assertions follow the requested values.
        self.steady = not self.moves and all(isinstance(value, PlanValue) and not value.dynamic for value in results)
        if self.steady:
            self.run = self._specialize_run(tuple(item.layout for item in result))
        return result if self.several else result[0]

    def _specialize_run(self, layouts: tuple[Any, ...]) -> Run:
        """Return the function for later calls, whose results have these known layouts."""
        self.layout = layouts[0]
        many = self.several or self.claims
        run = self._with_layouts(layouts) if many else self.function.specialize_wrapper(self.layout, self.instead)
        run = guard_broadcast(run, self.outer)
        return run if self.exact is None or self.function.plan.donated else self._or_exact(run)

    def for_other_sizes(self, exact: Callable[[], Executable] | None) -> Executable:
        """Return an executable with the same function for a call with other sizes.

        If `exact` is given, its executable runs instead when this function fails, so that errors name the actual sizes.
        """
        for_other_sizes = Executable(
            self.function, self.names, self.unused, self.count, self.claims, self.outer, self.instead, self.several
        )
        for_other_sizes.exact, for_other_sizes.magnitudes = exact, self.magnitudes
        return for_other_sizes

    def _or_exact(self, run: Run) -> Run:
        exact = self.exact
        assert exact is not None

        def call(*arrays: Any) -> Any:
            try:
                return run(*arrays)
            except Exception:
                return exact()(*arrays)

        return call

    def _with_layouts(self, layouts: tuple[Any, ...]) -> Run:
        from ..core.tensor import wrap_layout

        run, only = self.instead or self.function, len(self.function.like.results) == 1

        def call(*arrays: Any) -> Any:
            results = (run(*arrays),) if only else run(*arrays)
            if self.claims:
                self._judge(results, arrays)
            tensors = tuple(map(wrap_layout, results, layouts))  # without the results of assertions
            return tensors if self.several else tensors[0]

        return call

    def _judge(self, results: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Raise NotationError if an assertion does not hold for these results of a call with these input arrays."""
        like, magnitudes = self.function.like, self.magnitudes
        orders = [getattr(result, "order", None) for result in like.results[self.count :]]
        scales = None if magnitudes is None else lambda index: magnitudes(index, arrays)
        judge(self.claims, results[self.count :], orders, like.source, scales)

    def call_many(self, *arrays: Any) -> tuple[Any, ...]:
        """Return all results after checking them against the assertions."""
        from ..core.tensor import wrap, wrap_layout

        if self.outer is not None:
            refuse(self.outer)
        if self.moves:
            from ..core.label_alignment import take

            arrays = tuple(
                take(array, *self.moves[at]) if at in self.moves else array for at, array in enumerate(arrays)
            )
        results, xp = self.function.like.results, self.function.target.xp
        try:
            result = (self.instead or self.function)(*arrays)
        except Exception:
            if self.exact is None or self.function.plan.donated:
                raise
            return self.exact().call_many(*arrays)
        result = result if len(results) > 1 else (result,)
        if self.claims:
            self._judge(result, arrays)
        tensors = tuple(wrap(array, axes_of(value), xp) for array, value in zip(result[: self.count], results))
        if not self.labels:
            return tensors
        from ..core.labels import make_labeled_layout

        return tuple(
            wrap_layout(tensor._array, make_labeled_layout(tensor.layout, labels))
            for tensor, labels in zip(tensors, self.labels)
        )


def order_axes(result: PlanValue, axes: Sequence[str]) -> tuple[str, ...]:
    """Return the plan's axis names of a result, given the user's names for them, in the order of these names."""
    return tuple(result.order[axes_of(result).index(axis)] for axis in axes)


def axes_of(result: Any) -> tuple[str, ...]:
    """Return the user's names for the axes of a plan's result, in array order."""
    return tuple(map(source_name, result.order)) if isinstance(result, PlanValue) else ()
