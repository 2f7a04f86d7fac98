"""Scripts that are a sign: x^+, u^-, x_+ and x^{+} are names, x and u with the label + or -."""

from __future__ import annotations

from .tokens import Token

SCRIPTS = ("SUP", "SUB")
SIGNS = ("PLUS", "MINUS")


def name_signs(tokens: list[Token]) -> None:
    """Make a name of each sign that is a whole script, in place; x^-1 is none, as the sign belongs to what follows it."""
    for place, token in enumerate(tokens):
        if token.type not in SIGNS or place == 0:
            continue
        before, after = tokens[place - 1], tokens[place + 1] if place + 1 < len(tokens) else None
        if before.type == "LBRACE":
            whole = place > 1 and tokens[place - 2].type in SCRIPTS and after is not None and after.type == "RBRACE"
        else:
            apart = after is None or after.start > token.end or after.type not in ("NUMBER", "NAME", "LPAREN")
            whole = before.type in SCRIPTS and apart
        if whole:
            token.type = "NAME"
