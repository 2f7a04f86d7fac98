"""Conversion of LaTeX to the same tokens that the text syntax produces.

`macros`: conversion of source to pieces, with expansion of the author's macros.
`pairs`: spans of formulas, and matching brackets.
`statements`: conversion of table cells to statements.
`tables`: the meaning of characters and macros in the notation.
`reader`: conversion of pieces to tokens with the text lexer and a stack of unread parts.
`brackets`: handlers of brackets and bars.
`characters`: handlers of other single characters, such as cell separators, scripts and primes.
`upright`: handlers of words, fonts and accents.
`abbreviations`: macros that abbreviate text and take arguments.
`lexer`: the table of macro handlers, and `tokenize`.

Contract: the package returns tokens; the same formula in text and in LaTeX has the same tree.
"""

from .lexer import tokenize

__all__ = ["tokenize"]
