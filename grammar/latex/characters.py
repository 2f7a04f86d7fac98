"""Handlers of single characters: cells and rows, relations and sets, scripts, primes and stars.

Each function reads the piece at `position` of a stretch that ends at `end`, and returns where to go on.
"""

from __future__ import annotations

import re
from itertools import takewhile

from ..customary_forms import may_be_indicator
from ..text import fold
from ..text_tables import BEFORE_SET
from ..tokens import Token
from .macros import is_word
from .reader import Reader, Stretch
from .statements import CELL, ROW
from .tables import DROPPED, PRIMES, SIGNS, SIZED, STARS

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


# --------------------------------------------------------------------------------------------- scripts, primes and stars
def script(reader: Reader, position: int, end: int) -> int:
    """_ or ^ with one piece or a group; in ^ also a prime or a star."""
    sign, start, stop = reader.pieces[position]
    after = reader.skip_looks(position + 1, end)
    if sign == "^" and (names := mark_at(reader, after, end)):
        return marked(reader, position, *names)
    token = Token("SUB" if sign == "_" else "SUP", sign, start, stop)
    text = reader.pieces[after][0] if after < end else ""
    if text != "{" and not reader.is_operand(text):
        reader.tokens.append(token)
        return position + 1
    group, rest = reader.argument(position, after, end)
    kind = "shape" if sign == "^" and after_set(reader) else "sup"
    if sign == "_":
        kind = "group" if under_indicator(reader, group) else "sub"
    parts = reader.braced(kind, group, rest)
    if text != "{" and len(parts) == 3:
        parts = parts[1:2]
    return reader.put([token, *parts], rest, end)


def under_indicator(reader: Reader, group: Token | Stretch) -> bool:
    """Return whether the subscript is a condition: \\mathbb{1}_{x > 1}, I_{x > 1}."""
    is_one = may_be_indicator(reader.tokens, len(reader.tokens) - 1)
    return is_one and not isinstance(group, Token) and holds_relation(reader, *group)


def holds_relation(reader: Reader, start: int, end: int) -> bool:
    """Return whether a relation appears between two pieces."""
    return any(SIGNS.get(piece[0], ("",))[0] in ("RELATION", "EQUALS") for piece in reader.pieces[start:end])


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
    """Upright text in a formula."""
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
    one = [piece[0] for piece in reader.pieces[after : after + 4]] == ["{", "1", "}", "_"]
    if one and holds_relation(reader, after + 4, reader.partner.get(after + 4, after + 4)):
        reader.add(("INDICATOR", "𝕀"), reader.pieces[position][1], reader.pieces[after + 2][2])
        return after + 3
    if one and reader.piece(position) == "\\mathbf":
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
