"""Derivatives written as operators: ∂/∂X* f(X), ∂²f/∂X*∂Y† and ∂³f/∂r³, read as functions that stand before their operand.

PARTIAL SLASH PARTIAL NAME          FUNCTION WITH LBRACE NAME SUP STAR RBRACE
∂       /     ∂       X*            ∂        _    {      X    ^   *    }
"""

from __future__ import annotations

from .tokens import CLOSING, OPENING, Token

Stretch = tuple[int, int]
ORDERS = frozenset("23456789")


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
    order, before = _power(tokens, place + 1) or (1, place + 1)
    slash = _quotient(tokens, before) if order > 1 else before
    names = _variables(tokens, slash + 1) if _type(tokens, slash) == "SLASH" else []
    end = names[-1][1] if names else 0
    if len(names) != order:
        names = [each for name in names for each in _repeated(tokens, *name)]
    if len(names) != order:
        return None
    for start, stop in names:
        found += _function(tokens[place], tokens[start:stop])
    body = tokens[before:slash]
    if body:
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


def _power(tokens: list[Token], place: int) -> tuple[int, int] | None:
    """The n of ^n, or ^{n}, that begins here, from 2 to 9, and where it ends."""
    if _type(tokens, place) != "SUP":
        return None
    braced = _type(tokens, place + 1) == "LBRACE"
    at = place + 1 + braced
    number = tokens[at].text if _type(tokens, at) == "NUMBER" else ""
    if number not in ORDERS or (braced and _type(tokens, at + 1) != "RBRACE"):
        return None
    return int(number), at + 1 + braced


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
    """Return the adjacent names from here on, with their scripts, each after a ∂."""
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


def _repeated(tokens: list[Token], start: int, stop: int) -> list[Stretch]:
    """r² as r twice; else the name as it stands."""
    for place in range(start + 1, stop):
        found = _power(tokens, place)
        if found is not None and found[1] == stop:
            return [(start, place)] * found[0]
    return [(start, stop)]


def without_brackets(tokens: list[Token]) -> list[Token]:
    """Tokens in which a derivative stands before its operand without brackets of its own: (∂/∂X*) f, (∂/∂r)² f."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        end = _operators_end(tokens, place + 1) if tokens[place].type == "LPAREN" else place
        if end <= place + 1 or _type(tokens, end) != "RPAREN":
            found.append(tokens[place])
            place += 1
            continue
        count, after = _power(tokens, end + 1) or (1, end + 1)
        found += tokens[place + 1 : end] * count
        place = after
    return found


def _operators_end(tokens: list[Token], place: int) -> int:
    """Return the end of the adjacent operators ∂/∂X from here on."""
    while _type(tokens, place) == "FUNCTION" and tokens[place].text == "∂" and _type(tokens, place + 1) == "WITH":
        place = _closed(tokens, place + 2)
    return place
