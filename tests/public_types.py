"""The types of what users call: every public name of `namedtensor`, and all that it gives and takes, is known to pyright.

python tests/public_types.py

Prints the names that are not, and what they are missing; the exit status says whether there are any.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import namedtensor as nt


def symbols() -> list[dict[str, Any]]:
    """What `pyright --verifytypes` says of each symbol of the package that this Python imports."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    command = ["pyright", "--verifytypes", "namedtensor", "--ignoreexternal", "--outputjson"]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path})
    return json.loads(run.stdout)["typeCompleteness"]["symbols"]


def names(symbol: dict[str, Any]) -> set[str]:
    """What a symbol is called from outside: of `namedtensor`, without it."""
    called = (symbol["name"], *symbol.get("alternateNames", ()))
    return {name.partition(".")[2] for name in called if name.count(".") == 1 and name.startswith("namedtensor.")}


def incomplete(actual: list[dict[str, Any]]) -> dict[str, str]:
    """Each public name that is not known, and why; one that is not found at all among them."""
    public = {name: symbol for symbol in actual for name in names(symbol)}
    expected = [name for name in dir(nt) if name != "__version__"]
    missing = {name: "no type checker sees it" for name in expected if name not in public}
    unknown = {name: public[name] for name in expected if name in public and not public[name]["isTypeKnown"]}
    return missing | {name: why(symbol) for name, symbol in unknown.items()}


def why(symbol: dict[str, Any]) -> str:
    messages = [
        diagnostic["message"] for diagnostic in symbol["diagnostics"] if "docstring" not in diagnostic["message"]
    ]
    return "; ".join(" ".join(message.split()) for message in messages) or "something that it is made of is not known"


def main() -> int:
    result = incomplete(symbols())
    for name, reason in result.items():
        print(f"{name}: {reason}")
    print(f"{len(dir(nt)) - 1} public names, {len(result)} of them not known")
    return bool(result)


if __name__ == "__main__":
    raise SystemExit(main())
