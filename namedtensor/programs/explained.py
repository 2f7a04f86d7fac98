"""Explanations: the steps of a formula and their values, shown by `explain`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any

from grammar.errors import NotationError
from grammar.nodes import Derivative

from ..backends.function import target_of
from ..core.labels import AxisLabels
from ..core.settings import recursion_headroom
from ..display.derivations import Way
from ..display.steps import Explanation, explanation
from ..operators.user_functions import using
from ..scope.symbols import Definition
from ..terms.terms import Term
from .arguments import BoundArguments, whole_sizes
from .call_cache import warn_of_checks
from .entries import Entry, WholeProgram
from .executable import Options, compile_plan, function_of, type_goal
from .injected import closed_form
from .labeled_calls import align_inputs, labels_of_results


class TermValues:
    """A function that returns the values of terms for the inputs of one call. It can be pickled."""

    def __init__(self, source: str, given: BoundArguments):
        self.source, self.given = source, given

    def __call__(self, terms: list[Term]) -> list[tuple[Any, tuple[str, ...], Any, AxisLabels]]:
        from ..core.arrays import namespace_of

        target = target_of(namespace_of(self.given.arrays))
        with recursion_headroom(self.source):
            function = function_of(self.source, terms, self.given.abstract, target)
            arrays = function(*self.given.arrays.values())
        arrays = arrays if len(terms) > 1 else (arrays,)
        orders = (getattr(result, "order", ()) for result in function.plan.results)
        labels = labels_of_results(tuple(terms), self.given) if self.given.labeled else repeat({})
        return [(array, order, target.xp, axis_labels) for array, order, axis_labels in zip(arrays, orders, labels)]


class DerivedForm:
    """A function that returns the closed form of a derivative for one call's shapes, or None. It can be pickled."""

    def __init__(self, formula: Any, given: BoundArguments, sizes: Any):
        self.formula, self.given, self.sizes = formula, given, sizes

    def __call__(self) -> Way | None:
        shapes = {str(name): input_.shape for name, input_ in self.given.inputs.items()}
        try:
            with using(self.formula.operators):
                result = closed_form(self.formula, shapes, self.sizes)
                return result if result.steps else None
        except NotationError:  # The derivative has a value but no closed form.
            return None


def explain_goal(
    goal: WholeProgram | Entry, given: BoundArguments, sizes: Mapping[str, int] | None, by_keyword: tuple[str, ...]
) -> Explanation:
    """Return an explanation of a goal: its value and the steps that compute it."""
    from ..core.arrays import namespace_of

    options = Options(whole_sizes(sizes), by_keyword, shows_layers=True)
    given = (given.with_labels() if given.labeled else given).with_numbers(goal.program)
    given, typed, _ = align_inputs(given, lambda it: type_goal(goal, it, options))
    (root,), checker = typed.terms, typed.checker
    assert checker is not None
    compiled = compile_plan(typed, given.abstract, target_of(namespace_of(given.arrays)))
    if given.labeled:
        compiled.labels = labels_of_results(typed.terms, given, checker)
    value, steps = compiled(*given.arrays.values()), TermValues(typed.source, given)
    if isinstance(goal, Entry):
        return explanation(checker, root, goal.name, value, steps)
    last = checker.scope.valued
    whole = last.statement if isinstance(last, Definition) else last
    result = explanation(checker, root, whole, value, steps)
    warn_of_checks(checker)
    return replace(result, derived=DerivedForm(goal.program, given, sizes)) if isinstance(last, Derivative) else result
