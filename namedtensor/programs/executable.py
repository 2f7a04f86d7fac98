"""The compilation pipeline, one function per stage.

The stages parse and bind the text, check the goal, plan its terms, and compile the plan to a function.

    program.scope_given(inputs)      text → tree → names        parsed.py
    check_goal(goal, …)              → terms                    entries.py selects the terms
    type_goal(goal, …)               → terms and assertions
    compile_plan(typed, …)           → a plan, and its function with the assertions

`call_cache.py` finds the compiled plan of a repeated call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..backends.function import PlanFunction
from ..checking.checker import Checker
from ..core.arrays import Layout, evaluate_eagerly
from ..core.labels import AxisLabels, make_labeled_layout
from ..core.settings import DEFAULT, Limits, recursion_headroom, refuse
from ..planning.plan import Plan, PlanValue, axes_of
from ..planning.planner import make_plan
from ..planning.target import Target
from ..scope.names import Key
from ..scope.symbols import Scope
from ..terms.inference import InputType
from ..terms.terms import Term
from .arguments import Abstract, BoundArguments
from .claims import PlannedClaim, judge
from .entries import Arguments as Positional
from .entries import Goal, Several


class Options(NamedTuple):
    """Options of the pipeline. They do not include the types of the inputs."""

    sizes: Mapping[str, int] | None = None
    by_keyword: tuple[str, ...] | None = None  # the names that were given by keyword: each has to be used
    strict: bool = False
    disable: tuple[str, ...] = ()  # optimizations
    donated: frozenset[str] = frozenset()  # tensors in whose arrays the result may be written
    unrolled: bool = False  # whether all steps of recurrences are written out
    jit: bool = False  # whether JAX compiles the function
    shows_layers: bool = False  # whether the layers of loops are typed one by one, to be shown
    by_element: bool = False  # whether assertions compare elements one by one, as random tests do


PLAIN = Options()


class TypedValues(NamedTuple):
    """The result of the checker: terms, and the assertions about their values, each with one or two terms."""

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
    checker.rolls, checker.shows_layers = not options.unrolled, options.shows_layers
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
    """Type the requested terms and the assertions of a goal, which is the first half of the pipeline."""
    with recursion_headroom(goal.program.source):
        result = TypedValues.of(*check_goal(goal, given.inputs, given.arguments, options))
    return result._replace(several=True) if isinstance(goal, Several) else result


def compile_plan(typed: TypedValues, abstract: Abstract, target: Target, options: Options = PLAIN) -> CompiledPlan:
    """Compile typed terms and their assertions to a plan, which is the second half of the pipeline."""
    from ..core.tensor import NamedTensor

    with recursion_headroom(typed.source):
        function = function_of(
            typed.source, typed.roots, abstract, target, typed.limits, options.disable, options.donated
        )
        if options.jit:
            compile_with_jax(function)
    names = tuple([name for name, value in abstract.items() if isinstance(value, Layout)])
    claims = tuple([claim._replace(by_element=options.by_element) for *_, claim in typed.claims])
    scales = None
    if any(claim.is_equation for claim in claims):
        scales = partial(magnitudes, typed, abstract, target)
    return CompiledPlan(
        function, NamedTensor, names, typed.unused, len(typed.terms), claims, typed.outer, typed.several, scales
    )


def magnitudes(typed: TypedValues, abstract: Abstract, target: Target, index: int, arrays: Sequence[Any]) -> list[Any]:
    """Return the magnitudes of both sides of an assertion, each as an array with its axes, or [] if unknown."""
    from .magnitudes import magnitudes_of

    with recursion_headroom(typed.source):
        sides = magnitudes_of(typed.claims[index][:2])
        if not sides:
            return []
        function = function_of(typed.source, sides, abstract, target, typed.limits)
        return list(zip(function(*arrays), [getattr(result, "order", None) for result in function.plan.results]))


def compile_with_jax(function: PlanFunction) -> None:
    """Compile a function whose library is JAX, unless its plan has a step that can fail for some data."""
    if function.target.name == "jax":
        from jax import jit  # type: ignore[import-not-found]

        from ..backends.jax import must_see

        if not must_see(function.plan):
            function.run = jit(function.run)


SHARED = 2000  # bytes counted for a compiled plan that shares its function with another plan


@dataclass(eq=False)
class CompiledPlan:
    """A compiled plan and the assertions about its results. The first `count` results are the requested values.

    It is called with arrays by position, in the order of the plan's inputs, and returns a named tensor, or a tuple if
    `several` are requested. The first call shows the layouts of the results; later calls reuse them.
    """

    function: PlanFunction
    tensor_class: type[Any]  # `NamedTensor`, whose module needs NumPy
    names: tuple[str, ...]  # of the arrays that it takes, in order
    unused: frozenset[str] = frozenset()  # inputs that nothing in the program uses
    count: int = 1
    claims: tuple[PlannedClaim, ...] = ()
    outer: NotationError | None = None  # raised if outer broadcasts are forbidden
    several: bool = False
    scales: Callable[[int, Sequence[Any]], list[Any]] | None = None  # magnitudes of the sides of an assertion
    exact: Callable[[], CompiledPlan] | None = None  # of a plan with symbols: makes one for these sizes, for its errors
    labels: tuple[AxisLabels, ...] = ()  # of the results, if an input has labels
    moves: Mapping[int, tuple[tuple[str, ...], Mapping[str, Any]]] = field(default_factory=dict)  # aligns inputs
    layouts: tuple[Any, ...] | None = field(default=None, init=False)  # of the results, if every call gives these
    layout: Any = field(default=None, init=False)  # of the only result, about which nothing is asserted

    @property
    def plan(self) -> Plan:
        return self.function.plan

    @property
    def nbytes(self) -> int:
        """The memory of this plan in bytes. A function that it shares with a plan for other sizes is not counted."""
        labels = sum(axis_labels.nbytes for axes in self.labels for axis_labels in axes.values())
        return labels + (self.function.nbytes if self.exact is None else SHARED)

    def for_other_sizes(self, exact: Callable[[], CompiledPlan] | None) -> CompiledPlan:
        """Return this plan for a call with other sizes. If a run fails, the plan from `exact`, if given, runs."""
        return replace(self, exact=exact)

    def __call__(self, *arrays: Any) -> Any:
        if self.outer is not None:
            refuse(self.outer)
        if self.moves:
            arrays = self._align(arrays)
        try:
            results = self.function.run(*arrays)
        except Exception as problem:
            if self.exact is None or self.function.plan.donated:
                raise self.function.explain_exception(problem) from None
            return self.exact()(*arrays)
        if self.layout is not None:
            tensor = object.__new__(self.tensor_class)
            tensor._array, tensor.layout = results, self.layout
            return tensor
        if len(self.function.plan.results) == 1:
            results = (results,)
        if self.claims:
            self._judge(results, arrays)
        tensors = self._wrap(results)
        return tensors if self.several else tensors[0]

    def _align(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        from ..core.label_alignment import take

        return tuple(take(array, *self.moves[at]) if at in self.moves else array for at, array in enumerate(arrays))

    def _judge(self, results: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Raise NotationError if an assertion does not hold for these results, which are computed from these arrays."""
        plan, scales = self.plan, self.scales
        orders = [getattr(result, "order", None) for result in plan.results[self.count :]]
        of_index = None if scales is None else lambda index: scales(index, arrays)
        judge(self.claims, results[self.count :], orders, plan.source, of_index)

    def _wrap(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """Return the requested values as tensors. Store their layouts if these do not depend on the data."""
        from ..core.tensor import wrap, wrap_layout

        if self.layouts is not None:
            return tuple(map(wrap_layout, results, self.layouts))
        values, xp = self.plan.results[: self.count], self.function.target.xp  # assertions follow
        tensors = tuple(wrap(array, axes_of(value), xp) for array, value in zip(results, values))
        if self.labels:
            layouts = (make_labeled_layout(*pair) for pair in zip([item.layout for item in tensors], self.labels))
            tensors = tuple([wrap_layout(item._array, layout) for item, layout in zip(tensors, layouts)])
        if all(isinstance(value, PlanValue) and not value.dynamic for value in values):
            self.layouts = tuple([item.layout for item in tensors])
            if not (self.claims or self.several):
                (self.layout,) = self.layouts
        return tensors
