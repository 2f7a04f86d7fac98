r"""Break long formulas into lines, before the loosest operators outside the most brackets.

Y &= A + B + C        Y &= A + B \\ &\quad {} + C

Widths are estimates in ems. They are too large rather than too small.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

from .boxes import Box, ChangeParts, Part, write

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S", re.DOTALL)
SCRIPT_SCALE = 0.72  # The size of a script relative to its base.
BINARY, RELATION, THIN = 0.44, 0.56, 0.17  # The space around operators and relations, and beside big signs.
WIDTHS = {  # Maps a width in ems, with the space around, to the tokens of this width.
    0.0: r"{ } ^ _ \left \right \name \mathsf \mathrm \text \mathbb",
    0.3: r"[ ] | . '",
    0.4: "( )",
    0.42: "i j l",
    0.45: ", ;",
    0.47: "f I r s t",
    0.5: "/ *",
    0.6: r"\partial",
    0.75: r"\reals",
    0.95: "m w M W",
    0.78 + BINARY: r"+ - \odot \cdot \oplus \star \times \land \lor",
    0.78 + RELATION: "= < > :",
    1.0: r"\quad \infty",
    1.0 + RELATION: r"\leq \geq \neq \le \ge \in \to \rightarrow \colon",
    1.3: r"\ldots \dots \cdots",
    1.3 + THIN: r"\prod",
    1.45 + THIN: r"\sum",
    1.75: r"\exp \log \sin \cos \tan \max \min \det",
    2.0: r"\qquad",
    2.3: r"\sinh \cosh \tanh",
}
WIDTH = {token: width for width, tokens in WIDTHS.items() for token in tokens.split()}
LETTER, CAPITAL, MACRO = 0.53, 0.8, 0.62  # The width of any other token.
LAST = 3  # The looseness of a relation, at which a row is broken last.
INDENT_EMS = 1.0  # The \quad at the beginning of a continued line.
MAX_LEFT_SHARE = 0.45  # If a left side needs a larger share of the width, all rows begin at the margin.


# -------------------------------------------------------------------------------------------------------------- widths
def measure_over(sign: float, space: float) -> Callable[..., float]:
    """Return a function that computes the width of a sign or name with scripts above and below it."""
    return lambda name, *scripts: max(sign or name, *(SCRIPT_SCALE * script for script in scripts)) + space


MEASURES: dict[str, Callable[..., float]] = {  # Functions from the slots' widths to a form's width.
    **dict.fromkeys(("quotient", "derivative"), lambda above, below: max(above, below) + 0.24),
    "binomial": lambda above, below: max(above, below) + 0.8,
    "root": lambda operand: operand + 0.85,
    "norm": lambda operand: operand + 2 * MACRO,
    "point": lambda body, points: body + 2 * WIDTH["|"] + SCRIPT_SCALE * points,
    **dict.fromkeys(("under", "under ⊙", "under ⊕"), measure_over(0.78, BINARY)),
    **dict.fromkeys(("big", "∑ over axes"), measure_over(1.45, BINARY)),
    **dict.fromkeys(("named", "macro", "function"), measure_over(0, THIN)),
    "matrix": lambda down, across, cells: down + max(across, cells) + THIN,
    "cases": lambda cells: cells,
}


def width_of_text(text: str) -> float:
    """Return the estimated width, in ems, of LaTeX that contains no templates such as fractions."""
    total = 0.0
    for token in TOKEN.findall(text):
        total += WIDTH.get(token, MACRO if token[0] == "\\" else CAPITAL if token.isupper() else LETTER)
    return total


def measure(root: Box) -> dict[int, float]:
    """Return the widths of a box and of all boxes inside it, by the boxes' ids."""
    widths: dict[int, float] = {}
    last_scripts: dict[int, float] = {}

    def width_of_part(part: Part) -> float:
        return width_of_text(part) if isinstance(part, str) else widths[id(part)]

    boxes = [root]
    for box in boxes:
        boxes += (part for part in box.parts if isinstance(part, Box))
    for box in reversed(boxes):
        total = script = 0.0
        if box.kind in MEASURES:
            total = MEASURES[box.kind](*map(width_of_part, box.data))
        elif box.kind == "table":
            rows = (map(width_of_part, row.parts[::2]) for row in box.parts if isinstance(row, Box))
            columns = [*zip_longest(*rows, fillvalue=0.0)]
            total = sum(map(max, columns)) + len(columns) + 0.4
        else:
            for part in filter(None, box.parts):
                width = width_of_part(part)
                beside = script if is_script(part) else 0.0
                total += max(0.0, width - beside)
                script = max(width, beside) if is_script(part) else last_scripts.get(id(part), 0.0)
        widths[id(box)] = SCRIPT_SCALE * total if is_script(box) else total
        last_scripts[id(box)] = script
    return widths


def is_script(part: Part) -> bool:
    return isinstance(part, Box) and part.kind in ("below", "above")


# ---------------------------------------------------------------------------------------------------------------- rows
class Atom(NamedTuple):
    """An unbreakable part of a row. `kind` is the kind of its box, ( or ) for a bracket, or empty."""

    text: str
    width: float
    kind: str = ""
    looseness: int = 0


Row = list[Atom]
UNBROKEN = {*MEASURES, "operator", "align", "axis", "below", "above"}


def row_of(box: Box, parts_of: ChangeParts | None) -> Row:
    """Return the atoms of a statement."""
    widths = measure(box)
    row: Row = []
    stack: list[Any] = [box]
    while stack:
        part = stack.pop()
        if isinstance(part, Atom):
            row.append(part)
        elif isinstance(part, str):
            row.append(Atom(part, width_of_text(part)))
        elif part.kind in UNBROKEN:
            row.append(Atom(write(part, parts_of), widths[id(part)], part.kind, part.data))
        elif part.kind == "bracket":
            opening, content, closing = part.parts
            stack += [Atom(closing, WIDTH[")"], ")"), content, Atom(opening, WIDTH["("], "(")]
        else:
            stack.extend(reversed(part.parts))
    return row


def width_of(row: Row) -> float:
    return sum(atom.width for atom in row)


def display(statements: Iterable[Box], width: float, parts_of: ChangeParts | None) -> str:
    r"""Lay out statements as a display at most `width` ems wide, if line breaks allow it.

    >>> from grammar.parser import parse
    >>> from grammar.printer import to_latex
    >>> print(to_latex(parse("Y = A + B\nZ = C"), width=30))
    \begin{align*}
    Y &= A + B \\
    Z &= C
    \end{align*}
    """
    texts: list[str] = []
    for head, (first, *others) in fit([row_of(statement, parts_of) for statement in statements], width):
        texts += [f"{text_of(head)} &{text_of(first)}".lstrip(), *(f"&\\quad {{}}{text_of(line)}" for line in others)]
    return "\\begin{align*}\n" + " \\\\\n".join(texts) + "\n\\end{align*}"


def fit(rows: list[Row], width: float) -> list[tuple[Row, list[Row]]]:
    """Return the left side and the lines of each row.

    Align the rows at their relations if they then fit. Otherwise, align them at the left margin.
    """
    sides = [split(row) for row in rows]
    left = max(width_of(head) for head, _ in sides)
    lines = [(head, break_row(body, width - left)) for head, body in sides]
    is_broad = any(left + width_of(line) > width for _, broken in lines for line in broken)
    if left > MAX_LEFT_SHARE * width or is_broad:
        return [([], break_row(head + body, width, is_whole=True)) for head, body in sides]
    return lines


def split(row: Row) -> tuple[Row, Row]:
    """Split a row at its alignment mark."""
    at = next((at for at, atom in enumerate(row) if atom.kind == "align"), -1)
    return row[: max(at, 0)], row[at + 1 :]


def break_row(row: Row, width: float, is_whole: bool = False) -> list[Row]:
    """Break a row into lines of at most the given width. A line without a possible break may be longer.

    If `is_whole` is true, break at the relation between the two sides only as a last resort.
    """
    lines: list[Row] = []
    while width_of(row) > width:
        breaks = find_breaks(row, is_whole)
        if not breaks:
            break
        depth, _, position = best_break(row, breaks, width)
        lines.append(row[:position])
        row = row[position:]
        is_whole = is_whole and depth > 0
        width -= INDENT_EMS * (len(lines) == 1)
    return [*lines, row]


def best_break(row: Row, breaks: list[Break], width: float) -> Break:
    """Return the last possible break that keeps the first line within the width.

    Prefer the outermost and loosest operators. The first line must also fill more than a quarter of the width. If no
    break qualifies, return the first break.
    """
    starts = [0.0, *accumulate(atom.width for atom in row)]
    for key in sorted({item[:2] for item in breaks}):
        fitting = [item for item in breaks if item[:2] == key and starts[item[2]] <= width]
        if fitting and starts[fitting[-1][2]] > 0.25 * width:
            return fitting[-1]
    return breaks[0]


Break = tuple[int, int, int]  # The number of brackets around an operator, its looseness, and its position.


def find_breaks(row: Row, is_whole: bool) -> list[Break]:
    """Return all possible breaks of a row."""
    breaks: list[Break] = []
    depth = 0
    for position, atom in enumerate(row):
        depth = max(0, depth + {"(": 1, ")": -1}.get(atom.kind, 0))
        if atom.kind == "operator" and position:
            is_relation = is_whole and depth == atom.looseness == 0
            is_whole = is_whole and not is_relation  # Only the first relation is the relation of the statement.
            breaks.append((depth, LAST if is_relation else atom.looseness, position))
    return breaks


def text_of(line: Row) -> str:
    r"""Return the text of a line.

    A bracket without a partner on the line gets a fixed size, because \left requires \right.
    """
    unmatched: list[int] = []
    for at, atom in enumerate(line):
        if atom.kind == ")" and unmatched and line[unmatched[-1]].kind == "(":
            unmatched.pop()
        elif atom.kind in ("(", ")"):
            unmatched.append(at)
    texts = [atom.text for atom in line]
    for at in unmatched:
        texts[at] = texts[at].replace("\\left", "\\Bigl").replace("\\right", "\\Bigr")
    return "".join(texts).strip()
