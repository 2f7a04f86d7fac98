"""Conversion of LaTeX to the same tokens that the text syntax produces.

`macros`: source to pieces; the preprocessing that TeX does without knowing formulas.
`pairs`: the spans of the formulas, and the matching of brackets.
`statements`: cells of a table to statements.
`tables`: the meaning of characters and macros in the notation.
`reader`: pieces to tokens through the text lexer, by a stack of unread parts.
`brackets`: brackets and bars.
`characters`: other single characters: cells, scripts, primes.
`upright`: words, fonts, accents.
`abbreviations`: macros with arguments, and the text that each abbreviates.
`lexer`: the effect of each macro, and `tokenize`.

Contract: it returns tokens; the tree does not show which syntax it came from.
"""

from .lexer import tokenize

__all__ = ["tokenize"]
