"""Labels name the elements along an axis, such as the cities of a table. They are part of a tensor's layout.

    A.layout                          the axes, sizes and dtype; `labels` is ()
    A.with_labels(city=[…]).layout    a `LabeledLayout`, which also has the labels of some axes

A tensor without labels has a plain `Layout`, so operations on it do not handle labels. Operations on labeled tensors
are specialized to their layouts, like all operations. The layout of the result has the remaining labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from grammar.cache import Cache, cached_property
from grammar.errors import NotationError

from .arrays import Layout

MAX_LAYOUTS = 1024  # The maximum number of interned layouts with labels.
MAX_LABEL_BYTES = 32 * 2**20  # The limit for all of their labels together.
MAX_CACHED_LABELS = 4096  # Per call. Call caches do not store layouts with more labels.
BYTES_PER_LABEL = 100  # The approximate size of a string in a list and a dictionary.


class Labels:
    """The labels of one axis, in element order. Two instances are equal if their dtypes and labels are equal.

    Parameters
    ----------
    values : iterable
        One string, number or date per element.
    """

    def __init__(self, values: Iterable[Any]):
        self.values: Any = to_labels(values)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self.values.tolist()) if self.values.dtype == object else self.values.tobytes())

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Labels) or len(self) != len(other) or hash(self) != hash(other):
            return False
        import numpy as np

        # NumPy considers the number 1 and a span of one day equal.
        return self.values.dtype == other.values.dtype and bool(np.array_equal(self.values, other.values))

    def __repr__(self) -> str:
        return f"Labels({self.values.tolist()!r})"

    @property
    def nbytes(self) -> int:
        """The approximate memory use of the labels, in bytes."""
        return BYTES_PER_LABEL * len(self)

    @property
    def listed(self) -> list[Any]:
        """The labels as a list. Dates are NumPy dates."""
        return [*self.values] if self.values.dtype.kind in "mM" else self.values.tolist()

    def text(self, position: int) -> str:
        """Return the text of the label at a position, for tables."""
        return text_of(self.values[position])

    def part(self, at: Any) -> Labels:
        """Return the labels at a slice or at a list of positions."""
        return Labels(self.values[at])

    @cached_property
    def positions(self) -> dict[Any, list[int]]:
        """Return a map from each label to its positions."""
        return positions_of(self.values.tolist())

    @cached_property
    def texts(self) -> dict[str, list[int]]:
        """Return a map from the text of each label to its positions."""
        return positions_of(map(self.text, range(len(self))))

    def equals(self, other: Labels) -> bool:
        """Return whether both axes have the same labels in the same order, possibly with different dtypes."""
        return self == other or (len(self) == len(other) and self.keys == other.keys)

    @cached_property
    def keys(self) -> list[Any]:
        """Return one key per label. Equal labels have equal keys, even if their dtypes differ."""
        if self.values.dtype.kind in "mM":
            return date_keys(self.values)
        listed: list[Any] = self.values.tolist()
        return listed if {*map(type, listed)} <= {str, int} else [*map(key_of, listed)]

    def position(self, label: Any, axis: str) -> int:
        """Return the position of a label, or of a label with the given text.

        Raise NotationError unless exactly one label matches.
        """
        places = self._places(label)
        if not places:
            raise unknown_label(label, axis, self)
        if len(places) > 1:
            raise NotationError(
                401, f"the label {format_label(label)} occurs {len(places)} times on axis {axis}",
                hint=f"index by position: {{{axis!r}: {places[0]}}} or {{{axis!r}: {places[1]}}}",
            )  # fmt: skip
        return places[0]

    def _places(self, label: Any) -> list[int]:
        import numpy as np

        if isinstance(label, str) and (places := self.texts.get(label)):
            return places
        try:
            key: Any = label
            if self.values.dtype.kind in "mM":
                exact = np.asarray(label, dtype=f"{self.values.dtype.kind}8")
                key = exact.astype(self.values.dtype)
                if key != exact and not np.isnat(exact):  # The date is between two labels.
                    return []
            return self.positions.get(key.item() if hasattr(key, "item") else key, [])
        except (TypeError, ValueError):  # The label is not a date, or not hashable.
            return []


def positions_of(values: Iterable[Any]) -> dict[Any, list[int]]:
    """Return a map from each value to the list of its positions."""
    result: dict[Any, list[int]] = {}
    for position, value in enumerate(values):
        result.setdefault(value, []).append(position)
    return result


ATTOSECONDS = {
    "W": 7 * 86_400 * 10**18, "D": 86_400 * 10**18, "h": 3_600 * 10**18, "m": 60 * 10**18, "s": 10**18, "ms": 10**15,
    "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1,
}  # fmt: skip
NAN = object()


def date_keys(values: Any) -> list[Any]:
    """Return a key for each date or time span in an array: its kind and its number of attoseconds."""
    import numpy as np

    kind = values.dtype.kind
    unit, count = np.datetime_data(values.dtype)
    if unit in ("Y", "M") and kind == "M":  # Years and months have no fixed length.
        values, unit, count = values.astype("M8[D]"), "D", 1
    scale = count * ATTOSECONDS.get(unit, 0)
    absent, numbers = np.isnat(values).tolist(), values.astype(np.int64).tolist()
    return [
        NAN if missing else (kind, number * scale if scale else (unit, number))
        for missing, number in zip(absent, numbers)
    ]


def key_of(label: Any) -> Any:
    """Return a key for a label. Equal labels have equal keys, including nan and dates in different units."""
    import datetime

    import numpy as np

    key: Any = label
    if isinstance(label, datetime.datetime) and label.tzinfo is None:
        key = getattr(label, "to_datetime64", partial(np.datetime64, label))()  # pandas dates have `to_datetime64`.
    if isinstance(key, (np.datetime64, np.timedelta64)):
        return date_keys(np.asarray(key).reshape(1))[0]  # pyright: ignore[reportUnknownArgumentType]
    try:
        return NAN if key != key else key
    except TypeError:  # pandas.NA has no truth value.
        return NAN


def to_labels(values: Any) -> Any:
    """Convert values to an array of labels. Raise NotationError if they cannot be labels."""
    import numpy as np

    if isinstance(values, (str, bytes)) or not (hasattr(values, "__iter__") or hasattr(values, "__array__")):
        raise NotationError(208, f"labels must be a list, got {format_label(values)}", hint='write ["Oslo", "Bergen"]')
    if not hasattr(values, "dtype"):
        listed: list[Any] = list(values)
        kinds: set[type] = {type(value) for value in listed}
        array = np.asarray(listed) if kinds <= {int, float} or kinds == {np.datetime64} else None
        if array is None:
            array = np.empty(len(listed), dtype=object)
            array[:] = listed
        values = array
    array = np.asarray(values)
    if array.ndim != 1:
        raise NotationError(208, f"labels must be one list, got {array.ndim} axes of them", hint="write one label each")
    array = array.astype(object) if array.dtype.kind in "US" else array
    elements: list[Any] = array.tolist()
    unfit: Any = next((value for value in elements if type(value) in (list, tuple, dict)), None)
    if unfit is not None:
        raise NotationError(208, f"{format_label(unfit)} is not a label", hint="write strings, numbers or dates")
    return array


def is_label(selection: Any) -> bool:
    """Return whether an index is a label: a string, a date or a float."""
    import numpy as np

    return isinstance(selection, (str, float, np.datetime64, np.timedelta64)) or hasattr(selection, "isoformat")


def text_of(value: Any) -> str:
    """Convert a label to a string. For a date at midnight, omit the time."""
    import numpy as np

    if isinstance(value, (np.datetime64, np.timedelta64)):
        text = str(value)  # pyright: ignore[reportUnknownArgumentType]
        return text.partition("T")[0] if text.partition("T")[2].strip("0:.") == "" else text
    text = str(value.item() if hasattr(value, "item") else value)
    return text.removesuffix(" 00:00:00")


def dropping_notes(dropped: Iterable[str]) -> tuple[str, ...]:
    """Return a tuple with a note about the omitted text columns, or an empty tuple if no columns were omitted."""
    names = ", ".join(map(str, dropped))
    return (f"left out {names}: no numbers there",) if names else ()


def format_label(value: Any) -> str:
    """Format a label for a message."""
    return repr(value.item() if hasattr(value, "item") else value)[:60]


def unknown_label(label: Any, axis: str, labels: Labels) -> NotationError:
    """Return the error for a label that an axis does not have.

    Its hint lists the closest labels or the first labels.
    """
    from .suggestions import did_you_mean, near

    texts = [*labels.texts]
    hint = did_you_mean(near(str(label), texts))
    first = ", ".join(texts[:5]) + (", …" if len(texts) > 5 else "")
    return NotationError(401, f"axis {axis} has no label {format_label(label)}", hint=hint or f"its labels are {first}")


def no_labels(axis: str, label: Any) -> NotationError:
    return NotationError(
        401, f"axis {axis} has no labels, and cannot be indexed by {format_label(label)}",
        hint=f'index by position: A[{{"{axis}": 0}}], or label it: A.with_labels({axis}=[…])',
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ layouts
AxisLabels = Mapping[str, Labels]


class ConflictingLabels(Labels):
    """A marker for an axis whose labels differ between operands. It works even if NumPy is not installed."""

    def __init__(self):
        self.values: Any = ()

    def __hash__(self) -> int:
        return id(self)


CONFLICT = ConflictingLabels()


class LabeledLayout(Layout):
    """A layout with labels for some axes. `plain` is the same layout without labels."""

    __slots__ = ("labels", "plain")

    def __init__(self, plain: Layout, labels: tuple[tuple[str, Labels], ...]):
        super().__init__(plain.axes, plain.extent, plain.dtype, plain.xp, plain.wide)
        self.plain: Layout = plain
        self.labels: tuple[tuple[str, Labels], ...] = labels

    @property
    def nbytes(self) -> int:
        """The approximate memory use of the labels, in bytes."""
        return sum(labels.nbytes for _, labels in self.labels)


_INTERNED: Cache[Any, LabeledLayout] = Cache(
    "layouts with labels", MAX_LAYOUTS, lambda layout: layout.nbytes, MAX_LABEL_BYTES
)


def make_labeled_layout(layout: Layout, labels: AxisLabels) -> Layout:
    """Return the shared layout with labels on its axes, or the plain layout if no labels fit.

    Labels fit an axis if their number equals its size.
    """
    plain = plain_layout(layout)
    sizes = plain.sizes
    pairs = tuple((axis, labels[axis]) for axis in plain.axes if axis in labels and len(labels[axis]) == sizes[axis])
    if not pairs:
        return plain
    return _INTERNED.get_or_build((plain, pairs), lambda: LabeledLayout(plain, pairs))


def plain_layout(layout: Layout) -> Layout:
    """Return the layout without labels."""
    return layout.plain if isinstance(layout, LabeledLayout) else layout


def labels_of(layout: Any) -> dict[str, Labels]:
    """Return a map from the labeled axes of a layout to their labels.

    For a value without a layout, the map is empty.
    """
    return dict(getattr(layout, "labels", ()))


def is_small(layouts: Iterable[Any]) -> bool:
    """Return whether the layouts have so few labels in total that call caches may store them."""
    return sum(len(labels) for layout in layouts for _, labels in getattr(layout, "labels", ())) <= MAX_CACHED_LABELS


def find_common_labels(several: Iterable[AxisLabels]) -> dict[str, Labels]:
    """Return the labels that several operands agree on, without the axes on which they disagree."""
    return drop_conflicts(combine_labels(several))


def combine_labels(
    several: Iterable[AxisLabels], agree: Callable[[Labels, Labels], bool] = Labels.equals
) -> dict[str, Labels]:
    """Combine the labels of several operands. An axis with different labels gets `CONFLICT`."""
    result: dict[str, Labels] = {}
    for labels in several:
        for axis, axis_labels in labels.items():
            if not agree(result.setdefault(axis, axis_labels), axis_labels):
                result[axis] = CONFLICT
    return result


def drop_conflicts(labels: AxisLabels) -> dict[str, Labels]:
    """Return the labels without the axes on which operands disagree."""
    return {axis: axis_labels for axis, axis_labels in labels.items() if axis_labels is not CONFLICT}
