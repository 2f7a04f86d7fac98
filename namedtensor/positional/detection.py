"""Which notation a text is in."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

LETTERS = re.compile(r"""\s*['"]?([A-Za-z. ]*(?:,[A-Za-z. ]*)*->[A-Za-z. ]*)['"]?\s*""")
EINOPS = re.compile(r"\b(?:rearrange|reduce|repeat|pack|unpack)\(")
EINSUM = re.compile(r"\b[\w.]{0,40}einsum\(")
TORCH = re.compile(r"\b(?:torch|F|nn)\.|\bdim=")


def kind_of(text: str, shapes: Mapping[str, Any]) -> str:
    """The notation of a text: letters alone and calls first, Python next, else matrices or indices."""
    if EINOPS.search(text):
        return "einops"
    if LETTERS.fullmatch(text) or EINSUM.match(text.strip()):
        return "einsum"
    if is_python(text):
        return "torch" if TORCH.search(text) else "numpy"
    return "matrices"


def is_python(text: str) -> bool:
    """Whether it is Python, with something that no other notation has."""
    if "\\" in text or len(text) > 20_000:
        return False
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(_telling(node) for node in ast.walk(tree))


def _telling(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return True
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.MatMult, ast.Pow, ast.Mod, ast.FloorDiv))
    return isinstance(
        node, (ast.Compare, ast.Slice, ast.Subscript, ast.keyword, ast.Import, ast.ImportFrom, ast.For, ast.FunctionDef)
    )
