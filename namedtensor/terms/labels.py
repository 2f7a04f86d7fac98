"""Infer the labels of a formula's terms from the labels of inputs, by the rules in `operators/labels.py`.

    labels_of_terms     return the labels that results keep
    alignment_of        compare the axes of inputs that the formula combines

An operator that moves, merges, splits or creates elements drops the labels of its axes. The states of a loop have no
labels.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from grammar.errors import NotationError

from ..core.label_alignment import LabelAlignment, LabeledAxis, can_align
from ..core.labels import CONFLICT, AxisLabels, Labels, combine_labels, drop_conflicts
from ..core.sizes import resolve
from ..operators import REGISTRY
from ..operators.labels import concatenate_labels, group_axes, select_values
from .loop_bodies import Loop
from .terms import Term, topological

Value = TypeVar("Value")  # The value of an axis: its labels, or its input axis.
AGREE = frozenset(("spread", "indicator", "cases", "variable"))  # Each element keeps its position.
# Maps the id of each derivative to its variable's term, the names of the variable's axes in it, and its body.
Starred = Mapping[int, tuple[Term, Mapping[str, str], Term]]
NO_DERIVATIVES: Starred = {}
Inputs = Mapping[str, Mapping[str, LabeledAxis]]  # By name and axis.
Join = Callable[[LabeledAxis, LabeledAxis, Any], None]  # Receives two axes, and the node or span that combines them.
Error = Callable[..., NotationError]  # Receives a code, a message, a node or span, notes and a hint.
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "⊙": operator.mul}
WITHOUT = frozenset(("merge", "split", "pick"))  # These drop the axes in their first option.


def labels_of_terms(
    roots: tuple[Term, ...], inputs: Mapping[str, AxisLabels], starred: Starred = NO_DERIVATIVES
) -> list[dict[str, Labels]]:
    """Return the labels of each root by axis. `inputs` maps each input to its labels by axis."""
    known = KeptLabels(inputs, starred).infer(roots)
    return [drop_conflicts(known[id(root)]) for root in roots]


def labels_to_index(term: Term, axis: str, inputs: Mapping[str, AxisLabels], error: Error) -> Labels | None:
    """Return the labels of an axis after the alignment of the inputs, or None if it has no labels.

    Raise NotationError if the inputs' labels cannot be aligned.
    """
    labels = LabelsToAlign(inputs).infer([term])[id(term)].get(axis)
    if labels is CONFLICT:
        alignment_of([term], axes_of(inputs), error)
        return None
    return labels


def alignment_of(
    roots: Sequence[Term], inputs: Inputs, error: Error, pairs: Iterable[tuple[Term, Term, Any]] = (),
    starred: Starred = NO_DERIVATIVES,
) -> LabelAlignment:  # fmt: skip
    """Return the alignment of the inputs' labels, given the axes that the roots combine.

    Also align the axes of the two terms in each element of `pairs`. If labels cannot be aligned, raise the
    NotationError that `error` returns for the span of the pair or for the node that combines the axes.
    """
    alignment = LabelAlignment([axis for by_axis in inputs.values() for axis in by_axis.values()])

    def join(first: LabeledAxis, second: LabeledAxis, node: Any) -> None:
        try:
            alignment.join(first, second)
        except NotationError as problem:
            raise error(problem.code, problem.message, node, problem.notes, problem.hint) from None

    known = CombinedAxes(inputs, join, starred).infer(roots)
    for left, right, span in pairs:
        others = known[id(right)]
        for axis, first in known[id(left)].items():
            if axis in others and others[axis] is not first:
                join(first, others[axis], span)
    return alignment


def add_bodies(roots: Sequence[Term], starred: Starred) -> list[Term]:
    """Return the roots and the bodies of their derivatives. The bodies may contain inputs that the derivatives lack."""
    result, seen = [*roots], set[int]()
    for root in result:  # The list grows during the loop.
        for term in topological(root) if starred else ():
            if id(term) in starred and id(term) not in seen:
                seen.add(id(term))
                variable, _, body = starred[id(term)]
                result += variable, body
    return result


def axes_of(labels: Mapping[str, AxisLabels]) -> Inputs:
    """Return the labeled axes of inputs, given their labels by name and axis."""
    return {
        name: {axis: LabeledAxis(name, axis, axis_labels) for axis, axis_labels in by_axis.items()}
        for name, by_axis in labels.items()
    }


def inputs_along(terms: Sequence[Term], axis: str, labels: Mapping[str, AxisLabels]) -> list[LabeledAxis]:
    """Return the labeled input axes that became this axis of the terms."""
    known = CombinedAxes(axes_of(labels), lambda first, second, node: None).infer(terms)
    return [known[id(term)][axis] for term in terms if axis in known[id(term)]]


def is_counted(term: Term) -> bool:
    """Return whether an index such as 2 k − 1 depends only on positions along axes, rather than on inputs."""
    ends = {part.operator for part in topological(term) if not part.arguments}
    return "iota" in ends <= {"iota", "number"}


def positions_of(term: Term) -> Any:
    """Return the positions that an index such as 2 k − 1 selects along one axis, or None if they cannot be computed."""
    import numpy as np

    if term.operator == "iota":
        first, size = map(resolve, term.options)
        return np.arange(first, first + size) if isinstance(size, int) else None  # pyright: ignore[reportUnknownVariableType]
    if term.operator == "number":
        return resolve(term.number)
    if term.operator in ("rename", "spread", "variable"):
        return positions_of(term.arguments[0])
    if term.operator not in ARITHMETIC:
        return None
    left: Any
    left, right = map(positions_of, term.arguments)
    return None if left is None or right is None else ARITHMETIC[term.operator](left, right)


class AxisFlow(ABC, Generic[Value]):
    """An analysis that propagates a value per axis, such as its labels, from inputs to all terms."""

    def __init__(self, inputs: Mapping[str, Mapping[str, Value]], starred: Starred = NO_DERIVATIVES):
        self.inputs = inputs
        self.starred = starred
        self.given: dict[int, dict[str, Value]] = {}  # Axis values from loops, by the ids of terms.

    def infer(self, roots: Iterable[Term]) -> dict[int, dict[str, Value]]:
        """Return the axis values of all terms that the roots need, by the terms' ids and then by axis."""
        roots = [*roots]
        derivatives = [term for term in topological(*roots) if id(term) in self.starred] if self.starred else []
        variables = self.infer_without_derivatives([self.starred[id(term)][0] for term in derivatives])
        for term in derivatives:  # An axis of the variable keeps its value in the derivative.
            variable, names, _ = self.starred[id(term)]
            values = variables[id(variable)]
            self.given[id(term)] = {names[axis]: values[axis] for axis in values if axis in names}
        return self.infer_without_derivatives(roots)

    def infer_without_derivatives(self, roots: Iterable[Term]) -> dict[int, dict[str, Value]]:
        """Return the axis values of all terms, like `infer`, but copy no values from variables to derivatives."""
        known: dict[int, dict[str, Value]] = {}
        for term in topological(*roots):
            if term.operator == "input":
                values = dict(self.inputs.get(term.options[-1], {}))
            else:
                values = self.infer_term(term, [known[id(argument)] for argument in term.arguments])
            values |= self.given.get(id(term), {})
            known[id(term)] = {axis: value for axis, value in values.items() if self.fits(value, term.shape.get(axis))}
        return known

    def infer_term(self, term: Term, arguments: list[dict[str, Value]]) -> dict[str, Value]:
        """Return the axis values of a term, given the axis values of its arguments."""
        if not any(arguments):
            return {}
        if term.operator in AGREE:
            return self.agree(arguments)
        if term.operator == "rename":
            names = dict(term.options)
            return {names.get(axis, axis): value for axis, value in arguments[0].items()}
        if term.operator in WITHOUT:
            changed = term.options[0]
            axes = (changed,) if isinstance(changed, str) else changed
            return {axis: value for axis, value in arguments[0].items() if axis not in axes}
        record = REGISTRY.get(term.operator)
        if record is None:
            return {}
        values = select_values(record, arguments, term.axes, self.agree)
        if term.operator == "⊕":
            values |= self.join_axis(arguments, term.axes[0])
        if term.operator == "index" and (first := arguments[0].get(term.axes[0])) is not None:
            at = term.arguments[1]
            if len(at.shape) == 1 and is_counted(at):
                (axis,) = at.shape
                values |= self.index_axis(axis, first, positions_of(at))
        return values

    def fits(self, value: Value, size: Any) -> bool:
        """Return whether a value has one entry per element of an axis with this size."""
        return resolve(size) == len(value)  # type: ignore[arg-type]

    @abstractmethod
    def agree(self, several: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
        """Return the axis values of an elementwise result, given the axis values of its operands."""

    @abstractmethod
    def join_axis(self, several: Sequence[Mapping[str, Value]], axis: str) -> dict[str, Value]:
        """Return the value for an axis along which several operands are concatenated."""

    @abstractmethod
    def index_axis(self, axis: str, value: Value, positions: Any) -> dict[str, Value]:
        """Return the value for the axis of a slice X_{a(2:3)} or a shift X_{a(k-1)}. The positions may be unknown."""


class KeptLabels(AxisFlow[Labels]):
    """An analysis that finds the labels of terms.

    An axis has `CONFLICT` if its operands have different labels, or if an index selects elements without known labels.
    """

    def fits(self, value: Labels, size: Any) -> bool:
        return size is not None if value is CONFLICT else super().fits(value, size)

    def agree(self, several: Sequence[AxisLabels]) -> dict[str, Labels]:
        return combine_labels(several)

    def join_axis(self, several: Sequence[AxisLabels], axis: str) -> dict[str, Labels]:
        return concatenate_labels([*map(drop_conflicts, several)], axis)

    def index_axis(self, axis: str, value: Labels, positions: Any) -> dict[str, Labels]:
        if value is CONFLICT or positions is None or positions.dtype.kind != "i" or not positions.size:
            return {axis: CONFLICT}
        if not 1 <= positions.min() <= positions.max() <= len(value):
            return {axis: CONFLICT}  # A shift across an end has no label there.
        return {axis: value.part(positions - 1)}


class LabelsToAlign(KeptLabels):
    """An analysis that finds the labels that terms will have after the inputs are aligned."""

    def agree(self, several: Sequence[AxisLabels]) -> dict[str, Labels]:
        return combine_labels(several, can_align)


class CombinedAxes(AxisFlow[LabeledAxis]):
    """An analysis that traces each axis of a term to the input axis with the same elements in the same order, if any.

    `join` is called for each pair of input axes that a term combines.
    """

    def __init__(self, inputs: Inputs, join: Join, starred: Starred = NO_DERIVATIVES):
        super().__init__(inputs, starred)
        self.join = join
        self.states: dict[int, list[dict[str, LabeledAxis]]] = {}  # The states of loops.

    def infer_term(self, term: Term, arguments: list[dict[str, LabeledAxis]]) -> dict[str, LabeledAxis]:
        if term.operator == "loop":
            self.add_loop(term.options[0], arguments, self.states.setdefault(id(term), []))
            return {}
        if term.operator in ("after", "through"):
            number: int = term.options[0]
            return self.states[id(term.arguments[0])][number]
        record = REGISTRY.get(term.operator)
        if record is not None:
            groups = [members for _, members in group_axes(record, arguments, term.axes)]
        else:
            axes = dict.fromkeys(axis for argument in arguments for axis in argument if axis in term.shape)
            joined = term.options[0] if term.operator == "fill" else None
            groups = [[known[axis] for known in arguments if axis in known] for axis in axes if axis != joined]
        for first, *others in groups:
            for other in others:
                if other is not first:
                    self.join(first, other, term.node)
        return super().infer_term(term, arguments)

    def add_loop(
        self, loop: Loop, arguments: list[dict[str, LabeledAxis]], states: list[dict[str, LabeledAxis]]
    ) -> None:
        """Propagate axes through a loop's body, and append the input axes of each state to `states`."""
        at = iter(arguments)
        for group, repeats in ((loop.states, 1), (loop.slices, 1), (loop.members, loop.steps), (loop.given, 1)):
            for inner in group:
                first, *_ = [next(at) for _ in range(repeats)]
                self.given[id(inner)] = {axis: value for axis, value in first.items() if axis in inner.shape}
        known = self.infer(loop.results)
        for state, result in zip(loop.states, loop.results):
            states.append(self.agree([self.given[id(state)], known[id(result)]]))

    def agree(self, several: Sequence[Mapping[str, LabeledAxis]]) -> dict[str, LabeledAxis]:
        return {axis: value for known in reversed(several) for axis, value in known.items()}

    def join_axis(self, several: Sequence[Mapping[str, LabeledAxis]], axis: str) -> dict[str, LabeledAxis]:
        return {}

    def index_axis(self, axis: str, value: LabeledAxis, positions: Any) -> dict[str, LabeledAxis]:
        whole = positions is not None and positions.tolist() == [*range(1, len(value) + 1)]
        return {axis: value} if whole else {}
