"""Partial dates as indices. If labels are days, `"2024-03"` selects the whole month, as in pandas and xarray."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from grammar.errors import NotationError

from ..core.labels import Labels, format_label, unknown_label

DATE = re.compile(r"-?\d{4,}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d+)?)?)?)?)?)?")
UNITS = ("Y", "M", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")


def dates_of(labels: Labels) -> Any:
    """Return the labels as an array of `datetime64`, or None if they are not dates without time zones."""
    values = labels.values
    if values.dtype.kind == "M":
        return values
    kinds = {type(label) for label in values} if values.dtype == object else set[type]()
    if kinds == {datetime.date}:
        return values.astype("M8[D]")
    has_times = kinds == {datetime.datetime} and all(label.tzinfo is None for label in values)
    return values.astype("M8[us]") if has_times else None


def unit_of(dates: Any) -> int:
    """Return the position in `UNITS` of the dates' unit, or of a coarser unit in which all dates are exact.

    If the dates' unit is finer than a day, the coarsest possible result is a day.
    """
    unit = np.datetime_data(dates.dtype)[0]
    if unit not in UNITS[3:]:
        return UNITS.index(unit) if unit in UNITS else UNITS.index("D")
    exact = (at for at in range(2, len(UNITS)) if (dates.astype(f"M8[{UNITS[at]}]") == dates).all())
    return next(exact, UNITS.index(unit))


def period(labels: Labels, label: Any) -> tuple[Any, Any] | None:
    """Return the first date of the period that `label` represents, and the first date after this period.

    Return None if the labels are not dates or `label` is not a date.
    """
    if not isinstance(label, str) or not DATE.fullmatch(label) or dates_of(labels) is None:
        return None
    try:
        start = np.datetime64(label)
    except ValueError:  # such as month 13
        return None
    return start, start + 1


def is_partial(labels: Labels, label: Any) -> bool:
    """Return whether `label` is a date with a coarser unit than the labels, so it denotes a period."""
    matches = period(labels, label)
    return matches is not None and UNITS.index(np.datetime_data(matches[0].dtype)[0]) < unit_of(dates_of(labels))


def need_single(labels: Labels, entries: Iterable[Any], axis: str) -> None:
    """Raise NotationError if an entry of a list index is a partial date, which stands for several labels."""
    partial = next((entry for entry in entries if is_partial(labels, entry)), None)
    if partial is not None:
        raise NotationError(
            401,
            f"{format_label(partial)} is a period, but a list contains single labels of axis {axis}",
            hint=f"select it alone: A.sel({axis}={format_label(partial)}), or write each of its dates",
        )


def select_period(labels: Labels, label: str, axis: str) -> list[int]:
    """Return the positions of the labels in the period of a partial date.

    Raise NotationError if no label is in this period.
    """
    start, end = period(labels, label) or (None, None)
    dates = dates_of(labels)
    positions = np.flatnonzero((dates >= start) & (dates < end)).tolist()
    if not positions:
        raise unknown_label(label, axis, labels)
    return positions


def select_between_dates(labels: Labels, first: Any, last: Any, axis: str) -> slice | None:
    """Return the slice of labels from the start of the first date's period to the end of the last date's period.

    Return None if `first` or `last` is neither a date nor None. If both are None, return the slice of all labels.

    Raises NotationError if the labels are not sorted.
    """
    starts, ends = (None if end is None else period(labels, end) for end in (first, last))
    if (first is not None and starts is None) or (last is not None and ends is None):
        return None
    if starts is None and ends is None:  # The labels may not be dates.
        return slice(0, len(labels.values))
    values = dates_of(labels)
    if np.isnat(values).any() or (values[1:] < values[:-1]).any():
        raise NotationError(
            401,
            f"axis {axis} has dates that are not in order, and cannot be sliced by {format_label(last if first is None else first)}",
            hint=f"sort it first: A[{{{axis!r}: sorted(A.labels[{axis!r}])}}]",
        )
    begin = 0 if starts is None else int(np.searchsorted(values, starts[0]))
    stop = len(values) if ends is None else int(np.searchsorted(values, ends[1]))
    return slice(begin, max(begin, stop))
