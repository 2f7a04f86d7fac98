"""Compare the labels of several inputs, which may differ or have different orders.

    LabelAlignment([city of A, city of B])      collects the labeled axes of a call's inputs
    .join(city of A, town of M, …)              joins two axes that the formula combines, even under different names
    .moves({"A": ("city",), "B": ("city",)})    returns the positions that bring B into the order of A

Formulas, operators on tensors and `nt.vmap` compare labels with this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grammar.errors import NotationError

from .labels import Labels, is_label, text_of

MISMATCH = 412
MAX_SHOWN = 4  # The maximum number of labels per axis in a message.
Moves = Mapping[str, Mapping[str, Any]]  # Maps a tensor and an axis to the positions of its elements in the new order.


class LabeledAxis:
    """An axis of an input, with its labels. `tensor` is the input's name in messages."""

    def __init__(self, tensor: str, axis: str, labels: Labels):
        self.tensor, self.axis, self.labels = tensor, axis, labels

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def code(self) -> str:
        """The Python code for the input."""
        return name_in_python(self.tensor)

    @property
    def few(self) -> str:
        """A phrase that lists the first few labels, for messages."""
        first = ", ".join(map(quote_label, self.labels.values[:MAX_SHOWN]))
        return f"{self.axis} of {self.tensor} has {first}" + ", …" * (len(self) > MAX_SHOWN)

    @property
    def removal_code(self) -> str:
        """The Python code that removes the labels from the input's axis."""
        return f"{self.code}.with_labels({keyword(self.axis, 'None')})"


class LabelAlignment:
    """The labeled axes of a call's inputs, grouped by the axes that the call combines.

    Initially, axes with the same name are in one group if their labels can be aligned.
    """

    def __init__(self, axes: Iterable[LabeledAxis]):
        self.axes = [*axes]
        self._group = {id(axis): [axis] for axis in self.axes}
        for at, axis in enumerate(self.axes):
            for other in self.axes[:at]:
                if other.axis == axis.axis and can_align(other.labels, axis.labels):
                    self._unite(other, axis)
                    break

    def join(self, first: LabeledAxis, second: LabeledAxis) -> None:
        """Record that the call combines two axes. Raise NotationError if their labels cannot be aligned."""
        if self._group[id(first)] is self._group[id(second)]:
            return
        if not can_align(first.labels, second.labels):
            report = report_order if have_same(first.labels, second.labels) else difference
            raise report(first, second)
        self._unite(first, second)

    def _unite(self, first: LabeledAxis, second: LabeledAxis) -> None:
        members = {id(axis) for axis in (*self._group[id(first)], *self._group[id(second)])}
        group = [axis for axis in self.axes if id(axis) in members]
        self._group |= dict.fromkeys(members, group)

    def moves(self, inputs: Mapping[str, Sequence[str]]) -> Moves:
        """Return, for each input and axis, the positions that align the labels with the group's first input.

        `inputs` maps all inputs to their axes. Raise NotationError if an axis must be reordered, but an input has no
        labels on this axis.
        """
        result: dict[str, dict[str, Any]] = {}
        labeled = {(axis.tensor, axis.axis) for axis in self.axes}
        for first in self.axes:
            group = self._group[id(first)]
            if group[0] is not first:
                continue
            moved = [axis for axis in group[1:] if not axis.labels.equals(first.labels)]
            names = {axis.axis for axis in group} if moved else set[str]()
            for tensor, axes in inputs.items():
                for axis in names.intersection(axes):
                    if (tensor, axis) not in labeled:
                        raise missing(tensor, axis, first, moved[0])
            for axis in moved:
                result.setdefault(axis.tensor, {})[axis.axis] = positions_like(axis.labels, first.labels)
        return result


def have_same(first: Labels, second: Labels) -> bool:
    """Return whether two axes have the same labels, in any order."""
    return len(first) == len(second) and Counter(first.keys) == Counter(second.keys)


def can_align(first: Labels, second: Labels) -> bool:
    """Return whether two axes have the same labels in the same order, or the same unique labels in any order."""
    if first.equals(second):
        return True
    keys = {*first.keys}
    return len(keys) == len(first) == len(second) and keys == {*second.keys}


def positions_like(labels: Labels, first: Labels) -> Any:
    """Return the positions that bring `labels` into the order of `first`. Both must contain the same unique labels."""
    import numpy as np

    places = {key: at for at, key in enumerate(labels.keys)}
    return np.asarray([*map(places.__getitem__, first.keys)], dtype=np.int64)


def take(array: Any, axes: Sequence[str], moves: Mapping[str, Any]) -> Any:
    """Select the elements of an array at the given positions along some axes."""
    from .arrays import library, namespace

    for axis, positions in moves.items():
        xp = namespace(array)
        device = {"device": array.device} if library(array) == "torch" else {}
        array = xp.take(array, xp.asarray(positions, **device), axis=axes.index(axis))
    return array


# --------------------------------------------------------------------------------------------------------------- messages
def difference(first: LabeledAxis, second: LabeledAxis) -> NotationError:
    """Return the error for two combined axes with different labels."""
    if first.axis == second.axis:
        message = f"{first.tensor} and {second.tensor} have different labels on axis {first.axis}"
    else:
        message = f"{first.axis} of {first.tensor} and {second.axis} of {second.tensor} have different labels"
    return NotationError(MISMATCH, message, notes=(first.few, second.few), hint=repair(first, second))


def repair(first: LabeledAxis, second: LabeledAxis) -> str:
    """Return a hint that explains how to combine two axes with different labels."""
    keys = first.labels.keys, second.labels.keys
    known = {*keys[1]}
    common = [label for label, key in zip(first.labels.listed, keys[0]) if key in known]
    if len({*keys[0]}) < len(first) or len(known) < len(second):
        return "make the labels unique first"
    if not common:
        if len(first) != len(second):
            return "they have no label in common: rename one of the axes"
        return f"they have no label in common; to combine by position: {second.removal_code}"
    if common[0] not in second.labels.listed:  # A Python date may equal a NumPy date.
        kinds = " and ".join(type(axis.labels.listed[0]).__name__ for axis in (first, second))
        return f"give the labels one type: they are {kinds}"
    return selection(first, second, common)


def selection(first: LabeledAxis, second: LabeledAxis, common: Sequence[Any]) -> str:
    """Return Python code that selects the common labels of two axes."""
    left, right = first.code, second.code
    listed = f'common = [c for c in {left}.labels["{first.axis}"] if c in {right}.labels["{second.axis}"]]'
    # Integers in brackets would be positions, so these labels need `sel`.
    opened, closed = ("[", "]") if all(map(is_label, common)) else (".sel(", ")")
    pairs = {left: [first.axis]}
    pairs.setdefault(right, []).append(second.axis)
    indices = {tensor: ", ".join(f'"{axis}": common' for axis in axes) for tensor, axes in pairs.items()}
    selected = " and ".join(f"{tensor}{opened}{{{index}}}{closed}" for tensor, index in indices.items())
    return f"{listed}, then {selected}"


def add_table_hint(problem: NotationError, tables: Iterable[str]) -> NotationError:
    """Extend the hint of an error about tables: first convert them to tensors, because tables have no `labels`."""
    hint = problem.hint or ""
    named = [code for code in map(name_in_python, tables) if f"{code}.labels" in hint or f"{code}.with" in hint]
    if problem.code == MISMATCH and named:
        created = ", ".join(f"nt.tensor({code})" for code in named)
        problem.hint = f"{hint} (after {', '.join(named)} = {created})"
    return problem


def report_order(first: LabeledAxis, second: LabeledAxis) -> NotationError:
    """Return the error for labels that are not unique and have different orders in two inputs."""
    counts = Counter(second.labels.keys)
    twice = next(label for label, key in zip(second.labels.values, second.labels.keys) if counts[key] > 1)
    where = f"of axis {second.axis}" if first.axis == second.axis else f"of {first.axis} and {second.axis}"
    return NotationError(
        MISMATCH,
        f"the labels {where} have different orders in {first.tensor} and {second.tensor}, and {quote_label(twice)} is not unique",
        notes=(first.few, second.few),
        hint=f"make the labels unique; to combine by position: {second.removal_code}",
    )


def missing(tensor: str, axis: str, first: LabeledAxis, second: LabeledAxis) -> NotationError:
    """Return the error for an input that lacks labels on an axis along which other inputs are aligned."""
    opened, closed = ("[", "]") if all(map(is_label, second.labels.listed)) else (".sel(", ")")
    selected = f'{second.code}{opened}{{"{second.axis}": {first.code}.labels["{first.axis}"]}}{closed}'
    return NotationError(
        MISMATCH,
        f"{tensor} has no labels on axis {axis}, and {first.tensor} and {second.tensor} have them in different orders",
        notes=(first.few, second.few),
        hint=f"if {tensor} has the order of {first.tensor}, pass {second.tensor}={selected}",
    )


def quote_label(label: Any) -> str:
    """Format a label for a message. Strings get quotes, but dates do not."""
    import numpy as np

    if isinstance(label, (np.datetime64, np.timedelta64)):
        return text_of(label)
    return repr(label.item() if hasattr(label, "item") else label)


def name_in_python(tensor: str) -> str:
    """Return Python code for an input, given its name in a formula."""
    return tensor if tensor.isidentifier() else f'values["{tensor}"]'


def keyword(axis: str, value: str) -> str:
    """Return Python code that passes a value for an axis: a keyword argument if possible, or else a dict."""
    return f"{axis}={value}" if axis.isidentifier() else f'{{"{axis}": {value}}}'
