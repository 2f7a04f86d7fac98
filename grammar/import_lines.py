"""Tokenize import lines, such as from "attention.nt" import Attention, FFN as MLP."""

from __future__ import annotations

import re

from .errors import Hint, NotationError, Span
from .symbols import SPELLED_GREEK
from .text_tables import PRIMES
from .tokens import Token

PIECE = re.compile(
    rf"""\s*(?:\#.*|"(?P<PATH>[^"\n]*)"|(?P<word>[^\W\d_][^\W_]*[{PRIMES}]*)|(?P<COMMA>,)|(?P<other>\S))""", re.VERBOSE
)
WORDS = {"from": "FROM", "import": "IMPORT", "as": "AS"}
LABELS = re.compile(r"[\^_](?:\{[^{}\n]*\}|[^\s,#]*)")
FORM = 'write from "attention.nt" import Attention, FFN'


def tokens_of_import(source: str, start: int, end: int) -> list[Token]:
    """Return the tokens of an import line. Raise NotationError at an invalid character.

    >>> tokens_of_import('from "a.nt" import f as g', 0, 25)
    [FROM('from'), PATH('a.nt'), IMPORT('import'), NAME('f'), AS('as'), NAME('g')]
    """
    tokens: list[Token] = []
    for match in PIECE.finditer(source, start, end):
        kind = match.lastgroup
        if kind is None:  # A comment ends the line.
            break
        span = match.span(kind)
        if kind == "other":
            raise wrong_character(source, tokens, span)
        text = match[kind]
        if kind == "word":
            kind = WORDS.get(text, "NAME")
            plain = text.rstrip(PRIMES)
            text = SPELLED_GREEK.get(plain, plain) + text[len(plain) :] if kind == "NAME" else text
        tokens.append(Token(kind, text, *span))
    return tokens


def wrong_character(source: str, tokens: list[Token], span: Span) -> NotationError:
    """Return the error for a character that is not valid in an import line."""
    character, last = source[slice(*span)], tokens[-1]
    if character == "*" and last.type == "IMPORT":
        hint = "name what you use; a definition brings along what it needs"
        return NotationError(101, "an import lists its names", source, span, hint=hint)
    if character in "^_" and last.type == "NAME":
        label = LABELS.match(source, span[0])
        whole = last.start, label.end() if label else span[1]
        hint = Hint(f"write {last.text}: a name is imported with all its labels", last.text)
        return NotationError(101, f"{source[slice(*whole)]} is not a name to import", source, whole, hint=hint)
    problem = "a file is written in double quotes" if last.type == "FROM" else f"unexpected {character}"
    return NotationError(101, f"malformed import: {problem}", source, span, hint=FORM)
