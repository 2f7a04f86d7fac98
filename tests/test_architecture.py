"""The import contract: which packages and modules may import each other.

Every import counts: at the top of a module, inside a function, or for types only.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packages_page import ORDER, modules, packages

import namedtensor as nt

ROOT = Path(__file__).parent.parent
LAYERS = (  # bottom-up; a module imports from its own package and from lower layers, not from other packages of its layer
    ("grammar",),
    ("namedtensor.core",),
    ("namedtensor.operators", "namedtensor.scope", "namedtensor.files"),
    ("namedtensor.terms",),
    ("namedtensor.calculus", "namedtensor.planning"),
    ("namedtensor.checking", "namedtensor.backends"),
    ("namedtensor.tensors", "namedtensor.symbolic"),
    ("namedtensor.display", "namedtensor.sharding"),
    ("namedtensor.programs",),
    ("namedtensor.reference", "namedtensor.derivations", "namedtensor.positional", "namedtensor.layers"),
    ("namedtensor.documents",),
    ("namedtensor.teaching", "namedtensor.editor"),
    ("namedtensor.webpage",),
    ("namedtensor.cli",),
    ("namedtensor", "namedtensor.__main__", "namedtensor.initializers"),
    ("transformer",),
)
LAYER = {package: number for number, layer in enumerate(LAYERS) for package in layer}


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
    parts = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level + 1] if node.level else []
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


def test_every_module_is_in_a_layer():
    assert {package_of(module) for module in FILES} <= set(LAYER)


@pytest.mark.slow
def test_packages_import_only_from_lower_layers():
    upward = {
        f"{module} -> {target}"
        for module, targets in graph().items()
        for target in targets
        if package_of(module) != package_of(target) and LAYER[package_of(target)] >= LAYER[package_of(module)]
    }
    assert not upward


def test_there_are_no_import_cycles():
    assert not {module for module in graph() if module in reaches(module)}


def test_no_package_has_a_public_name():
    """A package `formula` would replace the function `nt.formula` at its first import."""
    names = {module.name for module in pkgutil.iter_modules(nt.__path__)}
    assert not (names & set(dir(nt)) & set(nt.__all__)) - set(nt.MODULES)
    for name in names - {"__main__"}:
        importlib.import_module(f"namedtensor.{name}")
    assert {name for name in nt.__all__ if isinstance(getattr(nt, name), type(ast))} == set(nt.MODULES)


def test_package_docstrings_list_purpose_modules_and_contract():
    listed = packages()
    assert len(listed) > 20 and {package.name: sorted(package.missing) for package in listed if package.missing} == {}
    assert not [
        package.name for package in listed if not (package.purpose.endswith(".") and package.contract.endswith("."))
    ]
    named = {
        package.name: {name for name, _ in package.files} - modules(ROOT / package.name.replace(".", "/"))
        for package in listed
    }
    assert not {name: gone for name, gone in named.items() if gone}


def test_the_map_lists_the_packages_bottom_up():
    layers = [LAYER[".".join(name.split(".")[: 2 if name.startswith("namedtensor.") else 1])] for name in ORDER]
    assert layers == sorted(layers) and {package.name for package in packages()} == set(ORDER)


def test_the_map_points_at_files_that_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:grammar|namedtensor|transformer|tests|docs)/[\w/.]*)`", text)
    assert len(paths) > 15 and not [path for path in paths if not (ROOT / path).exists()]


PUBLIC = {  # what users import, and what `transformer` may
    "namedtensor": {*dir(nt)},
    **{f"namedtensor.{name}": {*importlib.import_module(f"namedtensor.{name}").__all__} for name in nt.MODULES},
}


def not_public(text: str) -> Iterator[str]:
    """The names of `namedtensor` that a file uses and that are not public, and the private attributes of objects."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "namedtensor":
            names = PUBLIC.get(node.module or "", set())
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name not in names)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names if alias.name.partition(".")[0] == "namedtensor")
            yield from (name for name in names if name not in PUBLIC)
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner == "nt" and node.attr not in PUBLIC["namedtensor"]:
                yield f"nt.{node.attr}"
            inherited = owner in ("self", "cls") or ast.unparse(node.value) == "super()"
            if node.attr[0] == "_" and node.attr[:2] != "__" and node.attr != "_replace" and not inherited:
                yield f"{ast.unparse(node.value)}.{node.attr}"


def test_transformer_uses_public_names_only():
    used = {
        module: [*not_public(path.read_text(encoding="utf-8"))]
        for module, path in FILES.items()
        if module.split(".")[0] == "transformer"
    }
    assert {module: names for module, names in used.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import namedtensor as nt\nfrom namedtensor.layers import Layer\nnt.tensor(1)", []),
        ("from namedtensor.core.tensor import tensor", ["namedtensor.core.tensor.tensor"]),
        ("from namedtensor.layers import variant", ["namedtensor.layers.variant"]),
        ("import namedtensor.core.tensor", ["namedtensor.core.tensor"]),
        ("nt.programs", ["nt.programs"]),
        ("layer._kept, self._kept", ["layer._kept"]),
    ],
)
def test_what_is_not_public_is_seen(text, names):
    assert [*not_public(text)] == names


CHECKERS = {  # each kind of checker is made in one place; `Checker.fork` makes one like itself
    "Checker": {"namedtensor.programs.parsed", "namedtensor.checking.checker"},
    "ReadingChecker": {"namedtensor.derivations.reading"},
}


@pytest.mark.slow
def test_each_kind_of_checker_is_made_in_one_place():
    result: dict[str, set[str]] = {}
    for module, path in FILES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Checker"):
                result.setdefault(node.func.id, set()).add(module)
    assert result == CHECKERS


OF_THE_WHOLE = {
    *"architecture benchmarks contracts differential docs errors fuzz identifiers lines packaging public reader tools types".split()
}


def test_each_file_of_tests_begins_with_its_package():
    names = {"grammar", "transformer", *(package_of(module).split(".")[-1] for module in FILES)}
    files = [path.stem.removeprefix("test_").split("_")[0] for path in (ROOT / "tests").glob("test_*.py")]
    assert set(files) <= names | OF_THE_WHOLE
