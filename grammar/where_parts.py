"""Split definitions after `where` into separate statements.

For example, 2 n + m where n = 3, m = 4 becomes three statements. Before a bracket, `where` is a function, as in where(x
> 0, x, 0).
"""

from __future__ import annotations

from .tokens import SCRIPTS, Token, depths, group_end, scripts_end

BEFORE = ("where", "Where")


def with_parts(tokens: list[Token]) -> list[Token]:
    """Return the tokens with a SEPARATOR before each definition that follows `where`."""
    result: list[Token] = []
    within = False
    for index, (token, depth) in enumerate(zip(tokens, depths(tokens))):
        within = within and token.type != "SEPARATOR"
        is_word = token.type == "NAME" and token.text in BEFORE
        parts = is_word or (within and (token.type in ("COMMA", "AND")))
        if depth or not parts or not defines(tokens, index + 1):
            result.append(token)
            continue
        within = True
        while result and result[-1].type in ("COMMA", "AND"):
            result.pop()
        if result and result[-1].type != "SEPARATOR":
            result.append(Token("SEPARATOR", "\n", *token.span))
    return result


def defines(tokens: list[Token], position: int) -> bool:
    """Return whether a definition or declaration begins at a position, such as n =, W^Q ∈ or f(x) =.

    The word `and` may precede the definition.
    """
    if position < len(tokens) and tokens[position].type == "AND":
        position += 1
    if position >= len(tokens) or tokens[position].type != "NAME":
        return False
    position = scripts_end(tokens, position + 1, SCRIPTS)
    if position < len(tokens) and tokens[position].type == "LPAREN":
        position = scripts_end(tokens, group_end(tokens, position), SCRIPTS)
    return position < len(tokens) and tokens[position].type in ("EQUALS", "IN")
