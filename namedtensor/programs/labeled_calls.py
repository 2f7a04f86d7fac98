"""Calls with tensors whose axes have labels: their formula is typed with the labels, which its indices may name.

An executable of such a call has the layouts of its inputs and of its results with their labels, so a repeated call finds it as
any other. Calls without labels come here for nothing.
"""

from __future__ import annotations

from typing import Any

from ..core.labels import AxisLabels, labels_of
from ..terms.environment import source_name
from ..terms.labels import labels_of_terms
from ..terms.terms import Term
from .arguments import BoundArguments
from .executable import Executable, Options, TypedValues, executable


def labeled_executable(typed: TypedValues, given: BoundArguments, target: Any, options: Options) -> Executable:
    """The executable of these terms, whose results have labels."""
    result = executable(typed, given.abstract, target, options)
    result.labels = labels_of_results(typed.terms, given)
    return result


def labels_of_results(terms: tuple[Term, ...], given: BoundArguments) -> tuple[AxisLabels, ...]:
    """The labels of the values of terms."""
    inputs = {name: labels_of(layout) for name, layout in given.labeled.items()}
    several = labels_of_terms(terms, inputs)
    return tuple({source_name(axis): labels for axis, labels in one.items()} for one in several)
