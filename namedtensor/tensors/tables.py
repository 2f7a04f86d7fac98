"""Formatting of tensors as tables. The last two axes are rows and columns. There is one table per index of other axes.

height\\width │ 1  2  3
─────────────┼────────
           1 │ 3  1  4
           2 │ 1  5  9
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from grammar.errors import NotationError, printable
from grammar.plain_text import encodable

from ..core.arrays import UnnamedAxes
from .digits import IN_HALVES, IN_LINES, IN_TABLES, digits_of

if TYPE_CHECKING:
    from ..core.labels import Labels
    from ..core.tensor import NamedTensor

LONGEST = 12  # elements of an axis that are shown; longer axes show the first and the last elements
FACETS = 6
FEW = 24  # numbers printed on one line
USUAL = {"int64", "float64", "bool", "complex128"}  # dtypes that Python's numbers have


@encodable
def __repr__(tensor: NamedTensor) -> str:
    """Format a small tensor as an expression on one line, and a larger tensor as its `summary`.

    The expression includes the dtype if it differs from the dtype of Python's numbers.

    >>> import namedtensor as nt
    >>> nt.tensor([[3, 1, 4], [1, 5, 9]], "height width")
    NamedTensor([[3, 1, 4], [1, 5, 9]], "height width")
    >>> import numpy as np
    >>> {"W": nt.tensor(np.float32([0.5, 2.0]), "seq"), "b": nt.tensor(1.00001)}
    {'W': NamedTensor([0.5, 2.0], "seq", float32), 'b': NamedTensor(1.00001)}
    """
    if isinstance(tensor.layout, UnnamedAxes):
        return f"NamedTensor({tensor.layout})"
    extent = tensor.layout.extent or ()
    is_short = all(type(size) is int for size in extent) and math.prod(extent) <= FEW  # else a dimension of JAX
    array = values(tensor, tensor.axes) if is_short else None
    if array is None or array.size == 0 or array.dtype.kind not in "biufc":
        return summary(tensor)
    digits = digits_of(IN_HALVES if array.dtype == "float16" else IN_LINES)
    axes = " ".join(tensor.axes)
    parts = [format_numbers(array.tolist(), digits)] + ([f'"{axes}"'] if axes else [])
    parts += [] if dtype_of(tensor) in USUAL else [dtype_of(tensor)]
    if tensor.layout.labels:
        shown = ", ".join(f'"{axis}": [{", ".join(label_texts(labels))}]' for axis, labels in tensor.layout.labels)
        parts.append(f"labels={{{shown}}}")
    return f"NamedTensor({', '.join(parts)})"


def label_texts(labels: Labels) -> list[str]:
    """Format each label. Strings and dates are in double quotes."""
    texts = [printable(labels.text(at)) for at in range(len(labels))]
    return [f'"{text}"' if labels.values.dtype.kind in "OM" else text for text in texts]


def format_numbers(numbers: Any, digits: int) -> str:
    """Format nested lists of numbers as a Python expression."""
    if isinstance(numbers, list):
        return f"[{', '.join(format_numbers(entry, digits) for entry in numbers)}]"
    if not isinstance(numbers, float):
        return f"{numbers:.{digits}g}" if isinstance(numbers, complex) else str(numbers)
    if not math.isfinite(numbers):
        return str(numbers)
    text = number(numbers, digits)
    return text if "." in text or "e" in text else f"{text}.0"


def dtype_of(tensor: NamedTensor) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def summary(tensor: NamedTensor) -> str:
    """Return a one-line summary with the axes, their sizes, the dtype, and the range of values.

    >>> import namedtensor as nt
    >>> summary(nt.tensor([0.5, 2.0], "seq"))
    'NamedTensor(seq[2], float64, 0.5…2)'
    """
    shape = " × ".join(f"{axis}[{size}]" for axis, size in tensor.sizes.items())
    parts = [part for part in (shape, dtype_of(tensor), _range(tensor)) if part]
    return f"NamedTensor({', '.join(parts)})"


def _range(tensor: NamedTensor) -> str:
    import numpy as np

    array = values(tensor, tensor.axes)
    if array is None:
        return "no values yet"
    if array.size == 0:
        return "empty"
    if array.dtype.kind not in "biuf":
        return ""
    digits = digits_of(IN_HALVES if array.dtype == "float16" else IN_TABLES)
    if not tensor.axes:
        return number(array.item(), digits)
    array = array[tuple(slice(None if stride else 1) for stride in array.strides)]  # without repeated elements
    low, high = (function.reduce(array, axis=None).item() for function in (np.fmin, np.fmax))
    if low != low:
        return "nan"
    text = number(low, digits) if low == high else f"{number(low, digits)}…{number(high, digits)}"
    return text + (", with nan" if np.isnan(array.min()) else "")


def values(tensor: NamedTensor, order: tuple[str, ...]) -> Any:
    """Return the elements as a NumPy array, or None if there are no values, as when a library traces the tensor."""
    from ..core.array_data import concrete
    from ..core.arrays import is_shape

    if is_shape(tensor._array):
        return None
    try:
        return concrete(tensor.to_array(order))
    except Exception:  # each library has its own error for an array without values
        return None


def number(value: Any, digits: int = IN_TABLES) -> str:
    """Format a number with the given number of significant digits, without trailing zeros.

    If a noninteger is rounded to an integer, its decimals are shown, as in 1.000.

    >>> number(1.5), number(1 / 3), number(1.00001)
    ('1.5', '0.3333', '1.000')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"{value:.{digits}g}"
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value or 0.0:.{digits}g}"
    if value == value and not value.is_integer() and text.lstrip("-").isdigit():
        return f"{value:.{max(digits - len(text.lstrip('-')), 2)}f}"
    return text


def choose_positions(size: int) -> list[int | None]:
    """Return the positions along an axis that a table shows, with None in place of an omitted range."""
    if size <= LONGEST:
        return list(range(size))
    half = LONGEST // 2
    return [*range(half), None, *range(size - half, size)]


def column(texts: list[str]) -> list[str]:
    """Return the texts of a column, padded so that the decimal points of numbers are aligned."""
    places = [len(text) - text.find(".") if "." in text and "e" not in text else 0 for text in texts]
    most = max(places, default=0)
    padded = [text + " " * (most - position) if most else text for text, position in zip(texts, places)]
    width = max(map(len, padded), default=0)
    return [text.rjust(width) for text in padded]


def facets(tensor: NamedTensor) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Yield the title, array and axes of each table, up to a limit, as in ("batch 1", array, (rows, columns))."""
    axes = tensor.axes
    outer, inner, heads = axes[:-2], axes[-2:], heads_of(tensor)
    array = values(tensor, axes)
    for count, at in enumerate(itertools.product(*(range(tensor.sizes[axis]) for axis in outer))):
        if count == FACETS:
            break
        title = ", ".join(f"{axis} {heads[axis](position)}" for axis, position in zip(outer, at))
        yield title, array[at], inner


def left_out(tensor: NamedTensor) -> int:
    return max(0, math.prod(tensor.sizes[axis] for axis in tensor.axes[:-2]) - FACETS)


# --------------------------------------------------------------------------------------------------------- terminals
def text_table(tensor: NamedTensor, digits: int | None = None, spec: str | None = None) -> str:
    """Format a tensor as a table with the names of its axes.

    Rows and columns have the labels of their axis, or numbers from 1, as in formulas. Values have the given number of
    significant digits, or the format that the format specification `spec` describes.

    >>> import namedtensor as nt
    >>> print(text_table(nt.tensor([[3, 1], [1, 5]], "height width")))
    height\\width │ 1  2
    ─────────────┼─────
               1 │ 3  1
               2 │ 1  5
    """
    if isinstance(tensor.layout, UnnamedAxes):
        return repr(tensor)
    array = values(tensor, tensor.axes)
    if array is None or array.size == 0:
        return summary(tensor)
    write = writer(digits_of(IN_TABLES if tensor.axes else IN_LINES, digits), spec)
    if not tensor.axes:
        return write(array.item())
    lines: list[str] = []
    heads = heads_of(tensor)
    for title, piece, axes in facets(tensor):
        if title:
            lines += ([""] if lines else []) + [title]
        lines += _table_lines(piece, axes, write, [heads[axis] for axis in axes])
    hidden = left_out(tensor)
    if hidden:
        lines += ["", f"… and {hidden} more of {' × '.join(tensor.axes[:-2])}"]
    return "\n".join(lines)


@encodable
def __str__(tensor: NamedTensor) -> str:
    """Format the tensor as a table."""
    return text_table(tensor)


@encodable
def __format__(tensor: NamedTensor, spec: str) -> str:
    """Format the tensor as a table. An f-string's format specification applies to the numbers."""
    return text_table(tensor, spec=spec or None)


def to_text(tensor: NamedTensor, digits: int | None = None) -> str:
    """Format the tensor as a table for terminals.

    Parameters
    ----------
    digits : int, optional
        The number of significant digits (default: the setting of `set_printoptions`).

    Returns
    -------
    str

    Raises
    ------
    NotationError
        If `digits` is not an integer from 1 to 17.

    Examples
    --------
    >>> import namedtensor as nt
    >>> print(nt.tensor([3, 1], "a").to_text())
    a │ 1  2
    ──┼─────
      │ 3  1
    """
    return text_table(tensor, digits)


def writer(digits: int, spec: str | None) -> Callable[[Any], str]:
    """Return a function that formats a number by `spec`, or with `digits` significant digits if `spec` is None.

    The function raises NotationError if `spec` is invalid for the number.
    """
    if spec is None:
        return lambda value: number(value, digits)

    def written(value: Any) -> str:
        try:
            return format(value, spec)
        except (ValueError, TypeError):
            raise NotationError(
                405, f"cannot format {value!r} as {spec!r}", hint='write f"{A:.3f}", or f"{A:d}" for integers'
            ) from None

    return written


def heads_of(tensor: NamedTensor) -> dict[str, Callable[[int], str]]:
    """Return, for each axis, a function from a position to its heading: its label, if any, or its number from 1."""
    heads: dict[str, Callable[[int], str]] = {axis: lambda at: str(at + 1) for axis in tensor.axes}
    return heads | {axis: partial(label_at, labels) for axis, labels in tensor.layout.labels}


def label_at(labels: Labels, position: int) -> str:
    return printable(labels.text(position))


def _table_lines(
    piece: Any, axes: tuple[str, ...], write: Callable[[Any], str], heads: Sequence[Callable[[int], str]]
) -> list[str]:
    if piece.ndim == 1:
        rows, names, corner = piece.reshape(1, -1), [""], axes[0]
    else:
        rows, names, corner = piece, None, "\\".join(axes)
    row_at, column_at = choose_positions(rows.shape[0]), choose_positions(rows.shape[1])
    labels = names or ["…" if at is None else heads[0](at) for at in row_at]
    width = max(len(corner), *map(len, labels))
    columns = []
    for at in column_at:
        head = "…" if at is None else heads[-1](at)
        cells = ["…" if at is None or row is None else write(rows[row, at].item()) for row in row_at]
        aligned = column(cells)
        size = max(len(head), *map(len, aligned))
        columns.append([head.rjust(size), *(cell.rjust(size) for cell in aligned)])
    header = f"{corner:>{width}} │ " + "  ".join(cells[0] for cells in columns)
    lines = [header, "─" * (width + 1) + "┼" + "─" * (len(header) - width - 2)]
    for number_of_row, label in enumerate(labels, 1):
        lines.append(f"{label:>{width}} │ " + "  ".join(cells[number_of_row] for cells in columns))
    return [line.rstrip() for line in lines]


# --------------------------------------------------------------------------------------------------------- notebooks
STYLE = "border-collapse:collapse;font-family:ui-monospace,monospace;font-size:0.9em;display:inline-table;margin:0.3em 1em 0.3em 0"
CELL = "padding:0.15em 0.6em;text-align:right;border:1px solid rgba(128,128,128,0.25)"
HEAD = "padding:0.15em 0.6em;text-align:right;font-weight:normal;opacity:0.65"


def _repr_html_(tensor: NamedTensor) -> str:
    """Format the tensor as HTML tables with axis names. A tensor with more than two axes has several tables."""
    array = values(tensor, tensor.axes)
    title = html.escape(summary(tensor))
    caption = f'<div style="opacity:0.7;font-size:0.85em">{title}</div>'
    if array is None or array.size == 0:
        return f'<div class="named-tensor">{caption}</div>'
    if not tensor.axes:
        return f'<div class="named-tensor">{caption}<code>{number(array.item(), digits_of(IN_LINES))}</code></div>'
    largest = _largest(array)
    heads = heads_of(tensor)
    pieces = [
        _html_facet(title, piece, axes, largest, [heads[axis] for axis in axes])
        for title, piece, axes in facets(tensor)
    ]
    hidden = left_out(tensor)
    if hidden:
        pieces.append(f"<div>… and {hidden} more of {html.escape(' × '.join(tensor.axes[:-2]))}</div>")
    return f'<div class="named-tensor">{caption}{"".join(pieces)}</div>'


def _html_facet(
    title: str, piece: Any, axes: tuple[str, ...], largest: float, heads_at: Sequence[Callable[[int], str]]
) -> str:
    rows = piece.reshape(1, -1) if piece.ndim == 1 else piece
    row_axis = html.escape(axes[0]) if piece.ndim == 2 else ""
    column_axis = html.escape(axes[-1])
    row_at, column_at = choose_positions(rows.shape[0]), choose_positions(rows.shape[1])
    heads = "".join(
        f'<th style="{HEAD}">{"…" if at is None else html.escape(heads_at[-1](at))}</th>' for at in column_at
    )
    body = []
    for row in row_at:
        label = "…" if row is None else html.escape(heads_at[0](row)) if piece.ndim == 2 else ""
        cells = "".join(
            _html_cell(None if row is None or at is None else rows[row, at].item(), largest) for at in column_at
        )
        body.append(f'<tr><th style="{HEAD}">{label}</th>{cells}</tr>')
    caption = f'<caption style="text-align:left;opacity:0.65">{html.escape(title)}</caption>' if title else ""
    corner = (
        f'<tr><th style="{HEAD}"></th><th style="{HEAD};text-align:center" colspan="{len(column_at)}">'
        f"<b>{column_axis}</b></th></tr>"
        f'<tr><th style="{HEAD}"><b>{row_axis}</b></th>{heads}</tr>'
    )
    return f'<table style="{STYLE}">{caption}<thead>{corner}</thead><tbody>{"".join(body)}</tbody></table>'


def _largest(array: Any) -> float:
    """Return the largest finite absolute value in an array. A table shows it in the darkest shade."""
    import numpy as np

    if array.dtype.kind not in "iuf":
        return 0.0
    sizes = np.abs(array.astype(float))
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _html_cell(value: Any, largest: float) -> str:
    """Format an HTML cell. Positive values are shaded blue, and negative values are shaded orange."""
    if value is None:
        return f'<td style="{CELL}">…</td>'
    shade = ""
    if largest and value == value and not isinstance(value, bool):
        share = min(abs(value) / largest, 1.0)
        shade = f";background:rgba({'70,120,200' if value > 0 else '220,130,50'},{0.3 * share:.2f})"
    return f'<td style="{CELL}{shade}">{number(value, digits_of(IN_TABLES))}</td>'
