"""Rewrite customary forms as the form that the grammar accepts.

x^(1/2), x^{(1/2)}     x^{1/2}
1_{x > 1}              𝕀{x > 1}, in LaTeX also with braces inside the subscript
…, ∀ t ∈ [n]           … for t ∈ [n], and `for all t ∈ [n]`
max{x, y}              max(x, y)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .tokens import Token, depths, group_end

TRUTHS = {"RELATION", "EQUALS", "AND", "OR", "NOT", "PARITY"}
EVERY = ("all", "each", "every")
ONES = {("NUMBER", "1"), ("NAME", "I"), ("NAME", "ones")}  # indicators if their subscript is a condition


def rewrite_customary_forms(tokens: list[Token], is_text: bool) -> None:
    """Rewrite customary forms of superscripts, conditions and ranges in the list of tokens.

    In LaTeX, x^(n) is not rewritten, because ^ raises only the opening parenthesis there.
    """
    dropped: set[int] = set()
    for position, token in enumerate(tokens):
        if token.type == "SUP":
            dropped.update(_brace_superscript(tokens, position, is_text))
        elif token.type == "SUB" and position:
            dropped.update(_brace_condition(tokens, position))
        elif token.type == "FOR" and position and position + 2 < len(tokens):
            dropped |= {position - 1} if tokens[position - 1].type == "COMMA" else set()
            every, variable = tokens[position + 1 : position + 3]
            dropped |= {position + 1} if every.text in EVERY and variable.type == "NAME" else set()
    if dropped:
        tokens[:] = [token for position, token in enumerate(tokens) if position not in dropped]


def _brace_superscript(tokens: list[Token], position: int, is_text: bool) -> Iterator[int]:
    """Replace the parentheses around a superscript with braces.

    If the superscript already has braces, yield the positions of its redundant parentheses.
    """
    opening = position + 1
    if opening < len(tokens) and tokens[opening].type == "LPAREN" and is_text:
        close = group_end(tokens, opening) - 1
        tokens[opening].type, tokens[opening].text = "LBRACE", "{"
        if tokens[close].type == "RPAREN":
            tokens[close].type, tokens[close].text = "RBRACE", "}"
    elif opening >= len(tokens) or tokens[opening].type != "LBRACE":
        return
    close = group_end(tokens, opening) - 1
    if any(token.type in TRUTHS for token in tokens[opening:close]):  # A condition keeps its parentheses.
        return
    while opening + 1 < close and tokens[opening + 1].type == "LPAREN" and group_end(tokens, opening + 1) == close:
        opening, close = opening + 1, close - 1
        yield opening
        yield close


def may_be_indicator(tokens: Sequence[Token], position: int) -> bool:
    """Return whether the token at `position`, such as 𝕀 or 1, can be an indicator.

    The token is an indicator if its subscript is a condition.
    """
    token = tokens[position] if position >= 0 else None
    if token is None or token.type != "INDICATOR" and (token.type, token.text) not in ONES:
        return False
    return token.place != "axis" and (position == 0 or tokens[position - 1].type not in ("SUP", "SUB"))


def _brace_condition(tokens: list[Token], position: int) -> Iterator[int]:
    """Turn 1_{x > 1} into the indicator 𝕀{x > 1}, and yield the positions of the tokens to drop."""
    base, opening = tokens[position - 1], position + 1
    if not may_be_indicator(tokens, position - 1) or opening >= len(tokens) or tokens[opening].type != "LBRACE":
        return
    close = group_end(tokens, opening) - 1
    doubled = tokens[opening + 1].type == "LBRACE" and group_end(tokens, opening + 1) == close
    inside = tokens[opening + doubled : close + 1 - doubled]
    if any(token.type in TRUTHS and depth == 1 for token, depth in zip(inside, depths(inside))):
        base.type, base.text = "INDICATOR", "𝕀"
        yield position
        yield from (opening, close) if doubled else ()


def call_in_braces(line: Sequence[Token], position: int) -> None:
    """Replace the braces around several arguments, as in max{x, y}, with parentheses.

    The function modifies the tokens in `line`.
    """
    opening = position + 1
    if opening >= len(line) or line[opening].type != "LBRACE":
        return
    close = group_end(line, opening)
    kinds = {token.type for token, depth in zip(line[opening:close], depths(line[opening:close])) if depth == 1}
    if "COMMA" in kinds and not kinds & {"IF", "OTHERWISE", "SEMICOLON"}:
        line[opening].type, line[close - 1].type = "CALL", "RPAREN"
