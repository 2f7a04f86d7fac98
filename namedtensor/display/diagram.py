"""Diagrams that draw the data flow of a formula in several formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grammar.cache import cached_property
from grammar.errors import NotationError

from ..files.text import save
from .colors import Tint
from .diagram_drawing import draw
from .diagram_matplotlib import render
from .diagram_mermaid import to_mermaid
from .diagram_shapes import DiagramShapes
from .diagram_svg import to_svg
from .diagram_tikz import to_tikz
from .flow_graph import FlowGraph
from .pictures import fit_width


@dataclass(frozen=True, repr=False)
class Diagram:
    """The data flow of a program as a diagram. Notebooks display it, and `save` writes it to a file."""

    graph: FlowGraph
    tints: Mapping[str, Tint]
    sizes: Mapping[str, Any]

    @cached_property
    def drawing(self) -> DiagramShapes:
        """Return the shapes of the diagram."""
        return draw(self.graph, self.tints, self.sizes)

    def to_svg(self) -> str:
        """Return the diagram as SVG, for light pages and slides."""
        return to_svg(self.drawing)

    def to_tikz(self) -> str:
        """Return the diagram as a `tikzpicture`. A document needs the package tikz and `latex_preamble()`."""
        return to_tikz(self.drawing)

    def to_mermaid(self) -> str:
        """Return the diagram as a Mermaid flowchart, which GitHub draws in Markdown files."""
        return to_mermaid(self.graph)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the diagram to a file.

        Parameters
        ----------
        path : str or path
            The file. Its extension determines the format: .svg, .tikz or .tex, .mmd (Mermaid), .pdf, .png (default:
            SVG).

        Raises
        ------
        NotationError
            If the format is unknown or the file cannot be written (409), or if matplotlib is missing for PDF or PNG
            (408).
        """
        extension = Path(path).suffix.lower()
        if extension not in FORMATS:
            formats = ", ".join(filter(None, FORMATS))
            raise NotationError(
                409, f"cannot write {path}: supported formats are {formats}", hint="use a name that ends in .svg"
            )
        save(path, FORMATS[extension](self))

    def __repr__(self) -> str:
        return f"Diagram of {len(self.graph.nodes)} pieces: a notebook shows it, and save('x.svg') writes it"

    def _repr_html_(self) -> str:
        return f'<div class="nt-diagram">{fit_width(to_svg(self.drawing, dark=True))}</div>'


FORMATS: dict[str, Callable[[Diagram], bytes | str]] = {
    **dict.fromkeys(("", ".svg"), Diagram.to_svg),
    **dict.fromkeys((".tikz", ".tex"), Diagram.to_tikz),
    ".mmd": Diagram.to_mermaid,
    ".pdf": lambda diagram: render(diagram.drawing, "pdf"),
    ".png": lambda diagram: render(diagram.drawing, "png"),
}
