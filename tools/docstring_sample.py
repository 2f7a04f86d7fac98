"""Print docstrings of the packages for a reader to rate, sampled with the hash of the commit as the seed.

python tools/docstring_sample.py [COUNT] [SEED]
"""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("grammar", "namedtensor", "transformer")


def find_docstrings() -> list[tuple[str, str, str]]:
    """Return the file, the name and the text of every docstring of the packages, in a fixed order."""
    result = []
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if text := ast.get_docstring(node):
                    result.append((path.relative_to(ROOT).as_posix(), getattr(node, "name", "module"), text))
    return result


def main(count: str = "60", seed: str = "") -> None:
    commit = (
        seed or subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    )
    print(f"seed {commit}")
    for number, (file, name, text) in enumerate(random.Random(commit).sample(find_docstrings(), int(count)), 1):
        print(f"\n{number}. {file}: {name}\n{text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
