"""Large tables of text: read by pandas where it is installed, else by NumPy, both in C.

What is not plain (comments, words among numbers, missing values that NumPy does not know) is left to `csv_tables`, which says
what is wrong and where; the result is the same.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

from grammar.locks import LOADING, all_or_none

from .csv_tables import (
    MISSING,
    SAMPLE_ROWS,
    Row,
    Table,
    has_numbers,
    is_header,
    is_indexed,
    is_row_numbers,
    notes_of,
)

HEAD_BYTES = 2**18  # of a file, which hold the rows that say whether there is a header


class TableHead(NamedTuple):
    """What the first rows of a file say of all: its separator, its titles, and the line at which numbers begin."""

    separator: str
    titles: tuple[str, ...]
    has_header: bool
    skipped: int  # lines before the first row of numbers
    sample: tuple[tuple[str, ...], ...]  # columns of the first rows
    indexed: bool


def read_large_table(path: Path, header: bool | None) -> Table | None:
    """The table of a large file; None where `csv_tables` has to read it."""
    head = head_of(path, header)
    if head is None:
        return None
    columns = pandas_columns(path, head) or numpy_columns(path, head)
    if columns is None:
        return None
    numeric = tuple(index for index, column in enumerate(columns) if not isinstance(column, list))
    if head.indexed:
        if not is_row_numbers([str(number) for number in columns[0][: SAMPLE_ROWS + 1]]):
            return None
        numeric = numeric[1:]
    others = [index for index in range(len(columns)) if index not in numeric]
    named = [columns[index] for index in others if isinstance(columns[index], list) and all(columns[index])]
    if not numeric:
        return None
    labels = tuple(named[0]) if named else tuple(map(str, columns[0])) if head.indexed else ()
    notes = notes_of(head.titles, others, head.has_header)
    return Table(path, head.titles, {index: columns[index] for index in numeric}, (), labels, head.has_header, notes)


def head_of(path: Path, header: bool | None) -> TableHead | None:
    """What the first rows say; None where they are not plain."""
    with path.open("rb") as file:
        data = file.read(HEAD_BYTES)
    try:
        text = data.rpartition(b"\n")[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = text.splitlines()
    if any(line.startswith("#") for line in lines) or '"' in text:
        return None
    first = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=first.count)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    rows: list[Row] = []
    for number, cells in enumerate(reader, 1):
        if any(map(str.strip, cells)):
            rows.append((number, [cell.strip() for cell in cells]))
        if len(rows) > SAMPLE_ROWS:
            break
    if len(rows) < 2 or len({len(cells) for _, cells in rows}) > 1:
        return None
    has_header = is_header(rows) if header is None else header
    body = rows[1:] if has_header else rows
    count = len(body[0][1])
    titles = tuple(rows[0][1]) if has_header else tuple(f"column {number}" for number in range(1, count + 1))
    sample = tuple(zip(*(cells for _, cells in body)))
    return TableHead(separator, titles, has_header, body[0][0] - 1, sample, is_indexed(titles, sample[0], has_header))


def pandas_columns(path: Path, head: TableHead) -> list[Any] | None:
    """The columns as arrays of numbers and lists of words; None where pandas is not there, or a column has both."""
    try:
        with LOADING, all_or_none():
            pandas: Any = import_module("pandas")
    except ImportError:
        return None
    spellings = sorted({spelled for word in MISSING for spelled in (word, word.upper(), word.title(), "NaN")})
    numeric = {index: spellings for index, column in enumerate(head.sample) if has_numbers(column)}
    words: dict[int, Any] = {index: str for index in range(len(head.sample)) if index not in numeric}
    exact: dict[str, Any] = {} if int(pandas.__version__.partition(".")[0]) > 2 else {"float_precision": "round_trip"}
    try:
        frame = pandas.read_csv(
            path, sep=head.separator, header=None, skiprows=head.skipped, skipinitialspace=True, encoding="utf-8",
            keep_default_na=False, na_values=numeric, dtype=words, quoting=csv.QUOTE_NONE, **exact,
        )  # fmt: skip
    except ValueError:  # of pandas' parser, and of an encoding
        return None
    columns = [frame[name] for name in frame.columns]
    if len(columns) != len(head.titles):
        return None
    may_be_short = columns[-1].isna().any() or (columns[-1].dtype.kind not in "iuf" and (columns[-1] == "").any())
    if may_be_short and not is_rectangular(path, head, len(frame)):
        return None
    values = [
        column.to_numpy() if column.dtype.kind in "iuf" else [str(word).strip() for word in column]
        for column in columns
    ]
    return checked(values, head)


def is_rectangular(path: Path, head: TableHead, count: int) -> bool:
    """Whether each row has all its separators, and something between them; `count` is the number of rows."""
    separator = head.separator.encode()
    body, empty = path.read_bytes().split(b"\n", head.skipped)[-1], separator * (len(head.titles) - 1)
    rows = (b"\n" + empty + end for end in (b"\n", b"\r\n"))
    return body.count(separator) == count * len(empty) and not (empty and any(row in body for row in rows))


def numpy_columns(path: Path, head: TableHead) -> list[Any] | None:
    """The same by NumPy, which knows no missing values but empty ones."""
    import numpy as np

    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return None
    if '"' in text or "\n#" in text:
        return None
    separator = head.separator
    for _ in range(2 if separator * 2 in text else 0):
        text = text.replace(separator * 2, f"{separator}nan{separator}")
    numeric = [index for index, column in enumerate(head.sample) if has_numbers(column)]
    columns: list[Any] = [None] * len(head.titles)

    def numbers(dtype: Any) -> Any:
        return np.loadtxt(
            io.StringIO(text), dtype=dtype, delimiter=separator, skiprows=head.skipped, usecols=numeric, ndmin=2,
            comments=None,
        )  # fmt: skip

    try:
        array = numbers(np.float64)
    except ValueError:
        return None
    if bool((array == np.floor(array)).all()):  # else NumPy before 2.3 cuts fractions off, and makes integers of nan
        try:
            array = numbers(np.int64)
        except (ValueError, DeprecationWarning):
            pass  # numbers with a decimal point, or beyond 64 bits
    for index, column in zip(numeric, array.T):
        columns[index] = column
    words = [index for index in range(len(columns)) if columns[index] is None]
    if words:
        rows = [*zip(*rows_below(text, head))]
        if len(rows) != len(columns):
            return None
        for index in words:
            columns[index] = [cell.strip() for cell in rows[index]]
    return checked(columns, head)


def rows_below(text: str, head: TableHead) -> Iterator[Sequence[str]]:
    """The rows of numbers as cells."""
    reader = csv.reader(text.splitlines()[head.skipped :], delimiter=head.separator, skipinitialspace=True)
    return (row for row in reader if any(map(str.strip, row)))


def checked(columns: list[Any], head: TableHead) -> list[Any] | None:
    """The columns where each is of numbers alone or of words alone; None where one is not."""
    for column, sample in zip(columns, head.sample):
        if isinstance(column, list):
            if has_numbers(cast("list[str]", column)):
                return None
        elif not has_numbers(sample) or bool((column != column).all()):
            return None
    return columns
