"""Tokens: what both lexers make and the parser reads, and the steps that both spellings share.

characters --lexer--> tokens --brackets matched, functions told from tensors--> tokens --LALR--> nodes
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from .errors import Hint, NotationError, Span
from .spellings import Spelling, compact, spelling
from .symbols import BINDERS, ELEMENTWISE, FUNCTIONS

OPENING = {"LPAREN": "RPAREN", "CALL": "RPAREN", "LBRACE": "RBRACE", "LBRACKET": "RBRACKET"}
CLOSING = {"RPAREN", "RBRACE", "RBRACKET"}
CLOSED_BY = {
    "‖": "‖",
    "⌊": "⌋",
    "⌈": "⌉",
    "\\lVert": "\\rVert",
    "\\lfloor": "\\rfloor",
    "\\lceil": "\\rceil",
    "\\|": "\\|",
}
ROUND = {"LPAREN", "CALL", "LBRACKET"}
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


def numeral(character: str, before: Token | None, source: str, start: int, end: int) -> list[Token]:
    """½ as {1/2}."""
    if before is not None and before.type == "NUMBER" and before.end == start:
        shown = source[before.start : end]
        raise NotationError(
            107, f"{shown} reads two ways", source, (before.start, end),
            notes=(f"either {before.text} + {character}", f"or {before.text} · {character}"), hint="write the sign",
        )  # fmt: skip
    above, below = unicodedata.normalize("NFKC", character).split("⁄")
    kinds = (("LBRACE", "{"), ("NUMBER", above), ("SLASH", "/"), ("NUMBER", below), ("RBRACE", "}"))
    return [Token(kind, text, start, end) for kind, text in kinds]


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
                    103,
                    f"{source[token.start : token.end]} closes no bracket",
                    source,
                    token.span,
                    hint=Hint("remove it", ""),
                )
            opened = open_brackets.pop()
            if OPENING[opened.type] != kind:
                raise NotationError(
                    104,
                    f"{source[token.start : token.end]} cannot close {source[opened.start : opened.end]}",
                    source,
                    token.span,
                    labels=((opened.span, "opened here"),),
                    hint=Hint(
                        f"write {SIGNS[OPENING[opened.type]]} here, or close it before", SIGNS[OPENING[opened.type]]
                    ),
                )
        elif kind == "SEPARATOR" and open_brackets:
            break
    if open_brackets:
        opened = open_brackets[-1]
        sign = source[opened.start : opened.end]
        closer, end = CLOSED_BY.get(sign) or SIGNS[OPENING[opened.type]], _statement_end(tokens, opened)
        raise NotationError(
            102,
            f"{sign} is never closed",
            source,
            opened.span,
            hint=Hint(f"close it with {closer}", closer, at=(end, end)),
        )


def _statement_end(tokens: list[Token], within: Token) -> int:
    """Where the statement of a token ends."""
    later = takewhile(lambda each: each.type != "SEPARATOR", (each for each in tokens if each.start >= within.start))
    return max(each.end for each in later)


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


def _head(tokens: list[Token]) -> Iterator[tuple[str, Spelling, Any]]:
    """What a statement defines: ("function", name, parameters), ("tensor", name, none) for each, or nothing."""
    if not tokens or tokens[0].type != "NAME":
        return
    end = _scripts_end(tokens, 1)
    after = tokens[end].type if end < len(tokens) else ""
    name = spelling(tokens[:end])
    if after == "COLON":
        yield "function", name, frozenset()
    elif after == "LPAREN":
        close = _group_end(tokens, end)
        inside = tokens[end + 1 : close - 1]
        if close < len(tokens) and tokens[close].type == "EQUALS" and _plain_names(inside):
            yield "function", name, frozenset(token.text for token in inside if token.type == "NAME")
    elif after == "NAME":
        name_end = _scripts_end(tokens, end + 1)
        if name_end < len(tokens) and tokens[name_end].type == "EQUALS":
            yield "function", name, frozenset((tokens[end].text,))
    elif after in ("EQUALS", "IN"):
        yield "tensor", name, frozenset()
    elif after == "COMMA":
        start = 0
        found = []
        while start < len(tokens) and tokens[start].type == "NAME":
            end = _scripts_end(tokens, start + 1)
            found.append(("tensor", spelling(tokens[start:end]), frozenset()))
            if end >= len(tokens) or tokens[end].type not in ("COMMA", "IN"):
                return
            if tokens[end].type == "IN":
                yield from found
                return
            start = end + 1


# What an operand may begin with.
BEGINS = {"NUMBER", "NAME", "FUNCTION", "LPAREN", "CALL", "LBRACE", "LBRACKET", "BAR", "ROOT", "PARTIAL", "BIG", "MINUS",
          "INDICATOR"}  # fmt: skip


class _Telling:
    """Which names of a text are functions: those that it defines, the built-in ones, and those defined elsewhere."""

    def __init__(self, lines: list[list[Token]], shadowed: frozenset[str], further: frozenset[str]):
        self.shadowed, self.further = shadowed, further
        self.built_in = FUNCTIONS | BINDERS | further
        self.heads: set[Spelling] = set()
        self.tensors: set[Spelling] = set()
        self.parameters: list[frozenset[str]] = []
        for line in lines:
            bound: frozenset[str] = frozenset()
            for what, name, parameters in _head(line):
                (self.heads if what == "function" else self.tensors).add(name)
                bound |= parameters
            self.parameters.append(bound)
        self.defined = {name.base for name in self.heads}
        self.functions = {name.pattern() for name in self.heads}
        self.families = {name.pattern() for name in self.tensors if name.subscript or name.superscript}

    def is_function(self, name: Spelling, text: str, after: str, whole: bool) -> bool:
        """Whether a name, written `text`, is one where `after` is the terminal that follows it."""
        if name in self.tensors or (text in self.shadowed and name not in self.heads):
            return False
        family = name.fits(self.families)
        if name.fits(self.functions):
            return not family or after == "LPAREN"
        if family or any(each in self.tensors for each in name.shorter()):
            return False
        if name.base in self.defined:
            return after in BEGINS or not whole
        if name.base in self.shadowed or name.base not in self.built_in:
            return False
        return name.base in self.further or after in BEGINS or not (whole and can_be_tensor(name))


def can_be_tensor(name: Spelling) -> bool:
    """Whether a built-in's name, without an operand, can be that of a tensor: it does not name axes to go over."""
    return name.base in ELEMENTWISE or all(part.isdecimal() for part in name.subscript)


def name_conditionals(tokens: list[Token]) -> None:
    """Make one name of each p(B | A), in place, and of p(A) where p stands with a bar elsewhere."""
    if not any(token.type == "BAR" for token in tokens):
        return
    found: dict[int, tuple[int, str]] = {}
    bases: set[str] = set()
    for start, token in enumerate(tokens):
        if token.type == "NAME" and token.place != "axis":
            opening = _scripts_end(tokens, start + 1)
            if opening < len(tokens) and tokens[opening].type == "LPAREN" and opening - start <= 5:
                named = _conditional(tokens, start, opening)
                if named is not None:
                    found[start] = named
                    bases |= {named[1].partition("(")[0]} if "|" in named[1] else set()
    for start in sorted(found, reverse=True):
        end, text = found[start]
        if text.partition("(")[0] in bases:
            tokens[start:end] = [Token("NAME", text, tokens[start].start, tokens[end - 1].end)]


def _conditional(tokens: list[Token], start: int, opening: int) -> tuple[int, str] | None:
    """Where p(B | A) ends, and its text; None where there is more than names in the brackets, or more than one bar."""
    text = "".join({"SUB": "_", "SUP": "^"}.get(token.type, token.text) for token in tokens[start:opening])
    text += "("
    bars = 0
    for position in range(opening + 1, len(tokens)):
        kind, previous = tokens[position].type, tokens[position - 1].type
        if kind == "RPAREN":
            return (position + 1, text + ")") if previous == "NAME" and bars < 2 else None
        if kind == "NAME" and previous != "NAME":
            text += tokens[position].text
        elif kind in ("COMMA", "BAR") and previous == "NAME":
            text += ", " if kind == "COMMA" else " | "
            bars += kind == "BAR"
        else:
            return None
    return None


def sets_built(tokens: list[Token]) -> None:
    """Turn max { X | i ∈ I } into max_{i ∈ I} (X), in place."""
    place = 0
    while place + 1 < len(tokens):
        if (
            tokens[place].type not in ("NAME", "BIG")
            or tokens[place + 1].type != "LBRACE"
            or tokens[place].place == "axis"
        ):
            place += 1
            continue
        end, depth, bar = _group_end(tokens, place + 1), 0, 0
        for position in range(place + 1, end):
            depth += (tokens[position].type in OPENING) - (tokens[position].type in CLOSING)
            if depth == 1 and [each.type for each in tokens[position : position + 3]] == ["BAR", "NAME", "IN"]:
                bar = position
        if bar:
            opening, close = tokens[place + 1], tokens[end - 1]
            below = [
                Token("SUB", "_", *tokens[bar].span),
                Token("LBRACE", "{", *tokens[bar].span),
                *tokens[bar + 1 : end],
            ]
            inside = [Token("LPAREN", "(", *opening.span), *tokens[place + 2 : bar], Token("RPAREN", ")", *close.span)]
            tokens[place + 1 : end] = [*below, *inside]
        place += 1


def tell_products(tokens: list[Token]) -> None:
    """Turn each × that can only be a product into one, in place: beside a number, as in 2 × X, and in an index, seq(i × k)."""
    depth = 0
    for before, token, after in zip(tokens, tokens[1:], tokens[2:]):
        depth += (before.type in ROUND) - (before.type in ("RPAREN", "RBRACKET"))
        if token.type == "TIMES" and token.place == "product":
            if "NUMBER" in (before.type, after.type) or depth > 0:
                token.type, token.text = "DOT", "⊙"


def tell_call(line: list[Token], position: int) -> None:
    """Turn a name with several arguments, f(X, Y) or f(X; W), into a call: it can be nothing else."""
    opening = _scripts_end(line, position + 1)
    if opening >= len(line) or line[opening].type != "LPAREN" or _is_label(line, position):
        return
    depth = 0
    for token in line[opening : _group_end(line, opening)]:
        depth += (token.type in OPENING) - (token.type in CLOSING)
        if depth == 1 and token.type in ("COMMA", "SEMICOLON"):
            line[position].type, line[opening].type = "FUNCTION", "CALL"
            return


def tell_functions(
    tokens: list[Token], shadowed: frozenset[str], further: frozenset[str] = frozenset(), whole: bool = True
) -> None:
    """Turn the NAME of each function into FUNCTION, and the bracket after it into CALL, in place.

    `shadowed` are names that stand for tensors, as they were given; of a text that is not `whole`, what is missing at
    the end may still come.
    """
    for token, following in zip(tokens, tokens[1:]):
        if token.type == "RBRACKET" and following.type == "SUB":
            token.text = "]_"  # a literal, or an expression to index: never a group of its own
        if token.type == "NORM":  # only ASCII: \norm(x)
            token.type = "FUNCTION"
            following.type = "CALL" if following.type == "LPAREN" else following.type
    tell_products(tokens)
    name_conditionals(tokens)
    sets_built(tokens)
    lines = list(statements(tokens))
    telling = _Telling(lines, frozenset(map(compact, shadowed)), further)
    functions = telling.built_in | telling.defined
    for line, bound in zip(lines, telling.parameters):
        for position, token in enumerate(line):
            if token.type != "NAME" or token.place == "axis":
                continue
            if token.text not in functions or token.text in bound:
                tell_call(line, position)
                continue
            if _is_label(line, position):
                continue
            end = _scripts_end(line, position + 1)
            after = line[end].type if end < len(line) else ""
            text = "".join(each.text for each in line[position:end] if each.type not in ("LBRACE", "RBRACE"))
            if telling.is_function(spelling(line[position:end]), text, after, whole):
                token.type = "FUNCTION"
                if after == "LPAREN":
                    line[end].type = "CALL"
