"""Convert text to ASCII for streams that cannot display the characters of the notation.

Standard output may be unable to encode ⊙, for example if its encoding is cp1252 or ASCII. Each such character is then
printed in its ASCII form. The carets of an error must point to the same text, so the source and its spans are
converted first, and the error is formatted again.

    A ⊙_{key} γ        A @_{key} gamma
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from .symbols import GREEK_MACROS, GREEK_VARIANTS, SUBSCRIPTS, SUPERSCRIPTS, SYMBOLS

SAMPLE = "⊙ℝ→─"  # A stream that cannot encode these characters receives ASCII.


def shows(stream: Any, text: str) -> bool:
    """Return whether a stream can encode `text`."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def encodable(method: Callable[..., str]) -> Callable[..., str]:
    """Wrap a `__str__` or `__repr__` method so that it returns ASCII if standard output cannot encode its text."""

    @wraps(method)
    def encoded(*arguments: Any) -> str:
        text = method(*arguments)
        return text if text.isascii() or shows(sys.stdout, text) else to_ascii(text)

    return encoded


# ------------------------------------------------------------------------------------------------------ ASCII form
@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    letters = {letter: name for name, letter in GREEK_MACROS.items()}
    letters |= {variant: letters[letter] for variant, letter in GREEK_VARIANTS.items()}
    signs = {}
    for symbol in SYMBOLS:
        macros = [spelling for spelling in symbol.ascii.split() if spelling.startswith("\\")]
        prefix = symbol.terminal == "OPERATOR"  # `concat` precedes its operands, and \oplus stands between them.
        plain = macros[0] if prefix and macros else symbol.ascii.split()[0]
        signs |= {spelling: plain for spelling in symbol.text.split() if not spelling.isascii()}
    return {**letters, **signs, **DRAWN}


DRAWN = dict.fromkeys("─━═", "-") | dict.fromkeys("│┃║", "|") | dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪", "+")
DRAWN |= {"′": "'", "’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "—": "-", "≈": "~", "±": "+-"}
DRAWN |= dict.fromkeys("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏░▒▓■", "#") | {"\N{REPLACEMENT CHARACTER}": "?", "\u00a0": " ", "▸": ">"}
SHAPE = re.compile(r"ℝ\^\{[^{}]*\}")
SMALL = re.compile(f"[{''.join(SUBSCRIPTS)}]+|[{''.join(SUPERSCRIPTS)}]+")


def ascii_pieces(text: str) -> list[str]:
    """Return the ASCII form of each character in a string. A form may depend on neighboring characters."""
    table = _table()
    pieces = [character if character.isascii() else _plain(text, at, table) for at, character in enumerate(text)]
    for shape in SHAPE.finditer(text):
        for times in re.finditer(" ?× ?", text[slice(*shape.span())]):
            start, end = shape.start() + times.start(), shape.start() + times.end()
            pieces[start:end] = [""] * (end - start - 1) + [", "]
    for run in SMALL.finditer(text):
        _spell_small(pieces, *run.span(), text)
    return pieces


def to_ascii(text: str) -> str:
    """Return `text` with each symbol replaced by its ASCII form.

    >>> to_ascii("softmax_{seq}(Q ⊙_{key} K) ∈ ℝ^{seq × val}, γ²")
    'softmax_{seq}(Q @_{key} K) in R^{seq, val}, gamma^2'
    """
    return text if text.isascii() else "".join(ascii_pieces(text))


def _plain(text: str, at: int, table: dict[str, str]) -> str:
    character, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if character in "⊙·∗⋅":
        return "@" if after == "_" else "*"
    if character not in table:
        known = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
        return known or ("" if unicodedata.combining(character) else "?")
    plain = table[character]
    if not plain[-1].isalpha():
        return plain
    small = after in SUBSCRIPTS or after in SUPERSCRIPTS
    left = " " if before.isalnum() and before.isascii() else ""
    return left + plain + (" " if after.isalnum() and not small else "")


def _spell_small(pieces: list[str], start: int, end: int, text: str) -> None:
    """Replace Unicode scripts with ASCII scripts, so that x₁₂ becomes x_{12} and x² becomes x^2.

    The function modifies `pieces`.
    """
    table, sign = (SUBSCRIPTS, "_") if text[start] in SUBSCRIPTS else (SUPERSCRIPTS, "^")
    pieces[start:end] = [to_ascii(table[character]) for character in text[start:end]]
    if end - start > 1:
        pieces[start] = "{" + pieces[start]
        pieces[end - 1] += "}"
    pieces[start] = sign + pieces[start]


def error_in_ascii(error: Any) -> Any:
    """Return a copy of an error with an ASCII source and matching spans."""
    source, indices = error.source, [0]
    if source is not None:
        pieces = ascii_pieces(source)
        for piece in pieces:
            indices.append(indices[-1] + len(piece))
        source = "".join(pieces)

    def position(span: tuple[int, int]) -> tuple[int, int]:
        start, end = (indices[min(index, len(indices) - 1)] for index in span)
        return start, end

    moved = error.moved(source, position)
    return moved.replace(
        message=to_ascii(error.message),
        notes=tuple(map(to_ascii, error.notes)),
        hint=None if error.hint is None else to_ascii(error.hint),
        labels=tuple((span, to_ascii(text)) for span, text in moved.labels),
    )
