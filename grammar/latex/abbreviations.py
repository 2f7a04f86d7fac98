r"""Expand macros that abbreviate text: \frac{a}{b} to {{a}/{b}}, and \nfun{\seq}{softmax} to softmax_{seq}.

Each handler reads a macro at `position` in a range that ends at `end`, and returns the position after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Union

from ..text_tables import SIGNS as TEXT_SIGNS
from ..tokens import Token
from .reader import Argument, Part, Reader, Stretch
from .tables import ARITY, BIG_WORDS, SIGNS
from .upright import join_name


class Hole(NamedTuple):
    """A slot for an argument in a template.

    `place` specifies how the argument is inserted: in a frame, in braces, or as a subscript.
    """

    number: int
    place: str


# The text that each macro abbreviates. #1 is the first argument. @#1 reads it as axes, %#1 as elements, &#1 as cases.
TEXTS = {
    "\\ndot": "⊙_{#1}",
    "\\nsum": "∑_{#1}",
    "\\nprod": "∏_{#1}",
    "\\ncat": "⊕_{#1}",
    **dict.fromkeys(("\\binom", "\\dbinom", "\\tbinom"), "binom(#1,#2)"),
}
FRACTIONS = ("\\frac", "\\dfrac", "\\tfrac", "\\cfrac", "\\nicefrac", "\\sfrac")
FRACTION, DERIVATIVE, HIGHER_DERIVATIVE = "{{#1}/{#2}}", "{#1/#2}", "{#1{#2}/#3}"
ROOT, ROOT_WITH_SCRIPTS, ROOT_OF_ORDER = "√{#1}", "{√{#1}}", "{{#1}^{1/{#2}}}"
APPLIED, FUNCTION = "#2_{#1}", "#2#3_{#1}#4"
FIXED = {**TEXT_SIGNS, "binom": ("FUNCTION", "binom"), "(": ("CALL", "("), "1": ("NUMBER", "1")}
MATRICES = ("[%#1]", "[%#1]_{@#2}", "[%#1]_{@#2,@#3}")  # The templates of a literal, by its number of axes.
CASES = "{&#1}"
PART = re.compile(
    r"(?P<subscript>_\{#\d\})|(?P<braces>\{#\d\})|(?P<sub>@#\d)|(?P<matrix>%#\d)|(?P<cases>&#\d)|(?P<group>#\d)|[a-z]+|."
)


@lru_cache(maxsize=64)
def parts_of(text: str) -> tuple[tuple[Union[Hole, tuple[str, str]], ...], int]:
    """Return the tokens and slots of a template, and the index of the last slot."""
    parts: list[Union[Hole, tuple[str, str]]] = []
    last = 0
    for match in PART.finditer(text):
        if match.lastgroup:
            last = len(parts)
            parts.append(Hole(int(re.sub(r"\D", "", match[0])), match.lastgroup))
        else:
            parts.append(FIXED[match[0]])
    return tuple(parts), last


def expand(
    reader: Reader, text: str, arguments: Sequence[Argument | list[Part]], position: int, after: int
) -> list[Part]:
    """Return the parts that a macro expands to, with its arguments inserted.

    Tokens after the last argument get the position of the macro's end. All other tokens get the position of the
    macro's name.
    """
    begin, finish = reader.pieces[position], reader.pieces[after - 1]
    parts: list[Part] = []
    items, last = parts_of(text)
    for index, item in enumerate(items):
        if not isinstance(item, Hole):
            parts.append(Token(*item, *(begin if index < last else finish)[1:]))
            continue
        argument = arguments[item.number - 1]
        if isinstance(argument, list):
            parts += argument
            continue
        group, edge = argument
        if item.place == "braces":
            parts += reader.braced("group", group, edge)
        elif item.place != "subscript":
            parts += reader.inside(item.place, group)
        elif isinstance(group, Token) or group[0] < group[1]:
            parts += [Token("SUB", "_", begin[1], finish[2]), *reader.braced("sub", group, edge)]
    return parts


def abbreviation(reader: Reader, position: int, end: int) -> int:
    macro = reader.piece(position)
    number = ARITY.get(macro, 1)
    arguments = reader.arguments(position, position + 1, end, number, letters=number > 1)
    after = arguments[-1][1]
    return reader.put(expand(reader, TEXTS[macro], arguments, position, after), after, end)


# -------------------------------------------------------------------------------------------------- the paper's macros
def binary(reader: Reader, position: int, end: int) -> int:
    """Read a binary operator with axes, such as \\nbin{\\ax}{\\star} or \\underset{\\ax}{softmax}."""
    axes = reader.argument(position, position + 1, end)
    middle = axes[1]
    if middle < end and reader.piece(middle) != "{" and reader.piece(middle) in SIGNS:
        operator: Argument = (middle, middle + 1), middle + 1
    else:
        operator = reader.argument(position, middle, end)
    return reader.put(expand(reader, APPLIED, (axes, operator), position, operator[1]), operator[1], end)


def function(reader: Reader, position: int, end: int) -> int:
    """Read a function with its axes, such as \\nfun{\\ax}{softmax} or \\nfun{\\ax}{norm_p}."""
    axes, called = reader.arguments(position, position + 1, end, 2)
    group, after = called
    name, rest = ("", 0) if isinstance(group, Token) else join_name(reader, *group)
    if isinstance(group, Token) or not name:
        return reader.put(expand(reader, APPLIED, (axes, called), position, after), after, end)
    is_big = name in BIG_WORDS
    span = reader.pieces[position if is_big else group[0]][1], reader.pieces[rest - 1][2]
    token = Token("BIG", BIG_WORDS[name], *span) if is_big else Token("NAME", name, *span, reader.place)
    label, parameter = function_label(reader, name, (rest, group[1]))
    return reader.put(expand(reader, FUNCTION, (axes, [token], label, parameter), position, after), after, end)


def function_label(reader: Reader, name: str, rest: Stretch) -> tuple[list[Part], list[Part]]:
    """Return the labels after a function's name, as in LN_Q, and its parameter.

    Only norm_p has a parameter. In norm_p^2, ^2 is a label.
    """
    if rest[0] == rest[1]:
        return [], []
    sign, start, stop = reader.pieces[rest[0]]
    if name != "norm" or sign != "_":
        return [rest], []
    parameter, after = reader.argument(rest[0], rest[0] + 1, rest[1])
    power: list[Part] = [(after, rest[1])] if after < rest[1] else []
    return power, [Token("WITH", "_", start, stop), *reader.braced("group", parameter, after)]


def matrix(reader: Reader, position: int, end: int) -> int:
    r"""Read \nmatrix{\rows}{\columns}{1 & 2 \\ 3 & 4}. If one axis is empty, build a literal with the other axis."""
    rows, columns, (cells, after) = reader.arguments(position, position + 1, end, 3)
    return reader.put(literal(reader, position, after, (rows, columns), cells), after, end)


def inner(reader: Reader, position: int, end: int) -> int:
    r"""Read the \mathinner{…} of a printed \nmatrix, \rows \overset{\columns}{\begin{bmatrix} … \end{bmatrix}}.

    Any other \mathinner affects only the appearance, so read just its content.
    """
    close = reader.partner.get(position + 1, position + 1)
    over = position + 2
    while over < min(close, position + 40) and reader.pieces[over][0] != "\\overset":
        over += 1
    if reader.piece(over) != "\\overset" or over >= close:
        return position + 1
    columns, (cells, after) = reader.arguments(over, over + 1, close, 2)
    if after != close or isinstance(cells, Token) or reader.partner.get(cells[0], -1) != cells[1] - 1:
        return position + 1
    axes: tuple[Argument, ...] = ((position + 2, over), over), columns
    return reader.put(literal(reader, position, close + 1, axes, (cells[0] + 1, cells[1] - 1)), close + 1, end)


def literal(reader: Reader, position: int, after: int, axes: Sequence[Argument], cells: Token | Stretch) -> list[Part]:
    """Return the parts of a literal: its cells in brackets, and its nonempty axes as a subscript."""
    named = [axis for axis in axes if isinstance(axis[0], Token) or axis[0][0] < axis[0][1]]
    return expand(reader, MATRICES[len(named)], ((cells, after), *named), position, after)


# -------------------------------------------------------------------------------------------------- fractions and roots
DIFFERENTIALS = ("\\partial", "\\mathrm{d}", "\\operatorname{d}")


def fraction(reader: Reader, position: int, end: int) -> int:
    r"""Read \frac{a}{b}. A fraction of ∂ or \mathrm{d} becomes a derivative."""
    above, below = reader.arguments(position, position + 1, end, 2, letters=True)
    after = below[1]
    parts = derivative(reader, position, after, above, below)
    return reader.put(parts or expand(reader, FRACTION, (above, below), position, after), after, end)


def derivative(reader: Reader, position: int, after: int, above: Argument, below: Argument) -> list[Part]:
    r"""Return the parts of a derivative such as \frac{\partial L}{\partial x^*}, or [] for another fraction."""
    over, under = above[0], below[0]
    if isinstance(over, Token) or isinstance(under, Token) or not is_derivative(reader, over, under):
        return []
    sign, other = (Token("PARTIAL", "∂", *reader.pieces[side[0]][1:]) for side in (over, under))
    divided = Token("SLASH", "/", *reader.pieces[position][1:])
    operator = Token("PARTIAL", "∂", *divided.span)
    if over[1] - over[0] == 1:
        return [operator, divided, other, (under[0] + 1, under[1])]
    if reader.piece(over[0] + 1) == "^":
        power = reader.argument(over[0] + 1, over[0] + 2, over[1])[1]
        begin: list[Part] = [operator, (over[0] + 1, power)]
        if power == over[1]:
            return [*begin, divided, under]
        return expand(reader, HIGHER_DERIVATIVE, (begin, ((power, over[1]), over[1]), [under]), position, after)
    sides = [drop_sign(reader, over, above[1]), drop_sign(reader, under, below[1])]
    return expand(reader, DERIVATIVE, ([sign, *sides[0]], [other, *sides[1]]), position, after)


def drop_sign(reader: Reader, group: Stretch, after: int) -> list[Part]:
    """Return the parts of a group without its first sign, such as {f(X)} for {∂ f(X)}."""
    opening, closing = reader.edges(group, after)
    inside = (group[0] + 1, group[1])
    return [Token("LBRACE", "{", *opening[1:]), "group", inside, None, Token("RBRACE", "}", *closing[1:])]


def is_derivative(reader: Reader, over: Stretch, under: Stretch) -> bool:
    r"""Return whether numerator and denominator both begin with ∂, or both with an upright d without a script."""
    if over[0] >= over[1] or under[0] >= under[1]:
        return False
    sign, following = reader.piece(over[0]), reader.piece(over[0] + 1)
    if sign not in DIFFERENTIALS or sign != reader.piece(under[0]):
        return False
    return sign == "\\partial" or under[1] - under[0] > 1 and not {following, reader.piece(under[0] + 1)} & {"_", "^"}


def root(reader: Reader, position: int, end: int) -> int:
    """Read \\sqrt{x} as √{x}, and \\sqrt[3]{x} as {{x}^{1/{3}}}."""
    order, begin = reader.option(position, position + 1, end)
    operand = reader.argument(position, begin, end, letters=True)
    after = operand[1]
    scripted = reader.piece(reader.skip_looks(after, end)) in ("^", "_")
    text = ROOT_OF_ORDER if order else ROOT_WITH_SCRIPTS if scripted else ROOT
    return reader.put(expand(reader, text, (operand, (order or (0, 0), begin - 1)), position, after), after, end)


def group(reader: Reader, position: int, end: int) -> int:
    r"""Read { as the start of a group, or as a quotient if the group contains \over, as in {a \over b}."""
    close = reader.partner.get(position, position)
    if not reader.overs or not any(position < over < close for over in reader.overs):
        return position + 1
    inner = position + 1
    while inner < close and reader.pieces[inner][0] != "\\over":
        inner = reader.partner.get(inner, inner) + 1
    if inner >= close:
        return position + 1
    sides: tuple[Argument, ...] = ((position + 1, inner), inner), ((inner + 1, close), close)
    return reader.put(expand(reader, FRACTION, sides, position, close + 1), close + 1, end)


def read_brace(reader: Reader, position: int, end: int) -> int:
    r"""Read \underbrace{x + y}_{\text{both}} as the expression, without its label."""
    argument, after = reader.argument(position, position + 1, end)
    rest = reader.skip_looks(after, end)
    if rest < end and reader.pieces[rest][0] in ("_", "^"):
        after = reader.argument(rest, rest + 1, end)[1]
    return reader.put(reader.inside("group", argument), after, end)


def read_relation(reader: Reader, position: int, end: int) -> int:
    """Read \\stackrel{\\text{(1)}}{=} or \\overset{!}{=} as the relation, without the remark above it."""
    middle = reader.argument(position, position + 1, end)[1]
    sign, after = middle, middle + 1
    if reader.piece(middle) == "{":
        sign, after = middle + 1, reader.partner[middle] + 1
        if after - middle != 3:
            raise reader.unknown(position)
    if middle >= end or SIGNS.get(reader.piece(sign), ("", ""))[0] not in ("EQUALS", "COLON", "IN"):
        raise reader.unknown(position)
    reader.add(*SIGNS[reader.piece(sign)], *reader.pieces[sign][1:])
    return after


# -------------------------------------------------------------------------------------------------------------- tables
def cases(reader: Reader, position: int, end: int) -> int:
    close = reader.partner[position]
    return reader.put(expand(reader, CASES, [((position + 1, close), close)], position, close + 1), close + 1, end)


def array(reader: Reader, position: int, end: int) -> int:
    r"""Read \left\{ \begin{array}{ll} … \end{array} \right. as cases.

    An array at the beginning of a formula is a table instead.
    """
    close = reader.partner.get(position)
    if close is None or close >= end:
        raise reader.unknown(position)
    begin = reader.option(position, position + 1, end)[1]
    content = reader.argument(position, begin, end)[1], close  # Skip the column format {ll}.
    if reader.previous() == "LBRACE":
        reader.brackets.pop()
        return reader.put(["cases", content, None, Token("RBRACE", "}", *reader.pieces[close][1:])], close + 1, end)
    if reader.previous() not in ("", "SEPARATOR") or not reader.is_at_statement_level():
        raise reader.unknown(position)
    reader.cells = 1
    return reader.put([content], close + 1, end)
