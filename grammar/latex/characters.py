"""Handlers of single characters: cells and rows, brackets and bars, scripts, primes and stars.

Each function reads the piece at `position` of a stretch that ends at `end`, and returns where to go on.
"""

from __future__ import annotations

import re
from itertools import takewhile

from ..errors import Hint, NotationError
from ..text import BEFORE_SET, fold
from ..tokens import Token
from .macros import is_word
from .reader import Reader
from .statements import CELL, ROW
from .tables import BARS, DROPPED, PAIRS, PRIMES, SIGNS, SIZED, STARS

# In \nmatrix, cases and subscripts & and \\ are their own.
ROW_SIGNS = {
    "matrix": ("SEMICOLON", ";"),
    "cases": ("SEMICOLON", ";"),
    "sub": ("COMMA", "\\\\"),
    "shape": ("COMMA", "\\\\"),
}
CELL_SIGNS = {"matrix": ("COMMA", ","), "cases": ("IF", "if")}


# ------------------------------------------------------------------------------------------------------ cells and rows
def ampersand(reader: Reader, position: int, end: int) -> int:
    if reader.kind in CELL_SIGNS:
        if reader.kind == "cases":
            reader.trim()
        reader.add(CELL_SIGNS[reader.kind], *reader.pieces[position][1:])
    elif reader.kind != "top":
        raise reader.unknown(position)
    elif reader.cells and not reader.brackets:
        reader.ampersands += 1
        if reader.ampersands % reader.cells == 0:
            reader.separate(CELL, *reader.pieces[position][1:])
    return position + 1


def row(reader: Reader, position: int, end: int) -> int:
    if reader.kind == "top":
        reader.ampersands = 0
        if not reader.brackets:
            reader.separate(ROW, *reader.pieces[position][1:])
    elif reader.kind in ROW_SIGNS:
        reader.trim()
        if reader.last() != "LBRACE":
            reader.add(ROW_SIGNS[reader.kind], *reader.pieces[position][1:])
    elif reader.kind != "text":
        raise reader.unknown(position)
    return position + 1


def quad(reader: Reader, position: int, end: int) -> int:
    if reader.at_statement_level():
        reader.separate(CELL, *reader.pieces[position][1:])
    return position + 1


def comma(reader: Reader, position: int, end: int) -> int:
    """A comma, or a full stop: of the formula, but in upright text only of the sentence."""
    if reader.kind != "text":
        text, start, stop = reader.pieces[position]
        reader.add(SIGNS[text], start, stop)
    return position + 1


# -------------------------------------------------------------------------------------------------- relations and sets
def relation(reader: Reader, position: int, end: int) -> int:
    text, start, stop = reader.pieces[position]
    if SIGNS[text][0] == "TIMES" and not (reader.kind == "shape" and not reader.brackets):
        if not reader.among_sets():
            reader.tokens.append(Token("TIMES", "×", start, stop, "product"))
            return position + 1
    if reader.at_statement_level():
        after_set = reader.last() in ("RBRACE", "REALS", "RBRACKET")
        reader.in_set = SIGNS[text][0] != "EQUALS" or reader.in_set and after_set
    reader.add(SIGNS[text], start, stop)
    return position + 1


# --------------------------------------------------------------------------------------------------- brackets and bars
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
        raise NotationError(103, f"{text} closes no bracket", reader.source, (start, stop), hint=Hint("remove it", ""))
    reader.settle()
    reader.add(SIGNS[text], start, stop)
    return position + 1


def sized(reader: Reader, position: int, end: int) -> int:
    """\\left and its kin: only bars need them, to say which side they are."""
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
    for place in range(position, end):
        depth += (reader.pieces[place][0] == "\\left") - (reader.pieces[place][0] == "\\right")
        if depth == 0:
            found = reader.piece(place + 1) in BARS and reader.piece(place + 2) == "_"
            return place if found else None
    return None


def at_point(reader: Reader) -> bool:
    """Whether a bar before a subscript closes nothing, and so says where a value is taken: f(t)|_{t=0}"""
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
    """Whether no other bar stands between this one and the end of the bracket around it, which no bar opened."""
    if not reader.brackets or reader.brackets[-1][0] not in ("LPAREN", "LBRACE"):
        return False
    depth = 0
    for place in range(position + 1, end):
        text = reader.pieces[place][0]
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
    """One bar; `start` is that of the \\left before it. What opens becomes a size or abs( when it is closed."""
    text, first, stop = reader.pieces[position]
    wide = start is not None or text in ("\\lvert", "\\rvert")
    side = side or {"\\lvert": 1, "\\rvert": -1}.get(text, 0)
    span = (first if start is None else start, stop)
    opened = bool(reader.brackets) and reader.brackets[-1][0] == "BAR"
    if opened and side <= 0:
        return close_bar(reader, *span)
    if side >= 0:
        reader.brackets.append(("BAR", len(reader.tokens)))
        reader.settle()
    if side >= 0 and wide:
        reader.add(("FUNCTION", "abs"), *span)
        reader.add(("CALL", "("), *span)
    else:
        reader.add(("BAR", "|"), *span)


ONE_NAME = re.compile(r"NAME( SUB (NAME|NUMBER|LBRACE (NAME|NUMBER) RBRACE))?( SUP STAR)?")


def close_bar(reader: Reader, start: int, stop: int) -> None:
    """|key| is a size, or the absolute value of one name; \\left| … \\right| around more is abs(…)."""
    tokens = reader.tokens
    first = reader.brackets.pop()[1]
    reader.settle()
    inner = first + 2 if tokens[first].type == "FUNCTION" else first + 1
    kinds = " ".join(token.type for token in tokens[inner : inner + 9])
    if ONE_NAME.fullmatch(kinds):
        tokens[inner].place = "axis"
        if kinds == "NAME SUP STAR":
            mark = tokens.pop()
            tokens[inner].text, tokens[inner].end = tokens[inner].text + mark.text, mark.end
            tokens.pop()
        tokens[first:inner] = [Token("BAR", "|", *tokens[first].span)]
    reader.add(("BAR", "|") if tokens[first].type == "BAR" else ("RPAREN", ")"), start, stop)


# --------------------------------------------------------------------------------------------- scripts, primes and stars
def script(reader: Reader, position: int, end: int) -> int:
    """_ or ^ with one piece or a group; in ^ also a prime or a star."""
    sign, start, stop = reader.pieces[position]
    after = reader.skip_looks(position + 1, end)
    if sign == "^" and (found := mark_at(reader, after, end)):
        return marked(reader, position, *found)
    token = Token("SUB" if sign == "_" else "SUP", sign, start, stop)
    text = reader.pieces[after][0] if after < end else ""
    if text != "{" and not reader.is_operand(text):
        reader.tokens.append(token)
        return position + 1
    kind = "sub" if sign == "_" else "shape" if after_set(reader) else "sup"
    group, rest = reader.argument(position, after, end)
    parts = reader.braced(kind, group, rest)
    if text != "{" and len(parts) == 3:
        parts = parts[1:2]
    return reader.put([token, *parts], rest, end)


def after_set(reader: Reader) -> bool:
    last, tokens = reader.last(), reader.tokens
    if last == "REALS" or not reader.among_sets():
        return last == "REALS"
    return last in ("RBRACE", "RBRACKET") or last == "NAME" and len(tokens) > 1 and tokens[-2].type in BEFORE_SET


def mark_at(reader: Reader, position: int, end: int) -> tuple[str, int] | None:
    """The primes or the stars that the superscript at `position` is, and where it ends."""
    if position >= end:
        return None
    first, stop, after = position, position + 1, position + 1
    if reader.pieces[position][0] == "{":
        close = reader.partner[position]
        first, stop, after = position + 1, min(close, position + 5), close + 1
        stars = takewhile(STARS.__contains__, (text for text, _, _ in reader.pieces[first:close]))
        stop = max(stop, first + sum(1 for _ in stars))
    texts = [text for text, _, _ in reader.pieces[first:stop]]
    if texts and stop in (after, after - 1) and all(text in STARS for text in texts):
        return "".join(STARS[text] for text in texts), after
    if texts and all(text in PRIMES or text[0] in PRIMES for text in texts):
        return "'" * sum(1 if text == "\\prime" else len(text) for text in texts), after
    return None


def marked(reader: Reader, position: int, mark: str, after: int) -> int:
    """Add the primes or the star of a superscript at `position`."""
    stop = reader.pieces[after - 1][2]
    if mark[0] == "'":
        add_primes(reader, position, mark, stop)
    elif reader.place == "axis" and ends_with_name(reader):
        reader.extend(mark, stop)
    else:
        reader.add(("SUP", "^"), *reader.pieces[position][1:])
        reader.add(("STAR", mark), reader.pieces[position][2], stop)
    return after


def star(reader: Reader, position: int, end: int) -> int:
    text, start, stop = reader.pieces[position]
    mark = STARS[text]
    if reader.place == "axis" and ends_with_name(reader):
        reader.extend(mark, stop)
    else:
        reader.add(("DOT", "⊙") if mark == "*" else ("STAR", mark), start, stop)
    return position + 1


def ends_with_name(reader: Reader) -> bool:
    """Whether the last token is a name, and not the script of one."""
    return reader.last() == "NAME" and (len(reader.tokens) < 2 or reader.tokens[-2].type not in ("SUB", "SUP"))


def prime(reader: Reader, position: int, end: int) -> int:
    text, _, stop = reader.pieces[position]
    add_primes(reader, position, "'" if text == "\\prime" else "'" * len(text), stop)
    return position + 1


def add_primes(reader: Reader, position: int, primes: str, stop: int) -> None:
    """Add primes to the name before them: the base of its subscript too, as TeX sets u_i'; and to a number, as in 1'."""
    token = primed(reader.tokens)
    if token is None:
        raise reader.unknown(position)
    if token is reader.tokens[-1]:
        token.type, token.end = "NAME", max(stop, token.end)
    token.text += primes


def primed(tokens: list[Token]) -> Token | None:
    """The token that a prime after these belongs to."""
    last = len(tokens) - 1
    first = group_start(tokens, last)
    if first > 1 and tokens[first - 1].type == "SUB":
        return tokens[first - 2] if tokens[first - 2].type == "NAME" else None
    return tokens[last] if last >= 0 and tokens[last].type in ("NAME", "NUMBER") else None


def group_start(tokens: list[Token], last: int) -> int:
    """Where the group in braces that ends at `last`, or the token there, begins; -1 for a long one."""
    depth = 0
    for index in range(last, max(-1, last - 60), -1):
        kind = tokens[index].type
        depth += (kind == "RBRACE") - (kind == "LBRACE")
        if depth <= 0:
            return index
    return -1


# ------------------------------------------------------------------------------------------------------- upright text
def text(reader: Reader, position: int, end: int) -> int:
    """\\text{if $i$ is even}"""
    if position + 1 >= end or reader.piece(position + 1) != "{":
        return position + 1
    close = reader.partner[position + 1]
    words = {piece[0] for piece in reader.pieces[position + 2 : close]}
    is_range = reader.piece(position + 2) == "for" and "$" in words
    if not is_range and reader.is_comment(close + 1, end):
        return close + 1
    return reader.put(["text", (position + 2, close), None], close + 1, end)


def dollar(reader: Reader, position: int, end: int) -> int:
    """Maths in upright text."""
    if position not in reader.partner or reader.kind != "text":
        raise reader.unknown(position)
    close = reader.partner[position]
    return reader.put(["group", (position + 1, close), None], close + 1, end)


def font(reader: Reader, position: int, end: int) -> int:
    """\\mathbf x; \\operatorname{arg\\,max}, whose pieces are one name"""
    after = position + 2 if reader.piece(position + 1) == "*" else position + 1
    if [piece[0] for piece in reader.pieces[after : after + 3]] == ["{", "1", "}"] and holds_condition(
        reader, after + 3
    ):
        reader.add(("INDICATOR", "𝕀"), reader.pieces[position][1], reader.pieces[after + 2][2])
        return after + 3
    if reader.piece(position) == "\\mathbf" and [piece[0] for piece in reader.pieces[after : after + 4]] == [
        "{",
        "1",
        "}",
        "_",
    ]:
        start, stop = reader.pieces[position][1], reader.pieces[after + 2][2]
        reader.tokens.append(Token("NAME", "ones", start, stop, reader.place))
        return after + 3
    if after < end and reader.pieces[after][0] == "{":
        close = reader.partner[after]
        name, stop = joined(reader, after + 1, close)
        if name and stop == close:
            start = reader.pieces[position][1]
            reader.tokens.append(Token("NAME", name, start, reader.pieces[close][2], reader.place))
            return close + 1
    return after


def holds_condition(reader: Reader, position: int) -> bool:
    r"""Whether a bracket follows a bold 1, as in \mathbf{1}[i = j]."""
    while reader.piece(position) in SIZED:
        position += 1
    return reader.piece(position) in ("[", "(", "\\{")


JOINED = re.compile(r"[^\W_]+|['′’]+|\\_")
PRIMED = re.compile(r"['′’]+")


def joined(reader: Reader, position: int, end: int) -> tuple[str, int]:
    """The name that the letters and digits from `position` on make together, or one macro; and where it ends."""
    position = reader.skip_looks(position, end)
    while position < end and reader.pieces[position][0] in DROPPED:  # \vphantom{fg}
        position = reader.skip_looks(reader.argument(position, position + 1, end)[1], end)
    name = reader.macro_name(position) if position < end else ""
    more = PRIMED if name else JOINED
    position += bool(name)
    while position < end:
        text = reader.pieces[position][0]
        if not more.fullmatch(text) or not name and not is_word(text):
            break
        name += "_" if text == "\\_" else fold(text)
        position = reader.skip_looks(position + 1, end)
    return name, position
