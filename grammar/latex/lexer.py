"""Lexer of LaTeX: converts the paper's macros to the tokens of the text syntax.

    \\nfun{\\seq}{softmax} \\frac{X}{2}     softmax _ { seq } { X / 2 }

    source --macros--> pieces, the author's macros expanded, the formulas located in the prose
           --reader--> tokens, by the macros below and the signs of `tables`; a SEPARATOR for each & and \\\\
           --statements--> tokens, a SEPARATOR between statements only
"""

from __future__ import annotations

import re

from ..errors import NotationError
from ..tokens import Token
from . import decorated
from .brackets import bar, closing, opening, sized
from .characters import (
    ampersand,
    comma,
    dollar,
    font,
    joined,
    prime,
    quad,
    relation,
    row,
    script,
    star,
    text,
)
from .decorated import literal
from .fractions import binomial, bracket_argument, fraction, root
from .macros import ENVIRONMENTS, FONTS, TEXTS, expand, scan
from .pairs import maths_of
from .reader import Action, Part, Reader, Stretch
from .statements import statements
from .tables import BARS, BIG_WORDS, BLACKBOARD, DROPPED, LOOKS, PRIMES, SIGNS, SIZED, STARS, WITH_AXES


def tokenize(source: str) -> list[Token]:
    """Tokens of a LaTeX source; brackets are not matched yet, and names and functions not told apart."""
    pieces = expand(source, scan(source))
    units, partner = maths_of(source, pieces)
    reader = Reader(source, pieces, partner, ACTIONS)
    for start, end, opened_by in units:
        reader.formula(start, end, opened_by)
    tokens = statements(reader.tokens) or reader.words_alone
    for token in tokens:
        if token.type == "PERIOD":
            hint = "write a decimal point between digits, and a period at the end of a formula"
            raise NotationError(106, ". is not an operator", source, token.span, hint=hint)
    return tokens


# -------------------------------------------------------------------------------------------------- the paper's macros
def with_axes(reader: Reader, position: int, end: int) -> int:
    """\\ndot{…} \\nsum{…} \\nprod{…} \\ncat{…}"""
    macro, start, stop = reader.pieces[position]
    group, after = reader.argument(position, position + 1, end)
    return reader.put([Token(*WITH_AXES[macro], start, stop), *reader.subscript(group, after)], after, end)


def binary(reader: Reader, position: int, end: int) -> int:
    """\\nbin{\\ax}{\\star}, \\underset{\\ax}{softmax}"""
    axes, middle = reader.argument(position, position + 1, end)
    if middle < end and reader.pieces[middle][0] != "{" and reader.pieces[middle][0] in SIGNS:
        operator, after = (middle, middle + 1), middle + 1
    else:
        operator, after = reader.argument(position, middle, end)
    span = (reader.pieces[position][1], reader.pieces[after - 1][2])
    return reader.put([*reader.inside("group", operator), *reader.subscript(axes, middle, span)], after, end)


def function(reader: Reader, position: int, end: int) -> int:
    """\\nfun{\\ax}{softmax}, \\nfun{\\ax}{norm_p}"""
    axes, middle = reader.argument(position, position + 1, end)
    called, after = reader.argument(position, middle, end)
    span = (reader.pieces[position][1], reader.pieces[after - 1][2])
    subscript = reader.subscript(axes, middle, span)
    if isinstance(called, Token) or not (name := joined(reader, *called))[0]:
        return reader.put([*reader.inside("group", called), *subscript], after, end)
    token = function_name(reader, called[0], *name, span[0])
    label, parameter = function_label(reader, name[0], (name[1], called[1]))
    return reader.put([token, *label, *subscript, *parameter], after, end)


def function_name(reader: Reader, first: int, name: str, rest: int, start: int) -> Token:
    stop = reader.pieces[rest - 1][2]
    if name in BIG_WORDS:
        return Token("BIG", BIG_WORDS[name], start, stop)
    return Token("NAME", name, reader.pieces[first][1], stop, reader.place)


def function_label(reader: Reader, name: str, rest: Stretch) -> tuple[list[Part], list[Part]]:
    """The script after the name of a function: a label, as in LN_Q, or a parameter, as in norm_p."""
    if rest[0] == rest[1]:
        return [], []
    sign, start, stop = reader.pieces[rest[0]]
    if name != "norm" or sign != "_":
        return [rest], []
    parameter, after = reader.argument(rest[0], rest[0] + 1, rest[1])
    power: list[Part] = [(after, rest[1])] if after < rest[1] else []
    return power, [Token("WITH", "_", start, stop), *reader.braced("group", parameter, after)]


def matrix(reader: Reader, position: int, end: int) -> int:
    """\\nmatrix{\\rows}{\\columns}{1 & 2 \\\\ 3 & 4}; with one axis empty, a row or a column"""
    rows, middle = reader.argument(position, position + 1, end)
    columns, last = reader.argument(position, middle, end)
    cells, after = reader.argument(position, last, end)
    return reader.put(literal(reader, position, after, [(rows, middle), (columns, last)], cells), after, end)


def inner(reader: Reader, position: int, end: int) -> int:
    """\\mathinner{…}: how \\nmatrix is set, \\rows \\overset{\\columns}{\\begin{bmatrix} … \\end{bmatrix}}, or only a look"""
    close = reader.partner.get(position + 1, position + 1)
    over = position + 2
    while over < min(close, position + 40) and reader.pieces[over][0] != "\\overset":
        over += 1
    if reader.piece(over) != "\\overset" or over >= close:
        return position + 1
    columns, last = reader.argument(over, over + 1, close)
    cells, after = reader.argument(over, last, close)
    if after != close or isinstance(cells, Token) or reader.partner.get(cells[0], -1) != cells[1] - 1:
        return position + 1
    axes = [((position + 2, over), over), (columns, last)]
    return reader.put(literal(reader, position, close + 1, axes, (cells[0] + 1, cells[1] - 1)), close + 1, end)


def reasoned(reader: Reader, position: int, end: int) -> int:
    """\\stackrel{\\text{(1)}}{=}, \\overset{!}{=}: the relation; what is over it is for the reader's ear"""
    middle = reader.argument(position, position + 1, end)[1]
    sign, after = middle, middle + 1
    if reader.piece(middle) == "{":
        sign, after = middle + 1, reader.partner[middle] + 1
        if after - middle != 3:
            raise reader.unknown(position)
    if middle >= end or SIGNS.get(reader.piece(sign), ("", ""))[0] not in ("EQUALS", "COLON", "IN"):
        raise reader.unknown(position)
    relation(reader, sign, end)
    return after


def big(reader: Reader, position: int, end: int) -> int:
    """\\sum_{i=1}^{n}; the lower end first, where the upper is written first"""
    sign, start, stop = reader.pieces[position]
    reader.add(SIGNS[sign], start, stop)
    upper = reader.skip_looks(position + 1, end)
    lower = script_end(reader, upper, end, "^")
    after = script_end(reader, lower, end, "_") if lower > upper else upper
    if after == lower or lower == upper:
        return upper
    return reader.put([(lower, after), (upper, lower)], after, end)


def script_end(reader: Reader, position: int, end: int, sign: str) -> int:
    """The end of the script that begins at `position`; that position, where no plain script begins."""
    if position + 1 >= end or reader.pieces[position][0] != sign:
        return position
    content = reader.pieces[position + 1][0]
    if content == "{":
        return reader.partner[position + 1] + 1
    return position + 2 if len(content) == 1 and reader.is_operand(content) else position


# ---------------------------------------------------------------------------------------------- environments and looks
def cases(reader: Reader, position: int, end: int) -> int:
    close = reader.partner[position]
    start, stop = Token("LBRACE", "{", *reader.pieces[position][1:]), Token("RBRACE", "}", *reader.pieces[close][1:])
    return reader.put([start, "cases", (position + 1, close), None, stop], close + 1, end)


def begin(reader: Reader, position: int, end: int) -> int:
    """\\begin{aligned}: a table within the table"""
    reader.ampersands = 0
    if "alignedat" in reader.pieces[position][0]:
        return reader.argument(position, position + 1, end)[1]
    return bracket_argument(reader, position, end)[1] if reader.piece(position + 2) in tuple("tbc") else position + 1


def skip(reader: Reader, position: int, end: int) -> int:
    return position + 1


def drop(reader: Reader, position: int, end: int) -> int:
    """\\label{…}, \\textcolor[HTML]{…}"""
    star = reader.piece(position + 1) == "*"
    _, after = bracket_argument(reader, position + star, end)
    return reader.argument(position, after, end)[1]


def spanning(reader: Reader, position: int, end: int) -> int:
    """\\IEEEeqnarraymulticol{3}{l}{…}: what spans the columns"""
    middle = reader.argument(position, position + 1, end)[1]
    return reader.argument(position, middle, end)[1]


def of_width(reader: Reader, position: int, end: int) -> int:
    """\\mathmakebox[6em][l]{…}: replaced by the content of the box"""
    for _ in range(2):
        position = bracket_argument(reader, position, end)[1] - 1
    return position + 1


def between_rows(reader: Reader, position: int, end: int) -> int:
    """\\intertext{…}"""
    row(reader, position, end)
    return reader.argument(position, position + 1, end)[1]


def dots_within(reader: Reader, position: int, end: int) -> int:
    """\\vdotswithin{=}"""
    after = position + 1
    if after < end:
        after = reader.partner.get(after, after) + 1
    reader.add(("ELLIPSIS", "⋮"), reader.pieces[position][1], reader.pieces[after - 1][2])
    return after


def ordinary(reader: Reader, position: int, end: int) -> int:
    """\\mathord-, where an operator takes its argument"""
    following = [piece[0] for piece in reader.pieces[position + 1 : min(position + 4, end)]]
    if following[:1] == ["-"]:
        return position + 2
    return position + 4 if following == ["{", "-", "}"] else position + 1


def blackboard(reader: Reader, position: int, end: int) -> int:
    """\\mathbb R, \\mathbb{1}"""
    macro, start, stop = reader.pieces[position]
    letter, after = re.sub(r"\\math(bb|ds|bbm)|[{}\s]", "", macro), position + 1
    if not letter:
        group, after = reader.argument(position, position + 1, end, letters=True)
        letter = group.text if isinstance(group, Token) else "".join(piece[0] for piece in reader.pieces[slice(*group)])
    if letter == "E":
        span = start, reader.pieces[after - 1][2]
        return reader.put([Token("NAME", "E", *span, "axis" if reader.place == "axis" else "mean")], after, end)
    if letter not in BLACKBOARD:
        raise reader.unknown(position)
    reader.add(BLACKBOARD[letter], start, reader.pieces[after - 1][2])
    return after


def signs(*terminals: str) -> list[str]:
    return [sign for sign, (terminal, _) in SIGNS.items() if terminal in terminals]


# What a piece does: a sign is one token; any other piece that acts has its function. All else is a name, or unknown.
ACTIONS: dict[str, tuple[str, str] | Action] = {
    **SIGNS,
    **dict.fromkeys(signs("BIG"), big),
    **dict.fromkeys(signs("LPAREN", "LBRACKET", "LBRACE"), opening),
    **dict.fromkeys(signs("RPAREN", "RBRACKET", "RBRACE"), closing),
    **dict.fromkeys(signs("EQUALS", "COLON", "IN", "ARROW", "TIMES"), relation),
    **dict.fromkeys(signs("COMMA", "PERIOD"), comma),
    **dict.fromkeys(BARS, bar),
    **dict.fromkeys(SIZED, sized),
    **dict.fromkeys(STARS, star),
    **dict.fromkeys(PRIMES, prime),
    **dict.fromkeys(["_", "^"], script),
    "&": ampersand,
    **dict.fromkeys(["\\\\", "\\\\*", "\\cr", "\\newline", "\\tabularnewline"], row),
    **dict.fromkeys(["\\quad", "\\qquad"], quad),
    **dict.fromkeys(["\\intertext", "\\shortintertext"], between_rows),
    **dict.fromkeys(["$", "$$", "\\(", "\\["], dollar),
    **dict.fromkeys([f"\\{name}" for name in TEXTS], text),
    **dict.fromkeys([f"\\{name}" for name in FONTS], font),
    **dict.fromkeys(["\\mathbb", "\\mathds", "\\mathbbm"], blackboard),
    **dict.fromkeys(WITH_AXES, with_axes),
    **dict.fromkeys(["\\nbin", "\\underset"], binary),
    **dict.fromkeys(["\\stackrel", "\\overset"], reasoned),
    "\\nfun": function,
    "\\nmatrix": matrix,
    "\\mathinner": inner,
    **dict.fromkeys(["\\binom", "\\dbinom", "\\tbinom"], binomial),
    **dict.fromkeys(["\\frac", "\\dfrac", "\\tfrac", "\\cfrac", "\\nicefrac", "\\sfrac"], fraction),
    **dict.fromkeys(decorated.ACCENT_MACROS, decorated.accent),
    **dict.fromkeys(["\\mathcal", "\\mathscr", "\\cal"], decorated.calligraphic),
    **dict.fromkeys(["\\lVert", "\\lfloor", "\\lceil", "⌊", "⌈"], decorated.opening),
    **dict.fromkeys(["\\rVert", "\\rfloor", "\\rceil", "⌋", "⌉"], decorated.closing),
    **dict.fromkeys(["\\|", "\\Vert", "‖"], decorated.norm_bar),
    **dict.fromkeys(["\\underbrace", "\\overbrace"], decorated.braced),
    "\\begin{array}": decorated.array,
    **dict.fromkeys(["\\IEEEeqnarraymulticol", "\\multicolumn"], spanning),
    **dict.fromkeys(["\\cup", "∪"], decorated.union),
    "\\mathmakebox": of_width,
    "\\sqrt": root,
    **dict.fromkeys([f"\\begin{{{name}}}" for name in ENVIRONMENTS], begin),
    **dict.fromkeys(["\\begin{cases}", "\\begin{dcases}", "\\begin{rcases}"], cases),
    **dict.fromkeys([f"\\end{{{name}}}" for name in ENVIRONMENTS], skip),
    "\\vdotswithin": dots_within,
    "\\mathord": ordinary,
    "{": decorated.group,
    **dict.fromkeys(LOOKS | {"}"}, skip),
    **dict.fromkeys(DROPPED, drop),
}
