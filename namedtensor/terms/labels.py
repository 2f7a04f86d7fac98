"""The labels of a formula's terms, from those of its inputs: by the rules of `operators/labels.py`, term by term.

What moves, merges, splits or makes elements has no labels on the axes concerned; a loop's states have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.labels import AxisLabels, Labels, agreed
from ..operators import REGISTRY
from ..operators.labels import result_labels
from .terms import Term, topological

Own = dict[str, Labels]
NONE: Own = {}


def labels_of_terms(roots: tuple[Term, ...], inputs: Mapping[str, AxisLabels]) -> list[Own]:
    """The labels of each root, by axis; `inputs` are those of the inputs by name."""
    known: dict[int, Own] = {}
    for term in topological(*roots):
        if term.operator == "input":
            labels = dict(inputs.get(term.options[-1], NONE))
        else:
            arguments = [known[id(argument)] for argument in term.arguments]
            labels = labels_of_term(term, arguments) if any(arguments) else NONE
        known[id(term)] = {
            axis: axis_labels for axis, axis_labels in labels.items() if term.shape.get(axis) == len(axis_labels)
        }
    return [known[id(root)] for root in roots]


def labels_of_term(term: Term, arguments: list[Own]) -> Own:
    """The labels of a term, some of whose arguments have labels."""
    rule = RULES.get(term.operator)
    if rule is not None:
        return rule(term, arguments)
    record = REGISTRY.get(term.operator)
    if record is None:
        return NONE
    labels = result_labels(record, arguments, term.axes)
    first_of_all = arguments[0].get(term.axes[0]) if term.axes else None
    if term.operator == "index" and first_of_all is not None:
        labels |= sliced(term, first_of_all)
    return labels


def sliced(term: Term, labels: Labels) -> Own:
    """The labels of a slice X_{a(2:3)}, which is an index by first, first + 1, …"""
    at = term.arguments[1]
    if at.operator != "iota" or not all(isinstance(number, int) for number in at.options):
        return NONE
    first, size = at.options
    return {at.axes[0]: labels.part(slice(first - 1, first - 1 + size))}


def renamed(term: Term, arguments: list[Own]) -> Own:
    names = dict(term.options)
    return {names.get(axis, axis): labels for axis, labels in arguments[0].items()}


def agreeing(term: Term, arguments: list[Own]) -> Own:
    return agreed(arguments)


def without(term: Term, arguments: list[Own]) -> Own:
    """Those of the first argument but for the axes that the first option names."""
    changed = term.options[0]
    axes = (changed,) if isinstance(changed, str) else changed
    return {axis: labels for axis, labels in arguments[0].items() if axis not in axes}


RULES: Mapping[str, Callable[[Term, list[Own]], Own]] = {
    "rename": renamed,
    "merge": without,
    "split": without,
    "pick": without,
    "spread": agreeing,
    "indicator": agreeing,
    "cases": agreeing,
    "variable": agreeing,
}
