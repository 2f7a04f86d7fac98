"""Printed forms of programs, formulas and entry points as text, LaTeX or HTML, with or without colors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grammar.cache import cached_property
from grammar.plain_text import encodable

from ..core.kinds import require_mapping, require_number
from .entries import Entry, WholeProgram

if TYPE_CHECKING:
    from ..display.colors import Tint
    from ..display.highlighted import Highlighted


SIZES_HINT = 'write sizes={"a": 3}'


class Printed:
    """A program, formula or entry point that can be printed in several formats."""

    _goal: WholeProgram | Entry

    def to_text(self, ascii: bool = False, colors: bool = False) -> str:
        """Return the formula as text.

        Parameters
        ----------
        ascii : bool
            Whether to use ASCII names such as `sum` in place of mathematical symbols (default: False).
        colors : bool
            Whether to color each axis with terminal escape codes (default: False).

        Returns
        -------
        str

        Raises
        ------
        NotationError
            If the formula is not valid notation.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.to_text(r"\\sum_{\\mathsf{seq}} x", ascii=True)
        'sum_{seq} x'
        >>> print(nt.program("f(x) = 2 x\\nY = f(X)")["f"].to_text())
        f(x) = 2 x
        """
        from grammar.printer import to_text

        escapes = {axis: tint.escape for axis, tint in self._tints.items()} if colors else None
        return to_text(self._tree, ascii=ascii, colors=escapes)

    def to_latex(self, macros: bool = False, colors: bool = False, width: float | None = None) -> str:
        """Return the formula as LaTeX for a document with the preamble from `nt.latex_preamble()`.

        Parameters
        ----------
        macros : bool
            Whether to use the macros of the paper, such as `\\nsum` (default: False).
        colors : bool
            Whether to color each axis (default: False).
        width : float, optional
            The line width in em. A longer formula is broken into the lines of a display. The line width of the class
            `article` is 34.5 em (default: no line breaks).

        Returns
        -------
        str

        Raises
        ------
        NotationError
            If the formula is not valid notation.

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.to_latex("sum_{seq} x")
        '\\\\sum\\\\limits_{\\\\mathsf{seq}} x'
        >>> print(nt.formula("∑_{seq} x").to_latex(colors=True))
        \\sum\\limits_{\\textcolor{#0b80a6}{\\mathsf{seq}}} x
        """
        from grammar.printer import to_latex

        if width is not None:
            require_number(width, "width=", 1, "write width=34.5, the ems of a line of the class article")
        axis_colors = {axis: tint.color.light for axis, tint in self._tints.items()} if colors else None
        words = self._goal.program.operators.macros
        return to_latex(self._tree, macros=macros, colors=axis_colors, width=width, words=words)

    def to_html(self, sizes: Mapping[str, Any] | None = None) -> str:
        """Return the formula as HTML, with one color per axis and a legend.

        Parameters
        ----------
        sizes : mapping of str to int, optional
            Sizes to show in the legend of the axes.

        Returns
        -------
        str

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.formula("∑_{a} X").to_html().startswith("<")
        True
        """
        from ..display.html import html_program

        return html_program(self._tree, self._tints, require_mapping(sizes, "sizes=", SIZES_HINT))

    def highlight(self, sizes: Mapping[str, Any] | None = None) -> Highlighted:
        """Return the formula with one color per axis, for notebooks and terminals.

        Parameters
        ----------
        sizes : mapping of str to int, optional
            Sizes to show in the legend of the axes.

        Returns
        -------
        Highlighted

        Examples
        --------
        >>> import namedtensor as nt
        >>> nt.formula("∑_{a} X").highlight()  # doctest: +SKIP
        """
        from ..display.highlighted import Highlighted

        return Highlighted(self._tree, self._tints, require_mapping(sizes, "sizes=", SIZES_HINT))

    @cached_property
    def _tree(self) -> Any:
        return self._goal.tree()

    @cached_property
    def _tints(self) -> dict[str, Tint]:
        """Return the color of each axis, with the axes in the order of first use."""
        from grammar.printer.runs import axes_in

        from ..display.colors import tints

        return tints(axes_in(self._tree))

    @encodable
    def __str__(self) -> str:
        return self.to_text()

    @encodable
    def __repr__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"
