"""The contents of a tensor file: an array, and its axes and labels if the file names them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .text import InputError


class Found(NamedTuple):
    """The contents of a file: an array, its axes if the file names them, and remarks for the user.

    If `table` is true and the array has one column, `first_axis_alone` can drop the second axis.
    """

    array: Any
    axes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    table: bool = False
    labels: tuple[Any, ...] = ()  # per axis, such as the rows and columns of a table; empty for an axis without labels
    dropped: tuple[str, ...] = ()  # columns of words that are left out


def choose(arrays: Collection[str], member: str | None, path: Path, kind: str = "array") -> str:
    """Return the requested member, or the only member if none is requested. Otherwise, raise InputError."""
    if member in arrays:
        return str(member)
    known = ", ".join(list(arrays)[:8]) + (", …" if len(arrays) > 8 else "")
    if member is not None:
        raise InputError(f"{path} has no {kind} {member}; it has {known or 'none'}")
    if len(arrays) != 1:
        raise InputError(f"{path} holds {len(arrays)} {kind}s ({known}); say which: {path.name}[NAME]:axes")
    return next(iter(arrays))


def first_axis_alone(contents: Found, axes: tuple[str, ...] | None) -> Any:
    """Return the array of a file, without its second axis if the file is a one-column table and `axes` is one name."""
    is_column = contents.table and axes is not None and len(axes) == 1 and contents.array.shape[1] == 1
    return contents.array[:, 0] if is_column else contents.array


def label_values(contents: Found, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the labels of each axis that has a label per element, except for axes with generated labels."""
    return {
        axis: labels
        for (axis, size), labels in zip(sizes.items(), contents.labels)
        if len(labels) == size and not is_counted(labels)
    }


def is_counted(labels: Any) -> bool:
    """Return whether all labels are generated titles that end with the position of the element, as in width(2)."""
    return all(str(label).endswith(f"({at})") for at, label in enumerate(getattr(labels, "values", labels), 1))
