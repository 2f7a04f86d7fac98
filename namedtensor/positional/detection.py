"""Detection of the notation of a source."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

LETTERS = re.compile(r"""\s*['"]?([A-Za-z. ]*(?:,[A-Za-z. ]*)*->[A-Za-z. ]*)['"]?\s*""")
EINOPS = re.compile(r"(?:\beinops\.|(?<![\w.]))(?:rearrange|reduce|repeat|pack|unpack)\(")
EINSUM = re.compile(r"\b[\w.]{0,40}einsum\(")
TORCH = re.compile(r"(?<![\w.])(?:torch|F|nn)\.|\bdim=")
TELLING = (
    ast.Attribute, ast.Compare, ast.Slice, ast.Subscript, ast.keyword, ast.Import, ast.ImportFrom, ast.For, ast.FunctionDef,
)  # fmt: skip


def kind_of(text: str, shapes: Mapping[str, Any]) -> str:
    """Return the kind of notation that a source uses: "einops", "einsum", "torch", "numpy" or "matrices"."""
    if EINOPS.search(text):
        return "einops"
    if LETTERS.fullmatch(text) or EINSUM.match(text.strip()):
        return "einsum"
    if is_python(text):
        return "torch" if TORCH.search(text) else "numpy"
    return "matrices"


def is_python(text: str) -> bool:
    """Return whether a source is Python with syntax that other notations lack, such as an attribute or a slice."""
    if "\\" in text or len(text) > 20_000:
        return False
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(_telling(node) for node in ast.walk(tree))


def _telling(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len")) | ast.BinOp(op=ast.MatMult() | ast.Pow() | ast.Mod() | ast.FloorDiv()):
            return True
    return isinstance(node, TELLING)
