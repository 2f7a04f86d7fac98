r"""Tensors as LaTeX matrices with the names of their axes, in the paper's format.

\nmatrix{\name{height}}{\name{width}}{3 & 1 & 4 \\ 1 & 5 & 9}
"""

from __future__ import annotations

import re
from typing import Any

from grammar import nodes
from grammar.errors import NotationError
from grammar.printer import to_latex as formula_latex

from ..core.tensor import NamedTensor
from .digits import IN_TABLES, digits_of
from .tables import number, values

MOST = 10_000  # the largest number of elements in a printed matrix
WORDS = {"true": "1", "false": "0", "nan": r"\text{nan}", "∞": r"\infty", "-∞": r"-\infty"}
POWER = re.compile(r"e([+-])0*(\d+)$")


def to_latex(tensor: NamedTensor, macros: bool = False, digits: int | None = None) -> str:
    r"""Format a tensor with at most two axes as a LaTeX matrix.

    Parameters
    ----------
    macros : bool
        Whether to use the paper's macros (default: False).
    digits : int, optional
        The number of significant digits (default: the setting of `set_printoptions`).

    Returns
    -------
    str

    Raises
    ------
    NotationError
        If the tensor has more than two axes (316), too many elements (404), or no values (405).

    Examples
    --------
    >>> import namedtensor as nt
    >>> print(nt.tensor([[3, 1, 4], [1, 5, 9]], "height width").to_latex(macros=True))
    \nmatrix{\name{height}}{\name{width}}{3 & 1 & 4 \\ 1 & 5 & 9}
    """
    axes = tensor.axes
    if len(axes) > 2:
        hint = f"take one element of an axis: A[{{{axes[0]!r}: 0}}]; or merge two"
        raise NotationError(316, f"a matrix has one or two axes, got {', '.join(axes)}", hint=hint)
    array = values(tensor, axes)
    if array is None:
        raise NotationError(405, "a tensor has no values to print while a library traces it")
    if array.size > MOST:
        raise NotationError(
            404, f"the matrix has {array.size} elements; at most {MOST} are printed", hint="index it first"
        )
    precise = digits_of(IN_TABLES, digits)
    if not axes:
        return format_number(array.item(), precise)
    rows = array.tolist() if len(axes) == 2 else [array.tolist()]
    cells = r" \\ ".join(" & ".join(format_number(value, precise) for value in row) for row in rows)
    *down, across = (formula_latex(nodes.Axis(axis), macros=macros) for axis in axes)
    if macros:
        return rf"\nmatrix{{{''.join(down)}}}{{{across}}}{{{cells}}}"
    return rf"\mathinner{{{''.join(down)}\overset{{{across}}}{{\begin{{bmatrix}} {cells} \end{{bmatrix}}}}}}"


def format_number(value: Any, digits: int) -> str:
    """Format a number as LaTeX. A number such as 1e-5 is written with a power of ten."""
    text = number(value, digits)
    power = POWER.search(text)
    if power is None:
        return WORDS.get(text, text)
    sign = "-" if power[1] == "-" else ""
    return rf"{text[: power.start()]} \cdot 10^{{{sign}{power[2]}}}"
