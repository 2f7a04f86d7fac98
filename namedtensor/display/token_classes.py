"""Notation data for highlighters: a class for each terminal of the grammar, and the symbols of each class.

The Pygments lexer and the editor grammar (`editors/textmate.py`) use these data.
"""

from __future__ import annotations

import re
from functools import lru_cache

from grammar.symbols import FAMILIES, FUNCTIONS, GREEK_MACROS, SYMBOLS
from grammar.text_tables import WORDS

KEYWORD, OPERATOR, TYPE, FUNCTION, NAME, NUMBER, STRING, PUNCTUATION = (
    "keyword", "operator", "type", "function", "name", "number", "string", "punctuation",
)  # fmt: skip
CLASSES = {  # of terminals
    **dict.fromkeys("FOR IF OTHERWISE PARITY WITH FROM IMPORT AS".split(), KEYWORD),
    **dict.fromkeys("EQUALS APPROX UPDATE ARROW IN DRAWN TIMES PLUS MINUS SLASH DOT OPERATOR ROOT PARTIAL BIG".split(), OPERATOR),
    **dict.fromkeys("SUP SUB STAR FACTORIAL AND OR NOT RELATION AT BAR EXPECTED".split(), OPERATOR),
    **dict.fromkeys("REALS INDICATOR EXPECTATION".split(), TYPE),
    **dict.fromkeys("FUNCTION NORM FAMILY".split(), FUNCTION),
    "NAME": NAME,
    "NUMBER": NUMBER,
    "PATH": STRING,
    **dict.fromkeys("SEPARATOR COMMA COLON SEMICOLON ELLIPSIS DOTS".split(), PUNCTUATION),
    **dict.fromkeys("LPAREN RPAREN LBRACE RBRACE LBRACKET RBRACKET CALL".split(), PUNCTUATION),
}  # fmt: skip
LETTERS = r"[^\W\d_]"
WORD = rf"{LETTERS}[^\W_]*['′’]*"
NUMERAL = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
LABEL = r"(?<=[{,])in(?=[},])"  # a name in braces, as in W^{l,in}, where the word does not mean ∈
IMPORT = r"""^([ \t]*)(from)([ \t]*)("[^"\n]*")([ \t]*)(import)(?![^\W_])"""  # words that are names elsewhere
RENAMED = r"(?<![^\W_])as(?![^\W_])"  # in an import line
DIRECTIVE, COMMENT = r"#:[^\n]*", r"#[^\n]*"


@lru_cache(maxsize=16)
def spellings(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words and the symbols of a token class, longer ones first.

    >>> words, signs = spellings(OPERATOR)
    >>> "and" in words, "⊙" in signs, "->" in signs
    (True, True, True)
    """
    words: set[str] = {word for word, terminal in WORDS.items() if CLASSES[terminal] == kind}
    signs: set[str] = set()
    for symbol in SYMBOLS:
        if CLASSES[symbol.terminal] == kind:
            for spelling in (*symbol.text.split(), *symbol.ascii.split()):
                if not spelling.isascii() or not spelling.isalnum():
                    (words if spelling.isalpha() and spelling.isascii() else signs).add(spelling)
    if kind == FUNCTION:
        words |= FUNCTIONS | {f"{family}" for family in FAMILIES}
    if kind == NAME:
        signs |= {f"\\{name}" for name in GREEK_MACROS}
    return tuple(sorted(words, key=rank)), tuple(sorted(signs, key=rank))


def rank(text: str) -> tuple[int, str]:
    """Return a sort key that puts longer spellings first, so that they take precedence over their prefixes."""
    return -len(text), text


def pattern(kind: str) -> str:
    """Return a regular expression that matches the words and symbols of a token class."""
    words, signs = spellings(kind)
    parts = [rf"(?<![^\W_])(?:{'|'.join(map(re.escape, words))})(?![^\W_])"] if words else []
    plain = [
        re.escape(sign) + (r"(?![A-Za-z])" if sign[-1:].isascii() and sign[-1:].isalpha() else "") for sign in signs
    ]
    return "|".join([*parts, *plain])
