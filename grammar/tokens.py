"""Tokens: what both lexers make and the parser reads, and the steps that both spellings share.

characters --lexer--> tokens --brackets matched, functions told from tensors--> tokens --LALR--> nodes
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .errors import NotationError, Span
from .symbols import FUNCTIONS

OPENING = {"LPAREN": "RPAREN", "CALL": "RPAREN", "LBRACE": "RBRACE", "LBRACKET": "RBRACKET"}
CLOSING = {"RPAREN", "RBRACE", "RBRACKET"}
SIGNS = {"RPAREN": ")", "RBRACE": "}", "RBRACKET": "]"}


class Token:
    """A terminal with what the tree shall hold (`text`) and where it stands.

    `place` is "axis" directly inside a subscript or a shape, where every word is a name.
    """

    __slots__ = ("type", "text", "start", "end", "place")
    # What Lark asks of the last token when it makes its own end token.
    line = column = end_line = end_column = start_pos = end_pos = None

    def __init__(self, type: str, text: str, start: int, end: int, place: str = ""):
        self.type, self.text, self.start, self.end, self.place = type, text, start, end, place

    @property
    def span(self) -> Span:
        return self.start, self.end

    def __repr__(self):
        return f"{self.type}({self.text!r})"


def too_deep(nesting: int, source: str, span: Span) -> NotationError:
    return NotationError(
        404,
        f"brackets nest deeper than {nesting}",
        source,
        span,
        hint="name a part by an equation of its own, or raise limits.nesting",
    )


def match_brackets(tokens: list[Token], source: str, nesting: int) -> None:
    """Raise where a bracket is not matched, or where brackets nest deeper than `nesting`."""
    open_brackets: list[Token] = []
    for token in tokens:
        kind = token.type
        if kind in OPENING:
            open_brackets.append(token)
            if len(open_brackets) > nesting:
                raise too_deep(nesting, source, token.span)
        elif kind in CLOSING:
            if not open_brackets:
                raise NotationError(
                    103, f"{source[token.start : token.end]} closes no bracket", source, token.span, hint="remove it"
                )
            opened = open_brackets.pop()
            if OPENING[opened.type] != kind:
                raise NotationError(
                    104,
                    f"{source[token.start : token.end]} cannot close {source[opened.start : opened.end]}",
                    source,
                    token.span,
                    labels=((opened.span, "opened here"),),
                    hint=f"write {SIGNS[OPENING[opened.type]]} here, or close it before",
                )
        elif kind == "SEPARATOR" and open_brackets:
            break
    if open_brackets:
        opened = open_brackets[-1]
        sign = source[opened.start : opened.end]
        raise NotationError(
            102,
            f"{sign} is never closed",
            source,
            opened.span,
            hint=f"close it with {SIGNS[OPENING[opened.type]]}",
        )


def statements(tokens: list[Token]):
    """The tokens of each statement."""
    current: list[Token] = []
    for token in tokens:
        if token.type == "SEPARATOR":
            if current:
                yield current
            current = []
        else:
            current.append(token)
    if current:
        yield current


def _group_end(tokens: list[Token], start: int) -> int:
    """The index after the bracket group that opens at `start`."""
    depth = 0
    for position in range(start, len(tokens)):
        if tokens[position].type in OPENING:
            depth += 1
        elif tokens[position].type in CLOSING:
            depth -= 1
            if depth == 0:
                return position + 1
    return len(tokens)


def _scripts_end(tokens: list[Token], start: int) -> int:
    """The index after the sub- and superscripts that begin at `start`."""
    position = start
    while position < len(tokens) and tokens[position].type in ("SUB", "SUP", "WITH"):
        position += 1
        if position < len(tokens) and tokens[position].type == "LBRACE":
            position = _group_end(tokens, position)
        else:
            position += 1
    return position


def _is_label(tokens: list[Token], position: int) -> bool:
    """Whether the name here is a whole script, as in W^max, or one of its components: W^{l,max}"""
    if tokens[position - 1].type in ("SUB", "SUP"):
        return True
    if position + 1 == len(tokens) or tokens[position + 1].type not in ("COMMA", "RBRACE"):
        return False
    while position > 1 and tokens[position].type in ("NAME", "NUMBER", "COMMA"):
        position -= 1
    return tokens[position].type == "LBRACE" and tokens[position - 1].type in ("SUB", "SUP")


def _plain_names(tokens: list[Token]) -> bool:
    """Whether these tokens are names (with scripts) between commas and semicolons: the parameters of a head."""
    position, expecting = 0, True
    while position < len(tokens):
        if expecting:
            if tokens[position].type != "NAME":
                return False
            position = _scripts_end(tokens, position + 1)
        elif tokens[position].type in ("COMMA", "SEMICOLON"):
            position += 1
        else:
            return False
        expecting = not expecting
    return not expecting


def _spelling(tokens: list[Token]) -> str:
    return "".join(token.text for token in tokens if token.type not in ("LBRACE", "RBRACE"))


def _head(tokens: list[Token]) -> Iterator[tuple[str, str, Any]]:
    """What a statement defines: ("function", base, parameters), ("tensor", base, spelling) for each, or nothing."""
    if not tokens or tokens[0].type != "NAME":
        return
    end = _scripts_end(tokens, 1)
    after = tokens[end].type if end < len(tokens) else ""
    base = tokens[0].text
    if after == "COLON":
        yield "function", base, frozenset()
    elif after == "LPAREN":
        close = _group_end(tokens, end)
        inside = tokens[end + 1 : close - 1]
        if close < len(tokens) and tokens[close].type == "EQUALS" and _plain_names(inside):
            yield "function", base, frozenset(token.text for token in inside if token.type == "NAME")
    elif after == "NAME":
        name_end = _scripts_end(tokens, end + 1)
        if name_end < len(tokens) and tokens[name_end].type == "EQUALS":
            yield "function", base, frozenset((tokens[end].text,))
    elif after in ("EQUALS", "IN"):
        yield "tensor", base, _spelling(tokens[:end])
    elif after == "COMMA":
        start = 0
        found = []
        while start < len(tokens) and tokens[start].type == "NAME":
            end = _scripts_end(tokens, start + 1)
            found.append(("tensor", tokens[start].text, _spelling(tokens[start:end])))
            if end >= len(tokens) or tokens[end].type not in ("COMMA", "IN"):
                return
            if tokens[end].type == "IN":
                yield from found
                return
            start = end + 1


def tell_functions(tokens: list[Token], shadowed: frozenset[str], further: frozenset[str] = frozenset()) -> None:
    """Turn the NAME of each function into FUNCTION, and the bracket after it into CALL, in place."""
    lines = list(statements(tokens))
    defined: set[str] = set()
    tensors: set[str] = set()
    spellings: set[str] = set()
    parameters: list[frozenset[str]] = []
    for line in lines:
        bound: frozenset[str] = frozenset()
        for what, base, detail in _head(line):
            if what == "function":
                defined.add(base)
                bound = detail
            else:
                tensors.add(base)
                spellings.add(detail)
        parameters.append(bound)
    for token, following in zip(tokens, tokens[1:]):
        if token.type == "RBRACKET" and following.type == "SUB":
            token.text = "]_"  # a literal, or an expression to index: never a group of its own
    functions = ((FUNCTIONS | further) - tensors - shadowed) | defined
    for line, bound in zip(lines, parameters):
        after_function = False
        position = 0
        while position < len(line):
            token = line[position]
            named = token.type == "NAME" and token.text in functions and token.place != "axis"
            if named and not _is_label(line, position):
                end = _scripts_end(line, position + 1)
                known_tensor = token.text in bound or _spelling(line[position:end]) in spellings
                if not known_tensor:
                    token.type = "FUNCTION"
                    after_function = end < len(line) and line[end].type == "LPAREN"
                    if after_function:
                        line[end].type = "CALL"
            position += 1
