"""Handle words and letters: upright text, fonts, accents, and calligraphic and blackboard letters.

Each handler reads the piece at `position` in a range that ends at `end`, and returns the position after it.
"""

from __future__ import annotations

import re

from ..errors import NotationError
from ..folding import fold
from ..symbols import ACCENTS, CALLIGRAPHIC, UNDERSCORED
from ..tokens import Token
from .characters import holds_relation
from .macros import AXIS_FONTS, TEXTS, is_word, read_plain_name
from .reader import Part, Reader
from .statements import CELL, ROW
from .tables import (
    ACCENT_MACROS,
    BETWEEN,
    BIG_WORDS,
    BLACKBOARD,
    DROPPED,
    SIGNS,
    SIZED,
    WORD_VALUES,
    WORDS,
)

SENTENCES = tuple(f"\\{name}" for name in TEXTS)


# ------------------------------------------------------------------------------------------------------- upright text
def text(reader: Reader, position: int, end: int) -> int:
    """Read upright text such as \\text{if $i$ is even}."""
    if position + 1 >= end or reader.piece(position + 1) != "{":
        return position + 1
    close = reader.partner[position + 1]
    words = {piece[0] for piece in reader.pieces[position + 2 : close]}
    is_range = reader.piece(position + 2) == "for" and "$" in words
    if not is_range and is_comment(reader, close + 1, end):
        return close + 1
    return reader.put(["text", (position + 2, close), None], close + 1, end)


def dollar(reader: Reader, position: int, end: int) -> int:
    r"""Read a formula inside upright text, as in \text{if $i$ is even}."""
    if position not in reader.partner or not reader.in_text:
        raise reader.unknown(position)
    close = reader.partner[position]
    return reader.put(["math", (position + 1, close), None], close + 1, end)


def word_in_text(reader: Reader, position: int, end: int) -> int:
    piece, start, stop = reader.pieces[position]
    if reader.follows_name(start):
        reader.extend(fold(piece), stop)
    else:
        add_word(reader, fold(piece), start, stop)
    return position + 1


def read_name(reader: Reader, position: int, end: int) -> int:
    """Read \\text{…} with a single word, or with a name and its label."""
    piece, start, stop = reader.pieces[position]
    name, in_text = read_plain_name(piece) or "", piece.startswith(SENTENCES)
    if in_text and is_comment(reader, position + 1, end) and not heads_a_row(reader, position + 1, end):
        reader.words_alone = [Token("NAME", name, start, stop)]
    elif name in BIG_WORDS and reader.piece(position + 1) == "_" and not reader.in_axes:
        reader.add("BIG", BIG_WORDS[name], start, stop)
    elif "_" in name and name not in UNDERSCORED:  # hidden_1 comes from one \name{…}.
        for index, part in enumerate(name.split("_")):
            if index:
                reader.add("SUB", "_", start, start)
            reader.add("NUMBER" if part.isdecimal() else "NAME", part, start, stop)
    elif piece.startswith(AXIS_FONTS) or WORDS.get(name) == "" and not (in_text and is_apart(reader, position)):
        reader.add("NAME", name, start, stop)
    else:
        add_word(reader, name, start, stop)
    return position + 1


def is_apart(reader: Reader, position: int) -> bool:
    r"""Return whether `where` is a keyword, as in \text{where}, rather than a function, as in \text{where}(c, X, Y)."""
    piece, _, stop = reader.pieces[position]
    following = reader.pieces[position + 1] if position + 1 < len(reader.pieces) else ("", 0, 0)
    return piece[-2] in " ,." or following[0] not in ("(", "\\left", "_", "^") or following[1] != stop


def add_word(reader: Reader, name: str, start: int, stop: int) -> None:
    """Add the token or separator for a keyword of the notation. Any other word becomes a name."""
    terminal = "NAME" if reader.in_axes else WORDS.get(name, "NAME")
    if reader.previous() == "IF" and terminal in ("IF", "FOR", "OTHERWISE"):
        reader.tokens.pop()
        terminal = "OTHERWISE" if terminal == "OTHERWISE" else "IF"
    if name in BETWEEN and terminal != "NAME" and reader.is_at_statement_level():
        reader.separate(CELL if name == "and" else ROW, start, stop)
    elif terminal:
        reader.add(terminal, name if terminal == "NAME" else WORD_VALUES.get(name, name), start, stop)


def is_comment(reader: Reader, after: int, end: int) -> bool:
    r"""Return whether \text{…}, which ends before `after`, is a comment because it fills a whole cell."""
    if not reader.is_at_statement_level() or reader.previous() not in ("", "SEPARATOR"):
        return False
    after = reader.skip_looks(after, end)
    while after < end and reader.pieces[after][0] in (",", "."):
        after += 1
    following = reader.pieces[after][0] if after < end else "\\\\"
    return following in ("&", "\\quad", "\\qquad") or following.startswith(("\\\\", "\\end"))


def heads_a_row(reader: Reader, after: int, end: int) -> bool:
    r"""Return whether \text{…} is a label because the next cell begins with a relation: \text{total} &\colon …"""
    after = reader.skip_looks(after, end)
    if after >= end or reader.pieces[after][0] != "&":
        return False
    after = reader.skip_looks(after + 1, end)
    while after < end and reader.pieces[after][0] in ("{", "}"):  # {}= and {=} are relations
        after = reader.skip_looks(after + 1, end)
    return after < end and SIGNS.get(reader.pieces[after][0], ("", ""))[0] in ("COLON", "EQUALS", "IN")


# ------------------------------------------------------------------------------------------------------ names in a font
def font(reader: Reader, position: int, end: int) -> int:
    """Read a font macro such as \\mathbf x.

    The pieces in \\operatorname{arg\\,max} or \\mathop{\\rm arg\\,max} form one name.
    """
    macro, start, _ = reader.pieces[position]
    after = position + 1 + (reader.piece(position + 1) == "*")
    if after >= end or reader.piece(after) != "{":
        return after
    close = reader.partner[after]
    if close == after + 2 and reader.piece(after + 1) == "1" and (one := token_of_one(reader, macro, close + 1)):
        reader.add(*one, start, reader.pieces[close][2])
        return close + 1
    name, stop = join_name(reader, after + 1, close)
    if name and stop == close:
        reader.add("NAME", name, start, reader.pieces[close][2])
        return close + 1
    return after


def token_of_one(reader: Reader, macro: str, after: int) -> tuple[str, str] | None:
    r"""Return the token type and text of a bold 1, or None if it is a plain number.

    A bold 1 may be an indicator, as in \mathbf{1}[i = j], or the tensor of ones.
    """
    below = [reader.piece(after), reader.piece(after + 1)] == ["_", "{"] or reader.piece(after) == "_"
    while reader.piece(after) in SIZED:
        after += 1
    close = reader.partner.get(after + 1, after + 1)
    if reader.piece(after) in ("[", "(", "\\{") or below and holds_relation(reader, after + 1, close):
        return "INDICATOR", "𝕀"
    return ("NAME", "ones") if below and macro == "\\mathbf" else None


JOINED = re.compile(r"[^\W_]+|['′’]+|\\_")
PRIMED = re.compile(r"['′’]+")


def join_name(reader: Reader, position: int, end: int) -> tuple[str, int]:
    """Return the name that starts at `position`, and the position after it.

    Letters and digits, or a single macro, form a name.
    """
    position = reader.skip_looks(position, end)
    while position < end and reader.pieces[position][0] in DROPPED:  # \vphantom{fg}
        position = reader.skip_looks(reader.argument(position, position + 1, end)[1], end)
    name = reader.macro_name(position) if position < end else ""
    more = PRIMED if name else JOINED
    position += bool(name)
    while position < end:
        piece = reader.pieces[position][0]
        if not more.fullmatch(piece) or not name and not is_word(piece):
            break
        name += "_" if piece == "\\_" else fold(piece)
        position = reader.skip_looks(position + 1, end)
    return name, position


def decorate(reader: Reader, position: int, end: int) -> int:
    r"""Read an accented or calligraphic letter, such as \hat y or \mathcal{S^*}, with any scripts in its braces."""
    macro, start, _ = reader.pieces[position]
    group, after = reader.argument(position, position + 1, end, letters=True)
    name, rest, last = (group.text, 0, 0) if isinstance(group, Token) else (*join_name(reader, *group), group[1])
    following = reader.piece(rest) if rest < last else ""
    plain = name.rstrip("'")
    if macro in ACCENT_MACROS:
        if not name or following not in ("", "_", "^", "'", "\\prime"):
            raise NotationError(
                111, f"{macro} can only be placed over a name", reader.source, reader.pieces[position][1:],
                hint=f"put it over one name, or give the whole a name: {macro}{{y}}",
            )  # fmt: skip
        shown = fold(plain + ACCENTS[ACCENT_MACROS[macro]])
    else:
        if not plain or not set(plain) <= set(CALLIGRAPHIC) or following not in ("", "^"):
            raise NotationError(
                111, f"{macro} applies only to capital letters", reader.source, reader.pieces[position][1:],
                hint=f"write {macro}{{L}}",
            )  # fmt: skip
        shown = "".join(CALLIGRAPHIC[letter] for letter in plain)
    stop = group.end if isinstance(group, Token) else reader.pieces[rest - 1 if following else after - 1][2]
    token = Token("NAME", shown + name[len(plain) :], start, stop, reader.place)
    parts: list[Part] = [token, (rest, last)] if following else [token]
    return reader.put(parts, after, end)


def blackboard(reader: Reader, position: int, end: int) -> int:
    """Read a blackboard letter, such as \\mathbb R or \\mathbb{1}."""
    macro, start, _ = reader.pieces[position]
    letter, after = re.sub(r"\\math(bb|ds|bbm)|[{}\s]", "", macro), position + 1
    if not letter:
        group, after = reader.argument(position, position + 1, end, letters=True)
        letter = group.text if isinstance(group, Token) else "".join(piece[0] for piece in reader.pieces[slice(*group)])
    stop = reader.pieces[after - 1][2]
    if letter == "E":
        return reader.put([Token("NAME", "E", start, stop, reader.place or "mean")], after, end)
    if letter not in BLACKBOARD:
        raise reader.unknown(position)
    reader.add(*BLACKBOARD[letter], start, stop)
    return after
