"""Compare the hits in each file with a committed baseline, which may only fall.

A baseline is a JSON file: each line has a file of the repository and its hits by kind. A file that the baseline lacks
may have no hits. `--write` lowers the baseline to today's hits. To start it again, delete the JSON file first.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

Counts = dict[str, dict[str, int]]


class Hit(NamedTuple):
    """A text that a check rejects: its file, its kind in the baseline, and a line for the report."""

    file: str
    kind: str
    report: str


def count(hits: Iterable[Hit]) -> Counts:
    """Return the number of hits of each kind in each file."""
    counts: Counts = {}
    for (file, kind), number in sorted(Counter((hit.file, hit.kind) for hit in hits).items()):
        counts.setdefault(file, {})[kind] = number
    return counts


def find_rises(counts: Counts, allowed: Counts) -> list[tuple[str, str, int, int]]:
    """Return each file and kind with more hits than the baseline allows, with both numbers."""
    return [
        (file, kind, number, limit)
        for file, kinds in counts.items()
        for kind, number in kinds.items()
        if number > (limit := allowed.get(file, {}).get(kind, 0))
    ]


def lower(counts: Counts, allowed: Counts) -> Counts:
    """Return the baseline with today's number wherever it is smaller."""
    least = {
        file: {kind: min(number, kinds[kind]) for kind, number in allowed[file].items() if kind in kinds}
        for file, kinds in counts.items()
        if file in allowed
    }
    return {file: kinds for file, kinds in least.items() if kinds}


def read(path: Path) -> Counts | None:
    """Return the committed baseline, or None if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write(path: Path, counts: Counts) -> None:
    """Write a baseline with one line for each file, so that branches rarely conflict."""
    rows = [f" {json.dumps(file)}: {json.dumps(kinds)}" for file, kinds in sorted(counts.items())]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def run(path: Path, hits: Sequence[Hit], arguments: Sequence[str]) -> int:
    """Print the hits above the baseline and return the exit status; files as arguments print all of their hits."""
    files = [argument for argument in arguments if not argument.startswith("-")]
    for hit in hits:
        if hit.file in files:
            print(f"{hit.file}: {hit.report}")
    counts, allowed = count(hits), read(path)
    if "--write" in arguments:
        write(path, counts if allowed is None else lower(counts, allowed))
    rises = find_rises(counts, allowed or {}) if "--write" not in arguments or allowed is not None else []
    for file, kind, number, limit in rises:
        print(f"{file}: {number} hits in {kind}, at most {limit} allowed; rewrite these:")
        for hit in hits:
            if (hit.file, hit.kind) == (file, kind):
                print(f"  {hit.report}")
    return int(bool(rises))
