"""The law of the house: who may import whom, among the packages of `namedtensor` and among their files.

An import counts wherever it stands: at the top of a file, inside a function, or for types alone.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rooms_page import ORDER, modules, rooms

import namedtensor as nt

ROOT = Path(__file__).parent.parent
FLOORS = (  # a file imports from floors below its own, and from its own package; packages of one floor know nothing of each other
    ("grammar",),
    ("namedtensor.core",),
    ("namedtensor.operators", "namedtensor.scope", "namedtensor.files"),
    ("namedtensor.terms", "namedtensor.reference"),
    ("namedtensor.calculus", "namedtensor.planning"),
    ("namedtensor.checking", "namedtensor.backends"),
    ("namedtensor.tensors", "namedtensor.symbolic"),
    ("namedtensor.display", "namedtensor.sharding"),
    ("namedtensor.programs",),
    ("namedtensor.derivations", "namedtensor.positional"),
    ("namedtensor.documents", "namedtensor.teaching"),
    ("namedtensor.webpage",),
    ("namedtensor.cli",),
    ("namedtensor", "namedtensor.__main__", "namedtensor.initializers"),
    ("transformer",),
)
FLOOR = {package: number for number, packages in enumerate(FLOORS) for package in packages}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_of(path): path for name in ("grammar", "namedtensor", "transformer") for path in (ROOT / name).rglob("*.py")
}


def package_of(module: str) -> str:
    return ".".join(module.split(".")[: 2 if module.startswith("namedtensor.") else 1])


def imported(module: str) -> Iterator[str]:
    """The modules of ours that a file imports, wherever it does."""
    path = FILES[module]
    own = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom):
            base = own[: len(own) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                target = f"{source}.{alias.name}" if f"{source}.{alias.name}" in FILES else source
                if target in FILES and target != module:
                    yield target


@cache
def graph() -> dict[str, list[str]]:
    return {module: sorted(set(imported(module))) for module in sorted(FILES)}


def reaches(start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(graph()[start])
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += graph()[module]
    return seen


def test_every_file_has_a_floor():
    assert {package_of(module) for module in FILES} <= set(FLOOR)


def test_no_import_climbs():
    climbing = {
        f"{module} -> {target}"
        for module, targets in graph().items()
        for target in targets
        if package_of(module) != package_of(target) and FLOOR[package_of(target)] >= FLOOR[package_of(module)]
    }
    assert not climbing


def test_no_files_import_each_other_in_a_circle():
    assert not {module for module in graph() if module in reaches(module)}


def test_no_package_bears_a_public_name():
    """A package `formula` would take the place of the function `nt.formula` at its first import."""
    rooms = {found.name for found in pkgutil.iter_modules(nt.__path__)}
    assert not (rooms & set(dir(nt)) & set(nt.__all__)) - set(nt.MODULES)
    for room in rooms - {"__main__"}:
        importlib.import_module(f"namedtensor.{room}")
    assert {name for name in nt.__all__ if isinstance(getattr(nt, name), type(ast))} == set(nt.MODULES)


def test_every_room_tells_what_it_is_for_its_files_and_its_law():
    told = rooms()
    assert len(told) > 20 and {room.name: sorted(room.missing) for room in told if room.missing} == {}
    assert not [room.name for room in told if not (room.purpose.endswith(".") and room.law.endswith("."))]
    named = {room.name: {name for name, _ in room.files} - modules(ROOT / room.name.replace(".", "/")) for room in told}
    assert not {name: gone for name, gone in named.items() if gone}


def test_the_map_lists_the_rooms_from_the_ground_up():
    floors = [FLOOR[".".join(name.split(".")[: 2 if name.startswith("namedtensor.") else 1])] for name in ORDER]
    assert floors == sorted(floors) and {room.name for room in rooms()} == set(ORDER)


def test_the_map_points_at_files_that_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:grammar|namedtensor|transformer|tests|docs)/[\w/.]*)`", text)
    assert len(paths) > 20 and not [path for path in paths if not (ROOT / path).exists()]


CHECKERS = {  # each kind of checker is made in one place; `Checker.fork` makes one like itself
    "Checker": {"namedtensor.programs.parsed", "namedtensor.checking.checker"},
    "ReadingChecker": {"namedtensor.derivations.reading"},
}


def test_each_kind_of_checker_is_made_in_one_place():
    made: dict[str, set[str]] = {}
    for module, path in FILES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Checker"):
                made.setdefault(node.func.id, set()).add(module)
    assert made == CHECKERS


OF_THE_WHOLE = {*"benchmarks differential docs errors fuzz house packaging public types words".split()}


def test_each_file_of_tests_begins_with_the_room_that_it_tests():
    rooms = {"grammar", "transformer", *(package_of(module).split(".")[-1] for module in FILES)}
    files = [path.stem.removeprefix("test_").split("_")[0] for path in (ROOT / "tests").glob("test_*.py")]
    assert set(files) <= rooms | OF_THE_WHOLE
