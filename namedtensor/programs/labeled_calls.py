"""Calls with tensors whose axes have labels. The labels are compared once, before any computation.

    align_inputs           returns the typed goal, and the inputs aligned by their labels
    compile_labeled        returns a compiled plan that aligns its inputs and labels its results
    moves_of               returns the positions that align the inputs

The cache key of such a plan contains the labels of the inputs. Calls without labels do not use this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar.errors import NotationError

from ..checking.checker import Checker
from ..core.families import FamilyName
from ..core.label_alignment import LabeledAxis, Moves, add_table_hint, take
from ..core.labels import AxisLabels, labels_of, make_labeled_layout
from ..core.tensor import wrap_layout
from ..core.warned import silent
from ..terms.environment import source_name
from ..terms.labels import add_bodies, alignment_of, labels_of_terms
from ..terms.terms import Term, topological
from .arguments import BoundArguments
from .executable import CompiledPlan, Options, TypedValues, compile_plan


def compile_labeled(
    given: BoundArguments, typed_for: Callable[[BoundArguments], TypedValues], target: Any, options: Options
) -> CompiledPlan:
    """Return a compiled plan that aligns the inputs of a call and labels its results. Raise errors from `moves_of`."""
    given, typed, moves = align_inputs(given, typed_for)
    result = compile_plan(typed, given.abstract, target, options)
    result.labels = labels_of_results(typed.terms, given, typed.checker)
    result.moves = {result.names.index(name): (given.labeled[name].axes, by_axis) for name, by_axis in moves.items()}
    return result


def align_inputs(
    given: BoundArguments, typed_for: Callable[[BoundArguments], TypedValues]
) -> tuple[BoundArguments, TypedValues, Moves]:
    """Return the inputs aligned by their labels, the typed goal for them, and the positions that align them."""
    try:
        typed = typed_for(given)
        moves = moves_of(typed, given) if given.labeled else {}
    except NotationError as problem:
        raise add_table_hint(problem, given.tables) from None
    if moves:  # so that indices by label find their new positions
        given = align(given, moves)
        with silent():  # The first typing has warned.
            typed = typed_for(given)
    return given, typed, moves


def labels_of_results(
    terms: tuple[Term, ...], given: BoundArguments, checker: Checker | None = None
) -> tuple[AxisLabels, ...]:
    """Return the axis labels of each term's value, in the order of the terms."""
    inputs = {name: labels_of(layout) for name, layout in given.labeled.items()}
    several = labels_of_terms(terms, inputs, {} if checker is None else checker.axes_of_variables)
    return tuple({source_name(axis): labels for axis, labels in one.items()} for one in several)


def moves_of(typed: TypedValues, given: BoundArguments) -> Moves:
    """Return the positions of elements that align the inputs of the terms by their labels.

    Raises NotationError if operands have different labels, or labels needed for alignment are missing or not unique.
    """
    assert typed.checker is not None
    starred = typed.checker.axes_of_variables
    roots = add_bodies(typed.roots, starred)
    used = {term.options[-1] for term in topological(*roots) if term.operator == "input"}
    axes = {
        name: {axis: LabeledAxis(name, axis, labels) for axis, labels in labels_of(layout).items()}
        for name, layout in given.labeled.items()
        if name in used
    }
    claims = [(left, right, claim.span) for left, right, claim in typed.claims if isinstance(right, Term)]
    alignment = alignment_of(roots, axes, typed.checker.error, claims, starred)
    orders = {name: value.layout.axes for name, value in given.values.items() if name in given.arrays}
    moves = alignment.moves({name: order for name, order in orders.items() if not used.isdisjoint(members_of(name))})
    return {name: moves[name] for name in axes if name in moves}


def members_of(name: str) -> tuple[str, ...]:
    """Return the names of the tensors that an array contains: only `name`, or the members of the family."""
    return tuple(map(str, name.members)) if isinstance(name, FamilyName) else (name,)


def align(given: BoundArguments, moves: Moves) -> BoundArguments:
    """Return the inputs of a call with their elements moved according to the positions in `moves`."""
    values = dict(given.values)
    for name, layout in given.labeled.items():
        array, labels = given.arrays[name], labels_of(layout)
        for axis, positions in moves.get(name, {}).items():
            labels[axis] = labels[axis].part(positions)
        values[name] = wrap_layout(take(array, layout.axes, moves.get(name, {})), make_labeled_layout(layout, labels))
    return BoundArguments(values, given.positional).with_labels()
