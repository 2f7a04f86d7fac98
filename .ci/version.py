"""Whether all files say the same version: python .ci/version.py [TAG]. With a tag, also whether it is released by it."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACES = {  # the files that say the version, and how
    "pyproject.toml": r"named-tensor-notation-playground==([\d.]+)",
    "web/distribution/pyproject.toml": r'^version = "(.+)"$',
    "web/package.json": r'"version": "(.+)"',
    "namedtensor/core/version.py": r'__version__ = "(.+)"',
    "CITATION.cff": r"^version: (.+)$",
    ".ci/conda/recipe.yaml": r'^  version: "(.+)"$',
}


def disagreements(tag: str | None = None) -> list[str]:
    """What does not fit the version of pyproject.toml, a line each."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    lines = []
    for file, pattern in PLACES.items():
        match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        if match is None or match[1] != version:
            lines.append(f"{file} says {match and match[1]}, pyproject.toml {version}")
    if tag is not None:
        if tag != f"v{version}":
            lines.append(f"the tag is {tag}, the version {version}")
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
            lines.append(f"CHANGELOG.md has no section of {version} with its date")
    return lines


if __name__ == "__main__":
    problems = disagreements(*sys.argv[1:2])
    print(*problems, sep="\n")
    sys.exit(bool(problems))
