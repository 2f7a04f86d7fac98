"""Classify tokens in subscripts that contain expressions, as in 𝔼_{x ∼ N(0, 1)} and |_{X=U}."""

from __future__ import annotations

from .tokens import CLOSING, OPENING, Token, depths, group_end

CALLED = ("LPAREN", "LBRACKET", "LBRACE")


def tell_draws(tokens: list[Token], shadowed: frozenset[str] = frozenset()) -> None:
    """Set the types of the tokens that form expectations, distributions and evaluation points.

    The function modifies `tokens`. `shadowed` contains the names of tensors. If it contains E, a plain E is not an
    expectation.
    """
    stated = _find_stated_names(tokens)
    for index, token in enumerate(tokens):
        if token.type == "AT":
            _tell_points(tokens, index)
        elif token.type == "DRAWN":
            _tell_distribution(tokens, index + 1)
        elif token.type == "NAME" and token.text == "E" and token.place != "axis":
            _tell_expectation(tokens, index, stated, shadowed)


def _find_stated_names(tokens: list[Token]) -> set[str]:
    """Return the unscripted names that have a distribution in a separate statement, such as x ∼ N(0, 1)."""
    types = ["SEPARATOR", *(token.type for token in tokens)]
    return {
        token.text for index, token in enumerate(tokens) if types[index : index + 3] == ["SEPARATOR", "NAME", "DRAWN"]
    }


def _tell_expectation(tokens: list[Token], position: int, stated: set[str], shadowed: frozenset[str]) -> None:
    """Mark the token at `position` if it is an expectation, such as 𝔼_{x ∼ p}, 𝔼_x, 𝔼_{x, y} or 𝔼[…].

    A plain E is an expectation in three cases. Its subscript contains ∼, a square bracket follows its subscript, or its
    variables are all in `stated`. Without a subscript, E[…] is an expectation if `stated` is not empty.
    """
    token, end = tokens[position], position + 1
    types = [following.type for following in tokens[end : end + 2]]
    if types == ["SUB", "LBRACE"]:
        end = group_end(tokens, position + 2)
    elif types == ["SUB", "NAME"]:
        end = position + 3
    named = tokens[position + 1 : end]
    names = {piece.text for piece in named if piece.type == "NAME"}
    if not draws_itself(named):
        plain = all(piece.type in ("SUB", "LBRACE", "NAME", "COMMA", "RBRACE") for piece in named)
        square = end < len(tokens) and tokens[end].type == "LBRACKET" and token.place != "axis"
        known = token.place == "mean" or (names <= stated or square if named else bool(stated))
        if not (plain and known) or "E" in shadowed or compact(named, "E") in shadowed:
            return
    after = tokens[end].type if end < len(tokens) else ""
    if not named:
        if after == "LBRACKET" and tokens[group_end(tokens, end) - 1].text != "]_":  # not a literal
            token.type = "EXPECTED"
        return
    token.type = "EXPECTED" if after in CALLED else "EXPECTATION"


def draws_itself(script: list[Token]) -> bool:
    """Return whether a subscript contains ∼ outside inner brackets.

    For example, X^E_{seq(𝔼_{x ∼ p}[x])} contains ∼ only inside inner brackets.
    """
    return any(token.type == "DRAWN" and depth == 1 for token, depth in zip(script, depths(script)))


def compact(script: list[Token], name: str) -> str:
    """Return a name with its subscript as one string, such as E_x. Values are stored under such names."""
    return name + "_" + ",".join(token.text for token in script if token.type == "NAME")


def find_unnamed_expectation(tokens: list[Token]) -> Token | None:
    """Return the first 𝔼 that has no random variable and does not name a tensor, or None if every 𝔼 is valid."""
    for token, after in zip(tokens, tokens[1:]):
        if token.place == "mean" and token.type == "NAME" and after.type in ("SUB", *CALLED):
            return token
    return None


def _tell_distribution(tokens: list[Token], position: int) -> None:
    """Mark the name at `position` as a distribution if brackets follow, as in N(0, 1)^{a × b} or U[0, 1]."""
    _name_no_axes(tokens, position)
    if [token.type for token in tokens[position : position + 2]] not in (["NAME", "LPAREN"], ["NAME", "LBRACKET"]):
        return
    name = tokens[position]
    name.type = "FAMILY"
    end = group_end(tokens, position + 1)
    if [token.type for token in tokens[end : end + 2]] == ["SUP", "LBRACE"]:
        depth = 0
        for token in tokens[end + 2 : group_end(tokens, end + 1)]:
            depth += (token.type == "LBRACKET") - (token.type == "RBRACKET")
            if depth == 0 and token.type in ("NAME", "TIMES"):
                token.place = "axis" if token.type == "NAME" else ""


def ends_distribution(tokens: list[Token]) -> bool:
    """Return whether the last token is the closing bracket of a distribution, such as N(0, 1) in x ∼ N(0, 1)^{seq}."""
    if not tokens or tokens[-1].type not in CLOSING:
        return False
    depth = 0
    for index in range(len(tokens) - 1, 1, -1):
        depth += (tokens[index].type in CLOSING) - (tokens[index].type in OPENING)
        if depth == 0:
            return [token.type for token in tokens[index - 2 : index]] == ["DRAWN", "NAME"]
    return False


def _name_no_axes(tokens: list[Token], position: int) -> None:
    """Mark the names in a distribution as tensors. Other names in a subscript are axes."""
    later = tokens[position:]
    for token, depth in zip(later, depths(later)):
        if depth < 0 or (depth == 0 and token.type in ("COMMA", "DRAWN")) or token.type == "SEPARATOR":
            return
        if depth == 0 and token.place == "axis":
            token.place = ""


def _tell_points(tokens: list[Token], position: int) -> None:
    """Mark the names on the right-hand sides of the points in |_{X = U, Y = V} as tensors, not as axes."""
    if [token.type for token in tokens[position + 1 : position + 3]] != ["SUB", "LBRACE"]:
        return
    for at in range(position + 3, group_end(tokens, position + 2)):
        if tokens[at].type == "EQUALS":
            _name_no_axes(tokens, at + 1)
