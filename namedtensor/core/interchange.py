"""Convert xarray DataArrays to tensors and back. `data_frames` converts data frames.

Dimensions, indices and columns become axes, and their coordinates become labels. The tensor's `Origin` stores the other
properties of a DataArray or a Series, such as its name, its attributes and other coordinates. A round trip therefore
preserves them. Operations do not copy the origin, so an input's properties never describe a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from grammar.errors import NotationError

from .kinds import wrong
from .labels import AxisLabels, Labels, labels_of, make_labeled_layout
from .tensor import NamedTensor, tensor, wrap_layout

XARRAY = "pip install '.[xarray]'"


class Origin(NamedTuple):
    """The properties of an array from another library that a tensor cannot store."""

    name: Any = None
    attrs: Mapping[Any, Any] = {}
    coords: Mapping[Any, Any] = {}  # From xarray: each value is a Variable.
    dtypes: Any = None  # The dtypes of pandas columns, if they differ from the dtype of the elements.


def make_labeled_tensor(
    array: Any, axes: Iterable[str], labels: AxisLabels, origin: Origin | None = None
) -> NamedTensor:
    """Create a tensor with labels and the origin of its data."""
    plain = tensor(array, tuple(axes))
    result = wrap_layout(plain.array, make_labeled_layout(plain.layout, labels))
    if origin is not None and origin != Origin():
        result._origin = origin  # pyright: ignore[reportPrivateUsage]
    return result


def import_library(name: str, hint: str) -> Any:
    """Import a library and return it. Raise NotationError if it is not installed."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise NotationError(408, f"{name} is not installed", hint=hint) from None


# ----------------------------------------------------------------------------------------------------------------- xarray
def from_xarray(array: Any) -> NamedTensor:
    """Convert an xarray DataArray. Its dimensions become axes, and its coordinates become labels.

    Parameters
    ----------
    array : xarray.DataArray
        The array. `to_xarray` restores its name, attributes and other coordinates.

    Returns
    -------
    NamedTensor

    Raises
    ------
    NotationError
        If the argument is not a DataArray or a dimension is not a valid axis name (208), or if a dimension has a
        MultiIndex (317).

    Examples
    --------
    >>> import xarray  # doctest: +SKIP
    >>> from_xarray(xarray.DataArray([3, 1], dims="city", coords={"city": ["Oslo", "Rome"]}))  # doctest: +SKIP
    NamedTensor([3, 1], "city", labels={"city": ["Oslo", "Rome"]})
    """
    if not hasattr(array, "dims") or not hasattr(array, "values") or hasattr(array, "data_vars"):
        hint = 'choose a variable: nt.from_xarray(dataset["name"])'
        if not hasattr(array, "data_vars"):
            hint = 'write nt.tensor(data, "height width")'
        raise wrong(array, "the argument of from_xarray", "a DataArray of xarray", hint)
    labels: dict[str, Labels] = {}
    for dimension in array.dims:
        if dimension not in array.coords:
            continue
        if getattr(array.indexes[dimension], "nlevels", 1) > 1:
            raise NotationError(
                317, f"dimension {dimension} has a MultiIndex, and an axis has one label per element",
                hint=f'write nt.from_xarray(array.unstack("{dimension}"))',
            )  # fmt: skip
        labels[str(dimension)] = Labels(array.coords[dimension].values)
    coords = {name: array.coords[name].variable for name in array.coords}
    origin = Origin(array.name, dict(array.attrs), coords)
    return make_labeled_tensor(array.values, map(str, array.dims), labels, origin)


def to_xarray(self: NamedTensor) -> Any:
    """Return an xarray DataArray. The tensor's axes become dimensions, and its labels become coordinates.

    Returns
    -------
    xarray.DataArray

    Raises
    ------
    NotationError
        If xarray is not installed (408).

    Examples
    --------
    >>> import namedtensor as nt
    >>> nt.tensor([3, 1], "a").to_xarray().dims  # doctest: +SKIP
    ('a',)
    """
    xarray, labels = import_library("xarray", XARRAY), labels_of(self.layout)
    origin = getattr(self, "_origin", None) or Origin()
    coords = dict(origin.coords) or {axis: axis_labels.values for axis, axis_labels in labels.items()}
    return xarray.DataArray(
        self.array, dims=self.layout.axes, coords=coords, name=origin.name, attrs=dict(origin.attrs)
    )
