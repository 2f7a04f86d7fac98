"""Infer the labels of an operator's result, and find the axes along which the operator combines its operands.

1. An axis keeps its labels if the operator is lifted over the axis or returns one number per element, in order.
2. If several operands have an axis, they are combined along this axis, unless the operator joins or indexes it. The
   labels of the operands must then agree; `core/label_alignment.py` compares the labels.
3. ⊕ concatenates the labels of the joined axis if all operands have labels along it.

Other operators drop the labels of their axes. For example, a reduction removes its axes, and sorting moves the labeled
elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from ..core.axes import Order, ShapeMismatchError, bind
from ..core.labels import AxisLabels, Labels, find_common_labels
from .record import Operator

Value = TypeVar("Value")  # The value of an axis: its labels, or its input.
ByAxis = Mapping[str, Value]


def result_labels(record: Operator, labels: Sequence[AxisLabels], axes: Order) -> dict[str, Labels]:
    """Return the labels of a result, given the labels of the operands.

    The caller checks the number of labels per axis.
    """
    result = select_values(record, labels, axes, find_common_labels)
    return result | concatenate_labels(labels, axes[0]) if record.name == "⊕" and axes else result


def select_values(
    record: Operator,
    values: Sequence[ByAxis[Value]],
    axes: Order,
    agree: Callable[[Sequence[ByAxis[Value]]], dict[str, Value]],
) -> dict[str, Value]:
    """Return a value for each axis of a result.

    `agree` combines the values of an axis that several operands have.
    """
    if not axes:
        return agree(values)
    try:
        bound = bind(record.lifted_over(len(values)), axes)
    except ShapeMismatchError:  # The caller reports this mismatch.
        return {}
    if record.kind == "axis_map" and not record.moves:
        return agree(values)
    inputs = record.lifted_over(len(values)).inputs
    lifted = agree(
        [
            {axis: value for axis, value in operand.items() if not any(axis in bound[formal] for formal in formals)}
            for operand, formals in zip(values, inputs)
        ]
    )
    outputs = {axis for formal in record.lifted.output for axis in bound[formal]}
    return {axis: value for axis, value in lifted.items() if axis not in outputs}


def group_axes(record: Operator, values: Sequence[ByAxis[Value]], axes: Order) -> Iterator[tuple[str, list[Value]]]:
    """Yield each axis along which an operator combines operands, with the operands' values for this axis."""
    formals: list[dict[str, str]] = [{} for _ in values]
    if axes:
        try:
            signature = record.lifted_over(len(values))
            bound = bind(signature, axes)
        except ShapeMismatchError:
            return
        formals = [{axis: formal for formal in names for axis in bound[formal]} for names in signature.inputs]
    groups: dict[tuple[str, str], list[Value]] = {}
    for operand, names in zip(values, formals):
        for axis, value in operand.items():
            groups.setdefault((axis, names.get(axis, "")), []).append(value)
    for (axis, formal), members in groups.items():
        if len(members) > 1 and not (formal and record.kind == "structure"):
            yield axis, members


def concatenate_labels(labels: Sequence[AxisLabels], axis: str) -> dict[str, Labels]:
    """Concatenate the operands' labels of an axis. Return no labels if an operand has none."""
    if not all(axis in operand_labels for operand_labels in labels):
        return {}
    return {axis: Labels([*chain.from_iterable(operand_labels[axis].values for operand_labels in labels)])}
