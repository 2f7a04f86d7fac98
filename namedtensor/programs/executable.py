"""The whole way of a call, one function a stage: parse and bind, check, plan, function; and the claims that it must meet.

    program.scope_given(inputs)      text → tree → names        parsed.py
    checked(goal, …)                 → terms                    entries.py says which
    planned(checker, terms, …)       → plan
    executable(…)                    → function, with its claims

What finds an executable that was made already is in `call_cache.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..backends.function import PlanFunction
from ..checking.checker import Checker
from ..core.arrays import at_once
from ..core.layout import Layout
from ..core.limits import DEFAULT, Limits, recursion_headroom
from ..planning.plan import Plan, Value
from ..planning.planner import make_plan
from ..planning.target import Target
from ..scope.names import Key
from ..scope.symbols import Scope
from ..terms.environment import source_name
from ..terms.inference import InputType
from ..terms.terms import Term
from .arguments import Abstract
from .entries import Arguments as Positional
from .entries import Goal

TOLERANCE = 1e-6
Run = Callable[..., Any]


class Options(NamedTuple):
    """What a plan is made with, besides the types of what is given."""

    sizes: Mapping[str, int] | None = None
    by_keyword: tuple[str, ...] | None = None  # the names that were given by keyword: each has to be used
    strict: bool = False
    without: tuple[str, ...] = ()  # optimisations


PLAIN = Options()


def checked(
    goal: Goal, inputs: Mapping[Key, InputType], arguments: Positional, options: Options, scope: Scope | None = None
) -> tuple[Checker, tuple[Term, ...]]:
    """The terms of what is asked for, for inputs and arguments of these types, and their checker."""
    checker = goal.program.checker(
        inputs, options.sizes, scope=scope, arguments=[each for _, each in arguments], by_keyword=options.by_keyword,
        strict=options.strict,
    )  # fmt: skip
    return checker, goal.terms(checker, arguments)


def planned(
    source: str, terms: Sequence[Term], abstract: Abstract, target: Target, limits: Limits = DEFAULT,
    without: Sequence[str] = (),
) -> tuple[Plan, list[Any]]:  # fmt: skip
    """The plan that computes terms from tensors of these layouts, and the Python functions that it calls."""
    layouts = {name: each for name, each in abstract.items() if isinstance(each, Layout)}
    return make_plan(source, tuple(terms), layouts, target, limits, without=without)


def function_of(
    source: str, terms: Sequence[Term], abstract: Abstract, target: Target, limits: Limits = DEFAULT,
    without: Sequence[str] = (),
) -> PlanFunction:  # fmt: skip
    """The function that does so."""
    with at_once(target.xp):
        plan, python = planned(source, terms, abstract, target, limits, without)
        return PlanFunction(plan, target, python)


def executable(
    goal: Goal, inputs: Mapping[Key, InputType], arguments: Positional, abstract: Abstract, target: Target,
    options: Options,
) -> tuple[Executable, Checker]:  # fmt: skip
    """What is asked for, made ready to run; and its checker, which has the warnings."""
    with recursion_headroom(goal.program.source):
        checker, terms = checked(goal, inputs, arguments, options)
        return of_terms(checker, terms, abstract, target, options.without), checker


def of_terms(
    checker: Checker, terms: tuple[Term, ...], abstract: Abstract, target: Target, without: Sequence[str] = ()
) -> Executable:
    """Terms made ready to run, with the claims of their program."""
    roots = list(terms)
    for left, right, _ in checker.claim_terms:
        roots += [left] + ([right] if isinstance(right, Term) else [])
    function = function_of(checker.scope.source, roots, abstract, target, checker.limits, without)
    claims = tuple(
        PlannedClaim(isinstance(right, Term), right, span, span in checker.scope.calls, span in checker.scope.facts)
        for _, right, span in checker.claim_terms
    )
    names = tuple([name for name, each in abstract.items() if isinstance(each, Layout)])
    return Executable(function, names, checker.given_names.unused, len(terms), claims)


class Executable:
    """A plan made a function, with the claims that it must meet; the first `count` results are what is asked for.

    It is called with arrays by position, in the order of the plan's inputs, and gives a named tensor. `instead` is what
    runs for the function, where a library has compiled it.
    """

    __slots__ = ("claims", "count", "function", "instead", "last_call", "layout", "names", "run", "unused")

    def __init__(
        self, function: PlanFunction, names: tuple[str, ...], unused: frozenset[str], count: int = 1,
        claims: tuple[PlannedClaim, ...] = (), instead: Run | None = None,
    ):  # fmt: skip
        self.function, self.count, self.claims, self.instead = function, count, claims, instead
        self.names, self.unused = (
            names,
            unused,
        )  # of the arrays that it takes, in order; of what nothing in the program uses
        self.run: Run | None = None  # what a later call runs, where the layout of the result is known
        self.layout: Any = None  # of that result
        self.last_call: Run | None = None  # what a call like the last one runs

    @property
    def plan(self) -> Plan:
        return self.function.plan

    @property
    def nbytes(self) -> int:
        """The memory that it holds."""
        return self.function.nbytes

    def __call__(self, *arrays: Any) -> Any:
        if self.run is not None:
            return self.run(*arrays)
        (result,) = self.call_many(*arrays)
        value = self.function.like.results[0]
        if not self.claims and isinstance(value, Value) and not value.dynamic:
            self.layout, self.run = result.layout, self.function.specialised(result.layout, self.instead)
        return result

    def call_several(self, *arrays: Any) -> tuple[Any, ...]:
        """The same where several results are asked for."""
        if self.run is not None:
            return self.run(*arrays)
        found = self.call_many(*arrays)
        if not self.claims and all(isinstance(each, Value) and not each.dynamic for each in self.function.like.results):
            self.run = self._with_layouts(tuple(each.layout for each in found))
        return found

    def _with_layouts(self, layouts: tuple[Any, ...]) -> Run:
        """What a later call runs, where the layouts of the results are known."""
        from ..core.tensor import made_as

        run, one = self.instead or self.function, len(layouts) == 1
        return lambda *arrays: tuple(map(made_as, (run(*arrays),) if one else run(*arrays), layouts))

    def call_many(self, *arrays: Any) -> tuple[Any, ...]:
        """All results, checked against the claims."""
        from ..tensors.values import wrap

        results, xp = self.function.like.results, self.function.target.xp
        found = (self.instead or self.function)(*arrays)
        found = found if len(results) > 1 else (found,)
        if self.claims:
            orders = [getattr(result, "order", None) for result in results[self.count :]]
            judge(self.claims, found[self.count :], orders, self.function.like.source)
        return tuple(wrap(array, axes_of(value), xp) for array, value in zip(found[: self.count], results))

    def for_repeated_calls(self, layouts: Sequence[Any]) -> Run:
        """What serves the next call with tensors of these layouts; see `PlanFunction.for_repeated_calls`."""
        if self.last_call is None:
            order = range(len(layouts))
            self.last_call = self.function.for_repeated_calls(order, layouts, self.layout, self.instead)
        return self.last_call


def axes_of(result: Any) -> tuple[str, ...]:
    """The axes of a plan's result, as the user has them."""
    return tuple(map(source_name, result.order)) if isinstance(result, Value) else ()


# -------------------------------------------------------------------------------------------------------------- claims
class PlannedClaim(NamedTuple):
    """What a formula says to be so: that two values are equal, or that one lies in a set (language.md §4)."""

    is_equation: bool
    right: Any  # of membership: the kind of set, and what is in it
    span: tuple[int, int]
    is_call: bool  # whether it may have been meant as a definition of a function
    is_fact: bool = False  # whether it is a comparison


def judge(claims: Sequence[PlannedClaim], arrays: Sequence[Any], orders: Sequence[Any], source: str) -> None:
    """Raise where a claim does not hold for these values."""
    position = iter(range(len(arrays)))
    for claim in claims:
        first = next(position)
        if claim.is_equation:
            second = next(position)
            _judge_equal(claim, arrays[first], orders[first], arrays[second], orders[second], source)
        else:
            _judge_member(claim, arrays[first], source)


def _concrete(array: Any) -> Any:
    """The values as a NumPy array; None where there are none yet, as while a backend traces."""
    import numpy as np

    try:
        if hasattr(array, "detach"):
            array = array.detach().cpu()
        return np.asarray(array)
    except Exception:
        return None


def _judge_equal(claim: PlannedClaim, left: Any, left_order: Any, right: Any, right_order: Any, source: str) -> None:
    import numpy as np

    left, right = _concrete(left), _concrete(right)
    if left is None or right is None:
        return
    order = tuple(dict.fromkeys((*(left_order or ()), *(right_order or ()))))
    left, right = (_along(side, of or (), order) for side, of in ((left, left_order), (right, right_order)))
    left, right = np.broadcast_arrays(left, right)
    same = left == right  # of whole numbers too, whose differences may pass what they are held in
    left, right = (each.astype(float) if each.dtype.kind in "iub" else each for each in (left, right))
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(left), np.abs(right))
        finite = np.isfinite(scale)
        tolerance = TOLERANCE * np.max(scale[finite], initial=0.0) if np.any(finite) else 0.0
        wrong = ~(same | (np.abs(left - right) <= tolerance) | (np.isnan(left) & np.isnan(right)))
    if not np.any(wrong):
        return
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if left.ndim else ()
    where = ", ".join(f"{source_name(axis)}({i + 1})" for axis, i in zip(order, at))
    place = f" at {where}" if where else ""
    if claim.is_fact:
        raise NotationError(
            403, f"this does not hold{place}", source, claim.span, hint="for the truth values themselves write 𝕀[x > 0]"
        )
    raise NotationError(
        403,
        f"this does not hold{place}: {_number(left[at])} on the left, {_number(right[at])} on the right",
        source,
        claim.span,
        hint="its operand is known here, so this is a claim; for a definition, name the operand as nothing else is"
        if claim.is_call
        else "one of the two sides is not what it should be",
    )


def _along(array: Any, own: Sequence[str], order: Sequence[str]) -> Any:
    """An array with its axes in this order, those that it lacks of size 1."""
    import numpy as np

    array = np.transpose(array, [own.index(axis) for axis in order if axis in own])
    return np.expand_dims(array, tuple(place for place, axis in enumerate(order) if axis not in own))


# Sets that are named: in words, whether their numbers are whole, and what they are not less than.
BOUNDED: dict[str, tuple[str, bool, Any]] = {
    "integers": ("ℤ, the whole numbers", True, -float("inf")),
    "naturals": ("ℕ, the whole numbers from 0", True, 0),
    "positive": ("ℝ_{>0}, the numbers above 0", False, "positive"),
    "nonnegative": ("ℝ_{≥0}, the numbers from 0", False, 0),
}


def _judge_member(claim: PlannedClaim, array: Any, source: str) -> None:
    import numpy as np

    domain, values = claim.right
    array = _concrete(array)
    if array is None:
        return
    if domain == "elements":
        wrong = ~np.isin(array, np.asarray(values))
        text = "{" + ", ".join(map(str, values)) + "}"
    elif domain == "interval":
        wrong = (array < values[0]) | (array > values[1])
        text = f"[{values[0]}, {values[1]}]"
    elif domain in BOUNDED:
        text, whole, least = BOUNDED[domain]
        wrong = np.isnan(array) | (array <= 0 if least == "positive" else array < least)
        wrong = wrong | (array != np.floor(array)) if whole else wrong
    else:
        wrong = (array < 1) | (array > values[0]) | (array != np.floor(array))
        text = f"[{values[0]}], the whole numbers from 1 to {values[0]}"
    if np.any(wrong):
        value = array[tuple(np.argwhere(wrong)[0])] if array.ndim else array
        raise NotationError(
            407, f"{_number(value)} does not lie in {text}", source, claim.span,
            hint="give a value that lies in the declared set" + ("; indices count from 1" if domain == "count" else ""),
        )  # fmt: skip


def _number(value: Any) -> str:
    return f"{float(value):.6g}"
