"""Define the tables of the text syntax: its words, symbols and characters, and the pattern of its tokens."""

from __future__ import annotations

import re

from .stray_characters import ENTITY
from .symbols import (
    FRACTIONS,
    GREEK_LETTERS,
    GREEK_VARIANTS,
    SPELLED_GREEK,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    SYMBOLS,
    UNDERSCORED,
    value,
)

PRIMES = "'′’"
MARKS = "*∗†‡"
MARK_STARTS = MARKS + "\\"
MARK = re.compile(rf"(?:[{MARKS}]|\\dag(?:ger)?(?![A-Za-z]))+")

MULTIPLIED = re.compile(r"\*[^\W_]|(?<=\s)\*\s*[\w(]")  # Matches a star that multiplies inside a script, as in x_{2*t}.

WORDS = {
    "if": "IF", "otherwise": "OTHERWISE", "for": "FOR", "odd": "PARITY", "even": "PARITY",
    "and": "AND", "or": "OR", "not": "NOT", "in": "IN", "sum": "BIG", "prod": "BIG",
}  # fmt: skip
WORD_VALUES = {"sum": "∑", "prod": "∏", "and": "∧", "or": "∨", "not": "¬", "in": "∈"}

SIGNS = {
    spelling: (symbol.terminal, value(symbol))
    for symbol in SYMBOLS
    for spelling in symbol.text.split() + symbol.ascii.split()
    if symbol.terminal != "NORM" and not (spelling.isascii() and spelling.strip("\\").isalpha())
}
# These signs have the same meaning in every context.
PLAIN = {sign: names for sign, names in SIGNS.items() if sign not in f"{PRIMES}{MARKS}@()[]{{}}|∣"}
SETS = {"R": "ℝ", "Z": "ℤ", "N": "ℕ"}
BEFORE_SET = ("IN", "COLON", "ARROW", "TIMES", "EQUALS")
SPECIAL = {*WORDS, *SPELLED_GREEK, *SETS, "x", "I", "inf"}  # These words are not always names.

_GREEK = "".join(sorted(GREEK_LETTERS | set(GREEK_VARIANTS)))
_SCRIPTS = "".join(SUBSCRIPTS) + "".join(SUPERSCRIPTS)
_ALONE = f"[{_GREEK}{_SCRIPTS}{FRACTIONS}ℝℤℕ𝕀]"
ACCENT = "\u0300-\u036f\u20d7"
IMPORT = r"(?<![^\n])[^\S\n]*(?P<imports>from(?=[ \t]*[\"'“”„]|[ \t]+[\w.:/]+[ \t]+import\b)[^\n]*)"
TOKEN = re.compile(
    rf"""{IMPORT}|[^\S\n]*(?:(?P<comment>\#[^\n]*)
    |(?P<newline>\n)
    |(?P<entity>{ENTITY})
    |(?P<number>(?![𝟙𝟏])(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<vulgar>[{FRACTIONS}])
    |(?P<greek>[{_GREEK}][{ACCENT}]*[{PRIMES}]*)
    |(?P<macro>\\[A-Za-z]+[{PRIMES}]*)
    |(?P<sub>[{"".join(SUBSCRIPTS)}]+)
    |(?P<sup>[{"".join(SUPERSCRIPTS)}]+)
    |(?P<multiple>:=|->|\.\.\.|!=|<=|>=)
    |(?P<word>{"|".join(UNDERSCORED)}|(?:(?!{_ALONE})[^\W\d_])(?:(?!{_ALONE})[^\W_]|[{ACCENT}])*[{PRIMES}]*)
    |(?P<other>\S))""",
    re.VERBOSE | re.DOTALL,
)

# A line that ends with a type in JOINS_AFTER continues on the next line. A line that begins with a type in JOINS_BEFORE
# continues the previous line.
JOINS_AFTER = {
    "EQUALS", "APPROX", "COMMA", "COLON", "ARROW", "IN", "DRAWN", "TIMES", "PLUS", "MINUS", "SLASH", "DOT", "OPERATOR", "ROOT", "RELATION",
    "AND", "OR", "NOT", "FOR", "SEMICOLON", "BIG", "PARTIAL",
}  # fmt: skip
JOINS_BEFORE = {
    "EQUALS", "APPROX", "COMMA", "COLON", "ARROW", "IN", "DRAWN", "TIMES", "PLUS", "MINUS", "SLASH", "DOT", "OPERATOR", "RELATION", "AND",
    "OR", "FOR", "SEMICOLON", "RPAREN", "RBRACE", "RBRACKET",
}  # fmt: skip


BRACKETS = {"⌊": "floor", "⌋": "floor", "⌈": "ceil", "⌉": "ceil", "‖": "‖"}  # These brackets apply functions.
CLOSING = ")],;}/+=⊙·<>≤≥≠≈∝"  # A star before one of these is not a product.
OF_AXES = ("sub", "shape", "item", "|")  # In these brackets, words name axes.

# Match the text after an opening brace if the brace contains a relation.
CONDITION = re.compile(r"(?:[^{}<>=≤≥≠]|->|\{[^{}]*\})*(?:(?<!-)[<>=≤≥≠]|\{[^{}]*[<>=≤≥≠])")

BARRED = re.compile(
    rf"""\s*\\?[^\W_]+(?:[{PRIMES}{MARKS}]|\^?{MARK.pattern}|_\\?[^\W_]+(?:\.\d+)?|_\{{\\?[\w.]+[{PRIMES}]*\}})*\s*[|∣]"""
)
SUBSCRIPTED = re.compile(rf"\s*[_{''.join(SUBSCRIPTS)}]")
HEAD = re.compile(r"\s*(?:_\{[^:\n]*\}|_\w+)?\s*:")  # in a signature, after its operator
