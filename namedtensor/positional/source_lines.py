"""One line of matrix or index notation to its tree: head = body, or a value alone."""

from __future__ import annotations

from collections.abc import Collection

from .source_tree import Statement, Tree
from .tokens import END, NAME, SIGN, SourceToken, tokens_of
from .trees import SourceParser


def tree_of(source: str, tokens: list[SourceToken], names: Collection[str] = ()) -> Tree:
    """The tree of all tokens. Raises NotationError if one cannot be read."""
    parser = SourceParser(source, tokens, names)
    tree = parser.sum()
    if parser.token.kind != END:
        raise parser.unexpected()
    return tree


def statement_of(source: str, names: Collection[str] = ()) -> Statement:
    """A line: its value, and its name if it has an `=`."""
    tokens = tokens_of(source, names)
    depth = 0
    for position, token in enumerate(tokens):
        depth += (token.text in "([{") - (token.text in ")]}") if token.kind == SIGN else 0
        if token.kind == SIGN and token.text == "=" and depth == 0:
            before, after = tokens[:position], tokens[position + 1 :]
            if before and before[-1].text == ":":
                before = before[:-1]
            end = SourceToken(END, "", token.start, token.start)
            if len(before) > 2 and before[0].kind == NAME and (before[1].text, before[-1].text) == ("(", ")"):
                before = before[:1]  # f(x) = …
            return Statement(tree_of(source, [*before, end], names), tree_of(source, after, names))
    return Statement(None, tree_of(source, tokens, names))
