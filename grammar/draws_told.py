"""What is told of subscripts that hold expressions: 𝔼_{x ∼ N(0, 1)} is an expectation, N the name of a distribution; |_{X=U}."""

from __future__ import annotations

from .tokens import CLOSING, OPENING, Token, group_end

CALLED = ("LPAREN", "LBRACKET", "LBRACE")


def tell_draws(tokens: list[Token]) -> None:
    """Give the letter of each expectation, and the names and shapes of distributions, their terminals, in place."""
    if not any(token.type in ("DRAWN", "AT") for token in tokens):
        return
    for place, token in enumerate(tokens):
        if token.type == "AT":
            _tell_points(tokens, place)
        elif token.type == "DRAWN":
            _tell_distribution(tokens, place + 1)
        elif (
            token.type == "NAME"
            and token.text == "E"
            and [t.type for t in tokens[place + 1 : place + 3]] == ["SUB", "LBRACE"]
        ):
            end = group_end(tokens, place + 2)
            if any(each.type == "DRAWN" for each in tokens[place:end]):
                called = end < len(tokens) and tokens[end].type in CALLED
                token.type = "EXPECTED" if called else "EXPECTATION"


def _tell_distribution(tokens: list[Token], place: int) -> None:
    """N(0, 1)^{a × b}, U[0, 1]: a name with what stands directly after it in brackets; all else is an expression."""
    _name_no_axes(tokens, place)
    if [each.type for each in tokens[place : place + 2]] not in (["NAME", "LPAREN"], ["NAME", "LBRACKET"]):
        return
    name = tokens[place]
    name.type = "FAMILY"
    end = group_end(tokens, place + 1)
    if [each.type for each in tokens[end : end + 2]] == ["SUP", "LBRACE"]:
        depth = 0
        for each in tokens[end + 2 : group_end(tokens, end + 1)]:
            depth += (each.type == "LBRACKET") - (each.type == "RBRACKET")
            if depth == 0 and each.type in ("NAME", "TIMES"):
                each.place = "axis" if each.type == "NAME" else ""


def _name_no_axes(tokens: list[Token], place: int) -> None:
    """What is drawn from is no axis, though it stands in a subscript."""
    depth = 0
    for token in tokens[place:]:
        depth += (token.type in OPENING) - (token.type in CLOSING)
        if depth < 0 or (depth == 0 and token.type == "COMMA") or token.type == "SEPARATOR":
            return
        if depth == 0 and token.place == "axis":
            token.place = ""


def _tell_points(tokens: list[Token], place: int) -> None:
    """X = U, Y = V after a bar: tensors, and no axes."""
    if [each.type for each in tokens[place + 1 : place + 3]] != ["SUB", "LBRACE"]:
        return
    for at in range(place + 3, group_end(tokens, place + 2)):
        if tokens[at].type == "EQUALS":
            _name_no_axes(tokens, at + 1)
