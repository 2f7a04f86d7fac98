"""Convert pandas and polars data frames to tensors, and tensors to data frames.

The index and the columns become axes, and their entries become labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from grammar.errors import NotationError

from .arrays import library
from .axes import names_of
from .interchange import Origin, from_xarray, import_library, make_labeled_tensor
from .kinds import wrong
from .labels import Labels, dropping_notes, labels_of
from .tensor import NamedTensor, tensor
from .warned import warn

MAX_SHOWN = 5  # The maximum number of columns in a message.
PANDAS, POLARS = "pip install '.[data]'", "pip install polars"


def from_table(value: Any, axes: Any = None) -> NamedTensor | None:
    """Convert a DataArray, a DataFrame or a Series to a tensor. Return None for any other value.

    Raise NotationError if an axis has no name.
    """
    convert = CONVERTERS.get(library(value))
    if convert is None or not any(kind.__name__ in KINDS for kind in type(value).__mro__):
        return None
    return convert(value, axes)


# ----------------------------------------------------------------------------------------------------------------- pandas
def from_pandas(data: Any, axes: str | Iterable[str] | None = None) -> NamedTensor:
    """Convert a pandas Series or DataFrame, whose index and columns become labeled axes.

    Parameters
    ----------
    data : pandas.Series or pandas.DataFrame
        The table. Each level of a MultiIndex becomes a separate axis. If the index only counts rows, the first text
        column labels the rows. Other text columns are omitted with a NotationWarning.
    axes : str or iterable of str, optional
        The names of the index axes, followed by the names of the column axes (default: the names in the table).

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the argument is not a Series or a DataFrame (208), the number of names is wrong (316), an axis has no name,
        no column contains numbers, or a MultiIndex lacks a combination of its levels (317).

    Examples
    --------
    >>> import pandas  # doctest: +SKIP
    >>> from_pandas(pandas.Series([3, 1], index=["Oslo", "Rome"]), "city")  # doctest: +SKIP
    NamedTensor([3, 1], "city", labels={"city": ["Oslo", "Rome"]})
    """
    if not hasattr(data, "index") or not hasattr(data, "to_numpy"):
        raise wrong(
            data, "the argument of from_pandas", "a Series or a DataFrame of pandas", 'write nt.tensor(data, "a b")'
        )
    if hasattr(data, "columns"):
        data, dropped = label_rows(data)
        for note in dropping_notes(dropped):
            warn(f"the DataFrame: {note}")
    indices = [data.index, *([data.columns] if hasattr(data, "columns") else [])]
    names = axis_names(indices, axes, type(data).__name__)
    labels: dict[str, Labels] = {}
    array, position = numbers_of(data), 0
    for index in indices:
        if index.nlevels > 1:
            array, levels = spread_levels(array, index, position)
            labels |= zip(names[position:], levels)
        elif not is_default(index):
            labels[names[position]] = Labels(index.to_numpy())
        position += index.nlevels
    is_frame = hasattr(data, "columns")
    dtypes = [*data.dtypes] if is_frame else [data.dtype]
    changed = len(names) == len(indices) and any(dtype != array.dtype for dtype in dtypes)
    origin = Origin(None if is_frame else data.name, dict(data.attrs), dtypes=dtypes if changed else None)
    return make_labeled_tensor(array, names, labels, origin)


def axis_names(indices: list[Any], axes: Any, kind: str) -> tuple[str, ...]:
    """Return the axis names of a data frame, one per level of each index. Raise NotationError if a name is missing."""
    level_names = [name for index in indices for name in index.names]
    if axes is not None:
        names = names_of(axes)
        if len(names) != len(level_names):
            raise NotationError(
                316, f"the {kind} has {len(level_names)} axes, but {len(names)} name{'s were' if len(names) != 1 else ' was'} given",
                hint='name its index, then its columns: nt.from_pandas(data, "day city")',
            )  # fmt: skip
        return names
    if None in level_names:
        what = "index" if level_names.index(None) < indices[0].nlevels else "columns"
        example = "day" if len(level_names) == 1 else "day city"
        raise NotationError(
            317, f"the {what} of the {kind} {'have' if what == 'columns' else 'has'} no name for an axis",
            hint=f'name them: nt.from_pandas(data, "{example}"), or data.rename_axis(…) in pandas',
        )  # fmt: skip
    return tuple(map(str, level_names))


def label_rows(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a pandas frame that contains only numbers, and the names of the omitted text columns.

    If the index only counts rows, the first text column labels the rows. A frame without numeric columns is unchanged.
    """
    words = [column for column, dtype in zip(frame.columns, frame.dtypes) if getattr(dtype, "kind", "O") not in "biufc"]
    if not words or len(words) == len(frame.columns):
        return frame, ()
    if is_default(frame.index):
        frame = frame.set_index(words[0]).rename_axis(index=frame.index.name)
        words = words[1:]
    return frame.drop(columns=words), tuple(map(str, words))


def is_default(index: Any) -> bool:
    """Return whether an index of a data frame only counts the rows from 0."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def numbers_of(data: Any) -> Any:
    """Return the elements of a data frame as an array, with nan for missing elements.

    Raise NotationError if a column does not contain numbers.
    """
    dtypes = [data.dtype] if not hasattr(data, "columns") else [*data.dtypes]
    unfit = [at for at, dtype in enumerate(dtypes) if getattr(dtype, "kind", "O") not in "biufc"]
    if unfit:
        columns = ", ".join(str(data.columns[at]) for at in unfit[:MAX_SHOWN]) if hasattr(data, "columns") else ""
        what = f"column{'s' * (len(unfit) > 1)} {columns}" if columns else "the Series"
        raise NotationError(
            317, f"{what} hold{'' if len(unfit) > 1 else 's'} no numbers ({dtypes[unfit[0]]})",
            hint=f"convert {'one' if len(unfit) > 1 else 'it'} to numbers first",
        )  # fmt: skip
    missing = any(not isinstance(dtype, np.dtype) for dtype in dtypes) and bool(np.asarray(data.isna()).any())
    array = data.to_numpy(dtype=float, na_value=np.nan) if missing else data.to_numpy()
    if array.dtype == object:  # The columns have several dtypes, for example numbers and booleans.
        array = data.to_numpy(dtype=np.result_type(*[getattr(dtype, "numpy_dtype", dtype) for dtype in dtypes], float))
    return array


def spread_levels(array: Any, index: Any, position: int) -> tuple[Any, list[Labels]]:
    """Split an array axis with a MultiIndex into one axis per level, and return the array and the labels.

    Raise NotationError unless each combination of levels occurs exactly once.
    """
    index = index.remove_unused_levels()
    sizes = [len(level) for level in index.levels]
    codes = [np.asarray(codes) for codes in index.codes]
    count, whole = array.shape[position], int(np.prod(sizes))
    flat = np.ravel_multi_index(codes, sizes) if all((code >= 0).all() for code in codes) else np.zeros(count, int)
    if count != whole or len(np.unique(flat)) != whole:
        names = ", ".join(map(str, index.names))
        raise NotationError(
            317, f"the MultiIndex of {names} has {count} rows for {whole} combinations, and each must occur once",
            hint="fill in the missing ones: data.unstack().stack(future_stack=True), or drop duplicates",
        )  # fmt: skip
    order = np.argsort(flat)
    array = np.take(array, order, axis=position)
    return array.reshape(*array.shape[:position], *sizes, *array.shape[position + 1 :]), [
        Labels(level.to_numpy()) for level in index.levels
    ]


def to_pandas(self: NamedTensor, order: str | Iterable[str] | None = None) -> Any:
    """Return a pandas Series for one axis, or a DataFrame for two axes. Labels become the index and the columns.

    Parameters
    ----------
    order : str or iterable of str, optional
        For two axes, the axis of the index and then the axis of the columns.

    Returns
    -------
    pandas.Series or pandas.DataFrame

    Raises
    ------
    NotationError
        If the tensor does not have one or two axes, the order of two axes is missing (318), or pandas is not installed
        (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([[3, 1]], "day city").with_labels(city=["Oslo", "Rome"]).to_pandas("day city")  # doctest: +SKIP
    city  Oslo  Rome
    day
    0        3     1
    """
    pandas, axes = import_library("pandas", PANDAS), self.layout.axes
    if not 1 <= len(axes) <= 2:
        raise NotationError(
            318, f"a table of pandas has one axis or two, not {self.shape}",
            hint="take one element or merge axes first; or write A.to_xarray()" if axes else "write A.item()",
        )  # fmt: skip
    array = self.to_numpy(self._order("to_pandas", order))  # pyright: ignore[reportPrivateUsage]
    names = axes if order is None else names_of(order)
    labels, origin = labels_of(self.layout), getattr(self, "_origin", None) or Origin()
    indices = [
        pandas.Index(labels[axis].values, name=axis) if axis in labels
        else pandas.RangeIndex(size, name=axis)
        for axis, size in zip(names, array.shape)
    ]  # fmt: skip
    if len(names) == 1:
        table = pandas.Series(array, index=indices[0], name=origin.name)
    else:
        table = pandas.DataFrame(array, index=indices[0], columns=indices[1])
    table.attrs.update(origin.attrs)
    if origin.dtypes is not None and names == axes:
        columns = [table] if len(names) == 1 else [table.iloc[:, at] for at in range(len(origin.dtypes))]
        columns = [column.astype(dtype) for column, dtype in zip(columns, origin.dtypes)]
        table = columns[0] if len(names) == 1 else pandas.concat(columns, axis=1).rename_axis(columns=names[1])
    return table


# ----------------------------------------------------------------------------------------------------------------- polars
def from_polars(data: Any, axes: str | Iterable[str] | None = None) -> NamedTensor:
    """Convert a polars Series or DataFrame. The column names and the first non-numeric column become labels.

    Parameters
    ----------
    data : polars.Series or polars.DataFrame
        The table. Other non-numeric columns are omitted with a NotationWarning.
    axes : str or iterable of str
        The name of the row axis and, for a DataFrame, the name of the column axis.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the argument is not a Series or a DataFrame (208), the number of names is wrong (316), the axes are not
        named, or no column contains numbers (317).

    Examples
    --------
    >>> import polars  # doctest: +SKIP
    >>> from_polars(polars.DataFrame({"city": ["Oslo", "Rome"], "low": [3, 1]}), "city kind")  # doctest: +SKIP
    NamedTensor([[3], [1]], "city kind", labels={"city": ["Oslo", "Rome"], "kind": ["low"]})
    """
    if not hasattr(data, "to_numpy") or library(data) != "polars":
        raise wrong(
            data, "the argument of from_polars", "a Series or a DataFrame of polars", 'write nt.tensor(data, "a b")'
        )
    if not hasattr(data, "columns"):
        if axes is None:
            raise NotationError(317, "the Series has no name for its axis", hint='write nt.from_polars(data, "day")')
        return make_labeled_tensor(data.to_numpy(), names_of(axes), {}, Origin(data.name or None))
    if axes is None:
        raise NotationError(
            317,
            "a DataFrame of polars has no names of axes",
            hint='name rows and columns: nt.from_polars(data, "day city")',
        )
    names = names_of(axes)
    if len(names) != 2:
        raise NotationError(
            316, f"the DataFrame has 2 axes, but {len(names)} name{'s were' if len(names) != 1 else ' was'} given",
            hint='name rows and columns: nt.from_polars(data, "day city")',
        )  # fmt: skip
    labels: dict[str, Labels] = {}
    fits = [dtype.is_numeric() or str(dtype) == "Boolean" for dtype in data.dtypes]
    if any(fits) and not all(fits):
        first = fits.index(False)
        labels[names[0]] = Labels(data.to_series(first).to_list())
        data, fits = data.drop(data.columns[first]), [*fits[:first], *fits[first + 1 :]]
    words = [column for column, fit in zip(data.columns, fits) if not fit]
    if not any(fits):
        raise NotationError(317, "no column of the DataFrame holds numbers", hint="convert one to numbers first")
    for note in dropping_notes(words):
        warn(f"the DataFrame: {note}")
    data = data.drop(words)
    return make_labeled_tensor(data.to_numpy(), names, {**labels, names[1]: Labels(data.columns)})


def to_polars(self: NamedTensor, order: str | Iterable[str] | None = None) -> Any:
    """Return a polars DataFrame. Row labels become its first column, and column labels become its column names.

    Parameters
    ----------
    order : str or iterable of str, optional
        For two axes, the axis of the rows and then the axis of the columns.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    NotationError
        If the tensor does not have one or two axes, the order of two axes is missing (318), or polars is not installed
        (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([3, 1], "city").to_polars().columns  # doctest: +SKIP
    ['value']
    """
    polars, axes = import_library("polars", POLARS), self.layout.axes
    if not 1 <= len(axes) <= 2:
        raise NotationError(
            318, f"a table of polars has one axis or two, not {self.shape}", hint="take one element or merge axes first"
        )
    array = self.to_numpy(self._order("to_polars", order))  # pyright: ignore[reportPrivateUsage]
    names, labels = axes if order is None else names_of(order), labels_of(self.layout)
    across = ["value"]
    if len(names) == 2:
        columns = labels.get(names[1])
        across = [columns.text(at) if columns else f"{names[1]}({at + 1})" for at in range(array.shape[1])]
    rows = {names[0]: labels[names[0]].values.tolist()} if names[0] in labels else {}
    return polars.DataFrame(rows | dict(zip(across, array.reshape(len(array), -1).T)))


def from_array(value: Any, axes: Any) -> NamedTensor:
    """Convert a DataArray to a tensor. If `axes` is given, it specifies the order of the tensor's axes."""
    return from_xarray(value) if axes is None else tensor(from_xarray(value), axes)


CONVERTERS: dict[str, Callable[[Any, Any], NamedTensor]] = {
    "xarray": from_array,
    "pandas": from_pandas,
    "polars": from_polars,
}
KINDS = {"DataArray", "DataFrame", "Series"}
