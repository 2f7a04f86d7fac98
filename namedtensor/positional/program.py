"""The result of a reader: lines of nodes with axes, inputs, assumptions, and code that a library can compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from grammar.nodes import Node

from .axes import Axes, Dims
from .values import Leaf


class SourceText(Protocol):
    """Array code that its library computes; `compared_with` names the library's value in words."""

    compared_with: str

    def value(self, arrays: Mapping[str, Any], size_of: Any) -> Any:
        """Return the value of the source for plain arrays."""
        ...


@dataclass(frozen=True)
class FormulaLine:
    """A line `head = node`, or only a value. `dims` contains the value's axes in the order of the source's array."""

    head: Node | None
    node: Node
    dims: Dims


@dataclass(frozen=True)
class TranslatedProgram:
    """The lines of a source, which end with its value. `source` is None if no library can compute this value."""

    kind: str
    axes: Axes
    lines: tuple[FormulaLine, ...]
    inputs: Mapping[str, Leaf]
    remarks: tuple[str, ...]
    source: SourceText | None
