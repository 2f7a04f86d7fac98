"""The table of packages, generated from their docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
HEADINGS = ("package", "purpose")
ORDER = """grammar grammar.latex grammar.builder grammar.printer namedtensor.core namedtensor.operators
namedtensor.scope namedtensor.files namedtensor.terms namedtensor.calculus namedtensor.planning
namedtensor.checking namedtensor.backends namedtensor.tensors namedtensor.symbolic namedtensor.display namedtensor.sharding
namedtensor.programs namedtensor.reference namedtensor.derivations namedtensor.positional namedtensor.layers namedtensor.documents namedtensor.teaching namedtensor.editor namedtensor.webpage namedtensor.cli
transformer.pretrained transformer.models transformer""".split()  # bottom-up
FILE = re.compile(r"^`(\w+)`: (.+)$", re.MULTILINE)


class Package(NamedTuple):
    """A package's purpose, modules and contract, from its docstring."""

    name: str
    purpose: str
    files: tuple[tuple[str, str], ...]
    contract: str

    @property
    def missing(self) -> set[str]:
        """The modules and packages that the docstring does not list."""
        return modules(ROOT / self.name.replace(".", "/")) - {name for name, _ in self.files}


def modules(folder: Path) -> set[str]:
    names = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    return names - {"__init__", "__main__"}


def package(name: str) -> Package:
    text = (ROOT / name.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    contract = re.search(r"^Contract: (.+)\Z", docstring, re.MULTILINE | re.DOTALL)
    purpose = docstring.partition("\n\n")[0]
    return Package(
        name,
        " ".join(purpose.split()),
        tuple(FILE.findall(docstring)),
        " ".join(contract[1].split()) if contract else "",
    )


def packages() -> list[Package]:
    """Return all packages except `namedtensor`, whose docstring addresses users."""
    folders = {path.parent for top in ("grammar", "namedtensor", "transformer") for path in (ROOT / top).rglob("__init__.py")}  # fmt: skip
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders} - {"namedtensor"}
    rank = {name: position for position, name in enumerate(ORDER)}
    return [package(name) for name in sorted(names, key=lambda name: (rank.get(name, len(rank)), name))]


def rows() -> list[tuple[str, ...]]:
    return [(f"`{package.name}`", package.purpose) for package in packages()]
