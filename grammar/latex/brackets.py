"""Handle brackets and bars. A bar may open a pair, close a pair, or evaluate an expression at a point.

Each handler reads the piece at `position` in a range that ends at `end`, and returns the position after it.
"""

from __future__ import annotations

from ..errors import Hint, NotationError
from ..tokens import ENDS_OPERAND, Token, is_alone
from .reader import FRAMES, Reader
from .tables import BARS, PAIRS, SIGNS, SIZED

BAR, SIDED_BAR = "bar", "sided bar"  # The kinds of open bars. Only \right closes a bar after \left.
NORMS = ("\\|", "\\Vert", "‖")


def open_bracket(reader: Reader, position: int, end: int) -> int:
    text, start, stop = reader.pieces[position]
    reader.open_bracket(*SIGNS[text], start, stop)
    if reader.brackets[-1] in FRAMES:  # In x^(, TeX raises only the parenthesis.
        reader.brackets[-1] = SIGNS[text][1]
    return position + 1


def close_bracket(reader: Reader, position: int, end: int) -> int:
    leave_bracket(reader, position)
    reader.add(*SIGNS[reader.pieces[position][0]], *reader.pieces[position][1:])
    return position + 1


def leave_bracket(reader: Reader, position: int) -> None:
    """Close the innermost bracket. Raise NotationError if it was not opened in the same macro argument."""
    text, start, stop = reader.pieces[position]
    if reader.brackets and reader.brackets[-1] not in FRAMES:
        reader.brackets.pop()
    elif reader.kind not in ("top", "text"):
        raise NotationError(
            103, f"{text} has no opening bracket", reader.source, (start, stop), hint=Hint("remove it", "")
        )


def open_pair(reader: Reader, position: int, end: int) -> int:
    r"""Read an opening delimiter, such as \lVert, \lfloor or \lceil, as a function and its opening bracket."""
    text, start, stop = reader.pieces[position]
    reader.open_call(PAIRS[text], start, stop)
    return position + 1


def close_pair(reader: Reader, position: int, end: int) -> int:
    r"""Read a closing delimiter, such as \rVert, \rfloor or \rceil, as a closing bracket."""
    leave_bracket(reader, position)
    reader.add("RPAREN", ")", *reader.pieces[position][1:])
    return position + 1


def read_norm_bar(reader: Reader, position: int, end: int) -> int:
    r"""Read \| or \Vert, which opens or closes a norm, or separates arguments, as in KL(p \| q)."""
    _, start, stop = reader.pieces[position]
    top = reader.brackets[-1] if reader.brackets else ""
    alone = top == "(" and reader.previous() in ENDS_OPERAND
    if top == "‖":
        reader.close_call(start, stop)
    elif alone and is_alone((text for text, _, _ in reader.pieces[position + 1 : end]), NORMS):
        reader.add("COMMA", ",", start, stop)
    else:
        reader.open_call("‖", start, stop)
    return position + 1


def read_size(reader: Reader, position: int, end: int) -> int:
    r"""Read \left or a similar macro, which states whether the next bar opens or closes a pair."""
    text, start, _ = reader.pieces[position]
    following, stop = "", start
    if position + 1 < end:
        following, _, stop = reader.pieces[position + 1]
    if text == "\\left" and following == "." and (closes := find_right_bar(reader, position, end)):
        reader.closing_at.add(closes)
        reader.open_bracket("LPAREN", "(", start, stop)
    elif position in reader.closing_at:
        leave_bracket(reader, position)
        reader.add("RPAREN", ")", start, start)
        reader.add("AT", "|", *reader.pieces[position + 1][1:])
    elif following in BARS and reader.piece(position + 2) == "_" and is_at_point(reader):
        reader.add("AT", "|", start, stop)
    elif following in BARS:
        add_bar(reader, position + 1, SIZED[text], start)
    elif following != "." or text not in ("\\left", "\\right"):
        return position + 1
    return position + 2


def find_right_bar(reader: Reader, position: int, end: int) -> int | None:
    r"""Return the position of the \right that matches \left. at `position` in \left. … \right|_{X=U}.

    Return None unless a bar and a subscript follow \right.
    """
    depth = 0
    for index in range(position, end):
        depth += (reader.pieces[index][0] == "\\left") - (reader.pieces[index][0] == "\\right")
        if depth == 0:
            result = reader.piece(index + 1) in BARS and reader.piece(index + 2) == "_"
            return index if result else None
    return None


def is_at_point(reader: Reader) -> bool:
    """Return whether a bar before a subscript evaluates at a point, as in f(t)|_{t=0}, because no bar is open."""
    return not reader.brackets or reader.brackets[-1] not in (BAR, SIDED_BAR)


def read_bar(reader: Reader, position: int, end: int) -> int:
    _, start, stop = reader.pieces[position]
    if reader.piece(position + 1) == "_" and is_at_point(reader):
        reader.add("AT", "|", start, stop)
    elif is_alone_in_bracket(reader, position, end):  # p(B \\mid A), \\{x \\mid i \\in I\\}
        reader.tokens.append(Token("BAR", "|", start, stop))
    else:
        add_bar(reader, position, 0, start)
    return position + 1


def is_alone_in_bracket(reader: Reader, position: int, end: int) -> bool:
    """Return whether this bar is in parentheses or braces, and no other bar follows in the same brackets."""
    if not reader.brackets or reader.brackets[-1] not in ("(", "{", "item"):
        return False
    return is_alone((SIGNS.get(text, ("", text))[1] for text, _, _ in reader.pieces[position + 1 : end]), "|")


def add_bar(reader: Reader, position: int, side: int, start: int) -> None:
    r"""Add a token for a bar, and record the direction if LaTeX states it.

    The token starts at the \left of the bar if there is one.
    """
    text, _, stop = reader.pieces[position]
    side = side or {"\\lvert": 1, "\\rvert": -1}.get(text, 0)
    opened = reader.brackets[-1] if reader.brackets else ""
    if opened == BAR and side <= 0 or opened == SIDED_BAR and side < 0:
        reader.brackets.pop()
    elif side >= 0:
        reader.brackets.append(SIDED_BAR if side else BAR)
    reader.tokens.append(Token("BAR", "|", start, stop, {1: "opens", -1: "closes", 0: ""}[side]))
