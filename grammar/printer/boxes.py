"""Lay out formulas as boxes. A box is a sequence of parts, and a part is a string or another box.

A box stores its precedence. The layout of an operand specifies the lowest precedence that needs no brackets. The levels
are the levels of `formula.lark`.

    (a + b) ⊙ c         ⊙ requires PRODUCT on its left; a + b has only the level SUM, so it gets brackets

Functions on boxes use an explicit stack, because a tree may be deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

# From loosest to tightest. The grammar gives QUOTIENT the level PRODUCT, but a / b ⊙ c may seem ambiguous to readers.
OR, AND, NOT, RELATION, SUM, QUOTIENT, PRODUCT, UNARY, JUXTAPOSITION, ELEMENT, POSTFIXED, ATOM = range(12)


@dataclass(slots=True, eq=False)
class Box:
    """A part of a layout and the node that it shows.

    `reaches` is true if the box ends in a ∑, whose operand would absorb a following product. `kind` is the name of a
    form in `forms.py`, or one of these words:

        word        a name that is an operand; `data` is the name
        axis        the name of an axis; `data` is the axis
        below       a subscript: an opening string, the content and a closing string
        above       a superscript, in the same form
        operator    a sign between operands; `data` is its looseness, 0 for relations
        align       the alignment mark before the relation of a statement
        gap         a space that only the text syntax needs
        bracket     an opening string, the content and a closing string
        table       rows of cells, in LaTeX
    """

    parts: Sequence[Part]
    level: int = ATOM
    reaches: bool = False
    kind: str = ""
    data: Any = None
    node: Any = None


Part = Union[str, Box]
ChangeParts = Callable[[Box], Sequence[Part]]


def write(part: Part, parts_of: ChangeParts | None = None) -> str:
    """Return the text of a box. If the function `parts_of` is given, call it for the parts of each box."""
    texts: list[str] = []
    stack: list[Part] = [part]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            texts.append(part)
        else:
            stack += (part.parts if parts_of is None else parts_of(part))[::-1]
    return "".join(texts)


def begins(part: Part, prefix: str) -> bool:
    """Return whether the text of a box begins with a prefix. Ignore alignment marks."""
    stack: list[Part] = [part]
    while stack:
        part = stack.pop()
        if isinstance(part, Box):
            stack.extend(() if part.kind == "align" else reversed(part.parts))
        elif part:
            return part.startswith(prefix)
    return False


def separate(parts: Iterable[Part], separator: str) -> list[Part]:
    """Return the parts with a separator between adjacent parts."""
    return [item for part in parts for item in (separator, part)][1:]
