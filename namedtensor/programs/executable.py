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
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..backends.function import PlanFunction
from ..checking.checker import Checker
from ..core.arrays import Layout, evaluate_eagerly
from ..core.extents import MAX_SIZE, Size, SizeSymbol, UndecidedSizeError, value_at
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
    disable: tuple[str, ...] = ()  # optimizations
    donated: frozenset[str] = frozenset()  # tensors in whose arrays the result may be written
    unrolled: bool = False  # whether all steps of recurrences are written out
    is_compiled: bool = False  # whether JAX compiles the function, and assertions are not checked
    shows_layers: bool = False  # whether the layers of loops are typed one by one, to be shown
    by_element: bool = False  # whether assertions compare elements one by one, as random tests do


PLAIN = Options()


class TypedValues(NamedTuple):
    """The checker's result: the requested terms, and the assertions to check, which contain one or two terms each."""

    source: str
    limits: Limits
    terms: tuple[Term, ...]
    claims: tuple[tuple[Term, Any, PlannedClaim], ...] = ()
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
        return cls(scope.source, checker.limits, terms, claims, checker, checker.outer)

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
        if options.is_compiled:
            compile_with_jax(function)
    names = tuple([name for name, value in abstract.items() if isinstance(value, Layout)])
    claims = tuple([claim._replace(by_element=options.by_element) for *_, claim in typed.claims])
    scales = None
    if any(claim.is_equation for claim in claims):
        scales = partial(magnitudes, typed, abstract, target)
    return CompiledPlan(function, NamedTensor, names, len(typed.terms), claims, typed.outer, typed.several, scales)


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


MAX_LAYOUTS = 1024  # of the results of one plan


@dataclass(eq=False)
class CompiledPlan:
    """A compiled plan and the assertions about its results. The first `count` results are the requested values.

    It is called with arrays by position, in the order of the plan's inputs, and returns a named tensor, or a tuple if
    `several` are requested. If the plan has symbols for some `sizes`, one compiled plan serves all sizes that it fits.
    The first call with given shapes determines the layouts of the results, and later calls reuse these layouts.
    """

    function: PlanFunction
    tensor_class: type[Any]  # `NamedTensor`, whose module needs NumPy
    names: tuple[str, ...]  # of the arrays that it takes, in order
    count: int = 1
    claims: tuple[PlannedClaim, ...] = ()
    outer: NotationError | None = None  # raised if outer broadcasts are forbidden
    several: bool = False
    scales: Callable[[int, Sequence[Any]], list[Any]] | None = None  # magnitudes of the sides of an assertion
    labels: tuple[AxisLabels, ...] = ()  # of the results, if an input has labels
    moves: Mapping[int, tuple[tuple[str, ...], Mapping[str, Any]]] = field(default_factory=dict)  # aligns inputs
    sizes: tuple[int | SizeSymbol, ...] = ()  # of the inputs, if some are symbols
    parts: Mapping[SizeSymbol, Size] = field(default_factory=dict)  # symbols that stand for parts of others
    exact: Callable[[Sequence[Any]], CompiledPlan] | None = None  # compiles for given arrays, to raise errors
    is_alone: bool = field(init=False)  # whether there is one result, about which nothing is asserted
    layouts: dict[Any, Any] = field(default_factory=dict, init=False)  # of the results, by shape if sizes are symbols

    def __post_init__(self) -> None:
        self.is_alone = not (self.claims or self.several)

    @property
    def plan(self) -> Plan:
        return self.function.plan

    @property
    def nbytes(self) -> int:
        """The memory of this plan in bytes."""
        labels = sum(axis_labels.nbytes for axes in self.labels for axis_labels in axes.values())
        return labels + self.function.nbytes

    def fits(self, sizes: Sequence[int]) -> bool:
        """Return whether a plan with symbols is correct for these sizes, and as fast as a plan made for them."""
        values: dict[SizeSymbol, int] = {}
        for size, expected in zip(sizes, self.sizes):
            if not isinstance(expected, SizeSymbol):
                if size != expected:
                    return False
            elif values.setdefault(expected, size) != size or not 0 < size <= MAX_SIZE:
                return False
        if self.function.target.name == "numpy":  # The fastest plan depends on the magnitudes of the sizes.
            if any(magnitude(size) != magnitude(symbol.example) for symbol, size in values.items()):
                return False
        for symbol, part in self.parts.items():
            values[symbol] = value_at(part, values)
        return all(condition.holds(values) for condition in self.plan.conditions)

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
            return self.exact(arrays)(*arrays)
        if not self.is_alone:
            if len(self.function.plan.results) == 1:
                results = (results,)
            try:
                if self.claims:
                    self._judge(results, arrays)
            except UndecidedSizeError:  # The magnitudes of both sides depend on sizes as numbers.
                if self.exact is None:
                    raise
                return self.exact(arrays)(*arrays)
            tensors = self._wrap(results)
            return tensors if self.several else tensors[0]
        try:
            layout = self.layouts.get(results.shape if self.sizes else None)
        except (AttributeError, TypeError):  # A plain number has no shape, and symbolic sizes of PyTorch have no hash.
            layout = None
        if layout is None:
            return self._wrap((results,))[0]
        tensor = object.__new__(self.tensor_class)
        tensor._array, tensor.layout = results, layout
        return tensor

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

        if not self.is_alone and (known := self.layouts.get(None)) is not None:
            return tuple(map(wrap_layout, results, known))
        values, xp = self.plan.results[: self.count], self.function.target.xp  # assertions follow
        tensors = tuple(wrap(array, axes_of(value), xp) for array, value in zip(results, values))
        layouts = tuple([tensor.layout for tensor in tensors])
        if self.labels:
            layouts = tuple(map(make_labeled_layout, layouts, self.labels))
            tensors = tuple([wrap_layout(tensor._array, layout) for tensor, layout in zip(tensors, layouts)])
        if all(isinstance(value, PlanValue) and not value.dynamic for value in values):
            if len(self.layouts) >= MAX_LAYOUTS:
                self.layouts.clear()
            if self.is_alone:
                self.layouts[layouts[0].extent if self.sizes else None] = layouts[0]
            elif not self.sizes:
                self.layouts[None] = layouts
        return tensors


def magnitude(size: int) -> int:
    """Return the magnitude class of a size. Two sizes in the same class differ by a factor of less than 4."""
    return (size.bit_length() + 1) // 2
