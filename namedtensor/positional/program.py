"""The result of a reader: the lines of a translation, its inputs and assumptions, and code that a library can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from grammar.nodes import Node

from .axes import Axes, Dims
from .values import Leaf


class SourceText(Protocol):
    """Array code that its library can evaluate; `compared_with` describes the library's value in messages."""

    compared_with: str

    def value(self, arrays: Mapping[str, Any], size_of: Any) -> Any:
        """Evaluate the source on plain arrays, and return the result."""
        ...


@dataclass(frozen=True)
class FormulaLine:
    """A line `head = node`, or a line that is only a value.

    `dims` contains the value's axes in the order of the source's dimensions.
    """

    head: Node | None
    node: Node
    dims: Dims


@dataclass(frozen=True)
class TranslatedProgram:
    """The translated lines of a source, with its axes, inputs and assumptions (`remarks`).

    The last line contains the value. `source` is None if no library can compute this value.
    """

    kind: str
    axes: Axes
    lines: tuple[FormulaLine, ...]
    inputs: Mapping[str, Leaf]
    remarks: tuple[str, ...]
    source: SourceText | None
