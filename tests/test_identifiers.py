"""Names of variables and functions: each says what the value is, never how it came about."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("grammar", "namedtensor", "transformer", "tests", "benchmarks", "docs", "web/test")
VAGUE = frozenset({"each", "found", "place", "made", "wanted", "kept", "own", "said", "told"})
# `given` is not here: an option of nt.check and nt.equivalent is called so, and what it passes on keeps its name.


def bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and name of each variable, parameter and function, but for fields and methods of classes."""
    fields = {id(part) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
    targets = {id(node.target) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign) and id(node) in fields}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in targets:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            if node.name is not None and id(node) not in fields:
                yield node.lineno, node.name
        elif isinstance(node, ast.alias):
            yield node.lineno, node.asname or node.name


def vague_names(text: str) -> list[tuple[int, str]]:
    return sorted((line, name) for line, name in bindings(ast.parse(text)) if name.strip("_") in VAGUE)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_name_is_vague(folder):
    vague = {
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in (ROOT / folder).rglob("*.py")
        if not {"node_modules", "_build"} & set(path.parts)
        for line, name in vague_names(path.read_text(encoding="utf-8"))
    }
    assert not vague, "name these after what they hold: " + "; ".join(sorted(vague))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("for each in axes: pass", ["each"]),
        ("[found for found in x]", ["found"]),
        ("(place := 1)", ["place"]),
        ("a, (made, *kept) = x", ["kept", "made"]),
        ("f = lambda own: own", ["own"]),
        ("def f(a, *, wanted=1): pass", ["wanted"]),
        ("def said(): pass", ["said"]),
        ("try: pass\nexcept ValueError as told: pass", ["told"]),
        ("from x import made", ["made"]),
        ("match x:\n  case [*kept]: pass", ["kept"]),
        ("class A:\n  place: int\n  def made(self): return self.found", []),
        ("for axis in axes: x.place = 1", []),
    ],
)
def test_which_bindings_count(text, names):
    assert sorted(name for _, name in vague_names(text)) == names
