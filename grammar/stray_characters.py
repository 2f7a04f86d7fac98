"""Suggest the symbol that was probably meant by a character outside the notation."""

from __future__ import annotations

import re
import unicodedata

ENTITY = r"&(?:[A-Za-z][A-Za-z0-9]*|\#[0-9]+|\#x[0-9A-Fa-f]+);"  # character references of HTML


def unescape_entity(entity: str) -> str | None:
    """Return the character of an HTML entity, such as ⊙ for &odot;, or None if it does not denote one character."""
    from html import unescape

    text = unescape(entity)
    return text if len(text) == 1 else None


def has_ampersand(source: str) -> bool:
    """Return whether a source contains an & that is not part of an entity. The entity &amp; counts as an &."""
    return "&" in source and "&" in re.sub(
        ENTITY, lambda match: "" if unescape_entity(match[0]) not in (None, "&") else "&", source
    )


def format_character(character: str) -> str:
    if character.isprintable() and not unicodedata.combining(character):
        return character
    return f"the character U+{ord(character):04X}"


def advice(character: str, source: str, end: int) -> str | None:
    """Return the hint for a character outside the notation, or None if there is no specific hint."""
    if TRANSPOSE.match(source, end - 1):
        return "axes have no order, so no transpose is needed; to rename axes, write X_{a→b}"
    if character == "." and source[end : end + 1].isalpha():
        return "nothing of Python can be reached from a formula: write sum_{axis} X, X_{a→b}, |axis|"
    return ADVICE.get(character)


TRANSPOSE = re.compile(r"\.(?:T|mT|transpose)\b")
ADVICE = {
    ".": "write a decimal point between digits",
    "&": 'this looks like LaTeX: pass syntax="latex"',
    "$": 'this looks like LaTeX: pass syntax="latex"',
    "%": "a comment begins with #; a remainder is mod(x, n)",
    "?": "cases are written { a if x > 0; b otherwise }",
    "⟨": "an inner product is a contraction: x ⊙_{axis} y",
    "⟩": "an inner product is a contraction: x ⊙_{axis} y",
    "∫": "an integral has no value; a sum over an axis is ∑_{axis} X",
    "=": "one = is enough",
    "∛": "a root of another degree is a power: x^{1/3}",
    "∜": "a root of another degree is a power: x^{1/4}",
    "∇": "a gradient is a derivative with respect to a name: ∂L/∂W*",
    '"': "names are written without quotation marks; values are given by name, beside the formula",
}
