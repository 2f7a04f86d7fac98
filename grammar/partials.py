"""Convert derivatives in operator form, such as ∂/∂X* f(X) and ∂³f/∂r³, to function calls.

PARTIAL SLASH PARTIAL NAME FUNCTION WITH LBRACE NAME SUP STAR RBRACE ∂ / ∂ X* ∂ _ { X ^ * }
"""

from __future__ import annotations

from .errors import NotationError
from .tokens import CLOSING, OPENING, SCRIPTS, Token, scripts_end

Stretch = tuple[int, int]
ORDERS = frozenset("23456789")


def read_operators(tokens: list[Token], source: str) -> list[Token]:
    """Replace each operator such as ∂/∂X* with the tokens of a function, and return the new tokens."""
    operators: list[Token] = []
    position = 0
    while position < len(tokens):
        end = _operator(tokens, position, operators, source) if tokens[position].type == "PARTIAL" else None
        if end is None:
            operators.append(tokens[position])
        position = position + 1 if end is None else end
    return operators


def _operator(tokens: list[Token], position: int, tokens_out: list[Token], source: str) -> int | None:
    """Append the tokens that replace the derivative operator at `position` to `tokens_out`.

    Return the position after the operator, or None if no operator begins at `position`.
    """
    order, before = _power(tokens, position + 1) or (1, position + 1)
    slash = _quotient(tokens, before) if order > 1 else before
    names = _variables(tokens, slash + 1) if _type(tokens, slash) == "SLASH" else []
    end = names[-1][1] if names else 0
    if len(names) != order:
        names = [pair for name in names for pair in repeat_names(tokens, *name)]
    if len(names) != order and (order > 1 or _type(tokens, position + 1) == "SUP"):
        raise _wrong_order(order, tokens[position], source)
    if len(names) != order:
        return None
    for start, stop in names:
        tokens_out += _function(tokens[position], tokens[start:stop])
    body = tokens[before:slash]
    if body:
        tokens_out.append(Token("LBRACE", "{", body[0].start, body[0].start))
        tokens_out += read_operators(body, source)
        tokens_out.append(Token("RBRACE", "}", tokens[end - 1].end, tokens[end - 1].end))
    return end


def _wrong_order(order: int, sign: Token, source: str) -> NotationError:
    message = f"a derivative of order {order} names {order} variables"
    if order < 3:
        message = "a second derivative names both variables"
    if order < 2:
        message = "the order of a derivative must be a number from 2 to 9"
    in_latex = source[sign.start : sign.start + 1] == "\\"
    forms = (
        r"\frac{\partial^2 f}{\partial x^* \partial y^*}, or \frac{\partial^3 f}{\partial r^3}"
        if in_latex
        else "∂²f/∂x*∂y*, or ∂³f/∂r³"
    )
    return NotationError(101, message, source, sign.span, hint=f"write {forms}")


def _function(sign: Token, name: list[Token]) -> list[Token]:
    """Return the tokens of a function ∂ with the variable in its subscript, such as ∂_{X^*}."""
    first, last = name[0], name[-1].end
    plain = first.text.rstrip("*†")
    inside = [Token("NAME", plain, first.start, first.end), *name[1:]]
    if plain != first.text:
        inside[1:1] = [
            Token("SUP", "^", first.end, first.end),
            Token("STAR", first.text[len(plain) :], first.end, first.end),
        ]
    return [
        Token("FUNCTION", "∂", sign.start, last), Token("WITH", "_", sign.start, sign.start),
        Token("LBRACE", "{", first.start, first.start), *inside, Token("RBRACE", "}", last, last),
    ]  # fmt: skip


def _type(tokens: list[Token], position: int) -> str:
    return tokens[position].type if 0 <= position < len(tokens) else ""


def _power(tokens: list[Token], position: int) -> tuple[int, int] | None:
    """Return the exponent n of ^n or ^{n} at `position`, from 2 to 9, and the position after the power.

    Return None if there is no such power.
    """
    if _type(tokens, position) != "SUP":
        return None
    braced = _type(tokens, position + 1) == "LBRACE"
    at = position + 1 + braced
    number = tokens[at].text if _type(tokens, at) == "NUMBER" else ""
    if number not in ORDERS or (braced and _type(tokens, at + 1) != "RBRACE"):
        return None
    return int(number), at + 1 + braced


def _quotient(tokens: list[Token], position: int) -> int:
    """Return the index of the / in a quotient such as ∂²f/∂x*∂y*, or −1 if there is no /."""
    depth = 0
    while position < len(tokens):
        kind = tokens[position].type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth < 0 or (not depth and kind in ("SEPARATOR", "EQUALS", "COMMA", "PLUS", "MINUS")):
            return -1
        if not depth and kind == "SLASH" and _type(tokens, position + 1) == "PARTIAL":
            return position
        position += 1
    return -1


def _variables(tokens: list[Token], position: int) -> list[Stretch]:
    """Return the token ranges of the variables in consecutive pairs such as ∂X ∂Y, which begin at `position`."""
    stretches: list[Stretch] = []
    while _type(tokens, position) == "PARTIAL" and _type(tokens, position + 1) == "NAME":
        start = position + 1
        position = scripts_end(tokens, start + 1, SCRIPTS)
        stretches.append((start, position))
    return stretches


def repeat_names(tokens: list[Token], start: int, stop: int) -> list[Stretch]:
    """Return the token range of a name, repeated for a power: twice for r², once for r."""
    for index in range(start + 1, stop):
        power = _power(tokens, index)
        if power is not None and power[1] == stop:
            return [(start, index)] * power[0]
    return [(start, stop)]


def unwrap_derivatives(tokens: list[Token]) -> list[Token]:
    """Remove the brackets around derivative operators, as in (∂/∂X*) f and (∂/∂r)² f, and return the new tokens.

    An operator with a power is repeated.
    """
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        end = _operators_end(tokens, position + 1) if tokens[position].type == "LPAREN" else position
        if end <= position + 1 or _type(tokens, end) != "RPAREN":
            result.append(tokens[position])
            position += 1
            continue
        count, after = _power(tokens, end + 1) or (1, end + 1)
        result += tokens[position + 1 : end] * count
        position = after
    return result


def _operators_end(tokens: list[Token], position: int) -> int:
    """Return the position after the consecutive operators ∂/∂X that begin at `position`."""
    while (
        _type(tokens, position) == "FUNCTION" and tokens[position].text == "∂" and _type(tokens, position + 1) == "WITH"
    ):
        position = scripts_end(tokens, position + 1, ("WITH",), most=1)
    return position
