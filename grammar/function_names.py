"""Find the names that denote functions, which are built in or defined in the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .customary_forms import call_in_braces
from .draws import tell_draws
from .errors import NotationError
from .symbols import BINDERS, BRACKETED, ELEMENTWISE, FUNCTIONS
from .tokens import (
    ROUND,
    Spelling,
    Token,
    compact,
    depths,
    group_end,
    has_several_parts,
    read_names,
    scripts_end,
    spelling,
)


def statements(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each statement."""
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


def _labels(tokens: list[Token]) -> set[int]:
    """Return the positions of names that are labels: whole scripts, as in W^max, or components, as in W^{l,max}."""
    labels: set[int] = set()
    run = False  # Whether only components follow the brace that opens the script.
    for position, token in enumerate(tokens):
        before = tokens[position - 1].type if position else ""
        after = tokens[position + 1].type if position + 1 < len(tokens) else ""
        run = before in ("SUB", "SUP") if token.type == "LBRACE" else run and token.type in ("NAME", "NUMBER", "COMMA")
        if token.type == "NAME" and (before in ("SUB", "SUP") or (run and after in ("COMMA", "RBRACE"))):
            labels.add(position)
    return labels


def _head(tokens: list[Token]) -> Iterator[tuple[str, Spelling, Any]]:
    """Yield the names that a statement defines or declares.

    Yield ("function", name, parameters) for a function, and ("tensor", name, frozenset()) for a tensor.
    """
    if not tokens or tokens[0].type != "NAME":
        return
    end = scripts_end(tokens, 1)
    after = tokens[end].type if end < len(tokens) else ""
    name = spelling(tokens[:end])
    if after == "COLON":
        yield "function", name, frozenset()
    elif after == "LPAREN":
        close = group_end(tokens, end)
        inside = tokens[end + 1 : close - 1]
        after = (
            scripts_end(tokens, close) if close < len(tokens) and tokens[close].type == "SUB" else close
        )  # f(x)_{h(i)} = …
        equated = after < len(tokens) and tokens[after].type == "EQUALS"
        if equated and inside and read_names(inside)[1] == len(inside):
            yield "function", name, frozenset(token.text for token in inside if token.type == "NAME")
    elif after == "NAME":
        name_end = scripts_end(tokens, end + 1)
        if name_end < len(tokens) and tokens[name_end].type == "EQUALS":
            yield "function", name, frozenset((tokens[end].text,))
    elif after in ("EQUALS", "IN"):
        yield "tensor", name, frozenset()
    elif after == "COMMA":
        names, end = read_names(tokens)
        if end < len(tokens) and tokens[end].type == "IN":
            yield from (("tensor", spelling(name), frozenset()) for name in names)


# Tokens that can start an operand.
BEGINS = {"NUMBER", "NAME", "FUNCTION", "LPAREN", "CALL", "LBRACE", "LBRACKET", "BAR", "ROOT", "PARTIAL", "BIG", "MINUS",
          "INDICATOR", "EXPECTED", "EXPECTATION"}  # fmt: skip


class _Telling:
    """The names of functions in a source, for deciding whether a token is a function.

    A function is defined in the source, built in, or passed in `further`.
    """

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
        """Return whether a name, written as `text` and followed by a token of type `after`, is a function."""
        if name.base.rstrip("'") in self.defined and name.base[-1] == "'" and after == "LPAREN":
            if name not in self.tensors and name.base not in (*self.defined, *self.shadowed):
                return True  # Later code reports that f' is not the derivative of f.
        if name in self.tensors or (text in self.shadowed and name not in self.heads):
            return False
        family = name.fits(self.families)
        if name.fits(self.functions):
            return not family or after == "LPAREN"
        over_axes = name.base in self.built_in and name.subscript and after in BEGINS  # max_{a} x beside max = …
        if family or (any(other in self.tensors for other in name.shorter()) and not over_axes):
            return False
        if name.base in self.defined:
            return after in BEGINS or not whole
        if name.base in self.shadowed or name.base not in self.built_in:
            return False
        if name.base in BRACKETED:
            return after == "LPAREN" and not (name.subscript or name.superscript)
        return name.base in self.further or after in BEGINS or not (whole and can_be_tensor(name))


def refuse_function_arguments(tokens: Iterable[Token], source: str) -> None:
    """Raise NotationError if a parameter of a function has a signature, because functions cannot be arguments.

    If a defined function has the same name as the parameter, raise the error only if the equation calls the parameter.
    """
    heads = [(line, *head[1:]) for line in statements(tokens) for head in _head(line) if head[0] == "function"]
    typed, defined = ({name.base for _, name, parameters in heads if bool(parameters) == has} for has in (False, True))
    for line, name, parameters in heads:
        equated = next((at for at, token in enumerate(line) if token.type == "EQUALS"), 0)
        applied = [token for token, after in zip(line[equated:], line[equated + 1 :]) if after.type == "LPAREN"]
        for parameter in line[:equated]:
            uses = [token for token in applied if token.text == parameter.text]
            if parameter.text not in parameters & typed or (parameter.text in defined and not uses):
                continue
            others = ", ".join(token.text for token in line[:equated] if token.text in parameters - {parameter.text})
            body, start = "", line[equated + 1].start
            for use in uses:
                body, start = f"{body}{source[start : use.start]}h", use.end
            left = f"{name.base}_h({others})" if others else f"{name.base}_h"
            raise NotationError(
                114, f"{name.base} cannot take the function {parameter.text} as an argument", source, parameter.span,
                hint=f"write an equation for each function: {left} = {body}{source[start : line[-1].end]}",
            )  # fmt: skip


def can_be_tensor(name: Spelling) -> bool:
    """Return whether the name of a built-in function can denote a tensor if no operand follows.

    The name cannot denote a tensor if its subscript contains axes to reduce.
    """
    return name.base in ELEMENTWISE or all(part.isdecimal() for part in name.subscript)


def name_conditionals(tokens: list[Token]) -> None:
    """Merge the tokens of each p(B | A) into a single name.

    The function modifies `tokens`. It also merges the tokens of p(A) if p occurs with a bar elsewhere.
    """
    if not any(token.type == "BAR" for token in tokens):
        return
    result: dict[int, tuple[int, str]] = {}
    bases: set[str] = set()
    for start, token in enumerate(tokens):
        labels = start > 0 and tokens[start - 1].type in ("SUB", "SUP")
        if token.type == "NAME" and token.place != "axis" and not labels:
            opening = scripts_end(tokens, start + 1)
            if opening < len(tokens) and tokens[opening].type == "LPAREN" and opening - start <= 5:
                named = _conditional(tokens, start, opening)
                if named is not None:
                    result[start] = named
                    bases |= {named[1].partition("(")[0]} if "|" in named[1] else set()
    names: list[tuple[int, int, str]] = []  # Overlaps are left out: p_d(y|x) is included, but the d(y|x) in it is not.
    for start, (end, text) in sorted(result.items()):
        if text.partition("(")[0] in bases and (not names or start >= names[-1][1]):
            names.append((start, end, text))
    for start, end, text in reversed(names):
        tokens[start:end] = [Token("NAME", text, tokens[start].start, tokens[end - 1].end)]


def _conditional(tokens: list[Token], start: int, opening: int) -> tuple[int, str] | None:
    """Return the position after p(B | A) and the name that replaces it.

    Return None if the brackets contain anything other than names, commas and at most one bar.
    """
    scripted = [token for token in tokens[start:opening] if token.type not in ("LBRACE", "RBRACE")]
    if not all(token.type in ("SUB", "SUP", "NAME", "NUMBER") for token in scripted):
        return None
    text = "".join({"SUB": "_", "SUP": "^"}.get(token.type, token.text) for token in scripted) + "("
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
    """Replace max { X | i ∈ I } with max_{i ∈ I} (X) in the list of tokens."""
    start = 0
    while start + 1 < len(tokens):
        if (
            tokens[start].type not in ("NAME", "BIG")
            or tokens[start + 1].type != "LBRACE"
            or tokens[start].place == "axis"
        ):
            start += 1
            continue
        end, bar = group_end(tokens, start + 1), 0
        for position, depth in enumerate(depths(tokens[start + 1 : end]), start + 1):
            if depth == 1 and [token.type for token in tokens[position : position + 3]] == ["BAR", "NAME", "IN"]:
                bar = position
        if bar:
            opening, close = tokens[start + 1], tokens[end - 1]
            below = [
                Token("SUB", "_", *tokens[bar].span),
                Token("LBRACE", "{", *tokens[bar].span),
                *tokens[bar + 1 : end],
            ]
            inside = [Token("LPAREN", "(", *opening.span), *tokens[start + 2 : bar], Token("RPAREN", ")", *close.span)]
            tokens[start + 1 : end] = [*below, *inside]
        start += 1


def tell_products(tokens: list[Token]) -> None:
    """Turn each × that can only be a product into a product sign.

    The function modifies `tokens`. A × can only be a product next to a number, as in 2 × X, or inside parentheses or
    square brackets, as in seq(i × k).
    """
    depth = 0
    for before, token, after in zip(tokens, tokens[1:], tokens[2:]):
        depth += (before.type in ROUND) - (before.type in ("RPAREN", "RBRACKET"))
        if token.type == "TIMES" and token.place == "product":
            if "NUMBER" in (before.type, after.type) or depth > 0:
                token.type, token.text = "DOT", "⊙"


def tell_call(line: list[Token], position: int) -> None:
    """Turn a name before several arguments into a function, as in f(X, Y) or f(X; W), because it cannot be a factor."""
    opening = scripts_end(line, position + 1)
    if opening < len(line) and line[opening].type == "LPAREN" and has_several_parts(line, opening):
        line[position].type, line[opening].type = "FUNCTION", "CALL"


def tell_functions(
    tokens: list[Token], shadowed: frozenset[str], further: frozenset[str] = frozenset(), whole: bool = True
) -> None:
    """Change the type of each function name to FUNCTION, and the type of the bracket after it to CALL.

    The function modifies `tokens`. `shadowed` contains names of tensors, in the caller's spelling, and `further`
    contains names of functions that are defined elsewhere. Pass `whole=False` if the user is still typing, so that more
    text may follow the last token.
    """
    for token, following in zip(tokens, tokens[1:]):
        if token.type == "RBRACKET" and following.type == "SUB":
            token.text = "]_"  # A literal or an indexed expression is never a group.
        if token.type == "NORM":  # Only the ASCII spelling \norm(x) has this type.
            token.type = "FUNCTION"
            following.type = "CALL" if following.type == "LPAREN" else following.type
    if any(token.type in ("DRAWN", "AT") or (token.type == "NAME" and token.text == "E") for token in tokens):
        tell_draws(tokens, shadowed)
    tell_products(tokens)
    name_conditionals(tokens)
    sets_built(tokens)
    lines = list(statements(tokens))
    telling = _Telling(lines, frozenset(map(compact, shadowed)), further)
    primed = {token.text for token in tokens if token.text[-1:] == "'" and token.text.rstrip("'") in telling.defined}
    functions = telling.built_in | telling.defined | primed
    for line, bound in zip(lines, telling.parameters):
        if line[0].type == "FROM":
            continue
        labels = _labels(line)
        for position, token in enumerate(line):
            if token.type != "NAME" or token.place == "axis" or position in labels:
                continue
            if token.text not in functions or token.text in bound:
                tell_call(line, position)
                continue
            end = scripts_end(line, position + 1)
            after = line[end].type if end < len(line) else ""
            text = "".join(piece.text for piece in line[position:end] if piece.type not in ("LBRACE", "RBRACE"))
            if telling.is_function(spelling(line[position:end]), text, after, whole):
                token.type = "FUNCTION"
                if after == "LPAREN":
                    line[end].type = "CALL"
                call_in_braces(line, position)
