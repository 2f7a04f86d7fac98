"""The formats of tensor files, in a table of the readers and writers.

A reader returns a positional array. It also returns the axis names if the file contains them (such as JSON with
"axes"). `write` gives a writer a temporary file in the same folder and then renames it, so the old file stays until all
data is written.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.settings import DEFAULT
from .contents import Found, choose
from .csv_tables import Table, read_table
from .data_files import read_netcdf, read_parquet, read_zarr, write_netcdf, write_parquet, write_zarr
from .large_tables import read_large_table
from .safetensors import TensorFile, axes_in
from .text import (
    InputError,
    finite,
    is_names,
    parse_json,
    read_text,
    reason,
    to_list_or_none,
    to_object_or_none,
    whole_file,
)
from .versions import read_one_version

MIN_LARGE_BYTES = 10**6  # the smallest table that `large_tables` reads


# ----------------------------------------------------------------------------------------------------------------- JSON
WORDS = {
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
}


def read_json(path: Path, member: str | None) -> Found:
    return json_tensor(read_text(path), str(path))


def json_tensor(text: str, what: str) -> Found:
    """Read a tensor from JSON: nested lists, or an object that also names the axes."""
    data: Any = parse_json(text, what)
    axes: Any = None
    labels: Any = {}
    named = to_object_or_none(data)
    if named is not None and "data" in named:
        data, axes, labels = named["data"], named.get("axes"), to_object_or_none(named.get("labels")) or {}
        if axes is not None and not is_names(axes):
            raise InputError(f'{what}: "axes" is to be a list of names')
    elif named is not None:
        raise InputError(f'{what} holds an object; a tensor is a nested list, or {{"axes": ["a"], "data": [1, 2]}}')
    result = from_nested(data, what)
    if axes is None:
        return result
    return result._replace(
        axes=tuple(axes), labels=tuple(tuple(to_list_or_none(labels.get(axis)) or ()) for axis in axes)
    )


def from_nested(data: Any, what: str) -> Found:
    """Return nested lists of numbers as the contents of a file. Raise NotationError if list lengths differ."""
    import numpy as np

    shape, flat = flattened(data, what)
    array = np.array(flat) if flat else np.zeros(0)
    return Found(array.reshape(shape))


def flattened(data: Any, what: str) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape of nested lists, and a flat list of their numbers."""
    shape: list[int] = []
    level, nested = [data], isinstance(data, list)
    while nested:
        lengths = {length_of(row) for row in level}
        if len(lengths) > 1:
            raise NotationError(311, f"the rows of {what} differ in length", notes=(describe_ragged_level(level),))
        shape.append(len(level[0]))
        level = [entry for row in level for entry in row]
        nested = bool(level) and any(isinstance(entry, list) for entry in level)
    return tuple(shape), [entry_of(entry, what) for entry in level]


def length_of(row: Any) -> int | None:
    """Return the number of entries in a row, or None if `row` is not a list."""
    entries = to_list_or_none(row)
    return None if entries is None else len(entries)


def describe_ragged_level(level: list[Any]) -> str:
    lengths = map(length_of, level)
    counts = ["a number" if length is None else f"{length} entries" for length in lengths]
    other = next(index for index, text in enumerate(counts) if text != counts[0])
    return f"row 1 has {counts[0]}, row {other + 1} has {counts[other]}".replace("has a", "is a").replace(
        " 1 entries", " 1 entry"
    )


def entry_of(entry: Any, what: str) -> Any:
    if isinstance(entry, str):
        entry = WORDS.get(entry, entry)
    if not isinstance(entry, (bool, int, float)):
        raise InputError(f"{what} holds {json.dumps(entry, ensure_ascii=False)[:40]}, which is not a number")
    return float(str(entry)) if isinstance(entry, int) and abs(entry) > 2**62 else entry  # ∞ beyond the range of floats


# ------------------------------------------------------------------------------------------------------------------ CSV
def read_csv(path: Path, member: str | None, header: bool | None = None) -> Found:
    """Read a table of numbers.

    A header is removed, and columns of words are omitted. Notes report both.
    """
    table = table_of(path, header)
    columns, notes = list(table.columns), list(table.notes)
    if member is not None:
        titles = {table.titles[index]: index for index in columns}
        columns = [titles[choose(titles, member, path, "column")]]
        notes = notes[:1] if table.has_header else []
        table = table._replace(dropped=())
    array = table.values(columns)
    missing = int((array != array).sum())
    if missing:
        notes.append(f"{missing} missing value{'s' * (missing != 1)} became nan")
    titles_of = tuple(table.titles[index] for index in columns) if table.has_header else ()
    return Found(array, notes=tuple(notes), table=True, labels=(table.labels, titles_of), dropped=table.dropped)


def table_of(path: Path, header: bool | None = None) -> Table:
    """Read the table in a file, using pandas for a large plain file. Raise InputError if the file cannot be read."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size >= MIN_LARGE_BYTES:
            table = read_large_table(path, file, header)
            if table is not None:
                return table
    return read_table(path, header)


# ---------------------------------------------------------------------------------------------------------- NumPy's own
def read_npy(path: Path, member: str | None) -> Found:
    return Found(numeric(load_numpy(path), str(path)))


def read_npz(path: Path, member: str | None) -> Found:
    """Read the requested array of an archive, or its only array. An array `axes`, if any, contains the axis names."""
    loaded = load_numpy(path)
    if not hasattr(loaded, "files"):
        raise InputError(f"{path} is not an archive of arrays, although it is named .npz")
    with loaded as archive:
        names = member_of(archive, "axes", path) if "axes" in archive.files else None
        texts = tuple(map(str, names)) if names is not None and names.dtype.kind == "U" else None
        arrays = [key for key in archive.files if texts is None or key != "axes"]
        chosen = choose(arrays, member, path)
        array = numeric(member_of(archive, chosen, path), f"{path}[{chosen}]")
    return Found(array, texts if len(arrays) == 1 else None)


def member_of(archive: Any, key: str, path: Path) -> Any:
    """Return one array of an archive. Raise InputError if the unpacked array exceeds the memory limit for results."""
    from zipfile import BadZipFile
    from zlib import error as BadStream

    unpacked = max(member.file_size for member in archive.zip.infolist() if member.filename in (key, f"{key}.npy"))
    if unpacked > DEFAULT.max_result_bytes:
        raise InputError(
            f"{key} in {path} unpacks to {unpacked} bytes, and at most {DEFAULT.max_result_bytes} are read"
        )
    try:
        array = archive[key]
    except (ValueError, EOFError, KeyError, SyntaxError, BadZipFile, BadStream) as problem:
        raise InputError(f"{key} in {path} cannot be read: {first_line(problem)}") from None
    if not hasattr(array, "dtype"):
        raise InputError(f"{key} in {path} cannot be read: it is not a NumPy array")
    return array


def load_numpy(path: Path) -> Any:
    import zipfile

    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, zipfile.BadZipFile) as problem:
        raise InputError(f"{path} is not a NumPy file: {first_line(problem)}") from None


def first_line(problem: Exception) -> str:
    text = (str(problem).splitlines() or [""])[0]
    return "it holds Python objects" if "pickle" in text.lower() else text[:1].lower() + text[1:100]


def numeric(array: Any, what: str) -> Any:
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what} holds values of type {array.dtype}, which are not real numbers")
    return array


# ---------------------------------------------------------------------------------------------------------- safetensors
def read_safetensors(path: Path, member: str | None) -> Found:
    """Read one tensor of the file, with its axes if the file was written by this package."""
    try:
        file = TensorFile(path)
    except NotationError as problem:
        raise InputError(problem.message) from None
    chosen = choose(file, member, path)
    axes = axes_in(file).get(chosen)
    return Found(file[chosen], tuple(axes) if axes else None)


# -------------------------------------------------------------------------------------------------------------- writing
def write(value: Any, path: str) -> None:
    """Write a tensor to a file in the format of its suffix, completely or not at all.

    Raises InputError if the file cannot be written.
    """
    writer = writable(path)
    try:
        if FORMATS[Path(path).suffix.lower()].is_folder:
            return writer(value, None, path)
        with whole_file(path) as file:
            writer(value, file, path)
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot write {path}: {reason(problem)}") from None


def writable(path: str) -> Callable[..., None]:
    """Return the writer for this file name. Raise InputError if the suffix is unknown."""
    format = FORMATS.get(Path(path).suffix.lower())
    if format is None or format.write is None:
        known = ", ".join(suffix for suffix, value in FORMATS.items() if value.write)
        raise InputError(f"{path}: a result is written to a file that ends in {known}")
    return format.write


def positional(value: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the array of a result, and the axis names in array order."""
    import numpy as np

    return np.asarray(value.to_array(value.axes)), tuple(value.axes)


def label_texts(value: Any) -> dict[str, list[str]]:
    """Return the labels of each labeled axis as strings."""
    return {axis: [labels.text(at) for at in range(len(labels))] for axis, labels in value.layout.labels}


def write_npy(value: Any, file: Any, path: str) -> None:
    import numpy as np

    np.save(file, positional(value)[0], allow_pickle=False)


def write_npz(value: Any, file: Any, path: str) -> None:
    import numpy as np

    array, axes = positional(value)
    np.savez(file, value=array, axes=np.array(axes, dtype=str))


def write_json(value: Any, file: Any, path: str) -> None:
    array, axes = positional(value)
    labels = label_texts(value)
    record = {"axes": list(axes), **({"labels": labels} if labels else {}), "data": finite(array.tolist())}
    file.write((json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8"))


def write_csv(value: Any, file: Any, path: str) -> None:
    """Write a table of at most two axes. The first axis is along the rows, and the second across the columns.

    The header row contains the labels of the second axis, or names such as `day(1)` if the axis has no labels. A first
    column contains the labels of the first axis, if any.
    """
    array, axes = positional(value)
    if array.ndim > 2:
        raise InputError(
            f"{path}: a table has two axes at most, and the result has {', '.join(axes)}; write .npy or .json"
        )
    labels = label_texts(value)
    across = [*axes] or ["value"]
    if array.ndim == 2:
        across = labels.get(axes[1]) or [f"{axes[1]}({index})" for index in range(1, array.shape[1] + 1)]
    elif axes and axes[0] in labels:
        across = ["value"]
    rows = array.tolist() if array.ndim == 2 else [[entry] for entry in array.reshape(-1).tolist()]
    cells = [[str(int(entry) if isinstance(entry, bool) else entry) for entry in row] for row in rows]
    if axes and axes[0] in labels:
        across = [axes[0], *across]
        cells = [[label, *row] for label, row in zip(labels[axes[0]], cells)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([across, *cells])
    file.write(text.getvalue().encode("utf-8"))


class Format(NamedTuple):
    read: Callable[[Path, str | None], Found]
    write: Callable[..., None] | None = None
    members: bool = False  # whether FILE[NAME] selects one of several arrays or columns
    is_folder: bool = False


def read(suffix: str, path: Path, member: str | None, name: str, header: bool | None = None) -> Found:
    """Read one consistent version of a file in the format of its suffix.

    `header` specifies whether the first row of a table is a header.

    Raises InputError if the file is invalid, and NotationError if the file changes during every attempt.
    """
    reader = FORMATS[suffix].read
    if reader is read_csv:
        reader = partial(read_csv, header=header)
    elif header is not None:
        raise InputError(f"{path} is not a table; leave out --header {name}=…")
    return read_one_version(path, lambda: reader(path, member))


def read_path(path: Path, member: str | None, name: str, header: bool | None = None) -> Found:
    """Read a file in the format of its suffix. Raise InputError if this fails."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path} ends in no suffix of a tensor file; those are {', '.join(FORMATS)}")
    if not (path.is_dir() if FORMATS[suffix].is_folder else path.is_file()):
        raise InputError(f"there is no {'folder' if FORMATS[suffix].is_folder else 'file'} {path}")
    if member is not None and not FORMATS[suffix].members:
        raise InputError(f"{path} holds one tensor; leave {member} out")
    return read(suffix, path, member, name, header)


FORMATS = {
    ".json": Format(read_json, write_json),
    ".npy": Format(read_npy, write_npy),
    ".npz": Format(read_npz, write_npz, True),
    ".csv": Format(read_csv, write_csv, True),
    ".tsv": Format(read_csv, None, True),
    ".safetensors": Format(read_safetensors, None, True),
    ".parquet": Format(read_parquet, write_parquet, True),
    ".nc": Format(read_netcdf, write_netcdf, True),
    ".zarr": Format(read_zarr, write_zarr, True, is_folder=True),
}
