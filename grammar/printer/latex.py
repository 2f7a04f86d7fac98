r"""Lay out formulas in LaTeX, with the paper's macros or in plain LaTeX for KaTeX and MathJax.

    Q \\ndot{\\name{key}} K          MacrosLayout, for LaTeX with the package `namedtensor`
    Q \\mathbin{\\mathop{\\odot}\\limits_{\\mathsf{key}}} K          LatexLayout, for a page that knows no macros

Fractions, roots and environments delimit their contents, so LaTeX needs fewer brackets than text.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from ..errors import NotationError
from ..nodes import Index, Name, Program, Rename, Starred, Subscript, Superscript
from ..symbols import ACCENTS, CALLIGRAPHIC, FAMILIES, FUNCTIONS, GREEK
from .boxes import ELEMENT, POSTFIXED, SUM, Box, begins, separate, write
from .forms import LATEX, MACROS
from .statements import TextLayout

LETTERS = {letter: f"\\{name}" for name, letter in GREEK.items()} | {"∞": "\\infty"}
NAMED = {name: f"\\{name}" for name in "exp log sin cos tan sinh cosh tanh max min det lim".split()}  # LaTeX macros
CURSIVE = {cursive: letter for letter, cursive in CALLIGRAPHIC.items()}
TALL = re.compile(r"\\frac|\\begin|\\nmatrix|\\limits_\{.*=")
STARS = {"*": "*", "†": "\\dagger"}


class LatexLayout(TextLayout):
    column = LATEX
    font = "mathsf"  # For axis names.
    function_font = "mathrm"  # For functions with axes.

    def __init__(self, node, words=None):
        super().__init__(node, words)
        if isinstance(node, Program) and len(node.statements) > 1:
            self.mark = "&"

    # ------------------------------------------------------------------------------------------- brackets and braces
    def bracket(self, opening, content, closing) -> Box:
        if TALL.search(write(content)):
            opening, closing = f"\\left{opening}", f"\\right{closing}"
        return super().bracket(opening, content, closing)

    def is_single(self, text: str) -> bool:
        return len(text) == 1 or text == "\\dagger"

    def attach(self, base, box, sign, content) -> Box:
        """Return a base with a script.

        TeX allows one subscript and one superscript per base. Braces turn a base with a script into a new base.
        """
        if _has_script(base, sign) and write(box)[-1] not in ")]":
            box = Box(("{", box, "}"))
        return super().attach(base, box, sign, content)

    # --------------------------------------------------------------------------------------------- names and numbers
    def digits(self, number: int | float) -> str:
        """Return a number in positional notation, because LaTeX has no 1e-5. A float keeps its decimal point."""
        text = repr(number)
        if "e" not in text:
            return text
        positional = format(Decimal(text), "f")
        return positional if "." in positional else positional + ".0"

    def name(self, node) -> Box:
        return self.word(node.text)

    def subscript(self, node) -> Box:
        """Return the box of a name with a label. The name `ones` with axes becomes a bold 1."""
        box = super().subscript(node)
        if isinstance(node.base, Name) and node.base.text == "ones":
            box.parts = ("\\mathbf{1}", *box.parts[1:])
        return box

    def imports(self, node) -> Box:
        raise NotationError(
            409, f"LaTeX has no imports, and this program imports from {node.path}",
            hint="load the program with nt.load_program, which writes the definitions in place of the import",
        )  # fmt: skip

    def spell(self, text: str) -> str:
        return _set_letters(text, "mathrm", several=True)

    def spell_axis(self, text: str) -> str:
        return _set_letters(text, self.font, several=False)

    def spell_label(self, text: str) -> str:
        return _set_letters(text, self.font, several=True)

    def family(self, name: str):
        return f"\\mathcal{{{name}}}" if name in FAMILIES.values() else self.word(name)

    # ------------------------------------------------------------------------------------------------------ operators
    def big_sign(self, operator, below, above=""):
        if operator in NAMED:
            return self.form("macro", NAMED[operator], below, above)
        return super().big_sign(operator, below, above)

    def quotient(self, node) -> Box:
        above, below = self.each(node.arguments, SUM)
        if begins(above, "\\partial") and begins(below, "\\partial"):
            above = self.round(above)  # Brackets prevent a derivative.
        return self.form("quotient", above, below, level=ELEMENT)

    def binomial(self, node) -> Box:
        return self.form("binomial", *self.each(node.arguments, SUM))

    def root(self, node) -> Box:
        return self.form("root", *self.each(node.arguments, SUM), level=ELEMENT)

    def put_before(self, sign, operand):
        return f"{self.signs[sign]} ", operand

    def derivative(self, node) -> Box:
        box = super().derivative(node)
        box.level = ELEMENT
        return box

    def takes_mark(self, variable) -> bool:
        return False

    # ------------------------------------------------------------------------------------------------------ functions
    def head(self, node):
        """Lay out a function's name with its axes below, as for softmax, or with its label beside it, as in LN_Q."""
        above = self.script("^", self.above(node.superscript))
        if node.subscript and (node.operator in FUNCTIONS or any(map(_is_long, node.subscript))):
            name = self.words.get(node.operator) or _set_letters(node.operator, self.function_font, several=True)
            return (self.form("function", Box((name, above)), self.below(node.subscript)),)
        named = self.words.get(node.operator) or NAMED.get(node.operator)
        called = named or _set_letters(node.operator, "text", several=True)
        below = self.script("_", self.below(node.subscript, axes=False))
        return called, Box((above, below))

    # ------------------------------------------------------------------------------------------- literals and programs
    def tint(self, color: str) -> str:
        """Return the code before an axis name that sets its color, such as #0b80a6."""
        return f"\\textcolor{{{color}}}{{"

    def literal(self, node) -> Box:
        *down, across = map(self.box_of, node.axes)
        cells = _table([self.list_parts(row, SUM) for row in node.rows])
        return self.form("matrix", Box(down), across, cells, level=POSTFIXED)

    def cases(self, node) -> Box:
        return self.form("cases", _table([self.branch(*branch) for branch in node.branches]), level=SUM)

    def branch(self, body, condition):
        value = self.part(body, SUM, last=True)
        return value, Box(("\\text{if } ", self.box_of(condition)) if condition else ("\\text{otherwise}",))

    def lines(self, lines) -> Box:
        if len(lines) == 1:
            return lines[0]
        rows = separate(map(_guard_bracket, lines), " \\\\\n")
        return Box(("\\begin{aligned}\n", *rows, "\n\\end{aligned}"))


class MacrosLayout(LatexLayout):
    """The layout in LaTeX with the paper's macros."""

    column = MACROS
    font = "name"
    function_font = ""

    def tint(self, color: str) -> str:
        """Return the code that sets a color with the LaTeX package xcolor."""
        return f"\\textcolor[HTML]{{{color.lstrip('#').upper()}}}{{"

    def big_sign(self, operator, below, above=""):
        if operator == "∑" and not above and "\\name" in write(below).partition(",")[0]:
            return self.form("∑ over axes", self.signs[operator], below)
        return super().big_sign(operator, below, above)


def _set_letters(text: str, font: str, several: bool) -> str:
    """Return the LaTeX for a name in a font.

    If `several` is true, the font applies only to names of several letters. It never applies to primes and stars.
    """
    if text.endswith(")"):
        return _conditional(text, font)
    word = text.rstrip("'*†")
    plain, accent = _split_accent(word)
    if word and plain[0] in CURSIVE:
        shown = f"\\mathcal{{{''.join(CURSIVE.get(letter, letter) for letter in plain)}}}"
    else:
        shown = LETTERS.get(plain) or plain.replace("_", "\\_")
        if plain not in LETTERS and font and plain[0].isalpha() and not (several and len(plain) == 1):
            shown = f"\\{font}{{{shown}}}"
    if accent:
        shown = f"\\{accent}{{{shown}}}"
    for mark in text[len(word) :]:
        base = f"{{{shown}}}" if "^" in shown else shown
        shown = base + (f"^{STARS[mark]}" if mark in STARS else mark)
    return shown


def _conditional(text: str, font: str) -> str:
    """Return the LaTeX for a conditional such as p(B | A)."""
    head, _, inside = text[:-1].partition("(")
    base, _, label = head.partition("_")
    shown = _set_letters(base, font, several=True) + (
        f"_{{{_set_letters(label, font, several=True)}}}" if label else ""
    )
    parts = re.split(r"(, | \| )", inside)
    names = [{", ": ", ", " | ": " \\mid "}.get(part) or _set_letters(part, "mathsf", several=False) for part in parts]
    return f"{shown}({''.join(names)})"


def _split_accent(word: str) -> tuple[str, str]:
    """Split a name into its base and the LaTeX name of its final accent, such as hat.

    Return "" for the accent if there is none.
    """
    last = unicodedata.normalize("NFD", word[-1:])
    accent = next((name for name, mark in ACCENTS.items() if last[-1:] == mark), "")
    return (word[:-1] + last[:-1], accent) if accent else (word, "")


def _has_script(node, sign: str) -> bool:
    """Return whether a printed base already has this script. A prime is a superscript unless a ^ directly follows."""
    kinds, suffix = ((Superscript, Starred), "*†") if sign == "^" else ((Subscript, Index, Rename), "")
    while hasattr(node, "base"):
        if isinstance(node, kinds):
            return True
        node, suffix = node.base, suffix and "*†'"
    return isinstance(node, Name) and node.text[-1] in suffix


def _is_long(node) -> bool:
    """Return whether a component of a subscript is a word, like most axis names, rather than a single letter."""
    while hasattr(node, "base"):
        node = node.base
    return isinstance(node, Name) and len(node.text.rstrip("'*†")) > 1


def _table(rows) -> Box:
    """Return the box of a table."""
    return Box(separate([Box(separate(map(_guard_bracket, row), " & ")) for row in rows], " \\\\ "), kind="table")


def _guard_bracket(row):
    """Return a row or cell with {} before an initial [. LaTeX would read the [ as the spacing of the previous row."""
    return Box(("{}", row)) if write(row).startswith("[") else row
