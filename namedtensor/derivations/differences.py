"""Compute finite differences (f(X + h) − f(X − h)) / 2h, element by element, to check closed forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.printer import to_text

from ..core.tensor import NamedTensor, tensor
from ..programs.plain_values import PlainTensor, value_of
from ..programs.program import Formula
from ..scope.binder import bind
from ..scope.names import key

DIFFERENCE_STEP = 1e-5
MAX_ELEMENTS = 4096  # The maximum number of elements, because they are changed one by one.


def differences(formula: Any, values: Mapping[str, Any], sizes: Mapping[str, int] | None = None) -> NamedTensor:
    """Approximate the derivative in a formula's value by finite differences at the given inputs.

    Raise NotationError if the value is not a derivative with respect to an input, or if this input has too many
    elements.

    >>> import namedtensor as nt
    >>> float(differences(nt.derivative("x^3", "x"), {"x": 2.0}))  # doctest: +ELLIPSIS
    12.00000...
    """
    *before, last = formula.tree.statements
    taken = last.body if isinstance(last, nodes.Value) else None
    if not isinstance(taken, nodes.Derivative):
        hint = "take that of a value, as f(x) of a function f"
        raise NotationError(112, "the value is not a derivative", formula.source, hint=hint)
    expected = key(to_text(taken.variable))
    name = next((value for value in values if key(value) == expected), None)
    if name is None:
        raise NotationError(
            206, f"no value for {expected}: finite differences are taken with respect to it", formula.source
        )
    point = value_of(tensor(values[name]))
    stated = {claim.span for claim in bind(formula.source, formula.tree, {key(name): frozenset(point.axes)}).claims}
    before = [line for line in before if line.span not in stated]  # The change of a single element breaks symmetry.
    body = Formula(to_text(nodes.Program((*before, nodes.Value(taken.body)))))
    count = len(point.numbers)
    if count > MAX_ELEMENTS:
        raise NotationError(
            404, f"{name} has {count} elements; finite differences support at most {MAX_ELEMENTS}", formula.source
        )

    def near(position: int, change: float) -> PlainTensor:
        numbers = list(point.numbers)
        numbers[position] += change
        moved = replace(point, numbers=tuple(numbers)).to_operand()
        return value_of(body(values={**values, name: moved}, sizes=sizes))

    slopes: list[float] = []
    for position in range(count):
        above, below = near(position, DIFFERENCE_STEP), near(position, -DIFFERENCE_STEP)
        slopes += [(one - other) / (2 * DIFFERENCE_STEP) for one, other in zip(above.numbers, below.numbers)]
    marked = tuple(axis + taken.mark for axis in point.axes)
    return PlainTensor((*marked, *above.axes), (*point.extent, *above.extent), tuple(slopes)).to_tensor()


def distance(one: NamedTensor, other: NamedTensor) -> float:
    """Return the largest difference between the elements of two tensors with the same shape.

    If an absolute value in either tensor exceeds 1, divide the difference by the largest absolute value.
    """
    axes = tuple(one.axes)
    left, right = ([float(number) for number in of.to_numpy(axes).ravel()] for of in (one, other))
    scale = max((1.0, *map(abs, left), *map(abs, right)))
    return max((abs(a - b) for a, b in zip(left, right)), default=0.0) / scale
