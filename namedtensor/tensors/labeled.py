"""Operations on labeled tensors, indexing by label, and changes of labels.

An operation first aligns its operands by their labels, like a call of a formula. It then runs on the tensors without
labels. The module `operators/labels.py` determines the labels of the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from grammar.errors import NotationError

from ..core.array_data import concrete
from ..core.kinds import require_mapping
from ..core.label_alignment import LabelAlignment, LabeledAxis, take
from ..core.labels import (
    AxisLabels,
    Labels,
    is_label,
    is_small,
    labels_of,
    make_labeled_layout,
    no_labels,
    plain_layout,
)
from ..core.tensor import NamedTensor, wrap_layout
from ..operators.labels import group_axes, result_labels
from ..operators.record import Operator
from . import eager, reshaping
from .elements import alone
from .periods import is_partial, need_single, select_between_dates, select_period
from .reshaping import need_axes


def drop_labels(value: Any) -> Any:
    """Return a tensor without its labels. Return any other value unchanged."""
    return wrap_layout(value._array, plain_layout(value.layout)) if type(value) is NamedTensor else value


def label_tensor(tensor: Any, labels: AxisLabels) -> Any:
    """Return a tensor with its labels replaced by these labels."""
    return wrap_layout(tensor._array, make_labeled_layout(tensor.layout, labels))


def align(operands: tuple[Any, ...], combined: Iterable[str], others: Iterable[str] = ()) -> tuple[Any, ...]:
    """Return the operands, aligned by their labels. For each axis, the first operand with labels determines the order.

    Return the tuple `operands` itself if it is aligned already.

    Raises NotationError if the labels of operands differ along `combined` axes. They may differ along `others`.
    """
    combined = [*combined]
    tensors = {letter(at): operand for at, operand in enumerate(operands) if type(operand) is NamedTensor}
    axes = [
        LabeledAxis(name, axis, labels)
        for name, operand in tensors.items()
        for axis, labels in labels_of(operand.layout).items()
        if axis in combined or axis in others
    ]
    alignment = LabelAlignment(axes)
    for axis in combined:
        along = [labeled_axis for labeled_axis in axes if labeled_axis.axis == axis]
        for other in along[1:]:
            alignment.join(along[0], other)
    moves = alignment.moves({name: [*{*combined, *others} & {*tensor.axes}] for name, tensor in tensors.items()})
    if not moves:
        return operands
    return tuple([move_elements(operand, moves.get(letter(at), {})) for at, operand in enumerate(operands)])


def letter(position: int) -> str:
    """Return the letter for an operand in messages, such as A for the first operand."""
    return chr(ord("A") + position) if position < 26 else f"X{position + 1}"


def move_elements(tensor: Any, positions: Mapping[str, Any]) -> Any:
    """Return a tensor of the elements at the given positions along each axis in `positions`, with their labels."""
    if not positions:
        return tensor
    labels = labels_of(tensor.layout)
    labels |= {axis: labels[axis].part(at) for axis, at in positions.items()}
    array = take(tensor._array, tensor.axes, positions)
    return wrap_layout(array, make_labeled_layout(tensor.layout, labels))


def run(
    record: Operator, arguments: tuple[Any, ...], axes: tuple[str, ...], options: Mapping[str, Any], key: Any
) -> Any:
    """Call an operator with at least one labeled operand.

    Cache the prepared call under `key` if the operands are already aligned and do not have many labels.
    """
    given = arguments
    shapes = [getattr(argument, "sizes", {}) for argument in given]
    arguments = align(given, [axis for axis, _ in group_axes(record, shapes, axes)])
    operands = tuple(map(drop_labels, arguments))
    result = eager.call(record, operands, axes, options)
    layouts = [getattr(value, "layout", None) for value in arguments]
    layout = make_labeled_layout(result.layout, result_labels(record, [labels_of(item) for item in layouts], axes))
    kinds = tuple([item.layout if type(item) is NamedTensor else type(item) for item in operands])
    prepared = eager.calls_of_operator(record.name)
    plain = prepared.get(kinds if not axes and not options else (axes, eager.frozen(options), kinds))
    if plain is not None and is_small(layouts) and arguments is given:
        prepared.store(key, (plain[0], layout))
    return wrap_layout(result._array, layout)


def rename_tensor(tensor: Any, names: Mapping[str, str]) -> Any:
    """Rename axes of a labeled tensor. A renamed axis keeps its labels."""
    result = reshaping.rename(drop_labels(tensor), names)
    return label_tensor(result, {names.get(axis, axis): labels for axis, labels in labels_of(tensor.layout).items()})


def merge_or_split(name: str, tensor: Any, lower: Any, old: Any, new: Any) -> Any:
    """Merge or split axes of a labeled tensor. The new axes do not have labels."""
    result = eager.run_specialized(name, drop_labels(tensor), lower, old, new)
    new_axes = {new} if isinstance(new, str) else {axis for axis, _ in new}
    labels = labels_of(tensor.layout)
    return label_tensor(
        result, {axis: item for axis, item in labels.items() if axis in result.axes and axis not in new_axes}
    )


# ----------------------------------------------------------------------------------------- addition and removal of labels
@alone
def with_labels(
    self: NamedTensor, labels: Mapping[str, Any] | None = None, /, **named: Iterable[Any] | None
) -> NamedTensor:
    """Label the elements along axes, for display and for indexing by label.

    Parameters
    ----------
    labels : mapping of str to (iterable or None), optional
        Labels per axis, for axis names that are not Python identifiers. Labels are strings, numbers or dates. None
        removes the labels of an axis.
    **named : iterable or None
        Labels per axis.

    Returns
    -------
    NamedTensor
        A tensor with the same elements. Other axes keep their labels.

    Raises
    ------
    NotationError
        If an axis is missing (301), or its size differs from the number of labels (302).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([3, 1], "city").with_labels(city=["Oslo", "Bergen"])
    >>> print(A)
    city │ Oslo  Bergen
    ─────┼─────────────
         │    3       1
    >>> A[{"city": "Bergen"}]
    NamedTensor(1)
    """
    hint = 'write with_labels(city=["Oslo", "Bergen"])'
    given = {**require_mapping(labels, "the argument of with_labels", hint), **named}
    need_axes(self.layout, given, "with_labels")
    result = labels_of(self.layout)
    for axis, values in given.items():
        result.pop(axis, None)
        if values is not None:
            result[axis] = fitting(values, axis, self.layout.sizes[axis])
    return label_tensor(self, result)


def fitting(values: Any, axis: str, size: int) -> Labels:
    """Return values as labels of an axis. Raise NotationError if their number is not the size of the axis."""
    if isinstance(values, NamedTensor):
        values = concrete(values.to_array())
    labels = values if isinstance(values, Labels) else Labels(values)
    if len(labels) != size:
        raise NotationError(
            302, f"axis {axis} has size {size}, but {len(labels)} label{'s' * (len(labels) != 1)} were given",
            hint="give one label per element",
        )  # fmt: skip
    return labels


# ------------------------------------------------------------------------------------------------------------- indexing
def position(tensor: Any, axis: str, label: Any) -> int:
    """Return the position of a label along an axis. Raise NotationError if the axis does not have the label."""
    labels = labels_of(tensor.layout).get(axis)
    if labels is None:
        raise no_labels(axis, label)
    return labels.position(label, axis)


def resolve_labels(tensor: Any, axis: str, selection: Any, by_label: bool = False) -> Any:
    """Return an index with its labels replaced by positions. If `by_label` is true, integers are labels, too.

    A slice of labels includes its end. A partial date selects all labels in its period.
    """
    if isinstance(selection, NamedTensor):
        return selection
    labels = labels_of(tensor.layout).get(axis)
    if labels is not None and is_partial(labels, selection):
        return select_period(labels, selection, axis)
    if isinstance(selection, slice):
        ends = (selection.start, selection.stop)
        if not by_label and not any(map(is_label, ends)):
            return selection
        if labels is not None and (dates := select_between_dates(labels, *ends, axis)) is not None:
            return slice(dates.start, dates.stop, selection.step)
        first, last = (None if end is None else position(tensor, axis, end) for end in ends)
        return slice(first, None if last is None else last + 1, selection.step)
    if isinstance(selection, (list, tuple)) or (isinstance(selection, np.ndarray) and selection.ndim == 1):
        entries = reshaping.list_entries(axis, tensor.layout.sizes[axis], selection)
        if labels is not None:
            need_single(labels, entries, axis)
        return [resolve_labels(tensor, axis, entry, by_label) for entry in entries]
    return position(tensor, axis, selection) if by_label or is_label(selection) else selection


def labels_after(tensor: Any, index: Mapping[str, Any]) -> dict[str, Labels]:
    """Return the labels of the result of indexing, which come from the tensor and from index tensors."""
    result = labels_of(tensor.layout)
    for axis, selection in index.items():
        labels = result.pop(axis, None)
        if labels is not None and isinstance(selection, (slice, list)):
            result[axis] = labels.part(selection)
        elif isinstance(selection, NamedTensor):
            result = {**labels_of(selection.layout), **result}
    return result


def select_at_index(tensor: Any, index: Mapping[str, Any]) -> Any:
    """Return the elements that an index selects from a tensor. Here, the tensor or an index tensor is labeled."""
    places = {axis: resolve_labels(tensor, axis, selection) for axis, selection in index.items()}
    tensors = {axis: selection for axis, selection in places.items() if isinstance(selection, NamedTensor)}
    if tensors:  # the tensor comes first, so `align` moves only the index tensors
        rest = {axis: labels for axis, labels in labels_of(tensor.layout).items() if axis not in places}
        shared = dict.fromkeys(axis for selection in tensors.values() for axis in selection.axes)
        _, *selections = align((label_tensor(tensor, rest), *tensors.values()), shared)
        places |= zip(tensors, selections)
    result = reshaping.index_elements(
        drop_labels(tensor), {axis: drop_labels(selection) for axis, selection in places.items()}
    )
    return label_tensor(result, labels_after(tensor, places))


@alone
def sel(self: NamedTensor, index: Mapping[str, Any] | None = None, /, **named: Any) -> NamedTensor:
    """Select elements by label. As in xarray's `sel`, integers are labels, not positions.

    Parameters
    ----------
    index : mapping of str to label, list of labels or slice, optional
        The labels to select per axis, for axis names that are not Python identifiers.
    **named : label, list of labels or slice
        The labels to select per axis. A single label removes the axis. A slice includes both ends. If the labels are
        dates, a partial date such as "2024-03" selects its whole period, and a slice extends to the end of the period.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If an axis is missing (301), or does not have the label (401).

    Examples
    --------
    >>> import namedtensor as nt
    >>> A = nt.tensor([3, 1, 4], "year").with_labels(year=[2019, 2020, 2021])
    >>> A.sel(year=2020)
    NamedTensor(1)
    >>> A.sel(year=slice(2020, None)).labels
    {'year': [2020, 2021]}
    """
    given = {**require_mapping(index, "the argument of sel", 'write sel(city="Oslo")'), **named}
    need_axes(self.layout, given, "sel")
    return select_at_index(
        self, {axis: resolve_labels(self, axis, selection, True) for axis, selection in given.items()}
    )
