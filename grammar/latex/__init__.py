"""Conversion of LaTeX to the same tokens that the text syntax produces.

`macros`: conversion of source to pieces, with the preprocessing that TeX does without knowing formulas.
`pairs`: the spans of the formulas, and the matching of brackets.
`statements`: conversion of table cells to statements.
`tables`: the meaning of characters and macros in the notation.
`reader`: conversion of pieces to tokens through the text lexer, with a stack of unread parts.
`brackets`: handlers of brackets and bars.
`characters`: handlers of other single characters, such as cell separators, scripts and primes.
`upright`: handlers of words, fonts and accents.
`abbreviations`: macros with arguments, and the text that each macro abbreviates.
`lexer`: the table of macro handlers, and `tokenize`.

Contract: the package returns tokens, and the tree does not show which syntax they came from.
"""

from .lexer import tokenize

__all__ = ["tokenize"]
