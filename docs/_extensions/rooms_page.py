"""The packages with their purposes and contracts, made from their docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
HEADINGS = ("package", "purpose", "contract")
ORDER = """grammar grammar.latex grammar.builder grammar.printer namedtensor.core namedtensor.operators
namedtensor.scope namedtensor.files namedtensor.terms namedtensor.reference namedtensor.calculus namedtensor.planning
namedtensor.checking namedtensor.backends namedtensor.tensors namedtensor.symbolic namedtensor.display namedtensor.sharding
namedtensor.programs namedtensor.derivations namedtensor.positional namedtensor.documents namedtensor.teaching namedtensor.webpage namedtensor.cli
transformer.core transformer.pretrained transformer.models transformer""".split()  # from the ground up
FILE = re.compile(r"^`(\w+)`: (.+)$", re.MULTILINE)


class Room(NamedTuple):
    """A package, as its docstring tells of it: a sentence, its files with a clause for each, its law."""

    name: str
    purpose: str
    files: tuple[tuple[str, str], ...]
    law: str

    @property
    def missing(self) -> set[str]:
        """The modules and packages of the room that its docstring does not name."""
        return modules(ROOT / self.name.replace(".", "/")) - {name for name, _ in self.files}


def modules(folder: Path) -> set[str]:
    found = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    return found - {"__init__", "__main__"}


def room(name: str) -> Room:
    text = (ROOT / name.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    told = ast.get_docstring(ast.parse(text)) or ""
    law = re.search(r"^Law: (.+)\Z", told, re.MULTILINE | re.DOTALL)
    purpose = told.partition("\n\n")[0]
    return Room(name, " ".join(purpose.split()), tuple(FILE.findall(told)), " ".join(law[1].split()) if law else "")


def rooms() -> list[Room]:
    """Every package but `namedtensor` itself, whose docstring is for its users."""
    folders = {path.parent for package in ("grammar", "namedtensor", "transformer") for path in (ROOT / package).rglob("__init__.py")}  # fmt: skip
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders} - {"namedtensor"}
    rank = {name: place for place, name in enumerate(ORDER)}
    return [room(name) for name in sorted(names, key=lambda name: (rank.get(name, len(rank)), name))]


def rows() -> list[tuple[str, ...]]:
    return [(f"`{each.name}`", each.purpose, each.law) for each in rooms()]
