"""Converts LaTeX to the tokens that the text syntax also produces.

`macros`: source to pieces; what TeX does before it knows of a formula.
`pairs`: where the formulas appear, and what closes what.
`statements`: cells of a table to statements.
`tables`: what characters and macros are to the notation.
`reader`: pieces to tokens through the text lexer, by a stack of unread parts.
`brackets`: brackets and bars.
`characters`: other single characters: cells, scripts, primes.
`upright`: words, fonts, accents.
`abbreviations`: macros with arguments, and the text that each abbreviates.
`lexer`: what each macro does, and `tokenize`.

Contract: it gives tokens; the tree does not know which syntax it came from.
"""

from .lexer import tokenize

__all__ = ["tokenize"]
