r"""Define the signs and forms of each output format: text, ASCII, LaTeX, and LaTeX with the paper's macros.

A form is a template. #1 and #2 are its slots. A script such as _{#2} is omitted if its slot is empty.
"""

from __future__ import annotations

import re

from ..symbols import SYMBOLS, value

TEXT, ASCII, LATEX, MACROS = range(4)
BLACKBOARD = {"ℝ": "R", "ℤ": "Z", "ℕ": "N", "𝕀": "I", "𝔼": "E"}


def _signs(column: str, dot: str, times: str, mean: str, defining: str) -> dict[str, str]:
    """Return a map from each symbol's value in the tree to its preferred form.

    `dot` is the sign for a product of numbers, `times` for a shape, `mean` for an expectation, and `defining` for ≜.
    """
    signs = {value(symbol): getattr(symbol, column).split()[0] for symbol in SYMBOLS}
    return signs | {"·": dot, " × ": times, "𝔼": mean, "≜": defining}


_TEXT = _signs("text", "·", " × ", "𝔼", "≜")
_ASCII = _signs("ascii", "*", ", ", "E", ":=")
_ASCII |= {"¬": "not ", "⊕": "\\oplus", "√": "\\surd", "∂": "\\partial"}
_LATEX = _signs("latex", "\\cdot", " \\times ", "", "\\triangleq")
_LATEX |= {sign: f"\\mathbb{{{letter}}}" for sign, letter in BLACKBOARD.items()}
_LATEX |= {"¬": "\\lnot ", "for": "\\quad \\text{for }", "odd": "\\text{ odd}", "even": "\\text{ even}"}
SIGNS = _TEXT, _ASCII, _LATEX, _LATEX | {"ℝ": "\\reals"}

_OVER_LIMITS = r"\mathop{#1}\limits_{#2}"
_SIGN_OVER_LIMITS = r"\mathbin{\mathop{#1}\limits_{#2}}"
FORMS = {  # in text, ASCII, LaTeX and macros; a row's last column also serves the missing columns
    "quotient": ("#1 / #2", "#1 / #2", r"\frac{#1}{#2}"),
    "derivative": ("#1/#2", "#1/#2", r"\frac{#1}{#2}"),
    "binomial": ("", "", r"\binom{#1}{#2}"),
    "root": ("√#1", "sqrt(#1)", r"\sqrt{#1}"),
    "norm": ("‖#1‖", r"\norm(#1)", r"\lVert #1 \rVert"),
    "point": ("#1|_{#2}", "#1|_{#2}", r"\left. #1 \right|_{#2}"),
    "under": ("#1_{#2}", "#1_{#2}", _SIGN_OVER_LIMITS, r"\nbin{#2}{#1}"),
    "under ⊙": ("#1_{#2}", "@_{#2}", _SIGN_OVER_LIMITS, r"\ndot{#2}"),
    "under ⊕": ("#1_{#2}", "#1_{#2}", _SIGN_OVER_LIMITS, r"\ncat{#2}"),
    "big": ("#1_{#2}^{#3}", "#1_{#2}^{#3}", r"#1\limits_{#2}^{#3}"),
    "∑ over axes": ("", "", r"#1\limits_{#2}", r"\nsum{#2}"),
    "named": ("#1_{#2}^{#3}", "#1_{#2}^{#3}", _OVER_LIMITS + "^{#3}"),
    "macro": ("", "", "#1_{#2}^{#3}"),
    "function": ("", "", _OVER_LIMITS, r"\nfun{#2}{#1}"),
    "matrix": ("", "", r"\mathinner{#1\overset{#2}{\begin{bmatrix} #3 \end{bmatrix}}}", r"\nmatrix{#1}{#2}{#3}"),
    "cases": ("{ #1 }", "{ #1 }", r"\begin{cases} #1 \end{cases}"),
}
SLOTS = re.compile(r"([_^]\{#\d\}|#\d)")


def template_of(form: str, column: int) -> list[str]:
    """Split a form into strings, slots and scripts."""
    columns = FORMS[form]
    return [part for part in SLOTS.split(columns[min(column, len(columns) - 1)]) if part]


TEMPLATES = [{form: template_of(form, column) for form in FORMS} for column in (TEXT, ASCII, LATEX, MACROS)]
