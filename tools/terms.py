"""Check that each concept has one term: `python tools/terms.py [--write] [FILE …]`.

The status is 1 if a file uses a word of the table more often than terms.json allows; `--write` lowers the allowed
numbers. Each FILE, relative to the repository, has all of its hits printed.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import baseline
import texts
from baseline import Hit

BASELINE = Path(__file__).with_suffix(".json")

TERMS = {  # name of the row: its standard term, and the pattern of the words that it replaces
    "claim": ("assertion", r"claim(?:s|ed|ing)?"),
    "fact": ("assumption", r"(?<!in )facts?"),
    "draw": ("random test, sample", r"drawn|(?:random|\d+|two|three|five|several|many|each|every|per|of) draws?"),
    "trial": ("random test", r"trials?"),
    "place": (
        "element, position",
        r"(?<!in )places? (?:of|along|in|on) (?:(?:an?|the|its|each|one) )?(?:ax[ei]s|tensor|array)",
    ),
    "number": ("element", r"numbers? of (?:an?|the|one) (?:tensor|array|matrix)"),
    "map": ("lift", r"mapped over (?:all )?(?:extra|other)\w*|carr(?:y|ies|ied) along"),
    "layout": ("input signature", r"layouts? of (?:(?:the|its|all|such) )?(?:inputs?|arguments?|calls?)"),
    "lane": ("wavefront", r"lanes?|fronts"),
    "reading": ("interpretation", r"(?:one|two|both|several|second|wrong|right|another|either|possible) readings?"),
    "mark": ("star, starred axis", r"marked ax[ei]s|ax[ei]s with (?:a mark|marks)|marks? of (?:an|the) ax[ei]s"),
    "head": ("left-hand side", r"heads? of (?:an?|the|its|each) (?:equation|definition|assertion)s?"),
    "refuse": ("reject", r"refus(?:e[sd]?|als?|ing)"),
    "derivative by": ("with respect to", r"(?:derivatives?|gradients?) by (?:(?:an?|the|its) |[A-Z]\b)"),
    "spelling": (
        "US spelling",
        r"(?:colour|optimis|initialis|normalis|recognis|neighbour|favour|behaviour|labell|centre|misspelt|maths\b)\w*",
    ),
}
PATTERN = re.compile(
    "|".join(rf"(?P<w{number}>\b(?:{words})\b)" for number, (_, words) in enumerate(TERMS.values())), re.IGNORECASE
)
NAMES = list(TERMS)


def find_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield the row of each word that has a standard term, and the word."""
    for match in PATTERN.finditer(text):
        yield NAMES[int((match.lastgroup or "w0")[1:])], match[0]


def check_file(path: Path, file: str) -> list[Hit]:
    """Return the hits of a file; function names are not prose."""
    return [
        Hit(file, row, f"{word!r}: write {TERMS[row][0]}")
        for kind, text in texts.read_texts(path)
        if kind != "names"
        for row, word in find_words(text)
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the words above the baseline, and return the exit status."""
    hits = [
        hit
        for path in texts.find_files(texts.ROOT)
        for hit in check_file(path, path.relative_to(texts.ROOT).as_posix())
    ]
    return baseline.run(BASELINE, hits, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
