"""What a reader gives: lines of nodes with axes, the inputs, the assumptions; and how a source gives its own value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from grammar.nodes import Node

from .axes import Axes, Dims
from .values import Leaf


class SourceText(Protocol):
    """A reader with its tree, for the comparison.

    `compared_with` names the value in words; `with_ones` says whether it keeps axes of length 1.
    """

    compared_with: str
    with_ones: bool

    def value(self, arrays: Mapping[str, Any], size_of: Any, decisions: Mapping[Any, int]) -> Any:
        """The value of the source for plain arrays."""
        ...


@dataclass(frozen=True)
class FormulaLine:
    """head = node, or a value alone; `dims` are the axes of the value in the order of the source's array."""

    head: Node | None
    node: Node
    dims: Dims


@dataclass(frozen=True)
class TranslatedProgram:
    """The lines of a source, the last with its value."""

    kind: str
    axes: Axes
    lines: tuple[FormulaLine, ...]
    inputs: Mapping[str, Leaf]
    remarks: tuple[str, ...]
    source: SourceText
