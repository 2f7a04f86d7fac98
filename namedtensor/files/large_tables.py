"""Large text tables. If pandas is installed, its C code reads them.

Irregular files, such as files with comments or with words among numbers, are left to `csv_tables`, whose errors contain
line numbers. Both readers return the same result.
"""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from .csv_tables import (
    MISSING,
    SAMPLE_ROWS,
    Table,
    TableCells,
    cells_of,
    find_dropped_columns,
    has_numbers,
    is_row_numbers,
    rows_of,
    separator_of,
)

HEAD_BYTES = 2**18  # the start of a file, whose rows decide whether there is a header


def read_large_table(path: Path, file: IO[bytes], header: bool | None) -> Table | None:
    """Read the table of a large open file with pandas. Return None if `csv_tables` has to read the file instead."""
    text = plain_head(file)
    head = cells_of(rows_of(text, path)[: SAMPLE_ROWS + 1], header)
    columns = pandas_columns(file, head, separator_of(text)) if head.lines else None
    if columns is None:
        return None
    numeric = tuple(index for index, column in enumerate(columns) if not isinstance(column, list))
    if head.is_indexed:
        if not is_row_numbers([str(number) for number in columns[0][: SAMPLE_ROWS + 1]]):
            return None
        numeric = numeric[1:]
    others = [index for index in range(len(columns)) if index not in numeric]
    labeling = next((index for index in others if isinstance(columns[index], list) and all(columns[index])), None)
    if not numeric:
        return None
    counted = tuple(map(str, columns[0])) if head.is_indexed else ()
    labels = counted if labeling is None else tuple(columns[labeling])
    words = {index: columns[index] for index in others if index != labeling and isinstance(columns[index], list)}
    dropped = find_dropped_columns(head.titles, head.has_header, words)
    return Table(path, head.titles, {index: columns[index] for index in numeric}, (), labels, head.has_header, dropped)


def plain_head(file: IO[bytes]) -> str:
    """Return the first lines of a file as text, or "" if they contain quotes, comments or invalid UTF-8."""
    data = file.read(HEAD_BYTES)
    try:
        text = data.rpartition(b"\n")[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""
    return "" if '"' in text or any(line.startswith("#") for line in text.splitlines()) else text


def pandas_columns(file: IO[bytes], head: TableCells, separator: str) -> list[Any] | None:
    """Return each column as an array of numbers or a list of words, or None if pandas cannot read the file."""
    try:
        pandas: Any = import_module("pandas")
    except ImportError:
        return None
    spellings = sorted({spelled for word in MISSING for spelled in (word, word.upper(), word.title(), "NaN")})
    numeric = {index: spellings for index, column in enumerate(head.columns) if has_numbers(column)}
    words: dict[int, Any] = {index: str for index in range(len(head.columns)) if index not in numeric}
    exact: dict[str, Any] = {} if int(pandas.__version__.partition(".")[0]) > 2 else {"float_precision": "round_trip"}
    file.seek(0)
    try:
        frame = pandas.read_csv(
            file, sep=separator, header=None, skiprows=head.lines[0] - 1, skipinitialspace=True, encoding="utf-8",
            keep_default_na=False, na_values=numeric, dtype=words, quoting=csv.QUOTE_NONE, **exact,
        )  # fmt: skip
    except ValueError:  # of pandas' parser, and of an encoding
        return None
    columns = [frame[name] for name in frame.columns]
    if len(columns) != len(head.titles):
        return None
    may_be_short = columns[-1].isna().any() or (columns[-1].dtype.kind not in "iuf" and (columns[-1] == "").any())
    if may_be_short and not is_rectangular(file, head, separator.encode(), len(frame)):
        return None
    values = [
        column.to_numpy() if column.dtype.kind in "iuf" else [str(word).strip() for word in column]
        for column in columns
    ]
    return check_columns(values, head)


def is_rectangular(file: IO[bytes], head: TableCells, separator: bytes, count: int) -> bool:
    """Return whether `count` rows of a file have the expected number of separators in total, and no row is empty."""
    file.seek(0)
    body, empty = file.read().split(b"\n", head.lines[0] - 1)[-1], separator * (len(head.titles) - 1)
    rows = (b"\n" + empty + end for end in (b"\n", b"\r\n"))
    return body.count(separator) == count * len(empty) and not (empty and any(row in body for row in rows))


def check_columns(columns: list[Any], head: TableCells) -> list[Any] | None:
    """Return the columns, or None if a column is irregular.

    A column is irregular if it mixes words and numbers, or if it is numeric but contains no number in total or in the
    sample.
    """
    for column, sample in zip(columns, head.columns):
        if isinstance(column, list):
            if has_numbers(cast("list[str]", column)):
                return None
        elif not has_numbers(sample) or bool((column != column).all()):
            return None
    return columns
