"""Handlers of brackets and bars: which bar opens, which closes, and which says that a value is taken at a point.

Each function reads the piece at `position` of a stretch that ends at `end`, and returns where to go on.
"""

from __future__ import annotations

from ..errors import Hint, NotationError
from ..tokens import Token
from .reader import Reader
from .tables import BARS, PAIRS, SIGNS, SIZED


def opening(reader: Reader, position: int, end: int) -> int:
    text, start, stop = reader.pieces[position]
    terminal = SIGNS[text][0]
    of_axes = reader.base == "axis" and not reader.brackets and terminal == "LPAREN"
    kind = "item" if of_axes and reader.last() in ("LBRACE", "COMMA", "ARROW") else terminal  # (height, width)→layer
    reader.brackets.append((kind, len(reader.tokens)))
    reader.settle()
    reader.add(SIGNS[text], start, stop)
    return position + 1


def closing(reader: Reader, position: int, end: int) -> int:
    text, start, stop = reader.pieces[position]
    if reader.brackets:
        reader.brackets.pop()
    elif reader.kind not in ("top", "text"):
        raise NotationError(
            103, f"{text} has no opening bracket", reader.source, (start, stop), hint=Hint("remove it", "")
        )
    reader.settle()
    reader.add(SIGNS[text], start, stop)
    return position + 1


def sized(reader: Reader, position: int, end: int) -> int:
    """\\left and similar macros: only bars need them, to tell opening from closing bars."""
    text, start, _ = reader.pieces[position]
    following = reader.piece(position + 1) if position + 1 < end else ""
    if text == "\\left" and following == "." and (closes := closed_at(reader, position, end)):
        reader.closing_at.add(closes)
        reader.brackets.append(("LPAREN", len(reader.tokens)))
        reader.settle()
        reader.add(("LPAREN", "("), start, reader.pieces[position + 1][2])
        return position + 2
    if position in reader.closing_at:
        reader.brackets.pop()
        reader.settle()
        reader.add(("RPAREN", ")"), start, start)
        reader.add(("AT", "|"), *reader.pieces[position + 1][1:])
        return position + 2
    if following in BARS and reader.piece(position + 2) == "_" and at_point(reader):
        reader.add(("AT", "|"), start, reader.pieces[position + 1][2])
        return position + 2
    if following in PAIRS or following in ("\\|", "\\Vert", "‖"):
        return position + 1
    if following in BARS:
        read_bar(reader, position + 1, SIZED[text], start)
        return position + 2
    return position + 2 if following == "." and text in ("\\left", "\\right") else position + 1


def closed_at(reader: Reader, position: int, end: int) -> int | None:
    r"""Where the \right is of a \left. … \right|_{X=U}."""
    depth = 0
    for index in range(position, end):
        depth += (reader.pieces[index][0] == "\\left") - (reader.pieces[index][0] == "\\right")
        if depth == 0:
            result = reader.piece(index + 1) in BARS and reader.piece(index + 2) == "_"
            return index if result else None
    return None


def at_point(reader: Reader) -> bool:
    """Whether a bar before a subscript has no opening bar, and so specifies where a value is taken: f(t)|_{t=0}"""
    return not reader.brackets or reader.brackets[-1][0] != "BAR"


def bar(reader: Reader, position: int, end: int) -> int:
    if reader.piece(position + 1) == "_" and at_point(reader):
        reader.add(("AT", "|"), *reader.pieces[position][1:])
        return position + 1
    if alone(reader, position, end):  # p(B \\mid A), \\{x \\mid i \\in I\\}
        reader.add(("BAR", "|"), *reader.pieces[position][1:])
        return position + 1
    read_bar(reader, position, 0, None)
    return position + 1


def alone(reader: Reader, position: int, end: int) -> bool:
    """Whether no other bar appears between this one and the end of the bracket around it, which no bar opened."""
    if not reader.brackets or reader.brackets[-1][0] not in ("LPAREN", "LBRACE"):
        return False
    depth = 0
    for index in range(position + 1, end):
        text = reader.pieces[index][0]
        kind = SIGNS.get(text, ("",))[0]
        depth += kind in ("LPAREN", "LBRACKET", "LBRACE")
        if kind in ("RPAREN", "RBRACKET", "RBRACE"):
            depth -= 1
            if depth < 0:
                return True
        if depth == 0 and text in BARS:
            return False
    return False


def read_bar(reader: Reader, position: int, side: int, start: int | None) -> None:
    """One bar; `start` is that of the \\left before it. Its token specifies which side it is, where LaTeX does."""
    text, first, stop = reader.pieces[position]
    side = side or {"\\lvert": 1, "\\rvert": -1}.get(text, 0)
    opened, index = reader.brackets[-1] if reader.brackets else ("", 0)
    closes = opened == "BAR" and (side < 0 or not side and not reader.tokens[index].place)
    if closes:
        reader.brackets.pop()
    elif side >= 0:
        reader.brackets.append(("BAR", len(reader.tokens)))
    reader.settle()
    sides = {1: "opens", -1: "closes", 0: ""}
    reader.tokens.append(Token("BAR", "|", first if start is None else start, stop, sides[side]))
