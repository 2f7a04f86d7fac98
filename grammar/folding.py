"""Convert different spellings of a name or a star to one form."""

import re
import unicodedata

from .symbols import CALLIGRAPHIC, GREEK_VARIANTS
from .text_tables import ACCENT, PRIMES

_CURSIVE = re.compile(f"([{''.join(CALLIGRAPHIC.values())}][{ACCENT}]*)")


def fold(word: str) -> str:
    """Return the normal form of a name. Two spellings of one name have the same normal form.

    The form is NFKC, with one sign for primes and one form of each Greek letter. Calligraphic letters such as ℒ remain
    distinct from L.
    """
    if word.isascii():
        return word
    folded = "".join(GREEK_VARIANTS.get(character, character) for character in word)
    for prime in PRIMES[1:]:
        folded = folded.replace(prime, "'")
    if not _CURSIVE.search(folded):
        return unicodedata.normalize("NFKC", folded)
    return "".join(
        part if _CURSIVE.match(part) else unicodedata.normalize("NFKC", part) for part in _CURSIVE.split(folded)
    )


def marks(text: str) -> str:
    """Return the stars and daggers after a name as the syntax tree spells them: * and †."""
    return "".join("*" if mark in "*∗" else "†" for mark in re.sub(r"\\dag(ger)?", "†", text))
