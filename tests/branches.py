"""The branches that the tests take, by package, and those that none takes, by file and line.

    pytest --cov --cov-branch --cov-report=json:coverage.json
    python tests/branches.py coverage.json 95

Fails where fewer than so many of a hundred branches are taken.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path, PurePath


def package_of(path: str) -> str:
    parts = PurePath(path).parts
    return "/".join(parts[:2]) if parts[0] == "namedtensor" and len(parts) > 2 else parts[0]


def main(report: str, expected: str = "95") -> int:
    files = json.loads(Path(report).read_text(encoding="utf-8"))["files"]
    taken: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for path, file in sorted(files.items()):
        for package in (package_of(path), "all"):
            taken[package] += file["summary"]["covered_branches"]
            every[package] += file["summary"]["num_branches"]
        for start, end in file.get("missing_branches", []):
            print(f"{path}:{start}: never goes on to {f'line {end}' if end > 0 else 'its end'}")
    for package in sorted(every, key=lambda package: taken[package] / max(every[package], 1)):
        print(f"{taken[package] / max(every[package], 1):7.1%}  {taken[package]:5} of {every[package]:5}  {package}")
    return 100 * taken["all"] < float(expected) * every["all"]


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
