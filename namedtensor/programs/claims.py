"""Checks of a program's assertions against the computed values.

An equation is checked within a tolerance, and a membership in a set is checked exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from grammar.errors import NO_VALUE, NotationError

from ..core.arrays import dtype_name, kind_of
from ..terms.environment import source_name
from .closeness import compare

ASSERTED_ROUNDINGS = 32  # units of rounding that an assertion may be off by
TOLERANCE = 1e-6  # relative to the largest number on either side
FEW = 256  # the most elements for which Python compares the elements one by one
OF_CALL = "this equation is checked, not defined, because its operand already has a value; to define it, use a new name"
SIDES = "evaluate each side alone to see which is wrong"
STEP = "correct this step, the first that does not hold"
Scales = Callable[[int], Sequence[tuple[Any, Any]]]  # of an assertion: the magnitudes of both sides, and their axes


class PlannedClaim(NamedTuple):
    """An assertion whose values are planned: two values are equal, or a value lies in a set."""

    is_equation: bool
    right: Any  # for membership: the kind of set, and its contents
    span: tuple[int, int]
    is_call: bool  # whether it may have been meant as a definition of a function
    is_fact: bool = False  # whether it is a comparison
    step: tuple[int, int] | None = None  # the span of the side compared with the first, if there are several such sides
    by_element: bool = False  # whether elements are compared as in random tests of equality


def judge(
    claims: Sequence[PlannedClaim],
    arrays: Sequence[Any],
    orders: Sequence[Any],
    source: str,
    scales: Scales | None = None,
) -> None:
    """Raise NotationError if an assertion does not hold for these values. `scales` is called only if sides differ."""
    position = iter(range(len(arrays)))
    for index, claim in enumerate(claims):
        first = next(position)
        if claim.is_equation:
            second = next(position)
            sides = (arrays[first], orders[first]), (arrays[second], orders[second])
            _judge_equal(claim, *sides, source, None if scales is None else partial(scales, index))
        else:
            _judge_member(claim, arrays[first], source)


def _concrete(array: Any) -> Any:
    """Return an array as a NumPy array, or None if a library is tracing the array."""
    from ..core.array_data import concrete

    try:
        return concrete(array)
    except Exception:
        return None


def _rounding_unit(array: Any) -> float:
    """Return the distance from 1 to the next larger number in the dtype of an array, or 0 if it has no floats."""
    import numpy as np

    name = dtype_name(array.dtype) if hasattr(array, "dtype") else type(array).__name__
    if kind_of(name) not in "fc":
        return 0.0
    return 2.0**-7 if name == "bfloat16" else float(np.finfo(name).eps)  # NumPy does not know bfloat16


def _judge_equal(claim: PlannedClaim, one: Any, other: Any, source: str, scales: Any = None) -> None:
    """Raise NotationError if two sides differ by more than the tolerance and the rounding error of their magnitudes."""
    import numpy as np

    order = tuple(dict.fromkeys((*(one[1] or ()), *(other[1] or ()))))
    sides = _align_sides((one, other), order)
    if sides is None:
        return
    left, right = sides
    unit = max(map(_rounding_unit, (one[0], other[0])))
    magnitude = None if scales is None or claim.is_fact else partial(_magnitude, scales, order, left.shape)
    wrong = (_find_unequal_elements if claim.by_element else _find_unequal)(left, right, unit, magnitude)
    if not np.any(wrong):
        if claim.by_element and left.size and not np.any(np.isfinite(left) & np.isfinite(right)):
            raise NotationError(405, "both sides are NaN or infinite", source, claim.span, reason=NO_VALUE)
        return
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if left.ndim else ()
    where = ", ".join(f"{source_name(axis)}({i + 1})" for axis, i in zip(order, at))
    text = f" at {where}" if where else ""
    if claim.is_fact:
        raise NotationError(
            403,
            f"assertion failed{text}",
            source,
            claim.span,
            hint="for the values 0 and 1 of a condition write 𝕀[x > 0]",
        )
    pair = float(left[at]), float(right[at])
    reason = None if np.all(np.isfinite(pair)) else NO_VALUE
    first, second = map(_number, pair)
    if claim.step is not None:
        message = f"assertion failed{text}: this side is {second}, the first side {first}"
        raise NotationError(403, message, source, claim.step, hint=STEP, reason=reason)
    message = f"assertion failed{text}: left-hand side {first}, right-hand side {second}"
    raise NotationError(403, message, source, claim.span, hint=OF_CALL if claim.is_call else SIDES, reason=reason)


def _find_unequal(left: Any, right: Any, unit: float, magnitude: Callable[[], Any] | None) -> Any:
    """Return a mask of the elements that differ by more than the tolerance and the rounding error of their magnitudes.

    The tolerance is relative to the largest finite absolute value on either side.
    """
    import numpy as np

    same = left == right  # before the conversion to float, and because ∞ − ∞ is NaN
    left, right = (array.astype(float) if array.dtype.kind in "iub" else array for array in (left, right))
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(left), np.abs(right))
        largest = np.max(scale[np.isfinite(scale)], initial=0.0)
        apart = np.abs(left - right)
        wrong = ~(same | (apart <= TOLERANCE * largest) | (np.isnan(left) & np.isnan(right)))
        if magnitude is not None and np.any(wrong) and np.all(np.isfinite(scale[wrong])):
            of = magnitude()
            of = np.where(unit * of**1.5 <= 1, of, 0)  # Larger bounds are useless.
            wrong &= ~(apart <= ASSERTED_ROUNDINGS * unit * of)
    return wrong


def _find_unequal_elements(left: Any, right: Any, unit: float, magnitude: Callable[[], Any] | None) -> Any:
    """Return a mask of elements that are undefined on only one side or, if none are, of elements that differ."""
    import numpy as np

    def magnitudes() -> Any:
        return [0.0] * left.size if magnitude is None else magnitude().ravel().tolist()

    elements = compare(left.ravel().tolist(), right.ravel().tolist(), magnitudes, unit=unit)
    wrong = np.zeros(left.size, bool)
    wrong[elements.one_sided or elements.wrong] = True  # an operator such as sort moves undefined elements
    return wrong.reshape(left.shape)


def _align_sides(sides: Sequence[tuple[Any, Any]], order: tuple[str, ...]) -> list[Any] | None:
    """Return the sides as arrays broadcast to the same axes, or None if a library is tracing the call."""
    import numpy as np

    arrays = [_concrete(array) for array, _ in sides]
    if any(array is None for array in arrays):
        return None
    return [*np.broadcast_arrays(*(align_array(array, of or (), order) for array, (_, of) in zip(arrays, sides)))]


def _magnitude(scales: Any, order: tuple[str, ...], shape: tuple[int, ...]) -> Any:
    """Return the elementwise sum of the magnitudes of both sides, or 0 if the magnitudes are unknown."""
    import numpy as np

    try:
        sides = _align_sides(scales(), order)
    except NotationError:
        sides = None
    return np.zeros(shape) if not sides else sum(np.nan_to_num(side, nan=0.0, posinf=0.0) for side in sides)


def align_array(array: Any, axes: Sequence[str], order: Sequence[str]) -> Any:
    """Return an array with its axes in this order, and with size 1 for missing axes."""
    import numpy as np

    array = np.transpose(array, [axes.index(axis) for axis in order if axis in axes])
    return np.expand_dims(array, tuple(index for index, axis in enumerate(order) if axis not in axes))


# Named sets: a description, whether the numbers are integers, and the lower bound.
BOUNDED: dict[str, tuple[str, bool, Any]] = {
    "integers": ("ℤ, the integers", True, -float("inf")),
    "naturals": ("ℕ, the non-negative integers", True, 0),
    "positive": ("ℝ_{>0}, the numbers above 0", False, "positive"),
    "nonnegative": ("ℝ_{≥0}, the numbers from 0", False, 0),
}


def _judge_member(claim: PlannedClaim, array: Any, source: str) -> None:
    import numpy as np

    domain, values = claim.right
    array = _concrete(array)
    if array is None:
        return
    if domain == "elements":
        if array.size <= FEW and set(array.ravel().tolist()).issubset(values):  # faster than the operations below
            return
        wrong = reduce(np.logical_and, (array != value for value in values))
        text = "{" + ", ".join(map(str, values)) + "}"
    elif domain == "interval":
        wrong = (array < values[0]) | (array > values[1])
        text = f"[{values[0]}, {values[1]}]"
    elif domain in BOUNDED:
        text, whole, least = BOUNDED[domain]
        wrong = np.isnan(array) | (array <= 0 if least == "positive" else array < least)
        wrong = wrong | (array != np.floor(array)) if whole else wrong
    else:
        wrong = (array < 1) | (array > values[0]) | (array != np.floor(array))
        text = f"[{values[0]}], the integers from 1 to {values[0]}"
    if np.any(wrong):
        value = array[tuple(np.argwhere(wrong)[0])] if array.ndim else array
        raise NotationError(
            407, f"value {_number(value)} is not in {text}", source, claim.span,
            hint="pass a value in the declared set" + ("; indices start at 1" if domain == "count" else ""),
        )  # fmt: skip


def _number(value: Any) -> str:
    return f"{float(value):.6g}"
