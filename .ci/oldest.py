"""Print the oldest versions that pyproject.toml allows, as exact requirements: python .ci/oldest.py test torch jax"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:>=|==)\s*([\w.]+)")


def lines_of(extra: str) -> list[str]:
    """Return the requirements of an extra and of the extras that it includes."""
    found: list[str] = []
    for line in PROJECT["optional-dependencies"][extra]:
        included = re.match(rf"{PROJECT['name']}\[([\w,]+)\]", line)
        found += [each for name in included[1].split(",") for each in lines_of(name)] if included else [line]
    return found


def oldest(extras: list[str]) -> dict[str, str]:
    """Return the lower bound of each dependency of the package and of the extras, by name."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in lines_of(extra))]
    return {match[1]: match[2] for line in lines if (match := REQUIREMENT.match(line))}


if __name__ == "__main__":
    print(*(f"{name}=={version}" for name, version in oldest(sys.argv[1:]).items()))
