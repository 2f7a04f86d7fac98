"""The formats of tensor files: one row of a table for each, with how it is read and how it is written.

What is read is a positional array; a format that names its axes (JSON with "axes", what `write` wrote) gives them too. A
file is written under a temporary name in its folder and then renamed: what was there stays until all is written.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from grammar.errors import NotationError

from ..core.limits import DEFAULT
from .text import InputError, as_list, as_number, as_object, finite, is_names, parse_json, read_text, reason, whole_file


class Found(NamedTuple):
    """The contents of a file: a positional array, its axes where the file names them, and remarks for the reader.

    A `table` of one column may be given one axis.
    """

    array: Any
    axes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    table: bool = False


# ----------------------------------------------------------------------------------------------------------------- JSON
WORDS = {
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
}


def read_json(place: Path, member: str | None, name: str) -> Found:
    return json_tensor(read_text(place), str(place))


def json_tensor(text: str, what: str) -> Found:
    """Nested lists, or an object that names their axes too."""
    data: Any = parse_json(text, what)
    axes: Any = None
    named = as_object(data)
    if named is not None and "data" in named:
        data, axes = named["data"], named.get("axes")
        if axes is not None and not is_names(axes):
            raise InputError(f'{what}: "axes" is to be a list of names')
    elif named is not None:
        raise InputError(f'{what} holds an object; a tensor is a nested list, or {{"axes": ["a"], "data": [1, 2]}}')
    found = from_nested(data, what)
    return found if axes is None else found._replace(axes=tuple(axes))


def from_nested(data: Any, what: str) -> Found:
    """An array from nested lists of numbers or truth values. Raises NotationError where rows differ in length."""
    import numpy as np

    shape, flat = flattened(data, what)
    array = np.array(flat) if flat else np.zeros(0)
    if array.dtype == object:  # whole numbers beyond 64 bits
        array = np.array(flat, dtype=float)
    return Found(array.reshape(shape))


def flattened(data: Any, what: str) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists, and their numbers in order."""
    shape: list[int] = []
    level, nested = [data], isinstance(data, list)
    while nested:
        lengths = {length_of(row) for row in level}
        if len(lengths) > 1:
            raise NotationError(311, f"the rows of {what} differ in length", notes=(ragged(level),))
        shape.append(len(level[0]))
        level = [entry for row in level for entry in row]
        nested = bool(level) and any(isinstance(entry, list) for entry in level)
    return tuple(shape), [entry_of(entry, what) for entry in level]


def length_of(row: Any) -> int | None:
    """The number of entries of a row; None for a number."""
    entries = as_list(row)
    return None if entries is None else len(entries)


def ragged(level: list[Any]) -> str:
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
        raise InputError(f"{what} holds {json.dumps(entry, ensure_ascii=False)[:40]}, which is no number")
    return float(entry) if isinstance(entry, int) and abs(entry) > 2**62 else entry


# ------------------------------------------------------------------------------------------------------------------ CSV
MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


def read_csv(place: Path, member: str | None, name: str) -> Found:
    """A table of numbers. A heading line is passed over, columns of words are dropped, both with a remark."""
    numbered = csv_rows(place)
    head = heading(numbered)
    body = numbered[1:] if head else numbered
    if not body:
        raise InputError(f"{place} holds no rows of numbers")
    titles = head or [f"column {index}" for index in range(1, len(body[0][1]) + 1)]
    kept = [index for index in range(len(titles)) if any(as_number(row[index]) is not None for _, row in body)]
    if not kept:
        raise InputError(f"{place} holds no column of numbers")
    dropped = [title for index, title in enumerate(titles) if index not in kept]
    if member is not None:
        kept, dropped = [kept_column(titles, kept, member, place)], []
    cells = [[cell_of(place, line, titles[index], row[index]) for index in kept] for line, row in body]
    return from_nested(cells, str(place))._replace(notes=csv_notes(dropped, cells), table=True)


def kept_column(titles: list[str], kept: list[int], member: str, place: Path) -> int:
    """The column of this title. Raises InputError that lists them."""
    columns = {titles[index]: index for index in kept}
    return columns[choose(columns, member, place, "column")]


def csv_rows(place: Path) -> list[tuple[int, list[str]]]:
    """The rows with their line numbers, all of one length."""
    text = read_text(place)
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    separator = max(",;\t", key=first.count)
    try:
        lines = list(csv.reader((line for line in text.splitlines()), delimiter=separator, skipinitialspace=True))
    except csv.Error as problem:
        raise InputError(f"{place} is no table: {problem}") from None
    rows = [(number, [cell.strip() for cell in row]) for number, row in enumerate(lines, 1) if any(map(str.strip, row))]
    rows = [(number, row) for number, row in rows if not row[0].startswith("#")]
    for number, row in rows:
        if len(row) != len(rows[0][1]):
            width = len(rows[0][1])
            raise InputError(f"{place}, line {number}: {len(row)} cells, where the first row has {width}")
    return rows


def heading(rows: list[tuple[int, list[str]]]) -> list[str]:
    """The first row if it is one of titles: words above numbers."""
    if not rows:
        return []
    first = rows[0][1]
    words = [as_number(cell) is None for cell in first]
    below = rows[1][1] if len(rows) > 1 else first
    above = any(word and as_number(cell) is not None for word, cell in zip(words, below))
    return first if above or (all(words) and len(rows) == 1) else []


def cell_of(place: Path, line: int, title: str, text: str) -> int | float:
    number = as_number(text)
    if number is None and text.lower() in MISSING:
        return math.nan
    if number is None:
        raise InputError(f"{place}, line {line}, {title}: {text[:40]!r} is no number")
    return number


def csv_notes(dropped: list[str], cells: list[list[Any]]) -> tuple[str, ...]:
    missing = sum(math.isnan(cell) for row in cells for cell in row)
    notes = [f"left out {', '.join(dropped)}: no numbers there"] if dropped else []
    if missing:
        notes.append(f"{missing} missing value{'s' * (missing != 1)} became nan")
    return tuple(notes)


# ---------------------------------------------------------------------------------------------------------- NumPy's own
def read_npy(place: Path, member: str | None, name: str) -> Found:
    return Found(numeric(load_numpy(place), str(place)))


def read_npz(place: Path, member: str | None, name: str) -> Found:
    """The member, or the only array; `axes` beside it names its axes."""
    with load_numpy(place) as archive:
        if not hasattr(archive, "files"):
            raise InputError(f"{place} is no archive of arrays, though it is called .npz")
        names = member_of(archive, "axes", place) if "axes" in archive.files else None
        own = tuple(map(str, names)) if names is not None and names.dtype.kind == "U" else None
        arrays = [key for key in archive.files if own is None or key != "axes"]
        chosen = choose(arrays, member, place)
        array = numeric(member_of(archive, chosen, place), f"{place}[{chosen}]")
    return Found(array, own if len(arrays) == 1 else None)


def member_of(archive: Any, key: str, place: Path) -> Any:
    """One array of an archive, unpacked. Raises InputError where that takes more memory than a result may."""
    from zipfile import BadZipFile
    from zlib import error as BadStream

    unpacked = max(each.file_size for each in archive.zip.infolist() if each.filename in (key, f"{key}.npy"))
    if unpacked > DEFAULT.result:
        raise InputError(f"{key} in {place} unpacks to {unpacked} bytes, and at most {DEFAULT.result} are read")
    try:
        array = archive[key]
    except (ValueError, EOFError, KeyError, SyntaxError, BadZipFile, BadStream) as problem:
        raise InputError(f"{key} in {place} cannot be read: {first_line(problem)}") from None
    if not hasattr(array, "dtype"):
        raise InputError(f"{key} in {place} cannot be read: it is no array of NumPy's")
    return array


def choose(arrays: Collection[str], member: str | None, place: Path, kind: str = "array") -> str:
    """The member asked for, or the only one. Raises InputError that lists them."""
    if member in arrays:
        return str(member)
    known = ", ".join(list(arrays)[:8]) + (", …" if len(arrays) > 8 else "")
    if member is not None:
        raise InputError(f"{place} has no {kind} {member}; it has {known or 'none'}")
    if len(arrays) != 1:
        raise InputError(f"{place} holds {len(arrays)} {kind}s ({known}); say which: {place.name}[NAME]:axes")
    return next(iter(arrays))


def load_numpy(place: Path) -> Any:
    import zipfile

    import numpy as np

    try:
        return np.load(place, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, zipfile.BadZipFile) as problem:
        raise InputError(f"{place} is no file of NumPy's: {first_line(problem)}") from None


def first_line(problem: Exception) -> str:
    text = (str(problem).splitlines() or [""])[0]
    return "it holds Python objects" if "pickle" in text.lower() else text[:1].lower() + text[1:100]


def numeric(array: Any, what: str) -> Any:
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what} holds values of type {array.dtype}, which are no real numbers")
    return array


# ---------------------------------------------------------------------------------------------------------- safetensors
def read_safetensors(place: Path, member: str | None, name: str) -> Found:
    """One tensor of the file, with its axes where our own program wrote it."""
    from .safetensors import TensorFile, axes_in

    try:
        file = TensorFile(place)
    except NotationError as problem:
        raise InputError(problem.message) from None
    chosen = choose(file, member, place)
    axes = axes_in(file).get(chosen)
    return Found(file[chosen], tuple(axes) if axes else None)


# -------------------------------------------------------------------------------------------------------------- writing
def write(value: Any, place: str) -> None:
    """Write a tensor, first to a temporary name in the same folder: what was there stays until all is written.

    Raises InputError.
    """
    writer = writable(place)
    try:
        with whole_file(place) as file:
            writer(value, file, place)
    except (OSError, ValueError) as problem:
        raise InputError(f"{place} cannot be written: {reason(problem)}") from None


def writable(place: str) -> Callable[..., None]:
    """The writer for this name. Raises InputError where its suffix is of no known format."""
    format = FORMATS.get(Path(place).suffix.lower())
    if format is None or format.write is None:
        known = ", ".join(suffix for suffix, each in FORMATS.items() if each.write)
        raise InputError(f"{place}: a result is written to a file that ends in {known}")
    return format.write


def positional(value: Any) -> tuple[Any, tuple[str, ...]]:
    """The array of a result, and its axes in the array's order."""
    import numpy as np

    return np.asarray(value.to_array(value.axes)), tuple(value.axes)


def write_npy(value: Any, file: Any, place: str) -> None:
    import numpy as np

    np.save(file, positional(value)[0], allow_pickle=False)


def write_npz(value: Any, file: Any, place: str) -> None:
    import numpy as np

    array, axes = positional(value)
    np.savez(file, value=array, axes=np.array(axes, dtype=str))


def write_json(value: Any, file: Any, place: str) -> None:

    array, axes = positional(value)
    record = {"axes": list(axes), "data": finite(array.tolist())}
    file.write((json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8"))


def write_csv(value: Any, file: Any, place: str) -> None:
    """Two axes at most: the first goes down, the second across; the heading names each column as the notation does."""
    array, axes = positional(value)
    if array.ndim > 2:
        raise InputError(
            f"{place}: a table has two axes at most, and the result has {', '.join(axes)}; write .npy or .json"
        )
    across = (
        [f"{axes[1]}({index})" for index in range(1, array.shape[1] + 1)] if array.ndim == 2 else [*axes] or ["value"]
    )
    rows = array.tolist() if array.ndim == 2 else [[entry] for entry in array.reshape(-1).tolist()]
    lines = [
        across,
        *([str(entry) if not isinstance(entry, bool) else str(int(entry)) for entry in row] for row in rows),
    ]
    file.write("".join(",".join(line) + "\n" for line in lines).encode("utf-8"))


class Format(NamedTuple):
    read: Callable[[Path, str | None, str], Found]
    write: Callable[..., None] | None = None
    members: bool = False  # whether FILE[NAME] chooses among several


FORMATS = {
    ".json": Format(read_json, write_json),
    ".npy": Format(read_npy, write_npy),
    ".npz": Format(read_npz, write_npz, True),
    ".csv": Format(read_csv, write_csv, True),
    ".tsv": Format(read_csv, None, True),
    ".safetensors": Format(read_safetensors, None, True),
}
