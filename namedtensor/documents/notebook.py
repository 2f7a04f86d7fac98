"""Notebooks as one document: the Markdown of their cells, each cell a file of its own, `notes.ipynb:cell 3`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..files.text import InputError
from .included_files import Whole, joined
from .markdown import whole_markdown

CELL = ":cell "  # between the name of a notebook and the number of a cell


def whole_notebook(text: str, file: str) -> Whole:
    """Return the headings and formulas of a notebook's Markdown cells. Raises InputError if it is not a notebook."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{file} is not a notebook: {problem}") from None
    return joined(file, text, (whole_markdown(source, f"{file}{CELL}{number}") for number, source in _cells(content)))


def _cells(content: Any) -> Iterator[tuple[int, str]]:
    """The numbers of the Markdown cells of a notebook, counted among all cells from 1, and their texts."""
    cells = content.get("cells") if isinstance(content, dict) else None
    for number, cell in enumerate(cells if isinstance(cells, list) else (), 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            source = cell.get("source", "")
            yield number, "".join(map(str, source)) if isinstance(source, list) else str(source)
