"""Text tables (CSV, TSV), and rules that find the header row, the label column and the numeric columns.

The first row is the header if one of these rules applies, in this order. Each rule examines the types of whole columns:

1. The row has a word above a column of numbers: `name,x / ann,1`.
2. The row's first cell is empty, above a column of words or of row numbers: `,2020,2021 / North,10,11`.
3. The row's numbers are years from 1000 to 2999 in equal steps, and no other number is such a year:
   `region,2020,2021 / North,10,11`. A single year requires an adjacent column of words.
4. Next to a column of words, the row's numbers count from 0 or 1, and there are at least three. All other numbers are
   smaller or larger than all of them, and no other row counts in this way: `region,1,2,3 / North,10,14,11`.

Otherwise, the first row is data. The rules examine the first `SAMPLE_ROWS` rows. `large_tables` reads large files by
the same rules.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..core.labels import dropping_notes
from .text import InputError, parse_number, read_text

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
NUMBERS_START = {*"0123456789+-−.∞iInN"}  # characters that a number can begin with
YEARS = range(1000, 3000)
SAMPLE_ROWS = 1000  # rows after the first that decide whether it is a header
MAX_TITLES = 8  # titles that a note lists
Row = tuple[int, list[str]]  # its number in the file, and its cells


class Table(NamedTuple):
    """A table without its header row: the titles, the columns of numbers, and the row labels, if any."""

    path: Path
    titles: tuple[str, ...]
    columns: Mapping[int, Any]  # by index: an array of numbers, or a list of cells
    lines: Sequence[int]  # the line number of each row in the file
    labels: tuple[str, ...]
    has_header: bool
    dropped: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that state which row is the header, if any, and which columns are omitted, if any."""
        shown = ", ".join(title or "(empty)" for title in self.titles[:MAX_TITLES])
        header = f"took the first row as header: {shown}" + ", …" * (len(self.titles) > MAX_TITLES)
        return (header,) * self.has_header + dropping_notes(self.dropped)

    @property
    def count(self) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The number of rows."""
        return len(next(iter(self.columns.values())))

    def values(self, indices: Iterable[int]) -> Any:
        """Return the columns at these indices as one array, with a row per table row. Raise InputError for a word."""
        chosen = ((self.titles[index], self.columns[index]) for index in indices)
        return array_of(
            [
                numbers_in(self.path, self.lines, title, cells) if isinstance(cells, list) else cells  # pyright: ignore[reportUnknownArgumentType]
                for title, cells in chosen
            ]
        )


class TableCells(NamedTuple):
    """The cells of a table without its header, column by column, and the line numbers of its rows in the file."""

    titles: tuple[str, ...]
    columns: list[list[str]]
    lines: list[int]
    has_header: bool

    @property
    def is_indexed(self) -> bool:
        """Whether the first column contains only row numbers."""
        return self.has_header and not self.titles[0] and len(self.titles) > 1 and is_row_numbers(self.columns[0])


def read_table(path: Path, header: bool | None = None) -> Table:
    """Return the table of a file.

    `header` specifies whether the first row is a header. If it is None, the rules decide. Raises InputError if the file
    is not a valid table.
    """
    titles, cells, lines, has_header = table = cells_of(read_rows(path), header)
    if not lines:
        raise InputError(f"{path} holds no rows of numbers")
    columns = {index: column for index, column in enumerate(cells) if has_numbers(column)}
    if table.is_indexed:
        del columns[0]
    if not columns:
        raise InputError(f"{path} holds no column of numbers")
    others = [index for index in range(len(cells)) if index not in columns]
    labeling = next((index for index in others if all(cells[index])), None)
    labels = () if labeling is None else tuple(cells[labeling])
    dropped = find_dropped_columns(titles, has_header, {index: cells[index] for index in others if index != labeling})
    return Table(path, titles, columns, lines, labels, has_header, dropped)


def cells_of(rows: Sequence[Row], header: bool | None) -> TableCells:
    """Return the cells of a table without its header. If `header` is None, rules decide whether there is a header."""
    has_header = bool(rows) and (is_header(rows[: SAMPLE_ROWS + 1]) if header is None else header)
    body = rows[1:] if has_header else rows
    columns = [list(column) for column in zip(*(row for _, row in body))]
    titles = rows[0][1] if has_header else [f"column {number}" for number in range(1, len(columns) + 1)]
    return TableCells(tuple(titles), columns, [number for number, _ in body], has_header)


def has_numbers(column: Sequence[str]) -> bool:
    """Return whether a column contains a number."""
    return any(cell[:1] in NUMBERS_START and is_number(cell) for cell in column)


def numbers_in(path: Path, lines: Sequence[int], title: str, column: Sequence[str]) -> list[int | float]:
    """Return the numbers of a column, with NaN for missing numbers. Raises InputError if a cell is a word."""
    for convert in (int, float):
        try:
            return [*map(convert, column)]
        except ValueError:
            continue
    return [number_in(path, line, title, cell) for line, cell in zip(lines, column)]


def array_of(columns: Sequence[Any]) -> Any:
    """Return columns of numbers as one array with a row for each row of the table.

    The array contains integers if all numbers are integers.
    """
    import numpy as np

    arrays = [np.asarray(column) for column in columns]
    dtype = np.result_type(*arrays)
    return np.stack([array.astype(float if dtype.kind == "O" else dtype, copy=False) for array in arrays], axis=1)


def read_rows(path: Path) -> list[Row]:
    return rows_of(read_text(path), path)


def separator_of(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return max(",;\t", key=first.count)


def rows_of(text: str, path: Path) -> list[Row]:
    """Return the rows with their line numbers. Raise InputError if the rows differ in length."""
    try:
        lines = list(csv.reader(text.splitlines(), delimiter=separator_of(text), skipinitialspace=True))
    except csv.Error as problem:
        raise InputError(f"{path} is not a table: {problem}") from None
    rows = [(number, [cell.strip() for cell in row]) for number, row in enumerate(lines, 1) if any(map(str.strip, row))]
    rows = [(number, row) for number, row in rows if not row[0].startswith("#")]
    for number, row in rows:
        if len(row) != len(rows[0][1]):
            width = len(rows[0][1])
            raise InputError(f"{path}, line {number}: {len(row)} cells, where the first row has {width}")
    return rows


def find_dropped_columns(titles: Sequence[str], has_header: bool, columns: Mapping[int, Any]) -> tuple[str, ...]:
    """Return the titles of dropped columns, without the columns that have neither a header title nor content."""
    indices = [index for index, cells in columns.items() if (has_header and titles[index]) or any(cells)]
    return tuple(titles[index] or f"column {index + 1}" for index in indices)


# -------------------------------------------------------------------------------------------------------------- the rules
def is_header(rows: Sequence[Row]) -> bool:
    """Return whether the first row is a header, by the rules in the module docstring."""
    first, body = rows[0][1], [row for _, row in rows[1:]]
    if not body:
        return all(map(is_word, first))
    cells = [[row[index] for row in body] for index in range(len(first))]
    columns = [index for index, column in enumerate(cells) if any(map(is_number, column))]
    has_labels = any(any(map(is_word, column)) for index, column in enumerate(cells) if index not in columns)
    if any(is_word(first[index]) for index in columns):
        return True
    if not first[0] and all(first[1:]) and len(first) > 1 and (0 not in columns or is_row_numbers(cells[0])):
        return True
    titles = [parse_number(first[index]) for index in columns]
    values = [[parse_number(row[index]) for index in columns] for row in body]
    return is_years(titles, values, has_labels) or (has_labels and is_counted(titles, values))


def is_years(titles: Sequence[int | float | None], values: Sequence[Sequence[int | float | None]], alone: bool) -> bool:
    """Return whether the titles are years, according to rule 3. A single year is accepted only if `alone` is true."""
    fit = all(isinstance(title, int) and title in YEARS for title in titles)
    if not fit or any(number is not None and YEARS[0] <= number <= YEARS[-1] for row in values for number in row):
        return False
    return alone if len(titles) == 1 else len(steps_of(titles)) == 1 and min(steps_of(titles)) > 0


def is_counted(titles: Sequence[int | float | None], values: Sequence[Sequence[int | float | None]]) -> bool:
    """Return whether the titles are consecutive numbers from 0 or 1 and the values are not, according to rule 4."""
    counts = len(titles) >= 3 and titles[0] in (0, 1) and is_consecutive(titles)
    if not counts or any(map(is_consecutive, values)):
        return False
    numbers = [number for row in values for number in row if number is not None]
    low, high = titles[0], titles[-1]
    assert low is not None and high is not None
    return all(number < low for number in numbers) or all(number > high for number in numbers)


def is_consecutive(numbers: Sequence[int | float | None]) -> bool:
    return all(isinstance(number, int) for number in numbers) and steps_of(numbers) <= {1}


def steps_of(numbers: Sequence[int | float | None]) -> set[float]:
    """Return the differences between neighboring numbers, with NaN for missing numbers."""
    return {
        math.nan if before is None or after is None else after - before for before, after in zip(numbers, numbers[1:])
    }


def is_row_numbers(column: Sequence[str]) -> bool:
    """Return whether a column contains only row numbers, which are consecutive integers from 0 or 1."""
    numbers = [parse_number(cell) for cell in column]
    return numbers[0] in (0, 1) and is_consecutive(numbers)


def is_number(cell: str) -> bool:
    return cell.lower() not in MISSING and parse_number(cell) is not None


def is_word(cell: str) -> bool:
    """Return whether a cell is neither a number nor missing."""
    return cell.lower() not in MISSING and parse_number(cell) is None


def number_in(path: Path, line: int, title: str, text: str) -> int | float:
    """Return the number in a cell, or NaN if the cell is a missing value. Raise InputError if it is a word."""
    number = parse_number(text)
    if number is None and text.lower() in MISSING:
        return math.nan
    if number is None:
        raise InputError(f"{path}, line {line}, {title}: {text[:40]!r} is not a number")
    return number
