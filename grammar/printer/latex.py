"""Printing of nodes in LaTeX, either with the paper's macros or expanded for KaTeX and MathJax.

    Q \\ndot{\\name{key}} K          Macros, for LaTeX with the package `namedtensor`
    Q \\mathbin{\\mathop{\\odot}\\limits_{\\mathsf{key}}} K          Latex, for a page that knows no macros

Fractions, roots and environments bracket what is in them, so less is bracketed here than in text.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from ..errors import NotationError
from ..nodes import Index, Name, Program, Rename, Starred, Subscript, Superscript
from ..symbols import ACCENTS, CALLIGRAPHIC, FAMILIES, FUNCTIONS, GREEK
from .pieces import ELEMENT, POSTFIXED, SUM, Piece, signs
from .text import Text

LETTERS = {letter: f"\\{name}" for name, letter in GREEK.items()} | {"∞": "\\infty"}
# Functions whose name is a macro of LaTeX.
MACROS = {name: f"\\{name}" for name in "exp log sin cos tan sinh cosh tanh max min det lim".split()}
CURSIVE = {cursive: letter for letter, cursive in CALLIGRAPHIC.items()}
TALL = re.compile(r"\\frac|\\begin|\\nmatrix|\\limits_\{.*=")
STARS = {"*": "*", "†": "\\dagger"}


class Latex(Text):
    signs = signs("latex") | {"𝕀": "\\mathbb{I}", "¬": "\\lnot ", "for": "\\quad \\text{for }"}
    signs |= {letter: f"\\mathbb{{{name}}}" for letter, name in {"ℝ": "R", "ℤ": "Z", "ℕ": "N"}.items()}
    signs |= {word: f"\\text{{ {word}}}" for word in ("odd", "even")}
    dot = "\\cdot"
    mean = "\\mathbb{E}"
    times = " \\times "
    braces = "\\{", "\\}"
    font = "mathsf"  # of the names of axes

    def __init__(self, node):
        if isinstance(node, Program) and len(node.statements) > 1:
            self.mark = "&"

    # ------------------------------------------------------------------------------------------- brackets and braces
    def round(self, text: str) -> str:
        return f"\\left({text}\\right)" if TALL.search(text) else f"({text})"

    def square(self, text: str) -> str:
        return f"\\left[{text}\\right]" if TALL.search(text) else f"[{text}]"

    def braced(self, content: str) -> str:
        return content if len(content) == 1 or content == "\\dagger" else f"{{{content}}}"

    def script(self, base, text: str, sign: str, content: str) -> str:
        """Print a base with a script.

        TeX takes one sub- and one superscript for each base; braces turn a base with a script into a new base.
        """
        if text[-1] not in ")]" and _has_script(base, sign):
            text = f"{{{text}}}"
        return super().script(base, text, sign, content)

    # --------------------------------------------------------------------------------------------- names and numbers
    def digits(self, number: int | float) -> str:
        """Print a number in positional notation, since LaTeX does not have 1e-5. A float keeps its decimal point."""
        text = repr(number)
        if "e" not in text:
            return text
        positional = format(Decimal(text), "f")
        return positional if "." in positional else positional + ".0"

    def name(self, node) -> Piece:
        return Piece(self.word(node.text))

    def subscript(self, node):
        """Print a subscript. The name `ones` with axes becomes a bold 1."""
        piece = yield from super().subscript(node)
        if isinstance(node.base, Name) and node.base.text == "ones":
            return piece._replace(text=piece.text.replace("\\mathrm{ones}", "\\mathbf{1}", 1))
        return piece

    def imports(self, node) -> Piece:
        raise NotationError(
            409, f"LaTeX has no imports, and this program imports from {node.path}",
            hint="load the program with nt.load_program, which writes the definitions in place of the import",
        )  # fmt: skip

    def word(self, text: str) -> str:
        return _set_letters(text, "mathrm", several=True)

    def axis_word(self, text: str) -> str:
        return _set_letters(text, self.font, several=False)

    def label_word(self, text: str) -> str:
        return _set_letters(text, self.font, several=True)

    def at_body(self, node):
        (text,) = yield from self.each((node,), SUM)
        return f"\\left. {text} \\right"

    def family(self, name: str) -> str:
        return f"\\mathcal{{{name}}}" if name in FAMILIES.values() else self.word(name)

    # --------------------------------------------------------------------------------------------- infix and prefix
    def under(self, operator: str, axes: str) -> str:
        return f"\\mathbin{{\\mathop{{{self.signs[operator]}}}\\limits_{{{axes}}}}}"

    def big_sign(self, operator: str, below: str, above: str = "") -> str:
        return f"{self.signs[operator]}\\limits" + self.bounds(below, above)

    def named_sign(self, operator: str, below: str, above: str) -> str:
        name = MACROS.get(operator) or f"\\mathop{{{_set_letters(operator, 'mathrm', several=True)}}}\\limits"
        return name + self.bounds(below, above)

    def quotient(self, node):
        above, below = yield from self.each(node.arguments, SUM)
        if above.startswith("\\partial") and below.startswith("\\partial"):
            above = self.round(above)  # no derivative
        return Piece(f"\\frac{{{above}}}{{{below}}}", ELEMENT)

    defining = "\\triangleq"

    def binomial(self, node):
        above, below = yield from self.each(node.arguments, SUM)
        return Piece(f"\\binom{{{above}}}{{{below}}}")

    def root(self, node):
        (operand,) = yield from self.each(node.arguments, SUM)
        return Piece(f"\\sqrt{{{operand}}}", ELEMENT)

    def before(self, sign: str, operand: str) -> str:
        return f"{self.signs[sign]} {operand}"

    def derivative(self, node):
        above = yield from self.prefixed("∂", node.body)
        below = yield from self.variable(node)
        return Piece(f"\\frac{{{above.text}}}{{{self.before('∂', below)}}}", ELEMENT)

    def takes_mark(self, variable) -> bool:
        return False

    # ------------------------------------------------------------------------------------------ functions and atoms
    def head(self, node):
        """Print softmax with its axes below, but LN_Q with its label as a subscript."""
        below = yield from self.below(node.subscript)
        above = yield from self.above(node.superscript)
        raised = self.scripted("^", above)
        if below and (node.operator in FUNCTIONS or any(map(_is_long, node.subscript))):
            return self.over_axes(node.operator, raised, below)
        below = yield from self.below(node.subscript, axes=False)
        called = MACROS.get(node.operator) or _set_letters(node.operator, "text", several=True)
        return called + raised + self.scripted("_", below)

    def bars(self, operand: str) -> str:
        return f"\\lVert {operand} \\rVert"

    def over_axes(self, operator: str, raised: str, axes: str) -> str:
        return f"\\mathop{{{_set_letters(operator, 'mathrm', several=True)}{raised}}}\\limits_{{{axes}}}"

    def literal(self, node):
        rows = yield from self.rows(node)
        cells = " \\\\ ".join(" & ".join(_guard_bracket(cell) for cell in row) for row in rows)
        *down, across = (self.axis(axis).text for axis in node.axes)
        return Piece(self.matrix("".join(down), across, cells), POSTFIXED)

    def matrix(self, down: str, across: str, cells: str) -> str:
        """Return a matrix with the axis of the columns above the numbers and the axis of the rows on the left."""
        numbers = f"\\overset{{{across}}}{{\\begin{{bmatrix}} {cells} \\end{{bmatrix}}}}"
        return f"\\mathinner{{{down}{numbers}}}"

    def cases(self, node):
        branches = yield from self.gathered(self.branch(*branch) for branch in node.branches)
        rows = " \\\\ ".join(map(_guard_bracket, branches))
        return Piece(f"\\begin{{cases}} {rows} \\end{{cases}}", SUM)

    def branch(self, body, condition):
        (value,) = yield from self.each((body,), SUM)
        if condition is None:
            return f"{value} & \\text{{otherwise}}"
        test = yield self.visit(condition)
        return f"{value} & \\text{{if }} {test.text}"

    # ----------------------------------------------------------------------------------------------------- programs
    def tint(self, color: str) -> str:
        """Return the code that precedes the name of an axis to set its color, such as #0b80a6."""
        return f"\\textcolor{{{color}}}{{"

    def joined(self, lines: list[str]) -> str:
        if len(lines) == 1:
            return lines[0]
        rows = " \\\\\n".join(map(_guard_bracket, lines))
        return f"\\begin{{aligned}}\n{rows}\n\\end{{aligned}}"


class Macros(Latex):
    """LaTeX output that uses the macros of the paper."""

    signs = Latex.signs | {"ℝ": "\\reals"}
    font = "name"

    def under(self, operator: str, axes: str) -> str:
        macro = {"⊙": "\\ndot", "⊕": "\\ncat"}.get(operator)
        return f"{macro}{{{axes}}}" if macro else f"\\nbin{{{axes}}}{{{self.signs[operator]}}}"

    def big_sign(self, operator: str, below: str, above: str = "") -> str:
        over_axes = operator == "∑" and not above and "\\name" in below.partition(",")[0]
        return f"\\nsum{{{below}}}" if over_axes else super().big_sign(operator, below, above)

    def over_axes(self, operator: str, raised: str, axes: str) -> str:
        return f"\\nfun{{{axes}}}{{{_set_letters(operator, '', several=True)}{raised}}}"

    def tint(self, color: str) -> str:
        """Return the code that sets a color with the package xcolor."""
        return f"\\textcolor[HTML]{{{color.lstrip('#').upper()}}}{{"

    def matrix(self, down: str, across: str, cells: str) -> str:
        return f"\\nmatrix{{{down}}}{{{across}}}{{{cells}}}"


def _set_letters(text: str, font: str, several: bool) -> str:
    """Set a name in a font. If `several` is true, set only names of several letters.

    Its primes and stars stay outside.
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
    """Print p(B | A)."""
    head, _, inside = text[:-1].partition("(")
    base, _, label = head.partition("_")
    shown = _set_letters(base, font, several=True) + (
        f"_{{{_set_letters(label, font, several=True)}}}" if label else ""
    )
    parts = re.split(r"(, | \| )", inside)
    names = [{", ": ", ", " | ": " \\mid "}.get(part) or _set_letters(part, "mathsf", several=False) for part in parts]
    return f"{shown}({''.join(names)})"


def _split_accent(word: str) -> tuple[str, str]:
    """Return a name without its final accent, and the macro for that accent."""
    last = unicodedata.normalize("NFD", word[-1:])
    accent = next((name for name, mark in ACCENTS.items() if last[-1:] == mark), "")
    return (word[:-1] + last[:-1], accent) if accent else (word, "")


def _has_script(node, sign: str) -> bool:
    """Return whether a printed base already has a script of this sign. A prime counts, unless ^ directly follows it."""
    kinds, suffix = ((Superscript, Starred), "*†") if sign == "^" else ((Subscript, Index, Rename), "")
    while hasattr(node, "base"):
        if isinstance(node, kinds):
            return True
        node, suffix = node.base, suffix and "*†'"
    return isinstance(node, Name) and node.text[-1] in suffix


def _is_long(node) -> bool:
    """Return whether a component of a subscript is a word, as the names of axes are, rather than a single letter."""
    while hasattr(node, "base"):
        node = node.base
    return isinstance(node, Name) and len(node.text.rstrip("'*†")) > 1


def _guard_bracket(row: str) -> str:
    """Guard a row that begins with [, which LaTeX would interpret as the spacing after the previous row."""
    return f"{{}}{row}" if row.startswith("[") else row
