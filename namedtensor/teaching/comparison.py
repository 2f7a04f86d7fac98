"""Two values compared: their axes, their sizes, and their numbers record by record.

The axes of what is given are fixed. A name that only one of the values has, and nothing that is given, is matched to one that
only the other has, in every way that the sizes allow.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.tensor import NamedTensor

RELATIVE = 1e-8  # 1e-6 would pass an ε of 1e-5 that is missing
ROUNDING = 1e-12  # of the largest number in sight: what is left where terms cancel
MOST_MATCHES = 720

Matching = Mapping[str, str]  # the other's new axes -> those that are due


@dataclass(frozen=True)
class Difference:
    """Where a value first differs from the one that is due; `record` counts from 1."""

    record: Mapping[str, int]
    found: Any
    due: Any
    places: int
    of: int


def matchings(found: NamedTensor, due: NamedTensor, fixed: Iterable[str]) -> Iterator[Matching]:
    """The ways to read the new axes of `found` as those of `due`; the first keeps all names that both have."""
    own = [axis for axis in found.axes if axis not in due.axes]
    missing = [axis for axis in due.axes if axis not in found.axes]
    if len(own) != len(missing) or set(fixed) & {*own, *missing}:
        return
    for order in itertools.islice(itertools.permutations(missing), MOST_MATCHES):
        if all(found.sizes[axis] == due.sizes[other] for axis, other in zip(own, order)):
            yield dict(zip(own, order))


def laid_out(found: NamedTensor, due: NamedTensor, matching: Matching) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays in one order of axes, that of `due`."""
    back = {other: axis for axis, other in matching.items()}
    order = [back.get(axis, axis) for axis in due.axes]
    return array_of(found, order), array_of(due, due.axes)


def array_of(value: NamedTensor, axes: Iterable[str]) -> np.ndarray:
    axes = list(axes)
    return np.asarray(value.to_array(tuple(axes)) if axes else value.array)


def agree(found: np.ndarray, due: np.ndarray, scale: float) -> np.ndarray:
    """Where two arrays hold the same numbers; what is undefined in both is the same."""
    with np.errstate(all="ignore"):
        close = np.abs(found.astype(float) - due.astype(float)) <= RELATIVE * np.abs(due) + ROUNDING * scale
    return close | (found == due) | (np.isnan(found.astype(float)) & np.isnan(due.astype(float)))


def difference(found: NamedTensor, due: NamedTensor, matching: Matching, scale: float) -> Difference | None:
    """The record where they differ most, or None where they do not; the sizes are the same."""
    left, right = laid_out(found, due, matching)
    wrong = ~agree(left, right, scale)
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        size = np.where(wrong, np.nan_to_num(np.abs(left.astype(float) - right.astype(float)), nan=np.inf), -1.0)
    place = np.unravel_index(int(np.argmax(size)), size.shape) if size.ndim else ()
    record = {axis: int(index) + 1 for axis, index in zip(due.axes, place)}
    return Difference(record, left[place].item(), right[place].item(), int(wrong.sum()), wrong.size)


def largest(values: Iterable[NamedTensor]) -> float:
    """The largest finite number of some tensors; 1 where there is none."""
    arrays = (np.asarray(value.array, dtype=float) for value in values)
    return max((float(np.abs(each[np.isfinite(each)]).max(initial=0)) for each in arrays), default=1.0) or 1.0
