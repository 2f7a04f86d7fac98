"""Functions that load and save a single tensor. The suffix of the file determines the format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError

from ..core.axes import names_of
from ..core.kinds import require_path, wrong
from ..core.labels import dropping_notes
from ..core.warned import warn
from .contents import Found, first_axis_alone, label_values
from .formats import read_path, write
from .text import InputError

if TYPE_CHECKING:
    from ..core.tensor import NamedTensor


def load_tensor(
    path: str | os.PathLike[str],
    axes: str | Iterable[str] | None = None,
    *,
    member: str | None = None,
    header: bool | None = None,
) -> NamedTensor:
    """Load one tensor from a CSV, TSV, JSON, `.npy`, `.npz`, Parquet, NetCDF, Zarr or safetensors file.

    Parameters
    ----------
    path : str or path
        The file, or the folder for Zarr. The suffix determines the format.
    axes : str or iterable of str, optional
        Axis names, in the order of the file. In a table, the rows precede the columns (default: the names in the file).
    member : str, optional
        The array, variable or column to load (default: the only array or variable, or all columns of a table).
    header : bool, optional
        Whether the first row of a CSV table is a header (default: detected from its content).

    Returns
    -------
    NamedTensor
        The tensor with the labels of the file. The labels of a table are the words in the header and in the first
        column of words; the labels of other files are coordinates. Other columns of words are omitted, and a
        NotationWarning lists them.

    Raises
    ------
    NotationError
        If the file cannot be read (409), an axis has no name (317), or the number of names is wrong (316).

    Examples
    --------
    >>> import namedtensor as nt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rain.csv"
    >>> _ = path.write_text("city,Mon,Tue\\nOslo,3,1\\nRome,0,2\\n")
    >>> nt.load_tensor(path, "city day")[{"city": "Rome"}]
    NamedTensor([0, 2], "day", labels={"day": ["Mon", "Tue"]})
    """
    file = require_path(path)
    try:
        contents = read_path(file, member, "the tensor", header)
    except (InputError, OSError) as problem:
        raise NotationError(409, str(problem)) from None
    for note in dropping_notes(contents.dropped):
        warn(f"{file.name}: {note}")
    return name_array(contents, None if axes is None else names_of(axes), file)


def name_array(contents: Found, axes: tuple[str, ...] | None, file: Path) -> Any:
    """Return the array of a file as a tensor with axis names and labels."""
    from ..core.tensor import tensor

    chosen = contents.axes if axes is None else axes
    array = first_axis_alone(contents, chosen)
    example = " ".join(("row", "column", *(f"axis{number}" for number in range(3, array.ndim + 1)))[: array.ndim])
    hint = f'name them in the order of the file: nt.load_tensor({file.name!r}, "{example}")'
    if chosen is None and array.ndim:
        sizes = " × ".join(map(str, array.shape))
        raise NotationError(317, f"{file} has {array.ndim} axes without names ({sizes})", hint=hint)
    if len(chosen or ()) != array.ndim:
        raise NotationError(
            316, f"{file} has {array.ndim} ax{'i' if array.ndim == 1 else 'e'}s, but {len(chosen or ())} "
            f"name{'s were' if len(chosen or ()) != 1 else ' was'} given", hint=hint,
        )  # fmt: skip
    result = tensor(array, chosen or ())
    labels = label_values(contents, result.sizes)
    return result.with_labels(labels) if labels else result


def save_tensor(path: str | os.PathLike[str], tensor: Any) -> None:
    """Save one tensor to a CSV, JSON, `.npy`, `.npz`, Parquet, NetCDF or Zarr file.

    The file is written completely or not at all. CSV, JSON, Parquet, NetCDF and Zarr keep labels. JSON, `.npz`,
    Parquet, NetCDF and Zarr keep axis names.

    Parameters
    ----------
    path : str or path
        The file, or the folder for Zarr. The suffix determines the format.
    tensor : NamedTensor
        The tensor.

    Raises
    ------
    NotationError
        If `tensor` is not a named tensor (208), or the file cannot be written (409).

    Examples
    --------
    >>> import namedtensor as nt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.json"
    >>> nt.save_tensor(path, nt.tensor([[3, 1]], "row column"))
    >>> nt.load_tensor(path)
    NamedTensor([[3, 1]], "row column")
    """
    file = require_path(path)
    if not hasattr(tensor, "axes"):
        hint = 'write save_tensor("x.json", X); save_tensors saves several'
        if isinstance(tensor, Mapping):
            hint = 'write save_tensors("weights.safetensors", {"W": W}) for several'
        raise wrong(tensor, "what is saved", "a named tensor", hint)
    try:
        write(tensor, str(file))
    except InputError as problem:
        raise NotationError(409, str(problem)) from None
