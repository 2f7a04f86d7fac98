"""Handle single characters, such as cell and row separators, scripts, primes and stars.

Each handler reads the piece at `position` in a range that ends at `end`, and returns the position after it.
"""

from __future__ import annotations

from ..customary_forms import may_be_indicator
from ..symbols import CALLIGRAPHIC
from ..tokens import Token
from .reader import AXES, NEXT_ROW, Reader, Stretch
from .statements import CELL, ROW
from .tables import PRIMES, SIGNS, STARS

# In \nmatrix, cases, subscripts and shapes, & and \\ have other meanings than in tables.
ROW_SIGNS = {
    "matrix": ("SEMICOLON", ";"),
    "cases": ("SEMICOLON", ";"),
    "sub": ("COMMA", NEXT_ROW),
    "shape": ("COMMA", NEXT_ROW),
}
CELL_SIGNS = {"matrix": ("COMMA", ","), "cases": ("IF", "if")}


# ------------------------------------------------------------------------------------------------------ cells and rows
def ampersand(reader: Reader, position: int, end: int) -> int:
    kind, span = reader.kind, reader.pieces[position][1:]
    if kind in CELL_SIGNS:
        if kind == "cases":
            reader.trim()
        reader.add(*CELL_SIGNS[kind], *span)
    elif kind != "top":
        raise reader.unknown(position)
    elif reader.cells and not reader.brackets:
        reader.ampersands += 1
        if reader.ampersands % reader.cells == 0:
            reader.separate(CELL, *span)
    return position + 1


def row(reader: Reader, position: int, end: int) -> int:
    kind, span = reader.kind, reader.pieces[position][1:]
    if kind == "top":
        reader.ampersands = 0
        if not reader.brackets:
            reader.separate(ROW, *span)
    elif kind in ROW_SIGNS:
        reader.trim()
        if reader.previous() != "LBRACE":
            reader.add(*ROW_SIGNS[kind], *span)
    elif kind != "text":
        raise reader.unknown(position)
    return position + 1


def quad(reader: Reader, position: int, end: int) -> int:
    if reader.is_at_statement_level():
        reader.separate(CELL, *reader.pieces[position][1:])
    return position + 1


def comma(reader: Reader, position: int, end: int) -> int:
    """Read a comma or period. It belongs to the formula, except in upright text."""
    if not reader.in_text:
        text, start, stop = reader.pieces[position]
        reader.add(*SIGNS[text], start, stop)
    return position + 1


def times(reader: Reader, position: int, end: int) -> int:
    reader.times(*reader.pieces[position][1:])
    return position + 1


def union(reader: Reader, position: int, end: int) -> int:
    r"""Read \cup, which joins sets of axes, as in the lift f^{\mathcal{S} \cup \mathcal{T}}."""
    kind, span = reader.kind, reader.pieces[position][1:]
    lifted = kind == "sup" and reader.tokens and reader.tokens[-1].text[:1] in CALLIGRAPHIC.values()
    if kind not in AXES and not lifted:
        raise reader.unknown(position)
    if kind == "shape":
        reader.times(*span)
    else:
        reader.add("COMMA", ",", *span)
    return position + 1


# --------------------------------------------------------------------------------------------- scripts, primes and stars
def script(reader: Reader, position: int, end: int) -> int:
    """Read a subscript or superscript.

    Its content is a single piece, a group, or, in a superscript, primes or stars.
    """
    sign, start, stop = reader.pieces[position]
    after = reader.skip_looks(position + 1, end)
    if sign == "^" and (mark := mark_at(reader, after, end)):
        return add_mark(reader, position, *mark)
    token = Token("SUB" if sign == "_" else "SUP", sign, start, stop)
    text = reader.pieces[after][0] if after < end else ""
    if text != "{" and not reader.is_operand(text):
        reader.tokens.append(token)
        return position + 1
    group, rest = reader.argument(position, after, end)
    last = len(reader.tokens) - 1
    if sign == "_":
        kind = "group" if under_indicator(reader, group) else "sub"
    else:
        kind = "shape" if reader.previous() == "REALS" or reader.ends_set(last) else "sup"
    parts = reader.braced(kind, group, rest)
    if text != "{" and len(parts) == 3:
        parts = parts[1:2]
    return reader.put([token, *parts], rest, end)


def under_indicator(reader: Reader, group: Token | Stretch) -> bool:
    r"""Return whether a subscript is the condition of an indicator, as in \mathbb{1}_{x > 1} and I_{x > 1}."""
    is_one = may_be_indicator(reader.tokens, len(reader.tokens) - 1)
    return is_one and not isinstance(group, Token) and holds_relation(reader, *group)


def holds_relation(reader: Reader, start: int, end: int) -> bool:
    """Return whether a range of pieces contains a relation."""
    return any(SIGNS.get(piece[0], ("",))[0] in ("RELATION", "EQUALS") for piece in reader.pieces[start:end])


def mark_at(reader: Reader, position: int, end: int) -> tuple[str, int] | None:
    """Return the primes or stars in a superscript and the position after it.

    Return None if the superscript contains anything else.
    """
    if position >= end:
        return None
    after, inside = position + 1, slice(position, position + 1)
    if reader.pieces[position][0] == "{":
        after, inside = reader.partner[position] + 1, slice(position + 1, reader.partner[position])
    texts = [piece[0] for piece in reader.pieces[inside]]
    if texts and all(text in STARS for text in texts):
        return "".join(STARS[text] for text in texts), after
    if texts and all(text in PRIMES or text[0] in PRIMES for text in texts):
        return "".join(map(primes_of, texts)), after
    return None


def primes_of(text: str) -> str:
    return "'" if text == "\\prime" else "'" * len(text)


def add_mark(reader: Reader, position: int, mark: str, after: int) -> int:
    """Add the primes or stars of a superscript to the preceding operand, and return the next position."""
    _, start, stop = reader.pieces[position]
    end = reader.pieces[after - 1][2]
    if mark[0] == "'":
        add_primes(reader, position, mark, end)
    elif reader.in_axes and ends_with_name(reader):
        reader.extend(mark, end)
    else:
        reader.add("SUP", "^", start, stop)
        reader.add("STAR", mark, stop, end)
    return after


def star(reader: Reader, position: int, end: int) -> int:
    text, start, stop = reader.pieces[position]
    mark = STARS[text]
    if reader.in_axes and ends_with_name(reader):
        reader.extend(mark, stop)
    else:
        reader.add(*(("DOT", "⊙") if mark == "*" else ("STAR", mark)), start, stop)
    return position + 1


def ends_with_name(reader: Reader) -> bool:
    """Return whether the last token is a name outside a script."""
    tokens = reader.tokens
    return reader.previous() == "NAME" and (len(tokens) < 2 or tokens[-2].type not in ("SUB", "SUP"))


def prime(reader: Reader, position: int, end: int) -> int:
    text, _, stop = reader.pieces[position]
    add_primes(reader, position, primes_of(text), stop)
    return position + 1


def add_primes(reader: Reader, position: int, primes: str, stop: int) -> None:
    """Add primes to the preceding name or number. In u_i', the primes belong to u, although TeX prints them after i."""
    token = find_primed_token(reader.tokens)
    if token is None:
        raise reader.unknown(position)
    if token is reader.tokens[-1]:
        token.type, token.end = "NAME", max(stop, token.end)
    token.text += primes


def find_primed_token(tokens: list[Token]) -> Token | None:
    """Return the token that a prime after these tokens would modify, or None if there is no such token."""
    last = len(tokens) - 1
    first = group_start(tokens, last)
    if first > 1 and tokens[first - 1].type == "SUB":
        return tokens[first - 2] if tokens[first - 2].type == "NAME" else None
    return tokens[last] if last >= 0 and tokens[last].type in ("NAME", "NUMBER") else None


def group_start(tokens: list[Token], last: int) -> int:
    """Return the index of the opening brace of the group that ends at `last`, or `last` for a single token.

    Return -1 if the group has more than 60 tokens, braces included.
    """
    depth = 0
    for index in range(last, max(-1, last - 60), -1):
        kind = tokens[index].type
        depth += (kind == "RBRACE") - (kind == "LBRACE")
        if depth <= 0:
            return index
    return -1
