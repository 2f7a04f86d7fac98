"""A program whose axes have colors in every view."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grammar.nodes import Node
from grammar.plain_text import encodable
from grammar.printer import to_text

from .colors import Tint, supports_color
from .html import html_program

RESET = "\x1b[0m"


@dataclass(frozen=True)
class Highlighted:
    """A formula that prints as HTML with a legend, as colored text in a terminal, or as plain text."""

    tree: Node
    tints: Mapping[str, Tint]
    sizes: Mapping[str, Any]

    def to_text(self) -> str:
        """Return the text with terminal escapes, and a legend if sizes are known."""
        text = to_text(self.tree, colors={axis: tint.escape for axis, tint in self.tints.items()})
        known = {axis: tint for axis, tint in self.tints.items() if axis in self.sizes}
        return f"{text}\n{legend(known, self.sizes)}" if known else text

    def to_html(self) -> str:
        """Return HTML for a page, with a legend."""
        return html_program(self.tree, self.tints, self.sizes)

    @encodable
    def __str__(self) -> str:
        return self.to_text() if supports_color(sys.stdout) else to_text(self.tree)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()


def legend(tints: Mapping[str, Tint], sizes: Mapping[str, Any]) -> str:
    return ", ".join(f"{tint.escape}{axis}{RESET} = {sizes[axis]}" for axis, tint in tints.items())
