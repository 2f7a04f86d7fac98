"""Derivatives written as operators: ∂/∂X* f(X), ∂²f/∂X*∂Y† and ∂²f/∂r², read as functions that stand before their operand.

PARTIAL SLASH PARTIAL NAME          FUNCTION WITH LBRACE NAME SUP STAR RBRACE
∂       /     ∂       X*            ∂        _    {      X    ^   *    }
"""

from __future__ import annotations

from .tokens import CLOSING, OPENING, Token

Stretch = tuple[int, int]


def read_operators(tokens: list[Token]) -> list[Token]:
    """Tokens in which each ∂/∂X* is a function."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        end = _operator(tokens, place, found) if tokens[place].type == "PARTIAL" else None
        if end is None:
            found.append(tokens[place])
        place = place + 1 if end is None else end
    return found


def _operator(tokens: list[Token], place: int, found: list[Token]) -> int | None:
    """Add what an operator that begins here is read as, and say where it ends; None where none does."""
    before = _after_square(tokens, place + 1)
    twice = before is not None
    slash = _quotient(tokens, before) if before is not None else place + 1
    names = _variables(tokens, slash + 1) if _type(tokens, slash) == "SLASH" else []
    end = names[-1][1] if names else 0
    if twice and len(names) == 1:
        names = _squared(tokens, *names[0])
    if len(names) != 1 + twice:
        return None
    for start, stop in names:
        found += _function(tokens[place], tokens[start:stop])
    body = tokens[before:slash]
    if twice and body:
        found.append(Token("LBRACE", "{", body[0].start, body[0].start))
        found += read_operators(body)
        found.append(Token("RBRACE", "}", body[-1].end, body[-1].end))
    return end


def _function(sign: Token, name: list[Token]) -> list[Token]:
    """∂ with what it is by for its parameter."""
    first, last = name[0], name[-1].end
    plain = first.text.rstrip("*†")
    inside = [Token("NAME", plain, first.start, first.end), *name[1:]]
    if plain != first.text:
        inside[1:1] = [
            Token("SUP", "^", first.end, first.end),
            Token("STAR", first.text[len(plain) :], first.end, first.end),
        ]
    return [
        Token("FUNCTION", "∂", sign.start, last), Token("WITH", "_", sign.start, sign.start),
        Token("LBRACE", "{", first.start, first.start), *inside, Token("RBRACE", "}", last, last),
    ]  # fmt: skip


def _type(tokens: list[Token], place: int) -> str:
    return tokens[place].type if 0 <= place < len(tokens) else ""


def _after_square(tokens: list[Token], place: int) -> int | None:
    """Where ^2, or ^{2}, that begins here ends; None where none does."""
    if _type(tokens, place) != "SUP":
        return None
    braced = _type(tokens, place + 1) == "LBRACE"
    at = place + 1 + braced
    if _type(tokens, at) != "NUMBER" or tokens[at].text != "2" or (braced and _type(tokens, at + 1) != "RBRACE"):
        return None
    return at + 1 + braced


def _quotient(tokens: list[Token], place: int) -> int:
    """Where the / before the next ∂ stands, outside of brackets; −1 where none does before the formula ends."""
    depth = 0
    while place < len(tokens):
        kind = tokens[place].type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth < 0 or (not depth and kind in ("SEPARATOR", "EQUALS", "COMMA", "PLUS", "MINUS")):
            return -1
        if not depth and kind == "SLASH" and _type(tokens, place + 1) == "PARTIAL":
            return place
        place += 1
    return -1


def _variables(tokens: list[Token], place: int) -> list[Stretch]:
    """The names, with their scripts, that stand side by side from here on, each after a ∂."""
    found: list[Stretch] = []
    while _type(tokens, place) == "PARTIAL" and _type(tokens, place + 1) == "NAME":
        start = place + 1
        place = start + 1
        while _type(tokens, place) in ("SUB", "SUP"):
            place = _closed(tokens, place + 1) if _type(tokens, place + 1) == "LBRACE" else place + 2
        found.append((start, place))
    return found


def _closed(tokens: list[Token], place: int) -> int:
    """Where the bracket that opens here has closed."""
    depth = 0
    while place < len(tokens):
        depth += (tokens[place].type in OPENING) - (tokens[place].type in CLOSING)
        place += 1
        if not depth:
            break
    return place


def _squared(tokens: list[Token], start: int, stop: int) -> list[Stretch]:
    """r² as r twice; nothing of what ends otherwise."""
    ends = [place for place in range(start + 1, stop) if _after_square(tokens, place) == stop]
    return [(start, ends[0])] * 2 if ends else []
