"""Definitions after `where` in a line of text: 2 n + m where n = 3, m = 4 is three statements.

`where` with a bracket is the function, where(x > 0, x, 0).
"""

from __future__ import annotations

from .tokens import CLOSING, OPENING, Token, group_end

SCRIPTS = ("SUB", "SUP")
BEFORE = ("where", "Where")


def with_parts(tokens: list[Token]) -> list[Token]:
    """The tokens with a SEPARATOR for each `where` before a definition, and for each comma and `and` between those."""
    found: list[Token] = []
    depth, within = 0, False
    for place, token in enumerate(tokens):
        depth += (token.type in OPENING) - (token.type in CLOSING)
        within = within and token.type != "SEPARATOR"
        is_word = token.type == "NAME" and token.text in BEFORE
        parts = is_word or (within and (token.type in ("COMMA", "AND")))
        if depth or not parts or not defines(tokens, place + 1):
            found.append(token)
            continue
        within = True
        while found and found[-1].type in ("COMMA", "AND"):
            found.pop()
        if found and found[-1].type != "SEPARATOR":
            found.append(Token("SEPARATOR", "\n", *token.span))
    return found


def defines(tokens: list[Token], place: int) -> bool:
    """Whether a definition or a declaration begins here: n =, W^Q ∈, f(x) =, and after a comma `and n =`."""
    if place < len(tokens) and tokens[place].type == "AND":
        place += 1
    if place >= len(tokens) or tokens[place].type != "NAME":
        return False
    place = after_scripts(tokens, place + 1)
    if place < len(tokens) and tokens[place].type == "LPAREN":
        place = after_scripts(tokens, group_end(tokens, place))
    return place < len(tokens) and tokens[place].type in ("EQUALS", "IN")


def after_scripts(tokens: list[Token], place: int) -> int:
    while place + 1 < len(tokens) and tokens[place].type in SCRIPTS:
        place = group_end(tokens, place + 1) if tokens[place + 1].type == "LBRACE" else place + 2
    return place
