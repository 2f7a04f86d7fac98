"""Count sentence patterns that are hard to read: `python tools/prose.py [--write] [FILE …]`.

Print for each package the hits per 1,000 sentences in docstrings, comments, messages and pages, and the percentage of
function names that begin with a participle or a preposition. The status is 1 if a file has more hits than prose.json
allows; `--write` lowers the allowed numbers. Each FILE, relative to the repository, has all of its hits printed.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import baseline
import texts
from baseline import Hit

BASELINE = Path(__file__).with_suffix(".json")
KINDS = ("docstrings", "comments", "messages", "docs", "names")

PATTERNS = {
    "headless what": r"(?:^|[,;:(] |\b(?:of|by|with|from|as|than|to|in|for|and|or|that|into|on|over|is|are|has|have|takes?"
    r"|gives?|needs?|reads?|uses?|asks?) )what\b(?![^.;]*\?)|^#? ?[Ww]hat\b(?![^.;]*\?)",
    "that of": r"\b(?:that|those) (?:of|in|for|with|from|by|at|on|before|to)\b(?! (?:way|case|time|point))",
    "where for if": r"\bwhere (?:it|they|that|this|these|there|none|one|all|both|no|a|an|its|each|nothing|only|several|two)\b"
    r"(?! (?:to|goes|appears|ends|begins|starts|come))",
    "of which": r"\b(?:of|by|from|to|over|beside) (?:which|whom|whose)\b|\b(?:one|all|two|some) of whose\b",
    "chain of of": r"\bof\b(?: [\w'`.-]+){1,4} of\b(?: [\w'`.-]+){1,4} of\b",
    "of its own": r"\bof (?:its|their|his|her|one's|your) own\b",
    "bits": r"\b(?:integers?|weights?|numbers?|floats?|tensors?) of (?:\d+|fewer|\w+) bits\b",
    "bare pronoun": r"\b(?:another|others|such|none|both|each|those|that|it)(?: (?:is|has|are|have))?[;,.]? (?:else|otherwise) "
    r"|\b(?:by|of|than|as|in) (?:another|such|that|those)(?: one)?[.;,]|\b(?:has|have|is|are|of|by|than) another[.;,]?$",
    "dropped verb": r"; (?:of|in|by|with|from|on|at|without) [^.;]*[.;]?$"
    r"|` (?:those|how many|all that)\b|, and (?:that|those|\S+ \d+)$",
    "light verb": r"\b(?:meets?|stands? for|knows?|asks?|speaks?|counts (?:how|from|against)|says?|gives back|lies?|comes?)"
    r" (?:it|its|that|the|an?|what|how|which|where|nothing|each|of)\b",
    "is an error": r"\b(?:is|are) (?:also |an? |the )?(?:\w+ )?errors?\b(?! (?:code|message))|\bis error \d",
    "as it has": r"\bas (?:\w+ ){0,4}(?:does|do|has|have|would)(?: it| them| so)?(?=[,.;:)]|$)",
}
COMPILED = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}
PARTICIPLE = re.compile(
    r"_*(?!need|feed|seed|embed|speed|exceed|proceed|succeed|shed|unknown|markdown|shutdown|down|own|even|given_|open|token"
    r"|flatten|broken|seven)[a-z]+(?:ed|wn|ught|ven|ken|tten|laid|said|made|found|told|kept|left|held|met)(?:_|$)"
)
PREPOSITION = re.compile(
    r"_*(?:of|along|at|over|by|beside|before|after|within|without|around|apart|in|on|as|past|between|through)(?:_|$)"
)


def find_patterns(sentence: str) -> list[str]:
    """Return the names of the patterns that a sentence contains."""
    return [name for name, pattern in COMPILED.items() if pattern.search(sentence)]


def is_noun_phrase(name: str) -> bool:
    """Return whether a function name begins with a participle or a preposition."""
    return bool(PARTICIPLE.match(name) or PREPOSITION.match(name))


def read_sentences(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each function name and each distinct sentence of a file."""
    found = (
        (kind, part)
        for kind, text in texts.read_texts(path)
        for part in ([text] if kind == "names" else texts.split_sentences(text))
    )
    yield from dict.fromkeys(found)


def check_file(path: Path, file: str) -> tuple[Counter[str], list[Hit]]:
    """Return the number of sentences of each kind in a file, and its hits."""
    sizes, hits = Counter[str](), []
    for kind, text in read_sentences(path):
        sizes[kind] += 1
        if kind == "names":
            found = ["participle or preposition"] if is_noun_phrase(text) else []
        else:
            found = find_patterns(text)
        if found:
            hits.append(Hit(file, kind, f"{', '.join(found)}: {text[:200]}"))
    return sizes, hits


def check(root: Path) -> tuple[dict[str, Counter[str]], list[Hit]]:
    """Return the number of sentences in each package, and all hits."""
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    hits: list[Hit] = []
    for path in texts.find_files(root):
        file = path.relative_to(root).as_posix()
        counted, found = check_file(path, file)
        sizes[texts.package_of(file)] += counted
        hits += found
    return sizes, hits


def format_rates(sizes: Mapping[str, Counter[str]], hits: Sequence[Hit]) -> str:
    """Return a table with the rates of each package: hits per 1,000 sentences, and names in percent."""
    numbers = Counter((texts.package_of(hit.file), hit.kind) for hit in hits)
    rows = [f"{'package':26}" + "".join(f"{kind:>12}" for kind in KINDS)]
    for package, counted in sorted(sizes.items()):
        cells = ""
        for kind in KINDS:
            share = numbers[package, kind] / counted[kind] if counted[kind] else None
            text = "" if share is None else f"{100 * share:.1f} %" if kind == "names" else f"{1000 * share:.0f}"
            cells += f"{text:>12}"
        rows.append(f"{package:26}{cells}".rstrip())
    return "\n".join(rows)


def main(arguments: Sequence[str]) -> int:
    """Print the rates and the hits above the baseline, and return the exit status."""
    sizes, hits = check(texts.ROOT)
    print(format_rates(sizes, hits))
    return baseline.run(BASELINE, hits, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
