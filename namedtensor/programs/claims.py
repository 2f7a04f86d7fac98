"""Claims: what a formula says to be so is checked when it is evaluated (language.md §4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..terms.environment import source_name

if TYPE_CHECKING:
    from .executable import Executable

TOLERANCE = 1e-6


def judge(compiled: Executable, arrays: Sequence[Any]) -> None:
    """Raise where a claim of the formula does not hold for these values."""
    position = iter(range(len(arrays)))
    orders = [getattr(result, "order", None) for result in compiled.plan.results[compiled.count :]]
    for _, right, span in compiled.claims:
        first = next(position)
        if isinstance(right, tuple):
            _judge_member(compiled, arrays[first], right, span)
            continue
        second = next(position)
        _judge_equal(compiled, arrays[first], orders[first], arrays[second], orders[second], span)


def _concrete(array: Any) -> Any:
    """The values as a NumPy array; None where there are none yet, as while a backend traces."""
    import numpy as np

    try:
        if hasattr(array, "detach"):
            array = array.detach().cpu()
        return np.asarray(array)
    except Exception:
        return None


def _judge_equal(compiled: Executable, left: Any, left_order, right: Any, right_order, span) -> None:
    import numpy as np

    left, right = _concrete(left), _concrete(right)
    if left is None or right is None:
        return
    order = tuple(dict.fromkeys((*(left_order or ()), *(right_order or ()))))
    left, right = (_along(side, of or (), order) for side, of in ((left, left_order), (right, right_order)))
    left, right = np.broadcast_arrays(left, right)
    same = left == right  # of whole numbers too, whose differences may pass what they are held in
    left, right = (each.astype(float) if each.dtype.kind in "iub" else each for each in (left, right))
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(left), np.abs(right))
        finite = np.isfinite(scale)
        tolerance = TOLERANCE * np.max(scale[finite], initial=0.0) if np.any(finite) else 0.0
        wrong = ~(same | (np.abs(left - right) <= tolerance) | (np.isnan(left) & np.isnan(right)))
    if not np.any(wrong):
        return
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if left.ndim else ()
    where = ", ".join(f"{source_name(axis)}({i + 1})" for axis, i in zip(order, at))
    place = f" at {where}" if where else ""
    raise NotationError(
        403,
        f"this does not hold{place}: {_number(left[at])} on the left, {_number(right[at])} on the right",
        compiled.plan.source,
        span,
        hint="its operand is known here, so this is a claim; for a definition, name the operand as nothing else is"
        if span in compiled.checker.scope.calls
        else "one of the two sides is not what it should be",
    )


def _along(array: Any, own: Sequence[str], order: Sequence[str]) -> Any:
    """An array with its axes in this order, those that it lacks of size 1."""
    import numpy as np

    array = np.transpose(array, [own.index(axis) for axis in order if axis in own])
    return np.expand_dims(array, tuple(place for place, axis in enumerate(order) if axis not in own))


def _judge_member(compiled: Executable, array: Any, group: tuple, span) -> None:
    import numpy as np

    domain, values = group
    array = _concrete(array)
    if array is None:
        return
    if domain == "elements":
        wrong = ~np.isin(array, np.asarray(values))
        text = "{" + ", ".join(map(str, values)) + "}"
    elif domain == "interval":
        wrong = (array < values[0]) | (array > values[1])
        text = f"[{values[0]}, {values[1]}]"
    else:
        wrong = (array < 1) | (array > values[0]) | (array != np.floor(array))
        text = f"[{values[0]}], the whole numbers from 1 to {values[0]}"
    if np.any(wrong):
        value = array[tuple(np.argwhere(wrong)[0])] if array.ndim else array
        raise NotationError(
            407, f"{_number(value)} does not lie in {text}", compiled.plan.source, span,
            hint="give a value that lies in the declared set" + ("; indices count from 1" if domain == "count" else ""),
        )  # fmt: skip


def _number(value: Any) -> str:
    return f"{float(value):.6g}"
