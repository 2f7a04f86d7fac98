"""Explanations: the steps of a formula and their values, shown by `explain`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

from grammar.errors import NotationError

from ..backends.function import target_of
from ..checking.checker import Checker
from ..core.labels import AxisLabels
from ..core.settings import recursion_headroom
from ..display.derivations import Way
from ..display.steps import Explanation, explanation
from ..operators.user_functions import using
from ..terms.terms import Term
from .arguments import BoundArguments
from .executable import TypedValues, executable, function_of
from .injected import closed_form
from .labeled_calls import labels_of_results


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
    """A function that returns the closed form of a derivative for the shapes of one call. It can be pickled."""

    def __init__(self, formula: Any, given: BoundArguments, sizes: Any):
        self.formula, self.given, self.sizes = formula, given, sizes

    def __call__(self) -> Way | None:
        shapes = {str(name): input_.shape for name, input_ in self.given.inputs.items()}
        try:
            with using(self.formula.operators):
                result = closed_form(self.formula, shapes, self.sizes)
                return result if result.steps else None
        except NotationError:  # it has a value, and no closed form
            return None


def trace_steps(checker: Checker, typed: Callable[[], Term], whole: Any, given: BoundArguments) -> Explanation:
    """Return the explanation of the steps to the value of `typed`. `whole` is the formula or the value's name."""
    from ..core.arrays import namespace_of

    source, checker.shows_layers = checker.scope.source, True
    with recursion_headroom(source):
        root = typed()
        typed_root, target = TypedValues.of(checker, (root,)), target_of(namespace_of(given.arrays))
        executable_ = executable(typed_root, given.abstract, target)
        if given.labeled:
            executable_.labels = labels_of_results((root,), given, checker)
        value = executable_(*given.arrays.values())
    return explanation(checker, root, whole, value, TermValues(source, given))
