"""Fractions and roots, and fractions of ∂, or of \\mathrm{d}, that are derivatives.

\\frac{\\partial L}{\\partial x^*}, \\frac{\\partial}{\\partial x^*} L      {∂{L} / ∂{x^*}}, and ∂ as a function before L
"""

from __future__ import annotations

from typing import TypeGuard

from ..errors import NotationError
from ..partials import ORDERS
from ..tokens import Token
from .macros import lacks_argument
from .reader import Part, Reader, Stretch


def fraction(reader: Reader, position: int, end: int) -> int:
    """\\frac{a}{b}: {{a}/{b}}"""
    above, middle = reader.argument(position, position + 1, end, letters=True)
    below, after = reader.argument(position, middle, end, letters=True)
    _, start, stop = reader.pieces[position]
    sign = Token("SLASH", "/", start, stop)
    over, under = reader.braced("group", above, middle), reader.braced("group", below, after)
    if begins_with_sign(above, reader) and begins_with_sign(below, reader) and alike(above, below, reader):
        if reader.piece(above[0] + 1) == "^":
            return higher_derivative(reader, position, above, below, sign, after, end)
        if above[1] - above[0] == 1:
            return reader.put(derivative_operator(below, under, sign), after, end)
        over = [Token("PARTIAL", "∂", *reader.pieces[above[0]][1:]), *without_sign(above, over)]
        under = [Token("PARTIAL", "∂", *reader.pieces[below[0]][1:]), *without_sign(below, under)]
    return reader.put(wrapped(reader, position, after, [*over, sign, *under]), after, end)


def binomial(reader: Reader, position: int, end: int) -> int:
    """\\binom{n}{k}: binom(n, k)"""
    above, middle = reader.argument(position, position + 1, end, letters=True)
    below, after = reader.argument(position, middle, end, letters=True)
    _, start, stop = reader.pieces[position]
    last = reader.pieces[after - 1][2]
    parts: list[Part] = [
        Token("FUNCTION", "binom", start, stop),
        Token("CALL", "(", stop, stop),
        *reader.inside("group", above),
    ]
    parts += [Token("COMMA", ",", stop, stop), *reader.inside("group", below), Token("RPAREN", ")", last, last)]
    return reader.put(parts, after, end)


def higher_derivative(
    reader: Reader, position: int, above: Stretch, below: Stretch, sign: Token, after: int, end: int
) -> int:
    """\\frac{\\partial^2 f}{\\partial x^* \\partial y^*}, also of \\partial r^3, and before its operand: ∂(∂f/∂y*)/∂x*"""
    partials = [index for index in range(*below) if reader.pieces[index][0] == "\\partial"]
    over = reader.argument(above[0] + 1, above[0] + 2, above[1])[1]
    order = number_of(reader, above[0] + 2, over)
    variables = [(start + 1, stop) for start, stop in zip(partials, (*partials[1:], below[1]))]
    if len(variables) != order:
        variables = [pair for variable in variables for pair in repeated(reader, *variable)]
    if order < 2 or len(variables) != order:
        expected = (
            "a second derivative names both variables"
            if order == 2
            else f"a derivative of order {order} names {order} variables"
        )
        raise NotationError(
            101, expected if order > 1 else "the order of a derivative must be a number from 2 to 9", reader.source,
            reader.pieces[position][1:],
            hint=r"write \frac{\partial^2 f}{\partial x^* \partial y^*}, or \frac{\partial^3 f}{\partial r^3}",
        )  # fmt: skip
    partial = [Token("PARTIAL", "∂", *reader.pieces[above[0]][1:])]
    groups = [grouped(reader, position, after, variable) for variable in variables]
    if over == above[1]:
        name = Token("FUNCTION", "∂", sign.start, reader.pieces[after - 1][2])
        return reader.put([part for group in groups for part in (name, with_parameter(sign), *group)], after, end)
    inside: list[Part] = [*partial, *grouped(reader, position, after, (over, above[1]))]
    for group in reversed(groups):
        quotient = wrapped(reader, position, after, [*inside, sign, Token("PARTIAL", "∂", *sign.span), *group])
        inside = [*partial, *quotient]
    return reader.put(quotient, after, end)


def number_of(reader: Reader, start: int, stop: int) -> int:
    """Return the digit n from 2 to 9 at this position, also as {n}; 0 if there is none."""
    text = "".join(text for text, _, _ in reader.pieces[start:stop] if text not in "{}")
    return int(text) if text in ORDERS else 0


def repeated(reader: Reader, start: int, stop: int) -> list[Stretch]:
    """r^2 as r twice; else the name as it is."""
    for index in range(start + 1, stop):
        if reader.pieces[index][0] == "^" and reader.argument(index, index + 1, stop)[1] == stop:
            return [(start, index)] * (number_of(reader, index + 1, stop) or 1)
    return [(start, stop)]


def grouped(reader: Reader, position: int, after: int, stretch: Stretch) -> list[Part]:
    return wrapped(reader, position, after, ["group", stretch, None])


def wrapped(reader: Reader, position: int, after: int, parts: list[Part]) -> list[Part]:
    """Parts that are one thing, whatever appears around them, between { and } that span the macro."""
    _, start, stop = reader.pieces[position]
    _, close, finish = reader.pieces[after - 1]
    return [Token("LBRACE", "{", start, stop), *parts, Token("RBRACE", "}", close, finish)]


SIGNS = ("\\partial", "\\mathrm{d}", "\\operatorname{d}")


def begins_with_sign(group: Token | Stretch, reader: Reader) -> TypeGuard[Stretch]:
    """Whether a part of a fraction begins with ∂, or with an upright d without a label before something."""
    if not isinstance(group, tuple) or group[0] >= group[1]:
        return False
    sign, following = reader.pieces[group[0]][0], reader.piece(group[0] + 1)
    return sign == "\\partial" or sign in SIGNS and following not in ("_", "^")


def alike(above: Stretch, below: Stretch, reader: Reader) -> bool:
    """Whether both parts begin with one sign, and the upright d below precedes something: \\mathrm{d}/\\mathrm{d} is a quotient."""
    sign, other = reader.pieces[above[0]][0], reader.pieces[below[0]][0]
    return sign == other and (sign == "\\partial" or below[1] - below[0] > 1)


def without_sign(group: Stretch, parts: list[Part]) -> list[Part]:
    """{∂ f(X)} as {f(X)}"""
    return [parts[0], "group", (group[0] + 1, group[1]), None, parts[-1]]


def derivative_operator(below: Stretch, under: list[Part], sign: Token) -> list[Part]:
    """\\frac{\\partial}{\\partial X^*}, a prefix function with X^* for its parameter"""
    stop = under[-1].end if isinstance(under[-1], Token) else sign.end
    return [Token("FUNCTION", "∂", sign.start, stop), with_parameter(sign), *without_sign(below, under)]


def with_parameter(sign: Token) -> Token:
    """The tokens between a function and the group of what it is by."""
    return Token("WITH", "_", sign.start, sign.start)


def root(reader: Reader, position: int, end: int) -> int:
    """\\sqrt{x}, \\sqrt[3]{x}: √{x}, {{x}^{1/{3}}}"""
    _, start, stop = reader.pieces[position]
    index, begin = bracket_argument(reader, position, end)
    group, after = reader.argument(position, begin, end, letters=True)
    operand = reader.braced("group", group, after)
    if index is not None:
        one, sign = Token("NUMBER", "1", start, stop), Token("SLASH", "/", start, stop)
        power = wrapped(reader, position, after, [one, sign, *reader.braced("group", index, index[1])])
        return reader.put(
            wrapped(reader, position, after, [*operand, Token("SUP", "^", start, stop), *power]), after, end
        )
    parts = [Token("ROOT", "√", start, stop), *operand]
    scripted = reader.piece(reader.skip_looks(after, end)) in ("^", "_")
    return reader.put(wrapped(reader, position, after, parts) if scripted else parts, after, end)


def bracket_argument(reader: Reader, position: int, end: int) -> tuple[Stretch | None, int]:
    """The [3] of \\sqrt[3]{x}, and where what follows begins."""
    begin = position + 1
    if begin >= end or reader.pieces[begin][0] != "[":
        return None, begin
    close = begin + 1
    while close < end and reader.pieces[close][0] != "]":
        close = reader.partner.get(close, close) + 1
    if close >= end:
        raise lacks_argument(reader.source, reader.pieces[position])
    return (begin + 1, close), close + 1
