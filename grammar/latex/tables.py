"""Map LaTeX characters and macros to the notation, mostly based on `symbols.py`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ..errors import NotationError
from ..folding import fold
from ..symbols import ACCENTS, FUNCTIONS, LATEX_GREEK, SYMBOLS, UNDERSCORED, value
from .macros import FONTS, NAMED, TEXTS, Piece, is_macro, is_word, read_plain_name


def _macros(names: str) -> list[str]:
    return [f"\\{name}" for name in names.split()]


# ---------------------------------------------------------------------------------------------------- signs and names
SIGNS = {
    spelling: (symbol.terminal, value(symbol))
    for symbol in SYMBOLS
    for spelling in symbol.latex.split() + symbol.text.split()
    if symbol.terminal not in ("NAME", "STAR", "SUP", "SUB") and "\\text" not in spelling and not spelling.isalpha()
} | {
    "\\ast": ("DOT", "⊙"), "∗": ("DOT", "⊙"), "...": ("DOTS", "…"), ":=": ("EQUALS", "="), "\\coloneqq": ("EQUALS", "="),
    "\\coloneq": ("EQUALS", "="), "\\triangleq": ("EQUALS", "="), "\\eqdef": ("EQUALS", "="), "≔": ("EQUALS", "="), "≜": ("EQUALS", "="),
    "ℝ": ("REALS", "ℝ"), "𝕀": ("INDICATOR", "𝕀"), "\\mathbb{R}": ("REALS", "ℝ"), "\\mathbb{Z}": ("REALS", "ℤ"), "\\mathbb{N}": ("REALS", "ℕ"), "\\mathbb{I}": ("INDICATOR", "𝕀"),
    ".": ("PERIOD", "."), "\\bmod": ("OPERATOR", "mod"),
}  # fmt: skip
BLACKBOARD = {
    "R": ("REALS", "ℝ"),
    "Z": ("REALS", "ℤ"),
    "N": ("REALS", "ℕ"),
    "I": ("INDICATOR", "𝕀"),
    "1": ("INDICATOR", "𝕀"),
}

NAMES = {f"\\{name}": letter for name, letter in LATEX_GREEK.items()} | {"\\infty": "∞", "∞": "∞", "\\ell": "l"}
PRIMES = {"'", "′", "’", "\\prime"}
STARS = {"*": "*", "∗": "*", "\\ast": "*", "\\dagger": "†", "\\dag": "†", "†": "†", "‡": "†"}

ACCENT_MACROS = {f"\\{name}": name for name in ACCENTS}
ACCENT_MACROS |= {"\\widehat": "hat", "\\widetilde": "tilde", "\\overline": "bar"}
# These brackets apply functions to their contents.
PAIRS = {"\\lVert": "‖", "\\lfloor": "floor", "\\lceil": "ceil"}
PAIRS |= {"\\rVert": "‖", "\\rfloor": "floor", "\\rceil": "ceil", "⌊": "floor", "⌋": "floor", "⌈": "ceil", "⌉": "ceil"}
BARS = {"|", "∣", "\\vert", "\\mid", "\\lvert", "\\rvert"}
# For each size macro such as \left, whether the next bar opens (1) or closes (-1).
SIZED = {"\\left": 1, "\\right": -1, "\\middle": 0}
SIZED |= {
    f"\\{size}{side}": sign
    for size in ("big", "Big", "bigg", "Bigg")
    for side, sign in (("l", 1), ("r", -1), ("m", 0), ("", 0))
}

# Words with a meaning in upright text. A word without a terminal only guides the reader.
WORDS = {
    "if": "IF", "when": "IF", "otherwise": "OTHERWISE", "else": "OTHERWISE", "for": "FOR", "odd": "PARITY", "even": "PARITY",
    "and": "AND", "or": "OR", "not": "NOT", "where": "", "Where": "", "with": "", "let": "", "Let": "", "is": "", "are": "",
}  # fmt: skip
WORD_VALUES = {"and": "∧", "or": "∨", "not": "¬", "when": "if", "else": "otherwise"}
BETWEEN = {"where", "Where", "with", "let", "Let", "and"}  # These words begin a new statement.
BIG_WORDS = {"sum": "∑", "prod": "∏"}

# The number of arguments of each macro that can be an argument without braces, as in x^\frac12.
ARITY = dict.fromkeys(_macros("frac dfrac tfrac cfrac nicefrac sfrac binom dbinom tbinom nfun nbin underset"), 2) | {
    "\\nmatrix": 3
}
ARITY |= dict.fromkeys(ACCENT_MACROS, 1)
ARITY |= dict.fromkeys(
    _macros("sqrt mathcal mathscr underbrace overbrace mathbb mathds mathbbm " + " ".join(TEXTS + FONTS)), 1
)

# ------------------------------------------------------------------------------------------------- looks, and no part
LOOKS = set("\\, \\; \\: \\! \\> \\/ ~".split())
LOOKS |= set(_macros("""displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits notag nonumber qedhere mathopen mathclose
    mathbin mathrel mathop mathpunct boxed ensuremath substack smash thinspace medspace thickspace negthinspace
    enspace enskip allowbreak nobreak noindent centering strut mathstrut null relax hline hfill bf rm it sf tt underline
    IEEEyesnumber IEEEnonumber IEEEyessubnumber IEEEnosubnumber IEEEeqnarraynumspace IEEEeqnarraymulticolnumspace
    lefteqn displaybreak mathclap mathllap mathrlap"""))  # fmt: skip
DROPPED = set(_macros("""label tag phantom vphantom hphantom hspace vspace mspace color textcolor ref eqref cite
    footnote"""))  # fmt: skip

# Symbols outside the notation that readers know, with their replacements.
REFUSED: dict[str, str | None] = dict.fromkeys(_macros("""mathfrak rec shp ind atop over not subset subseteq supset supseteq cap setminus exists
    cong implies iff Rightarrow Leftarrow Leftrightarrow leftarrow"""))  # fmt: skip
REFUSED |= dict.fromkeys(_macros("int oint iint"), "an integral has no value; a sum over an axis is \\nsum{\\ax} X")
REFUSED |= {r"\nabla": r"a gradient is a derivative with respect to a name: \frac{\partial L}{\partial W^*}"}
REFUSED |= dict.fromkeys(_macros("langle rangle"), "an inner product is x \\ndot{\\ax} y")
REFUSED |= {
    f"\\begin{{{name}}}": "write \\nmatrix{\\rows}{\\columns}{1 & 2 \\\\ 3 & 4}"
    for name in "matrix pmatrix bmatrix Bmatrix vmatrix smallmatrix array".split()
}


@lru_cache(maxsize=4096)
def name_of(text: str) -> str | None:
    r"""Return the name that a piece spells, such as seq for \seq, \name{seq} and \text{seq}.

    Return None if the piece does not spell a name.
    """
    if text in NAMES:
        return NAMES[text]
    if is_word(text):
        return fold(text)
    if named := NAMED.fullmatch(text):
        name = read_plain_name(text) or ""
        special = named[1] not in ("name", "mathsf") and (name in WORDS or name in BIG_WORDS)
        return None if special or ("_" in name and name not in UNDERSCORED) else name
    return text[1:] if is_macro(text) and text not in REFUSED else None


def is_known(macro: str) -> bool:
    r"""Return whether the tables list this macro. Other macros, such as \seq, may be names."""
    return macro in NAMES or macro in SIGNS or macro in LOOKS | DROPPED or macro in REFUSED or macro in ARITY


REPAIR = r"define it with \newcommand; if a style file defines it, put that file beside the document"


def check_defined(source: str, pieces: list[Piece], position: int, partner: Mapping[int, int]) -> None:
    r"""Raise NotationError for an undefined macro with two arguments.

    A macro with one argument, such as \foo{X}, may be a function, so it is valid.
    """
    text, start, stop = pieces[position]
    after = partner.get(position + 1, len(pieces)) + 1
    if (
        pieces[after : after + 1]
        and pieces[after][0] == "{"
        and is_macro(text)
        and not is_known(text)
        and text[1:] not in FUNCTIONS
    ):
        raise NotationError(111, f"macro {text} is not defined", source, (start, stop), hint=REPAIR)
