"""Handlers of decorations: accents, braces with a note, calligraphic letters, norms, whole parts, tables of cases.

Each function reads the piece at `position` of a stretch that ends at `end`, and returns where to go on.
"""

from __future__ import annotations

from ..errors import NotationError
from ..symbols import ACCENTS, CALLIGRAPHIC
from ..text import fold
from ..tokens import ENDS_OPERAND, Token, is_alone
from .characters import joined
from .fractions import bracket_argument, grouped, wrapped
from .macros import AXIS_FONTS, NAMED
from .reader import Part, Reader, Stretch
from .tables import ACCENT_MACROS, LOOKS, PAIRS


# ------------------------------------------------------------------------------------------------------------- letters
def accent(reader: Reader, position: int, end: int) -> int:
    r"""\hat y, \tilde{\theta}; \hat{W_1}, whose accent is that of W"""
    macro, start, _ = reader.pieces[position]
    group, after = reader.argument(position, position + 1, end, letters=True)
    mark = ACCENTS[ACCENT_MACROS[macro]]
    if isinstance(group, Token):
        return reader.put([accented(group, mark, start)], after, end)
    name, rest = joined(reader, *group)
    scripted = rest < group[1] and reader.pieces[rest][0] in ("_", "^", "'", "\\prime")
    if not name or not (rest == group[1] or scripted):
        raise NotationError(
            111, f"{macro} can only be placed over a name", reader.source, reader.pieces[position][1:],
            hint=f"put it over one name, or give the whole a name: {macro}{{y}}",
        )  # fmt: skip
    stop = reader.pieces[rest - 1 if scripted else after - 1][2]
    token = accented(Token("NAME", name, start, stop, reader.place), mark, start)
    parts: list[Part] = [token] if rest == group[1] else [token, (rest, group[1])]
    return reader.put(parts, after, end)


def accented(token: Token, mark: str, start: int) -> Token:
    plain = token.text.rstrip("'")
    return Token("NAME", fold(plain + mark) + token.text[len(plain) :], start, token.end, token.place)


def calligraphic(reader: Reader, position: int, end: int) -> int:
    r"""\mathcal{L}; \mathcal{S'}, \mathcal{S^*}, whose mark is that of the letter"""
    macro, start, _ = reader.pieces[position]
    group, after = reader.argument(position, position + 1, end, letters=True)
    text, marks = (group.text, None) if isinstance(group, Token) else _marked(reader, *group)
    letters = text.rstrip("'")
    if not letters or not set(letters) <= set(CALLIGRAPHIC) or (marks and reader.pieces[marks[0]][0] != "^"):
        raise NotationError(
            111,
            f"{macro} applies only to capital letters",
            reader.source,
            reader.pieces[position][1:],
            hint=f"write {macro}{{L}}",
        )
    name = "".join(CALLIGRAPHIC[letter] for letter in letters) + text[len(letters) :]
    stop = reader.pieces[marks[0] - 1 if marks else after - 1][2]
    token = Token("NAME", name, start, stop, reader.place)
    return reader.put([token, marks] if marks else [token], after, end)


def _marked(reader: Reader, start: int, end: int) -> tuple[str, Stretch | None]:
    """A name, and the stretch of what follows it."""
    name, rest = joined(reader, start, end)
    return name, (rest, end) if rest < end else None


# ------------------------------------------------------------------------------------------------------------ brackets
def opening(reader: Reader, position: int, end: int) -> int:
    r"""\lVert, \lfloor, \lceil"""
    text, start, stop = reader.pieces[position]
    return opened(reader, PAIRS[text], position + 1, start, stop)


def opened(reader: Reader, name: str, rest: int, start: int, stop: int) -> int:
    reader.brackets.append((name, len(reader.tokens)))
    reader.settle()
    reader.add(("FUNCTION", name), start, stop)
    reader.add(("CALL", "("), start, stop)
    return rest


def closing(reader: Reader, position: int, end: int) -> int:
    r"""\rVert, \rfloor, \rceil"""
    _, start, stop = reader.pieces[position]
    if reader.brackets:
        reader.brackets.pop()
    reader.settle()
    reader.add(("RPAREN", ")"), start, stop)
    return position + 1


def norm_bar(reader: Reader, position: int, end: int) -> int:
    r"""\| and \Vert: they close a norm where one is open within the bracket around them, else they open one."""
    if reader.brackets and reader.brackets[-1][0] == "‖":
        return closing(reader, position, end)
    _, start, stop = reader.pieces[position]
    inside = bool(reader.brackets) and reader.brackets[-1][0] == "LPAREN" and reader.last() in ENDS_OPERAND
    if inside and is_alone((text for text, _, _ in reader.pieces[position + 1 : end]), ("\\|", "\\Vert", "‖")):
        reader.add(("COMMA", ","), start, stop)
        return position + 1
    return opened(reader, "‖", position + 1, start, stop)


def braced(reader: Reader, position: int, end: int) -> int:
    r"""\underbrace{x + y}_{\text{both}}: the text over the brace"""
    group, after = reader.argument(position, position + 1, end)
    rest = reader.skip_looks(after, end)
    if rest < end and reader.pieces[rest][0] in ("_", "^"):
        after = reader.argument(rest, rest + 1, end)[1]
    return reader.put(["group", group, None] if isinstance(group, tuple) else [group], after, end)


def group(reader: Reader, position: int, end: int) -> int:
    r"""{, which groups nothing by itself; but {a \over b} is a quotient"""
    close = reader.partner.get(position, position)
    if not reader.overs or not any(position < over < close for over in reader.overs):
        return position + 1
    inner = position + 1
    while inner < close and reader.pieces[inner][0] != "\\over":
        inner = reader.partner.get(inner, inner) + 1
    if inner >= close:
        return position + 1
    above, below = (grouped(reader, position, close + 1, side) for side in ((position + 1, inner), (inner + 1, close)))
    sign = Token("SLASH", "/", *reader.pieces[inner][1:])
    return reader.put(wrapped(reader, position, close + 1, [*above, sign, *below]), close + 1, end)


# -------------------------------------------------------------------------------------------------------------- tables
def array(reader: Reader, position: int, end: int) -> int:
    r"""\left\{ \begin{array}{ll} … \end{array} \right., which is cases; a matrix under the axis of its columns; or, where
    it begins a formula, a table of formulas"""
    close = closed_by(reader, position, end)
    begin = bracket_argument(reader, position, end)[1]
    columns_end = reader.argument(position, begin, end)[1]  # {ll}
    if reader.last() == "LBRACE":
        opened = reader.tokens.pop()
        if reader.brackets:
            reader.brackets.pop()
        reader.settle()
        stop = Token("RBRACE", "}", *reader.pieces[close][1:])
        return reader.put([opened, "cases", (columns_end, close), None, stop], close + 1, end)
    result = literal_in(reader, position, (columns_end, close))
    if result is None and reader.last() in ("", "SEPARATOR") and reader.at_statement_level():
        reader.cells = 1
        return reader.put([(columns_end, close)], close + 1, end)
    if result is None:
        raise reader.unknown(position)
    return reader.put(result, close + 1, end)


def literal(reader: Reader, position: int, after: int, axes: list, cells: Token | Stretch) -> list[Part]:
    """The parts of a literal: its cells between [ and ], and those of its axes that are not empty."""
    _, start, stop = reader.pieces[position]
    _, close, finish = reader.pieces[after - 1]
    named: list[Part] = []
    for group, edge in axes:
        if isinstance(group, Token) or group[0] < group[1]:
            between = reader.edges(group, edge)[0][1]
            named += [*([Token("COMMA", ",", between, between)] if named else []), "sub", group, None]
    parts = [Token("LBRACKET", "[", start, stop), "matrix", cells, None, Token("RBRACKET", "]", close, finish)]
    if named:
        sign, brace = Token("SUB", "_", start, finish), Token("LBRACE", "{", start, stop)
        parts += [sign, brace, *named, Token("RBRACE", "}", close, finish)]
    return parts


def union(reader: Reader, position: int, end: int) -> int:
    r"""\mathcal{S} \cup \mathcal{T}, where axes appear; f^{\mathcal{S} \cup \mathcal{T}}, a lift"""
    lifted = reader.kind == "sup" and reader.tokens and reader.tokens[-1].text[:1] in CALLIGRAPHIC.values()
    if reader.kind not in ("sub", "shape") and not lifted:
        raise reader.unknown(position)
    sign = ("TIMES", "×") if reader.kind == "shape" else ("COMMA", ",")
    reader.add(sign, *reader.pieces[position][1:])
    return position + 1


def closed_by(reader: Reader, position: int, end: int) -> int:
    close = reader.partner.get(position)
    if close is None or close >= end:
        raise reader.unknown(position)
    return close


def literal_in(reader: Reader, position: int, inside: Stretch) -> list[Part] | None:
    r"""\mathsf{h} \begin{array}[b]{c}\mathsf{w}\\ \begin{bmatrix} 3 & 1 \\ 1 & 5 \end{bmatrix}\end{array}, as macros expand"""
    middle, last = inside
    while middle < last and not reader.pieces[middle][0].startswith("\\\\"):
        middle = reader.partner.get(middle, middle) + 1
    cells = reader.skip_looks(middle + 1, last)
    if middle >= last or not reader.piece(cells).startswith("\\begin{") or reader.partner.get(cells) != last - 1:
        return None
    columns, rows = (inside[0], middle), (position, position)
    beside = position - 1
    while beside > 0 and reader.piece(beside) in LOOKS:
        beside -= 1
    start = axis_before(reader, beside)
    if reader.last() == "NAME" and start is not None:
        reader.tokens.pop()
        rows = (start, position)
    return literal(reader, position, last + 1, [(rows, position), (columns, middle)], (cells + 1, last - 1))


def axis_before(reader: Reader, last: int) -> int | None:
    r"""Where the axis begins whose last piece is this one: \mathsf{h}, \mathsf{\vphantom{fg}h}; None if there is none."""
    if reader.piece(last) != "}":
        return last if NAMED.fullmatch(reader.piece(last)) and reader.piece(last).startswith(AXIS_FONTS) else None
    opened = next((at for at in range(last, 0, -1) if reader.partner.get(at) == last), 0)
    return opened - 1 if opened and reader.piece(opened - 1) in AXIS_FONTS else None
