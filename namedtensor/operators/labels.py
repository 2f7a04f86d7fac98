"""Which labels the result of an operator has.

1. Labels stay on an axis that the operator is lifted over, and on one along which it gives a number for each element, in order.
2. Where two operands label an axis differently, the result has no labels there.
3. ⊕ joins the labels of the axis that it joins, where all operands have some.

A reduction has no such axis any more, and sorting moves what was labeled: neither keeps the labels of its axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ..core.axes import Order, ShapeMismatch, bind
from ..core.labels import AxisLabels, Labels, agreed
from .record import Operator


def result_labels(record: Operator, labels: Sequence[AxisLabels], axes: Order) -> dict[str, Labels]:
    """The labels of a result, from those of each operand; a size that does not fit them is for the caller to see."""
    if not axes:
        return agreed(labels)
    try:
        bound = bind(record.lifted_over(len(labels)), axes)
    except ShapeMismatch:  # which the caller reports
        return {}
    if record.kind == "axis_map" and not record.moves:
        return agreed(labels)
    inputs = record.lifted_over(len(labels)).inputs
    lifted = agreed(
        {
            axis: axis_labels
            for axis, axis_labels in operand_labels.items()
            if not any(axis in bound[formal] for formal in formals)
        }
        for operand_labels, formals in zip(labels, inputs)
    )
    outputs = {axis for formal in record.lifted.output for axis in bound[formal]}
    result = {axis: axis_labels for axis, axis_labels in lifted.items() if axis not in outputs}
    return result | joined_labels(labels, axes[0]) if record.name == "⊕" else result


def joined_labels(labels: Sequence[AxisLabels], axis: str) -> dict[str, Labels]:
    """The labels of an axis along which operands are joined."""
    if not all(axis in operand_labels for operand_labels in labels):
        return {}
    return {axis: Labels([*chain.from_iterable(operand_labels[axis].values for operand_labels in labels)])}
